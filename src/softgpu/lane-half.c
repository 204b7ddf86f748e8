/*
 * f16, bf16 and 16-bit integers, one a lane. f16 values are computed as floats: one
 * operation of 24 bits and a rounding to 11 give what one rounding gives (24 >= 2 * 11 +
 * 2), except fma, which rounds to odd in between.
 */
#include "softgpu/lane.h"

static inline float minh(float a, float b)
{
	float r = a < b ? a : a > b ? b : sg_bits_f(sg_f_bits(a) | sg_f_bits(b));

	r = b != b ? a : r;
	return a != a ? b : r;
}

static inline float maxh(float a, float b)
{
	float r = a > b ? a : a < b ? b : sg_bits_f(sg_f_bits(a) & sg_f_bits(b));

	r = b != b ? a : r;
	return a != a ? b : r;
}

/*
 * sg_h2f has made a signalling NaN quiet, so these look at the bits: in IEEE mode min and
 * max of one give it, quiet.
 */
static inline bool snanh(uint32_t x)
{
	return (x & 0x7fff) > 0x7c00 && !(x & 0x200);
}

static inline float med3h(float a, float b, float c)
{
	float m;

	if (a != a || b != b || c != c)
		return minh(minh(a, b), c);
	m = maxh(maxh(a, b), c);
	return m == a ? maxh(b, c) : m == b ? maxh(a, c) : maxh(a, b);
}

static inline float imumh(float a, float b, bool max)
{
	return a != a ? a : b != b ? b : max ? maxh(a, b) : minh(a, b);
}

static inline float fracth(float a)
{
	float r = a - floorf(a);

	return r > 0x1.ffcp-1f ? 0x1.ffcp-1f : r;
}

static inline int exph(float a)
{
	int e = 0;

	frexpf(a, &e);
	return a - a == 0 ? e : 0;
}

static inline float manth(float a)
{
	int e;

	return a - a == 0 ? frexpf(a, &e) : a;
}

static inline float ldexph(float a, int n)
{
	return sg_d2f_odd(ldexp(a, MAX(MIN(n, 100), -100)));
}

static inline uint32_t sat8(int16_t x)
{
	return (uint32_t)(x < 0 ? 0 : x > 255 ? 255 : x);
}

