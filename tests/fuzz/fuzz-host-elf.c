#include "container.h"

#include "container/host-elf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rck_host_elf elf;
	struct rck_entry e;
	int err = rck_host_elf_open(&elf, slice_of(data, size), NULL);

	while (!err && (err = rck_host_elf_next(&elf, &e, NULL))) {
		if (err > 0)
			touch_entry(&e);
		err = 0;
	}
	rck_host_elf_close(&elf);
	return 0;
}
