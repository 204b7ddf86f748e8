#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "report/kernel-table.h"
#include "report/rows.h"
#include "util/term.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define N(a) (sizeof(a) / sizeof(*(a)))

static struct rck_code_object objects[] = {
	{.target = "gfx90a", .version = 6},
	{.target = "gfx1100", .version = 6},
};

static struct rck_arg pointer = {.value_kind = "global_buffer", .size = 8, .name = "x"};

/* A kernel as the reader leaves it. */
static struct rck_kernel kernel(int object, const char *demangled, uint64_t vgprs)
{
	return (struct rck_kernel){.object = &objects[object],
		.name = demangled,
		.symbol = demangled,
		.demangled = demangled,
		.stated = RCK_MD(VGPR_COUNT),
		.vgpr_count = vgprs};
}

static void the_same_kernel_is_one_row(void **state)
{
	struct rck_rows *rows = rck_rows_new(true, true);
	struct rck_kernel a = kernel(0, "a", 12), b = kernel(1, "a", 8),
			  c = kernel(1, "c", 0);
	const struct rck_row *r;

	a.declares_hostcall = true;
	a.cause = RCK_CAUSE_READS_SLOT;
	b.dynamic_stack = RCK_POSSIBLE;
	b.args = &pointer;
	b.n_args = 1;
	c.stated = 0;
	rck_rows_add(rows, &a);
	rck_rows_add(rows, &c);
	rck_rows_add(rows, &b);
	assert_int_equal(rck_rows_count(rows), 2);
	r = rck_rows_get(rows, 0);
	assert_string_equal(r->name, "a");
	assert_int_equal(r->kernels, 2);
	assert_int_equal(r->flagged, 1);
	assert_int_equal(r->possible_stack, 1);
	assert_string_equal(r->target, "gfx90a");
	assert_int_equal(r->facts[RCK_FACT_VGPR_COUNT].min, 8);
	assert_int_equal(r->facts[RCK_FACT_VGPR_COUNT].max, 12);
	assert_int_equal(r->facts[RCK_FACT_DECLARES_HOSTCALL].yes, 1);
	assert_string_equal(r->facts[RCK_FACT_CAUSE].string, "reads-slot,none");
	assert_string_equal(r->args, "");
	assert_int_equal(r->other_args, 1);
	r = rck_rows_get(rows, 1);
	assert_int_equal(r->facts[RCK_FACT_VGPR_COUNT].known, 0);
	rck_rows_free(rows);
}

static void every_kernel_is_a_row(void **state)
{
	struct rck_rows *rows = rck_rows_new(false, false);
	struct rck_kernel a = kernel(0, "a", 1);

	rck_rows_add(rows, &a);
	rck_rows_add(rows, &a);
	assert_int_equal(rck_rows_count(rows), 2);
	assert_null(rck_rows_get(rows, 0)->args);
	rck_rows_free(rows);
	rck_rows_free(NULL);
}

/* Names of the rows in their order. */
static void expect_order(struct rck_rows *rows, const char *key, const char *names)
{
	_cleanup_strbuf_ struct rck_strbuf got = RCK_STRBUF_INIT;
	int k;

	assert_true(rck_rows_sort_key(key, &k));
	rck_rows_sort(rows, k);
	for (size_t i = 0; i < rck_rows_count(rows); i++)
		rck_strbuf_adds(&got, rck_rows_get(rows, i)->name);
	assert_string_equal(got.buf, names);
}

static void sorts(void **state)
{
	struct rck_rows *rows = rck_rows_new(true, false);
	struct rck_kernel k[] = {kernel(1, "c", 5), kernel(0, "a", 5), kernel(0, "d", 9),
		kernel(1, "b", 0)};
	int key;

	k[3].stated = 0;
	k[3].declares_heap = true;
	for (size_t i = 0; i < N(k); i++)
		rck_rows_add(rows, &k[i]);
	expect_order(rows, "name", "abcd");
	expect_order(rows, "file", "cadb");
	expect_order(rows, "flags", "bcad");
	expect_order(rows, "target", "cbad");
	expect_order(rows, "vgpr_count", "dcab"); /* what is not known comes last */
	expect_order(rows, "declares_heap", "bcad");
	assert_false(rck_rows_sort_key("vgpr", &key));
	for (enum rck_fact f = 0; f < RCK_FACT_COUNT_; f++)
		assert_true(rck_rows_sort_key(rck_fact_info(f)->key, &key));
	rck_rows_free(rows);
}

