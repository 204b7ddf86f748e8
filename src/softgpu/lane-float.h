/*
 * Small floats and float helpers, as loops over lanes want them: without branches where
 * that is possible. Rounding is to nearest even; NaNs become quiet and keep their upper
 * payload bits.
 */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline float sg_bits_f(uint32_t u)
{
	float f;
	memcpy(&f, &u, 4);
	return f;
}
static inline uint32_t sg_f_bits(float f)
{
	uint32_t u;
	memcpy(&u, &f, 4);
	return u;
}
static inline double sg_bits_d(uint64_t u)
{
	double f;
	memcpy(&f, &u, 8);
	return f;
}
static inline uint64_t sg_d_bits(double f)
{
	uint64_t u;
	memcpy(&u, &f, 8);
	return u;
}

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

	if (back == x || x != x)
		return f;
	memcpy(&bits, &f, 4);
	bits -= af > ax; /* of infinity: the largest number */
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

/* What MODE says of f16 while lane code of that build runs; see valu.c. */
struct sg_fp_mode {
	uint8_t round; /* 0 nearest even, 1 up, 2 down, 3 towards zero */
	bool ovfl;     /* finite results too large are the largest number */
	bool flush;    /* denormal results are zero */
};
extern _Thread_local struct sg_fp_mode sg_fp_now;

/* a * b + c to be rounded to f16 as MODE says. */
static inline float sg_fma_mode(float a, float b, float c)
{
	float r = sg_fp_now.round ? fmaf(a, b, c) : sg_fma_odd(a, b, c);

	if (r - r != 0 && a - a == 0 && b - b == 0 && c - c == 0)
		return r < 0 ? -0x1.fffffep127f : 0x1.fffffep127f;
	return r;
}

/* Whether rounding moves a magnitude up: its last bit kept, and the rest against half. */
static inline uint32_t sg_round_up(
	uint32_t kept, uint32_t rest, uint32_t half, bool negative, unsigned int round)
{
	return round == 0   ? rest > half || (rest == half && kept & 1)
	       : round == 1 ? rest && !negative
	       : round == 2 ? rest && negative
			    : 0;
}

/*
 * float to f16. A result is denormal when it would be so with any exponent (tininess
 * after rounding), as on a gfx1201 (rocjitsu, conversion.h).
 */
static inline uint16_t sg_f2h_mode(float f, unsigned int round)
{
	uint32_t bits, m, sig, r, tiny, sign;
	int e, shift;

	memcpy(&bits, &f, 4);
	m = bits & 0x7fffffff;
	sign = bits >> 16 & 0x8000;
	if (m > 0x7f800000)
		return (uint16_t)(sign | 0x7e00 | (m >> 13 & 0x3ff));
	if (m == 0x7f800000 || !m)
		return (uint16_t)(sign | (m ? 0x7c00 : 0));
	e = m >> 23 ? (int)(m >> 23) - 127 : -126;
	sig = (m & 0x7fffff) | (m >> 23 ? 0x800000 : 0);
	r = sig >> 13;
	tiny = e < -15 ||
	       (e == -15 &&
		       r + sg_round_up(r, sig & 0x1fff, 0x1000, sign, round) < 0x800);
	if (tiny && sg_fp_now.flush)
		return (uint16_t)sign;
	shift = e < -14 ? 13 - 14 - e : 13;
	if (shift > 26) { /* beyond half of the smallest: what is left is not zero */
		sig = 1;
		shift = 26;
	}
	r = sig >> shift;
	r += sg_round_up(r, sig & ((1u << shift) - 1), 1u << (shift - 1), sign, round);
	if (e >= -14)
		r += (uint32_t)(e + 14) << 10;
	if (r >= 0x7c00)
		r = sg_fp_now.ovfl || round == 3 || (round == 1 && sign) ||
				    (round == 2 && !sign)
			    ? 0x7bff
			    : 0x7c00;
	return (uint16_t)(sign | r);
}
