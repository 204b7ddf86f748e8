#include "container/container.h"
#include "teardown/trial.h"
#include "teardown/proc.h"
#include "teardown/stats.h"
#include "teardown/supervise.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BASELINE_RUNS   2     /* timed, after one that warms the file cache */
#define BASELINE_LIMIT  120.0 /* seconds */
#define LEAST_DEADLINE  3.0
#define LEAST_STARVE    30.0
#define LEAST_SETTLE    1.5
#define LEAST_GRACE     2.0
#define PROGRESS_PERIOD 100 /* milliseconds */

/* When to stop looking: told apart are a rate of 1 % and one of 10 %, and equal odds and
 * fourfold ones; either error 5 %. */
static const struct rck_sprt one_arm = {.01, .10, .05, .05};
#define ODDS_RATIO 4
#define ERROR      .05

struct run {
	const struct rck_trial *t;
	struct rck_trial_result *r;
	struct rck_diag *diag;
	double begun;
	uint64_t lot;
	unsigned pairs[RCK_ARMS_MAX][2]; /* first arm alone hung; this one alone did */
};

static bool stopped(const struct rck_trial *t)
{
	return t->stop && *t->stop;
}

void rck_trial_defaults(struct rck_trial *t)
{
	if (!t->workers)
		t->workers = rck_load_workers(t->shape);
	if (!t->exposures)
		t->exposures = rck_load_exposures(t->shape);
	if (!t->concurrent)
		t->concurrent = rck_load_concurrent(t->shape);
}

unsigned rck_trial_per_round(const struct rck_trial *t)
{
	unsigned n = t->concurrent / (unsigned)t->n_arms;

	return n ? n : 1;
}

unsigned rck_trial_rounds(const struct rck_trial *t)
{
	unsigned per_round = rck_trial_per_round(t);

	return (t->exposures + per_round - 1) / per_round;
}

static void report_progress(const struct run *run)
{
	run->r->seconds = rck_proc_now() - run->begun;
	if (run->t->progress)
		run->t->progress(run->t, run->r, run->t->progress_arg);
}

static struct rck_supervise spec_of(const struct run *run, unsigned arm, int starve_cpu)
{
	const struct rck_trial *t = run->t;

	return (struct rck_supervise){
		.argv = t->arms[arm].argv,
		.env = t->arms[arm].env,
		.preload = t->preload,
		.done_regex = t->done_regex,
		.core_folder = t->core_folder,
		.starve_cpu = starve_cpu,
		.grace = run->r->grace,
	};
}

/* ---- the baseline ---- */

