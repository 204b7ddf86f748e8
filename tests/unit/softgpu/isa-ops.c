/*
 * Each vector operation against arithmetic of this machine, written apart from the
 * interpreter's: on random bits and edge operands, with some lanes off, bit for bit.
 * Results that are NaN need only be NaN.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "isa-machine.h"

typedef __int128 wide;
typedef unsigned __int128 uwide;

static float F(uint64_t x)
{
	uint32_t u = (uint32_t)x;
	float f;
	memcpy(&f, &u, 4);
	return f;
}

static double D(uint64_t x)
{
	double d;
	memcpy(&d, &x, 8);
	return d;
}

static double H(uint64_t x)
{
	uint16_t u = (uint16_t)x;
	_Float16 h;
	memcpy(&h, &u, 2);
	return (double)h;
}

static uint64_t bF(double x)
{
	float f = (float)x;
	uint32_t u;
	memcpy(&u, &f, 4);
	return u;
}

static uint64_t bD(double x)
{
	uint64_t u;
	memcpy(&u, &x, 8);
	return u;
}

/* libgcc rounds double to half once. */
static uint64_t bH(double x)
{
	volatile _Float16 h = (_Float16)x;
	_Float16 g = h;
	uint16_t u;
	memcpy(&u, &g, 2);
	return u;
}

#define a32    ((uint32_t)a)
#define b32    ((uint32_t)b)
#define c32    ((uint32_t)c)
#define i32(x) ((int32_t)(uint32_t)(x))
#define i64(x) ((int64_t)(x))
#define i16(x) ((int16_t)(x))
#define u16(x) ((uint16_t)(x))

static uint64_t bits_rev(uint64_t x)
{
	uint64_t r = 0;

	for (int i = 0; i < 32; i++)
		if (x >> i & 1)
			r |= 1ull << (31 - i);
	return r;
}

static uint64_t field(uint64_t x, uint64_t off, uint64_t n, bool sign)
{
	uint64_t r = 0;

	for (unsigned int i = 0; i < (n & 31); i++) {
		unsigned int at = (unsigned int)(off & 31) + i;
		uint64_t bit = at < 32 ? x >> at & 1 : sign ? x >> 31 & 1 : 0;

		r |= bit << i;
	}
	if (sign && (n & 31) && r >> ((n & 31) - 1) & 1)
		r |= ~0ull << (n & 31);
	return (uint32_t)r;
}

static uint64_t byte_perm(uint64_t a, uint64_t b, uint64_t c)
{
	uint8_t in[8], out[4];

	for (int i = 0; i < 4; i++) {
		in[i] = (uint8_t)(b >> 8 * i);
		in[i + 4] = (uint8_t)(a >> 8 * i);
	}
	for (int i = 0; i < 4; i++) {
		uint8_t s = (uint8_t)(c >> 8 * i);

		out[i] = s < 8     ? in[s]
			 : s < 12  ? (in[(s - 8) * 2 + 1] & 0x80 ? 255 : 0)
			 : s == 12 ? 0
				   : 255;
	}
	return out[0] | out[1] << 8 | out[2] << 16 | (uint64_t)out[3] << 24;
}

static uint64_t clamp_i(wide x, wide lo, wide hi)
{
	return (uint64_t)(x < lo ? lo : x > hi ? hi : x);
}

static double truncated(double x)
{
	return x != x ? 0 : trunc(x);
}

static double pick(double a, double b, bool max)
{
	if (a != a)
		return b;
	if (b != b)
		return a;
	if (a == b)
		return !!signbit(a) == max ? b : a;
	return (a < b) == max ? b : a;
}

/* In IEEE mode, which the kernels of HIP run in, a signalling NaN makes the result NaN.
 */
static bool signals(uint64_t x, int mant, int exp)
{
	uint64_t m = x & ((1ull << mant) - 1), e = x >> mant & ((1ull << exp) - 1);

	return e == (1ull << exp) - 1 && m && !(m >> (mant - 1));
}

static double mm_f(uint64_t a, uint64_t b, bool max)
{
	return signals(a, 23, 8) || signals(b, 23, 8) ? NAN : pick(F(a), F(b), max);
}

static double mm_d(uint64_t a, uint64_t b, bool max)
{
	return signals(a, 52, 11) || signals(b, 52, 11) ? NAN : pick(D(a), D(b), max);
}

static double mm_h(uint64_t a, uint64_t b, bool max)
{
	return signals(a, 10, 5) || signals(b, 10, 5) ? NAN : pick(H(a), H(b), max);
}

static double median(double a, double b, double c)
{
	return pick(pick(a, b, false), pick(pick(a, b, true), c, false), true);
}

/* The fused sum in 128-bit floats: exact product; the sum is rounded to odd by hand. */
static double fma_h(double a, double b, double c)
{
	__float128 p = (__float128)a * b;

	return (double)(p + c); /* 113 bits hold any sum of three halves */
}

/* A float to bfloat16: to nearest even by the distance to its neighbours. */
static uint64_t bB(float x)
{
	uint64_t lo = bF(x) & 0xffff0000, hi = lo + 0x10000;
	double below = x - (double)F(lo), above = (double)F(hi) - x;

	if (x != x)
		return 0x7fc0;
	if (x - x != 0 || below == 0)
		return lo >> 16;
	if ((hi & 0x7fffffff) == 0x7f800000) /* infinity is where the next would be */
		above = ldexp(x < 0 ? -1 : 1, 128) - x;
	below = fabs(below);
	above = fabs(above);
	return (below < above || (below == above && !(lo >> 16 & 1)) ? lo : hi) >> 16;
}

static float dot2_b(uint64_t a, uint64_t b, uint64_t c)
{
	return fmaf(F(a & 0xffff0000), F(b & 0xffff0000),
		fmaf(F(a << 16), F(b << 16), F(c << 16)));
}

static uint64_t differences(uint64_t a, uint64_t b, bool masked)
{
	uint64_t sum = 0;

	for (int k = 0; k < 32; k += 8) {
		int x = (int)(a >> k & 255), y = (int)(b >> k & 255);

		if (!masked || y)
			sum += (uint64_t)abs(x - y);
	}
	return sum;
}

