#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "cmd/select.h"
#include "codeobj/codeobj.h"

#include <errno.h>
#include <string.h>

static struct rck_code_object object = {
	.target = "gfx90a:sramecc+:xnack-", .processor = "gfx90a"};
static struct rck_kernel kernel = {
	.object = &object, .name = "_ZN2ns1kIiEEvi", .demangled = "void ns::k<int>(int)"};

static struct rck_select *new_select(struct rck_select_spec *spec)
{
	struct rck_select *sel;
	struct rck_diag diag;

	assert_int_equal(rck_select_new(spec, &sel, &diag), 0);
	return sel;
}

static void by_target(void **state)
{
	static const struct {
		const char *globs[2];
		bool selected;
	} cases[] = {
		{{NULL}, true},
		{{"gfx90a"}, true},
		{{"gfx9*"}, true},
		{{"*:xnack-"}, true},
		{{"gfx90a:sramecc+:xnack-"}, true},
		{{"*:xnack+"}, false},
		{{"gfx90"}, false},
		{{"gfx11*", "gfx90[ac]"}, true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *globs[] = {cases[i].globs[0], cases[i].globs[1]};
		struct rck_select_spec spec = {.arch = {globs, globs[1]   ? 2
							       : globs[0] ? 1
									  : 0}};
		struct rck_select *sel = new_select(&spec);

		assert_int_equal(rck_select_object(sel, &object), cases[i].selected);
		rck_select_free(sel);
	}
}

static void by_name(void **state)
{
	static const struct {
		const char *regex;
		bool selected;
	} cases[] = {
		{"ns::k", true},
		{"^void ns::k<int>", true},
		{"^_ZN2ns", true},
		{"k<(int|float)>", true},
		{"k<float>", false},
		{"^k", false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct rck_select_spec spec = {.kernel = cases[i].regex};
		struct rck_select *sel = new_select(&spec);

		assert_int_equal(rck_select_kernel(sel, &kernel), cases[i].selected);
		rck_select_free(sel);
	}
}

static void by_flags(void **state)
{
	struct rck_select_spec spec = {.flagged = true, .kernel = "k"};
	struct rck_select *sel = new_select(&spec);
	struct rck_kernel k = kernel;

	assert_false(rck_select_kernel(sel, &k));
	k.dynamic_stack = RCK_POSSIBLE;
	assert_false(rck_select_kernel(sel, &k));
	k.declares_heap = true;
	assert_true(rck_select_kernel(sel, &k));
	rck_select_free(sel);
	rck_select_free(NULL);
}

static void bad_expression(void **state)
{
	struct rck_select_spec spec = {.kernel = "("};
	struct rck_select *sel;
	struct rck_diag diag;

	assert_int_equal(rck_select_new(&spec, &sel, &diag), -EINVAL);
	assert_non_null(strstr(diag.msg, "'('"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_target),
		cmocka_unit_test(by_name),
		cmocka_unit_test(by_flags),
		cmocka_unit_test(bad_expression),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
