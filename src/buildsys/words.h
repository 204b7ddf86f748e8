/* A command line's text -> its words, by the rules of whoever would have run it. */
#pragma once

#include "rocmcheck.h"
#include "util/strv.h"

enum rck_quoting {
	RCK_QUOTING_POSIX, /* sh without expansions: compile_commands.json's "command" */
	RCK_QUOTING_WINDOWS,  /* CommandLineToArgvW */
	RCK_QUOTING_RESPONSE, /* clang's and gcc's @file on Unix: as POSIX, a newline is a
				 blank */
};

/*
 * Appends the words of text to out. A quote that does not end ends with the text.
 * An expansion ($x, `x`) is no error and stays as written: nothing here runs a shell.
 */
void rck_words_split(
	struct rck_strv *out, const char *text, size_t len, enum rck_quoting q);

/* WINDOWS when the first word is a path such as C:\..., else POSIX. */
enum rck_quoting rck_words_guess(const char *text);

/*
 * Replaces each "@FILE" by the words of FILE (relative to directory), also inside such
 * files, eight levels deep. Returns 0; -errno with diag when a file cannot be read or is
 * not a regular one, when there are more than 1000 or they have more than 16 MiB, or when
 * the nesting is deeper. (clang: "@file" of a file that is not there stays as it is: so
 * here.)
 */
int rck_words_expand(
	struct rck_strv *words, const char *directory, struct rck_diag *diag);
