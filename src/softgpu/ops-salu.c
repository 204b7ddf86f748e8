/*
 * Scalar operations. "scc" in an expression is the result's non-zero bit unless it says
 * otherwise. Formulas: AMD's RDNA2 ISA guide, chapter "SALU".
 */
#include "softgpu/isa.h"
#include "softgpu/lane-int.h"

#include <string.h>

#define SCC w->s[SG_S_SCC]
#define D   in->dst[0].off

#define T_u    uint32_t
#define T_b    uint32_t
#define T_i    int32_t
#define T_U    uint64_t
#define T_B    uint64_t
#define T_I    int64_t
#define G_u(k) *sg_sp(w, in, k)
#define G_b(k) *sg_sp(w, in, k)
#define G_i(k) (int32_t) * sg_sp(w, in, k)
#define G_U(k) sg_sp64(w, in, k)
#define G_B(k) sg_sp64(w, in, k)
#define G_I(k) (int64_t) sg_sp64(w, in, k)
#define P_u(x) w->s[D] = (uint32_t)(x)
#define P_b(x) w->s[D] = (uint32_t)(x)
#define P_i(x) w->s[D] = (uint32_t)(x)
#define P_U(x) sg_set_s64(w, D, (uint64_t)(x))
#define P_B(x) sg_set_s64(w, D, (uint64_t)(x))
#define P_I(x) sg_set_s64(w, D, (uint64_t)(x))

