/*
 * f32 arithmetic. Where the guides say "legacy" or DX9, anything times zero is zero. min
 * and max follow IEEE mode (a signalling NaN comes out quiet), -0 < +0.
 */
#include "softgpu/lane.h"

static inline float quiet(float x)
{
	return sg_bits_f(sg_f_bits(x) | 0x400000);
}

static inline bool snan(float x)
{
	uint32_t m = sg_f_bits(x) & 0x7fffffff;

	return m > 0x7f800000 && !(m & 0x400000);
}

static inline float fmin_(float a, float b)
{
	uint32_t x = sg_f_bits(a), y = sg_f_bits(b);
	float r = a < b ? a : a > b ? b : sg_bits_f(x | y);

	r = b != b ? a : r;
	r = a != a ? b : r;
	r = snan(b) ? quiet(b) : r;
	return snan(a) ? quiet(a) : r;
}

static inline float fmax_(float a, float b)
{
	uint32_t x = sg_f_bits(a), y = sg_f_bits(b);
	float r = a > b ? a : a < b ? b : sg_bits_f(x & y);

	r = b != b ? a : r;
	r = a != a ? b : r;
	r = snan(b) ? quiet(b) : r;
	return snan(a) ? quiet(a) : r;
}

/* IEEE 754-2019 minimumNumber: a signalling NaN is a NaN like the others. */
static inline float fminnum(float a, float b)
{
	float r = fmin_(a != a ? b : a, b != b ? a : b);

	return r != r ? quiet(r) : r;
}

static inline float fmaxnum(float a, float b)
{
	float r = fmax_(a != a ? b : a, b != b ? a : b);

	return r != r ? quiet(r) : r;
}

/* IEEE 754-2019 minimum and maximum: NaN wins. */
static inline float fimum_min(float a, float b)
{
	return a != a ? quiet(a) : b != b ? quiet(b) : fmin_(a, b);
}

static inline float fimum_max(float a, float b)
{
	return a != a ? quiet(a) : b != b ? quiet(b) : fmax_(a, b);
}

static inline float med3f(float a, float b, float c)
{
	float m;

	if (a != a || b != b || c != c)
		return fmin_(fmin_(a, b), c);
	m = fmax_(fmax_(a, b), c);
	return m == a ? fmax_(b, c) : m == b ? fmax_(a, c) : fmax_(a, b);
}

static inline float mul_zero(float a, float b)
{
	return a == 0 || b == 0 ? 0 : a * b;
}

static inline float fractf(float a)
{
	float r = a - floorf(a);

	/* Never 1.0; inf gives NaN by the subtraction. */
	return r > 0x1.fffffep-1f ? 0x1.fffffep-1f : r;
}

static inline float ldexp_f(float a, int32_t n)
{
	/* Beyond these any float is infinite or zero; the cast rounds once. */
	n = MAX(MIN(n, 300), -300);
	return (float)ldexp((double)a, n);
}

static inline int exp_of(float a)
{
	int e = 0;

	frexpf(a, &e);
	return a - a == 0 ? e : 0;
}

static inline float mant_of(float a)
{
	int e;

	return a - a == 0 ? frexpf(a, &e) : a != a ? quiet(a) : a;
}

/* Which axis of (x, y, z) is the major one: V_CUBE*. */
static inline float cube_id(float x, float y, float z)
{
	float ax = fabsf(x), ay = fabsf(y), az = fabsf(z);

	if (az >= ax && az >= ay)
		return z < 0 ? 5 : 4;
	if (ay >= ax)
		return y < 0 ? 3 : 2;
	return x < 0 ? 1 : 0;
}

static inline float cube_sc(float x, float y, float z)
{
	float ax = fabsf(x), ay = fabsf(y), az = fabsf(z);

	if (az >= ax && az >= ay)
		return z < 0 ? -x : x;
	if (ay >= ax)
		return x;
	return x < 0 ? z : -z;
}

static inline float cube_tc(float x, float y, float z)
{
	float ax = fabsf(x), ay = fabsf(y), az = fabsf(z);

	if (az >= ax && az >= ay)
		return -y;
	if (ay >= ax)
		return y < 0 ? -z : z;
	return -y;
}

static inline float cube_ma(float x, float y, float z)
{
	float ax = fabsf(x), ay = fabsf(y), az = fabsf(z);

	if (az >= ax && az >= ay)
		return 2 * z;
	return ay >= ax ? 2 * y : 2 * x;
}

/* mad and mac round twice and have no denormals, whatever MODE says. */
#define MAD(a, b, c) sg_fz(sg_fz(sg_fz(a) * sg_fz(b)) + sg_fz(c))

