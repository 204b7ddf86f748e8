/* AMDGPU ELF: loaded, relocated, every symbol looked up and its memory touched. */
#include "fuzz.h"

#include "softgpu/loader.h"

static uint64_t resolve(void *ctx, const char *name)
{
	return name[0] == 'o' ? 0x1000 : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct sg_load_options options = {resolve, NULL, 1 << 26};
	static volatile uint8_t sink;
	struct sg_image *image;
	struct rck_diag diag;

	sg_elf_size(data, size);
	if (sg_image_load(data, size, &options, &image, &diag))
		return 0;
	for (size_t i = 0; i < image->n_symbols; i++) {
		const struct sg_symbol *s = &image->symbols[i];
		const uint8_t *p = (const uint8_t *)(uintptr_t)s->address;

		sg_image_symbol(image, s->name);
		sg_image_kernel_at(image, s->address);
		if (s->size)
			sink = (uint8_t)(p[0] + p[s->size - 1]);
	}
	(void)sink;
	sg_image_unload(image);
	return 0;
}
