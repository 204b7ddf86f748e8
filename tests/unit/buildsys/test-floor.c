#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "buildsys/floor.h"

#include <string.h>

static const struct {
	const char *config, *flags, *config_flags;
	unsigned minor; /* of CMake 3, or of 4 with major */
	unsigned major;
	bool floor;
	enum rck_olevel level;
} rows[] = {
	{"", "", NULL, 25, 3, true, RCK_OLEVEL_UNKNOWN},
	{"Debug", "", NULL, 25, 3, false, RCK_OLEVEL_1},
	{"debug", "", NULL, 0, 4, false, RCK_OLEVEL_1},
	{"Debug", "", NULL, 1, 4, true, RCK_OLEVEL_UNKNOWN},
	{"Release", "", NULL, 25, 3, false, RCK_OLEVEL_3},
	{"RelWithDebInfo", "", NULL, 25, 3, false, RCK_OLEVEL_2},
	{"MinSizeRel", "", NULL, 25, 3, false, RCK_OLEVEL_S},
	{"", "-O0", NULL, 25, 3, false, RCK_OLEVEL_0},
	{"Debug", "-O0", "-g", 25, 3, false, RCK_OLEVEL_0},
	{"", "-Ofast", NULL, 25, 3, false, RCK_OLEVEL_FAST},
	{"", "--rocm-path=/opt/rocm", NULL, 25, 3, true, RCK_OLEVEL_UNKNOWN},
	{"None", "", NULL, 25, 3, true, RCK_OLEVEL_UNKNOWN},
	{"Asan", "", "-fsanitize=address", 25, 3, true, RCK_OLEVEL_UNKNOWN},
	{"Debug", "", "-g -O2", 25, 3, false, RCK_OLEVEL_2},
	{"", "-Wall\t-O2", NULL, 25, 3, false, RCK_OLEVEL_2},
	{"", "-mllvm -Option", NULL, 25, 3, true, RCK_OLEVEL_UNKNOWN},
	{"", "-DX=1 -OFF", NULL, 25, 3, true, RCK_OLEVEL_UNKNOWN},
	{"", "-Xarch_host -O3", NULL, 25, 3, true, RCK_OLEVEL_UNKNOWN},
	{"", "-Xarch_device -O2", NULL, 25, 3, false, RCK_OLEVEL_2},
};

static void decisions(void **state)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct rck_floor_flags set = {rows[i].config, rows[i].config_flags};
		struct rck_floor_in in = {.flags = rows[i].flags,
			.config_flags = &set,
			.n_config_flags = rows[i].config_flags ? 1 : 0,
			.cmake_major = rows[i].major,
			.cmake_minor = rows[i].minor};
		struct rck_floor_out out;

		rck_floor_decide(&in, rows[i].config, &out);
		if (out.floor != rows[i].floor || out.level != rows[i].level)
			fail_msg("row %zu: '%s' '%s': floor %d, level %s", i,
				rows[i].config, rows[i].flags, out.floor,
				rck_olevel_name(out.level));
		assert_int_equal(out.warn, rows[i].level == RCK_OLEVEL_0);
	}
}

static void generators(void **state)
{
	assert_true(rck_floor_is_multi_config("Ninja Multi-Config"));
	assert_true(rck_floor_is_multi_config("Visual Studio 17 2022"));
	assert_false(rck_floor_is_multi_config("Ninja"));
	assert_false(rck_floor_is_multi_config("Unix Makefiles"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decisions),
		cmocka_unit_test(generators),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
