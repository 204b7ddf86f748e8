/* Scalar float operations (gfx11.5, gfx12), and gfx12's v_s_*: transcendentals of
 * scalars. */
#include "softgpu/isa.h"
#include "softgpu/lane-float.h"

#include <math.h>
#include <string.h>

static float get_f(const struct sg_wave *w, const struct sg_inst *in, unsigned int k)
{
	uint32_t u = *sg_sp(w, in, k);
	float f;

	if (in->src[k].abs)
		u &= 0x7fffffff;
	if (in->src[k].neg)
		u ^= 0x80000000;
	if (!(w->mode & 0x10) && !(u & 0x7f800000))
		u &= 0x80000000;
	memcpy(&f, &u, 4);
	return f;
}

static float get_h(const struct sg_wave *w, const struct sg_inst *in, unsigned int k)
{
	uint32_t u = *sg_sp(w, in, k);

	if (in->src[k].abs)
		u &= 0x7fff;
	if (in->src[k].neg)
		u ^= 0x8000;
	if (!(w->mode & 0x40) && !(u & 0x7c00))
		u &= 0x8000;
	return sg_h2f((uint16_t)u);
}

static void put_f(struct sg_wave *w, const struct sg_inst *in, float f)
{
	uint32_t u;

	memcpy(&u, &f, 4);
	if (!(w->mode & 0x20) && !(u & 0x7f800000))
		u &= 0x80000000;
	w->s[in->dst[0].off] = u;
}

/* f16 results have a zero upper half. */
static void put_h(struct sg_wave *w, const struct sg_inst *in, float f)
{
	w->s[in->dst[0].off] = sg_f2h_mode(f, sg_fp_now.round);
}

static float minimum(float a, float b, bool max)
{
	if (a != a || b != b)
		return NAN;
	if (a == b)
		return !!signbit(a) == max ? b : a;
	return (a < b) != max ? a : b;
}

static float min_num(float a, float b, bool max)
{
	return a != a ? b : b != b ? a : minimum(a, b, max);
}