static uint64_t four_differences(uint64_t a, uint64_t b, uint64_t c, bool masked)
{
	uint64_t r = 0;

	for (int k = 0; k < 4; k++)
		r |= ((differences(a >> 8 * k, b, masked) + (c >> 16 * k)) & 0xffff)
		     << 16 * k;
	return r;
}

/* To the nearest integer, halves up; a NaN to the end that its sign points to. */
static uint64_t halves_up(uint64_t a, bool ends)
{
	long double x = floorl((long double)F(a) + 0.5L);

	if (F(a) != F(a))
		return !ends ? 0 : a >> 31 & 1 ? 0x80000000 : 0x7fffffff;
	return (uint64_t)(int64_t)fminl(fmaxl(x, -0x1p31L), 0x1p31L - 1);
}

static uint64_t byte_put(uint64_t a, uint64_t b, uint64_t c)
{
	double x = nearbyint(F(a));
	int at = 8 * (int)(b & 3);

	x = x != x || x < 0 ? 0 : x > 255 ? 255 : x;
	return (c & ~(255ull << at)) | (uint64_t)x << at;
}

/* Operand types: f d h u(32) w(16) U(64) m(mask). */
#define OPS(X)                                                                           \
	X("v_mov_b32 v8, v0", "u:u", a)                                                  \
	X("v_not_b32 v8, v0", "u:u", ~a)                                                 \
	X("v_and_b32 v8, v0, v2", "u:uu", a &b)                                          \
	X("v_or_b32 v8, v0, v2", "u:uu", a | b)                                          \
	X("v_xor_b32 v8, v0, v2", "u:uu", a ^ b)                                         \
	X("v_xnor_b32 v8, v0, v2", "u:uu", ~(a ^ b))                                     \
	X("v_lshlrev_b32 v8, v0, v2", "u:uu", b << (a & 31))                             \
	X("v_lshrrev_b32 v8, v0, v2", "u:uu", b >> (a & 31))                             \
	X("v_ashrrev_i32 v8, v0, v2", "u:uu", (uint64_t)(i32(b) >> (a & 31)))            \
	X("v_lshlrev_b64 v[8:9], v0, v[2:3]", "U:uU", b << (a & 63))                     \
	X("v_lshrrev_b64 v[8:9], v0, v[2:3]", "U:uU", b >> (a & 63))                     \
	X("v_ashrrev_i64 v[8:9], v0, v[2:3]", "U:uU", (uint64_t)(i64(b) >> (a & 63)))    \
	X("v_add_nc_u32 v8, v0, v2", "u:uu", a + b)                                      \
	X("v_sub_nc_u32 v8, v0, v2", "u:uu", a - b)                                      \
	X("v_subrev_nc_u32 v8, v0, v2", "u:uu", b - a)                                   \
	X("v_add_nc_u32 v8, v0, v2 clamp", "u:uu", clamp_i((wide)a + b, 0, UINT32_MAX))  \
	X("v_sub_nc_u32 v8, v0, v2 clamp", "u:uu", clamp_i((wide)a - b, 0, UINT32_MAX))  \
	X("v_add_nc_i32 v8, v0, v2 clamp", "u:uu",                                       \
		clamp_i((wide)i32(a) + i32(b), INT32_MIN, INT32_MAX))                    \
	X("v_sub_nc_i32 v8, v0, v2 clamp", "u:uu",                                       \
		clamp_i((wide)i32(a) - i32(b), INT32_MIN, INT32_MAX))                    \
	X("v_mul_lo_u32 v8, v0, v2", "u:uu", a *b)                                       \
	X("v_mul_hi_u32 v8, v0, v2", "u:uu", a *b >> 32)                                 \
	X("v_mul_hi_i32 v8, v0, v2", "u:uu", (uint64_t)((wide)i32(a) * i32(b) >> 32))    \
	X("v_mul_u32_u24 v8, v0, v2", "u:uu", (a & 0xffffff) * (b & 0xffffff))           \
	X("v_mul_i32_i24 v8, v0, v2", "u:uu",                                            \
		(uint64_t)((wide)(i32(a << 8) / 256) * (i32((b << 8)) / 256)))           \
	X("v_mul_hi_u32_u24 v8, v0, v2", "u:uu", (a & 0xffffff) * (b & 0xffffff) >> 32)  \
	X("v_mad_u32_u24 v8, v0, v2, v4", "u:uuu", (a & 0xffffff) * (b & 0xffffff) + c)  \
	X("v_mad_u32_u16 v8, v0, v2, v4", "u:uuu", (a & 0xffff) * (b & 0xffff) + c)      \
	X("v_min_i32 v8, v0, v2", "u:uu", i32(a) < i32(b) ? a : b)                       \
	X("v_max_i32 v8, v0, v2", "u:uu", i32(a) < i32(b) ? b : a)                       \
	X("v_min_u32 v8, v0, v2", "u:uu", a < b ? a : b)                                 \
	X("v_max_u32 v8, v0, v2", "u:uu", a < b ? b : a)                                 \
	X("v_med3_u32 v8, v0, v2, v4", "u:uuu",                                          \
		(uint64_t)median((double)a, (double)b, (double)c))                       \
	X("v_med3_i32 v8, v0, v2, v4", "u:uuu",                                          \
		(uint64_t)(int64_t)median(i32(a), i32(b), i32(c)))                       \
	X("v_min3_u32 v8, v0, v2, v4", "u:uuu",                                          \
		(a < b ? a : b) < c ? (a < b ? a : b) : c)                               \
	X("v_max3_i32 v8, v0, v2, v4", "u:uuu",                                          \
		(uint64_t)(int64_t)fmax(fmax(i32(a), i32(b)), i32(c)))                   \
	X("v_bfe_u32 v8, v0, v2, v4", "u:uuu", field(a, b, c, false))                    \
	X("v_bfe_i32 v8, v0, v2, v4", "u:uuu", field(a, b, c, true))                     \
	X("v_bfi_b32 v8, v0, v2, v4", "u:uuu", (a & b) | (~a & c))                       \
	X("v_bfm_b32 v8, v0, v2", "u:uu", ((1ull << (a & 31)) - 1) << (b & 31))          \
	X("v_bcnt_u32_b32 v8, v0, v2", "u:uu", (uint64_t)__builtin_popcountll(a) + b)    \
	X("v_bfrev_b32 v8, v0", "u:u", bits_rev(a))                                      \
	X("v_ffbh_u32 v8, v0", "u:u", a ? (uint64_t)(31 - (int)log2((double)a)) : ~0ull) \
	X("v_ffbl_b32 v8, v0", "u:u", a ? (uint64_t)(int)log2((double)(a & -a)) : ~0ull) \
	X("v_alignbit_b32 v8, v0, v2, v4", "u:uuu", (a << 32 | b) >> (c & 31))           \
	X("v_alignbyte_b32 v8, v0, v2, v4", "u:uuu", (a << 32 | b) >> (c & 3) * 8)       \
	X("v_perm_b32 v8, v0, v2, v4", "u:uuu", byte_perm(a, b, c))                      \
	X("v_add3_u32 v8, v0, v2, v4", "u:uuu", a + b + c)                               \
	X("v_lshl_add_u32 v8, v0, v2, v4", "u:uuu", (a << (b & 31)) + c)                 \
	X("v_add_lshl_u32 v8, v0, v2, v4", "u:uuu", (a + b) << (c & 31))                 \
	X("v_lshl_or_b32 v8, v0, v2, v4", "u:uuu", (a << (b & 31)) | c)                  \
	X("v_and_or_b32 v8, v0, v2, v4", "u:uuu", (a & b) | c)                           \
	X("v_or3_b32 v8, v0, v2, v4", "u:uuu", a | b | c)                                \
	X("v_xor3_b32 v8, v0, v2, v4", "u:uuu", a ^ b ^ c)                               \
	X("v_xad_u32 v8, v0, v2, v4", "u:uuu", (a ^ b) + c)                              \
	X("v_sad_u32 v8, v0, v2, v4", "u:uuu", (a > b ? a - b : b - a) + c)              \
	X("v_mad_u64_u32 v[8:9], s[20:21], v0, v2, v[4:5]", "U:uuU", a *b + c)           \
	X("v_mad_i64_i32 v[8:9], s[20:21], v0, v2, v[4:5]", "U:uuU",                     \
		(uint64_t)((wide)i32(a) * i32(b)) + c)                                   \
	X("v_add_f32 v8, v0, v2", "f:ff", bF((double)F(a) + F(b)))                       \
	X("v_sub_f32 v8, v0, v2", "f:ff", bF((double)F(a) - F(b)))                       \
	X("v_subrev_f32 v8, v0, v2", "f:ff", bF((double)F(b) - F(a)))                    \
	X("v_mul_f32 v8, v0, v2", "f:ff", bF((double)F(a) * F(b)))                       \
	X("v_mul_f32 v8, -v0, |v2|", "f:ff", bF(-(double)F(a) * fabs(F(b))))             \
	X("v_add_f32 v8, -|v0|, v2", "f:ff", bF(-fabs(F(a)) + (double)F(b)))             \
	X("v_mul_f32 v8, v0, v2 clamp", "f:ff",                                          \
		bF(fmin(fmax((double)F(a) * F(b), 0), 1)))                               \
	X("v_mul_f32 v8, v0, v2 mul:2", "f:ff",                                          \
		bF(2 * (double)(float)((double)F(a) * F(b))))                            \
	X("v_mul_f32 v8, v0, v2 div:2", "f:ff",                                          \
		bF((double)(float)((double)F(a) * F(b)) / 2))                            \
	X("v_mul_f32 v8, 0.5, v2", "f:ff", bF(0.5 * F(b)))                               \
	X("v_add_f32 v8, 0x40490fdb, v2", "f:ff", bF(0x1.921fb6p+1 + F(b)))              \
	X("v_fma_f32 v8, v0, v2, v4", "f:fff", bF(fmaf(F(a), F(b), F(c))))               \
	X("v_fma_f32 v8, -v0, |v2|, -v4", "f:fff", bF(fmaf(-F(a), fabsf(F(b)), -F(c))))  \
	X("v_min_f32 v8, v0, v2", "f:ff", bF(mm_f(a, b, false)))                         \
	X("v_max_f32 v8, v0, v2", "f:ff", bF(mm_f(a, b, true)))                          \
	X("v_floor_f32 v8, v0", "f:f", bF(floor(F(a))))                                  \
	X("v_ceil_f32 v8, v0", "f:f", bF(ceil(F(a))))                                    \
	X("v_trunc_f32 v8, v0", "f:f", bF(trunc(F(a))))                                  \
	X("v_rndne_f32 v8, v0", "f:f", bF(nearbyint(F(a))))                              \
	X("v_ldexp_f32 v8, v0, v2", "f:fu",                                              \
		bF((double)(ldexpl(F(a), (int)clamp_i(i32(b), -2000, 2000)))))           \
	X("v_frexp_mant_f32 v8, v0", "f:f", bF(frexp(F(a), &(int){0})))                  \
	X("v_cndmask_b32 v8, v0, v2, vcc_lo", "u:uum", c ? b : a)                        \
	X("v_cvt_f32_i32 v8, v0", "f:u", bF(i32(a)))                                     \
	X("v_cvt_f32_u32 v8, v0", "f:u", bF((double)a))                                  \
	X("v_cvt_i32_f32 v8, v0", "u:f",                                                 \
		(uint64_t)(int64_t)fmin(fmax(truncated(F(a)), -0x1p31), 0x1p31 - 1))     \
	X("v_cvt_u32_f32 v8, v0", "u:f",                                                 \
		(uint64_t)fmin(fmax(truncated(F(a)), 0), 0x1p32 - 1))                    \
	X("v_cvt_f64_f32 v[8:9], v0", "d:f", bD(F(a)))                                   \
	X("v_cvt_f32_f64 v8, v[0:1]", "f:d", bF(D(a)))                                   \
	X("v_cvt_f64_i32 v[8:9], v0", "d:u", bD(i32(a)))                                 \
	X("v_cvt_f64_u32 v[8:9], v0", "d:u", bD((double)a))                              \
	X("v_cvt_i32_f64 v8, v[0:1]", "u:d",                                             \
		(uint64_t)(int64_t)fmin(fmax(truncated(D(a)), -0x1p31), 0x1p31 - 1))     \
	X("v_cvt_u32_f64 v8, v[0:1]", "u:d",                                             \
		(uint64_t)fmin(fmax(truncated(D(a)), 0), 0x1p32 - 1))                    \
	X("v_cvt_f32_ubyte2 v8, v0", "f:u", bF((double)(a >> 16 & 255)))                 \
	X("v_cvt_f16_f32 v8, v0", "h:f", bH(F(a)))                                       \
	X("v_cvt_f32_f16 v8, v0", "f:h", bF(H(a)))                                       \
	X("v_cvt_f16_u16 v8, v0", "h:w", bH((double)u16(a)))                             \
	X("v_cvt_f16_i16 v8, v0", "h:w", bH(i16(a)))                                     \
	X("v_cvt_u16_f16 v8, v0", "w:h",                                                 \
		(uint64_t)fmin(fmax(truncated(H(a)), 0), 65535))                         \
	X("v_cvt_i16_f16 v8, v0", "w:h",                                                 \
		(uint64_t)(int64_t)fmin(fmax(truncated(H(a)), -32768), 32767))           \
	X("v_cvt_pk_u16_u32 v8, v0, v2", "u:uu",                                         \
		(a > 65535 ? 65535 : a) | (b > 65535 ? 65535 : b) << 16)                 \
	X("v_add_f64 v[8:9], v[0:1], v[2:3]", "d:dd", bD(D(a) + D(b)))                   \
	X("v_mul_f64 v[8:9], v[0:1], v[2:3]", "d:dd", bD(D(a) * D(b)))                   \
	X("v_mul_f64 v[8:9], -v[0:1], |v[2:3]|", "d:dd", bD(-D(a) * fabs(D(b))))         \
	X("v_mul_f64 v[8:9], 0.5, v[2:3]", "d:dd", bD(0.5 * D(b)))                       \
	X("v_add_f64 v[8:9], v[0:1], 0x40590000", "d:dd", bD(D(a) + 100.0))              \
	X("v_fma_f64 v[8:9], v[0:1], v[2:3], -v[4:5]", "d:ddd",                          \
		bD(fma(D(a), D(b), -D(c))))                                              \
	X("v_min_f64 v[8:9], v[0:1], v[2:3]", "d:dd", bD(mm_d(a, b, false)))             \
	X("v_max_f64 v[8:9], v[0:1], v[2:3]", "d:dd", bD(mm_d(a, b, true)))              \
	X("v_floor_f64 v[8:9], v[0:1]", "d:d", bD(floor(D(a))))                          \
	X("v_rndne_f64 v[8:9], v[0:1]", "d:d", bD(nearbyint(D(a))))                      \
	X("v_sqrt_f64 v[8:9], v[0:1]", "d:d", bD(sqrt(D(a))))                            \
	X("v_ldexp_f64 v[8:9], v[0:1], v2", "d:du", bD((double)ldexp(D(a), i32(b))))     \
	X("v_add_f16 v8, v0, v2", "h:hh", bH(H(a) + H(b)))                               \
	X("v_sub_f16 v8, v0, v2", "h:hh", bH(H(a) - H(b)))                               \
	X("v_mul_f16 v8, v0, v2", "h:hh", bH(H(a) * H(b)))                               \
	X("v_mul_f16 v8, -v0, |v2|", "h:hh", bH(-H(a) * fabs(H(b))))                     \
	X("v_fma_f16 v8, v0, v2, v4", "h:hhh", bH(fma_h(H(a), H(b), H(c))))              \
	X("v_min_f16 v8, v0, v2", "h:hh", bH(mm_h(a, b, false)))                         \
	X("v_max_f16 v8, v0, v2", "h:hh", bH(mm_h(a, b, true)))                          \
	X("v_sqrt_f16 v8, v0", "h:h", bH(sqrt(H(a))))                                    \
	X("v_rcp_f16 v8, v0", "h:h", bH(1 / H(a)))                                       \
	X("v_floor_f16 v8, v0", "h:h", bH(floor(H(a))))                                  \
	X("v_rndne_f16 v8, v0", "h:h", bH(nearbyint(H(a))))                              \
	X("v_ldexp_f16 v8, v0, v2", "h:hw", bH((double)ldexpl(H(a), i16(b))))            \
	X("v_add_nc_u16 v8, v0, v2", "w:ww", a + b)                                      \
	X("v_sub_nc_u16 v8, v0, v2", "w:ww", a - b)                                      \
	X("v_mul_lo_u16 v8, v0, v2", "w:ww", a *b)                                       \
	X("v_mad_u16 v8, v0, v2, v4", "w:www", a *b + c)                                 \
	X("v_min_i16 v8, v0, v2", "w:ww", i16(a) < i16(b) ? a : b)                       \
	X("v_max_u16 v8, v0, v2", "w:ww", u16(a) < u16(b) ? b : a)                       \
	X("v_lshlrev_b16 v8, v0, v2", "w:ww", b << (a & 15))                             \
	X("v_lshrrev_b16 v8, v0, v2", "w:ww", (b & 0xffff) >> (a & 15))                  \
	X("v_ashrrev_i16 v8, v0, v2", "w:ww", (uint64_t)(i16(b) >> (a & 15)))            \
	X("v_pk_add_f16 v8, v0, v2", "p:uu",                                             \
		bH(H(a) + H(b)) | bH(H(a >> 16) + H(b >> 16)) << 16)                     \
	X("v_pk_mul_f16 v8, v0, v2 op_sel:[1,0] op_sel_hi:[0,1] neg_lo:[1,0]", "p:uu",   \
		bH(-H(a >> 16) * H(b)) | bH(H(a) * H(b >> 16)) << 16)                    \
	X("v_pk_fma_f16 v8, v0, v2, v4", "p:uuu",                                        \
		bH(fma_h(H(a), H(b), H(c))) |                                            \
			bH(fma_h(H(a >> 16), H(b >> 16), H(c >> 16))) << 16)             \
	X("v_pk_add_u16 v8, v0, v2", "u:uu",                                             \
		((a + b) & 0xffff) | ((a >> 16) + (b >> 16)) << 16)                      \
	X("v_pk_sub_i16 v8, v0, v2 clamp", "u:uu",                                       \
		(clamp_i(i16(a) - i16(b), -32768, 32767) & 0xffff) |                     \
			clamp_i(i16(a >> 16) - i16(b >> 16), -32768, 32767) << 16)       \
	X("v_pk_mul_lo_u16 v8, v0, v2", "u:uu",                                          \
		((a * b) & 0xffff) | (a >> 16) * (b >> 16) << 16)                        \
	X("v_pk_lshlrev_b16 v8, v0, v2", "u:uu",                                         \
		((b << (a & 15)) & 0xffff) | (b >> 16) << (a >> 16 & 15) << 16)          \
	X("v_fma_mix_f32 v8, v0, v2, v4 op_sel_hi:[1,0,1] op_sel:[1,0,0]", "f:uuu",      \
		bF(fmaf((float)H(a >> 16), F(b), (float)H(c))))                          \
	X("v_pack_b32_f16 v8, v0, v2", "u:uu", (a & 0xffff) | b << 16)                   \
	X("v_add_nc_u32_sdwa v8, v0, sext(v2) dst_sel:WORD_1 "                           \
	  "dst_unused:UNUSED_PRESERVE "                                                  \
	  "src0_sel:BYTE_1 src1_sel:BYTE_2",                                             \
		"u:uud",                                                                 \
		(old & 0xffff) |                                                         \
			(((a >> 8 & 255) + (uint64_t)(int64_t)(int8_t)(b >> 16)) &       \
				0xffff)                                                  \
				<< 16)                                                   \
	X("v_add_f16 v8, v0, v2 op_sel:[0,0,1]", "p:hh",                                 \
		(old & 0xffff) | bH(H(a) + H(b)) << 16)                                  \
	X("v_add_f16 v8, v0, v2 op_sel:[1,0,0]", "h:uu", bH(H(a >> 16) + H(b)))          \
	X("v_fma_f16 v8, v0, v2, v4 op_sel:[0,1,0,1]", "p:uuu",                          \
		(old & 0xffff) | bH(fma_h(H(a), H(b >> 16), H(c))) << 16)                \
	X("v_cvt_rpi_i32_f32 v8, v0", "u:f", halves_up(a, false))                        \
	X("v_cvt_nearest_i32_f32 v8, v0", "u:f", halves_up(a, true))                     \
	X("v_cvt_floor_i32_f32 v8, v0", "u:f",                                           \
		F(a) != F(a) ? (a >> 31 & 1 ? 0x80000000 : 0x7fffffff)                   \
			     : (uint64_t)(int64_t)fmin(                                  \
				       fmax(floor(F(a)), -0x1p31), 0x1p31 - 1))          \
	X("v_cvt_pk_u8_f32 v8, v0, v2, v4", "u:fuu", byte_put(a, b, c))                  \
	X("v_cvt_pkaccum_u8_f32 v8, v0, v2", "u:fu", byte_put(a, b, old))                \
	X("v_dot2_bf16_bf16 v8, v0, v2, v4", "y:uuw", bB(dot2_b(a, b, c)))               \
	X("v_qsad_pk_u16_u8 v[8:9], v[0:1], v2, v[4:5]", "U:UuU",                        \
		four_differences(a, b, c, false))                                        \
	X("v_mqsad_pk_u16_u8 v[8:9], v[0:1], v2, v[4:5]", "U:UuU",                       \
		four_differences(a, b, c, true))                                         \
	X("v_mul_f32_sdwa v8, v0, v2 dst_sel:DWORD dst_unused:UNUSED_PAD "               \
	  "src0_sel:DWORD src1_sel:DWORD",                                               \
		"f:ff", bF((double)F(a) * F(b)))

