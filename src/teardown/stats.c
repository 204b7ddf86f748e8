#include "teardown/stats.h"
#include "util/strbuf.h"

#include <math.h>
#include <stdlib.h>

/* The 97.5 % point of the normal distribution. */
#define Z95 1.959963984540054
/* Two probabilities that differ by less than this factor are equal: rounding only. */
#define SAME (1.0 + 1e-7)

struct rck_interval rck_stats_wilson(unsigned k, unsigned n)
{
	double p, z2 = Z95 * Z95, centre, half, scale;

	if (!n)
		return (struct rck_interval){0, 1};
	p = (double)k / n;
	scale = 1 + z2 / n;
	centre = (p + z2 / (2.0 * n)) / scale;
	half = Z95 * sqrt(p * (1 - p) / n + z2 / (4.0 * n * n)) / scale;
	return (struct rck_interval){
		k == 0 ? 0 : fmax(0, centre - half),
		k == n ? 1 : fmin(1, centre + half),
	};
}

static double log_choose(unsigned n, unsigned k)
{
	return lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0);
}

/* P(X = x): x of the k marked ones among the na drawn from na + nb. */
static double hypergeometric(unsigned x, unsigned na, unsigned nb, unsigned k)
{
	return exp(log_choose(na, x) + log_choose(nb, k - x) - log_choose(na + nb, k));
}

static unsigned least(unsigned nb, unsigned k)
{
	return k > nb ? k - nb : 0;
}

static unsigned most(unsigned na, unsigned k)
{
	return k < na ? k : na;
}

double rck_stats_fisher(unsigned ka, unsigned na, unsigned kb, unsigned nb)
{
	return rck_stats_stratified(&(struct rck_stratum){ka, na, kb, nb}, 1);
}

/* Convolves the distribution of sums (0..*top) with one stratum's; returns the new one.
 */
static double *add_stratum(double *sums, unsigned *top, const struct rck_stratum *s)
{
	unsigned k = s->ka + s->kb;
	unsigned low = least(s->nb, k), high = most(s->na, k);
	double *next = rck_xcalloc((size_t)*top + high + 1, sizeof(*next));

	for (unsigned x = low; x <= high; x++) {
		double p = hypergeometric(x, s->na, s->nb, k);

		for (unsigned t = 0; t <= *top; t++)
			next[t + x] += sums[t] * p;
	}
	free(sums);
	*top += high;
	return next;
}

double rck_stats_stratified(const struct rck_stratum *s, size_t n)
{
	double *sums = rck_xcalloc(1, sizeof(*sums));
	unsigned top = 0, seen = 0;
	double p = 0;

	sums[0] = 1;
	for (size_t i = 0; i < n; i++) {
		sums = add_stratum(sums, &top, &s[i]);
		seen += s[i].ka;
	}
	for (unsigned t = 0; t <= top; t++)
		if (sums[t] <= sums[seen] * SAME)
			p += sums[t];
	free(sums);
	return fmin(p, 1);
}

unsigned rck_stats_clean_needed(double rate, double confidence)
{
	double n = log1p(-confidence) / log1p(-rate);

	return (unsigned)ceil(n - 1e-9);
}

double rck_stats_clean_bound(unsigned n, double confidence)
{
	return n ? -expm1(log1p(-confidence) / n) : 1;
}

static enum rck_sprt_verdict decide(double ratio, double alpha, double beta)
{
	if (ratio >= log((1 - beta) / alpha))
		return RCK_SPRT_HIGH;
	if (ratio <= log(beta / (1 - alpha)))
		return RCK_SPRT_LOW;
	return RCK_SPRT_GO_ON;
}

enum rck_sprt_verdict rck_sprt_rate(const struct rck_sprt *t, unsigned k, unsigned n)
{
	double ratio =
		k * log(t->high / t->low) + (n - k) * (log1p(-t->high) - log1p(-t->low));

	return decide(ratio, t->alpha, t->beta);
}

enum rck_sprt_verdict rck_sprt_pairs(
	unsigned a_only, unsigned b_only, double ratio, double alpha, double beta)
{
	/* Under "no difference" a pair that disagrees is a fair coin. */
	struct rck_sprt t = {0.5, ratio / (1 + ratio), alpha / 2, beta};
	unsigned n = a_only + b_only;
	enum rck_sprt_verdict a = rck_sprt_rate(&t, a_only, n);
	enum rck_sprt_verdict b = rck_sprt_rate(&t, b_only, n);

	if (a == RCK_SPRT_HIGH || b == RCK_SPRT_HIGH)
		return RCK_SPRT_HIGH;
	return a == RCK_SPRT_LOW && b == RCK_SPRT_LOW ? RCK_SPRT_LOW : RCK_SPRT_GO_ON;
}
