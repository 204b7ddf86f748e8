/* The loader: a real code object, and the same with every kind of damage. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "softgpu/loader.h"

static uint8_t *object;
static size_t object_size;

static int read_object(void **state)
{
	const char *path = getenv("RCK_SOFT_OBJECT");
	FILE *f = path ? fopen(path, "rb") : NULL;

	if (!f)
		return -1;
	object = malloc(1 << 20);
	object_size = fread(object, 1, 1 << 20, f);
	fclose(f);
	return object_size ? 0 : -1;
}

static int free_object(void **state)
{
	free(object);
	return 0;
}

static uint64_t resolve(void *ctx, const char *name)
{
	return strcmp(name, "outside") ? 0 : *(uint64_t *)ctx;
}

static uint64_t outside = 0x12345678abcd0000;
static const struct sg_load_options options = {resolve, &outside, 0};

static uint64_t load64(uint64_t address)
{
	uint64_t v;

	memcpy(&v, (void *)(uintptr_t)address, sizeof v);
	return v;
}

static void loads_symbols_and_descriptor(void **state)
{
	const struct sg_symbol *kernel, *answer;
	struct sg_image *image;
	struct rck_diag diag;

	assert_int_equal(sg_image_load(object, object_size, &options, &image, &diag), 0);
	assert_int_equal(image->abi_version, 2);
	assert_int_equal(image->flags & 0xff, 0x36); /* gfx1030 */
	assert_int_equal(image->n_kernels, 1);
	kernel = sg_image_symbol(image, "store");
	assert_non_null(kernel);
	assert_ptr_equal(kernel, sg_image_symbol(image, "store.kd"));
	assert_ptr_equal(kernel, sg_image_kernel_at(image, kernel->address));
	assert_null(sg_image_kernel_at(image, kernel->address + 8));
	assert_null(sg_image_symbol(image, "stor"));
	assert_null(sg_image_symbol(image, "store."));
	assert_int_equal(kernel->kind, SG_SYMBOL_KERNEL);
	assert_int_equal(kernel->descriptor.group_segment_size, 128);
	assert_int_equal(kernel->descriptor.private_segment_size, 16);
	/* s_endpgm at the entry */
	assert_int_equal((uint32_t)load64(kernel->address +
					  (uint64_t)kernel->descriptor.entry_offset),
		0xbf810000);
	answer = sg_image_symbol(image, "answer");
	assert_non_null(answer);
	assert_int_equal(answer->kind, SG_SYMBOL_VARIABLE);
	assert_true(answer->is_const);
	assert_int_equal(*(uint32_t *)(uintptr_t)answer->address, 42);
	sg_image_unload(image);
}

static void relocates(void **state)
{
	struct sg_image *image;
	struct rck_diag diag;

	assert_int_equal(sg_image_load(object, object_size, &options, &image, &diag), 0);
	assert_int_equal(load64(sg_image_symbol(image, "pointer")->address),
		sg_image_symbol(image, "answer")->address);
	assert_int_equal(
		load64(sg_image_symbol(image, "outside_pointer")->address), outside + 16);
	assert_false(sg_image_symbol(image, "pointer")->is_const);
	for (uint64_t i = 0; i < 8192; i += 8)
		assert_int_equal(load64(sg_image_symbol(image, "zeros")->address + i), 0);
	sg_image_unload(image);
}

static void undefined_symbol_is_an_error(void **state)
{
	struct sg_image *image;
	struct rck_diag diag;

	assert_int_equal(
		sg_image_load(object, object_size, NULL, &image, &diag), -ENOENT);
	assert_null(image);
	assert_non_null(strstr(diag.msg, "outside"));
}

static void image_limit(void **state)
{
	struct sg_load_options small = options;
	struct sg_image *image;
	struct rck_diag diag;

	small.limit = 8192;
	assert_int_equal(
		sg_image_load(object, object_size, &small, &image, &diag), -ENOMEM);
}

static void header_errors(void **state)
{
	static const struct {
		size_t offset;
		uint8_t value;
		int code;
	} cases[] = {
		{0, 'X', -ENOEXEC},
		{EI_CLASS, ELFCLASS32, -ENOEXEC},
		{EI_DATA, ELFDATA2MSB, -ENOEXEC},
		{EI_OSABI, 0, -ENOTSUP},
		{EI_ABIVERSION, 0, -ENOTSUP},
		{EI_ABIVERSION, 5, -ENOTSUP},
		{offsetof(Elf64_Ehdr, e_machine), 62, -ENOEXEC},
		{offsetof(Elf64_Ehdr, e_type), ET_REL, -ENOEXEC},
		{offsetof(Elf64_Ehdr, e_phentsize), 1, -EINVAL},
		{offsetof(Elf64_Ehdr, e_phoff) + 7, 0xff, -EINVAL},
		{offsetof(Elf64_Ehdr, e_phnum), 0, -EINVAL},
		{offsetof(Elf64_Ehdr, e_phnum) + 1, 0xff, -EINVAL},
	};
	uint8_t *copy = malloc(object_size);

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct sg_image *image;
		struct rck_diag diag = {0};

		memcpy(copy, object, object_size);
		copy[cases[i].offset] = cases[i].value;
		assert_int_equal(
			sg_image_load(copy, object_size, &options, &image, &diag),
			cases[i].code);
		assert_null(image);
		assert_int_equal(diag.code, cases[i].code);
		assert_true(diag.msg[0]);
	}
	free(copy);
}

/* Every byte of the file set to each of some values, and every length: loads or says why.
 */
static void damage(void **state)
{
	static const uint8_t values[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
	unsigned int loaded = 0, refused = 0;

	for (size_t i = 0; i < object_size; i++) {
		for (size_t v = 0; v < sizeof values; v++) {
			struct sg_image *image;
			struct rck_diag diag = {0};
			uint8_t old = object[i];
			int r;

			object[i] = values[v];
			r = sg_image_load(object, object_size, &options, &image, &diag);
			object[i] = old;
			if (r) {
				assert_true(diag.msg[0]);
				refused++;
			} else {
				sg_image_symbol(image, "store");
				loaded++;
			}
			sg_image_unload(image);
		}
	}
	for (size_t n = 0; n < object_size; n++) {
		uint8_t *cut = malloc(n + 1);
		struct sg_image *image;
		struct rck_diag diag;

		memcpy(cut, object, n);
		if (sg_image_load(cut, n, &options, &image, &diag))
			refused++;
		sg_image_unload(image);
		free(cut);
	}
	assert_true(loaded > 0 && refused > 0);
}

static void size_from_headers(void **state)
{
	assert_int_equal(sg_elf_size(object, object_size), object_size);
	assert_int_equal(sg_elf_size(object, 63), 0);
	assert_int_equal(sg_elf_size("not an ELF file, whatever it is; but long enough "
				     "to hold a header of one, surely",
				 80),
		0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loads_symbols_and_descriptor),
		cmocka_unit_test(relocates),
		cmocka_unit_test(undefined_symbol_is_an_error),
		cmocka_unit_test(image_limit),
		cmocka_unit_test(header_errors),
		cmocka_unit_test(damage),
		cmocka_unit_test(size_from_headers),
	};

	return cmocka_run_group_tests(tests, read_object, free_object);
}
