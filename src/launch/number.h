/* f32 and bf16 on the host: bits, rounding, distances in units in the last place. */
#pragma once

#include "kernels/table.h"

#include <math.h>
#include <string.h>

static inline uint32_t rck_f32_bits(float v)
{
	uint32_t u;

	memcpy(&u, &v, sizeof(u));
	return u;
}

static inline float rck_f32_from_bits(uint32_t u)
{
	float v;

	memcpy(&v, &u, sizeof(v));
	return v;
}

/* The upper half of an f32, to nearest, ties to even. */
static inline uint16_t rck_bf16_round(float v)
{
	uint32_t u = rck_f32_bits(v);

	if (isnan(v))
		return (uint16_t)(u >> 16 | 0x40);
	return (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

static inline float rck_bf16_value(uint16_t bits)
{
	return rck_f32_from_bits((uint32_t)bits << 16);
}

/* Bytes of an element. */
static inline size_t rck_elem_size(enum rck_elem e)
{
	return e == RCK_ELEM_F32 ? 4 : 2;
}

/* p significant bits, the hidden one counted; the unit roundoff is 2^-p. */
static inline int rck_elem_precision(enum rck_elem e)
{
	return e == RCK_ELEM_F32 ? 24 : 8;
}

static inline double rck_elem_roundoff(enum rck_elem e)
{
	return ldexp(1.0, -rck_elem_precision(e));
}

/* The smallest positive value, subnormal. */
static inline double rck_elem_tiny(enum rck_elem e)
{
	return e == RCK_ELEM_F32 ? 0x1p-149 : 0x1p-133;
}

/* Element i of an array of e. */
static inline float rck_elem_load(enum rck_elem e, const void *base, size_t i)
{
	return e == RCK_ELEM_F32 ? ((const float *)base)[i]
				 : rck_bf16_value(((const uint16_t *)base)[i]);
}

static inline void rck_elem_store(enum rck_elem e, void *base, size_t i, float v)
{
	if (e == RCK_ELEM_F32)
		((float *)base)[i] = v;
	else
		((uint16_t *)base)[i] = rck_bf16_round(v);
}

/*
 * How far an exact value is from the numbers that round to a bf16 value: 0 when it is one
 * of them. Half way between two values counts as both.
 */
static inline double rck_bf16_distance(uint16_t bits, double exact)
{
	const uint16_t m = bits & 0x7fff;
	const double sign = bits & 0x8000 ? -1.0 : 1.0;
	const double here = rck_bf16_value(m);
	/* behind the largest number comes what would be the next */
	const double above = m + 1 == 0x7f80 ? 0x1p128 : rck_bf16_value(m + 1);
	const double below = m ? rck_bf16_value(m - 1) : -0x1p-133;
	const double low = (here + below) / 2, high = (here + above) / 2;
	const double v = sign * exact;

	return v < low ? low - v : v > high ? v - high : 0.0;
}

/* Distance of a value of type e from an exact one, in units in e's last place at the
 * exact one. Both finite. */
static inline double rck_elem_ulps(enum rck_elem e, double got, double exact)
{
	int exponent;
	double ulp;

	frexp(exact, &exponent);
	ulp = ldexp(1.0, exponent - rck_elem_precision(e));
	if (ulp < rck_elem_tiny(e) || exact == 0.0)
		ulp = rck_elem_tiny(e);
	return fabs(got - exact) / ulp;
}
