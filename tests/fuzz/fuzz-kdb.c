#include "container.h"

#include <string.h>

#include "container/kdb.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rck_entry e;
	struct rck_kdb k;
	int err;

	if (size < 100 ||
		memcmp(data, "SQLite format 3", 16)) /* else SQLite says so, slowly */
		return 0;
	err = rck_kdb_open(&k, slice_of(data, size), NULL);

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