/* clang-format off */
OP2(v_add_f32, f, f, f, 0, a + b)
OP2(v_sub_f32, f, f, f, 0, a - b)
OP2(v_subrev_f32, f, f, f, 0, b - a)
OP2(v_mul_f32, f, f, f, 0, a * b)
OP2(v_mul_legacy_f32, f, f, f, 0, mul_zero(a, b))
OP3(v_fma_f32, f, f, f, f, 0, fmaf(a, b, c))
OP3(v_fma_legacy_f32, f, f, f, f, 0, a == 0 || b == 0 ? 0.0f + c : fmaf(a, b, c))
OPT(v_fmac_f32, f, f, f, 0, fmaf(a, b, c))
OPT(v_fmac_legacy_f32, f, f, f, 0, a == 0 || b == 0 ? 0.0f + c : fmaf(a, b, c))
OP3(v_fmaak_f32, f, f, f, f, 0, fmaf(a, b, c))
OP3(v_fmamk_f32, f, f, f, f, 0, fmaf(a, b, c))
OP3(v_mad_f32, f, f, f, f, 0, MAD(a, b, c))
OP3(v_mad_legacy_f32, f, f, f, f, 0, sg_fz(sg_fz(mul_zero(sg_fz(a), sg_fz(b))) + sg_fz(c)))
OPT(v_mac_f32, f, f, f, 0, MAD(a, b, c))
OPT(v_mac_legacy_f32, f, f, f, 0, sg_fz(sg_fz(mul_zero(sg_fz(a), sg_fz(b))) + sg_fz(c)))
OP3(v_madak_f32, f, f, f, f, 0, MAD(a, b, c))
OP3(v_madmk_f32, f, f, f, f, 0, MAD(a, b, c))
OP2(v_min_f32, f, f, f, 0, fmin_(a, b))
OP2(v_max_f32, f, f, f, 0, fmax_(a, b))
OP3(v_min3_f32, f, f, f, f, 0, fmin_(fmin_(a, b), c))
OP3(v_max3_f32, f, f, f, f, 0, fmax_(fmax_(a, b), c))
OP3(v_med3_f32, f, f, f, f, 0, med3f(a, b, c))
OP3(v_maxmin_f32, f, f, f, f, 0, fmin_(fmax_(a, b), c))
OP3(v_minmax_f32, f, f, f, f, 0, fmax_(fmin_(a, b), c))
OP2(v_min_num_f32, f, f, f, 0, fminnum(a, b))
OP2(v_max_num_f32, f, f, f, 0, fmaxnum(a, b))
OP3(v_min3_num_f32, f, f, f, f, 0, fminnum(fminnum(a, b), c))
OP3(v_max3_num_f32, f, f, f, f, 0, fmaxnum(fmaxnum(a, b), c))
OP3(v_med3_num_f32, f, f, f, f, 0, med3f(a, b, c))
OP3(v_maxmin_num_f32, f, f, f, f, 0, fminnum(fmaxnum(a, b), c))
OP3(v_minmax_num_f32, f, f, f, f, 0, fmaxnum(fminnum(a, b), c))
OP2(v_minimum_f32, f, f, f, 0, fimum_min(a, b))
OP2(v_maximum_f32, f, f, f, 0, fimum_max(a, b))
OP3(v_minimum3_f32, f, f, f, f, 0, fimum_min(fimum_min(a, b), c))
OP3(v_maximum3_f32, f, f, f, f, 0, fimum_max(fimum_max(a, b), c))
OP3(v_minimummaximum_f32, f, f, f, f, 0, fimum_max(fimum_min(a, b), c))
OP3(v_maximumminimum_f32, f, f, f, f, 0, fimum_min(fimum_max(a, b), c))
OP1(v_floor_f32, f, f, 0, floorf(a))
OP1(v_ceil_f32, f, f, 0, ceilf(a))
OP1(v_trunc_f32, f, f, 0, truncf(a))
OP1(v_rndne_f32, f, f, 0, roundevenf(a))
OP1(v_fract_f32, f, f, 0, fractf(a))
OP2(v_ldexp_f32, f, f, i, 0, ldexp_f(a, b))
OP1(v_frexp_exp_i32_f32, i, f, 0, exp_of(a))
OP1(v_frexp_mant_f32, f, f, 0, mant_of(a))
OP3(v_cubeid_f32, f, f, f, f, 0, cube_id(a, b, c))
OP3(v_cubesc_f32, f, f, f, f, 0, cube_sc(a, b, c))
OP3(v_cubetc_f32, f, f, f, f, 0, cube_tc(a, b, c))
OP3(v_cubema_f32, f, f, f, f, 0, cube_ma(a, b, c))
/* f32 or f16 sources by op_sel_hi: sg_src_row has made floats of them. */
OP3(v_fma_mix_f32, f, g, g, g, 0, fmaf(a, b, c))
OP3(v_mad_mix_f32, f, g, g, g, 0, MAD(a, b, c))
/* clang-format on */
