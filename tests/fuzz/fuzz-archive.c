#include "container.h"

#include "container/archive.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rck_archive a;
	struct rck_entry e;
	int err;

	if (rck_archive_open(&a, slice_of(data, size), NULL))
		return 0;
	while ((err = rck_archive_next(&a, &e, NULL)))
		if (err > 0)
			touch_entry(&e);
	return 0;
}