struct op {
	const char *text, *sig;
};

static const struct op ops[] = {
#define ROW(T, S, E) {T, S},
	OPS(ROW)};

/* What operation number i must give: the cases count up in the order of the list. */
static uint64_t reference(size_t i, uint64_t a, uint64_t b, uint64_t c, uint64_t old)
{
	enum { FIRST = __COUNTER__ };

	switch (i) {
#define CASE(T, S, E)                                                                    \
	case __COUNTER__ - FIRST - 1:                                                    \
		return (uint64_t)(E);
		OPS(CASE)
	default:
		return 0;
	}
}

static const uint64_t edges32[] = {0, 1, 2, 0x7f800000, 0xff800000, 0x7fc00000,
	0xffc00001, 0x80000000, 0x7fffffff, 0xffffffff, 0x007fffff, 0x00800000,
	0x3f800000, 0xbf800000, 0x7f7fffff, 0x4f000000, 0x4f800000, 0xcf000000,
	0x3effffff, 0x3f000000, 0x3f000001, 0x00003c00, 0x00007c00, 0x0000fc00,
	0x000003ff, 0x00000400, 0x00007bff, 0x477fefff, 0x477ff000, 0x33000000,
	0x33000001, 0x387fffff};
static const uint64_t edges64[] = {0, 1, 0x8000000000000000, 0x7ff0000000000000,
	0xfff0000000000000, 0x7ff8000000000000, 0x000fffffffffffff, 0x0010000000000000,
	0x3ff0000000000000, 0x7fefffffffffffff, 0x41e0000000000000, 0x41f0000000000000,
	0xc1e0000000200000, ~0ull};

