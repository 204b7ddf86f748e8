/* The library's judgements, through the shared library and its public header alone. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include <rocmcheck.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[4096];

static const char *fixture(const char *name)
{
	const char *dir = getenv("RCK_FIXTURES");

	if (!dir)
		fail_msg("RCK_FIXTURES is not set");
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (access(path, R_OK)) {
		print_message("skipped: not made: %s\n", name);
		skip();
	}
	return path;
}

static const struct rck_finding_info *find(
	const struct rck_judgement *j, const char *rule, const char *kernel)
{
	for (size_t i = 0; i < rck_judgement_finding_count(j); i++) {
		const struct rck_finding_info *f = rck_judgement_finding(j, i);

		if (!strcmp(f->rule, rule) &&
			(kernel ? f->kernel && !strcmp(f->kernel, kernel) : !f->kernel))
			return f;
	}
	return NULL;
}

static void test_kernels(void **state)
{
	struct rck_judgement *j;
	const struct rck_finding_info *f;
	struct rck_diag diag;

	assert_int_equal(rck_judge_path(fixture("o0-v5.co"), NULL, &j, &diag), 0);
	assert_int_equal(rck_judgement_verdict(j), 1);
	assert_int_equal(rck_judgement_error_count(j), 0);
	f = find(j, "built-without-optimization", "_Z3addPfPKfS1_i");
	assert_non_null(f);
	assert_int_equal(f->severity, RCK_SEVERITY_ERROR);
	assert_int_equal(f->state, RCK_STATE_FAIL);
	assert_string_equal(f->target, "gfx1100");
	assert_string_equal(f->where, "");
	assert_non_null(strstr(f->demangled, "add("));
	assert_non_null(strstr(f->message, "-O0"));
	assert_non_null(strstr(f->remedy, "-O1"));
	assert_null(rck_judgement_finding(j, rck_judgement_finding_count(j)));
	rck_judgement_close(j);
}

static void test_incomplete(void **state)
{
	struct rck_judgement *j;
	const struct rck_finding_info *f;

	assert_int_equal(rck_judge_path(fixture("device.bc"), NULL, &j, NULL), 0);
	assert_int_equal(rck_judgement_verdict(j), 2);
	f = find(j, "incomplete", NULL);
	assert_non_null(f);
	assert_null(f->demangled);
	assert_non_null(strstr(f->message, "bitcode"));
	assert_non_null(strstr(f->remedy, "linked"));
	rck_judgement_close(j);
}

static void test_errors(void **state)
{
	struct rck_options small = {.size = sizeof(small), .max_depth = 1};
	struct rck_judgement *j = NULL;
	struct rck_diag diag;

	assert_int_equal(rck_judge_path("/nonexistent", NULL, &j, &diag), -ENOENT);
	assert_int_equal(diag.code, -ENOENT);
	assert_int_equal(rck_judge_mem("nothing", 7, "x", NULL, &j, &diag), 0);
	assert_int_equal(rck_judgement_verdict(j), 2);
	assert_int_equal(rck_judgement_error_count(j), 1);
	assert_int_equal(rck_judgement_error(j, 0)->code, -ENOEXEC);
	assert_null(rck_judgement_error(j, 1));
	rck_judgement_close(j);

	/* the options count */
	assert_int_equal(rck_judge_path(fixture("nested.a"), &small, &j, NULL), 0);
	assert_int_equal(rck_judgement_verdict(j), 2);
	assert_true(rck_judgement_error_count(j) > 0);
	rck_judgement_close(j);
	small.max_depth = 0;
	small.keep_compressed = true;
	assert_int_equal(rck_judge_path(fixture("ccob-v3.hsaco"), &small, &j, NULL), 0);
	assert_int_equal(rck_judgement_verdict(j), 0);
	assert_int_equal(rck_judgement_finding_count(j), 0);
	rck_judgement_close(j);
	rck_judgement_close(NULL);
}

static void test_names(void **state)
{
	assert_string_equal(rck_severity_name(RCK_SEVERITY_WARNING), "warning");
	assert_null(rck_severity_name(RCK_SEVERITY_COUNT_));
	assert_string_equal(rck_state_name(RCK_STATE_FAIL), "fail");
	assert_null(rck_state_name(RCK_STATE_COUNT_));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernels),
		cmocka_unit_test(test_incomplete),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