/* clang-format off */
OP2(v_add_f16, h, h, h, 0, a + b)
OP2(v_sub_f16, h, h, h, 0, a - b)
OP2(v_subrev_f16, h, h, h, 0, b - a)
OP2(v_mul_f16, h, h, h, 0, a * b)
OP3(v_fma_f16, h, h, h, h, SG_OP_KEEPHI, sg_fma_odd(a, b, c))
OPT(v_fmac_f16, h, h, h, 0, sg_fma_odd(a, b, c))
OP3(v_fmaak_f16, h, h, h, h, 0, sg_fma_odd(a, b, c))
OP3(v_fmamk_f16, h, h, h, h, 0, sg_fma_odd(a, b, c))
OP3(v_mad_f16, h, h, h, h, SG_OP_KEEPHI, sg_h2f(sg_f2h(a * b)) + c)
OPT(v_mac_f16, h, h, h, 0, sg_h2f(sg_f2h(a * b)) + c)
OP3(v_madak_f16, h, h, h, h, 0, sg_h2f(sg_f2h(a * b)) + c)
OP3(v_madmk_f16, h, h, h, h, 0, sg_h2f(sg_f2h(a * b)) + c)
OP2(v_min_f16, h, h, h, 0, snanh(pa[i]) ? a : snanh(pb[i]) ? b : minh(a, b))
OP2(v_max_f16, h, h, h, 0, snanh(pa[i]) ? a : snanh(pb[i]) ? b : maxh(a, b))
OP3(v_min3_f16, h, h, h, h, SG_OP_KEEPHI, minh(minh(a, b), c))
OP3(v_max3_f16, h, h, h, h, SG_OP_KEEPHI, maxh(maxh(a, b), c))
OP3(v_med3_f16, h, h, h, h, SG_OP_KEEPHI, med3h(a, b, c))
OP3(v_maxmin_f16, h, h, h, h, 0, minh(maxh(a, b), c))
OP3(v_minmax_f16, h, h, h, h, 0, maxh(minh(a, b), c))
OP2(v_min_num_f16, h, h, h, 0, minh(a, b))
OP2(v_max_num_f16, h, h, h, 0, maxh(a, b))
OP3(v_min3_num_f16, h, h, h, h, 0, minh(minh(a, b), c))
OP3(v_max3_num_f16, h, h, h, h, 0, maxh(maxh(a, b), c))
OP3(v_med3_num_f16, h, h, h, h, 0, med3h(a, b, c))
OP3(v_maxmin_num_f16, h, h, h, h, 0, minh(maxh(a, b), c))
OP3(v_minmax_num_f16, h, h, h, h, 0, maxh(minh(a, b), c))
OP2(v_minimum_f16, h, h, h, 0, imumh(a, b, false))
OP2(v_maximum_f16, h, h, h, 0, imumh(a, b, true))
OP3(v_minimum3_f16, h, h, h, h, 0, imumh(imumh(a, b, false), c, false))
OP3(v_maximum3_f16, h, h, h, h, 0, imumh(imumh(a, b, true), c, true))
OP3(v_minimummaximum_f16, h, h, h, h, 0, imumh(imumh(a, b, false), c, true))
OP3(v_maximumminimum_f16, h, h, h, h, 0, imumh(imumh(a, b, true), c, false))
OP1(v_floor_f16, h, h, 0, floorf(a))
OP1(v_ceil_f16, h, h, 0, ceilf(a))
OP1(v_trunc_f16, h, h, 0, truncf(a))
OP1(v_rndne_f16, h, h, 0, roundevenf(a))
OP1(v_fract_f16, h, h, 0, fracth(a))
OP2(v_ldexp_f16, h, h, s, 0, ldexph(a, b))
OP1(v_frexp_exp_i16_f16, s, h, 0, exph(a))
OP1(v_frexp_mant_f16, h, h, 0, manth(a))
OP1(v_rcp_f16, h, h, 0, sg_d2f_odd(1.0 / a))
OP1(v_sqrt_f16, h, h, 0, sqrtf(a))
OP1(v_rsq_f16, h, h, 0, sg_d2f_odd(1.0 / sqrt((double)a)))
OP1(v_exp_f16, h, h, 0, sg_d2f_odd(exp2((double)a)))
OP1(v_log_f16, h, h, 0, sg_d2f_odd(log2((double)a)))
OP1(v_sin_f16, h, h, 0, fabsf(a) > 256 ? 0 : (float)sin(2 * M_PI * (a - rint((double)a))))
OP1(v_cos_f16, h, h, 0, fabsf(a) > 256 ? 1 : (float)cos(2 * M_PI * (a - rint((double)a))))
/* The sum of f32 or f16 sources rounded to f16: sg_src_row has made floats of them. */
OP3(v_fma_mixlo_f16, h, g, g, g, SG_OP_KEEPHI, sg_fma_odd(a, b, c))
OP3(v_mad_mixlo_f16, h, g, g, g, SG_OP_KEEPHI, a * b + c)

/* The same into the upper half: the decoder sees the name. */
OP3(v_fma_mixhi_f16, h, g, g, g, SG_OP_KEEPHI, sg_fma_odd(a, b, c))
OP3(v_mad_mixhi_f16, h, g, g, g, SG_OP_KEEPHI, a * b + c)