#define SALU(NAME, SIG, BODY)                                                            \
	static const struct sg_inst *NAME##_exec(                                        \
		struct sg_wave *w, const struct sg_inst *in)                             \
	{                                                                                \
		BODY;                                                                    \
		return in + 1;                                                           \
	}                                                                                \
	SG_OP_ENTRY(NAME, {#NAME, SIG, 0, 0, NULL, NAME##_exec, NULL});

/* One source, two sources; the S forms also set SCC. */
#define S1(NAME, TD, TA, EXPR)                                                           \
	SALU(NAME, #TD ":" #TA, T_##TA a = G_##TA(0); T_##TD r = (T_##TD)(EXPR);         \
		P_##TD(r))
#define S1S(NAME, TD, TA, EXPR, CC)                                                      \
	SALU(NAME, #TD ":" #TA, T_##TA a = G_##TA(0); T_##TD r = (T_##TD)(EXPR);         \
		P_##TD(r); SCC = (CC))
#define S2(NAME, TD, TA, TB, EXPR)                                                       \
	SALU(NAME, #TD ":" #TA #TB, T_##TA a = G_##TA(0); T_##TB b = G_##TB(1);          \
		T_##TD r = (T_##TD)(EXPR); P_##TD(r))
#define S2S(NAME, TD, TA, TB, EXPR, CC)                                                  \
	SALU(NAME, #TD ":" #TA #TB, T_##TA a = G_##TA(0); T_##TB b = G_##TB(1);          \
		T_##TD r = (T_##TD)(EXPR); uint32_t cc = (CC); P_##TD(r); SCC = cc)
#define SC(NAME, TA, TB, COND)                                                           \
	SALU(NAME, ":" #TA #TB, T_##TA a = G_##TA(0); T_##TB b = G_##TB(1); SCC = (COND))

static inline uint64_t quads(uint64_t x)
{
	uint64_t r = 0;

	for (int i = 0; i < 16; i++)
		r |= (x >> 4 * i & 15) ? 1ull << i : 0;
	return r;
}

static inline uint64_t wqm(uint64_t x)
{
	uint64_t r = 0;

	for (int i = 0; i < 64; i += 4)
		r |= (x >> i & 15) ? 15ull << i : 0;
	return r;
}

static inline uint64_t bfe_u64(uint64_t a, uint32_t b)
{
	uint32_t off = b & 63, width = b >> 16 & 127;

	return width >= 64 ? a >> off : a >> off & ((1ull << width) - 1);
}

static inline int64_t bfe_i64(uint64_t a, uint32_t b)
{
	uint32_t width = b >> 16 & 127;
	uint64_t v = bfe_u64(a, b);

	return width == 0    ? 0
	       : width >= 64 ? (int64_t)a >> (b & 63)
			     : (int64_t)(v << (64 - width)) >> (64 - width);
}

static inline uint32_t bfe_s(uint32_t a, uint32_t b, bool sign)
{
	uint32_t off = b & 31, width = b >> 16 & 127;
	uint32_t v = width >= 32 ? a >> off : a >> off & ((1u << width) - 1);

	if (!sign || !width)
		return v;
	if (width >= 32)
		return (uint32_t)((int32_t)a >> off);
	return (uint32_t)((int32_t)(v << (32 - width)) >> (32 - width));
}

static inline uint64_t bitrep(uint32_t x)
{
	uint64_t r = 0;

	for (int i = 0; i < 32; i++)
		r |= (uint64_t)(x >> i & 1) * 3 << 2 * i;
	return r;
}

/* clang-format off */
S1(s_mov_b32, b, b, a)
S1(s_mov_b64, B, B, a)
SALU(s_cmov_b32, "b:b", if (SCC) w->s[D] = G_b(0))
SALU(s_cmov_b64, "B:B", if (SCC) sg_set_s64(w, D, G_B(0)))
S1S(s_not_b32, b, b, ~a, r != 0)
S1S(s_not_b64, B, B, ~a, r != 0)
S1S(s_wqm_b32, b, b, wqm(a), r != 0)
S1S(s_wqm_b64, B, B, wqm(a), r != 0)
S1(s_brev_b32, b, b, bitrev(a))
S1(s_brev_b64, B, B, (uint64_t)bitrev((uint32_t)a) << 32 | bitrev((uint32_t)(a >> 32)))
S1S(s_bcnt0_i32_b32, u, b, 32 - __builtin_popcount(a), r != 0)
S1S(s_bcnt0_i32_b64, u, B, 64 - __builtin_popcountll(a), r != 0)
S1S(s_bcnt1_i32_b32, u, b, __builtin_popcount(a), r != 0)
S1S(s_bcnt1_i32_b64, u, B, __builtin_popcountll(a), r != 0)
S1(s_ff0_i32_b32, i, b, ~a ? __builtin_ctz(~a) : -1)
S1(s_ff0_i32_b64, i, B, ~a ? __builtin_ctzll(~a) : -1)
S1(s_ff1_i32_b32, i, b, a ? __builtin_ctz(a) : -1)
S1(s_ff1_i32_b64, i, B, a ? __builtin_ctzll(a) : -1)
S1(s_flbit_i32_b32, i, b, a ? __builtin_clz(a) : -1)
S1(s_flbit_i32_b64, i, B, a ? __builtin_clzll(a) : -1)
S1(s_flbit_i32, i, i, a == 0 || a == -1 ? -1 : __builtin_clz((uint32_t)(a < 0 ? ~a : a)))
S1(s_flbit_i32_i64, i, I, a == 0 || a == -1 ? -1 : __builtin_clzll((uint64_t)(a < 0 ? ~a : a)))
S1(s_sext_i32_i8, i, i, (int8_t)a)
S1(s_sext_i32_i16, i, i, (int16_t)a)
SALU(s_bitset0_b32, "b:u", w->s[D] &= ~(1u << (G_u(0) & 31)))
SALU(s_bitset0_b64, "B:u", sg_set_s64(w, D, sg_s64(w, D) & ~(1ull << (G_u(0) & 63))))
SALU(s_bitset1_b32, "b:u", w->s[D] |= 1u << (G_u(0) & 31))
SALU(s_bitset1_b64, "B:u", sg_set_s64(w, D, sg_s64(w, D) | 1ull << (G_u(0) & 63)))
S1S(s_abs_i32, i, i, a < 0 ? -(uint32_t)a : (uint32_t)a, r != 0)
S1S(s_quadmask_b32, b, b, quads(a), r != 0)
S1S(s_quadmask_b64, B, B, quads(a), r != 0)
S1(s_bitreplicate_b64_b32, B, b, bitrep(a))
S2S(s_add_u32, u, u, u, a + b, r < a)
S2S(s_sub_u32, u, u, u, a - b, a < b)
S2S(s_add_i32, i, i, i, (uint32_t)a + (uint32_t)b, add_overflows_32(a, b))
S2S(s_sub_i32, i, i, i, (uint32_t)a - (uint32_t)b, sub_overflows_32(a, b))
S2S(s_addc_u32, u, u, u, a + b + SCC, ((uint64_t)a + b + SCC) >> 32 != 0)
S2S(s_subb_u32, u, u, u, a - b - SCC, (uint64_t)b + SCC > a)
S2S(s_min_i32, i, i, i, MIN(a, b), a < b)
S2S(s_max_i32, i, i, i, MAX(a, b), a > b)
S2S(s_min_u32, u, u, u, MIN(a, b), a < b)
S2S(s_max_u32, u, u, u, MAX(a, b), a > b)
S2(s_cselect_b32, b, b, b, SCC ? a : b)
S2(s_cselect_b64, B, B, B, SCC ? a : b)
S2S(s_and_b32, b, b, b, a & b, r != 0)
S2S(s_and_b64, B, B, B, a & b, r != 0)
S2S(s_or_b32, b, b, b, a | b, r != 0)
S2S(s_or_b64, B, B, B, a | b, r != 0)
S2S(s_xor_b32, b, b, b, a ^ b, r != 0)
S2S(s_xor_b64, B, B, B, a ^ b, r != 0)
S2S(s_andn2_b32, b, b, b, a & ~b, r != 0)
S2S(s_andn2_b64, B, B, B, a & ~b, r != 0)
S2S(s_orn2_b32, b, b, b, a | ~b, r != 0)
S2S(s_orn2_b64, B, B, B, a | ~b, r != 0)
S2S(s_nand_b32, b, b, b, ~(a & b), r != 0)
S2S(s_nand_b64, B, B, B, ~(a & b), r != 0)
S2S(s_nor_b32, b, b, b, ~(a | b), r != 0)
S2S(s_nor_b64, B, B, B, ~(a | b), r != 0)
S2S(s_xnor_b32, b, b, b, ~(a ^ b), r != 0)
S2S(s_xnor_b64, B, B, B, ~(a ^ b), r != 0)
S2S(s_lshl_b32, b, b, u, a << (b & 31), r != 0)
S2S(s_lshl_b64, B, B, u, a << (b & 63), r != 0)
S2S(s_lshr_b32, b, b, u, a >> (b & 31), r != 0)
S2S(s_lshr_b64, B, B, u, a >> (b & 63), r != 0)
S2S(s_ashr_i32, i, i, u, a >> (b & 31), r != 0)
S2S(s_ashr_i64, I, I, u, a >> (b & 63), r != 0)
S2(s_bfm_b32, b, b, b, ((1u << (a & 31)) - 1) << (b & 31))
S2(s_bfm_b64, B, b, b, ((1ull << (a & 63)) - 1) << (b & 63))
S2(s_mul_i32, u, u, u, a * b)
S2(s_mul_hi_u32, u, u, u, (uint64_t)a * b >> 32)
S2(s_mul_hi_i32, i, i, i, (int64_t)a * b >> 32)
S2(s_mul_u64, U, U, U, a * b)
S2(s_add_u64, U, U, U, a + b)
S2(s_sub_u64, U, U, U, a - b)
S2S(s_bfe_u32, u, u, u, bfe_s(a, b, false), r != 0)
S2S(s_bfe_i32, u, u, u, bfe_s(a, b, true), r != 0)
S2S(s_bfe_u64, U, U, u, bfe_u64(a, b), r != 0)
S2S(s_bfe_i64, I, U, u, bfe_i64(a, b), r != 0)
S2S(s_absdiff_i32, i, i, i, a > b ? (uint32_t)a - (uint32_t)b : (uint32_t)b - (uint32_t)a, r != 0)
S2S(s_lshl1_add_u32, u, u, u, (a << 1) + b, ((uint64_t)a << 1) + b > UINT32_MAX)
S2S(s_lshl2_add_u32, u, u, u, (a << 2) + b, ((uint64_t)a << 2) + b > UINT32_MAX)
S2S(s_lshl3_add_u32, u, u, u, (a << 3) + b, ((uint64_t)a << 3) + b > UINT32_MAX)
S2S(s_lshl4_add_u32, u, u, u, (a << 4) + b, ((uint64_t)a << 4) + b > UINT32_MAX)
S2(s_pack_ll_b32_b16, b, b, b, (a & 0xffff) | b << 16)
S2(s_pack_lh_b32_b16, b, b, b, (a & 0xffff) | (b & 0xffff0000))
S2(s_pack_hh_b32_b16, b, b, b, a >> 16 | (b & 0xffff0000))
S2(s_pack_hl_b32_b16, b, b, b, a >> 16 | b << 16)
SC(s_cmp_eq_i32, i, i, a == b)
SC(s_cmp_lg_i32, i, i, a != b)
SC(s_cmp_gt_i32, i, i, a > b)
SC(s_cmp_ge_i32, i, i, a >= b)
SC(s_cmp_lt_i32, i, i, a < b)
SC(s_cmp_le_i32, i, i, a <= b)
SC(s_cmp_eq_u32, u, u, a == b)
SC(s_cmp_lg_u32, u, u, a != b)
SC(s_cmp_gt_u32, u, u, a > b)
SC(s_cmp_ge_u32, u, u, a >= b)
SC(s_cmp_lt_u32, u, u, a < b)
SC(s_cmp_le_u32, u, u, a <= b)
SC(s_cmp_eq_u64, U, U, a == b)
SC(s_cmp_lg_u64, U, U, a != b)
SC(s_bitcmp0_b32, b, u, !(a >> (b & 31) & 1))
SC(s_bitcmp1_b32, b, u, a >> (b & 31) & 1)
SC(s_bitcmp0_b64, B, u, !(a >> (b & 63) & 1))
SC(s_bitcmp1_b64, B, u, a >> (b & 63) & 1)
/* 16-bit numbers in the instruction. */
SALU(s_movk_i32, "i:k", w->s[D] = (uint32_t)(int16_t)in->imm)
SALU(s_cmovk_i32, "i:k", if (SCC) w->s[D] = (uint32_t)(int16_t)in->imm)
SALU(s_addk_i32, "i:k", int32_t a = (int32_t)w->s[D]; int32_t b = (int16_t)in->imm;
	w->s[D] = (uint32_t)a + (uint32_t)b; SCC = add_overflows_32(a, b))
SALU(s_mulk_i32, "i:k", w->s[D] *= (uint32_t)(int16_t)in->imm)
#define SK(NAME, T, X, COND) SALU(NAME, ":" #T "k", T_##T a = G_##T(0); T_##T b = (T_##T)(X)in->imm; SCC = (COND))
SK(s_cmpk_eq_i32, i, int16_t, a == b)
SK(s_cmpk_lg_i32, i, int16_t, a != b)
SK(s_cmpk_gt_i32, i, int16_t, a > b)
SK(s_cmpk_ge_i32, i, int16_t, a >= b)
SK(s_cmpk_lt_i32, i, int16_t, a < b)
SK(s_cmpk_le_i32, i, int16_t, a <= b)
SK(s_cmpk_eq_u32, u, uint16_t, a == b)
SK(s_cmpk_lg_u32, u, uint16_t, a != b)
SK(s_cmpk_gt_u32, u, uint16_t, a > b)
SK(s_cmpk_ge_u32, u, uint16_t, a >= b)
SK(s_cmpk_lt_u32, u, uint16_t, a < b)
SK(s_cmpk_le_u32, u, uint16_t, a <= b)
/* exec saved and changed; the wrexec forms give the new exec. */
#define SAVE(NAME, EXPR) \
	SALU(NAME##_saveexec_b32, "b:b", uint32_t a = G_b(0); uint32_t e = w->s[SG_S_EXEC]; w->s[D] = e; \
		w->s[SG_S_EXEC] = (EXPR); SCC = w->s[SG_S_EXEC] != 0; sg_exec_changed(w)) \
	SALU(NAME##_saveexec_b64, "B:B", uint64_t a = G_B(0); uint64_t e = sg_s64(w, SG_S_EXEC); \
		sg_set_s64(w, D, e); e = (EXPR); sg_set_s64(w, SG_S_EXEC, e); SCC = e != 0; sg_exec_changed(w))
SAVE(s_and, a & e)
SAVE(s_or, a | e)
SAVE(s_xor, a ^ e)
SAVE(s_andn1, ~a & e)
SAVE(s_andn2, a & ~e)
SAVE(s_orn1, ~a | e)
SAVE(s_orn2, a | ~e)
SAVE(s_nand, ~(a & e))
SAVE(s_nor, ~(a | e))
SAVE(s_xnor, ~(a ^ e))
#define WREXEC(NAME, EXPR) \
	SALU(NAME##_wrexec_b32, "b:b", uint32_t a = G_b(0); uint32_t e = w->s[SG_S_EXEC]; e = (EXPR); \
		w->s[D] = e; w->s[SG_S_EXEC] = e; SCC = e != 0; sg_exec_changed(w)) \
	SALU(NAME##_wrexec_b64, "B:B", uint64_t a = G_B(0); uint64_t e = sg_s64(w, SG_S_EXEC); e = (EXPR); \
		sg_set_s64(w, D, e); sg_set_s64(w, SG_S_EXEC, e); SCC = e != 0; sg_exec_changed(w))
WREXEC(s_andn1, ~a & e)
WREXEC(s_andn2, a & ~e)
/* clang-format on */

/* Registers named by m0: s_movrel*. */
static const struct sg_inst *movrel(struct sg_wave *w, const struct sg_inst *in)
{
	uint32_t m0 = w->s[SG_S_M0], words = in->op->arg & 1 ? 2 : 1;
	bool two = in->op->arg & 8; /* two numbers in m0 */
	uint32_t from = in->src[0].off + (in->op->arg & 2 ? two ? m0 & 0x3ff : m0 : 0);
	uint32_t to =
		in->dst[0].off + (in->op->arg & 4 ? two ? m0 >> 16 & 0x3ff : m0 : 0);

	if (in->src[0].kind != SG_K_SGPR || from + words > SG_S_VCC ||
		to + words > SG_S_VCC)
		return sg_stop(
			w, in, SG_FAULT_ILLEGAL, 0, "s_movrel outside of the registers");
	for (uint32_t k = 0; k < words; k++)
		w->s[to + k] = w->s[from + k];
	return in + 1;
}

SG_OP_ENTRY(movrels32, {"s_movrels_b32", "b:b", 0, 2, NULL, movrel, NULL});
SG_OP_ENTRY(movrels64, {"s_movrels_b64", "B:B", 0, 3, NULL, movrel, NULL});
SG_OP_ENTRY(movreld32, {"s_movreld_b32", "b:b", 0, 4, NULL, movrel, NULL});
SG_OP_ENTRY(movreld64, {"s_movreld_b64", "B:B", 0, 5, NULL, movrel, NULL});
SG_OP_ENTRY(movrelsd2, {"s_movrelsd_2_b32", "b:b", 0, 14, NULL, movrel, NULL});
