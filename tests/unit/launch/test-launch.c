/*
 * The launcher over a HIP runtime that computes on the CPU and goes wrong on demand:
 * right results pass, and every kind of wrong one is found and named.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "launch/launch.h"
#include "util/spawn.h"
#include "util/strbuf.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char top[64];
static struct rck_rocm *rocm;
static const struct rck_device device = {.kind = RCK_DEVICE_HIP, .target = "gfx1030"};

static char *below(const char *name)
{
	return rck_xasprintf("%s/%s", top, name);
}

/* A ROCm whose HIP runtime is one of the fakes. */
static struct rck_rocm *fake_rocm(const char *name, const char *library)
{
	char *dir = below(name), *lib = rck_xasprintf("%s/lib", dir);
	char *link = rck_xasprintf("%s/libamdhip64.so.6", lib);
	char *target = rck_xasprintf(
		"%s/tests/unit/launch/%s", getenv("RCK_BUILD_DIR"), library);
	struct rck_diag diag;
	struct rck_rocm *r;

	assert_int_equal(mkdir(dir, 0755), 0);
	assert_int_equal(mkdir(lib, 0755), 0);
	assert_int_equal(symlink(target, link), 0);
	assert_int_equal(rck_rocm_open(dir, &r, &diag), 0);
	free(dir);
	free(lib);
	free(link);
	free(target);
	return r;
}

static int setup(void **state)
{
	char *path;
	FILE *f;

	strcpy(top, "/tmp/rck-launch-XXXXXX");
	if (!mkdtemp(top))
		return -1;
	rocm = fake_rocm("whole", "libfakehip.so");
	path = below("all.co");
	f = fopen(path, "w");
	fputs("FAKE", f);
	for (size_t i = 0; i < rck_bundled_count; i++)
		fprintf(f, " %s", rck_bundled_kernels[i].symbol);
	fclose(f);
	free(path);
	return 0;
}

static int teardown(void **state)
{
	const char *argv[] = {"rm", "-rf", top, NULL};
	struct rck_spawn s = {.argv = argv};

	rck_rocm_close(rocm);
	return rck_spawn_run(&s);
}

static struct rck_launch launch(const char *fault, char *dump)
{
	static char *path;

	free(path);
	path = below("all.co");
	if (fault)
		setenv("FAKE_HIP_FAULT", fault, 1);
	else
		unsetenv("FAKE_HIP_FAULT");
	return (struct rck_launch){.code_object = path,
		.dump = dump,
		.seed = 42,
		.sizes = {.rows = 3, .hidden = 600, .m = 20, .n = 33, .k = 40}};
}

static void test_right_results_pass(void **state)
{
	struct rck_launch l = launch(NULL, NULL);
	struct rck_diag diag;
	bool seen[64] = {false};
	size_t kernels = 0, timed = 0;

	l.time = true;
	if (rck_launch_run(rocm, &device, &l, &diag))
		fail_msg("%s", diag.msg);
	for (size_t i = 0; i < l.n; i++) {
		const struct rck_launch_case *c = &l.cases[i];
		size_t index = (size_t)(c->kernel - rck_bundled_kernels);

		if (c->check.bad || c->check.touched)
			fail_msg("%s, %s: %llu bad, %llu touched: %g, not %g",
				c->kernel->name, c->name,
				(unsigned long long)c->check.bad,
				(unsigned long long)c->check.touched, c->check.first_got,
				c->check.first_expected);
		assert_true(c->check.checked > 0);
		assert_true(c->check.max_rel <= c->check.bound_rel);
		assert_true(c->check.max_ratio < 1.0);
		if (!isnan(c->seconds)) { /* the fake's launches take 1 to 21 ms */
			assert_float_equal(c->seconds, 11e-3, 1e-9);
			assert_float_equal(c->seconds_q1, 6e-3, 1e-9);
			assert_float_equal(c->seconds_q3, 16e-3, 1e-9);
			timed++;
		}
		kernels += !seen[index];
		seen[index] = true;
	}
	assert_int_equal(kernels, rck_bundled_count);
	assert_true(timed > 0 && timed < l.n);
	rck_launch_release(&l);
}

