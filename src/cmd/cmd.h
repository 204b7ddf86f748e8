/* A subcommand: one const descriptor a file, listed in main.c's table. Help is generated
 * from it. */
#pragma once

#include "util/opt.h"

enum rck_exit {
	RCK_EXIT_CLEAN = 0,    /* nothing found, equal */
	RCK_EXIT_FINDINGS = 1, /* findings, differences, hangs */
	RCK_EXIT_TROUBLE = 2,  /* something could not be read, checked or run; beats 1 */
	RCK_EXIT_USAGE = 3,
};

/* The worse of two exit statuses: usage, then trouble, then findings. */
static inline int rck_exit_worse(int a, int b)
{
	return a > b ? a : b;
}

struct rck_cmd {
	const char *name;
	const char *summary;  /* one line, no full stop */
	const char *operands; /* "PATH...", "[OPTION...] -- COMMAND" */
	const struct rck_opt *opts;
	bool takes_command; /* options end at the first operand */
	/* operands[0..n) are borrowed from argv; returns an enum rck_exit */
	int (*run)(int n, char **operands);
	const char *details;         /* more help, after the options; may be NULL */
	void (*print_details)(void); /* the same where a table says it; may be NULL */
};

extern const struct rck_cmd *const rck_commands[]; /* NULL at the end */