static uint64_t operand(char type)
{
	if (type == 'd' || type == 'U') {
		if (rnd() % 4 == 0)
			return edges64[rnd() % (sizeof(edges64) / 8)];
		if (rnd() % 2)
			return (rnd() | (uint64_t)rnd() << 32);
		return ((uint64_t)(0x3ff00000 + (rnd() % 0x4000000) - 0x2000000) ^
			       (uint64_t)(rnd() & 1) << 31)
			       << 32 |
		       rnd();
	}
	if (rnd() % 4 == 0)
		return edges32[rnd() % (sizeof(edges32) / 8)];
	if (type == 'f' && rnd() % 2)
		return (0x3f800000 + rnd() % 0x8000000 - 0x4000000) ^ (rnd() & 1) << 31;
	return rnd();
}

static bool same(char type, uint64_t got, uint64_t want)
{
	switch (type) {
	case 'f':
		return (uint32_t)got == (uint32_t)want ||
		       (F(got) != F(got) && F(want) != F(want));
	case 'd':
		return got == want || (D(got) != D(got) && D(want) != D(want));
	case 'h':
		return u16(got) == u16(want) || (H(got) != H(got) && H(want) != H(want));
	case 'y':
		return u16(got) == u16(want) ||
		       (F(got << 16) != F(got << 16) && F(want << 16) != F(want << 16));
	case 'p':
		return same('h', got, want) && same('h', got >> 16, want >> 16);
	case 'w':
		return u16(got) == u16(want);
	case 'U':
		return got == want;
	default:
		return (uint32_t)got == (uint32_t)want;
	}
}

