/*
 * Two releases of device code, kernel by kernel. A kernel is its mangled name and its
 * target; where a release holds it more than once, flags are joined and numbers are the
 * largest.
 */
#pragma once

#include "lint/finding.h"

enum rck_diff_fact {
	RCK_DIFF_VGPRS,
	RCK_DIFF_AGPRS,
	RCK_DIFF_SGPRS,
	RCK_DIFF_SPILLS,
	RCK_DIFF_SCRATCH,
	RCK_DIFF_LDS,
	RCK_DIFF_FACTS,
};
const char *rck_diff_fact_name(enum rck_diff_fact f); /* "vgprs", for JSON */

/* What makes a regression by growing: registers that are free cost nothing. */
#define RCK_DIFF_COSTS                                                                   \
	(1u << RCK_DIFF_SPILLS | 1u << RCK_DIFF_SCRATCH | 1u << RCK_DIFF_LDS |           \
		1u << RCK_DIFF_VGPRS)

enum rck_diff_kind {
	RCK_DIFF_CHANGED,
	RCK_DIFF_ADDED,
	RCK_DIFF_REMOVED, /* of a target that is still there */
};

struct rck_diff_side {
	unsigned flags; /* enum rck_kernel_flag */
	uint64_t facts[RCK_DIFF_FACTS];
};

struct rck_diff_kernel {
	const char *name, *demangled, *target;
	enum rck_diff_kind kind;
	struct rck_diff_side old, new;
	unsigned gained, lost;  /* flags */
	unsigned worse, better; /* bit a fact that grew or shrank by more than the
				   tolerance */
	bool regression;
};

struct rck_diff {
	struct rck_diff_kernel *kernels; /* that differ: by name, then target */
	size_t n_kernels, n_regressions, n_same;
	const char **removed, **added; /* targets */
	size_t n_removed, n_added;
};

/* tolerance: percent by which a number may grow. Strings belong to the two runs. */
void rck_diff_make(struct rck_diff *d, const struct rck_lint *old,
	const struct rck_lint *new, unsigned tolerance);
void rck_diff_release(struct rck_diff *d);
/* 1 when there is a regression: a flag gained, a target lost, or a number that grew. */
int rck_diff_verdict(const struct rck_diff *d);
