#include "container.h"

#include "container/bundle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rck_bundle b;
	struct rck_bundle_id id;
	struct rck_entry e;
	uint64_t end;
	int err;

	rck_bundle_id_parse((const char *)data, size, &id);
	rck_bundle_extent(slice_of(data, size), &end);
	if (rck_bundle_open(&b, slice_of(data, size), NULL))
		return 0;
	while ((err = rck_bundle_next(&b, &e, NULL)))
		if (err > 0)
			touch_entry(&e);
	return 0;
}
