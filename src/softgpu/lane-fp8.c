/*
 * Conversions of 8-bit floats. Names ending in _fnuz are gfx94x's own forms: the decoder
 * takes them there. Results of 8 and 16 bits keep the rest of their register.
 */
#include "softgpu/lane.h"

#include "softgpu/fp8.h"

#define PUT(x, T)  sg_fp8_put(x, T, false, 0, SG_OVFL)
#define PUT2(T)    (PUT(a, T) | PUT(b, T) << 8)
#define PUTSR(T)   sg_fp8_put(a, T, true, b, SG_OVFL)
#define GET2(a, T) pair(sg_fp8_get((uint8_t)(a), T), sg_fp8_get((uint8_t)((a) >> 8), T))

static inline uint64_t pair(float lo, float hi)
{
	return sg_f_bits(lo) | (uint64_t)sg_f_bits(hi) << 32;
}

/* clang-format off */
#define FP8(NAME, T) \
	OP1(v_cvt_f32_##NAME, f, b, SG_OP_BYTE_SRC | SG_OP_NOFLUSH, sg_fp8_get((uint8_t)a, T)) \
	OP1(v_cvt_pk_f32_##NAME, P, w, SG_OP_NOFLUSH, GET2(a, T))
#define TO_FP8(NAME, T) \
	OP2(v_cvt_pk_##NAME, x, f, f, SG_OP_KEEPHI, PUT2(T)) \
	OP2(v_cvt_sr_##NAME, b, f, b, SG_OP_BYTE_DST, PUTSR(T))
FP8(fp8, SG_FP8)
FP8(bf8, SG_BF8)
FP8(fp8_fnuz, SG_FP8_FNUZ)
FP8(bf8_fnuz, SG_BF8_FNUZ)
TO_FP8(fp8_f32, SG_FP8)
TO_FP8(bf8_f32, SG_BF8)
TO_FP8(fp8_f32_fnuz, SG_FP8_FNUZ)
TO_FP8(bf8_f32_fnuz, SG_BF8_FNUZ)

/* Four products and c: exact products, summed from c with the lowest byte first. */
static inline float dot4(uint32_t a, uint32_t b, float c, enum sg_fp8 ta, enum sg_fp8 tb)
{
	for (int k = 0; k < 32; k += 8)
		c = fmaf(sg_fp8_get((uint8_t)(a >> k), ta), sg_fp8_get((uint8_t)(b >> k), tb), c);
	return c;
}
OP3(v_dot4_f32_fp8_fp8, f, b, b, f, 0, dot4(a, b, c, SG_FP8, SG_FP8))
OP3(v_dot4_f32_fp8_bf8, f, b, b, f, 0, dot4(a, b, c, SG_FP8, SG_BF8))
OP3(v_dot4_f32_bf8_fp8, f, b, b, f, 0, dot4(a, b, c, SG_BF8, SG_FP8))
OP3(v_dot4_f32_bf8_bf8, f, b, b, f, 0, dot4(a, b, c, SG_BF8, SG_BF8))
/* clang-format on */
