#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "make.h"

#include <errno.h>

#define HOSTCALL "hidden_hostcall_buffer"
#define HEAP     "hidden_heap_v1"
#define V3_ALL                                                                           \
	HOSTCALL, "hidden_multigrid_sync_arg", "hidden_default_queue",                   \
		"hidden_completion_action"

static const char *const nothing[] = {"by_value", NULL};
static const char *const all_v5[] = {V3_ALL, HEAP, NULL};
static const char *const all_v3[] = {V3_ALL, NULL};
/* what LLVM 15 lists at -O0: no default queue, no completion action */
static const char *const old_v5[] = {HOSTCALL, "hidden_multigrid_sync_arg", HEAP, NULL};
static const char *const old_v4[] = {
	HOSTCALL, "hidden_none", "hidden_none", "hidden_multigrid_sync_arg", NULL};
static const char *const hostcall[] = {"global_buffer", HOSTCALL, NULL};
static const char *const heap[] = {HEAP, NULL};
static const char *const both[] = {HOSTCALL, HEAP, NULL};
static const char *const odd[] = {HOSTCALL, "hidden_default_queue", NULL};
static const char *const no_flag[] = {"hidden_default_queue", NULL};

/* Up to three kernels; each a note, or the first two in one note's place (same unit). */
static const struct row {
	unsigned version;
	const char *const *kinds[3];
	bool stack[3];
	enum rck_cause cause[3];
	enum rck_confidence confidence[3];
	const char *symbol;
} rows[] = {
	{5, {nothing}, {false}, {RCK_CAUSE_NONE}, {0}, NULL},
	{5, {no_flag}, {false}, {RCK_CAUSE_NONE}, {0}, NULL},
	{5, {hostcall}, {false}, {RCK_CAUSE_READS_SLOT}, {RCK_CONFIDENCE_HIGH}, NULL},
	{4, {hostcall}, {false}, {RCK_CAUSE_READS_SLOT}, {RCK_CONFIDENCE_MEDIUM}, NULL},
	{5, {heap, both}, {false}, {RCK_CAUSE_DEVICE_MALLOC, RCK_CAUSE_DEVICE_MALLOC},
		{RCK_CONFIDENCE_HIGH, RCK_CONFIDENCE_HIGH}, NULL},
	{5, {all_v5, all_v5}, {true, true}, {RCK_CAUSE_O0, RCK_CAUSE_O0},
		{RCK_CONFIDENCE_HIGH, RCK_CONFIDENCE_HIGH}, NULL},
	{6, {all_v5, all_v5}, {false, false}, {RCK_CAUSE_O0, RCK_CAUSE_O0},
		{RCK_CONFIDENCE_HIGH, RCK_CONFIDENCE_HIGH}, NULL},
	{4, {all_v3, all_v3}, {false, false}, {RCK_CAUSE_O0, RCK_CAUSE_O0},
		{RCK_CONFIDENCE_HIGH, RCK_CONFIDENCE_HIGH}, NULL},
	/* alone it may be either */
	{5, {all_v5}, {true}, {RCK_CAUSE_O0}, {RCK_CONFIDENCE_LOW}, NULL},
	{5, {all_v5, nothing}, {true}, {RCK_CAUSE_UNKNOWN_CALLEE, RCK_CAUSE_NONE},
		{RCK_CONFIDENCE_HIGH}, NULL},
	{5, {all_v5, hostcall}, {false}, {RCK_CAUSE_UNKNOWN_CALLEE, RCK_CAUSE_READS_SLOT},
		{RCK_CONFIDENCE_MEDIUM, RCK_CONFIDENCE_HIGH}, NULL},
	{5, {nothing}, {true}, {RCK_CAUSE_RECURSION}, {RCK_CONFIDENCE_HIGH}, NULL},
	{5, {odd}, {false}, {RCK_CAUSE_UNSETTLED}, {RCK_CONFIDENCE_LOW}, NULL},
	{5, {old_v5, old_v5}, {true, false}, {RCK_CAUSE_O0, RCK_CAUSE_O0},
		{RCK_CONFIDENCE_HIGH, RCK_CONFIDENCE_HIGH}, NULL},
	{4, {old_v4, old_v4}, {true, true}, {RCK_CAUSE_O0, RCK_CAUSE_O0},
		{RCK_CONFIDENCE_HIGH, RCK_CONFIDENCE_HIGH}, NULL},
	/* LLVM 15, optimised: a printf or blockDim, and a call by pointer */
	{5, {old_v5, nothing, old_v5}, {false, false, true},
		{RCK_CAUSE_UNKNOWN_OFFSET, RCK_CAUSE_NONE, RCK_CAUSE_UNKNOWN_CALLEE},
		{RCK_CONFIDENCE_MEDIUM, 0, RCK_CONFIDENCE_HIGH}, NULL},
	{4, {old_v4}, {false}, {RCK_CAUSE_READS_SLOT}, {RCK_CONFIDENCE_LOW}, NULL},
	{6, {old_v5, nothing}, {false}, {RCK_CAUSE_UNSETTLED}, {RCK_CONFIDENCE_LOW},
		NULL},
	/* V5's set without the heap is no full set */
	{5, {all_v3, nothing}, {false}, {RCK_CAUSE_UNSETTLED}, {RCK_CONFIDENCE_LOW},
		NULL},
	{5, {hostcall, nothing}, {false}, {RCK_CAUSE_SANITIZER}, {RCK_CONFIDENCE_HIGH},
		"__asan_report_load4"},
	{5, {heap}, {false}, {RCK_CAUSE_DEVICE_MALLOC}, {RCK_CONFIDENCE_HIGH},
		"__asan_report_load4"},
};

