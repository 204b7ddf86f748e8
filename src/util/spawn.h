/* Runs one program and waits for it: its output captured, its time limited, its tree
 * ended with us. */
#pragma once

#include "util/strbuf.h"

#include <stdbool.h>

struct rck_spawn {
	/* in */
	const char *const *argv; /* NULL-terminated; argv[0] is looked up in PATH */
	const char *const
		*env; /* NULL-terminated "NAME=value" set on top of ours; may be NULL */
	const char *cwd;        /* may be NULL */
	struct rck_strbuf *out; /* stdout goes here; NULL: to /dev/null */
	struct rck_strbuf *err; /* stderr; may equal out (one pipe); NULL: inherited */
	double timeout;         /* seconds; 0: none */
	size_t limit;           /* bytes kept of each stream; 0: 16 MiB */
	/* out */
	int status; /* exit status, or -1 */
	int signal; /* the signal that ended it, or 0 */
	bool timed_out;
};

/*
 * The child leads a process group of its own, dies with the calling THREAD
 * (PR_SET_PDEATHSIG), and its whole group is killed at the timeout. Returns 0 once it has
 * ended, or -errno when it could not be started (-ENOENT: no such program).
 */
int rck_spawn_run(struct rck_spawn *s);