/* One case of one kernel. */
static const struct rck_launch_case *find(
	const struct rck_launch *l, const char *kernel, const char *name)
{
	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(l->cases[i].kernel->name, kernel) &&
			!strcmp(l->cases[i].name, name))
			return &l->cases[i];
	fail_msg("no case %s of %s", name, kernel);
	return NULL;
}

static void check_fault(
	const char *fault, const char *kernel, const char *name, bool bad, bool touched)
{
	struct rck_launch l = launch(fault, NULL);
	const struct rck_launch_case *c;
	struct rck_diag diag;

	assert_int_equal(rck_launch_run(rocm, &device, &l, &diag), 0);
	c = find(&l, kernel, name);
	if ((c->check.bad > 0) != bad || (c->check.touched > 0) != touched)
		fail_msg("%s: %llu bad, %llu touched", fault,
			(unsigned long long)c->check.bad,
			(unsigned long long)c->check.touched);
	rck_launch_release(&l);
}

static void test_faults_are_found(void **state)
{
	check_fault("value", "rms_norm<f32,f32,f32>", "plain", true, false);
	check_fault("value", "rms_norm<bf16,bf16,bf16>", "odd size", true, false);
	check_fault("value", "gemm<f32>", "plain", true, false);
	check_fault("value", "gemm_strided_batched<bf16>", "B transposed", true, false);
	check_fault("guard", "rms_norm<f32,f32,f32>", "plain", false, true);
	check_fault("guard", "gemm<bf16>", "long sum", false, true);
	check_fault("gap", "gemm<f32>", "A transposed", false, true);
	check_fault("gap", "gemm<f32>", "plain", false, false);
	check_fault("unwritten", "rms_norm<f32,bf16,f32>", "gemma", true, false);
	check_fault("unwritten", "gemm_strided_batched<f32>", "one element", true, false);
	check_fault("nan", "rms_norm<f32,f32,f32>", "NaN and infinity", true, false);
	check_fault("nan", "gemm<bf16>", "NaN and infinity", true, false);
	check_fault("nan", "gemm<bf16>", "plain", false, false);
}

static void test_failed_call(void **state)
{
	struct rck_launch l = launch("launch", NULL);
	struct rck_diag diag;

	assert_int_equal(rck_launch_run(rocm, &device, &l, &diag), -EIO);
	assert_string_equal(diag.msg, "hipModuleLaunchKernel of rms_norm<f32,f32,f32>: "
				      "unspecified launch failure "
				      "(719, hipErrorLaunchFailure)");
	assert_int_equal(l.n, 0);
	rck_launch_release(&l);
}

static void test_death(void **state)
{
	struct rck_launch l = launch("crash", NULL);
	struct rck_diag diag;

	assert_int_equal(rck_launch_run(rocm, &device, &l, &diag), -EIO);
	assert_memory_equal(diag.msg, "the launcher died: Killed", 25);
	rck_launch_release(&l);
}

static void test_not_a_code_object(void **state)
{
	struct rck_launch l = launch(NULL, NULL);
	struct rck_diag diag;

	l.code_object = "/proc/self/status";
	assert_int_equal(rck_launch_run(rocm, &device, &l, &diag), -EIO);
	assert_memory_equal(diag.msg, "hipModuleLoadData: a fake error (209", 36);
	rck_launch_release(&l);
	l = launch(NULL, NULL);
	l.code_object = "/nonexistent";
	assert_int_equal(rck_launch_run(rocm, &device, &l, &diag), -EIO);
	assert_string_equal(diag.msg, "cannot read the code object");
	rck_launch_release(&l);
}

static void test_missing_function(void **state)
{
	struct rck_rocm *r = fake_rocm("incomplete", "libfakehip-incomplete.so");
	struct rck_launch l = launch(NULL, NULL);
	struct rck_diag diag;

	assert_int_equal(rck_launch_run(r, &device, &l, &diag), -EIO);
	assert_non_null(strstr(diag.msg, "has no function hipEventDestroy"));
	rck_launch_release(&l);
	rck_rocm_close(r);
}

