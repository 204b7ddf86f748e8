/* Load shapes and rounds, over planted programs. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "teardown/proc.h"
#include "teardown/trial.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char *plant, *preload;
static const char *clean_argv[] = {NULL, "clean", NULL};
static const char *spin_argv[] = {NULL, "spin", NULL};
static const char *slow_argv[] = {NULL, "slow", "3", NULL};
static const char *fail_argv[] = {NULL, "fail", NULL};

static unsigned count(const struct rck_trial_result *r, unsigned arm, enum rck_outcome o)
{
	unsigned n = 0;

	for (size_t i = 0; i < r->n; i++)
		n += r->exposures[i].arm == arm && r->exposures[i].outcome == o;
	return n;
}

static void loads(void **state)
{
	for (int shape = 0; shape < RCK_LOAD_SHAPES; shape++) {
		struct rck_load load;
		pid_t pids[8];

		assert_non_null(rck_load_name((enum rck_load_shape)shape));
		assert_int_equal(rck_load_start((enum rck_load_shape)shape, 3, &load), 0);
		assert_int_equal(load.n, shape == RCK_LOAD_NONE ? 0 : 3);
		assert_true((load.starve_cpu >= 0) == (shape == RCK_LOAD_STARVE));
		for (size_t i = 0; i < load.n; i++) {
			pids[i] = load.workers[i];
			assert_int_equal(kill(pids[i], 0), 0);
		}
		usleep(20000);
		/* they work until they are told not to */
		assert_int_equal(waitpid(-1, NULL, WNOHANG), shape ? 0 : -1);
		rck_load_stop(&load);
		for (size_t i = 0; i < 3 && shape; i++)
			assert_int_equal(kill(pids[i], 0), -1);
		rck_load_stop(&load);
	}
}

/* One arm hangs each time, one never; each has its exposures in each round. */
static void two_arms(void **state)
{
	struct rck_arm arms[] = {{"spin", spin_argv}, {"clean", clean_argv}};
	struct rck_trial t = {.arms = arms,
		.n_arms = 2,
		.shape = RCK_LOAD_STARVE,
		.exposures = 3,
		.timeout = .5,
		.grace = .3,
		.preload = preload,
		.seed = 5};
	struct rck_trial_result r;
	struct rck_diag diag;

	rck_trial_defaults(&t);
	assert_int_equal(t.concurrent, 1);
	assert_int_equal(rck_trial_rounds(&t), 3);
	assert_int_equal(rck_trial_run(&t, &r, &diag), 0);
	assert_int_equal(r.n, 6);
	assert_int_equal(r.rounds, 3);
	assert_int_equal(count(&r, 0, RCK_OUTCOME_HANG_DONE), 3);
	assert_int_equal(count(&r, 1, RCK_OUTCOME_CLEAN), 3);
	assert_int_equal(r.baseline[0].hangs, 1);
	assert_int_equal(r.baseline[1].hangs, 0);
	assert_false(r.interrupted);
	for (size_t i = 0; i < r.n; i++)
		assert_int_equal(r.exposures[i].round, i / 2);
	rck_trial_result_release(&r);
	assert_int_equal(rck_proc_descendants(getpid()).n, 0);
}

/* An honest program that the load makes far slower than its deadline is no hang. */
static void slow_under_load(void **state)
{
	struct rck_arm arms[] = {{"slow", slow_argv}};
	struct rck_trial t = {.arms = arms,
		.n_arms = 1,
		.shape = RCK_LOAD_CHURN,
		.workers = 8,
		.exposures = 4,
		.timeout = .3,
		.grace = .3,
		.preload = preload};
	struct rck_trial_result r;
	struct rck_diag diag;

	rck_trial_defaults(&t);
	assert_int_equal(rck_trial_rounds(&t), 1);
	assert_int_equal(rck_trial_run(&t, &r, &diag), 0);
	assert_int_equal(count(&r, 0, RCK_OUTCOME_CLEAN), 4);
	rck_trial_result_release(&r);
}

static void until_confident(void **state)
{
	struct rck_arm arms[] = {{"spin", spin_argv}};
	struct rck_trial t = {.arms = arms,
		.n_arms = 1,
		.shape = RCK_LOAD_NONE,
		.exposures = 50,
		.timeout = .3,
		.grace = .2,
		.preload = preload,
		.until_confident = true};
	struct rck_trial_result r;
	struct rck_diag diag;

	rck_trial_defaults(&t);
	assert_int_equal(rck_trial_run(&t, &r, &diag), 0);
	assert_true(r.confident);
	assert_int_equal(r.n, 2);
	rck_trial_result_release(&r);

	arms[0].argv = clean_argv;
	assert_int_equal(rck_trial_run(&t, &r, &diag), 0);
	assert_true(r.confident);
	assert_int_equal(r.n, 31);
	rck_trial_result_release(&r);
}

static void failures_are_no_hangs(void **state)
{
	struct rck_arm arms[] = {{"fail", fail_argv}};
	struct rck_trial t = {
		.arms = arms, .n_arms = 1, .exposures = 2, .preload = preload};
	struct rck_trial_result r;
	struct rck_diag diag;

	rck_trial_defaults(&t);
	assert_int_equal(rck_trial_run(&t, &r, &diag), 0);
	assert_int_equal(count(&r, 0, RCK_OUTCOME_FAILED), 2);
	rck_trial_result_release(&r);
}

static void no_such_program(void **state)
{
	static const char *argv[] = {"/nonexistent/program", NULL};
	struct rck_arm arms[] = {{"none", argv}};
	struct rck_trial t = {.arms = arms, .n_arms = 1};
	struct rck_trial_result r;
	struct rck_diag diag;

	rck_trial_defaults(&t);
	assert_int_equal(rck_trial_run(&t, &r, &diag), -ENOEXEC);
	assert_string_equal(diag.msg,
		"cannot start '/nonexistent/program': No such file or directory");
	rck_trial_result_release(&r);
}

static volatile sig_atomic_t stop;

static void stop_now(
	const struct rck_trial *t, const struct rck_trial_result *r, void *arg)
{
	if (r->n >= 1)
		stop = 1;
}

static void interrupted(void **state)
{
	struct rck_arm arms[] = {{"clean", clean_argv}};
	struct rck_trial t = {.arms = arms,
		.n_arms = 1,
		.exposures = 1000,
		.preload = preload,
		.stop = &stop,
		.progress = stop_now};
	struct rck_trial_result r;
	struct rck_diag diag;

	stop = 0;
	rck_trial_defaults(&t);
	assert_int_equal(rck_trial_run(&t, &r, &diag), 0);
	assert_true(r.interrupted);
	assert_true(r.n >= 1 && r.n < 1000);
	rck_trial_result_release(&r);
	assert_int_equal(rck_proc_descendants(getpid()).n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loads),
		cmocka_unit_test(two_arms),
		cmocka_unit_test(slow_under_load),
		cmocka_unit_test(until_confident),
		cmocka_unit_test(failures_are_no_hangs),
		cmocka_unit_test(no_such_program),
		cmocka_unit_test(interrupted),
	};

	plant = rck_xasprintf("%s/tests/unit/teardown/plant", getenv("RCK_BUILD_DIR"));
	preload = rck_xasprintf(
		"%s/src/teardown/rocmcheck-preload-watch.so", getenv("RCK_BUILD_DIR"));
	clean_argv[0] = spin_argv[0] = slow_argv[0] = fail_argv[0] = plant;
	return cmocka_run_group_tests_name("teardown-trial", tests, NULL, NULL);
}
