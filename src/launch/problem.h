/*
 * One kernel launch as data: arrays with what is in them before, what has to be in them
 * after, and how far off a result may be. The reference is computed in double precision;
 * the bound comes from the arithmetic (the number of roundings on the longest path, the
 * types), not from experience. See reference.c.
 */
#pragma once

#include "launch/cases.h"

/* What has to be in an element after the launch. */
enum rck_expect {
	RCK_EXPECT_UNTOUCHED, /* the bytes from before: inputs, gaps between rows */
	RCK_EXPECT_BITS,      /* exactly expected, whatever the arithmetic before it */
	/* f32: |got - expected| <= bound. bf16: got is what a number that is so close
	   rounds to. A NaN for a NaN, an infinity for the same one. */
	RCK_EXPECT_WITHIN,
};

struct rck_array {
	const char *name;
	enum rck_elem elem;
	size_t n;         /* elements */
	uint8_t *initial; /* n elements */
	uint8_t *expect;  /* enum rck_expect an element; NULL: all untouched */
	double *expected; /* where expect is not untouched */
	double *bound; /* absolute, before a rounding to bf16; where expect is within */
	double *scale; /* what an error is relative to; 0: nothing, the error must be 0 */
};

#define RCK_ARRAYS_MAX 4
#define RCK_ARGS_MAX   16

struct rck_problem_arg {
	int array;     /* index of an array: pass its address; -1: value */
	uint64_t bits; /* the value, in the lowest bytes */
};

struct rck_problem {
	const struct rck_bundled *kernel;
	struct rck_array arrays[RCK_ARRAYS_MAX];
	size_t n_arrays;
	struct rck_problem_arg args[RCK_ARGS_MAX]; /* kernel->n_args */
	uint32_t grid[3];
};

/* Draws the inputs of a case from seed and solves it. Never fails; release it. */
void rck_problem_make(struct rck_problem *p, const struct rck_bundled *k,
	const struct rck_case *c, uint64_t seed);
/* Computes what has to come out from what the arrays hold: again, after a change. */
void rck_problem_solve(struct rck_problem *p, const struct rck_case *c);
void rck_problem_release(struct rck_problem *p);

/* The error bound in words, for people: the formula, with the case's numbers in it. */
void rck_problem_explain(
	const struct rck_bundled *k, const struct rck_case *c, char *text, size_t size);

/* Upper edges of the histogram in units in the last place; the last bucket is open. */
#define RCK_ULP_BUCKETS 7
extern const double rck_ulp_edges[RCK_ULP_BUCKETS - 1];

struct rck_check {
	uint64_t checked;  /* elements with an expected value */
	uint64_t bad;      /* of them, over their bound */
	uint64_t touched;  /* elements that had to stay as they were, and did not */
	double max_rel;    /* largest error relative to scale */
	double sum_sq_rel; /* of the squares, over n_rel elements */
	uint64_t n_rel;
	double max_ratio; /* largest error, before a rounding to bf16, in its bound */
	double bound_rel; /* largest bound relative to scale, with that rounding */
	uint64_t ulp[RCK_ULP_BUCKETS];
	/* the first bad element */
	const char *first_array;
	uint64_t first_index;
	double first_got, first_expected, first_bound;
};

/* Compares what came back (n elements) and adds to the sums in check. */
void rck_problem_check(
	const struct rck_array *a, const uint8_t *got, struct rck_check *check);
