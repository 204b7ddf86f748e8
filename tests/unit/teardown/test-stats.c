/* The formulas against published values. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "teardown/stats.h"

#include <math.h>

static void near(double a, double b, double tolerance)
{
	if (fabs(a - b) > tolerance)
		fail_msg("%.9g is not %.9g", a, b);
}

/* R. G. Newcombe, Statistics in Medicine 17 (1998) 857-872, table I, method 3. */
static void wilson(void **state)
{
	static const struct {
		unsigned k, n;
		double low, high;
	} rows[] = {
		{81, 263, .2553, .3662},
		{15, 148, .0624, .1605},
		{0, 20, 0, .1611},
		{1, 29, .0061, .1718},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct rck_interval w = rck_stats_wilson(rows[i].k, rows[i].n);

		near(w.low, rows[i].low, 5e-5);
		near(w.high, rows[i].high, 5e-5);
	}
	near(rck_stats_wilson(20, 20).high, 1, 0);
	near(rck_stats_wilson(20, 20).low, 1 - .1611, 5e-5);
	near(rck_stats_wilson(0, 0).low, 0, 0);
	near(rck_stats_wilson(0, 0).high, 1, 0);
}

/* Fisher's own two examples: the lady tasting tea, and the criminals' twins (2 of 17 and
 * 10 of 13 convicted; R's fisher.test gives 0.0005367). */
static void fisher(void **state)
{
	near(rck_stats_fisher(3, 4, 1, 4), .485714, 1e-6);
	near(rck_stats_fisher(2, 17, 10, 13), .0005367, 5e-8);
	near(rck_stats_fisher(10, 13, 2, 17), .0005367, 5e-8);
	near(rck_stats_fisher(0, 20, 0, 20), 1, 1e-9);
	near(rck_stats_fisher(5, 10, 5, 10), 1, 1e-9);
	/* all of 4 against none of 4: 2 of the 70 tables */
	near(rck_stats_fisher(4, 4, 0, 4), 2.0 / 70, 1e-12);
	assert_true(rck_stats_fisher(33, 40, 0, 40) < 1e-14);
	assert_true(rck_stats_fisher(400, 1000, 0, 1000) > 0);
}

/* Penicillin in rabbits (A. Agresti, Categorical Data Analysis; R's data for
 * mantelhaen.test, whose exact = TRUE gives S = 16, p = 0.03994). */
static void stratified(void **state)
{
	static const struct rck_stratum rabbits[] = {
		{0, 6, 0, 5}, {3, 6, 0, 6}, {6, 6, 2, 6}, {5, 6, 6, 6}, {2, 2, 5, 5}};
	static const struct rck_stratum one[] = {{3, 4, 1, 4}};
	static const struct rck_stratum split[] = {{2, 2, 0, 2}, {2, 2, 0, 2}};

	near(rck_stats_stratified(rabbits, 5), .03994, 5e-6);
	near(rck_stats_stratified(one, 1), rck_stats_fisher(3, 4, 1, 4), 1e-12);
	/* each round has 6 labellings, and 4 is the extreme at either end */
	near(rck_stats_stratified(split, 2), 2.0 / 36, 1e-12);
	near(rck_stats_stratified(NULL, 0), 1, 0);
}

static void clean_runs(void **state)
{
	assert_int_equal(rck_stats_clean_needed(.01, .95), 299);
	assert_int_equal(rck_stats_clean_needed(.05, .95), 59);
	assert_int_equal(rck_stats_clean_needed(.1, .95), 29);
	assert_int_equal(rck_stats_clean_needed(.5, .5), 1);
	assert_true(rck_stats_clean_bound(299, .95) < .01);
	assert_true(rck_stats_clean_bound(298, .95) > .01);
	near(rck_stats_clean_bound(0, .95), 1, 0);
}

/* NIST/SEMATECH e-Handbook, 6.2.6: p1 .01, p2 .10, alpha .05, beta .10; accept on or
 * below -0.939 + 0.0397 n, reject on or above 1.205 + 0.0397 n. */
static void sequential(void **state)
{
	static const struct rck_sprt t = {.01, .10, .05, .10};

	for (unsigned n = 1; n <= 120; n++)
		for (unsigned k = 0; k <= n && k < 12; k++) {
			double accept = -.939 + .0397 * n, reject = 1.205 + .0397 * n;
			enum rck_sprt_verdict v = rck_sprt_rate(&t, k, n);

			if (k < accept - .02)
				assert_int_equal(v, RCK_SPRT_LOW);
			else if (k > reject + .02)
				assert_int_equal(v, RCK_SPRT_HIGH);
			else if (k > accept + .02 && k < reject - .02)
				assert_int_equal(v, RCK_SPRT_GO_ON);
		}
	assert_int_equal(rck_sprt_rate(&t, 0, 23), RCK_SPRT_GO_ON);
	assert_int_equal(rck_sprt_rate(&t, 0, 24), RCK_SPRT_LOW);
	assert_int_equal(rck_sprt_rate(&t, 1, 2), RCK_SPRT_GO_ON);
	assert_int_equal(rck_sprt_rate(&t, 2, 2), RCK_SPRT_HIGH);
}

static void sequential_pairs(void **state)
{
	unsigned n = 0;

	assert_int_equal(rck_sprt_pairs(0, 0, 4, .05, .05), RCK_SPRT_GO_ON);
	/* every pair disagrees the same way: ln(.95 / .025) / ln(.8 / .5) = 7.7 */
	while (rck_sprt_pairs(n, 0, 4, .05, .05) == RCK_SPRT_GO_ON)
		n++;
	assert_int_equal(n, 8);
	assert_int_equal(rck_sprt_pairs(0, 8, 4, .05, .05), RCK_SPRT_HIGH);
	assert_int_equal(rck_sprt_pairs(30, 30, 4, .05, .05), RCK_SPRT_LOW);
}

/* The sequential boundary keeps its promise when it is looked at after every pair: fair
 * coins are called different in at most 5 % of walks (exact, by dynamic programming over
 * 200 pairs). */
static void sequential_error(void **state)
{
	static double at[202][202];
	double wrong = 0;

	at[0][0] = 1;
	for (unsigned n = 0; n < 200; n++)
		for (unsigned a = 0; a <= n; a++) {
			double p = at[a][n - a];

			if (p == 0)
				continue;
			switch (rck_sprt_pairs(a, n - a, 4, .05, .05)) {
			case RCK_SPRT_HIGH:
				wrong += p;
				break;
			case RCK_SPRT_GO_ON:
				at[a + 1][n - a] += p / 2;
				at[a][n - a + 1] += p / 2;
				break;
			case RCK_SPRT_LOW:
				break;
			}
		}
	assert_true(wrong > 0 && wrong <= .05);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wilson),
		cmocka_unit_test(fisher),
		cmocka_unit_test(stratified),
		cmocka_unit_test(clean_runs),
		cmocka_unit_test(sequential),
		cmocka_unit_test(sequential_pairs),
		cmocka_unit_test(sequential_error),
	};

	return cmocka_run_group_tests_name("teardown-stats", tests, NULL, NULL);
}
