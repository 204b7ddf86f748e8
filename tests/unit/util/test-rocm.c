/* Trees made on the spot: what rck_rocm finds in which layout, and how it starts a
 * program. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "util/rocm.h"
#include "util/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char top[64];

/* Makes a file with its folders below top; an executable script when text is one. */
static void put(const char *path, const char *text)
{
	char full[512];
	FILE *f;

	snprintf(full, sizeof(full), "%s/%s", top, path);
	for (char *slash = strchr(full + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(full, 0755) && errno != EEXIST)
			fail_msg("mkdir %s", full);
		*slash = '/';
	}
	f = fopen(full, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	chmod(full, text[0] == '#' ? 0755 : 0644);
}

static void link_to(const char *target, const char *path)
{
	char full[512];

	snprintf(full, sizeof(full), "%s/%s", top, path);
	assert_int_equal(symlink(target, full), 0);
}

static struct rck_rocm *open_below(const char *sub)
{
	char dir[512];
	struct rck_diag diag;
	struct rck_rocm *r;

	snprintf(dir, sizeof(dir), "%s/%s", top, sub);
	assert_int_equal(rck_rocm_open(dir, &r, &diag), 0);
	return r;
}

static int setup(void **state)
{
	strcpy(top, "/tmp/rck-rocm-XXXXXX");
	return mkdtemp(top) ? 0 : -1;
}

static int teardown(void **state)
{
	const char *argv[] = {"rm", "-rf", top, NULL};
	struct rck_spawn s = {.argv = argv};

	return rck_spawn_run(&s);
}

static void test_opt_rocm_layout(void **state)
{
	_cleanup_strv_ struct rck_strv argv = {NULL, 0};
	_cleanup_strv_ struct rck_strv env = {NULL, 0};
	struct rck_rocm *r;

	put("opt/lib/libamdhip64.so.7.1.70100", "x");
	link_to("libamdhip64.so.7.1.70100", "opt/lib/libamdhip64.so.7");
	put("opt/lib/libamdhip64.so.6", "x");
	put("opt/include/hip/hip_runtime.h", "x");
	put("opt/include/hip/hip_version.h",
		"#define HIP_VERSION_MAJOR 7\n#define HIP_VERSION_MINOR 1\n"
		"#define HIP_VERSION_PATCH 70100\n");
	put("opt/amdgcn/bitcode/ocml.bc", "x");
	put("opt/amdgcn/bitcode/oclc_abi_version_500.bc", "x");
	put("opt/amdgcn/bitcode/oclc_abi_version_600.bc", "x");
	put("opt/lib/llvm/bin/clang++",
		"#!/bin/sh\necho 'AMD clang version 20.0.0git (x)'\n");
	r = open_below("opt");

	assert_string_equal(
		strrchr(rck_rocm_path(r, RCK_ROCM_HIP), '/'), "/libamdhip64.so.7");
	assert_string_equal(rck_rocm_version(r, RCK_ROCM_HIP), "7.1.70100");
	assert_string_equal(rck_rocm_version(r, RCK_ROCM_HEADERS), "7.1.70100");
	assert_string_equal(rck_rocm_version(r, RCK_ROCM_DEVICE_LIBS), "abi 600");
	assert_string_equal(rck_rocm_version(r, RCK_ROCM_CLANG), "20.0.0git");
	assert_null(rck_rocm_path(r, RCK_ROCM_COMGR));
	assert_null(rck_rocm_version(r, RCK_ROCM_COMGR));
	assert_false(rck_rocm_is_foreign(r));

	setenv("LD_LIBRARY_PATH", "/before", 1);
	rck_rocm_command(r, "/soft", &argv, &env);
	unsetenv("LD_LIBRARY_PATH");
	assert_int_equal(argv.n, 0);
	assert_int_equal(env.n, 1);
	assert_ptr_equal(strstr(env.items[0], "LD_LIBRARY_PATH=/soft:"), env.items[0]);
	assert_non_null(strstr(env.items[0], "/opt/lib:"));
	assert_string_equal(strrchr(env.items[0], ':'), ":/before");
	rck_rocm_close(r);
}

/* A tree with a C library is foreign, whatever its loader says of itself. */
static void test_debian_layout(void **state)
{
	_cleanup_strv_ struct rck_strv argv = {NULL, 0};
	_cleanup_strv_ struct rck_strv env = {NULL, 0};
	struct rck_rocm *r;
	char *program;

	put("sid/usr/lib/x86_64-linux-gnu/libamd_comgr.so.3", "x");
	put("sid/usr/lib/x86_64-linux-gnu/libc.so.6", "x");
	put("sid/usr/lib/llvm-19/bin/clang++", "#!/bin/sh\n");
	put("sid/usr/lib/llvm-21/bin/clang++", "#!/bin/sh\n");
	put("sid/lib64/ld-linux-x86-64.so.2",
		"#!/bin/sh\necho 'ld.so (Debian) stable release version 2.41.'\n");
	r = open_below("sid");

	assert_true(rck_rocm_is_foreign(r));
	assert_string_equal(rck_rocm_libc_version(r), "2.41");
	assert_non_null(strstr(rck_rocm_path(r, RCK_ROCM_CLANG), "/llvm-21/"));
	rck_rocm_command(r, "/soft", &argv, &env);
	assert_int_equal(env.n, 0);
	assert_int_equal(argv.n, 4);
	assert_non_null(strstr(argv.items[0], "/lib64/ld-linux"));
	assert_ptr_equal(strstr(argv.items[3], "/soft:"), argv.items[3]);

	/* a program of the tree needs the loader, a script is run by a shell that does
	 * not */
	rck_strv_release(&argv);
	put("sid/usr/bin/hipcc", "ELF");
	rck_rocm_tool_command(r, rck_rocm_path(r, RCK_ROCM_CLANG), &argv, &env);
	assert_int_equal(argv.n, 1);
	rck_strv_release(&argv);
	program = rck_xasprintf("%s/sid/usr/bin/hipcc", top);
	rck_rocm_tool_command(r, program, &argv, &env);
	assert_int_equal(argv.n, 5);
	assert_string_equal(argv.items[4], program);
	rck_strv_release(&argv);
	rck_rocm_tool_command(r, "/usr/bin/true", &argv, &env);
	assert_int_equal(argv.n, 1);
	free(program);
	rck_rocm_close(r);
}

static void test_what_is_no_rocm(void **state)
{
	struct rck_rocm *r;
	struct rck_diag diag;

	assert_int_equal(rck_rocm_open("/nonexistent", &r, &diag), -ENOENT);
	assert_null(r);
	assert_int_equal(rck_rocm_open(top, &r, &diag), -ENOENT);
	assert_non_null(strstr(diag.msg, "no ROCm library"));
	put("file", "x");
	strcat(top, "/file");
	assert_int_equal(rck_rocm_open(top, &r, &diag), -ENOTDIR);
	*strrchr(top, '/') = '\0';
}

/* A path is no pattern, and a folder that is gone is not the machine's own. */
static void test_odd_folders(void **state)
{
	char dir[128], cwd[512];
	struct rck_rocm *r;
	struct rck_diag diag;

	put("a[b]*?\\/amdgcn/bitcode/ocml.bc", "x");
	put("a[b]*?\\/amdgcn/bitcode/oclc_abi_version_500.bc", "x");
	snprintf(dir, sizeof(dir), "%s/a[b]*?\\", top);
	assert_int_equal(rck_rocm_open(dir, &r, &diag), 0);
	assert_string_equal(rck_rocm_version(r, RCK_ROCM_DEVICE_LIBS), "abi 500");
	rck_rocm_close(r);

	snprintf(dir, sizeof(dir), "%s/gone", top);
	assert_non_null(getcwd(cwd, sizeof(cwd)));
	assert_int_equal(mkdir(dir, 0755), 0);
	assert_int_equal(chdir(dir), 0);
	assert_int_equal(rmdir(dir), 0);
	assert_int_equal(rck_rocm_open(".", &r, &diag), -ENOENT);
	assert_null(r);
	assert_int_equal(chdir(cwd), 0);
}

/* A program started so really sees the folder in front first. */
static void test_command_runs(void **state)
{
	_cleanup_strv_ struct rck_strv argv = {NULL, 0};
	_cleanup_strv_ struct rck_strv env = {NULL, 0};
	_cleanup_strbuf_ struct rck_strbuf out = RCK_STRBUF_INIT;
	struct rck_spawn s = {.out = &out};
	struct rck_diag diag;
	struct rck_rocm *r;

	assert_int_equal(rck_rocm_open(NULL, &r, &diag), 0);
	rck_rocm_command(r, "/soft", &argv, &env);
	rck_strv_add(&argv, "/usr/bin/printenv");
	rck_strv_add(&argv, "LD_LIBRARY_PATH");
	s.argv = rck_strv_list(&argv);
	s.env = rck_strv_list(&env);
	assert_int_equal(rck_spawn_run(&s), 0);
	assert_int_equal(s.status, 0);
	assert_memory_equal(out.buf, "/soft", 5);
	rck_rocm_close(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_opt_rocm_layout, setup, teardown),
		cmocka_unit_test_setup_teardown(test_debian_layout, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_is_no_rocm, setup, teardown),
		cmocka_unit_test_setup_teardown(test_odd_folders, setup, teardown),
		cmocka_unit_test(test_command_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
