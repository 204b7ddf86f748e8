/*
 * The CPU reference against results worked out by hand, and against a second formulation
 * in long double that shares no code with it; the check against results that are wrong.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "launch/number.h"
#include "launch/problem.h"

#include <stdlib.h>

static const struct rck_bundled *kernel(const char *name)
{
	for (size_t i = 0; i < rck_bundled_count; i++)
		if (!strcmp(rck_bundled_kernels[i].name, name))
			return &rck_bundled_kernels[i];
	fail_msg("no kernel %s", name);
	return NULL;
}

static void test_bf16_rounding(void **state)
{
	assert_int_equal(rck_bf16_round(1.0f), 0x3f80);
	assert_int_equal(rck_bf16_round(-2.5f), 0xc020);
	/* halfway between 0x3f80 and 0x3f81: to the even one; the next: up */
	assert_int_equal(rck_bf16_round(rck_f32_from_bits(0x3f808000)), 0x3f80);
	assert_int_equal(rck_bf16_round(rck_f32_from_bits(0x3f808001)), 0x3f81);
	assert_int_equal(rck_bf16_round(rck_f32_from_bits(0x3f818000)), 0x3f82);
	/* over the largest: infinity; a NaN whose upper half is an infinity's stays a NaN
	 */
	assert_int_equal(rck_bf16_round(3.4e38f), 0x7f80);
	assert_true(isnan(rck_bf16_value(rck_bf16_round(rck_f32_from_bits(0x7f800001)))));
	assert_int_equal(rck_bf16_round(-0.0f), 0x8000);
}

/* 0x3f80 is 1.0; its neighbours are 1 - 2^-8 and 1 + 2^-7. */
static void test_bf16_distance(void **state)
{
	assert_true(rck_bf16_distance(0x3f80, 1.0) == 0.0);
	assert_true(rck_bf16_distance(0x3f80, 1.0 + 0x1p-8) == 0.0);
	assert_true(rck_bf16_distance(0x3f80, 1.0 - 0x1p-9) == 0.0);
	assert_true(rck_bf16_distance(0x3f80, 1.0 + 0x1p-7) == 0x1p-8);
	assert_true(rck_bf16_distance(0x3f80, 1.0 - 0x1p-8) == 0x1p-9);
	assert_true(rck_bf16_distance(0xbf80, -1.0 - 0x1p-7) == 0x1p-8);
	assert_true(rck_bf16_distance(0x0000, 0x1p-133) == 0x1p-134);
	assert_true(rck_bf16_distance(0x7f7f, 0x1.fep127) == 0.0);
	assert_true(rck_bf16_distance(0x7f7f, 0x1p128) > 0.0);
}

static void test_ulps(void **state)
{
	assert_true(rck_elem_ulps(RCK_ELEM_F32, 1.0 + 0x1p-23, 1.0) == 1.0);
	assert_true(rck_elem_ulps(RCK_ELEM_BF16, 1.0 + 0x1p-7, 1.0) == 1.0);
	assert_true(rck_elem_ulps(RCK_ELEM_F32, 2.0, 2.0) == 0.0);
	assert_true(rck_elem_ulps(RCK_ELEM_F32, 0x1p-149, 0.0) == 1.0);
	assert_true(rck_elem_ulps(RCK_ELEM_F32, 3.0, 3.0 + 0x1p-23) == 0.5);
}

/* Puts numbers into an array, so that the results can be worked out by hand. */
static void set(struct rck_array *a, const float *v, size_t n)
{
	assert_int_equal(a->n, n);
	for (size_t i = 0; i < n; i++)
		rck_elem_store(a->elem, a->initial, i, v[i]);
}

static void assert_near(double got, double expected)
{
	if (!(fabs(got - expected) < 1e-6))
		fail_msg("%.9g, not %.9g", got, expected);
}

/*
 * x = 2 3, residual = 1 1: 3 and 4 are stored back; their mean square is 12.5, its root
 * 3.53553391, so 3 and 4 become 0.848528137 and 1.13137085; the weights are 2 and -1.
 */
