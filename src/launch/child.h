/* One run of rocmcheck-launch: started under the right ROCm, its lines of JSON taken. */
#pragma once

#include "util/rocm.h"
#include "util/strbuf.h"

#include <jansson.h>

struct rck_child {
	/* in, borrowed */
	const struct rck_rocm *rocm;
	const char *front;       /* the software device's folder, or NULL */
	const char *soft_target; /* with front; or NULL */
	double timeout;          /* seconds; 0: 600 */
	struct rck_strv options; /* after --hip and --hsa-below; owned */
	/* out */
	json_t *lines;          /* array of objects */
	struct rck_strbuf text; /* its stderr */
};

/*
 * 0 when it ended well. -EIO with diag: it told of an error (a HIP call by name), died or
 * did not end; -ENOENT: it is not installed, or there is no HIP runtime. Lines before the
 * error are there.
 */
int rck_child_run(struct rck_child *c, struct rck_diag *diag);
void rck_child_release(struct rck_child *c);