/* One exposure by itself with no load. Returns 0 or -errno. */
static int expose_alone(struct run *run, unsigned arm, struct rck_exposure *e)
{
	struct rck_supervise spec = spec_of(run, arm, -1);
	double end =
		rck_proc_now() + (run->t->timeout > 0 ? run->t->timeout : BASELINE_LIMIT);
	struct rck_supervisor *sup;
	bool grace = false, cut = false;
	int err;

	spec.core_folder = NULL;
	spec.grace = LEAST_GRACE;
	/* a program that sleeps in its teardown wants --timeout; it is told so */
	spec.after_done = run->t->timeout > 0 ? 0 : 8;
	err = rck_supervisor_start(&spec, &sup);
	if (err)
		return rck_fail(run->diag, err, RCK_OFFSET_NONE,
			"cannot start a supervisor: %s", strerror(-err));
	for (;;) {
		struct pollfd fd = {rck_supervisor_fd(sup), POLLIN, 0};

		poll(&fd, 1, PROGRESS_PERIOD);
		if (fd.revents && rck_supervisor_finish(&sup, e))
			return 0;
		report_progress(run);
		if (!cut && stopped(run->t)) {
			rck_supervisor_cut(sup);
			cut = true;
		}
		if (!grace && rck_proc_now() > end) {
			rck_supervisor_begin_grace(sup);
			grace = true;
		}
	}
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

static int measure_arm(struct run *run, unsigned arm)
{
	struct rck_baseline *b = &run->r->baseline[arm];

	for (int i = 0; i <= BASELINE_RUNS && !stopped(run->t); i++) {
		struct rck_exposure e;
		int err = expose_alone(run, arm, &e);

		if (err)
			return err;
		if (e.outcome == RCK_OUTCOME_NOT_RUN && e.reason)
			err = rck_fail(
				run->diag, -ENOEXEC, RCK_OFFSET_NONE, "%s", e.reason);
		if (!err && (i || rck_outcome_is_hang(e.outcome))) {
			bool hang = rck_outcome_is_hang(e.outcome);

			b->runs++;
			b->hangs += hang;
			b->seconds = larger(
				b->seconds, hang && e.done ? e.done_after : e.seconds);
			b->cpu = larger(b->cpu, hang ? b->seconds : e.cpu);
			if (!hang && e.done)
				b->teardown =
					larger(b->teardown, e.seconds - e.done_after);
		}
		rck_exposure_release(&e);
		if (err)
			return err;
		/* A hang with no load needs no second look. */
		if (b->hangs)
			break;
	}
	return 0;
}

/*
 * Deadlines that are the same for every arm, from the slowest. Each CPU has this many
 * threads to run beside an exposure's own; nothing but the load ends at a deadline, so
 * that one too short costs power and no truth.
 */
static void set_deadlines(struct run *run)
{
	const struct rck_trial *t = run->t;
	struct rck_trial_result *r = run->r;
	double crowd = 1, seconds = 0, teardown = 0;

	if (t->shape == RCK_LOAD_SPIN || t->shape == RCK_LOAD_CHURN)
		crowd += (double)(t->workers + t->concurrent) / rck_load_cpus();
	else if (t->concurrent > rck_load_cpus())
		crowd = (double)t->concurrent / rck_load_cpus();
	for (size_t i = 0; i < t->n_arms; i++) {
		seconds = larger(seconds, r->baseline[i].seconds);
		teardown = larger(teardown, r->baseline[i].teardown);
	}
	r->deadline = t->timeout;
	r->settle = t->timeout;
	/* Nobody gets to his teardown late because a listener starves: there the deadline
	 * is for work that hangs, and the load has to last until the work is done. */
	if (r->deadline <= 0)
		r->deadline = t->shape == RCK_LOAD_STARVE
				      ? larger(LEAST_STARVE, 20 * seconds)
				      : larger(LEAST_DEADLINE, 3 * seconds * crowd);
	if (r->settle <= 0)
		r->settle = larger(LEAST_SETTLE, (3 * teardown + .5 * seconds) * crowd);
	r->grace = t->grace > 0 ? t->grace
				: larger(LEAST_GRACE,
					  2 * seconds * t->concurrent / rck_load_cpus());
}

static int measure(struct run *run)
{
	for (unsigned i = 0; i < run->t->n_arms && !stopped(run->t); i++) {
		int err = measure_arm(run, i);

		if (err)
			return err;
	}
	set_deadlines(run);
	return 0;
}

/* ---- a round ---- */

struct slot {
	unsigned arm;
	struct rck_supervise spec;
	struct rck_supervisor *sup;
	double begun, done_at;
	bool in_grace;
};

/* xorshift64*: a lot, not a secret. */
static unsigned draw(struct run *run, unsigned below)
{
	run->lot ^= run->lot >> 12;
	run->lot ^= run->lot << 25;
	run->lot ^= run->lot >> 27;
	return (unsigned)((run->lot * 2685821657736338717ull >> 33) % below);
}

static void shuffle(struct run *run, struct slot *slots, unsigned n)
{
	for (unsigned i = n; i > 1; i--) {
		unsigned k = draw(run, i);
		unsigned arm = slots[i - 1].arm;

		slots[i - 1].arm = slots[k].arm;
		slots[k].arm = arm;
	}
}

static void keep(struct run *run, struct rck_exposure *e)
{
	struct rck_trial_result *r = run->r;

	r->exposures = rck_xrealloc(r->exposures, (r->n + 1) * sizeof(*r->exposures));
	r->exposures[r->n++] = *e;
}

/* Reads from one slot; true when it has ended. */
static bool read_slot(struct run *run, struct slot *s, unsigned round, unsigned number)
{
	struct rck_exposure e;

	if (!rck_supervisor_finish(&s->sup, &e)) {
		if (!s->done_at && rck_supervisor_is_done(s->sup))
			s->done_at = rck_proc_now();
		return false;
	}
	e.arm = s->arm;
	e.round = round;
	e.slot = number;
	e.started = s->begun - run->begun;
	if (e.outcome == RCK_OUTCOME_NOT_RUN) {
		if (e.reason && !stopped(run->t))
			rck_fail(run->diag, -EIO, RCK_OFFSET_NONE, "%s", e.reason);
		rck_exposure_release(&e);
	} else {
		keep(run, &e);
	}
	return true;
}

/* Has the load done its part for every exposure that still runs? */
static bool load_is_over(const struct run *run, const struct slot *slots, unsigned n)
{
	double now = rck_proc_now();

	for (unsigned i = 0; i < n; i++) {
		const struct slot *s = &slots[i];

		if (!s->sup || now - s->begun > run->r->deadline)
			continue;
		if (!s->done_at || now - s->done_at <= run->r->settle)
			return false;
	}
	return true;
}

static unsigned poll_slots(
	struct run *run, struct slot *slots, unsigned n, unsigned round, unsigned first)
{
	struct pollfd fds[RCK_SLOTS_MAX];
	unsigned live = 0;

	for (unsigned i = 0; i < n; i++)
		fds[i] = (struct pollfd){
			slots[i].sup ? rck_supervisor_fd(slots[i].sup) : -1, POLLIN, 0};
	poll(fds, n, PROGRESS_PERIOD);
	for (unsigned i = 0; i < n; i++) {
		if (!slots[i].sup)
			continue;
		if (!fds[i].revents || !read_slot(run, &slots[i], round, first + i))
			live++;
	}
	return live;
}

/* Exposures that run at one time, under one load, from its start to the end of the last
 * of them. */
static int run_batch(
	struct run *run, struct slot *slots, unsigned n, unsigned round, unsigned first)
{
	const struct rck_trial *t = run->t;
	struct rck_load load;
	bool cut = false, over = false;
	unsigned live;
	int err = rck_load_start(t->shape, t->workers, &load);

	if (err)
		return rck_fail(run->diag, err, RCK_OFFSET_NONE,
			"cannot start %u workers: %s", t->workers, strerror(-err));
	for (unsigned i = 0; i < n && !err; i++) {
		struct slot *s = &slots[i];

		s->spec = spec_of(run, s->arm, load.starve_cpu);
		s->spec.cpu_needed = 1.5 * run->r->baseline[s->arm].cpu + .3;
		s->begun = rck_proc_now();
		err = rck_supervisor_start(&s->spec, &s->sup);
		if (err)
			rck_fail(run->diag, err, RCK_OFFSET_NONE,
				"cannot start a supervisor: %s", strerror(-err));
	}
	do {
		live = poll_slots(run, slots, n, round, first);
		report_progress(run);
		if (!over && (err || stopped(t) || load_is_over(run, slots, n))) {
			over = true;
			rck_load_stop(&load);
			for (unsigned i = 0; i < n; i++)
				if (slots[i].sup)
					rck_supervisor_begin_grace(slots[i].sup);
		}
		if (!cut && (err || stopped(t))) {
			cut = true;
			for (unsigned i = 0; i < n; i++)
				if (slots[i].sup)
					rck_supervisor_cut(slots[i].sup);
		}
	} while (live);
	rck_load_stop(&load);
	return err ? err : run->diag->code;
}

static bool hung(const struct run *run, unsigned round, unsigned arm, unsigned nth)
{
	for (size_t i = 0; i < run->r->n; i++) {
		const struct rck_exposure *e = &run->r->exposures[i];

		if (e->round == round && e->arm == arm && !nth--)
			return rck_outcome_is_hang(e->outcome);
	}
	return false;
}

static void count_pairs(struct run *run, unsigned round)
{
	for (unsigned arm = 1; arm < run->t->n_arms; arm++)
		for (unsigned i = 0; i < rck_trial_per_round(run->t); i++) {
			bool a = hung(run, round, 0, i), b = hung(run, round, arm, i);

			run->pairs[arm][0] += a && !b;
			run->pairs[arm][1] += b && !a;
		}
}

static bool is_confident(const struct run *run)
{
	unsigned k = 0;

	if (run->t->n_arms == 1) {
		for (size_t i = 0; i < run->r->n; i++)
			k += rck_outcome_is_hang(run->r->exposures[i].outcome);
		return rck_sprt_rate(&one_arm, k, (unsigned)run->r->n) != RCK_SPRT_GO_ON;
	}
	for (unsigned arm = 1; arm < run->t->n_arms; arm++)
		if (rck_sprt_pairs(run->pairs[arm][0], run->pairs[arm][1], ODDS_RATIO,
			    ERROR, ERROR) == RCK_SPRT_GO_ON)
			return false;
	return true;
}

static int run_round(struct run *run, unsigned round)
{
	const struct rck_trial *t = run->t;
	unsigned n = rck_trial_per_round(t) * (unsigned)t->n_arms;
	unsigned batch = t->concurrent > 1 ? n : 1;
	struct slot *slots = rck_xcalloc(n, sizeof(*slots));
	int err = 0;

	for (unsigned i = 0; i < n; i++)
		slots[i].arm = i % (unsigned)t->n_arms;
	shuffle(run, slots, n);
	for (unsigned i = 0; i < n && !err && !stopped(t); i += batch)
		err = run_batch(run, slots + i, batch, round, i);
	free(slots);
	if (!err && !stopped(t)) {
		run->r->rounds++;
		count_pairs(run, round);
	}
	return err;
}

int rck_trial_run(
	const struct rck_trial *t, struct rck_trial_result *r, struct rck_diag *diag)
{
	struct run run = {t, r, diag, rck_proc_now(), 0x9e3779b97f4a7c15ull ^ t->seed};
	time_t wall = time(NULL);
	struct tm utc;
	int err;

	*r = (struct rck_trial_result){0};
	diag->code = 0;
	strftime(r->started_at, sizeof(r->started_at), "%Y-%m-%dT%H:%M:%SZ",
		gmtime_r(&wall, &utc));
	if (!t->n_arms || t->n_arms > RCK_ARMS_MAX ||
		rck_trial_per_round(t) * t->n_arms > RCK_SLOTS_MAX)
		return rck_fail(diag, -EINVAL, RCK_OFFSET_NONE,
			"at most %d arms and %d exposures at a time", RCK_ARMS_MAX,
			RCK_SLOTS_MAX);
	err = measure(&run);
	for (unsigned i = 0; i < rck_trial_rounds(t) && !err && !stopped(t); i++) {
		err = run_round(&run, i);
		if (!err && t->until_confident && is_confident(&run)) {
			r->confident = true;
			break;
		}
	}
	r->interrupted = stopped(t);
	r->seconds = rck_proc_now() - run.begun;
	return err;
}

void rck_trial_result_release(struct rck_trial_result *r)
{
	for (size_t i = 0; i < r->n; i++)
		rck_exposure_release(&r->exposures[i]);
	free(r->exposures);
	*r = (struct rck_trial_result){0};
}
