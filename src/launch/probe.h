/*
 * The probe: the child program whose exit is the experiment. It is the reproducer that
 * `build --emit-reproducer` writes, built once for each SONAME of the HIP runtime, since
 * it links the runtime directly: a dlopened one's destructors run elsewhere in exit.
 */
#pragma once

#include "util/rocm.h"

/*
 * Begins the command line of one probe under this ROCm, with the folder front (the
 * software device; may be NULL) before its libraries; the caller appends the probe's own
 * options (--code-object FILE, --route, --kernel, --repeat). Returns 0, or -ENOENT with
 * diag filled when r has no HIP runtime, or when this build has no probe for its SONAME.
 */
int rck_probe_command(const struct rck_rocm *r, const char *front, struct rck_strv *argv,
	struct rck_strv *env, struct rck_diag *diag);
