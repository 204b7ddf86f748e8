#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "report/shorten.h"
#include "util/term.h"

#include <string.h>

static void drops_type_and_parameters(void **state)
{
	static const struct {
		const char *name, *expect;
	} cases[] = {
		{"scale", "scale"},
		{"scale(float*, int)", "scale"},
		{"void ns::k<int>(int*)", "ns::k<int>"},
		{"void k<float, (int)3>(float (*)(int), int) [clone .kd]",
			"k<float, (int)3>"},
		{"unsigned int ns::f<unsigned int>()", "ns::f<unsigned int>"},
		{"(anonymous namespace)::k(int)", "(anonymous namespace)::k"},
		{"void (anonymous namespace)::k<int>(int)",
			"(anonymous namespace)::k<int>"},
		{"void f<a::b(int)::{lambda(int)#1}>(a::b(int)::{lambda(int)#1})",
			"f<a::b(int)::{lambda(int)#1}>"},
		{"a::b(int)::{lambda(int)#1}::operator()(int) const",
			"a::b(int)::{lambda(int)#1}::operator()"},
		{"a::operator()", "a::operator()"},
		{"void operator<< <int>(a&, int)", "operator<< <int>"},
		{"void k<HIP_vector_type<double, 2u> >(int)", "k<double2>"},
		{"void k<HIP_vector_type<unsigned int, 4u>, 1>(int)", "k<uint4, 1>"},
		{"void k<HIP_vector_type<T<int>, 2u> >()",
			"k<HIP_vector_type<T<int>, 2u>>"},
		{"HIP_vector_type<int, 2", "HIP_vector_type<int, 2"},
		{"f)", "f)"},
		{"()", "()"},
		{"", ""},
		{"]", "]"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		_cleanup_strbuf_ struct rck_strbuf sb = RCK_STRBUF_INIT;

		rck_shorten_name(&sb, cases[i].name, strlen(cases[i].name));
		assert_string_equal(sb.buf, cases[i].expect);
	}
}

static void fits_a_width(void **state)
{
	static const struct {
		const char *name;
		size_t width;
		const char *expect;
	} cases[] = {
		{"ns::k<int>", 10, "ns::k<int>"},
		{"ns::kernel<int, float, double, char>", 30,
			"ns::kernel<int, floa…le, char>"},
		{"ns::inner::kernel<int, float, double, char>", 22,
			"…kernel<int, f…, char>"},
		{"ns<a::b>::kernel<1>", 12, "…kernel<1>"},
		{"a_rather_long_kernel_name", 11, "a_rat…_name"},
		{"a::b::kernel", 8, "…kernel"},
		{"kernel_name<int, float>", 14, "kernel_name<…>"},
		{"kernel_name<int, float>", 13, "kernel…float>"},
		{"\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4", 3, "\xc3\xa4…\xc3\xa4"},
		{"x", 0, ""},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		_cleanup_strbuf_ struct rck_strbuf sb = RCK_STRBUF_INIT;

		rck_shorten_fit(&sb, cases[i].name, cases[i].width);
		assert_string_equal(sb.buf, cases[i].expect);
		assert_true(rck_term_columns(sb.buf, sb.len) <= cases[i].width);
	}
}

/* Any text at any width: no read outside it, never wider than asked. */
static void never_too_wide(void **state)
{
	static const char alphabet[] = "ab:<>(){}[],- \xc3\xa4";
	uint32_t seed = 1;

	for (int round = 0; round < 20000; round++) {
		_cleanup_strbuf_ struct rck_strbuf sb = RCK_STRBUF_INIT;
		_cleanup_strbuf_ struct rck_strbuf fit = RCK_STRBUF_INIT;
		char name[25] = "";

		for (size_t i = 0; i < sizeof(name) - 1; i++) {
			seed = seed * 1664525 + 1013904223;
			name[i] = alphabet[(seed >> 16) % sizeof(alphabet)];
		}
		rck_shorten_name(&sb, name, strlen(name));
		rck_shorten_fit(&fit, sb.buf, (seed >> 8) % 24);
		assert_true(rck_term_columns(fit.buf, fit.len) <= (seed >> 8) % 24);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(drops_type_and_parameters),
		cmocka_unit_test(fits_a_width),
		cmocka_unit_test(never_too_wide),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
