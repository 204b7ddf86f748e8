#include "util/closest.h"

#include <stdio.h>
#include <string.h>

#define LONGEST 40

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Optimal string alignment distance. Both are no longer than LONGEST. */
static unsigned distance(const char *a, size_t n, const char *b, size_t m)
{
	unsigned rows[3][LONGEST + 1], *before = rows[0], *last = rows[1], *now = rows[2];

	for (size_t j = 0; j <= m; j++)
		last[j] = (unsigned)j;
	memcpy(before, last, sizeof(rows[0]));
	for (size_t i = 1; i <= n; i++) {
		unsigned *spare = before;

		now[0] = (unsigned)i;
		for (size_t j = 1; j <= m; j++) {
			now[j] = least(least(last[j], now[j - 1]) + 1,
				last[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
				a[i - 2] == b[j - 1])
				now[j] = least(now[j], before[j - 2] + 1);
		}
		before = last;
		last = now;
		now = spare;
	}
	return last[m];
}

void rck_closest_init(struct rck_closest *c, const char *word, size_t len)
{
	*c = (struct rck_closest){.word = word, .len = len};
	c->distance = len < 6 ? 2 : (unsigned)(len / 3) + 1;
}

void rck_closest_try(struct rck_closest *c, const char *known)
{
	size_t n = strlen(known);
	unsigned d;

	if (c->len > LONGEST || n > LONGEST || c->len < 2)
		return;
	d = distance(c->word, c->len, known, n);
	if (d >= c->distance)
		return;
	c->distance = d;
	c->best = known;
}

const char *rck_closest_hint(struct rck_closest *c, const char *dashes)
{
	c->hint[0] = '\0';
	if (c->best)
		snprintf(c->hint, sizeof(c->hint), ": did you mean '%s%s'?", dashes,
			c->best);
	return c->hint;
}
