#include "container.h"

#include "container/offload-binary.h"

static void entries(struct rck_offload *o)
{
	struct rck_entry e;
	int err;

	while ((err = rck_offload_next(o, &e, NULL)))
		if (err > 0)
			touch_entry(&e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rck_inflater f = {0};
	struct rck_bytes *bytes;
	struct rck_offload o, whole;

	if (rck_offload_open(&o, slice_of(data, size), NULL))
		return 0;
	if (!o.inflated)
		entries(&o);
	if (o.inflated && !rck_offload_inflate(&o, &f, 1 << 24, &bytes, NULL)) {
		if (!rck_offload_open_inflated(&whole, rck_bytes_slice(bytes), NULL))
			entries(&whole);
		rck_bytes_unref(bytes);
	}
	rck_inflater_release(&f);
	return 0;
}
