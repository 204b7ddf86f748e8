/* One exposure each of programs with a planted teardown, and the end of everything. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "teardown/proc.h"
#include "teardown/supervise.h"

#include "alive.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static char *plant, *preload;

/* Runs plant KIND: after it has said that it is done (or at once, for those that never
 * do) the grace begins. */
static struct rck_exposure expose_with(
	const char *kind, const char *arg, struct rck_supervise s, double deadline)
{
	const char *argv[] = {plant, kind, arg, NULL};
	struct rck_supervisor *sup;
	struct rck_exposure e;
	double end = rck_proc_now() + deadline;
	bool grace = false;

	s.argv = argv;
	s.preload = preload;
	if (!s.starve_cpu)
		s.starve_cpu = -1;
	if (s.grace <= 0)
		s.grace = .5;
	/* a busy machine may not let it get to its hang in time otherwise */
	if (s.cpu_needed <= 0)
		s.cpu_needed = .5;
	assert_int_equal(rck_supervisor_start(&s, &sup), 0);
	for (;;) {
		struct pollfd fd = {rck_supervisor_fd(sup), POLLIN, 0};

		poll(&fd, 1, 20);
		if (fd.revents && rck_supervisor_finish(&sup, &e))
			break;
		if (!grace && rck_proc_now() > end) {
			rck_supervisor_begin_grace(sup);
			grace = true;
		}
	}
	return e;
}

static struct rck_exposure expose(const char *kind, double deadline)
{
	return expose_with(kind, "of-supervise", (struct rck_supervise){0}, deadline);
}

static void clean(void **state)
{
	struct rck_exposure e = expose("clean", 60);

	assert_int_equal(e.outcome, RCK_OUTCOME_CLEAN);
	assert_true(e.done);
	assert_int_equal(e.status, 0);
	assert_string_equal(e.output, "work done\n");
	assert_int_equal(e.left_behind, 0);
	rck_exposure_release(&e);
}

static void failed(void **state)
{
	struct rck_exposure e = expose("fail", 60);

	assert_int_equal(e.outcome, RCK_OUTCOME_FAILED);
	assert_int_equal(e.status, 7);
	assert_true(e.done);
	rck_exposure_release(&e);
}

static void crash_at_exit(void **state)
{
	struct rck_exposure e = expose("crash", 60);

	assert_int_equal(e.outcome, RCK_OUTCOME_CRASH);
	assert_int_equal(e.signal, SIGSEGV);
	assert_true(e.done);
	rck_exposure_release(&e);
}

#ifdef HAVE_LIBDW
static bool has_frame(const struct rck_exposure *e, const char *word)
{
	for (size_t t = 0; t < e->n_threads; t++)
		for (size_t f = 0; f < e->threads[t].n_frames; f++)
			if (strstr(e->threads[t].frames[f], word))
				return true;
	return false;
}
#endif

static void spin_at_exit(void **state)
{
	struct rck_exposure e = expose("spin", 1);

	assert_int_equal(e.outcome, RCK_OUTCOME_HANG_DONE);
	assert_true(e.n_threads == 1);
	assert_true(e.threads[0].cpu > 0);
#ifdef HAVE_LIBDW
	assert_true(has_frame(&e, "planted_spin"));
	assert_string_equal(e.spins_in, "plant");
#endif
	rck_exposure_release(&e);
}

static void deadlock_at_exit(void **state)
{
	struct rck_exposure e = expose("deadlock", 1);

	assert_int_equal(e.outcome, RCK_OUTCOME_HANG_DONE);
	assert_int_equal(e.n_threads, 2);
	assert_null(e.spins_in);
#ifdef HAVE_LIBDW
	assert_true(has_frame(&e, "take_lock"));
	assert_true(has_frame(&e, "hold"));
#endif
	rck_exposure_release(&e);
}

static void hang_in_work(void **state)
{
	struct rck_exposure e = expose("hang-in-work", .5);

	assert_int_equal(e.outcome, RCK_OUTCOME_HANG_WORK);
	assert_false(e.done);
	rck_exposure_release(&e);
}

/* Far slower than deadline and grace together, but it gets on: it has not had the CPU
 * that a run needs. */
static void slow_but_honest(void **state)
{
	struct rck_supervise s = {.grace = .3, .cpu_needed = 4};
	struct rck_exposure e = expose_with("slow", "20", s, .2);

	assert_int_equal(e.outcome, RCK_OUTCOME_CLEAN);
	rck_exposure_release(&e);
}

static void done_by_regex(void **state)
{
	struct rck_supervise s = {.done_regex = "^work (is )?done$"};
	struct rck_exposure e = expose_with("spin", NULL, s, 1);

	assert_int_equal(e.outcome, RCK_OUTCOME_HANG_DONE);
	rck_exposure_release(&e);
	s.done_regex = "never said";
	e = expose_with("spin", NULL, s, 1);
	assert_int_equal(e.outcome, RCK_OUTCOME_HANG_WORK);
	rck_exposure_release(&e);
}

