/* A policy file. */
#include "fuzz.h"
#include "lint/policy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rck_policy p;
	struct rck_diag diag;

	rck_policy_init(&p, "2026-11-30");
	if (!rck_policy_load_mem(&p, (const char *)data, size, "/a/p.ini", &diag))
		rck_policy_limit(&p, RCK_LIMIT_SCRATCH, "gfx90a:xnack-");
	rck_policy_release(&p);
	return 0;
}
