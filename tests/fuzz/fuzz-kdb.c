#include "container.h"

#include "container/kdb.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rck_entry e;
	struct rck_kdb k;
	int err = rck_kdb_open(&k, slice_of(data, size), NULL);

	for (int i = 0;
		!err && i < 1000 && (err = rck_kdb_next(&k, 1 << 24, true, &e, NULL));
		i++) {
		if (err > 0)
			touch_entry(&e);
		err = 0;
	}
	rck_kdb_close(&k);
	return 0;
}
