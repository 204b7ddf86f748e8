#include "container.h"

#include "container/ccob.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rck_inflater f = {0};
	struct rck_bytes *bytes;
	struct rck_ccob c;
	uint64_t extent;

	if (rck_ccob_parse(slice_of(data, size), &c, NULL))
		return 0;
	touch(c.payload);
	rck_ccob_extent(&c, &extent, NULL);
	if (!rck_ccob_inflate(&f, &c, 1 << 24, true, &bytes, NULL))
		touch(rck_bytes_slice(bytes));
	rck_bytes_unref(bytes);
	rck_inflater_release(&f);
	return 0;
}