static bool is_wide(char type)
{
	return type == 'd' || type == 'U';
}

static unsigned int check_op(struct machine *m, const struct op *op, unsigned int rounds)
{
	const uint32_t n = m->lanes;
	const char *src = strchr(op->sig, ':') + 1;
	uint64_t in[3][64] = {{0}}, old[64];
	char why[96] = "";

	for (unsigned int r = 0; r < rounds; r++) {
		uint64_t exec = r % 3 ? rnd() | (uint64_t)rnd() << 32 : UINT64_MAX,
			 mask = 0;

		for (unsigned int k = 0; k < 3 && src[k]; k++)
			for (uint32_t i = 0; i < n; i++) {
				in[k][i] = operand(src[k]);
				if (!is_wide(src[k]))
					in[k][i] = (uint32_t)in[k][i];
				if (src[k] == 'm') {
					in[k][i] &= 1;
					mask |= in[k][i] << i;
				}
				machine_v(m, 2 * k)[i] = (uint32_t)in[k][i];
				if (is_wide(src[k]))
					machine_v(m, 2 * k + 1)[i] =
						(uint32_t)(in[k][i] >> 32);
			}
		for (uint32_t i = 0; i < n; i++)
			old[i] = machine_v(m, 8)[i] | (uint64_t)machine_v(m, 9)[i] << 32;
		sg_set_s64(m->w, SG_S_VCC, mask);
		machine_exec(m, exec);
		if (!machine_run(m, op->text, why)) {
			print_message("%s: %s\n", op->text, why);
			return 1;
		}
		for (uint32_t i = 0; i < n; i++) {
			uint64_t got = machine_v(m, 8)[i] | (uint64_t)machine_v(m, 9)[i]
								    << 32;
			uint64_t want = exec >> i & 1
						? reference((size_t)(op - ops), in[0][i],
							  in[1][i], in[2][i], old[i])
						: old[i];

			if (!same(exec >> i & 1 ? op->sig[0] : 'U', got, want)) {
				print_message("%s (%u lanes): lane %u of %llx %llx %llx: "
					      "%llx, not %llx\n",
					op->text, n, i, (unsigned long long)in[0][i],
					(unsigned long long)in[1][i],
					(unsigned long long)in[2][i],
					(unsigned long long)got,
					(unsigned long long)want);
				return 1;
			}
		}
	}
	return 0;
}

