/* Levels, logs and fat binaries by themselves; the compilers of this machine for real. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "compile/private.h"
#include "kernels/table.h"
#include "util/range.h"
#include "util/strbuf.h"

#include <errno.h>
#include <md5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

static struct rck_rocm *rocm;

static int setup(void **state)
{
	struct rck_diag diag;

	return rck_rocm_open(NULL, &rocm, &diag);
}

static int teardown(void **state)
{
	rck_rocm_close(rocm);
	return 0;
}

/* The compiler, or a skipped test where the machine has none. */
static struct rck_compiler *compiler(const char *spec)
{
	struct rck_compiler *c;
	struct rck_diag diag;

	if (rck_compiler_open(rocm, spec, &c, &diag)) {
		print_message("%s: %s\n", spec, diag.msg);
		skip();
	}
	return c;
}

static struct rck_compile_job bundled(const char *source, enum rck_level level)
{
	return (struct rck_compile_job){
		.source = source, .bundled = true, .target = "gfx1030", .level = level};
}

static void test_levels(void **state)
{
	enum rck_level level;

	for (int i = 0; i < RCK_LEVELS; i++) {
		assert_int_equal(rck_level_parse(rck_level_name(i), &level), 0);
		assert_int_equal(level, i);
	}
	assert_int_equal(rck_level_parse("O4", &level), -EINVAL);
	assert_int_equal(rck_level_parse("-O1", &level), -EINVAL);
	assert_int_equal(rck_level_parse("", &level), -EINVAL);
}

static void check_log(
	const char *text, const char *name, const char *absolute, const char *expected)
{
	char *out = rck_compile_log(text, name, absolute);

	assert_string_equal(out, expected);
	free(out);
}

static void test_log_names_the_users_file(void **state)
{
	check_log("/tmp/comgr-c5a447/input/gemm.hip:36:18: error: x\n", "gemm.hip", NULL,
		"gemm.hip:36:18: error: x\n");
	check_log("In file included from /tmp/comgr-c5/input/k.hip:1:\n"
		  "/tmp/comgr-c5/include/device.h:3: y",
		"sub/k.hip", "/home/u/sub/k.hip",
		"In file included from sub/k.hip:1:\ndevice.h:3: y");
	check_log("/home/u/sub/k.hip:3: y '/home/u/sub/k.hip2'", "sub/k.hip",
		"/home/u/sub/k.hip", "sub/k.hip:3: y 'sub/k.hip2'");
	/* what only looks like such a path stays */
	check_log("a/comgr-1/input/k.hip /tmp/comgr-9 /comgr-/x", "k.hip", NULL,
		"a/comgr-1/input/k.hip /tmp/comgr-9 /comgr-/x");
	check_log("", "k.hip", NULL, "");
}

static void test_fatbin_layout(void **state)
{
	const struct rck_fatbin_entry entries[] = {
		{"gfx1030", (const uint8_t *)"first", 5},
		{"gfx90a:xnack-", (const uint8_t *)"second!", 7},
	};
	struct rck_diag diag;
	uint8_t *out;
	size_t size;

	assert_int_equal(rck_fatbin_make(entries, 2, false, &out, &size, &diag), 0);
	assert_memory_equal(out, "__CLANG_OFFLOAD_BUNDLE__", 24);
	assert_int_equal(rck_le64(out + 24), 3);
	/* the host entry is empty and stands at the first code object */
	assert_int_equal(rck_le64(out + 32), 4096);
	assert_int_equal(rck_le64(out + 40), 0);
	assert_int_equal(rck_le64(out + 48), 27);
	assert_memory_equal(out + 56, "host-x86_64-unknown-linux--", 27);
	assert_int_equal(rck_le64(out + 83), 4096);
	assert_int_equal(rck_le64(out + 91), 5);
	assert_memory_equal(out + 4096, "first", 5);
	assert_memory_equal(out + 8192, "second!", 7);
	assert_int_equal(size, 8192 + 7);
	free(out);
}

static void test_compressed_fatbin(void **state)
{
	const struct rck_fatbin_entry entry = {"gfx1030", (const uint8_t *)"first", 5};
	uint8_t *plain, *packed, *inside;
	uint8_t md5[MD5_DIGEST_LENGTH];
	size_t plain_size, size;
	struct rck_diag diag;
	MD5_CTX ctx;

	assert_int_equal(
		rck_fatbin_make(&entry, 1, false, &plain, &plain_size, &diag), 0);
	assert_int_equal(rck_fatbin_make(&entry, 1, true, &packed, &size, &diag), 0);
	assert_memory_equal(packed, "CCOB\2\0\1\0", 8);
	assert_int_equal(rck_le32(packed + 8), size);
	assert_int_equal(rck_le32(packed + 12), plain_size);
	MD5Init(&ctx);
	MD5Update(&ctx, plain, plain_size);
	MD5Final(md5, &ctx);
	assert_memory_equal(packed + 16, md5, 8);
	inside = malloc(plain_size);
	assert_int_equal(
		ZSTD_decompress(inside, plain_size, packed + 24, size - 24), plain_size);
	assert_memory_equal(inside, plain, plain_size);
	free(inside);
	free(plain);
	free(packed);
}

