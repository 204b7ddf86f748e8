/* The three questions of `rocmcheck flags`, a file each. */
#pragma once

#include "cmd/gate.h"
#include "util/opt.h"

#include <stdbool.h>

struct rck_flags_floor {
	const char *build_type, *hip_flags, *generator, *cmake_version;
	struct rck_opt_list config_flags; /* CONFIG=FLAGS */
};

/* What share/cmake/RocmcheckFloor.cmake would decide; an enum rck_exit. */
int rck_flags_floor(
	const struct rck_gate *gate, const struct rck_flags_floor *f, bool json);

struct rck_flags_hipblas {
	const char *rocm_dir, *library, *libclang;
	struct rck_opt_list compiler_flags; /* --cflag */
};

/* Which hipBLAS generation each source or object is written or built for; an enum
 * rck_exit. */
int rck_flags_hipblas(const struct rck_gate *gate, const struct rck_flags_hipblas *h,
	int n, char **files, bool json);
