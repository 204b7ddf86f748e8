#include "container.h"

#include "container/pe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rck_entry e;
	struct rck_pe pe;
	int err;

	if (rck_pe_open(&pe, slice_of(data, size), NULL))
		return 0;
	while ((err = rck_pe_next(&pe, &e, NULL)))
		if (err > 0)
			touch_entry(&e);
	return 0;
}
