/*
 * Operands -> files, one at a time and in an order that does not depend on the machine:
 * operands as given, then the list of --files-from; a folder's entries by the bytes of
 * their names, real ones before symbolic links. Every command that reads device code
 * takes these.
 */
#pragma once

#include "rocmcheck.h"
#include "util/opt.h"

struct rck_inputs_spec {
	bool recursive;
	struct rck_opt_list
		exclude; /* fnmatch(3) patterns, against the path and its last part */
	const char *files_from; /* a list of paths, "-" is standard input; or NULL */
	bool nul;               /* that list is separated by NUL, not by new lines */
	int n; /* operands, borrowed; "-" is the bytes of standard input */
	char **operands;
};

/* The rows of a command's option table; s is a struct rck_inputs_spec. */
#define RCK_INPUTS_OPTIONS(s)                                                            \
	{RCK_OPT_FLAG, 'r', "recursive", &(s).recursive, NULL,                           \
		"go through folders; each file is read once, links are followed"},       \
		{RCK_OPT_LIST, 0, "exclude", &(s).exclude, "GLOB",                       \
			"leave out files and folders whose path or name matches"},       \
		{RCK_OPT_STRING, 0, "files-from", &(s).files_from, "FILE",               \
			"read further paths from FILE, one a line ('-': standard "       \
			"input)"},                                                       \
	{                                                                                \
		RCK_OPT_FLAG, '0', "null", &(s).nul, NULL,                               \
			"the paths in FILE end with a NUL byte"                          \
	}

struct rck_inputs;

struct rck_input {
	const char *path;    /* to open and to show; until the next call */
	bool named;          /* by the user; false: found in a folder */
	bool standard_input; /* path is "-" */
};

/*
 * Borrows spec until close. -EINVAL with a message for the user when there is nothing to
 * read or standard input is wanted twice; -errno when the list cannot be opened.
 */
int rck_inputs_open(const struct rck_inputs_spec *spec, struct rck_inputs **out,
	struct rck_diag *diag);
/*
 * 1 and a file; 0 at the end; -errno when input->path cannot be read: diag says why, and
 * the next call goes on behind it. In folders, what is neither a file nor a folder and
 * dangling links are passed over, and so is what an earlier path already led to.
 */
int rck_inputs_next(
	struct rck_inputs *in, struct rck_input *input, struct rck_diag *diag);
void rck_inputs_close(struct rck_inputs *in); /* NULL is fine */
