/* A code object whose kernels' code is followed: names, relocations and machine code are
 * its own. */
#include "codeobj/callgraph.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rck_code_object *co;
	struct rck_callgraph *g;
	struct rck_diag diag;

	if (rck_code_object_open_mem(data, size, &co, &diag))
		return 0;
	if (!rck_callgraph_new(co, NULL, &g)) {
		for (size_t i = 0; i < co->n_kernels && i < 4; i++) {
			struct rck_reach reach;

			if (!rck_callgraph_reach(g, &co->kernels[i], &reach))
				rck_reach_release(&reach);
		}
		rck_callgraph_free(g);
	}
	rck_code_object_close(co);
	return 0;
}
