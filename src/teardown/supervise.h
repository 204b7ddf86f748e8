/*
 * One exposure under a supervisor: a process of ours that is a child subreaper, starts
 *the program, watches it, takes the evidence, and kills by pid whatever is left of the
 *tree.
 *
 *	rocmcheck -- supervisor -- program -- ...
 *
 * The supervisor ends, its tree with it, when it is told to, when its control line closes
 * (we are gone, by kill -9 perhaps), or at SIGTERM, which the kernel sends it when the
 * thread that made it ends. The program dies with the supervisor (PR_SET_PDEATHSIG).
 */
#pragma once

#include "teardown/exposure.h"

struct rck_supervise {
	const char *const *argv; /* NULL-terminated; argv[0] is looked up in PATH */
	const char *const *env;  /* "NAME=value" on top of ours; may be NULL */
	const char *preload;     /* libraries to preload, ':' between; may be NULL */
	const char *done_regex;  /* the work is done once a line of output matches; NULL:
				    once main has returned or exit was called */
	int starve_cpu;    /* the listener goes there, all else stays away; -1: no */
	double after_done; /* seconds from the end of the work after which the grace
			      begins unasked; 0: never */
	double grace; /* seconds, once the deadline has passed and the load is gone */
	double cpu_needed; /* CPU seconds that count as having had a chance in the grace
			    */
	double watch;      /* seconds that the threads of a hang are watched; 0: 1 */
	const char *core_folder; /* keep a core of a hang there; may be NULL */
};

struct rck_supervisor;

/*
 * Starts one. *s is borrowed until rck_supervisor_finish(). The calling thread must live
 * as long as the supervisor. Returns 0 or -errno.
 */
int rck_supervisor_start(const struct rck_supervise *s, struct rck_supervisor **out);

/* Readable when rck_supervisor_finish() would not wait for long. */
int rck_supervisor_fd(const struct rck_supervisor *s);

/* Has it told that the work is done? */
bool rck_supervisor_is_done(const struct rck_supervisor *s);

/* The deadline has passed and the load is gone: after the grace, whatever still runs is a
 * hang; it is examined and killed. */
void rck_supervisor_begin_grace(struct rck_supervisor *s);
/* Kill at once, no evidence: the outcome is "not run". */
void rck_supervisor_cut(struct rck_supervisor *s);

/* Reads what came; 1 once the exposure is there and the supervisor is reaped (*s is freed
 * and set to NULL), 0 when more is to come. */
int rck_supervisor_finish(struct rck_supervisor **s, struct rck_exposure *out);

/* The supervisor's own side; supervise-watch.c. Returns when nothing is left below. */
void rck_supervise_run(
	const struct rck_supervise *s, int control, struct rck_exposure *out);

#define RCK_SUPERVISE_GRACE 'g'
#define RCK_SUPERVISE_CUT   'k'
#define RCK_SUPERVISE_DONE  'd' /* from the supervisor, before its object */