static void run_all(const char *target, uint32_t lanes)
{
	struct machine *m = machine_new(target, lanes);
	unsigned int bad = 0;

	if (!m)
		skip();
	for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++)
		bad += check_op(m, &ops[i], 60);
	print_message("%s, %u lanes, %s: %zu operations\n", target, lanes, sg_simd_name(),
		sizeof(ops) / sizeof(*ops));
	machine_free(m);
	assert_int_equal(bad, 0);
}

static void test_wave32(void **state)
{
	(void)state;
	run_all("gfx1030", 32);
}

static void test_wave64(void **state)
{
	(void)state;
	run_all("gfx1030", 64);
}

/* Every f16 there is. */
static void test_half_exhaustive(void **state)
{
	static const char *const unary[] = {"v_sqrt_f16 v8, v0", "v_rcp_f16 v8, v0",
		"v_floor_f16 v8, v0", "v_cvt_f32_f16 v8, v0", "v_cvt_u16_f16 v8, v0",
		"v_cvt_i16_f16 v8, v0", "v_rndne_f16 v8, v0", "v_cvt_f16_u16 v8, v0",
		"v_cvt_f16_i16 v8, v0"};
	static const char *const binary[] = {"v_add_f16 v8, v0, v2",
		"v_mul_f16 v8, v0, v2", "v_min_f16 v8, v0, v2", "v_max_f16 v8, v0, v2",
		"v_fma_f16 v8, v0, v2, v4"};
	struct machine *m = machine_new("gfx1030", 32);
	char why[96];

	(void)state;
	if (!m)
		skip();
	for (size_t t = 0; t < sizeof(ops) / sizeof(*ops); t++) {
		bool one = false, two = false;

		for (size_t k = 0; k < sizeof(unary) / sizeof(*unary); k++)
			one |= !strcmp(unary[k], ops[t].text);
		for (size_t k = 0; k < sizeof(binary) / sizeof(*binary); k++)
			two |= !strcmp(binary[k], ops[t].text);
		for (uint32_t pass = 0; pass < (one ? 1 : two ? 24 : 0); pass++) {
			uint32_t b = pass < 12 ? (uint32_t)edges32[pass + 20] & 0xffff
					       : rnd() & 0xffff;
			uint32_t c = rnd() & 0xffff;

			for (uint32_t base = 0; base < 65536; base += 32) {
				for (uint32_t i = 0; i < 32; i++) {
					machine_v(m, 0)[i] = base + i;
					machine_v(m, 2)[i] = b;
					machine_v(m, 4)[i] = c;
				}
				assert_true(machine_run(m, ops[t].text, why));
				for (uint32_t i = 0; i < 32; i++) {
					uint64_t want = reference(t, base + i, b, c, 0);

					if (!same(ops[t].sig[0], machine_v(m, 8)[i],
						    want))
						fail_msg("%s of %x %x %x: %x, not %llx",
							ops[t].text, base + i, b, c,
							machine_v(m, 8)[i],
							(unsigned long long)want);
				}
			}
		}
	}
	machine_free(m);
}

