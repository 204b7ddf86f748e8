/*
 * 8-bit floats as lists of 256 numbers: what a byte is worth, which number is nearest,
 * and for stochastic rounding between which two a value lies and how far along.
 */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

static const struct format {
	const char *target, *name;
	int exp, mant, bias;
	bool fnuz;
	uint32_t lanes;
} formats[] = {
	{"gfx942", "fp8", 4, 3, 8, true, 64},
	{"gfx942", "bf8", 5, 2, 16, true, 64},
	{"gfx1201", "fp8", 4, 3, 7, false, 32},
	{"gfx1201", "bf8", 5, 2, 15, false, 32},
};

static inline double value(const struct format *f, unsigned int x)
{
	int e = (int)(x >> f->mant) & ((1 << f->exp) - 1),
	    m = (int)x & ((1 << f->mant) - 1);
	double v;

	if (f->fnuz && x == 0x80)
		return NAN;
	if (!f->fnuz && f->exp == 5 && e == 31)
		return m ? NAN : x & 0x80 ? -INFINITY : INFINITY;
	if (!f->fnuz && f->exp == 4 && (x & 0x7f) == 0x7f)
		return NAN;
	v = e ? ldexp(1 + ldexp(m, -f->mant), e - f->bias)
	      : ldexp(m, 1 - f->bias - f->mant);
	return x & 0x80 ? -v : v;
}

static inline unsigned int largest(const struct format *f)
{
	return f->fnuz ? 0x7f : f->exp == 5 ? 0x7b : 0x7e;
}

static inline unsigned int overflow(const struct format *f, bool minus, bool ovfl)
{
	if (ovfl)
		return largest(f) | (minus ? 0x80 : 0);
	return f->fnuz ? 0x80 : (f->exp == 5 ? 0x7cu : 0x7fu) | (minus ? 0x80 : 0);
}

static inline unsigned int nan_of(const struct format *f)
{
	return f->fnuz ? 0x80 : f->exp == 5 ? 0xfe : 0xff;
}

/* The code of magnitude k of the list, with the sign of a value. */
static inline unsigned int coded(const struct format *f, unsigned int k, bool minus)
{
	return f->fnuz && !k ? 0 : k | (minus ? 0x80 : 0);
}

static inline unsigned int nearest(const struct format *f, float x, bool ovfl)
{
	double a = fabs((double)x), top = value(f, largest(f));
	unsigned int max = largest(f), lo = 0, hi = max;
	double next = 2 * top - value(f, max - 1); /* as if the list went on */

	if (x != x)
		return nan_of(f);
	if (isinf(x))
		return overflow(f, signbit(x), false);
	if (a > top) /* halfway to the next the even one of the two wins */
		return a < (top + next) / 2 || (a == (top + next) / 2 && max % 2 == 0)
			       ? coded(f, max, signbit(x))
			       : overflow(f, signbit(x), ovfl);
	while (lo + 1 < hi) {
		unsigned int mid = (lo + hi) / 2;

		if (value(f, mid) <= a)
			lo = mid;
		else
			hi = mid;
	}
	if (value(f, hi) - a < a - value(f, lo) ||
		(value(f, hi) - a == a - value(f, lo) && hi % 2 == 0))
		lo = hi;
	return coded(f, lo, signbit(x));
}

static inline unsigned int stochastic(
	const struct format *f, float x, uint32_t seed, bool ovfl)
{
	int cut = 23 - f->mant, e;
	double a = fabs((double)x), unit, steps;

	if (x != x)
		return nan_of(f);
	if (isinf(x))
		return overflow(f, signbit(x), false);
	frexp(a, &e);
	e = e - 1 < 1 - f->bias ? 1 - f->bias : e - 1;
	unit = ldexp(1, e - f->mant);
	/* 24 bits of it take part, from the top of a normal number of this size */
	a = floor(a / ldexp(1, e - 23)) * ldexp(1, e - 23);
	steps = floor(a / unit + ldexp(seed >> (32 - cut), -cut));
	if (steps * unit > value(f, largest(f)))
		return overflow(f, signbit(x), ovfl);
	for (unsigned int k = 0; k <= largest(f); k++)
		if (value(f, k) == steps * unit)
			return coded(f, k, signbit(x));
	return 256;
}
