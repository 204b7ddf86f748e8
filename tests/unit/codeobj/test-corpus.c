#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "codeobj/codeobj.h"
#include "corpus.h"

#include <string.h>

static const struct file {
	const char *name, *target;
	unsigned version;
	size_t kernels, hostcall, heap, stack, units;
	enum rck_cause cause;
	bool sizes; /* its function symbols have sizes */
} files[] = {
	{"TensileLibrary_gfx803.co", "gfx803", 4, 219, 0, 0, 0, 219, RCK_CAUSE_NONE,
		false},
	{"extop_gfx90a.co", "gfx90a", 4, 11, 0, 0, 0, 11, RCK_CAUSE_NONE, true},
	{"hipblasltTransform.hsaco", "gfx908", 6, 96, 96, 0, 0, 1, RCK_CAUSE_READS_SLOT,
		true},
	{"rdc_gfx942_binary_search.hsaco", "gfx942", 5, 3, 0, 0, 0, 1, RCK_CAUSE_NONE,
		true},
};

/* hipblasltTransform.hsaco is a bundle: its code object begins at the first ELF magic. */
static const unsigned char *find_elf(const unsigned char *data, size_t size)
{
	return memmem(data, size,
		"\x7f"
		"ELF\x02",
		5);
}

static void test_file(void **state)
{
	const struct file *f = *state;
	size_t size, hostcall = 0, heap = 0, stack = 0;
	unsigned char *data = corpus_read(f->name, &size);
	const unsigned char *elf;
	struct rck_code_object *co;
	struct rck_diag diag;

	if (!data) {
		print_message("skipped: no shared corpus (%s)\n", f->name);
		skip();
	}
	elf = find_elf(data, size);
	assert_non_null(elf);
	assert_int_equal(
		rck_code_object_open_mem(elf, size - (size_t)(elf - data), &co, &diag),
		0);
	assert_int_equal(rck_code_object_version(co), f->version);
	assert_string_equal(rck_code_object_target(co), f->target);
	assert_int_equal(rck_code_object_kernel_count(co), f->kernels);
	assert_int_equal(co->n_metadata_notes, f->units);
	for (size_t i = 0; i < f->kernels; i++) {
		const struct rck_kernel *k = rck_code_object_kernel(co, i);

		hostcall += k->declares_hostcall;
		heap += k->declares_heap;
		stack += k->dynamic_stack == RCK_YES;
		assert_true(k->kd.found);
		assert_int_equal(k->kd.code_size != 0, f->sizes);
		assert_non_null(
			rck_code_object_at(co, k->kd.entry_address, k->kd.code_size));
		assert_ptr_equal(rck_code_object_at(co, k->kd.entry_address, 4),
			co->slice.data + k->kd.entry);
		assert_int_equal(k->cause, f->cause);
	}
	assert_int_equal(hostcall, f->hostcall);
	assert_int_equal(heap, f->heap);
	assert_int_equal(stack, f->stack);
	rck_code_object_close(co);
	free(data);
}

int main(void)
{
	struct CMUnitTest tests[sizeof(files) / sizeof(*files)];

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		tests[i] = (struct CMUnitTest){
			files[i].name, test_file, NULL, NULL, (void *)&files[i]};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