/* All kinds of numbers against each other in each compare. */
static void test_compares(void **state)
{
	static const char *const cond[] = {"f", "lt", "eq", "le", "gt", "lg", "ge", "o",
		"u", "nge", "nlg", "ngt", "nle", "neq", "nlt", "t"};
	static const char types[] = "fdh";
	struct machine *m = machine_new("gfx1030", 32);
	char text[64], why[96];

	(void)state;
	if (!m)
		skip();
	for (size_t t = 0; t < 3; t++)
		for (size_t k = 0; k < 16; k++)
			for (unsigned int r = 0; r < 200; r++) {
				uint32_t want = 0, exec = rnd();

				for (uint32_t i = 0; i < 32; i++) {
					uint64_t a = operand(types[t]),
						 b = rnd() % 4 ? operand(types[t]) : a;
					double x = t == 0 ? F(a) : t == 1 ? D(a) : H(a);
					double y = t == 0 ? F(b) : t == 1 ? D(b) : H(b);
					bool un = x != x || y != y;
					/* bit 0 of k: less; 1: equal; 2: greater; 3:
					 * unordered too */
					bool v = un       ? k & 8
						 : x < y  ? k & 1
						 : x == y ? k & 2
							  : k & 4;

					if (k == 7 || k == 8)
						v = (k == 8) == un;
					machine_v(m, 0)[i] = (uint32_t)a;
					machine_v(m, 1)[i] = (uint32_t)(a >> 32);
					machine_v(m, 2)[i] = (uint32_t)b;
					machine_v(m, 3)[i] = (uint32_t)(b >> 32);
					want |= (uint32_t)v << i;
				}
				machine_exec(m, exec);
				snprintf(text, sizeof(text), "v_cmp_%s_%s vcc_lo, %s, %s",
					!strcmp(cond[k], "t") ? "tru" : cond[k],
					t == 0   ? "f32"
					: t == 1 ? "f64"
						 : "f16",
					t == 1 ? "v[0:1]" : "v0",
					t == 1 ? "v[2:3]" : "v2");
				assert_true(machine_run(m, text, why));
				if (m->w->s[SG_S_VCC] != (want & exec))
					fail_msg("%s: %08x, not %08x", text,
						m->w->s[SG_S_VCC], want & exec);
			}
	machine_free(m);
}

/* IEEE division as compilers spell it, on random bits: equal to this machine's. */
static void test_division(void **state)
{
	static const char *const f32[] = {"v_div_scale_f32 v4, s20, v2, v2, v0",
		"v_div_scale_f32 v5, vcc_lo, v0, v2, v0", "v_rcp_f32 v6, v4",
		"v_fma_f32 v7, -v4, v6, 1.0", "v_fma_f32 v6, v7, v6, v6",
		"v_mul_f32 v7, v5, v6", "v_fma_f32 v9, -v4, v7, v5",
		"v_fma_f32 v7, v9, v6, v7", "v_fma_f32 v9, -v4, v7, v5",
		"v_div_fmas_f32 v6, v9, v6, v7", "v_div_fixup_f32 v8, v6, v2, v0"};
	static const char *const f64[] = {
		"v_div_scale_f64 v[10:11], s20, v[2:3], v[2:3], v[0:1]",
		"v_rcp_f64 v[12:13], v[10:11]",
		"v_fma_f64 v[14:15], -v[10:11], v[12:13], 1.0",
		"v_fma_f64 v[12:13], v[12:13], v[14:15], v[12:13]",
		"v_fma_f64 v[14:15], -v[10:11], v[12:13], 1.0",
		"v_fma_f64 v[12:13], v[12:13], v[14:15], v[12:13]",
		"v_div_scale_f64 v[14:15], vcc_lo, v[0:1], v[2:3], v[0:1]",
		"v_mul_f64 v[16:17], v[14:15], v[12:13]",
		"v_fma_f64 v[10:11], -v[10:11], v[16:17], v[14:15]",
		"v_div_fmas_f64 v[10:11], v[10:11], v[12:13], v[16:17]",
		"v_div_fixup_f64 v[8:9], v[10:11], v[2:3], v[0:1]"};
	struct machine *m = machine_new("gfx1030", 32);
	char why[96];

	(void)state;
	if (!m)
		skip();
	for (unsigned int r = 0; r < 3000; r++)
		for (int wide_ = 0; wide_ < 2; wide_++) {
			uint64_t a[32], b[32];

			for (uint32_t i = 0; i < 32; i++) {
				a[i] = operand(wide_ ? 'd' : 'f');
				b[i] = operand(wide_ ? 'd' : 'f');
				machine_v(m, 0)[i] = (uint32_t)a[i];
				machine_v(m, 1)[i] = (uint32_t)(a[i] >> 32);
				machine_v(m, 2)[i] = (uint32_t)b[i];
				machine_v(m, 3)[i] = (uint32_t)(b[i] >> 32);
			}
			for (int k = 0; k < 11; k++)
				if (!machine_run(m, wide_ ? f64[k] : f32[k], why))
					fail_msg("%s: %s", wide_ ? f64[k] : f32[k], why);
			for (uint32_t i = 0; i < 32; i++) {
				uint64_t got = machine_v(m, 8)[i] |
					       (uint64_t)machine_v(m, 9)[i] << 32;
				float q = F(a[i]) / F(b[i]);
				uint64_t want = wide_ ? bD(D(a[i]) / D(b[i])) : bF(q);

				if (!same(wide_ ? 'd' : 'f', got, want))
					fail_msg("f%d %llx / %llx: %llx, not %llx",
						wide_ ? 64 : 32, (unsigned long long)a[i],
						(unsigned long long)b[i],
						(unsigned long long)got,
						(unsigned long long)want);
			}
		}
	machine_free(m);
}

