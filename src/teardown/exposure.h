/*
 * One exposure: what one child process did, and the evidence. The same JSON object
 * carries it from the supervisor to us, into results.jsonl, and into the report.
 */
#pragma once

#include "util/json.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum rck_outcome {
	RCK_OUTCOME_CLEAN,
	RCK_OUTCOME_HANG_DONE, /* the work was done, the process did not end */
	RCK_OUTCOME_HANG_WORK,
	RCK_OUTCOME_CRASH,   /* ended by a signal that was not ours */
	RCK_OUTCOME_FAILED,  /* an exit status other than 0 */
	RCK_OUTCOME_NOT_RUN, /* could not be started, or was cut off: never counted */
	RCK_OUTCOMES,
};

/* "clean", "hang after work done", ...; and the JSON word, "clean", "hang-done", ... */
const char *rck_outcome_name(enum rck_outcome o);
const char *rck_outcome_key(enum rck_outcome o);
static inline bool rck_outcome_is_hang(enum rck_outcome o)
{
	return o == RCK_OUTCOME_HANG_DONE || o == RCK_OUTCOME_HANG_WORK;
}

/* Below this share of a CPU a thread waits; above it, it spins. */
#define RCK_THREAD_SPINS 0.02

/* One thread of a hung process, before the kill. Strings are owned. */
struct rck_thread {
	pid_t pid, tid;
	char *name;
	char state;    /* as in proc(5) */
	double cpu;    /* of one CPU, over the second that was watched: 0..1 */
	char **frames; /* innermost first: "function+0x12 (libx.so.1)",
			  "libx.so.1+0x4604d2" */
	size_t n_frames;
	char *module; /* of the innermost frame; NULL when unknown */
	char *note;   /* why there are no frames; or NULL */
};

struct rck_exposure {
	unsigned arm, round, slot;
	enum rck_outcome outcome;
	bool done;            /* the work was done, as far as could be seen */
	double started;       /* seconds since the experiment's start */
	double done_after;    /* seconds after its own start; 0 when it was not */
	double seconds, cpu;  /* how long it lived; what it used */
	int status, signal;   /* of the process; -1 and 0 when it was killed by us */
	unsigned left_behind; /* processes that outlived it, ended by us */
	pid_t listener; /* tid of the youngest thread that libamdhip64 made; 0: none */
	bool listener_alive; /* at the end of a hang */
	bool in_fork; /* what spins is no thread of the process whose listener that was */
	bool starved; /* that thread was demoted */
	bool reordered;  /* libamdhip64's destructors have the order of AMD's builds */
	char *reason;    /* one clause, or NULL */
	char *output;    /* the end of what it wrote; unmasked; or NULL */
	char *spins_in;  /* the module that a hung process burns CPU in, or NULL */
	char *hip, *hsa; /* the HIP and HSA runtimes that were loaded when the work was
			    done: paths, or NULL */
	char *core;      /* file of the core that was kept, or NULL */
	struct rck_thread *threads;
	size_t n_threads;
};

void rck_exposure_release(struct rck_exposure *e);
/* Writes one object. */
void rck_exposure_write(const struct rck_exposure *e, struct rck_json *j);
/* Reads one back; -EINVAL, and *e empty, when it is none. */
int rck_exposure_read(const json_t *object, struct rck_exposure *e);
/* The thread that used most CPU, the first of equals; NULL: no threads. Borrowed. */
const struct rck_thread *rck_exposure_busiest(const struct rck_exposure *e);
/* One clause about the listener of a hung process. */
const char *rck_exposure_listener_state(const struct rck_exposure *e);
/* Whose threads' stacks are these: equal keys are folded. Pids, tids, states and CPU use
 * are left out. free() it. */
char *rck_exposure_stack_key(const struct rck_exposure *e);
