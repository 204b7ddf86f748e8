/* Packed operations: two halves, or two f32 in a register pair, and dot products. */
#include "softgpu/lane.h"

#define LO(x)       ((uint16_t)(x))
#define HI(x)       ((uint16_t)((x) >> 16))
#define HF(x)       sg_h2f(LO(x))
#define HFH(x)      sg_h2f(HI(x))
#define BF(x)       sg_bits_f((x) << 16)
#define BFH(x)      sg_bits_f((x)&0xffff0000)
#define PACK(l, h)  ((uint32_t)(uint16_t)(l) | (uint32_t)(uint16_t)(h) << 16)
#define PACKH(l, h) PACK(sg_f2h(l), sg_f2h(h))
#define SLO(x)      ((int16_t)(x))
#define SHI(x)      ((int16_t)((x) >> 16))

static inline uint16_t minh(uint16_t x, uint16_t y, bool max, bool num)
{
	float a = sg_h2f(x), b = sg_h2f(y);

	if (!num && (x & 0x7fff) > 0x7c00 && !(x & 0x200))
		return x | 0x200;
	if (!num && (y & 0x7fff) > 0x7c00 && !(y & 0x200))
		return y | 0x200;
	if (a != a)
		return b != b ? y | 0x200 : y;
	if (b != b)
		return x;
	if (a == b)
		return max ? x & y : x | y;
	return (a < b) != max ? x : y;
}

static inline uint16_t imumh(uint16_t x, uint16_t y, bool max)
{
	float a = sg_h2f(x), b = sg_h2f(y);

	return a != a ? x | 0x200 : b != b ? y | 0x200 : minh(x, y, max, true);
}

static inline int32_t dot_i8(uint32_t a, uint32_t b, int32_t c)
{
	for (int k = 0; k < 32; k += 8)
		c = (int32_t)((uint32_t)c +
			      (uint32_t)((int8_t)(a >> k) * (int8_t)(b >> k)));
	return c;
}

static inline uint32_t dot_u8(uint32_t a, uint32_t b, uint32_t c)
{
	for (int k = 0; k < 32; k += 8)
		c += (a >> k & 0xff) * (b >> k & 0xff);
	return c;
}

static inline int32_t i4(uint32_t x)
{
	return (int32_t)(x << 28) >> 28;
}

static inline uint32_t dot_4(uint32_t a, uint32_t b, uint32_t c, bool sign)
{
	for (int k = 0; k < 32; k += 4)
		c += sign ? (uint32_t)(i4(a >> k) * i4(b >> k))
			  : (a >> k & 15) * (b >> k & 15);
	return c;
}

/* Each product is exact in f32; the sum goes left to right from c and rounds twice. */
static inline float dot2(float a0, float b0, float a1, float b1, float c)
{
	return fmaf(a1, b1, fmaf(a0, b0, c));
}

