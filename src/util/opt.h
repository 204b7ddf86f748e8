/*
 * Command-line options as tables. One table a command drives the parser, the generated
 * help, the shell completions (`rocmcheck --list-options COMMAND`) and the check of the
 * man page.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum rck_opt_type {
	RCK_OPT_END,
	RCK_OPT_FLAG,   /* bool: set to true; --no-NAME sets it to false when negatable */
	RCK_OPT_STRING, /* const char *: the last one wins */
	RCK_OPT_UINT, /* unsigned long long: decimal or 0x; a suffix K, M, G multiplies by
			 1024 */
	RCK_OPT_DOUBLE, /* double */
	RCK_OPT_LIST, /* struct rck_opt_list: every one given, in order; options may share
			 one */
	RCK_OPT_CHOICE, /* int: index into choices, "a|b|c" */
};

struct rck_opt;

struct rck_opt_list {
	const char **items; /* borrowed from argv */
	size_t n;
	const struct rck_opt **by; /* the option that each was given by */
};

struct rck_opt {
	enum rck_opt_type type;
	char short_name; /* 0: none */
	const char *name;
	void *value;
	const char *arg; /* the argument's name in help; NULL for a flag; "a|b|c" for a
			    choice */
	const char *help;
	bool negatable;
};

#define RCK_OPT_HELP 1

/*
 * Parses argv[1..]; options and operands may be mixed, "--" ends the options. With
 * stop_at_operand the first operand ends them too (for commands that take a COMMAND).
 * Operands are moved to argv[1..] and their number stored in n_operands. Returns 0,
 * RCK_OPT_HELP at -h or --help when the table has none, or -EINVAL after an error line
 * that names the option. Lists are allocated; the process keeps them.
 */
int rck_opt_parse(const struct rck_opt *opts, int argc, char **argv, bool stop_at_operand,
	int *n_operands);

/* The options' part of a help text, into stdout, wrapped at 80 columns. */
void rck_opt_print_help(const struct rck_opt *opts);
/* One option a line: "-x", "--name", "--name=" for one with an argument, and its choices.
 */
void rck_opt_print_names(const struct rck_opt *opts);
