/*
 * Small floats and float helpers, as loops over lanes want them: without branches where
 * that is possible. Rounding is to nearest even; NaNs become quiet and keep their upper
 * payload bits.
 */
#pragma once

#include <stdint.h>
#include <string.h>

static inline float sg_h2f(uint16_t h)
{
	uint32_t sign = (uint32_t)(h & 0x8000) << 16, m = h & 0x7fff, bits;
	float tiny = (float)(int32_t)m * 0x1p-24f, r;

	memcpy(&bits, &tiny, 4);
	bits = m >= 0x0400 ? (m << 13) + (112u << 23) : bits;
	bits = m >= 0x7c00 ? (m << 13) | 0x7f800000 | (m > 0x7c00 ? 0x400000 : 0) : bits;
	bits |= sign;
	memcpy(&r, &bits, 4);
	return r;
}

static inline uint16_t sg_f2h(float f)
{
	uint32_t bits, m, norm, nan, sub;
	float tiny;

	memcpy(&bits, &f, 4);
	m = bits & 0x7fffffff;
	memcpy(&tiny, &m, 4);
	tiny += 0.5f; /* the unit in the last place of 0.5f is that of f16's denormals */
	memcpy(&sub, &tiny, 4);
	sub -= 0x3f000000;
	norm = (m + 0xfff + (m >> 13 & 1) - (112u << 23)) >> 13;
	nan = 0x7e00 | (m >> 13 & 0x3ff);
	norm = m < 0x38800000 ? sub : norm;
	norm = m >= 0x477ff000 ? 0x7c00 : norm;
	norm = m > 0x7f800000 ? nan : norm;
	return (uint16_t)(norm | (bits >> 16 & 0x8000));
}

static inline uint16_t sg_f2bf(float f)
{
	uint32_t bits;

	memcpy(&bits, &f, 4);
	if ((bits & 0x7fffffff) > 0x7f800000)
		return (uint16_t)(bits >> 16 | 0x40);
	return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* double to float so that a later rounding to fewer bits is the only one: to odd. */
static inline float sg_d2f_odd(double x)
{
	float f = (float)x;
	double back = f, ax = x < 0 ? -x : x, af = back < 0 ? -back : back;
	uint32_t bits;

	if (back == x || x != x || af - af != 0)
		return f;
	memcpy(&bits, &f, 4);
	bits -= af > ax;
	bits |= 1;
	memcpy(&f, &bits, 4);
	return f;
}

/* a * b + c of floats that came from f16 or bf16 with one rounding to odd at 24 bits. */
static inline float sg_fma_odd(float a, float b, float c)
{
	double p = (double)a * b, s = p + c, t = s - p, e = (p - (s - t)) + (c - t);
	uint64_t bits;

	if (e != 0 && s - s == 0 && e - e == 0) { /* s is inexact: make it odd */
		memcpy(&bits, &s, 8);
		if (!(bits & 1))
			bits += (e > 0) == (s > 0) ? 1 : (uint64_t)-1;
		memcpy(&s, &bits, 8);
	}
	return sg_d2f_odd(s);
}

/* A denormal becomes zero of its sign. */
static inline float sg_fz(float x)
{
	uint32_t bits, m;

	memcpy(&bits, &x, 4);
	m = bits & 0x7fffffff;
	bits = m < 0x00800000 ? bits & 0x80000000 : bits;
	memcpy(&x, &bits, 4);
	return x;
}
