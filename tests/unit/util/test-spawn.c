#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "util/spawn.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void captures_both(void **state)
{
	struct rck_strbuf out = RCK_STRBUF_INIT, err = RCK_STRBUF_INIT;
	const char *argv[] = {"sh", "-c", "echo $WHO; echo no >&2; exit 7", NULL};
	const char *env[] = {"WHO=me", NULL};
	struct rck_spawn s = {.argv = argv, .env = env, .out = &out, .err = &err};

	assert_int_equal(rck_spawn_run(&s), 0);
	assert_int_equal(s.status, 7);
	assert_string_equal(out.buf, "me\n");
	assert_string_equal(err.buf, "no\n");
	rck_strbuf_release(&out);
	rck_strbuf_release(&err);
}

static void missing_program(void **state)
{
	const char *argv[] = {"rocmcheck-no-such-program", NULL};
	struct rck_spawn s = {.argv = argv};

	assert_int_equal(rck_spawn_run(&s), -ENOENT);
}

static void timeout_ends_the_tree(void **state)
{
	struct rck_strbuf out = RCK_STRBUF_INIT;
	const char *argv[] = {"sh", "-c", "sleep 100 & echo $!; wait", NULL};
	struct rck_spawn s = {.argv = argv, .out = &out, .timeout = 0.3};
	pid_t grandchild;

	assert_int_equal(rck_spawn_run(&s), 0);
	assert_true(s.timed_out);
	assert_int_equal(s.signal, SIGKILL);
	grandchild = atoi(out.buf);
	assert_true(grandchild > 0);
	for (int i = 0; i < 200 && !kill(grandchild, 0); i++)
		usleep(10000);
	assert_int_equal(kill(grandchild, 0), -1);
	rck_strbuf_release(&out);
}

static void output_is_limited(void **state)
{
	struct rck_strbuf out = RCK_STRBUF_INIT;
	const char *argv[] = {"sh", "-c", "head -c 1000000 /dev/zero", NULL};
	struct rck_spawn s = {.argv = argv, .out = &out, .limit = 1000};

	assert_int_equal(rck_spawn_run(&s), 0);
	assert_int_equal(s.status, 0);
	assert_int_equal(out.len, 1000);
	rck_strbuf_release(&out);
}

/* The first thing that is there to read is read late, as on a busy machine. */
static useconds_t busy;

int poll(struct pollfd *fds, nfds_t n, int timeout)
{
	const struct timespec t = {timeout / 1000, timeout % 1000 * 1000000l};
	int r = ppoll(fds, n, timeout < 0 ? NULL : &t, NULL);

	usleep(busy);
	return r;
}

/* What stands in a pipe when the child has ended is read to its end, whichever of the
 * pipes ends first. */
static void output_is_whole(void **state)
{
	struct rck_strbuf out = RCK_STRBUF_INIT, err = RCK_STRBUF_INIT;
	const char *argv[] = {"sh", "-c", "head -c 65536 /dev/zero; sleep .01", NULL};
	struct rck_spawn s = {.argv = argv, .out = &out, .err = &err};

	busy = 100000;
	assert_int_equal(rck_spawn_run(&s), 0);
	busy = 0;
	assert_int_equal(out.len, 65536);
	rck_strbuf_release(&out);
	rck_strbuf_release(&err);
}

/* In a session of its own, which the kill of the group does not reach. */
static void chatter_is_not_awaited(void **state)
{
	struct rck_strbuf out = RCK_STRBUF_INIT;
	const char *argv[] = {"sh", "-c", "setsid timeout 10 yes & sleep .3", NULL};
	struct rck_spawn s = {.argv = argv, .out = &out, .limit = 1000};
	time_t begun = time(NULL);

	busy = 2000;
	assert_int_equal(rck_spawn_run(&s), 0);
	busy = 0;
	assert_int_equal(out.len, 1000);
	assert_true(time(NULL) - begun < 6);
	rck_strbuf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(captures_both),
		cmocka_unit_test(missing_program),
		cmocka_unit_test(timeout_ends_the_tree),
		cmocka_unit_test(output_is_limited),
		cmocka_unit_test(output_is_whole),
		cmocka_unit_test(chatter_is_not_awaited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
