#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

/* What compilers of five generations made of the fixtures' kernels at build time. */
#include "codeobj/codeobj.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct kernel {
	const char *name;
	bool hostcall, heap;
	enum rck_tri stack;
	enum rck_cause cause;
};

static const struct file {
	const char *name, *target;
	unsigned version, e_type;
	struct kernel kernels[5];
	unsigned units; /* 0: 1 */
	bool no_symbols;
} files[] = {
#define CALM(name)                                                                       \
	{                                                                                \
		name, false, false, RCK_NO, RCK_CAUSE_NONE                               \
	}
#define ADD   CALM("_Z3addPfPKfS1_i")
#define SCALE CALM("_Z5scalePff")
	{"bare-v2.co", "gfx900:xnack+", 2, 3,
		{CALM("plain"),
			{"indirect", false, false, RCK_YES, RCK_CAUSE_RECURSION}}},
	{"bare-v3.co", "gfx900:xnack+", 3, 3,
		{CALM("plain"),
			{"indirect", false, false, RCK_POSSIBLE, RCK_CAUSE_RECURSION}}},
	{"old-v5.co", "gfx900", 5, 3,
		{CALM("plain"),
			{"indirect", true, true, RCK_YES, RCK_CAUSE_UNKNOWN_CALLEE}}},
	{"bare-v4.co", "gfx942", 4, 3, {ADD, SCALE}},
	{"bare-v5.co", "gfx942", 5, 3, {ADD, SCALE}},
	{"bare-v6.co", "gfx942", 6, 3, {ADD, SCALE}},
	{"stripped.co", "gfx942", 6, 3, {ADD, SCALE}},
	{"relocatable.o", "gfx942", 6, 1, {ADD, SCALE}},
	{"generic.co", "gfx9-4-generic", 6, 3, {ADD, SCALE}},
	{"many-notes.co", "gfx942", 6, 3,
		{ADD, SCALE, CALM("_Z4maddPfPKfS1_i"), CALM("_Z6mscalePff")}, 2},
	{"calls-v6.co", "gfx942", 6, 3,
		{ADD, SCALE,
			{"_Z8indirectPPFvPiES_", true, true, RCK_YES,
				RCK_CAUSE_UNKNOWN_CALLEE}}},
	{"o0-v5.co", "gfx1100", 5, 3,
		{{"_Z3addPfPKfS1_i", true, true, RCK_NO, RCK_CAUSE_O0},
			{"_Z5scalePff", true, true, RCK_NO, RCK_CAUSE_O0}}},
};

static const struct rck_kernel *find(const struct rck_code_object *co, const char *name)
{
	for (size_t i = 0; i < rck_code_object_kernel_count(co); i++)
		if (!strcmp(rck_code_object_kernel(co, i)->name, name))
			return rck_code_object_kernel(co, i);
	fail_msg("no kernel '%s'", name);
	return NULL;
}

static void check_kernel(
	const struct file *f, const struct rck_kernel *k, const struct kernel *expected)
{
	struct rck_value v;

	assert_int_equal(k->declares_hostcall, expected->hostcall);
	assert_int_equal(k->declares_heap, expected->heap);
	assert_int_equal(k->dynamic_stack, expected->stack);
	assert_int_equal(k->cause, expected->cause);
	assert_true(k->kd.found);
	assert_true(k->kd.code_size > 0);
	assert_int_not_equal(k->kd.entry, RCK_OFFSET_NONE);
	assert_ptr_equal(rck_code_object_at(k->object, k->kd.entry_address, 4),
		k->object->slice.data + k->kd.entry);
	for (int fact = 0; fact < RCK_FACT_COUNT_; fact++) {
		rck_kernel_fact(k, fact, &v);
		assert_false(v.disagrees);
	}
	rck_kernel_fact(k, RCK_FACT_OCCUPANCY, &v);
	assert_true(v.known && v.number >= 1 && v.number <= 20);
	rck_kernel_fact(k, RCK_FACT_WAVEFRONT_SIZE, &v);
	assert_int_equal(v.source, RCK_SOURCE_BOTH);
	assert_int_equal(v.number, strncmp(f->target, "gfx11", 5) ? 64 : 32);
}

static void test_file(void **state)
{
	const struct file *f = *state;
	const char *folder = getenv("RCK_FIXTURES");
	struct rck_code_object *co;
	struct rck_file *file;
	struct rck_item item;
	struct rck_diag diag;
	char path[4096];
	size_t n = 0;

	snprintf(path, sizeof(path), "%s/%s", folder ? folder : ".", f->name);
	if (access(path, R_OK)) {
		print_message(
			"skipped: %s was not made: its compiler is missing\n", f->name);
		skip();
	}
	assert_int_equal(rck_file_open(path, NULL, &file, &diag), 0);
	assert_int_equal(rck_file_next(file, &item, &diag), 1);
	assert_int_equal(rck_code_object_open(file, &item, &co, &diag), 0);
	assert_string_equal(rck_code_object_target(co), f->target);
	assert_int_equal(rck_code_object_version(co), f->version);
	assert_int_equal(co->e_type, f->e_type);
	assert_int_equal(co->n_metadata_notes, f->units ? f->units : 1);
	assert_int_equal(rck_code_object_note_count(co), 0);
	for (; f->kernels[n].name; n++)
		check_kernel(f, find(co, f->kernels[n].name), &f->kernels[n]);
	assert_int_equal(rck_code_object_kernel_count(co), n);
	rck_code_object_close(co);
	assert_int_equal(rck_file_next(file, &item, &diag), 0);
	rck_file_close(file);
}

int main(void)
{
	struct CMUnitTest tests[sizeof(files) / sizeof(*files)];

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		tests[i] = (struct CMUnitTest){
			files[i].name, test_file, NULL, NULL, (void *)&files[i]};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