static void ignores_sigterm(void **state)
{
	struct rck_exposure e = expose("ignore-term", 1);

	assert_int_equal(e.outcome, RCK_OUTCOME_HANG_DONE);
	rck_exposure_release(&e);
	assert_int_equal(alive_with("plant ignore-term of-supervise"), 0);
}

static void leaves_children(void **state)
{
	struct rck_exposure e = expose("leave", 60);

	assert_int_equal(e.outcome, RCK_OUTCOME_CLEAN);
	assert_int_equal(e.left_behind, 6);
	rck_exposure_release(&e);
	assert_int_equal(alive_with("plant leave of-supervise"), 0);
}

static void child_hangs(void **state)
{
	struct rck_exposure e = expose("fork-spin", 1);

	assert_int_equal(e.outcome, RCK_OUTCOME_HANG_DONE);
	rck_exposure_release(&e);
	assert_int_equal(alive_with("plant fork-spin of-supervise"), 0);
}

static void no_such_program(void **state)
{
	const char *argv[] = {"/nonexistent/program", NULL};
	struct rck_supervise s = {.argv = argv, .starve_cpu = -1};
	struct rck_supervisor *sup;
	struct rck_exposure e;

	assert_int_equal(rck_supervisor_start(&s, &sup), 0);
	while (!rck_supervisor_finish(&sup, &e))
		usleep(1000);
	assert_int_equal(e.outcome, RCK_OUTCOME_NOT_RUN);
	assert_string_equal(e.reason,
		"cannot start '/nonexistent/program': No such file or directory");
	rck_exposure_release(&e);
}

static void cut(void **state)
{
	const char *argv[] = {plant, "leave", "of-supervise", NULL};
	struct rck_supervise s = {.argv = argv, .preload = preload, .starve_cpu = -1};
	struct rck_supervisor *sup;
	struct rck_exposure e;

	assert_int_equal(rck_supervisor_start(&s, &sup), 0);
	rck_supervisor_cut(sup);
	while (!rck_supervisor_finish(&sup, &e))
		usleep(1000);
	assert_int_equal(e.outcome, RCK_OUTCOME_NOT_RUN);
	rck_exposure_release(&e);
	assert_int_equal(alive_with("plant leave of-supervise"), 0);
}

/* The parent of the supervisor is killed: the tree must not outlive it. */
static void parent_killed(void **state)
{
	double end;
	pid_t pid;

	pid = fork();
	if (!pid) {
		const char *argv[] = {plant, "ignore-term", "killed-parent", NULL};
		struct rck_supervise s = {
			.argv = argv, .preload = preload, .starve_cpu = -1};
		struct rck_supervisor *sup;

		if (rck_supervisor_start(&s, &sup))
			_exit(1);
		for (;;)
			pause();
	}
	end = rck_proc_now() + 30;
	while (!alive_with("ignore-term killed-parent") && rck_proc_now() < end)
		usleep(10000);
	assert_int_equal(alive_with("ignore-term killed-parent"), 1);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	while (alive_with("ignore-term killed-parent") && rck_proc_now() < end)
		usleep(10000);
	assert_int_equal(alive_with("ignore-term killed-parent"), 0);
}

/* What a record says survives the way through JSON. */
static void record(void **state)
{
	struct rck_exposure e = expose("deadlock", .5), again;
	struct rck_strbuf a = RCK_STRBUF_INIT, b = RCK_STRBUF_INIT;
	struct rck_json j;
	json_t *object;

	rck_json_init(&j, &a, 0);
	rck_exposure_write(&e, &j);
	object = json_loadb(a.buf, a.len, 0, NULL);
	assert_non_null(object);
	assert_int_equal(rck_exposure_read(object, &again), 0);
	rck_json_init(&j, &b, 0);
	rck_exposure_write(&again, &j);
	assert_string_equal(a.buf, b.buf);
	json_decref(object);
	object = json_pack("{s:s}", "outcome", "no such outcome");
	rck_exposure_release(&e);
	assert_true(rck_exposure_read(object, &e) < 0);
	json_decref(object);
	rck_exposure_release(&again);
	rck_strbuf_release(&a);
	rck_strbuf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clean),
		cmocka_unit_test(failed),
		cmocka_unit_test(crash_at_exit),
		cmocka_unit_test(spin_at_exit),
		cmocka_unit_test(deadlock_at_exit),
		cmocka_unit_test(hang_in_work),
		cmocka_unit_test(slow_but_honest),
		cmocka_unit_test(done_by_regex),
		cmocka_unit_test(ignores_sigterm),
		cmocka_unit_test(leaves_children),
		cmocka_unit_test(child_hangs),
		cmocka_unit_test(no_such_program),
		cmocka_unit_test(cut),
		cmocka_unit_test(parent_killed),
		cmocka_unit_test(record),
	};

	plant = rck_xasprintf("%s/tests/unit/teardown/plant", getenv("RCK_BUILD_DIR"));
	preload = rck_xasprintf(
		"%s/src/teardown/rocmcheck-preload-watch.so", getenv("RCK_BUILD_DIR"));
	return cmocka_run_group_tests_name("teardown-supervise", tests, NULL, NULL);
}
