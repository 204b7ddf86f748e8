/*
 * libclang by dlopen: parse a source as the compiler would and see its calls and its
 * errors. The few types of its C interface (clang-c/Index.h, stable since LLVM 3.x) are
 * declared in clang.c, so that nothing of LLVM is needed at build time.
 */
#pragma once

#include "rocmcheck.h"
#include "util/strv.h"

struct rck_clang;      /* the library */
struct rck_clang_unit; /* a parsed source */

/* Finds libclang: path when not NULL, else the newest that the system's LLVM or ROCm has.
   -ENOENT with diag when there is none. */
int rck_clang_open(const char *path, struct rck_clang **out, struct rck_diag *diag);
void rck_clang_close(struct rck_clang *c);
const char *rck_clang_version(
	const struct rck_clang *c); /* "Debian clang version 15.0.6" */

/*
 * Parses file with the words of a compile command behind the driver. text, when not NULL,
 * stands for the file's contents. Errors in the source are no failure: see
 * rck_clang_errors(). -ENOENT when the file cannot be opened, -EINVAL when libclang
 * refuses.
 */
int rck_clang_parse(struct rck_clang *c, const char *file, const char *text,
	const struct rck_strv *args, struct rck_clang_unit **out, struct rck_diag *diag);
void rck_clang_unit_close(struct rck_clang_unit *u);

/* Where something stands in the main file or in a header. file is borrowed for the call.
 */
struct rck_clang_place {
	const char *file;
	unsigned line, column;
};

/* Each error: its place and text ("no matching function for call to 'f'"). */
void rck_clang_errors(struct rck_clang_unit *u,
	void (*each)(void *ctx, const struct rck_clang_place *at, const char *text),
	void *ctx);

/* A function that is declared (calls = false) or called: its name behind macros, and the
   types of its parameters, written as in its declaration and joined by ','. */
void rck_clang_functions(struct rck_clang_unit *u, bool calls,
	void (*each)(void *ctx, const struct rck_clang_place *at, const char *name,
		const char *types),
	void *ctx);