static char *table_of(struct rck_kernel *k, size_t n, size_t n_targets,
	struct rck_kernel_table_spec spec)
{
	struct rck_rows *rows = rck_rows_new(spec.group, false);
	struct rck_strbuf out = RCK_STRBUF_INIT;
	struct rck_diag diag;

	assert_int_equal(rck_kernel_table_check(&spec, &diag), 0);
	for (size_t i = 0; i < n; i++)
		rck_rows_add(rows, &k[i]);
	rck_kernel_table_print(&spec, rows, n_targets, &out);
	rck_rows_free(rows);
	return rck_strbuf_detach(&out);
}

static void a_table(void **state)
{
	struct rck_kernel k[] = {kernel(0, "void f<int>(int)", 4),
		kernel(1, "void f<int>(int)", 6), kernel(0, "g", 7)};
	char *s;

	k[0].declares_hostcall = k[1].declares_hostcall = true;
	k[2].dynamic_stack = RCK_POSSIBLE;
	s = table_of(k, 3, 2,
		(struct rck_kernel_table_spec){.width = 80,
			.group = true,
			.columns = "dynamic_stack,vgpr_count"});
	assert_string_equal(s, "  dynstack  VGPR  objects  kernel\n"
			       "  ?          4-6        2  f<int>\n"
			       "  maybe        7   gfx90a  g\n");
	free(s);
	s = table_of(k, 3, 2,
		(struct rck_kernel_table_spec){
			.width = 80, .limit = 1, .columns = "vgpr_count", .color = true});
	assert_string_equal(s, "  VGPR  target  kernel\n"
			       "     4  gfx90a  f<int>\n"
			       "  … and 2 more rows ('--limit 0' shows all)\n");
	free(s);
	s = table_of(k, 0, 1, (struct rck_kernel_table_spec){.width = 80});
	assert_string_equal(s, "");
	free(s);
}

/* Kernels that differ in their parameters alone keep them. */
static void parameters_tell_apart(void **state)
{
	struct rck_kernel k[] = {
		kernel(0, "f(int)", 1), kernel(0, "f(float)", 1), kernel(0, "g(int)", 1)};
	char *s = table_of(k, 3, 1,
		(struct rck_kernel_table_spec){.width = 80, .columns = "vgpr_count"});

	assert_string_equal(s, "  VGPR  kernel\n"
			       "     1  f(int)\n"
			       "     1  f(float)\n"
			       "     1  g\n");
	free(s);
}

static void lines_fit_and_are_masked(void **state)
{
	char name[200] = "void ns::\033[31mkernel<";
	struct rck_kernel k;

	memset(name + strlen(name), 'x', 100);
	strcat(name, ">(int)");
	k = kernel(0, name, 1);
	for (unsigned width = 60; width < 250; width++) {
		char *s = table_of(&k, 1, 1,
			(struct rck_kernel_table_spec){.width = width, .group = true});

		assert_null(strchr(s, '\033'));
		for (char *p = s, *end; (end = strchr(p, '\n')); p = end + 1)
			assert_true(rck_term_columns(p, (size_t)(end - p)) <= width);
		free(s);
	}
}

static void unknown_columns(void **state)
{
	struct rck_kernel_table_spec spec = {.columns = "lds,vgpr"};
	struct rck_diag diag;

	assert_int_equal(rck_kernel_table_check(&spec, &diag), -EINVAL);
	assert_non_null(strstr(diag.msg, "'vgpr'"));
	spec.columns = "all";
	assert_int_equal(rck_kernel_table_check(&spec, &diag), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_kernel_is_one_row),
		cmocka_unit_test(every_kernel_is_a_row),
		cmocka_unit_test(sorts),
		cmocka_unit_test(a_table),
		cmocka_unit_test(parameters_tell_apart),
		cmocka_unit_test(lines_fit_and_are_masked),
		cmocka_unit_test(unknown_columns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
