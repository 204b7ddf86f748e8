#include "container.h"

#include "container/kpack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rck_kpack_ref ref;
	struct rck_kpack k;
	struct rck_entry e;
	const char *path;
	size_t len;
	int err = rck_kpack_open(&k, slice_of(data, size), NULL);

	while (!err && (err = rck_kpack_next(&k, &e, NULL))) {
		if (err > 0)
			touch_entry(&e);
		err = 0;
	}
	rck_kpack_close(&k);

	if (!rck_kpack_ref_open(&ref, slice_of(data, size), NULL))
		for (uint32_t i = 0; rck_kpack_ref_path(&ref, i, &path, &len); i++)
			touch((struct rck_slice){
				(const uint8_t *)path, path ? len : 0, 0});
	rck_kpack_ref_close(&ref);
	return 0;
}