static void test_row(void **state)
{
	static const char *const names[] = {"first", "second", "third"};
	static const char *const key[] = {".uses_dynamic_stack"};
	const struct row *row = *state;
	struct make *m = make_new();
	struct rck_code_object *co;
	uint64_t stack;

	m->version = row->version;
	m->other_symbol = row->symbol;
	for (size_t i = 0; i < 3 && row->kinds[i]; i++) {
		stack = row->stack[i];
		make_metadata(m, row->version - 3 > 2 ? 2 : row->version - 3, names[i],
			row->kinds[i], 1, key, &stack);
		make_kernel(m, names[i])[57] = row->stack[i] ? 1 << 3 : 0;
	}
	assert_int_equal(make_open(m, &co, NULL), 0);
	assert_int_equal(co->sanitizer, row->symbol && row->kinds[0] == hostcall);
	for (size_t i = 0; i < rck_code_object_kernel_count(co); i++) {
		const struct rck_kernel *k = rck_code_object_kernel(co, i);
		struct rck_value v;

		assert_string_equal(
			rck_cause_name(k->cause), rck_cause_name(row->cause[i]));
		assert_int_equal(k->confidence, row->confidence[i]);
		rck_kernel_fact(k, RCK_FACT_CAUSE, &v);
		assert_string_equal(v.string, rck_cause_name(row->cause[i]));
		rck_kernel_fact(k, RCK_FACT_CONFIDENCE, &v);
		assert_int_equal(v.known, row->cause[i] != RCK_CAUSE_NONE);
	}
	rck_code_object_close(co);
	make_release(m);
}

/* V3 and V4 assume 16384 bytes for a call they do not see: possible, and no more. */
static void test_possible(void **state)
{
	static const char *const keys[] = {".private_segment_fixed_size"};
	static const struct {
		unsigned version;
		uint64_t scratch;
		bool bit;
		enum rck_tri stack;
	} cases[] = {{4, 16384, false, RCK_POSSIBLE}, {4, 16383, false, RCK_NO},
		{4, 16384, true, RCK_YES}, {3, 20000, false, RCK_POSSIBLE},
		{5, 16384, false, RCK_NO}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct make *m = make_new();
		const struct rck_kernel *k;
		struct rck_code_object *co;
		struct rck_value v;
		uint32_t scratch = (uint32_t)cases[i].scratch;
		uint8_t *kd;

		m->version = cases[i].version;
		make_metadata(
			m, cases[i].version - 3, "k", NULL, 1, keys, &cases[i].scratch);
		kd = make_kernel(m, "k");
		memcpy(kd + 4, &scratch, 4);
		kd[57] = cases[i].bit ? 1 << 3 : 0;
		assert_int_equal(make_open(m, &co, NULL), 0);
		k = rck_code_object_kernel(co, 0);
		assert_int_equal(k->dynamic_stack, cases[i].stack);
		assert_int_equal(rck_kernel_flagged(k), cases[i].stack == RCK_YES);
		assert_int_equal(k->cause,
			cases[i].stack == RCK_NO ? RCK_CAUSE_NONE : RCK_CAUSE_RECURSION);
		rck_kernel_fact(k, RCK_FACT_DYNAMIC_STACK, &v);
		assert_int_equal(v.known, cases[i].stack != RCK_POSSIBLE);
		rck_code_object_close(co);
		make_release(m);
	}
}

static void test_texts(void **state)
{
	for (int c = 0; c <= RCK_CAUSE_UNSETTLED; c++) {
		assert_true(*rck_cause_name(c) && *rck_cause_text(c));
		assert_int_equal(!*rck_cause_remedy(c), c == RCK_CAUSE_NONE);
		for (int d = 0; d < c; d++)
			assert_string_not_equal(rck_cause_name(c), rck_cause_name(d));
	}
}

int main(void)
{
	enum { N = sizeof(rows) / sizeof(*rows) };
	struct CMUnitTest tests[N + 2];
	static char names[N][16];

	for (size_t i = 0; i < N; i++) {
		snprintf(names[i], sizeof(names[i]), "row %zu", i);
		tests[i] = (struct CMUnitTest){
			names[i], test_row, NULL, NULL, (void *)&rows[i]};
	}
	tests[N] = (struct CMUnitTest)cmocka_unit_test(test_possible);
	tests[N + 1] = (struct CMUnitTest)cmocka_unit_test(test_texts);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
