/*
 * 8-bit floats: fp8 (4 exponent bits, 3 of fraction) and bf8 (5 and 2).
 *
 * gfx940 to gfx942 have the FNUZ forms: bias 8 and 16, no infinities, one zero, 0x80 the
 * only NaN. gfx950 and gfx12 have OCP's (OFP8 1.0): bias 7 and 15; fp8 has no infinity
 * and 0x7f, 0xff for NaN. Sources: AMD CDNA3 and RDNA4 ISA guides. What they leave open
 * is as ROCm's own emulator has it from a gfx1201 (rocjitsu, conversion.h): NaNs come out
 * as 0xffc00000 and go in as 0xff or 0xfe; too large a number becomes NaN (bf8 of OCP:
 * infinity), or the largest with MODE.FP16_OVFL, infinity never; stochastic rounding of
 * what will be denormal drops bits first and adds the seed's upper bits then.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum sg_fp8 { SG_FP8, SG_BF8, SG_FP8_FNUZ, SG_BF8_FNUZ };

static inline float sg_fp8_get(uint8_t x, enum sg_fp8 t)
{
	const bool bf = t & 1, fnuz = t & 2;
	const int mant = bf ? 2 : 3, bias = (bf ? 15 : 7) + (fnuz ? 1 : 0);
	uint32_t m = x & 0x7f, e = m >> mant, sign = (uint32_t)(x & 0x80) << 24, bits;
	float f;

	if (fnuz ? x == 0x80 : bf ? m > 0x7c : m == 0x7f)
		bits = 0xffc00000;
	else if (!fnuz && bf && m == 0x7c)
		bits = sign | 0x7f800000;
	else if (e) {
		bits = sign | ((m << (23 - mant)) + ((uint32_t)(127 - bias) << 23));
	} else {
		/* in units of the smallest denormal, a power of two */
		bits = (uint32_t)(127 + 1 - bias - mant) << 23;
		memcpy(&f, &bits, 4);
		f *= (float)m;
		memcpy(&bits, &f, 4);
		bits |= sign;
	}
	memcpy(&f, &bits, 4);
	return f;
}

/* To nearest even, or with a seed's upper bits added below the last one kept. */
static inline uint8_t sg_fp8_put(
	float f, enum sg_fp8 t, bool stochastic, uint32_t seed, bool ovfl)
{
	const bool bf = t & 1, fnuz = t & 2;
	const int mant = bf ? 2 : 3, bias = (bf ? 15 : 7) + (fnuz ? 1 : 0),
		  cut = 23 - mant;
	const uint32_t max = fnuz ? 0x7f : bf ? 0x7b : 0x7e;
	uint32_t bits, m, sign, over, sig, r;
	int e, low;

	memcpy(&bits, &f, 4);
	m = bits & 0x7fffffff;
	sign = bits >> 24 & 0x80;
	over = fnuz ? 0x80 : sign | (bf ? 0x7c : 0x7f);
	if (m > 0x7f800000)
		return fnuz ? 0x80 : bf ? 0xfe : 0xff;
	if (m == 0x7f800000)
		return (uint8_t)over;
	e = (int)(m >> 23) - 127 + bias; /* biased exponent, 1 the smallest normal's */
	sig = (m & 0x7fffff) | (m >> 23 ? 0x800000 : 0);
	low = e < 1 ? 1 - e : 0;
	if (low > 24)
		low = 25;
	if (stochastic) {
		r = ((sig >> low) + (seed >> (32 - cut))) >> cut;
	} else {
		uint64_t s = (uint64_t)sig, half = 1ull << (cut + low - 1);

		r = (uint32_t)((s + half - 1 + (s >> (cut + low) & 1)) >> (cut + low));
	}
	if (e > 1)
		r += (uint32_t)(e - 1) << mant;
	if (r > max)
		return (uint8_t)(ovfl ? sign | max : over);
	return (uint8_t)(fnuz && !r ? 0 : sign | r);
}
