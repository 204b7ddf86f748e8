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

/* A line of teardown/preload.h. */
struct rck_said {
	int pid;
	char event[32];
	const char *path; /* what stands behind the event; in the line */
	long a, b;        /* the numbers there, or 0 */
	int numbers;      /* how many there are: 0 to 2 */
};

/* false: it is none. */
bool rck_preloads_parse(const char *line, struct rck_said *said);
/* Keeps the path of RCK_SAYS_LIBRARY in the one of the two that it is of; free(). */
void rck_preloads_keep_library(const char *path, char **hip, char **hsa);

/* Adds path, version and hash of the HIP runtime, the HSA runtime's path and the device
 * to the environment; NULL where none was loaded. */
void rck_preloads_describe_runtime(
	struct rck_experiment *x, const char *hip, const char *hsa);
