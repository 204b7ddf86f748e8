#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "buildsys/ask.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void reads_the_device_lines(void **state)
{
	enum rck_olevel level = RCK_OLEVEL_UNKNOWN;

	assert_int_equal(
		rck_ask_read(" \"/x/clang\" \"-cc1\" \"-triple\" \"amdgcn-amd-amdhsa\" "
			     "\"-O1\" "
			     "\"-fcuda-is-device\" \"-mllvm\" \"-O3\"\n"
			     " \"/x/clang\" \"-cc1\" \"-triple\" \"x86_64\" \"-O3\"\n",
			&level),
		0);
	assert_int_equal(level, RCK_OLEVEL_1);
	assert_int_equal(rck_ask_read("\"x\" \"-cc1\" \"-fcuda-is-device\" \"-O3\"\n"
				      "\"x\" \"-cc1\" \"-fcuda-is-device\"",
				 &level),
		0);
	assert_int_equal(level, RCK_OLEVEL_0);
	assert_int_equal(rck_ask_read("\"x\" \"-cc1\" \"-O3\"\n", &level), -ENODATA);
}

/* A driver nobody knows: it must be asked, and must not be let write its output. */
static void asks_a_wrapper(void **state)
{
	char dir[] = "/tmp/rck-ask-XXXXXX", path[64], out[64];
	struct rck_strv words = {NULL, 0};
	enum rck_olevel level = RCK_OLEVEL_UNKNOWN;
	struct rck_diag diag;
	FILE *f;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/mycc", dir);
	snprintf(out, sizeof(out), "%s/a.o", dir);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs("#!/bin/sh\n"
	      "while [ $# -gt 0 ]; do [ \"$1\" = -o ] && echo x >\"$2\"; shift; done\n"
	      "echo '\"clang\" \"-cc1\" \"-fcuda-is-device\" \"-O2\"' >&2\n",
		f);
	fclose(f);
	chmod(path, 0755);
	rck_strv_add(&words, path);
	rck_strv_add(&words, "-o");
	rck_strv_add(&words, out);
	assert_int_equal(rck_ask_driver(&words, 0, dir, &level, &diag), 0);
	assert_int_equal(level, RCK_OLEVEL_2);
	assert_int_equal(access(out, F_OK), -1);
	rck_strv_release(&words);
	rck_strv_add(&words, "rocmcheck-no-such-driver");
	assert_int_equal(rck_ask_driver(&words, 0, dir, &level, &diag), -ENOENT);
	rck_strv_release(&words);
	unlink(path);
	rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_the_device_lines),
		cmocka_unit_test(asks_a_wrapper),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
