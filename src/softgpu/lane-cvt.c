/* Conversions. To integers: truncation, saturation, NaN gives 0. */
#include "softgpu/lane.h"

static inline int32_t to_i32(double a)
{
	return a != a         ? 0
	       : a >= 0x1p31  ? INT32_MAX
	       : a <= -0x1p31 ? INT32_MIN
			      : (int32_t)a;
}

static inline uint32_t to_u32(double a)
{
	return a != a || a <= 0 ? 0 : a >= 0x1p32 ? UINT32_MAX : (uint32_t)(int64_t)a;
}

static inline int32_t f_to_i32(float a)
{
	int32_t r = (int32_t)(a < 0x1p31f && a >= -0x1p31f ? a : 0);

	r = a >= 0x1p31f ? INT32_MAX : r;
	return a < -0x1p31f ? INT32_MIN : r;
}

static inline uint32_t f_to_u32(float a)
{
	float lo = a >= 0x1p31f ? a - 0x1p31f : a;
	uint32_t r = (uint32_t)(int32_t)(lo < 0x1p31f && lo > 0 ? lo : 0);

	r += a >= 0x1p31f ? 0x80000000u : 0;
	return a >= 0x1p32f ? UINT32_MAX : r;
}

static inline int32_t nan_end(uint32_t bits)
{
	return bits >> 31 ? INT32_MIN : INT32_MAX;
}

/* f32 to f16, rounded towards zero; too big is the largest number, inf stays. */
static inline uint16_t f2h_rtz(float f)
{
	uint32_t bits = sg_f_bits(f), m = bits & 0x7fffffff, s = bits >> 16 & 0x8000, r;

	if (m > 0x7f800000)
		return (uint16_t)(s | 0x7e00 | (m >> 13 & 0x3ff));
	if (m == 0x7f800000)
		return (uint16_t)(s | 0x7c00);
	if (m >= 0x47800000)
		return (uint16_t)(s | 0x7bff);
	if (m >= 0x38800000)
		r = (m - (112u << 23)) >> 13;
	else
		r = (uint32_t)(sg_bits_f(m) * 0x1p24f);
	return (uint16_t)(s | r);
}

static inline int32_t norm(float a, float lo, float hi, float scale)
{
	a = a != a ? 0 : a < lo ? lo : a > hi ? hi : a;
	return (int32_t)roundeven((double)a * scale);
}

static inline uint32_t pk_u8(float a, uint32_t b, uint32_t c)
{
	uint32_t s = 8 * (b & 3);
	float r = sg_rint(a);
	uint32_t v = r != r || r < 0 ? 0 : r > 255 ? 255 : (uint32_t)r;

	return (c & ~(0xffu << s)) | v << s;
}

/* clang-format off */
OP1(v_cvt_f32_i32, f, i, 0, (float)a)
OP1(v_cvt_f32_u32, f, u, 0, (float)a)
OP1(v_cvt_i32_f32, i, f, 0, f_to_i32(a))
OP1(v_cvt_u32_f32, u, f, 0, f_to_u32(a))
OP1(v_cvt_f16_f32, h, f, 0, a)
OP1(v_cvt_f32_f16, f, h, 0, a)
OP1(v_cvt_f32_bf16, f, y, 0, a)
OP1(v_cvt_f64_f32, d, f, 0, a)
OP1(v_cvt_f32_f64, f, d, 0, (float)a)
OP1(v_cvt_f64_i32, d, i, 0, a)
OP1(v_cvt_f64_u32, d, u, 0, a)
OP1(v_cvt_i32_f64, i, d, 0, to_i32(a))
OP1(v_cvt_u32_f64, u, d, 0, to_u32(a))
OP1(v_cvt_f32_ubyte0, f, b, 0, (float)(a & 0xff))
OP1(v_cvt_f32_ubyte1, f, b, 0, (float)(a >> 8 & 0xff))
OP1(v_cvt_f32_ubyte2, f, b, 0, (float)(a >> 16 & 0xff))
OP1(v_cvt_f32_ubyte3, f, b, 0, (float)(a >> 24))
OP1(v_cvt_rpi_i32_f32, i, f, 0, to_i32(floor((double)a + 0.5)))
OP1(v_cvt_flr_i32_f32, i, f, 0, f_to_i32(floorf(a)))
/* gfx11's names for them; a NaN gives the end of the range that its sign points to. */
OP1(v_cvt_nearest_i32_f32, i, f, 0, a != a ? nan_end(pa[i]) : to_i32(floor((double)a + 0.5)))
OP1(v_cvt_floor_i32_f32, i, f, 0, a != a ? nan_end(pa[i]) : f_to_i32(floorf(a)))
OP1(v_cvt_off_f32_i4, f, b, 0, (float)((int32_t)(a << 28) >> 28) * 0.0625f)
OP1(v_cvt_f16_u16, h, w, 0, (float)a)
OP1(v_cvt_f16_i16, h, s, 0, (float)a)
OP1(v_cvt_u16_f16, w, h, 0, a != a || a <= 0 ? 0 : a >= 65535 ? 65535 : (int32_t)a)
OP1(v_cvt_i16_f16, s, h, 0, a != a ? 0 : a >= 32767 ? 32767 : a <= -32768 ? -32768 : (int32_t)a)
OP1(v_cvt_norm_i16_f16, s, h, 0, norm(a, -1, 1, 32767))
OP1(v_cvt_norm_u16_f16, w, h, 0, norm(a, 0, 1, 65535))
OP2(v_cvt_pkrtz_f16_f32, p, f, f, 0, sg_f2h_toward(a, 3) | (uint32_t)sg_f2h_toward(b, 3) << 16)
OP2(v_cvt_pknorm_i16_f32, q, f, f, 0, (uint16_t)norm(a, -1, 1, 32767) | (uint32_t)norm(b, -1, 1, 32767) << 16)
OP2(v_cvt_pknorm_u16_f32, q, f, f, 0, (uint16_t)norm(a, 0, 1, 65535) | (uint32_t)norm(b, 0, 1, 65535) << 16)
OP2(v_cvt_pknorm_i16_f16, q, h, h, 0, (uint16_t)norm(a, -1, 1, 32767) | (uint32_t)norm(b, -1, 1, 32767) << 16)
OP2(v_cvt_pknorm_u16_f16, q, h, h, 0, (uint16_t)norm(a, 0, 1, 65535) | (uint32_t)norm(b, 0, 1, 65535) << 16)
OP2(v_cvt_pk_u16_u32, q, u, u, 0, MIN(a, 0xffff) | MIN(b, 0xffff) << 16)
OP2(v_cvt_pk_i16_i32, q, i, i, 0, (uint16_t)sat_i16(a) | (uint32_t)(uint16_t)sat_i16(b) << 16)
OP2(v_cvt_pk_u16_f32, q, f, f, 0, MIN(to_u32(a), 0xffff) | MIN(to_u32(b), 0xffff) << 16)
OP2(v_cvt_pk_i16_f32, q, f, f, 0, (uint16_t)sat_i16(f_to_i32(a)) | (uint32_t)(uint16_t)sat_i16(f_to_i32(b)) << 16)
OP2(v_cvt_pk_bf16_f32, v, f, f, 0, sg_f2bf(a) | (uint32_t)sg_f2bf(b) << 16)
OP3(v_cvt_pk_u8_f32, b, f, u, b, 0, pk_u8(a, b, c))
OPT(v_cvt_pkaccum_u8_f32, b, f, u, 0, pk_u8(a, b, c))
/* clang-format on */