static void test_rms_by_hand(void **state)
{
	const struct rck_case c = {
		.name = "hand", .shape = {.rows = 1, .hidden = 2}, .residual = true};
	struct rck_case gemma = c;
	struct rck_problem p;

	rck_problem_make(&p, kernel("rms_norm<f32,f32,f32>"), &c, 1);
	assert_int_equal(p.n_arrays, 4);
	set(&p.arrays[1], (float[]){2, 3}, 2);
	set(&p.arrays[2], (float[]){2, -1}, 2);
	set(&p.arrays[3], (float[]){1, 1}, 2);
	rck_problem_solve(&p, &c);
	assert_true(p.arrays[3].expected[0] == 3 && p.arrays[3].expected[1] == 4);
	assert_near(p.arrays[0].expected[0], 2 * 0.848528137);
	assert_near(p.arrays[0].expected[1], -1.13137085);

	/* gemma: the weights are 3 and 0 */
	gemma.gemma = true;
	rck_problem_solve(&p, &gemma);
	assert_near(p.arrays[0].expected[0], 3 * 0.848528137);
	assert_true(p.arrays[0].expected[1] == 0);
	rck_problem_release(&p);
}

/* A bf16 residual is rounded before it is used: 1 + 2^-9 is a tie, and goes to 1. */
static void test_rms_residual_is_rounded(void **state)
{
	const struct rck_case c = {
		.name = "hand", .shape = {.rows = 1, .hidden = 1}, .residual = true};
	struct rck_problem p;

	rck_problem_make(&p, kernel("rms_norm<f32,f32,bf16>"), &c, 1);
	set(&p.arrays[1], (float[]){0x1p-8f}, 1);
	set(&p.arrays[2], (float[]){1}, 1);
	set(&p.arrays[3], (float[]){1}, 1);
	rck_problem_solve(&p, &c);
	assert_true(p.arrays[3].expected[0] == 1.0);
	assert_int_equal(p.arrays[3].expect[0], RCK_EXPECT_BITS);
	rck_problem_release(&p);
}

/* 2 [1 2; 3 4] [5 6; 7 8] - [1 1; 1 1] = [37 43; 85 99], and by the transposed A
 * 2 [1 3; 2 4] [5 6; 7 8] - 1 = [51 59; 75 87]. */
static void test_gemm_by_hand(void **state)
{
	struct rck_case c = {.name = "hand",
		.shape = {.m = 2, .n = 2, .k = 2, .batches = 1},
		.alpha = 2,
		.beta = -1};
	const double plain[] = {37, 43, 85, 99}, transposed[] = {51, 59, 75, 87};
	struct rck_problem p;

	rck_problem_make(&p, kernel("gemm<bf16>"), &c, 1);
	set(&p.arrays[0], (float[]){1, 1, 1, 1}, 4);
	set(&p.arrays[1], (float[]){1, 2, 3, 4}, 4);
	set(&p.arrays[2], (float[]){5, 6, 7, 8}, 4);
	rck_problem_solve(&p, &c);
	for (int i = 0; i < 4; i++)
		assert_true(p.arrays[0].expected[i] == plain[i]);
	/* |alpha| (1*5 + 2*7) + |beta| = 39 is what the error is relative to */
	assert_true(p.arrays[0].scale[0] == 39);
	c.trans_a = true;
	rck_problem_solve(&p, &c);
	for (int i = 0; i < 4; i++)
		assert_true(p.arrays[0].expected[i] == transposed[i]);
	rck_problem_release(&p);
}

/* Row sums of squares scaled by the largest element, in long double. */
static long double rms_again(const float *v, size_t n, size_t i, long double w)
{
	long double largest = 0, sum = 0;

	for (size_t k = 0; k < n; k++)
		largest = fmaxl(largest, fabsl((long double)v[k]));
	if (largest == 0)
		return v[i] * w / sqrtl((long double)1e-6f);
	for (size_t k = n; k-- > 0;) {
		long double q = v[k] / largest;

		sum += q * q / (long double)n;
	}
	return v[i] / largest * w / sqrtl(sum + (long double)1e-6f / (largest * largest));
}

static void rms_second_formulation(const struct rck_bundled *k, const struct rck_case *c)
{
	const size_t hidden = c->shape.hidden;
	float *v = calloc(hidden, sizeof(*v));
	const struct rck_array *out, *x, *weight, *residual;
	struct rck_problem p;

	rck_problem_make(&p, k, c, 77);
	out = &p.arrays[p.args[0].array];
	x = &p.arrays[p.args[1].array];
	weight = &p.arrays[p.args[2].array];
	residual = c->residual ? &p.arrays[p.args[3].array] : NULL;
	for (size_t row = 0; row < c->shape.rows; row++) {
		for (size_t i = 0; i < hidden; i++) {
			v[i] = rck_elem_load(x->elem, x->initial, row * hidden + i);
			if (residual)
				v[i] = (float)residual->expected[row * hidden + i];
		}
		for (size_t i = 0; i < hidden; i++) {
			long double w = rck_elem_load(weight->elem, weight->initial, i);
			long double again = rms_again(v, hidden, i, c->gemma ? 1 + w : w);
			double got = out->expected[row * hidden + i];

			if (c->input == RCK_INPUT_NAN_AND_INF && (row == 1 || row == 3)) {
				/* infinity times 1/infinity, NaN times anything; a finite
				   element of an infinite row is 0 */
				assert_true(row == 3 && isfinite(v[i]) ? got == 0.0
								       : isnan(got));
				continue;
			}
			assert_true(fabsl(got - again) <= 1e-13L * fabsl(again));
		}
	}
	rck_problem_release(&p);
	free(v);
}

