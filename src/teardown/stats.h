/*
 * The statistics of an experiment: pure functions over counts. Nothing here allocates
 * except rck_stats_stratified(), and nothing fails on counts that make sense (k <= n).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct rck_interval {
	double low, high; /* rates, 0..1 */
};

/*
 * Wilson's score interval for k of n at 95 % (E. B. Wilson, 1927; as method 3 of R. G.
 * Newcombe, Statistics in Medicine 17, 1998). n = 0 gives 0..1.
 */
struct rck_interval rck_stats_wilson(unsigned k, unsigned n);

/*
 * Fisher's exact test, two-sided, of ka of na against kb of nb: the probability, the
 * margins fixed, of every table that is no likelier than this one.
 */
double rck_stats_fisher(unsigned ka, unsigned na, unsigned kb, unsigned nb);

/* One stratum of an experiment: what the two arms gave in one round. */
struct rck_stratum {
	unsigned ka, na;
	unsigned kb, nb;
};

/*
 * The permutation test stratified by round, two-sided: the arms' labels exchanged within
 * each round in every way there is, and the sum of ka as the statistic. The distribution
 * is that of a sum of hypergeometric counts, so it is computed, not sampled: p is exact
 * and the same each time. It holds however the exposures of one round depend on each
 * other, because the labels were drawn by lot.
 */
double rck_stats_stratified(const struct rck_stratum *s, size_t n);

/*
 * How many exposures, all clean, it takes to say "the rate is below rate" with this
 * confidence: the least n with (1 - rate)^n <= 1 - confidence.
 */
unsigned rck_stats_clean_needed(double rate, double confidence);

/* The rate that n clean exposures exclude with this confidence: 1 for n = 0. */
double rck_stats_clean_bound(unsigned n, double confidence);

/*
 * Wald's sequential probability ratio test of a rate (A. Wald, Sequential Analysis,
 * 1947): made to be looked at after every exposure, which neither Fisher's test nor
 * Wilson's interval is.
 */
enum rck_sprt_verdict { RCK_SPRT_GO_ON, RCK_SPRT_LOW, RCK_SPRT_HIGH };

struct rck_sprt {
	double low, high;   /* the two rates to be told apart */
	double alpha, beta; /* chance of saying HIGH at low; of saying LOW at high */
};

/* After k hangs of n. */
enum rck_sprt_verdict rck_sprt_rate(const struct rck_sprt *t, unsigned k, unsigned n);

/*
 * Wald's sequential test of two arms, two-sided. The exposures are paired within a round;
 * only pairs that disagree count: a_only pairs in which A alone hung, b_only in which B
 * alone did. Told apart are "no difference" and "the odds of one are ratio times those of
 * the other"; alpha and beta as above, alpha split between the sides. The verdict HIGH
 * means that the arms differ.
 */
enum rck_sprt_verdict rck_sprt_pairs(
	unsigned a_only, unsigned b_only, double ratio, double alpha, double beta);
