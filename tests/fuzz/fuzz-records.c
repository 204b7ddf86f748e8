#include "container.h"

#include "container/records.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rck_records r;
	struct rck_record rec;
	int err;

	rck_records_open(&r, slice_of(data, size));
	while ((err = rck_records_next(&r, &rec, NULL)))
		if (err > 0)
			touch(rec.slice);
	return 0;
}
