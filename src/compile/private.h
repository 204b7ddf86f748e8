/* Shared inside the room. */
#pragma once

#include "compile/compile.h"

struct rck_compiler {
	struct rck_rocm *rocm;
	enum rck_compiler_kind kind;
	char *name, *path, *version;
	/* comgr */
	char *worker;       /* the helper program */
	char *targets;      /* " gfx900 gfx906 ", blanks around each */
	char *resource_dir; /* clang's own headers, for users' sources; or NULL */
	/* a driver whose lld is not its own: the folder of the right one, and why */
	char *lld_dir, *lld_notice;
};

/*
 * The compiler's options for one job, but for the names of input and output. version is
 * the code object version to ask for, 0: none. source_path: absolute, of a user's source.
 */
void rck_compile_flags(const struct rck_compiler *c, const struct rck_compile_job *job,
	unsigned version, const char *source_path, struct rck_strv *flags);

/*
 * The compiler's words with every temporary path replaced by the name that the user
 * knows: comgr's /tmp/comgr-.../input/NAME and .../include/NAME, and absolute by given.
 * free() it.
 */
char *rck_compile_log(const char *text, const char *name, const char *absolute);
