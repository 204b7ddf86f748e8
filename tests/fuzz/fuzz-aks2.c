/* A pack as it is; and one whose content is the input itself, inflated already. */
#include "container.h"

#include "container/aks2.h"

static void walk(struct rck_aks2 *a)
{
	struct rck_entry e;

	for (int err; (err = rck_aks2_next(a, &e, NULL));)
		if (err > 0)
			touch_entry(&e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rck_bytes *bytes;
	struct rck_aks2 a;

	if (!rck_aks2_open(&a, slice_of(data, size), NULL)) {
		if (!rck_aks2_inflate(&a, 1 << 24, &bytes, NULL))
			walk(&a);
		rck_bytes_unref(bytes);
	}
	if (size < 8)
		return 0;
	a = (struct rck_aks2){
		.content = slice_of(data, size),
		.inflated = size,
		.directory = data[0] % size,
		.kernels = data[1],
	};
	walk(&a);
	return 0;
}
