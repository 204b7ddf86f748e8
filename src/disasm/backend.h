/* What disasm.c asks of a library that disassembles; private to this folder. */
#pragma once

#include "disasm.h"

#define RCK_DISASM_TEXT_MAX 512

struct rck_disasm_target {
	char processor[24]; /* "gfx90a" */
	char isa[64];       /* "amdgcn-amd-amdhsa--gfx90a" */
	char features[96];  /* "-xnack,+wavefrontsize64" */
};

struct rck_disasm_backend {
	/* The sonames to try, newest first; ends with NULL. */
	const char *const *names;
	/*
	 * lib is dlopen's handle. Fills name (e.g. "comgr 2.4") and *state. -ENOTSUP: the
	 * library does not know the target.
	 */
	int (*open)(void *lib, const char *path, const struct rck_disasm_target *t,
		char name[32], void **state);
	/*
	 * As rck_disasm_next, with the library's raw text (truncated to
	 * RCK_DISASM_TEXT_MAX).
	 */
	int (*next)(void *state, const void *code, size_t avail, uint64_t pc, char *text);
	void (*close)(void *state);
};

extern const struct rck_disasm_backend rck_disasm_comgr, rck_disasm_llvm;
