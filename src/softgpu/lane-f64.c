/* f64 arithmetic and the double-precision steps of division. */
#include "softgpu/lane.h"

static inline double quiet(double x)
{
	return sg_bits_d(sg_d_bits(x) | 1ull << 51);
}

static inline bool snan(double x)
{
	uint64_t m = sg_d_bits(x) << 1 >> 1;

	return m > 0x7ff0000000000000 && !(m >> 51 & 1);
}

static inline double dmin_(double a, double b)
{
	double r = a < b ? a : a > b ? b : sg_bits_d(sg_d_bits(a) | sg_d_bits(b));

	r = b != b ? a : r;
	r = a != a ? b : r;
	r = snan(b) ? quiet(b) : r;
	return snan(a) ? quiet(a) : r;
}

static inline double dmax_(double a, double b)
{
	double r = a > b ? a : a < b ? b : sg_bits_d(sg_d_bits(a) & sg_d_bits(b));

	r = b != b ? a : r;
	r = a != a ? b : r;
	r = snan(b) ? quiet(b) : r;
	return snan(a) ? quiet(a) : r;
}

static inline double dnum(double a, double b, bool max)
{
	double x = a != a ? b : a, y = b != b ? a : b,
	       r = max ? dmax_(x, y) : dmin_(x, y);

	return r != r ? quiet(r) : r;
}

static inline double dimum(double a, double b, bool max)
{
	return a != a ? quiet(a) : b != b ? quiet(b) : max ? dmax_(a, b) : dmin_(a, b);
}

static inline double fractd(double a)
{
	double r = a - floor(a);

	return r > 0x1.fffffffffffffp-1 ? 0x1.fffffffffffffp-1 : r;
}

static inline int exp_of(double a)
{
	int e = 0;

	frexp(a, &e);
	return a - a == 0 ? e : 0;
}

static inline double mant_of(double a)
{
	int e;

	return a - a == 0 ? frexp(a, &e) : a != a ? quiet(a) : a;
}

/*
 * V_TRIG_PREOP_F64: 53 bits of 2/pi (1201 bits of it, as the guides print them) from a
 * place that the exponent of a and the segment b select.
 */
static double trig_preop(double a, uint32_t b)
{
	static const uint32_t two_over_pi[38] = {0xa2f9836e, 0x4e441529, 0xfc2757d1,
		0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561, 0xb7246e3a,
		0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5,
		0x2ebb4484, 0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b,
		0xbdf9283b, 0x1ff897ff, 0xde05980f, 0xef2f118b, 0x5a0a6d1f, 0x6d367ecf,
		0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b, 0x3d0739f7,
		0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b6bab};
	int e = (int)(sg_d_bits(a) >> 52 & 0x7ff), shift = (int)(b & 31) * 53;
	uint64_t m = 0;
	int scale;

	if (e > 1077)
		shift += e - 1077;
	for (int k = 0; k < 53; k++) {
		int bit = shift + k;
		uint32_t v =
			bit < 38 * 32 ? two_over_pi[bit / 32] >> (31 - bit % 32) & 1 : 0;

		m = m << 1 | v;
	}
	scale = -53 - shift;
	if (e >= 1968)
		scale += 128;
	return ldexp((double)m, scale);
}

/* clang-format off */
OP2(v_add_f64, d, d, d, 0, a + b)
OP2(v_mul_f64, d, d, d, 0, a * b)
OP3(v_fma_f64, d, d, d, d, 0, fma(a, b, c))
OPT(v_fmac_f64, d, d, d, 0, fma(a, b, c))
OP2(v_min_f64, d, d, d, 0, dmin_(a, b))
OP2(v_max_f64, d, d, d, 0, dmax_(a, b))
OP2(v_min_num_f64, d, d, d, 0, dnum(a, b, false))
OP2(v_max_num_f64, d, d, d, 0, dnum(a, b, true))
OP2(v_minimum_f64, d, d, d, 0, dimum(a, b, false))
OP2(v_maximum_f64, d, d, d, 0, dimum(a, b, true))
OP1(v_floor_f64, d, d, 0, floor(a))
OP1(v_ceil_f64, d, d, 0, ceil(a))
OP1(v_trunc_f64, d, d, 0, trunc(a))
OP1(v_rndne_f64, d, d, 0, roundeven(a))
OP1(v_fract_f64, d, d, 0, fractd(a))
OP1(v_rcp_f64, d, d, 0, 1 / a)
OP1(v_sqrt_f64, d, d, 0, sqrt(a))
OP1(v_rsq_f64, d, d, 0, 1 / sqrt(a))
OP2(v_ldexp_f64, d, d, i, 0, ldexp(a, b))
OP1(v_frexp_exp_i32_f64, i, d, 0, exp_of(a))
OP1(v_frexp_mant_f64, d, d, 0, mant_of(a))
OP2(v_trig_preop_f64, d, d, u, 0, trig_preop(a, b))
/* clang-format on */