/* Transposed copies first, then outer products in long double. */
static void gemm_second_formulation(const struct rck_bundled *k, const struct rck_case *c)
{
	const size_t m = c->shape.m, n = c->shape.n, kk = c->shape.k;
	long double *sums = calloc(m * n, sizeof(*sums));
	struct rck_problem p;
	size_t checked = 0;

	rck_problem_make(&p, k, c, 78);
	for (size_t z = 0; z < c->shape.batches; z++) {
		const size_t lda = (c->trans_a ? m : kk) + c->padding;
		const size_t ldb = (c->trans_b ? kk : n) + c->padding;
		const size_t ldc = n + c->padding;
		const size_t a0 = z * (lda * (c->trans_a ? kk : m) + c->stride_padding);
		const size_t b0 = z * (ldb * (c->trans_b ? n : kk) + c->stride_padding);
		const size_t c0 = z * (ldc * m + c->stride_padding);

		memset(sums, 0, m * n * sizeof(*sums));
		for (size_t i = kk; i-- > 0;)
			for (size_t at = 0; at < m * n; at++) {
				size_t r = at / n, q = at % n;
				size_t ia = c->trans_a ? i * lda + r : r * lda + i;
				size_t ib = c->trans_b ? q * ldb + i : i * ldb + q;

				sums[at] += (long double)rck_elem_load(
						    k->in, p.arrays[1].initial, a0 + ia) *
					    rck_elem_load(
						    k->in, p.arrays[2].initial, b0 + ib);
			}
		for (size_t at = 0; at < m * n; at++) {
			size_t i = c0 + at / n * ldc + at % n;
			long double again = c->alpha * sums[at];
			double got = p.arrays[0].expected[i];

			if (c->beta != 0)
				again += (long double)c->beta *
					 rck_elem_load(k->out, p.arrays[0].initial, i);
			assert_int_equal(p.arrays[0].expect[i], RCK_EXPECT_WITHIN);
			if (isfinite(got))
				assert_true(fabsl(got - again) <=
					    1e-13L * p.arrays[0].scale[i] + 1e-300L);
			else
				assert_true(isnan(got) ? isnanl(again)
						       : (double)again == got);
			checked++;
		}
	}
	/* what is not an element of C has to stay */
	for (size_t i = 0; i < p.arrays[0].n; i++)
		checked += p.arrays[0].expect[i] == RCK_EXPECT_UNTOUCHED;
	assert_int_equal(checked, p.arrays[0].n);
	rck_problem_release(&p);
	free(sums);
}

static void test_second_formulation(void **state)
{
	const struct rck_sizes sizes = {
		.rows = 5, .hidden = 700, .m = 40, .n = 23, .k = 70};
	struct rck_case cases[RCK_CASES_MAX];

	for (size_t i = 0; i < rck_bundled_count; i++) {
		const struct rck_bundled *k = &rck_bundled_kernels[i];
		size_t n = rck_cases(k, &sizes, cases);

		assert_in_range(n, 7, RCK_CASES_MAX);
		for (size_t c = 0; c < n; c++) {
			if (k->family == RCK_BUNDLED_RMSNORM)
				rms_second_formulation(k, &cases[c]);
			else
				gemm_second_formulation(k, &cases[c]);
		}
	}
}