static void test_fatbin_that_does_not_fit(void **state)
{
	struct rck_fatbin_entry entries[100];
	char long_target[300];
	struct rck_diag diag;
	uint8_t *out;
	size_t size;

	memset(long_target, 'x', sizeof(long_target));
	long_target[sizeof(long_target) - 1] = '\0';
	for (size_t i = 0; i < 100; i++)
		entries[i] =
			(struct rck_fatbin_entry){"gfx1030", (const uint8_t *)"x", 1};
	assert_int_equal(
		rck_fatbin_make(entries, 100, false, &out, &size, &diag), -EINVAL);
	assert_string_equal(diag.msg, "too many targets for an offload bundle");
	entries[0].target = long_target;
	assert_int_equal(rck_fatbin_make(entries, 1, false, &out, &size, &diag), -EINVAL);
}

static void test_no_such_compiler(void **state)
{
	struct rck_compiler *c;
	struct rck_diag diag;

	assert_int_equal(
		rck_compiler_open(rocm, "/nonexistent/clang++", &c, &diag), -ENOENT);
	assert_null(c);
	assert_string_equal(diag.msg, "no compiler '/nonexistent/clang++' found");
	assert_int_equal(rck_compiler_open(rocm, "/bin/true", &c, &diag), -ENOTSUP);
	assert_non_null(strstr(diag.msg, "names no clang"));
}

/* All of them compile; what the compiler says if not. */
static void must_compile(const struct rck_compiler *c, struct rck_compile_job *jobs,
	size_t n, unsigned parallel)
{
	rck_compile_run(c, jobs, n, parallel);
	for (size_t i = 0; i < n; i++)
		if (jobs[i].err)
			fail_msg("%s\n%s", jobs[i].diag.msg, jobs[i].log);
}

/* Two runs, one after another and side by side, give the same bytes. */
static void compile_twice(const char *spec)
{
	struct rck_compiler *c = compiler(spec);
	struct rck_compile_job jobs[4];

	for (int i = 0; i < 4; i++)
		jobs[i] = bundled(i % 2 ? "gemm.hip" : "rmsnorm.hip", RCK_LEVEL_O1);
	must_compile(c, jobs, 2, 1);
	must_compile(c, jobs + 2, 2, 2);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(jobs[i].size, jobs[i + 2].size);
		assert_memory_equal(jobs[i].bytes, jobs[i + 2].bytes, jobs[i].size);
		assert_string_equal(jobs[i].sha256, jobs[i + 2].sha256);
		assert_int_equal(strlen(jobs[i].sha256), 64);
	}
	assert_string_not_equal(jobs[0].sha256, jobs[1].sha256);
	/* every bundled kernel is in its file by the name that the table gives it */
	for (size_t k = 0; k < rck_bundled_count; k++) {
		const struct rck_bundled *b = &rck_bundled_kernels[k];
		const struct rck_compile_job *job = &jobs[!strcmp(b->source, "gemm.hip")];
		char *kd = rck_xasprintf("%s.kd", b->symbol);

		assert_non_null(memmem(job->bytes, job->size, kd, strlen(kd)));
		free(kd);
	}
	for (int i = 0; i < 4; i++)
		rck_compile_job_release(&jobs[i]);
	rck_compiler_close(c);
}

static void test_comgr(void **state)
{
	compile_twice("comgr");
}

static void test_hipcc(void **state)
{
	compile_twice("hipcc");
}

static void test_clang(void **state)
{
	compile_twice("clang++");
}

static void test_default_levels(void **state)
{
	struct rck_compiler *hipcc = compiler("hipcc"), *clang = compiler("clang++");
	struct rck_compile_job by_hipcc = bundled("gemm.hip", RCK_LEVEL_DEFAULT);
	struct rck_compile_job o3 = bundled("gemm.hip", RCK_LEVEL_O3);
	struct rck_compile_job by_clang = bundled("gemm.hip", RCK_LEVEL_DEFAULT);
	struct rck_compile_job o0 = bundled("gemm.hip", RCK_LEVEL_O0);

	must_compile(hipcc, &by_hipcc, 1, 1);
	must_compile(hipcc, &o3, 1, 1);
	must_compile(clang, &by_clang, 1, 1);
	must_compile(clang, &o0, 1, 1);
	assert_string_equal(by_hipcc.sha256, o3.sha256);
	assert_string_equal(by_clang.sha256, o0.sha256);
	assert_non_null(strstr(rck_compiler_default_level(hipcc), "-O3"));
	assert_non_null(strstr(rck_compiler_default_level(clang), "-O0"));
	rck_compile_job_release(&by_hipcc);
	rck_compile_job_release(&o3);
	rck_compile_job_release(&by_clang);
	rck_compile_job_release(&o0);
	rck_compiler_close(hipcc);
	rck_compiler_close(clang);
}

