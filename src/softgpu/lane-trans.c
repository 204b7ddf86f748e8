/*
 * Transcendental f32 operations and the steps of IEEE division. The guides allow 1 ULP
 * for rcp, rsq, sqrt, exp, log: here they are computed in double and rounded once.
 * Denormal sources and results of theirs are zero on the hardware.
 */
#include "softgpu/lane.h"

static inline float rev(float a, double (*fn)(double))
{
	double x = a;

	if (a - a != 0)
		return NAN;
	return (float)fn(2 * M_PI * (x - rint(x)));
}

static inline float sin_(float a)
{
	return a == 0 ? a : rev(a, sin);
}

static inline float log_(float a)
{
	return (float)log2((double)a);
}

/* 2 to the power of a, good to 2^-45 before the one rounding to float. */
static inline float exp_(float a)
{
	float t = a > 130 ? 130 : a < -160 ? -160 : a;
	int32_t n = (int32_t)(t + (t < 0 ? -0.5f : 0.5f));
	double x = ((double)t - n) * M_LN2, r = 1;

	r = 1 +
	    x * (1 + x * (0.5 + x * (1.0 / 6 +
					    x * (1.0 / 24 +
							x * (1.0 / 120 +
								    x * (1.0 / 720 +
										x * (1.0 / 5040 +
											    x * (1.0 / 40320 +
													x * (1.0 / 362880 +
														    x * (1.0 / 3628800))))))))));
	r *= sg_bits_d((uint64_t)(n + 1023) << 52);
	return a != a ? a + a : (float)r;
}

static inline int exponent(float a)
{
	return (int)(sg_f_bits(a) >> 23 & 0xff);
}

static inline int exponent_d(double a)
{
	return (int)(sg_d_bits(a) >> 52 & 0x7ff);
}

/* V_DIV_SCALE_F32: a is b (the denominator) or c (the numerator). */
static float div_scale(float a, float b, float c, bool *vcc)
{
	bool den = sg_f_bits(a) == sg_f_bits(b);
	double q = (double)c / b;
	bool tiny_q = fabs(q) < 0x1p-126, tiny_r = fabs(1.0 / b) < 0x1p-126;

	*vcc = false;
	if (b == 0 || c == 0)
		return NAN;
	if (exponent(c) - exponent(b) >= 96) {
		*vcc = true;
		return den ? a * 0x1p64f : a;
	}
	if (exponent(b) == 0)
		return a * 0x1p64f;
	if (tiny_r && tiny_q) {
		*vcc = true;
		return den ? a * 0x1p-64f : a;
	}
	if (tiny_r)
		return a * 0x1p-64f;
	if (tiny_q) {
		*vcc = true;
		return sg_f_bits(a) == sg_f_bits(c) ? a * 0x1p64f : a;
	}
	return exponent(c) <= 23 ? a * 0x1p64f : a;
}

static double div_scale_d(double a, double b, double c, bool *vcc)
{
	bool den = sg_d_bits(a) == sg_d_bits(b);
	bool tiny_q, tiny_r = fabs(1.0 / b) < 0x1p-1022;
	int eb, ec;
	double mq = fabs(frexp(c, &ec) / frexp(b, &eb));

	/* The quotient's size without its underflow. */
	tiny_q = c - c == 0 && b - b == 0 ? (long)ilogb(mq) + ec - eb < -1022
					  : fabs(c / b) < 0x1p-1022;
	*vcc = false;
	if (b == 0 || c == 0)
		return NAN;
	if (exponent_d(c) - exponent_d(b) >= 768) {
		*vcc = true;
		return den ? a * 0x1p128 : a;
	}
	if (exponent_d(b) == 0)
		return a * 0x1p128;
	if (tiny_r && tiny_q) {
		*vcc = true;
		return den ? a * 0x1p-128 : a;
	}
	if (tiny_r)
		return a * 0x1p-128;
	if (tiny_q) {
		*vcc = true;
		return sg_d_bits(a) == sg_d_bits(c) ? a * 0x1p128 : a;
	}
	return exponent_d(c) <= 53 ? a * 0x1p128 : a;
}

/* V_DIV_FIXUP: a the quotient, b the denominator, c the numerator. */
static inline float div_fixup(float a, float b, float c)
{
	uint32_t s = (sg_f_bits(b) ^ sg_f_bits(c)) & 0x80000000;

	if (c != c)
		return sg_bits_f(sg_f_bits(c) | 0x400000);
	if (b != b)
		return sg_bits_f(sg_f_bits(b) | 0x400000);
	if ((b == 0 && c == 0) || (isinf(b) && isinf(c)))
		return sg_bits_f(0xffc00000);
	if (b == 0 || isinf(c))
		return sg_bits_f(s | 0x7f800000);
	if (isinf(b) || c == 0 || exponent(c) - exponent(b) < -150)
		return sg_bits_f(s);
	if (a != a) /* the steps before overflowed */
		return sg_bits_f(s | 0x7f800000);
	return sg_bits_f(s | (sg_f_bits(a) & 0x7fffffff));
}

static inline float div_fixup_h(float a, float b, float c)
{
	uint32_t s = (sg_f_bits(b) ^ sg_f_bits(c)) & 0x80000000;

	if (c != c || b != b)
		return c != c ? c : b;
	if ((b == 0 && c == 0) || (isinf(b) && isinf(c)))
		return sg_bits_f(0xffc00000);
	if (b == 0 || isinf(c))
		return sg_bits_f(s | 0x7f800000);
	if (isinf(b) || c == 0)
		return sg_bits_f(s);
	return sg_bits_f(s | (sg_f_bits(a) & 0x7fffffff));
}

