/* A baseline. */
#include "fuzz.h"
#include "lint/baseline.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct rck_baseline_key key = {"heap-declared", "a.so", "gfx90a", "_Z1kv"};
	struct rck_baseline b;
	struct rck_diag diag;

	if (!rck_baseline_load_mem((const char *)data, size, &b, &diag)) {
		rck_baseline_accepts(&b, &key);
		rck_baseline_release(&b);
	}
	return 0;
}
