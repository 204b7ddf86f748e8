#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "cmd/extract.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <signal.h>
#include <unistd.h>

static char folder[64];

static int setup(void **state)
{
	strcpy(folder, "/tmp/rocmcheck-extract-XXXXXX");
	return !mkdtemp(folder);
}

static int teardown(void **state)
{
	char command[96];

	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
}

static void expect(struct rck_extract *x, const char *target, int err, const char *name)
{
	char path[160];
	struct rck_diag diag;
	const char *to;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	assert_int_equal(rck_extract_write(x, "abc", 3, target, &to, &diag), err);
	assert_string_equal(to, path);
}

static void names(void **state)
{
	struct rck_extract *x;
	struct rck_diag diag;

	assert_int_equal(rck_extract_open(folder, &x, &diag), 0);
	rck_extract_file(x, "/some/where/lib x\033.so");
	expect(x, "gfx90a:sramecc+:xnack-", 0, "lib_x_.so.000.gfx90a_sramecc+_xnack-.co");
	expect(x, "gfx?(0x99)", 0, "lib_x_.so.001.gfx__0x99_.co");
	rck_extract_file(x, "elsewhere/lib x\033.so");
	expect(x, "../../gfx9", 0, "lib_x_.so~2.000..._.._gfx9.co");
	rck_extract_file(x, "-");
	expect(x, "gfx9", 0, "stdin.000.gfx9.co");
	rck_extract_file(x, "a/..");
	expect(x, "gfx9", 0, "_..000.gfx9.co");
	rck_extract_close(x);
	rck_extract_close(NULL);
}

static void never_over_a_file(void **state)
{
	struct rck_extract *x;
	struct rck_diag diag;
	char path[160];

	assert_int_equal(rck_extract_open(folder, &x, &diag), 0);
	/* a link that leads nowhere is in the way, too */
	snprintf(path, sizeof(path), "%s/f.000.gfx9.co", folder);
	assert_int_equal(symlink("/nonexistent/x", path), 0);
	rck_extract_file(x, "f");
	expect(x, "gfx9", -EEXIST, "f.000.gfx9.co");
	expect(x, "gfx9", 0, "f.001.gfx9.co");
	rck_extract_close(x);
	assert_int_equal(rck_extract_open(folder, &x, &diag), 0);
	rck_extract_file(x, "f");
	expect(x, "gfx9", -EEXIST, "f.000.gfx9.co");
	expect(x, "gfx9", -EEXIST, "f.001.gfx9.co");
	rck_extract_close(x);
}

/* What cannot be written whole is not left behind. */
static void no_half_files(void **state)
{
	struct rlimit old, two = {2, RLIM_INFINITY};
	struct rck_extract *x;
	struct rck_diag diag;
	char path[160];

	assert_int_equal(rck_extract_open(folder, &x, &diag), 0);
	rck_extract_file(x, "f");
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	two.rlim_max = old.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &two), 0);
	expect(x, "gfx9", -EFBIG, "f.000.gfx9.co");
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	snprintf(path, sizeof(path), "%s/f.000.gfx9.co", folder);
	assert_int_not_equal(access(path, F_OK), 0);
	rck_extract_close(x);
}

static void folders(void **state)
{
	struct rck_extract *x;
	struct rck_diag diag;
	char path[160];

	snprintf(path, sizeof(path), "%s/new", folder);
	assert_int_equal(rck_extract_open(path, &x, &diag), 0);
	rck_extract_close(x);
	snprintf(path, sizeof(path), "%s/not/there", folder);
	assert_int_equal(rck_extract_open(path, &x, &diag), -ENOENT);
	assert_int_equal(rck_extract_open("/dev/null", &x, &diag), -ENOTDIR);
	assert_non_null(strstr(diag.msg, "/dev/null"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(names, setup, teardown),
		cmocka_unit_test_setup_teardown(never_over_a_file, setup, teardown),
		cmocka_unit_test_setup_teardown(no_half_files, setup, teardown),
		cmocka_unit_test_setup_teardown(folders, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
