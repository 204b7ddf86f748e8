/* What the launcher runs: for each kernel a list of cases, each with its shape, and the
 * inputs drawn for it. */
#pragma once

#include "kernels/table.h"

/* A 64-bit generator (splitmix64): the same seed draws the same inputs everywhere. */
struct rck_draw {
	uint64_t state;
};
uint64_t rck_draw_u64(struct rck_draw *d);
/* Uniform in [low, high), then one in eight scaled by a power of two from 2^-4 to 2^4. */
float rck_draw_f32(struct rck_draw *d, float low, float high);

enum rck_case_input {
	RCK_INPUT_DRAWN,
	RCK_INPUT_ZERO_ROWS,  /* every other row (of x, of A) is zero */
	RCK_INPUT_NAN_AND_INF /* row 1 has a NaN, row 3 an infinity */
};

struct rck_case {
	const char *name;
	struct rck_bundled_shape shape;
	enum rck_case_input input;
	/* RMS norm */
	bool residual, gemma, in_place;
	/* GEMM; padding is added to each row length, stride_padding to each stride */
	float alpha, beta;
	bool trans_a, trans_b;
	uint32_t padding, stride_padding;
};

/* Sizes of the big cases, from the command line. */
struct rck_sizes {
	uint32_t rows, hidden, m, n, k;
};
extern const struct rck_sizes rck_sizes_default;

/* The largest number of cases that a kernel has. */
#define RCK_CASES_MAX 16
/* Fills cases for one kernel; returns their number. Names are static. */
size_t rck_cases(const struct rck_bundled *k, const struct rck_sizes *sizes,
	struct rck_case *cases);
