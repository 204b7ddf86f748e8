#include "launch/number.h"
#include "launch/problem.h"

const double rck_ulp_edges[RCK_ULP_BUCKETS - 1] = {0.5, 1, 2, 4, 8, 16};

static void note_bad(
	struct rck_check *check, const struct rck_array *a, size_t i, double got)
{
	if (!check->bad++) {
		check->first_array = a->name;
		check->first_index = i;
		check->first_got = got;
		check->first_expected = a->expected[i];
		check->first_bound = a->bound[i];
	}
}

static void count_ulps(struct rck_check *check, double ulps)
{
	int bucket = 0;

	while (bucket < RCK_ULP_BUCKETS - 1 && ulps > rck_ulp_edges[bucket])
		bucket++;
	check->ulp[bucket]++;
}

/* True when both are the same infinity, or both NaN. */
static bool same_class(double got, double expected)
{
	return isnan(expected) ? isnan(got) : got == expected;
}

static void add_relative(
	const struct rck_array *a, size_t i, double error, struct rck_check *check)
{
	const double relative = error / a->scale[i];
	double bound = a->bound[i];

	if (a->elem == RCK_ELEM_BF16)
		bound += rck_elem_roundoff(a->elem) * (fabs(a->expected[i]) + bound);
	check->max_rel = fmax(check->max_rel, relative);
	check->sum_sq_rel += relative * relative;
	check->n_rel++;
	/* the smallest number in a bound says nothing beside tiny results */
	if (a->scale[i] > 0x1p-100)
		check->bound_rel = fmax(check->bound_rel, bound / a->scale[i]);
}

static void check_element(
	const struct rck_array *a, size_t i, double got, struct rck_check *check)
{
	const double expected = a->expected[i];
	const double error = fabs(got - expected);
	double before;

	check->checked++;
	if (!isfinite(expected) || !isfinite(got)) {
		if (!same_class(got, expected))
			note_bad(check, a, i, got);
		return;
	}
	if (a->expect[i] == RCK_EXPECT_BITS) {
		if (got != expected)
			note_bad(check, a, i, got);
		return;
	}
	/* what of the error the arithmetic before the last rounding has to answer for */
	before = a->elem == RCK_ELEM_F32
			 ? error
			 : rck_bf16_distance(rck_bf16_round((float)got), expected);
	if (!(before <= a->bound[i]))
		note_bad(check, a, i, got);
	count_ulps(check, rck_elem_ulps(a->elem, got, expected));
	check->max_ratio = fmax(check->max_ratio, before / a->bound[i]);
	if (a->scale[i] > 0.0)
		add_relative(a, i, error, check);
}

void rck_problem_check(
	const struct rck_array *a, const uint8_t *got, struct rck_check *check)
{
	const size_t size = rck_elem_size(a->elem);

	for (size_t i = 0; i < a->n; i++) {
		if (a->expect && a->expect[i] != RCK_EXPECT_UNTOUCHED)
			check_element(a, i, rck_elem_load(a->elem, got, i), check);
		else if (memcmp(got + i * size, a->initial + i * size, size))
			check->touched++;
	}
}