static inline double div_fixup_d(double a, double b, double c)
{
	uint64_t s = (sg_d_bits(b) ^ sg_d_bits(c)) >> 63 << 63;

	if (c != c)
		return sg_bits_d(sg_d_bits(c) | 1ull << 51);
	if (b != b)
		return sg_bits_d(sg_d_bits(b) | 1ull << 51);
	if ((b == 0 && c == 0) || (isinf(b) && isinf(c)))
		return sg_bits_d(0xfff8ull << 48);
	if (b == 0 || isinf(c))
		return sg_bits_d(s | 0x7ff0ull << 48);
	if (isinf(b) || c == 0 || exponent_d(c) - exponent_d(b) < -1075)
		return sg_bits_d(s);
	if (a != a)
		return sg_bits_d(s | 0x7ff0ull << 48);
	return sg_bits_d(s | sg_d_bits(a) << 1 >> 1);
}

/*
 * Where every quotient of a row is EASY's, which needs no scaling and has no infinity,
 * NaN or denormal near, the row is done at once.
 */
static inline bool easy(int eb, int ec, int least, int most)
{
	return eb >= 1 && ec >= least && eb <= most - 2 && ec <= most;
}

#define EASY_ROW(TD, TA, TB, TC, COND, EASY)                                             \
	uint32_t hard[32];                                                               \
	LANES                                                                            \
	{                                                                                \
		C_##TA a = L_##TA(pa);                                                   \
		C_##TB b = L_##TB(pb);                                                   \
		C_##TC c = L_##TC(pc);                                                   \
		(void)a;                                                                 \
		hard[i] = (COND) ? 0 : em[i];                                            \
	}                                                                                \
	if (!lane_mask(hard)) {                                                          \
		LANES                                                                    \
		{                                                                        \
			C_##TA a = L_##TA(pa);                                           \
			C_##TB b = L_##TB(pb);                                           \
			C_##TC c = L_##TC(pc);                                           \
			C_##TD r = EASY;                                                 \
			(void)b;                                                         \
			(void)c;                                                         \
			S_##TD(r);                                                       \
		}                                                                        \
		return 0;                                                                \
	}

#define OPV(NAME, TD, TA, TB, TC, SIG, EXPR, CARRY, COND, EASY)                          \
	static uint32_t NAME##_lane(LANE_ARGS)                                           \
	{                                                                                \
		uint32_t m = 0;                                                          \
		EASY_ROW(TD, TA, TB, TC, COND, EASY)                                     \
		for (int i = 0; i < 32; i++) {                                           \
			C_##TA a = L_##TA(pa);                                           \
			C_##TB b = L_##TB(pb);                                           \
			C_##TC c = L_##TC(pc);                                           \
			bool vcc = false;                                                \
			C_##TD r = EXPR;                                                 \
			m |= (CARRY) ? 1u << i : 0;                                      \
			S_##TD(r);                                                       \
		}                                                                        \
		return m;                                                                \
	}                                                                                \
	LANE_ENTRY(NAME, SIG, SG_OP_NOFLUSH)

/* clang-format off */
OP1(v_rcp_f32, f, f, 0, sg_fz(1.0f / sg_fz(a)))
OP1(v_rcp_iflag_f32, f, f, 0, sg_fz(1.0f / sg_fz(a)))
OP1(v_rsq_f32, f, f, 0, (float)(1.0 / sqrt((double)sg_fz(a))))
OP1(v_sqrt_f32, f, f, 0, sqrtf(sg_fz(a)))
OP1(v_exp_f32, f, f, 0, sg_fz(exp_(sg_fz(a))))
OP1(v_log_f32, f, f, 0, log_(sg_fz(a)))
OP1(v_sin_f32, f, f, 0, sin_(a))
OP1(v_cos_f32, f, f, 0, rev(a, cos))
OPV(v_div_fixup_f32, f, f, f, f, "f:fff", div_fixup(a, b, c), vcc,
	a == a && easy(exponent(b), exponent(c), 1, 254) && exponent(c) - exponent(b) >= -150,
	sg_bits_f(((sg_f_bits(b) ^ sg_f_bits(c)) & 0x80000000) | (sg_f_bits(a) & 0x7fffffff)))
OPV(v_div_fixup_f64, d, d, d, d, "d:ddd", div_fixup_d(a, b, c), vcc,
	a == a && easy(exponent_d(b), exponent_d(c), 1, 2046) && exponent_d(c) - exponent_d(b) >= -1075,
	sg_bits_d((sg_d_bits(b) ^ sg_d_bits(c)) >> 63 << 63 | sg_d_bits(a) << 1 >> 1))
OP3(v_div_fixup_f16, h, h, h, h, SG_OP_KEEPHI | SG_OP_NOFLUSH, div_fixup_h(a, b, c))
OP3(v_div_fixup_legacy_f16, h, h, h, h, SG_OP_NOFLUSH, div_fixup_h(a, b, c))
OPV(v_div_scale_f32, f, f, f, f, "fm:fff", div_scale(a, b, c, &vcc), vcc,
	easy(exponent(b), exponent(c), 24, 254) && exponent(c) - exponent(b) < 96 &&
	exponent(c) - exponent(b) > -124, a)
OPV(v_div_scale_f64, d, d, d, d, "dm:ddd", div_scale_d(a, b, c, &vcc), vcc,
	easy(exponent_d(b), exponent_d(c), 54, 2046) && exponent_d(c) - exponent_d(b) < 768 &&
	exponent_d(c) - exponent_d(b) > -1020, a)
/* clang-format on */
