/*
 * One look at what the HIP runtime does for a program, in its own words (AMD_LOG_LEVEL=4)
 * and by the preloaded libraries: a run of its own, because logging changes the timing.
 */
#pragma once

#include "rocmcheck.h"

#include <stdint.h>

struct rck_observation {
	bool listener;   /* "Launched hostcall listener" */
	bool terminated; /* "Terminated hostcall listener" */
	uint64_t buffer; /* bytes of host memory taken for the hostcall buffer; 0: none */
	/* static destructors of libamdhip64, and the place among them at which the
	 * listener's is registered, from 0 (registered last is run first); -1: none that
	 * can be told. Known only for a runtime that is linked, as the probe's is. */
	long destructors, listener_destructor;
	char *hip, *hsa; /* paths of the runtimes that were loaded, or NULL */
	bool ended;      /* by itself, within the time */
	int status;      /* its exit status, or -1 */
	char *output;    /* the end of what it wrote */
};

/*
 * Runs a program once. env: "NAME=value" on top of ours. Returns 0, or -errno with diag
 * filled when it could not be started. Release *out in any case.
 */
int rck_observe(const char *const *argv, const char *const *env,
	struct rck_observation *out, struct rck_diag *diag);
void rck_observation_release(struct rck_observation *o);