static char *write_source(const char *text)
{
	char *path = rck_xstrdup("/tmp/rck-source-XXXXXX.hip");
	int fd = mkstemps(path, 4);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	return path;
}

/* An error in a user's file is told by the name the user gave, whatever compiled it. */
static void syntax_error(const char *spec)
{
	struct rck_compiler *c = compiler(spec);
	char *path = write_source("__attribute__((global)) void k() { oops }\n");
	struct rck_compile_job job = {
		.source = path, .target = "gfx1030", .level = RCK_LEVEL_O1};
	char *expected = rck_xasprintf("%s:1:36: error: ", path);

	assert_int_equal(rck_compile_run(c, &job, 1, 1), 1);
	assert_int_equal(job.err, -EILSEQ);
	assert_non_null(strstr(job.log, expected));
	assert_null(strstr(job.log, "comgr-"));
	assert_null(job.bytes);
	unlink(path);
	free(path);
	free(expected);
	rck_compile_job_release(&job);
	rck_compiler_close(c);
}

static void test_syntax_error_comgr(void **state)
{
	syntax_error("comgr");
}

static void test_syntax_error_hipcc(void **state)
{
	syntax_error("hipcc");
}

/* A source that includes HIP's headers finds them, whatever compiles it. */
static void headers(const char *spec)
{
	struct rck_compiler *c = compiler(spec);
	char *path = write_source("#include <hip/hip_runtime.h>\n#include <cmath>\n"
				  "__global__ void k(float *x) "
				  "{ x[threadIdx.x] = std::sqrt(x[blockIdx.x]); }\n");
	struct rck_compile_job job = {
		.source = path, .target = "gfx1030", .level = RCK_LEVEL_O1};

	must_compile(c, &job, 1, 1);
	unlink(path);
	free(path);
	rck_compile_job_release(&job);
	rck_compiler_close(c);
}

static void test_headers_comgr(void **state)
{
	headers("comgr");
}

static void test_headers_clang(void **state)
{
	headers("clang++");
}

static void test_defines_and_options(void **state)
{
	struct rck_compiler *c = compiler("comgr");
	char *path = write_source("#ifndef NAME\n#error no NAME\n#endif\n"
				  "__attribute__((global)) void NAME() {}\n");
	const char *options[] = {"-DNAME=alpha", NULL};
	struct rck_compile_job job = {.source = path,
		.target = "gfx1030",
		.level = RCK_LEVEL_O1,
		.options = options};

	must_compile(c, &job, 1, 1);
	assert_non_null(memmem(job.bytes, job.size, "alpha", 5));
	assert_string_equal(job.flags.items[job.flags.n - 1], "-DNAME=alpha");
	rck_compile_job_release(&job);
	job.options = NULL;
	assert_int_equal(rck_compile_run(c, &job, 1, 1), 1);
	assert_non_null(strstr(job.log, "no NAME"));
	unlink(path);
	free(path);
	rck_compile_job_release(&job);
	rck_compiler_close(c);
}

static void test_targets(void **state)
{
	struct rck_compiler *c = compiler("comgr");
	struct rck_compile_job job = bundled("gemm.hip", RCK_LEVEL_O1);

	assert_true(rck_compiler_knows(c, "gfx1030"));
	assert_true(rck_compiler_knows(c, "gfx90a:xnack-"));
	assert_false(rck_compiler_knows(c, "gfx9999"));
	assert_false(rck_compiler_knows(c, "gfx103"));
	job.target = "gfx9999";
	assert_int_equal(rck_compile_run(c, &job, 1, 1), 1);
	assert_int_equal(job.err, -ENOTSUP);
	assert_non_null(strstr(job.log, "INVALID_ARGUMENT"));
	rck_compile_job_release(&job);
	rck_compiler_close(c);
}

static void test_missing_source(void **state)
{
	struct rck_compiler *c = compiler("comgr");
	struct rck_compile_job job = {
		.source = "/nonexistent/k.hip", .target = "gfx1030"};

	assert_int_equal(rck_compile_run(c, &job, 1, 1), 1);
	assert_int_equal(job.err, -ENOENT);
	assert_string_equal(job.diag.msg, "cannot open it: No such file or directory");
	rck_compile_job_release(&job);
	rck_compiler_close(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_levels),
		cmocka_unit_test(test_log_names_the_users_file),
		cmocka_unit_test(test_fatbin_layout),
		cmocka_unit_test(test_compressed_fatbin),
		cmocka_unit_test(test_fatbin_that_does_not_fit),
		cmocka_unit_test(test_no_such_compiler),
		cmocka_unit_test(test_comgr),
		cmocka_unit_test(test_hipcc),
		cmocka_unit_test(test_clang),
		cmocka_unit_test(test_default_levels),
		cmocka_unit_test(test_syntax_error_comgr),
		cmocka_unit_test(test_syntax_error_hipcc),
		cmocka_unit_test(test_headers_comgr),
		cmocka_unit_test(test_headers_clang),
		cmocka_unit_test(test_defines_and_options),
		cmocka_unit_test(test_targets),
		cmocka_unit_test(test_missing_source),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
