/* The probe as a program of its own: it starts under the ROCm at hand and names what
 * failed. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "launch/probe.h"
#include "util/spawn.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void run_probe(struct rck_spawn *s, struct rck_strbuf *err, const char *option,
	const char *value)
{
	_cleanup_strv_ struct rck_strv argv = {NULL, 0};
	_cleanup_strv_ struct rck_strv env = {NULL, 0};
	struct rck_diag diag;
	struct rck_rocm *r;

	assert_int_equal(rck_rocm_open(NULL, &r, &diag), 0);
	if (rck_probe_command(r, NULL, &argv, &env, &diag)) {
		print_message("%s\n", diag.msg);
		rck_rocm_close(r);
		skip();
	}
	rck_strv_add(&argv, option);
	if (value)
		rck_strv_add(&argv, value);
	s->argv = rck_strv_list(&argv);
	s->env = rck_strv_list(&env);
	s->err = err;
	s->timeout = 60;
	assert_int_equal(rck_spawn_run(s), 0);
	rck_rocm_close(r);
}

static void test_usage(void **state)
{
	_cleanup_strbuf_ struct rck_strbuf err = RCK_STRBUF_INIT;
	struct rck_spawn s = {0};

	run_probe(&s, &err, "--route=sideways", NULL);
	assert_int_equal(s.status, 3);
	assert_memory_equal(err.buf, "usage: ", 7);
}

/* No such file, and on a machine without a GPU no device either: a HIP call fails. */
static void test_failed_call_is_named(void **state)
{
	_cleanup_strbuf_ struct rck_strbuf err = RCK_STRBUF_INIT;
	struct rck_spawn s = {0};

	run_probe(&s, &err, "--code-object", "/nonexistent.co");
	assert_int_equal(s.status, 1);
	assert_non_null(strstr(err.buf, "reproducer: hipM"));
	assert_non_null(strstr(err.buf, ": error "));
}

static void test_no_runtime(void **state)
{
	_cleanup_strv_ struct rck_strv argv = {NULL, 0};
	_cleanup_strv_ struct rck_strv env = {NULL, 0};
	char dir[] = "/tmp/rck-probe-XXXXXX";
	struct rck_diag diag;
	struct rck_rocm *r;
	char *bin, *tool;
	FILE *f;

	assert_non_null(mkdtemp(dir));
	bin = rck_xasprintf("%s/bin", dir);
	tool = rck_xasprintf("%s/hipcc", bin);
	assert_int_equal(mkdir(bin, 0755), 0);
	f = fopen(tool, "w");
	assert_non_null(f);
	fclose(f);
	chmod(tool, 0755);
	assert_int_equal(rck_rocm_open(dir, &r, &diag), 0);
	assert_int_equal(rck_probe_command(r, NULL, &argv, &env, &diag), -ENOENT);
	assert_string_equal(diag.msg, "no HIP runtime (libamdhip64) found");
	rck_rocm_close(r);
	unlink(tool);
	rmdir(bin);
	rmdir(dir);
	free(tool);
	free(bin);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_usage),
		cmocka_unit_test(test_failed_call_is_named),
		cmocka_unit_test(test_no_runtime),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