/* clang-format off */
OP2(v_pk_add_f16, p, p, p, 0, PACKH(HF(a) + HF(b), HFH(a) + HFH(b)))
OP2(v_pk_mul_f16, p, p, p, 0, PACKH(HF(a) * HF(b), HFH(a) * HFH(b)))
OP3(v_pk_fma_f16, p, p, p, p, 0, PACKH(sg_fma_odd(HF(a), HF(b), HF(c)), sg_fma_odd(HFH(a), HFH(b), HFH(c))))
OPT(v_pk_fmac_f16, p, p, p, 0, PACKH(sg_fma_odd(HF(a), HF(b), HF(c)), sg_fma_odd(HFH(a), HFH(b), HFH(c))))
OP2(v_pk_min_f16, p, p, p, 0, PACK(minh(LO(a), LO(b), 0, 0), minh(HI(a), HI(b), 0, 0)))
OP2(v_pk_max_f16, p, p, p, 0, PACK(minh(LO(a), LO(b), 1, 0), minh(HI(a), HI(b), 1, 0)))
OP2(v_pk_min_num_f16, p, p, p, 0, PACK(minh(LO(a), LO(b), 0, 1), minh(HI(a), HI(b), 0, 1)))
OP2(v_pk_max_num_f16, p, p, p, 0, PACK(minh(LO(a), LO(b), 1, 1), minh(HI(a), HI(b), 1, 1)))
OP2(v_pk_minimum_f16, p, p, p, 0, PACK(imumh(LO(a), LO(b), 0), imumh(HI(a), HI(b), 0)))
OP2(v_pk_maximum_f16, p, p, p, 0, PACK(imumh(LO(a), LO(b), 1), imumh(HI(a), HI(b), 1)))
OP2(v_pk_add_u16, q, q, q, SG_OP_SAT, PACK(LO(a) + LO(b), HI(a) + HI(b)))
OP2(v_pk_sub_u16, q, q, q, SG_OP_SAT, PACK(LO(a) - LO(b), HI(a) - HI(b)))
OP2(v_pk_add_i16, q, q, q, SG_OP_SAT, PACK(LO(a) + LO(b), HI(a) + HI(b)))
OP2(v_pk_sub_i16, q, q, q, SG_OP_SAT, PACK(LO(a) - LO(b), HI(a) - HI(b)))
OP2(v_pk_add_u16_sat, q, q, q, 0, PACK(sat_u16(LO(a) + LO(b)), sat_u16(HI(a) + HI(b))))
OP2(v_pk_sub_u16_sat, q, q, q, 0, PACK(sat_u16(LO(a) - LO(b)), sat_u16(HI(a) - HI(b))))
OP2(v_pk_add_i16_sat, q, q, q, 0, PACK(sat_i16(SLO(a) + SLO(b)), sat_i16(SHI(a) + SHI(b))))
OP2(v_pk_sub_i16_sat, q, q, q, 0, PACK(sat_i16(SLO(a) - SLO(b)), sat_i16(SHI(a) - SHI(b))))
OP2(v_pk_mul_lo_u16, q, q, q, 0, PACK((uint32_t)LO(a) * LO(b), (uint32_t)HI(a) * HI(b)))
OP3(v_pk_mad_u16, q, q, q, q, SG_OP_SAT, PACK((uint32_t)LO(a) * LO(b) + LO(c), (uint32_t)HI(a) * HI(b) + HI(c)))
OP3(v_pk_mad_i16, q, q, q, q, SG_OP_SAT, PACK((uint32_t)LO(a) * LO(b) + LO(c), (uint32_t)HI(a) * HI(b) + HI(c)))
OP3(v_pk_mad_u16_sat, q, q, q, q, 0, PACK(MIN((uint64_t)LO(a) * LO(b) + LO(c), 0xffff), MIN((uint64_t)HI(a) * HI(b) + HI(c), 0xffff)))
OP3(v_pk_mad_i16_sat, q, q, q, q, 0, PACK(MAX(MIN((int64_t)SLO(a) * SLO(b) + SLO(c), 32767), -32768), MAX(MIN((int64_t)SHI(a) * SHI(b) + SHI(c), 32767), -32768)))
OP2(v_pk_lshlrev_b16, q, q, q, 0, PACK(LO(b) << (a & 15), HI(b) << (a >> 16 & 15)))
OP2(v_pk_lshrrev_b16, q, q, q, 0, PACK(LO(b) >> (a & 15), HI(b) >> (a >> 16 & 15)))
OP2(v_pk_ashrrev_i16, q, q, q, 0, PACK(SLO(b) >> (a & 15), SHI(b) >> (a >> 16 & 15)))
OP2(v_pk_min_u16, q, q, q, 0, PACK(MIN(LO(a), LO(b)), MIN(HI(a), HI(b))))
OP2(v_pk_max_u16, q, q, q, 0, PACK(MAX(LO(a), LO(b)), MAX(HI(a), HI(b))))
OP2(v_pk_min_i16, q, q, q, 0, PACK(MIN(SLO(a), SLO(b)), MIN(SHI(a), SHI(b))))
OP2(v_pk_max_i16, q, q, q, 0, PACK(MAX(SLO(a), SLO(b)), MAX(SHI(a), SHI(b))))
/* Register pairs: sg_src_row has put the halves that op_sel names in their places. */
#define F2(EXPR) sg_pair(({ float a = a0, b = b0, c = c0; (void)a; (void)b; (void)c; EXPR; }), \
	({ float a = a1, b = b1, c = c1; (void)a; (void)b; (void)c; EXPR; }))
