/* The preloaded libraries, over a library that is linked and the same one opened with
 * dlopen: the two differ in when their destructors run. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "teardown/observe.h"
#include "teardown/supervise.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *linked, *opened, *library, *watch, *both;

static struct rck_exposure expose(const char *program, const char *preload, bool hangs)
{
	const char *argv[] = {program, library, NULL};
	const char *env[] = {hangs ? "PLANTED_HANG=1" : NULL, NULL};
	/* begun by itself: the work is done, and two seconds have passed */
	struct rck_supervise s = {.argv = argv,
		.env = env,
		.preload = preload,
		.starve_cpu = -1,
		.after_done = 2,
		.grace = .5,
		.cpu_needed = .3};
	struct rck_supervisor *sup;
	struct rck_exposure e;

	assert_int_equal(rck_supervisor_start(&s, &sup), 0);
	for (;;) {
		struct pollfd fd = {rck_supervisor_fd(sup), POLLIN, 0};

		poll(&fd, 1, 100);
		if (fd.revents && rck_supervisor_finish(&sup, &e))
			return e;
	}
}

static void clean(const char *program)
{
	struct rck_exposure e = expose(program, watch, false);

	assert_int_equal(e.outcome, RCK_OUTCOME_CLEAN);
	assert_true(e.done);
	assert_true(e.listener != 0);
	assert_false(e.reordered);
	assert_string_equal(e.hip, library);
	assert_string_equal(e.output, "listener\nsecond\nfirst\n");
	rck_exposure_release(&e);
}

static void hang(const char *program)
{
	struct rck_exposure e = expose(program, watch, true);

	/* the destructor hangs, and main had returned before */
	assert_int_equal(e.outcome, RCK_OUTCOME_HANG_DONE);
	assert_false(e.listener_alive);
#ifdef HAVE_LIBDW
	assert_string_equal(e.spins_in, "libamdhip64.so.99");
#endif
	rck_exposure_release(&e);
}

/* Registered first, it runs last; the others keep their order. */
static void reordered(const char *program)
{
	struct rck_exposure e = expose(program, both, false);

	assert_int_equal(e.outcome, RCK_OUTCOME_CLEAN);
	if (!e.reordered)
		fail_msg("not reordered: %s", e.reason ? e.reason : "?");
	assert_string_equal(e.output, "second\nfirst\nlistener\n");
	rck_exposure_release(&e);
}

static void when_linked(void **state)
{
	clean(linked);
	hang(linked);
	reordered(linked);
}

static void when_opened(void **state)
{
	clean(opened);
	hang(opened);
	reordered(opened);
}

/* Where a runtime lies is its path to the end of the line. */
static void observed(void **state)
{
	const char *argv[] = {"sh", "-c",
		"echo '1 library /a b/libamdhip64.so.6'; echo '1 reordered 4 3'", NULL};
	struct rck_observation ob;
	struct rck_diag diag;

	assert_int_equal(rck_observe(argv, NULL, &ob, &diag), 0);
	assert_string_equal(ob.hip, "/a b/libamdhip64.so.6");
	assert_null(ob.hsa);
	assert_int_equal(ob.destructors, 4);
	assert_int_equal(ob.listener_destructor, 3);
	rck_observation_release(&ob);
}

int main(void)
{
	const char *build = getenv("RCK_BUILD_DIR");
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(when_linked),
		cmocka_unit_test(when_opened),
		cmocka_unit_test(observed),
	};

	linked = rck_xasprintf("%s/tests/unit/teardown/planted-linked", build);
	opened = rck_xasprintf("%s/tests/unit/teardown/planted-opened", build);
	library = rck_xasprintf("%s/tests/unit/teardown/libamdhip64.so.99", build);
	watch = rck_xasprintf("%s/src/teardown/rocmcheck-preload-watch.so", build);
	both = rck_xasprintf(
		"%s/src/teardown/rocmcheck-preload-order.so:%s", build, watch);
	return cmocka_run_group_tests_name("teardown-preload", tests, NULL, NULL);
}
