#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "codeobj/codeobj.h"
#include "corpus.h"

#include <string.h>

static const struct file {
	const char *name, *target; /* of the first code object */
	unsigned version;
	size_t objects, kernels, hostcall, heap, stack, possible;
	enum rck_cause cause;
	const char *note; /* a note that is there, or NULL for none */
	bool no_sizes;    /* its function symbols state none */
} files[] = {
	{.name = "TensileLibrary_gfx803.co",
		.target = "gfx803",
		.version = 4,
		.objects = 1,
		.kernels = 219,
		.no_sizes = true},
	{.name = "ccob_v2_gfx908.co",
		.target = "gfx908",
		.version = 4,
		.objects = 1,
		.kernels = 1,
		.no_sizes = true},
	{.name = "extop_gfx90a.co",
		.target = "gfx90a",
		.version = 4,
		.objects = 1,
		.kernels = 11,
		.note = "kernel 'Softmax_DT_S_MT_8_32' and 6 more: the metadata says LDS "
			"1024, "
			"the descriptor 0"},
	{.name = "gfx8_DummyKernel.hsaco",
		.target = "gfx900",
		.version = 2,
		.objects = 1,
		.kernels = 1,
		.note = "the file's name says 'gfx8', e_flags say 'gfx900'"},
	{.name = "hipblasltTransform.hsaco",
		.target = "gfx908",
		.version = 6,
		.objects = 1,
		.kernels = 96,
		.hostcall = 96,
		.cause = RCK_CAUSE_READS_SLOT},
	{.name = "libspfft-sid.so",
		.target = "gfx1010",
		.version = 6,
		.objects = 50,
		.kernels = 380,
		.hostcall = 380,
		.heap = 380,
		.stack = 380,
		.cause = RCK_CAUSE_O0},
	{.name = "libspfft-trixie.so",
		.target = "gfx1010",
		.version = 4,
		.objects = 50,
		.kernels = 380,
		.hostcall = 380,
		.possible = 380,
		.cause = RCK_CAUSE_O0},
	{.name = "rdc_gfx942_binary_search.hsaco",
		.target = "gfx942",
		.version = 5,
		.objects = 1,
		.kernels = 3},
};

struct seen {
	size_t objects, kernels, hostcall, heap, stack, possible;
};

static void check_object(const struct file *f, struct rck_code_object *co, struct seen *n)
{
	if (!n->objects++)
		assert_string_equal(rck_code_object_target(co), f->target);
	assert_int_equal(rck_code_object_version(co), f->version);
	assert_int_equal(rck_code_object_note_count(co), f->note != NULL);
	if (f->note)
		assert_string_equal(rck_code_object_note(co, 0)->msg, f->note);
	for (size_t i = 0; i < rck_code_object_kernel_count(co); i++) {
		const struct rck_kernel *k = rck_code_object_kernel(co, i);

		n->kernels++;
		n->hostcall += k->declares_hostcall;
		n->heap += k->declares_heap;
		n->stack += k->dynamic_stack == RCK_YES;
		n->possible += k->dynamic_stack == RCK_POSSIBLE;
		assert_int_equal(k->cause, f->cause);
		assert_true(k->kd.found);
		assert_int_equal(k->kd.code_size == 0, f->no_sizes);
		assert_ptr_equal(rck_code_object_at(co, k->kd.entry_address, 4),
			co->slice.data + k->kd.entry);
		assert_non_null(
			rck_code_object_at(co, k->kd.entry_address, k->kd.code_size));
	}
}

static void test_file(void **state)
{
	const struct file *f = *state;
	const char *path = corpus_path(f->name);
	struct rck_code_object *co;
	struct seen n = {0};
	struct rck_file *file;
	struct rck_item item;
	struct rck_diag diag;

	if (!path) {
		print_message("skipped: no shared corpus (%s)\n", f->name);
		skip();
	}
	assert_int_equal(rck_file_open(path, NULL, &file, &diag), 0);
	while (rck_file_next(file, &item, &diag) == 1) {
		assert_int_equal(item.kind, RCK_ITEM_CODE_OBJECT);
		assert_int_equal(rck_code_object_open(file, &item, &co, &diag), 0);
		check_object(f, co, &n);
		rck_code_object_close(co);
	}
	rck_file_close(file);
	assert_int_equal(n.objects, f->objects);
	assert_int_equal(n.kernels, f->kernels);
	assert_int_equal(n.hostcall, f->hostcall);
	assert_int_equal(n.heap, f->heap);
	assert_int_equal(n.stack, f->stack);
	assert_int_equal(n.possible, f->possible);
}

int main(void)
{
	struct CMUnitTest tests[sizeof(files) / sizeof(*files)];

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		tests[i] = (struct CMUnitTest){
			files[i].name, test_file, NULL, NULL, (void *)&files[i]};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