#undef LANE_PK32
static inline uint64_t sg_pair(float lo, float hi)
{
	return sg_f_bits(lo) | (uint64_t)sg_f_bits(hi) << 32;
}
#define PK32(NAME, N, SIG, EXPR) \
	static uint32_t NAME##_lane(LANE_ARGS) \
	{ \
		LANES \
		{ \
			float a0 = sg_bits_f(pa[i]), a1 = sg_bits_f(pa[i + st]); \
			float b0 = sg_bits_f(pb[i]), b1 = sg_bits_f(pb[i + st]); \
			float c0 = N > 2 ? sg_bits_f(pc[i]) : 0, c1 = N > 2 ? sg_bits_f(pc[i + st]) : 0; \
			uint64_t r = F2(EXPR); \
			ST2(r); \
		} \
		return 0; \
	} \
	LANE_ENTRY(NAME, SIG, 0)
PK32(v_pk_fma_f32, 3, "P:PPP", fmaf(a, b, c))
PK32(v_pk_mul_f32, 2, "P:PP", a * b)
PK32(v_pk_add_f32, 2, "P:PP", a + b)
static uint32_t v_pk_mov_b32_lane(LANE_ARGS)
{
	/* The low result is of the first source, the high one of the second. */
	(void)pc;
	LANES
	{
		uint64_t r = pa[i] | (uint64_t)pb[i + st] << 32;
		ST2(r);
	}
	return 0;
}
LANE_ENTRY(v_pk_mov_b32, "Q:QQ", SG_OP_NOFLUSH)

OP3(v_dot2_f32_f16, f, p, p, f, 0, dot2(HF(a), HF(b), HFH(a), HFH(b), c))
OPT(v_dot2c_f32_f16, f, p, p, 0, dot2(HF(a), HF(b), HFH(a), HFH(b), c))
OP3(v_dot2_f32_bf16, f, v, v, f, 0, dot2(BF(a), BF(b), BFH(a), BFH(b), c))
OPT(v_dot2c_f32_bf16, f, v, v, 0, dot2(BF(a), BF(b), BFH(a), BFH(b), c))
OP3(v_dot2_f16_f16, h, p, p, h, 0, sg_h2f(sg_f2h(sg_fma_odd(HF(a), HF(b), c))) + HFH(a) * HFH(b))
OP3(v_dot2_bf16_bf16, y, v, v, y, 0, dot2(BF(a), BF(b), BFH(a), BFH(b), c))
OP3(v_dot2_i32_i16, i, q, q, i, SG_OP_SAT, (int32_t)((uint32_t)c + (uint32_t)(SLO(a) * SLO(b)) + (uint32_t)(SHI(a) * SHI(b))))
OP3(v_dot2_u32_u16, u, q, q, u, SG_OP_SAT, c + (uint32_t)LO(a) * LO(b) + (uint32_t)HI(a) * HI(b))
OP3(v_dot2_i32_i16_sat, i, q, q, i, 0, sat_i32((int64_t)c + (int64_t)SLO(a) * SLO(b) + (int64_t)SHI(a) * SHI(b)))
OP3(v_dot2_u32_u16_sat, u, q, q, u, 0, MIN((uint64_t)c + (uint64_t)LO(a) * LO(b) + (uint64_t)HI(a) * HI(b), UINT32_MAX))
OP3(v_dot4_i32_i8, i, b, b, i, SG_OP_SAT, dot_i8(a, b, c))
OP3(v_dot4_i32_i8_sat, i, b, b, i, 0, sat_i32((int64_t)c + dot_i8(a, b, 0)))
OPT(v_dot4c_i32_i8, i, b, b, 0, dot_i8(a, b, c))
OP3(v_dot4_u32_u8, u, b, b, u, SG_OP_SAT, dot_u8(a, b, c))
OP3(v_dot4_u32_u8_sat, u, b, b, u, 0, MIN((uint64_t)c + dot_u8(a, b, 0), UINT32_MAX))
OPT(v_dot2c_i32_i16, i, q, q, 0,
	(int32_t)((uint32_t)c + (uint32_t)(SLO(a) * SLO(b)) + (uint32_t)(SHI(a) * SHI(b))))
OP3(v_dot8_i32_i4, u, b, b, u, SG_OP_SAT, dot_4(a, b, c, true))
OP3(v_dot8_i32_i4_sat, i, b, b, i, 0, sat_i32((int64_t)c + (int32_t)dot_4(a, b, 0, true)))
OPT(v_dot8c_i32_i4, u, b, b, 0, dot_4(a, b, c, true))
OP3(v_dot8_u32_u4, u, b, b, u, SG_OP_SAT, dot_4(a, b, c, false))
OP3(v_dot8_u32_u4_sat, u, b, b, u, 0, MIN((uint64_t)c + dot_4(a, b, 0, false), UINT32_MAX))
/* clang-format on */
