#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "util/spawn.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(captures_both),
		cmocka_unit_test(missing_program),
		cmocka_unit_test(timeout_ends_the_tree),
		cmocka_unit_test(output_is_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
