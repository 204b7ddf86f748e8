/* Integer helpers of the lane files. */
#pragma once

#include <stdint.h>

#define MIN(a, b)     ((a) < (b) ? (a) : (b))
#define MAX(a, b)     ((a) > (b) ? (a) : (b))
#define MED3(a, b, c) MAX(MIN(a, b), MIN(MAX(a, b), c))

static inline int32_t i24(int32_t x)
{
	return (int32_t)((uint32_t)x << 8) >> 8;
}

static inline uint32_t u24(uint32_t x)
{
	return x & 0xffffff;
}

static inline int add_overflows(int64_t a, int64_t b)
{
	return __builtin_add_overflow(a, b, &a);
}

static inline int sub_overflows_32(int32_t a, int32_t b)
{
	return __builtin_sub_overflow(a, b, &a);
}

static inline int add_overflows_32(int32_t a, int32_t b)
{
	return __builtin_add_overflow(a, b, &a);
}

static inline int32_t sat_i32(int64_t x)
{
	return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : (int32_t)x;
}

static inline int16_t sat_i16(int32_t x)
{
	return (int16_t)(x > INT16_MAX ? INT16_MAX : x < INT16_MIN ? INT16_MIN : x);
}

static inline uint16_t sat_u16(int32_t x)
{
	return (uint16_t)(x > UINT16_MAX ? UINT16_MAX : x < 0 ? 0 : x);
}

static inline int32_t bfe_i32(int32_t a, uint32_t off, uint32_t width)
{
	uint32_t v = (uint32_t)(a >> off), s = 32 - width;

	return width ? (int32_t)(v << s) >> s : 0;
}

static inline uint32_t bitrev(uint32_t x)
{
	x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
	x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
	x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
	return __builtin_bswap32(x);
}

static inline uint32_t absdiff(uint32_t a, uint32_t b)
{
	return a > b ? a - b : b - a;
}

static inline uint32_t sad8(uint32_t a, uint32_t b)
{
	uint32_t r = 0;

	for (int k = 0; k < 32; k += 8)
		r += absdiff(a >> k & 0xff, b >> k & 0xff);
	return r;
}

/* Bytes of b that are 0 do not count. */
static inline uint32_t msad8(uint32_t a, uint32_t b)
{
	uint32_t r = 0;

	for (int k = 0; k < 32; k += 8)
		r += (b >> k & 0xff) ? absdiff(a >> k & 0xff, b >> k & 0xff) : 0;
	return r;
}

/* Four sums of four differences, b against a from each of its lower bytes on. */
static inline uint64_t qsad(uint64_t a, uint32_t b, uint64_t c, int masked)
{
	uint64_t r = 0;

	for (int k = 0; k < 4; k++) {
		uint32_t x = (uint32_t)(a >> 8 * k);
		uint32_t s =
			(masked ? msad8(x, b) : sad8(x, b)) + (uint16_t)(c >> 16 * k);

		r |= (uint64_t)(uint16_t)s << 16 * k;
	}
	return r;
}

static inline uint32_t lerp(uint32_t a, uint32_t b, uint32_t c)
{
	uint32_t r = 0;

	for (int k = 0; k < 32; k += 8)
		r |= ((a >> k & 0xff) + (b >> k & 0xff) + (c >> k & 1)) >> 1 << k;
	return r;
}

/* Selector bytes: 0..3 of b, 4..7 of a, 8..11 signs, 12 zero, above: ones. */
static inline uint32_t perm(uint32_t a, uint32_t b, uint32_t c)
{
	uint64_t v = (uint64_t)a << 32 | b;
	uint32_t r = 0;

	for (int k = 0; k < 32; k += 8) {
		uint32_t s = c >> k & 0xff, y;

		if (s < 8)
			y = (uint32_t)(v >> 8 * s) & 0xff;
		else if (s < 12)
			y = v >> (16 * (s - 8) + 15) & 1 ? 0xff : 0;
		else
			y = s == 12 ? 0 : 0xff;
		r |= y << k;
	}
	return r;
}