/* 2 x 2: alpha = 1 on [1 2; 3 4] [5 6; 7 8] = [19 22; 43 50], found through the check. */
static void test_check_takes_right_and_refuses_wrong(void **state)
{
	double expected[] = {19, 22, 43, 50, 0};
	double bound[] = {1e-5, 1e-5, 1e-5, 1e-5, 0};
	double scale[] = {19, 22, 43, 50, 0};
	uint8_t expect[] = {RCK_EXPECT_WITHIN, RCK_EXPECT_WITHIN, RCK_EXPECT_WITHIN,
		RCK_EXPECT_BITS, RCK_EXPECT_UNTOUCHED};
	float initial[] = {NAN, NAN, NAN, NAN, -1};
	float right[] = {19, 22.000002f, 43, 50, -1};
	float wrong[] = {19, NAN, 43.1f, 50.000004f, 1};
	const struct rck_array a = {.name = "c",
		.elem = RCK_ELEM_F32,
		.n = 5,
		.initial = (uint8_t *)initial,
		.expect = expect,
		.expected = expected,
		.bound = bound,
		.scale = scale};
	struct rck_check check = {0};

	rck_problem_check(&a, (uint8_t *)right, &check);
	assert_int_equal(check.checked, 4);
	assert_int_equal(check.bad, 0);
	assert_int_equal(check.touched, 0);
	assert_int_equal(check.ulp[0], 2);
	assert_int_equal(check.ulp[1], 1);
	assert_true(check.max_rel > 8e-8 && check.max_rel < 9e-8);

	check = (struct rck_check){0};
	rck_problem_check(&a, (uint8_t *)wrong, &check);
	assert_int_equal(check.bad, 3);
	assert_int_equal(check.touched, 1);
	assert_string_equal(check.first_array, "c");
	assert_int_equal(check.first_index, 1);
	assert_true(isnan(check.first_got));
	assert_true(check.first_expected == 22);

	/* what no kernel wrote is wrong, too */
	check = (struct rck_check){0};
	rck_problem_check(&a, (uint8_t *)initial, &check);
	assert_int_equal(check.bad, 4);
}

/* A wrong NaN: expected and not there, there and not expected; infinities with a sign. */
static void test_check_of_special_values(void **state)
{
	double expected[] = {NAN, INFINITY, -INFINITY, 0};
	double zero[4] = {0};
	uint8_t expect[] = {RCK_EXPECT_WITHIN, RCK_EXPECT_WITHIN, RCK_EXPECT_WITHIN,
		RCK_EXPECT_WITHIN};
	float right[] = {NAN, INFINITY, -INFINITY, -0.0f};
	float wrong[] = {0, -INFINITY, NAN, 0x1p-149f};
	const struct rck_array a = {.name = "out",
		.elem = RCK_ELEM_F32,
		.n = 4,
		.initial = (uint8_t *)wrong,
		.expect = expect,
		.expected = expected,
		.bound = zero,
		.scale = zero};
	struct rck_check check = {0};

	rck_problem_check(&a, (uint8_t *)right, &check);
	assert_int_equal(check.bad, 0);
	check = (struct rck_check){0};
	rck_problem_check(&a, (uint8_t *)wrong, &check);
	assert_int_equal(check.bad, 4);
}

static void test_draw_is_the_same_everywhere(void **state)
{
	struct rck_draw d = {1234567};

	/* splitmix64's published first values for this seed */
	assert_true(rck_draw_u64(&d) == 6457827717110365317u);
	assert_true(rck_draw_u64(&d) == 3203168211198807973u);
	for (int i = 0; i < 1000; i++) {
		float v = rck_draw_f32(&d, -2.0f, 2.0f);

		assert_true(v >= -32.0f && v < 32.0f);
	}
}

static void test_grid(void **state)
{
	const struct rck_bundled_shape s = {
		.rows = 7, .hidden = 99, .m = 17, .n = 16, .k = 5, .batches = 3};
	uint32_t grid[3];

	rck_bundled_grid(kernel("rms_norm<f32,f32,f32>"), &s, grid);
	assert_int_equal(grid[0], 7);
	assert_int_equal(grid[1] * grid[2], 1);
	rck_bundled_grid(kernel("gemm_strided_batched<bf16>"), &s, grid);
	assert_int_equal(grid[0], 1);
	assert_int_equal(grid[1], 2);
	assert_int_equal(grid[2], 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bf16_rounding),
		cmocka_unit_test(test_bf16_distance),
		cmocka_unit_test(test_ulps),
		cmocka_unit_test(test_rms_by_hand),
		cmocka_unit_test(test_rms_residual_is_rounded),
		cmocka_unit_test(test_gemm_by_hand),
		cmocka_unit_test(test_second_formulation),
		cmocka_unit_test(test_check_takes_right_and_refuses_wrong),
		cmocka_unit_test(test_check_of_special_values),
		cmocka_unit_test(test_draw_is_the_same_everywhere),
		cmocka_unit_test(test_grid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
