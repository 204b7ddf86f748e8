/*
 * A trial: the same exposures for every arm, under one load shape, in rounds. In a round
 * each arm has equally many, in an order drawn by lot, so that what a round is like (a
 * busy neighbour, a hung sibling) strikes the arms alike. A round ends with its load
 * stopped and every process of it gone.
 */
#pragma once

#include "rocmcheck.h"
#include "teardown/exposure.h"
#include "teardown/load.h"

#include <signal.h>

#define RCK_ARMS_MAX  16
#define RCK_SLOTS_MAX 256 /* exposures at a time */

struct rck_arm {
	const char *name;
	const char *const *argv; /* NULL-terminated */
	const char *const *env;  /* "NAME=value"; may be NULL */
};

/* How long an exposure of an arm takes with no load. Seconds. */
struct rck_baseline {
	double seconds, cpu;
	double teardown; /* of seconds, after the work was done */
	unsigned runs, hangs;
};

struct rck_trial_result {
	struct rck_exposure *exposures; /* in the order they began; none "not run" */
	size_t n;
	unsigned rounds; /* that were completed */
	struct rck_baseline baseline[RCK_ARMS_MAX];
	double deadline; /* seconds; then the load is stopped */
	double settle;   /* the same, counted from the end of the work */
	double grace;
	double seconds; /* all of it */
	bool interrupted;
	bool confident;      /* until_confident stopped it */
	char started_at[32]; /* UTC, ISO 8601 */
};

struct rck_trial {
	const struct rck_arm *arms;
	size_t n_arms; /* up to RCK_ARMS_MAX */
	enum rck_load_shape shape;
	unsigned workers, exposures /* an arm */, concurrent;
	double timeout;         /* seconds; 0: from the baseline */
	double grace;           /* seconds; 0: from the baseline */
	const char *preload;    /* as in struct rck_supervise */
	const char *done_regex; /* may be NULL */
	const char *core_folder;
	bool until_confident;
	unsigned seed;                     /* of the lot */
	const volatile sig_atomic_t *stop; /* ends the trial when it becomes true */
	/* called some times a second and after each exposure */
	void (*progress)(const struct rck_trial *t, const struct rck_trial_result *so_far,
		void *arg);
	void *progress_arg;
};

/* Fills in the shape's own numbers where workers, exposures or concurrent are 0. */
void rck_trial_defaults(struct rck_trial *t);
/* Rounds that the trial has, and exposures of each arm in one. */
unsigned rck_trial_rounds(const struct rck_trial *t);
unsigned rck_trial_per_round(const struct rck_trial *t);

/*
 * Runs it. Returns 0, also when it was interrupted; -errno with diag filled when an arm
 * could not be started or the load could not. *out is to be released in any case.
 */
int rck_trial_run(
	const struct rck_trial *t, struct rck_trial_result *out, struct rck_diag *diag);
void rck_trial_result_release(struct rck_trial_result *r);