/* The fake has no HSA runtime, so it can never pass for the software device. */
static void test_wrong_hsa_is_refused(void **state)
{
	struct rck_device soft = device;
	struct rck_launch l = launch(NULL, NULL);
	struct rck_diag diag;

	soft.front = top;
	assert_int_equal(rck_launch_run(rocm, &soft, &l, &diag), -EIO);
	assert_string_equal(
		diag.msg, "the HSA runtime that was loaded is not the one asked for");
	rck_launch_release(&l);
}

static void test_query(void **state)
{
	struct rck_device d;
	struct rck_diag diag;

	unsetenv("FAKE_HIP_FAULT");
	assert_int_equal(rck_device_find(rocm, RCK_DEVICE_HIP, NULL, &d, &diag), 0);
	assert_int_equal(d.kind, RCK_DEVICE_HIP);
	assert_string_equal(d.name, "a fake device");
	assert_int_equal(d.hip_version, 60443484);
	assert_string_equal(d.hip_version_text, "6.4.43484");
	assert_string_equal(d.target, "gfx90a:sramecc+:xnack-");
	assert_non_null(strstr(d.hip, "libamdhip64.so.6"));
	rck_device_release(&d);
}

static uint64_t differences(const struct rck_launch *a, const struct rck_launch *b,
	const char *kernel, const char *name)
{
	struct rck_bit_difference *d = calloc(a->n, sizeof(*d));
	struct rck_diag diag;
	uint64_t n = UINT64_MAX;

	assert_int_equal(rck_launch_compare(a, b, d, &diag), 0);
	for (size_t i = 0; i < a->n; i++) {
		assert_int_equal(d[i].outputs, a->cases[i].outputs);
		if (!strcmp(d[i].a->kernel->name, kernel) && !strcmp(d[i].a->name, name))
			n = d[i].different;
	}
	free(d);
	return n;
}

static void test_bit_comparison(void **state)
{
	char *first = below("first"), *second = below("second"), *third = below("third");
	struct rck_launch a = launch(NULL, first), b = launch(NULL, second), c;
	struct rck_diag diag;

	a.code_object = b.code_object;
	assert_int_equal(rck_launch_run(rocm, &device, &a, &diag), 0);
	assert_int_equal(rck_launch_run(rocm, &device, &b, &diag), 0);
	assert_int_equal(differences(&a, &b, "gemm<f32>", "plain"), 0);
	c = launch("value", third);
	assert_int_equal(rck_launch_run(rocm, &device, &c, &diag), 0);
	assert_int_equal(differences(&a, &c, "gemm<f32>", "plain"), 1);
	assert_int_equal(differences(&a, &c, "rms_norm<f32,bf16,f32>", "residual"), 1);
	rck_launch_release(&b);
	assert_int_equal(rck_launch_compare(&a, &b, NULL, &diag), -EINVAL);
	rck_launch_release(&a);
	rck_launch_release(&c);
	free(first);
	free(second);
	free(third);
}

static void test_device_runs(void **state)
{
	struct rck_device d = {.target = "gfx90a:sramecc+:xnack-"};

	assert_true(rck_device_runs(&d, "gfx90a"));
	assert_true(rck_device_runs(&d, "gfx90a:xnack-"));
	assert_true(rck_device_runs(&d, "gfx90a:sramecc+"));
	assert_false(rck_device_runs(&d, "gfx90a:xnack+"));
	assert_false(rck_device_runs(&d, "gfx90a:sramecc-"));
	assert_false(rck_device_runs(&d, "gfx90"));
	assert_false(rck_device_runs(&d, "gfx942"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_right_results_pass),
		cmocka_unit_test(test_faults_are_found),
		cmocka_unit_test(test_failed_call),
		cmocka_unit_test(test_death),
		cmocka_unit_test(test_not_a_code_object),
		cmocka_unit_test(test_missing_function),
		cmocka_unit_test(test_wrong_hsa_is_refused),
		cmocka_unit_test(test_query),
		cmocka_unit_test(test_bit_comparison),
		cmocka_unit_test(test_device_runs),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