/* Within 1 ULP of the true value (a double is true enough); denormals are zero. */
static void test_transcendental(void **state)
{
	static const struct {
		const char *text;
		double (*fn)(double);
		double lo, hi;
	} t[] = {
		{"v_exp_f32 v8, v0", exp2, -125, 127},
		{"v_log_f32 v8, v0", log2, 1e-30, 1e30},
		{"v_sqrt_f32 v8, v0", sqrt, 1e-30, 1e30},
		{"v_sin_f32 v8, v0", sin, -250, 250},
		{"v_cos_f32 v8, v0", cos, -250, 250},
	};
	struct machine *m = machine_new("gfx1030", 32);
	char why[96];

	(void)state;
	if (!m)
		skip();
	for (size_t k = 0; k < sizeof(t) / sizeof(*t); k++)
		for (unsigned int r = 0; r < 1000; r++) {
			for (uint32_t i = 0; i < 32; i++) {
				float x = (float)(t[k].lo +
						  (t[k].hi - t[k].lo) * (rnd() / 0x1p32));

				if (r & 1)
					x = fmaxf((float)t[k].lo, x / 1e10f);
				memcpy(&machine_v(m, 0)[i], &x, 4);
			}
			assert_true(machine_run(m, t[k].text, why));
			for (uint32_t i = 0; i < 32; i++) {
				double x = F(machine_v(m, 0)[i]);
				double want =
					t[k].fn(k >= 3 ? 2 * M_PI * (x - rint(x)) : x);
				double ulp = nextafterf(fabsf((float)want), INFINITY) -
					     fabsf((float)want);

				if (!(fabs(F(machine_v(m, 8)[i]) - want) <= ulp))
					fail_msg("%s of %a: %a, not %a", t[k].text, x,
						F(machine_v(m, 8)[i]), want);
			}
		}
	machine_free(m);
}

/* What is not implemented must not execute. */
static void test_refused(void **state)
{
	static const char *const text[] = {"v_add_f99 v0, v1, v2",
		"v_add_nc_u32 v0, -v1, v2", "v_add_f32 v0, v1",
		"v_add_f32 v0, v1, v2, v3", "v_add_f32 v0, v1, s[0:1]",
		"v_add_f64 v[0:1], v2, v[4:5]", "v_add_f32 v0, v1, v2 op_sel:[1,0,0]",
		"v_add_f32 v0, v1, v2 nonsense", "v_add_f32 v0, v1, v2 offset:4",
		"v_and_b32 v0, v1, v2 clamp", "v_and_b32 v0, v1, v2 mul:2",
		"v_pk_add_f16 v0, |v1|, v2", "v_add_f32 v0, v1, v256",
		"s_add_u32 s0, s1, v2", "s_add_u32 s0, -s1, s2",
		"global_load_dword v0, v[1:2], off tfe",
		"global_load_dword v[0:1], v[1:2], off", "ds_read_b32 v0, v1 gds",
		"ds_read_b64 v0, v1", "flat_load_dword v0, v1",
		"s_load_dword v0, s[0:1], 0x0",
		"v_mov_b32_dpp v0, s1 row_shr:1 row_mask:0xf bank_mask:0xf",
		"v_readfirstlane_b32 v0, v1 clamp",
		"s_sendmsg sendmsg(MSG_GS, GS_OP_EMIT, 0)",
		"s_getreg_b32 s0, hwreg(HW_REG_NONSENSE, 0, 32)", "s_barrier_wait 3", ""};
	struct machine *m = machine_new("gfx1030", 32);
	const char *accepted;

	(void)state;
	if (!m)
		skip();
	accepted = machine_accepts(m, text, sizeof(text) / sizeof(*text), 4);
	if (accepted)
		fail_msg("'%s' was accepted, or refused without a reason", accepted);
	machine_free(m);
}

/* Bytes that are signed or not by the instruction's word: of gfx11. */
static void test_dot_signs(void **state)
{
	struct machine *m = machine_new("gfx1100", 32);
	char text[96], why[96];

	(void)state;
	if (!m)
		skip();
	for (unsigned int r = 0; r < 400; r++) {
		int sa = r & 1, sb = r >> 1 & 1;

		for (uint32_t i = 0; i < 32; i++)
			for (uint32_t k = 0; k < 3; k++)
				machine_v(m, 2 * k)[i] = rnd();
		snprintf(text, sizeof(text),
			"v_dot4_i32_iu8 v8, v0, v2, v4 neg_lo:[%d,%d,0]", sa, sb);
		assert_true(machine_run(m, text, why));
		for (uint32_t i = 0; i < 32; i++) {
			uint32_t want = machine_v(m, 4)[i];

			for (int k = 0; k < 4; k++) {
				uint8_t x = (uint8_t)(machine_v(m, 0)[i] >> 8 * k);
				uint8_t y = (uint8_t)(machine_v(m, 2)[i] >> 8 * k);

				want += (uint32_t)((sa ? (int8_t)x : x) *
						   (sb ? (int8_t)y : y));
			}
			assert_int_equal(machine_v(m, 8)[i], want);
		}
	}
	machine_free(m);
}

/* The negative control: an operation made wrong on purpose is seen to be wrong. */
static void test_falsified(void **state)
{
	struct machine *m;
	char why[96];

	(void)state;
	setenv("RCK_SOFT_FALSIFY", "v_add_f32", 1);
	m = machine_new("gfx1030", 32);
	if (!m)
		skip();
	for (uint32_t i = 0; i < 32; i++)
		machine_v(m, 0)[i] = machine_v(m, 2)[i] = 0x3f800000;
	assert_true(machine_run(m, "v_add_f32 v8, v0, v2", why));
	assert_int_not_equal(machine_v(m, 8)[5], 0x40000000);
	assert_true(machine_run(m, "v_mul_f32 v8, v0, v2", why));
	assert_int_equal(machine_v(m, 8)[5], 0x3f800000);
	machine_free(m);
	unsetenv("RCK_SOFT_FALSIFY");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wave32),
		cmocka_unit_test(test_wave64),
		cmocka_unit_test(test_half_exhaustive),
		cmocka_unit_test(test_compares),
		cmocka_unit_test(test_division),
		cmocka_unit_test(test_transcendental),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_dot_signs),
		cmocka_unit_test(test_falsified),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