#define SF(NAME, SIG, FLAGS, BODY)                                                       \
	static const struct sg_inst *NAME##_exec(                                        \
		struct sg_wave *w, const struct sg_inst *in)                             \
	{                                                                                \
		unsigned int csr = sg_fp_enter(w, in->ndst ? in->dst[0].type : 0);       \
		BODY;                                                                    \
		sg_fp_leave(csr);                                                        \
		return in + 1;                                                           \
	}                                                                                \
	SG_OP_ENTRY(NAME, {#NAME, SIG, FLAGS, 0, NULL, NAME##_exec, NULL});
/* One, two, three sources of T (f or h). */
#define SF1(NAME, TD, T, EXPR)                                                           \
	SF(NAME, #TD ":" #T, 0, float a = get_##T(w, in, 0);                             \
		put_##TD(w, in, (float)(EXPR)))
#define SF2(NAME, T, EXPR)                                                               \
	SF(NAME, #T ":" #T #T, 0, float a = get_##T(w, in, 0);                           \
		float b = get_##T(w, in, 1); put_##T(w, in, (EXPR)))
#define SF3(NAME, T, SIG, FLAGS, EXPR)                                                   \
	SF(NAME, SIG, FLAGS, float a = get_##T(w, in, 0); float b = get_##T(w, in, 1);   \
		float c = get_##T(w, in, 2); put_##T(w, in, (EXPR)))
#define SFC(NAME, T, COND)                                                               \
	SF(NAME, ":" #T #T, 0, float a = get_##T(w, in, 0); float b = get_##T(w, in, 1); \
		w->s[SG_S_SCC] = (COND))

/* clang-format off */
#define BOTH(T, F) \
	SF2(s_add_##T, F, a + b) \
	SF2(s_sub_##T, F, a - b) \
	SF2(s_mul_##T, F, a * b) \
	SF2(s_min_##T, F, min_num(a, b, false)) \
	SF2(s_max_##T, F, min_num(a, b, true)) \
	SF2(s_min_num_##T, F, min_num(a, b, false)) \
	SF2(s_max_num_##T, F, min_num(a, b, true)) \
	SF2(s_minimum_##T, F, minimum(a, b, false)) \
	SF2(s_maximum_##T, F, minimum(a, b, true)) \
	SF1(s_ceil_##T, F, F, ceilf(a)) \
	SF1(s_floor_##T, F, F, floorf(a)) \
	SF1(s_trunc_##T, F, F, truncf(a)) \
	SF1(s_rndne_##T, F, F, roundevenf(a)) \
	SFC(s_cmp_lt_##T, F, a < b) \
	SFC(s_cmp_eq_##T, F, a == b) \
	SFC(s_cmp_le_##T, F, a <= b) \
	SFC(s_cmp_gt_##T, F, a > b) \
	SFC(s_cmp_lg_##T, F, a < b || a > b) \
	SFC(s_cmp_ge_##T, F, a >= b) \
	SFC(s_cmp_o_##T, F, a == a && b == b) \
	SFC(s_cmp_u_##T, F, a != a || b != b) \
	SFC(s_cmp_nge_##T, F, !(a >= b)) \
	SFC(s_cmp_nlg_##T, F, !(a < b || a > b)) \
	SFC(s_cmp_ngt_##T, F, !(a > b)) \
	SFC(s_cmp_nle_##T, F, !(a <= b)) \
	SFC(s_cmp_neq_##T, F, a != b) \
	SFC(s_cmp_nlt_##T, F, !(a < b))
BOTH(f32, f)
BOTH(f16, h)
SF3(s_fmac_f32, f, "f:ff", SG_OP_TIE, fmaf(a, b, c))
SF3(s_fmaak_f32, f, "f:fff", 0, fmaf(a, b, c))
SF3(s_fmamk_f32, f, "f:fff", 0, fmaf(a, b, c))
SF3(s_fmac_f16, h, "h:hh", SG_OP_TIE, sg_fma_mode(a, b, c))
SF1(s_cvt_f32_f16, f, h, a)
SF1(s_cvt_f16_f32, h, f, a)
SF(s_cvt_pk_rtz_f16_f32, "b:ff", 0, float a = get_f(w, in, 0); float b = get_f(w, in, 1);
	w->s[in->dst[0].off] = sg_f2h_mode(a, 3) | (uint32_t)sg_f2h_mode(b, 3) << 16)
SF(s_cvt_hi_f32_f16, "f:b", 0, put_f(w, in, sg_h2f((uint16_t)(*sg_sp(w, in, 0) >> 16))))
SF(s_cvt_f32_i32, "f:i", 0, put_f(w, in, (float)(int32_t)*sg_sp(w, in, 0)))
SF(s_cvt_f32_u32, "f:u", 0, put_f(w, in, (float)*sg_sp(w, in, 0)))
SF(s_cvt_i32_f32, "i:f", 0, double a = get_f(w, in, 0); w->s[in->dst[0].off] = a != a ? 0
	: a >= 0x1p31 ? 0x7fffffffu : a <= -0x1p31 ? 0x80000000u : (uint32_t)(int32_t)a)
SF(s_cvt_u32_f32, "u:f", 0, double a = get_f(w, in, 0); w->s[in->dst[0].off] = a != a || a <= 0 ? 0
	: a >= 0x1p32 ? UINT32_MAX : (uint32_t)(int64_t)a)
SF1(v_s_exp_f32, f, f, sg_fz((float)exp2((double)sg_fz(a))))
SF1(v_s_log_f32, f, f, log2((double)sg_fz(a)))
SF1(v_s_rcp_f32, f, f, sg_fz(1 / sg_fz(a)))
SF1(v_s_rsq_f32, f, f, 1 / sqrt((double)sg_fz(a)))
SF1(v_s_sqrt_f32, f, f, sqrtf(sg_fz(a)))
SF1(v_s_exp_f16, h, h, sg_d2f_odd(exp2((double)a)))
SF1(v_s_log_f16, h, h, sg_d2f_odd(log2((double)a)))
SF1(v_s_rcp_f16, h, h, sg_d2f_odd(1.0 / a))
SF1(v_s_rsq_f16, h, h, sg_d2f_odd(1 / sqrt((double)a)))
SF1(v_s_sqrt_f16, h, h, sqrtf(a))
/* clang-format on */