OP1(v_mov_b16, x, x, SG_OP_NOFLUSH | SG_OP_KEEPHI, a)
OP1(v_not_b16, x, x, 0, ~a)
OP2(v_and_b16, x, x, x, 0, a & b)
OP2(v_or_b16, x, x, x, 0, a | b)
OP2(v_xor_b16, x, x, x, 0, a ^ b)
OP3(v_cndmask_b16, x, x, x, m, SG_OP_FMODS, c ? b : a)
OP3(v_mad_legacy_f16, h, h, h, h, 0, sg_h2f(sg_f2h(a * b)) + c)
OP3(v_fma_legacy_f16, h, h, h, h, 0, sg_fma_odd(a, b, c))
OP3(v_mad_legacy_u16, w, w, w, w, 0, (uint32_t)a * b + c)
OP3(v_mad_legacy_i16, s, s, s, s, 0, a * b + c)
OP2(v_pack_b32_f16, b, x, x, SG_OP_FMODS, a | (uint32_t)b << 16)
OP2(v_add_u16, w, w, w, SG_OP_SAT, a + b)
OP2(v_sub_u16, w, w, w, SG_OP_SAT, a - b)
OP2(v_subrev_u16, w, w, w, SG_OP_SAT, b - a)
OP2(v_add_u16_sat, w, w, w, 0, sat_u16(a + b))
OP2(v_sub_u16_sat, w, w, w, 0, sat_u16(a - b))
OP2(v_subrev_u16_sat, w, w, w, 0, sat_u16(b - a))
OP2(v_add_i16, s, s, s, SG_OP_SAT | SG_OP_KEEPHI, a + b)
OP2(v_sub_i16, s, s, s, SG_OP_SAT | SG_OP_KEEPHI, a - b)
OP2(v_add_i16_sat, s, s, s, SG_OP_KEEPHI, sat_i16(a + b))
OP2(v_sub_i16_sat, s, s, s, SG_OP_KEEPHI, sat_i16(a - b))
OP2(v_mul_lo_u16, w, w, w, 0, (uint32_t)a * b)
OP3(v_mad_u16, w, w, w, w, SG_OP_SAT | SG_OP_KEEPHI, (uint32_t)a * b + c)
OP3(v_mad_i16, s, s, s, s, SG_OP_SAT | SG_OP_KEEPHI, a * b + c)
OP3(v_mad_u16_sat, w, w, w, w, SG_OP_KEEPHI, MIN((uint32_t)a * b + (uint64_t)c, 0xffff))
OP3(v_mad_i16_sat, s, s, s, s, SG_OP_KEEPHI, sat_i16((int32_t)MAX(MIN((int64_t)a * b + c, INT32_MAX), INT32_MIN)))
OP2(v_lshlrev_b16, x, w, x, 0, b << (a & 15))
OP2(v_lshrrev_b16, x, w, x, 0, b >> (a & 15))
OP2(v_ashrrev_i16, s, w, s, 0, b >> (a & 15))
OP2(v_min_u16, w, w, w, 0, MIN(a, b))
OP2(v_max_u16, w, w, w, 0, MAX(a, b))
OP2(v_min_i16, s, s, s, 0, MIN(a, b))
OP2(v_max_i16, s, s, s, 0, MAX(a, b))
OP3(v_min3_u16, w, w, w, w, SG_OP_KEEPHI, MIN(MIN(a, b), c))
OP3(v_max3_u16, w, w, w, w, SG_OP_KEEPHI, MAX(MAX(a, b), c))
OP3(v_med3_u16, w, w, w, w, SG_OP_KEEPHI, MED3(a, b, c))
OP3(v_min3_i16, s, s, s, s, SG_OP_KEEPHI, MIN(MIN(a, b), c))
OP3(v_max3_i16, s, s, s, s, SG_OP_KEEPHI, MAX(MAX(a, b), c))
OP3(v_med3_i16, s, s, s, s, SG_OP_KEEPHI, MED3(a, b, c))
OP1(v_cvt_i32_i16, i, s, 0, a)
OP1(v_cvt_u32_u16, u, w, 0, a)
OP1(v_sat_pk_u8_i16, x, q, 0, sat8((int16_t)a) | sat8((int16_t)(a >> 16)) << 8)
/* clang-format on */
