#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "buildsys/hipline.h"
#include "buildsys/words.h"

#include <string.h>

static struct rck_strv words;

static struct rck_hipline read_line(const char *line, const char *file)
{
	struct rck_hipline h;

	rck_strv_release(&words);
	rck_words_split(&words, line, strlen(line), RCK_QUOTING_POSIX);
	rck_hipline_read(&h, &words, file);
	return h;
}

/* Each row agrees with what clang 15 and 22 put on the device's -cc1 line (test
 * differential/flags). */
static const struct {
	const char *line;
	enum rck_olevel level;
	enum rck_olevel_from from;
} rows[] = {
	{"clang++ -x hip a.hip", RCK_OLEVEL_0, RCK_FROM_DEFAULT},
	{"amdclang++ -x hip -g a.hip", RCK_OLEVEL_0, RCK_FROM_DEFAULT},
	{"hipcc a.hip", RCK_OLEVEL_3, RCK_FROM_DEFAULT},
	{"hipcc -g a.hip", RCK_OLEVEL_3, RCK_FROM_DEFAULT},
	{"clang++ -O a.hip", RCK_OLEVEL_1, RCK_FROM_LINE},
	{"clang++ -O2 -O0 a.hip", RCK_OLEVEL_0, RCK_FROM_LINE},
	{"clang++ -Og a.hip", RCK_OLEVEL_G, RCK_FROM_LINE},
	{"clang++ -Ofast a.hip", RCK_OLEVEL_FAST, RCK_FROM_LINE},
	{"clang++ -O4 a.hip", RCK_OLEVEL_3, RCK_FROM_LINE},
	{"clang++ --optimize=2 a.hip", RCK_OLEVEL_2, RCK_FROM_LINE},
	{"clang++ -O2 -Xarch_device -O1 a.hip", RCK_OLEVEL_1, RCK_FROM_XARCH},
	{"clang++ -Xarch_device -O3 -O0 a.hip", RCK_OLEVEL_0, RCK_FROM_LINE},
	{"clang++ -Xarch_host -O3 a.hip", RCK_OLEVEL_0, RCK_FROM_DEFAULT},
	{"clang++ -O0 -Xclang -O2 a.hip", RCK_OLEVEL_2, RCK_FROM_XCLANG},
	{"clang++ -Xoffload-linker -O3 a.hip", RCK_OLEVEL_0, RCK_FROM_DEFAULT},
	{"clang++ -mllvm -O3 a.hip", RCK_OLEVEL_0, RCK_FROM_DEFAULT},
	{"clang++ -mllvm -Option -DX=1 -OFF a.hip", RCK_OLEVEL_0, RCK_FROM_DEFAULT},
	{"clang++ -D -O2 a.hip", RCK_OLEVEL_0, RCK_FROM_DEFAULT},
	{"clang++ -o -O2 a.hip", RCK_OLEVEL_0, RCK_FROM_DEFAULT},
	/* hipcc keeps its -O3 back for any word that starts with -O */
	{"hipcc -mllvm -Option a.hip", RCK_OLEVEL_0, RCK_FROM_DEFAULT},
	{"hipcc -Xarch_host -O3 a.hip", RCK_OLEVEL_0, RCK_FROM_DEFAULT},
	{"clang++ --offload-arch=gfx90a,gfx1030 -O2 -Xarch_gfx90a -O0 a.hip",
		RCK_OLEVEL_0, RCK_FROM_XARCH},
	{"g++ -O2 -x hip a.hip", RCK_OLEVEL_2, RCK_FROM_LINE},
	{"nobody-knows -x hip a.hip", RCK_OLEVEL_UNKNOWN, RCK_FROM_NOWHERE},
};

static void effective_level(void **state)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct rck_hipline h = read_line(rows[i].line, "a.hip");

		if (h.level != rows[i].level || h.from != rows[i].from)
			fail_msg("%s: %s from %d", rows[i].line, rck_olevel_name(h.level),
				h.from);
		assert_true(h.is_hip);
		rck_hipline_release(&h);
	}
}

static void language(void **state)
{
	static const struct {
		const char *line, *file;
		bool hip;
	} cases[] = {
		{"clang++ -x hip -c a.cpp", "a.cpp", true},
		{"clang++ -xhip -c a.cpp", "a.cpp", true},
		{"clang++ -c a.cpp", "a.cpp", false},
		{"clang++ -x c++ -c a.hip", "a.hip", false},
		{"clang++ -x hip b.cpp -x none -c a.cpp", "a.cpp", false},
		{"clang++ -c /src/a.hip", "/src/a.hip", true},
		{"hipcc -c a.cpp", "a.cpp", true},
		{"hipcc -c a.c", "a.c", false},
		{"hipcc -x c++ -c a.cpp", "a.cpp", false},
		{"gcc -c a.c", "a.c", false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct rck_hipline h = read_line(cases[i].line, cases[i].file);

		if (h.is_hip != cases[i].hip)
			fail_msg("%s", cases[i].line);
		rck_hipline_release(&h);
	}
}

static void launchers(void **state)
{
	static const char *const lines[] = {"ccache clang++ -O1 a.hip",
		"/usr/bin/env CC=x sccache /opt/rocm/llvm/bin/clang++ -O1 a.hip",
		"cmake -E env A=b ccache clang++-15 -O1 a.hip",
		"/opt/rocm/bin/hipcc -O1 a.hip", "/x/amdclang++ -O1 a.hip",
		"x86_64-linux-gnu-clang++ -O1 a.hip"};

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		struct rck_hipline h = read_line(lines[i], "a.hip");

		if (h.driver == RCK_DRIVER_UNKNOWN || h.level != RCK_OLEVEL_1)
			fail_msg("%s", lines[i]);
		rck_hipline_release(&h);
	}
}

static void facts(void **state)
{
	struct rck_hipline h = read_line(
		"clang++ -DNDEBUG -D HIPBLAS_V2 -g -fgpu-rdc -fsanitize=address "
		"--offload-arch=gfx90a,gfx942 --offload-arch gfx1100 a.hip",
		"a.hip");

	assert_true(h.ndebug && h.hipblas_v2 && h.debug_info && h.rdc && h.sanitize);
	assert_int_equal(h.archs.n, 3);
	assert_string_equal(h.archs.items[2], "gfx1100");
	rck_hipline_release(&h);
	h = read_line(
		"clang++ -DNDEBUG -UNDEBUG -g -g0 -gcc-toolchain /x a.hip", "a.hip");
	assert_false(h.ndebug || h.debug_info);
	rck_hipline_release(&h);
	h = read_line("hipcc -Xarch_host -O3 a.hip", "a.hip");
	assert_true(h.rule_broken);
	assert_string_equal(h.suspect, "-O3");
	rck_hipline_release(&h);
}

static int clean(void **state)
{
	rck_strv_release(&words);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(effective_level),
		cmocka_unit_test(language),
		cmocka_unit_test(launchers),
		cmocka_unit_test(facts),
	};

	return cmocka_run_group_tests(tests, NULL, clean);
}
