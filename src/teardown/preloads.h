/* The libraries that are preloaded into the programs under test, and what is known of the
 * HIP runtime that was found in them. */
#pragma once

#include "teardown/experiment.h"

/*
 * The value for struct rck_trial's preload: the library that watches, and with reorder
 * the one that imitates AMD's order of destructors. free(). -ENOENT with diag when they
 * are not installed.
 */
int rck_preloads_find(bool reorder, char **out, struct rck_diag *diag);

/* Adds path, version and hash of the HIP runtime, the HSA runtime's path and the device
 * to the environment; NULL where none was loaded. */
void rck_preloads_describe_runtime(
	struct rck_experiment *x, const char *hip, const char *hsa);
