/*
 * The frame of the lane files, which are built once for each SIMD level (SG_LANE is
 * plain, avx2 or avx512): one line an operation gives its loop over 32 lanes and its
 * entry in the table. In an expression a, b, c are the sources in the signature's types.
 */
#pragma once

#include <immintrin.h>
#include <math.h>
#include <string.h>

#include "softgpu/isa.h"
#include "softgpu/lane-int.h"
#include "softgpu/lane-float.h"

/*
 * The build for MODE words other than the usual: f16 results are rounded as it says.
 * Directed rounding of f32, and then of that to f16, is one directed rounding.
 */
#ifdef SG_LANE_MODE
#define sg_f2h(x)           sg_f2h_mode(x, sg_fp_now.round)
#define sg_f2h_toward(x, r) sg_f2h_mode(x, r)
#define sg_fma_odd(a, b, c) sg_fma_mode(a, b, c)
#define sg_rint(x)          rintf(x)
#define SG_OVFL             sg_fp_now.ovfl
#else
#define sg_f2h_toward(x, r) f2h_rtz(x)
#define sg_rint(x)          roundevenf(x)
#define SG_OVFL             false
#endif

#define SG_STR2(x)      #x
#define SG_STR(x)       SG_STR2(x)
#define SG_CAT2(a, b)   a##b
#define SG_CAT(a, b)    SG_CAT2(a, b)
#define SG_LANE_SECTION "sg_lane_" SG_STR(SG_LANE)

#define LANE_ARGS                                                                        \
	uint32_t *d, const uint32_t *pa, const uint32_t *pb, const uint32_t *pc,         \
		const uint32_t *em, size_t st

/* A 64-bit operand's two rows joined. */
#define LD2(p) ((p)[i] | (uint64_t)(p)[i + st] << 32)

#define C_f float
#define C_d double
#define C_h float
#define C_y float
#define C_u uint32_t
#define C_b uint32_t
#define C_m uint32_t
#define C_p uint32_t
#define C_q uint32_t
#define C_v uint32_t
#define C_g float
#define C_P uint64_t
#define C_i int32_t
#define C_w uint16_t
#define C_x uint16_t
#define C_s int16_t
#define C_U uint64_t
#define C_B uint64_t
#define C_I int64_t

#define L_f(p) sg_bits_f((p)[i])
#define L_g(p) sg_bits_f((p)[i])
#define L_d(p) sg_bits_d(LD2(p))
#define L_h(p) sg_h2f((uint16_t)(p)[i])
#define L_y(p) sg_bits_f((p)[i] << 16)
#define L_u(p) (p)[i]
#define L_b(p) (p)[i]
#define L_m(p) (p)[i]
#define L_p(p) (p)[i]
#define L_q(p) (p)[i]
#define L_v(p) (p)[i]
#define L_i(p) (int32_t)(p)[i]
#define L_w(p) (uint16_t)(p)[i]
#define L_x(p) (uint16_t)(p)[i]
#define L_s(p) (int16_t)(p)[i]
#define L_U(p) LD2(p)
#define L_B(p) LD2(p)
#define L_I(p) (int64_t) LD2(p)

#define ST1(x) d[i] = ((uint32_t)(x)&em[i]) | (d[i] & ~em[i])
#define ST2(x)                                                                           \
	do {                                                                             \
		uint64_t x_ = (x);                                                       \
		ST1(x_);                                                                 \
		d[i + st] = ((uint32_t)(x_ >> 32) & em[i]) | (d[i + st] & ~em[i]);       \
	} while (0)
#define S_f(x) ST1(sg_f_bits(x))
#define S_d(x) ST2(sg_d_bits(x))
#define S_h(x) ST1(sg_f2h(x))
#define S_y(x) ST1(sg_f2bf(x))
#define S_u(x) ST1(x)
#define S_b(x) ST1(x)
#define S_p(x) ST1(x)
#define S_q(x) ST1(x)
#define S_v(x) ST1(x)
#define S_i(x) ST1(x)
#define S_w(x) ST1((uint16_t)(x))
#define S_x(x) ST1((uint16_t)(x))
#define S_s(x) ST1((uint16_t)(x))
#define S_U(x) ST2(x)
#define S_B(x) ST2(x)
#define S_I(x) ST2((uint64_t)(x))
#define S_P(x) ST2(x)

/* Rows are one and the same or apart: no lane depends on another's. */
#ifdef __clang__
#define LANES_FREE _Pragma("clang loop vectorize(assume_safety)")
#define LANES_ROLLED
#else
#define LANES_FREE   _Pragma("GCC ivdep")
#define LANES_ROLLED _Pragma("GCC unroll 1")
#endif
#define LANES LANES_FREE for (int i = 0; i < 32; i++)

/* The sign bits of 32 words. */
static inline uint32_t lane_mask(const uint32_t *row)
{
	uint32_t m = 0;
#if defined(__AVX512F__) && defined(__AVX512DQ__)
	for (int i = 0; i < 2; i++)
		m |= (uint32_t)_mm512_movepi32_mask(_mm512_loadu_si512(row + 16 * i))
		     << 16 * i;
#elif defined(__AVX2__)
	for (int i = 0; i < 4; i++)
		m |= (uint32_t)_mm256_movemask_ps(
			     _mm256_loadu_ps((const float *)row + 8 * i))
		     << 8 * i;
#else
	for (int i = 0; i < 32; i++)
		m |= row[i] >> 31 << i;
#endif
	return m;
}

static inline void lane_expand(uint32_t bits, uint32_t *row)
{
	for (uint32_t i = 0; i < 32; i++)
		row[i] = -(bits >> i & 1);
}

static inline void lane_splat(uint32_t value, uint32_t *row)
{
	for (uint32_t i = 0; i < 32; i++)
		row[i] = value;
}

#define LANE_INLINE static inline __attribute__((always_inline))

/* Source k as a row, without modifiers. */
LANE_INLINE const uint32_t *lane_row(
	struct sg_wave *w, const struct sg_inst *in, unsigned int k, char type)
{
	const struct sg_src *s = &in->src[k];
	uint32_t *r = w->tmp[k];
	const size_t n = w->lanes;

	if (type == 'm') {
		uint64_t mask = sg_mask_read(w, s);

		for (size_t h = 0; h < n; h += 32)
			lane_expand((uint32_t)(mask >> h), r + h);
		return r;
	}
	if (s->kind == SG_K_VGPR)
		return w->v + s->off;
	if (s->kind == SG_K_CONST)
		return s->row;
	for (size_t h = 0; h < n; h += 32)
		lane_splat(w->s[s->off], r + h);
	for (size_t h = 0; strchr("dUIBPQ", type) && h < n; h += 32)
		lane_splat(w->s[s->off + 1], r + n + h);
	return r;
}

/*
 * One instruction whole: what sg_exec_valu does for it where no modifier and nothing
 * unusual in MODE asks for more. sig is the operation's and known when compiling.
 */
LANE_INLINE const struct sg_inst *lane_exec(struct sg_wave *w, const struct sg_inst *in,
	sg_lane_fn lane, const char *sig, uint32_t flags)
{
	const bool carry = sig[1] == 'm', mask_only = sig[0] == 'm';
	const char *src = sig + (carry ? 3 : 2);
	const size_t ns = strlen(src), n = w->lanes;
	const uint32_t *a, *b = w->res, *c = w->res; /* absent: a row to read */
	uint32_t *d = mask_only ? w->res : w->v + in->dst[0].off;
	uint64_t mask = 0;

#ifdef SG_LANE_MODE
	return sg_exec_valu(w, in);
#endif
	if (strchr("hwsxy", sig[0]) || __builtin_expect(w->fp_slow, 0))
		return sg_exec_valu(w, in);
	a = lane_row(w, in, 0, src[0]);
	if (ns > 1)
		b = lane_row(w, in, 1, src[1]);
	if (ns > 2)
		c = lane_row(w, in, 2, src[2]);
	else if (flags & SG_OP_TIE)
		c = d;
	for (size_t h = 0; h < n; h += 32)
		mask |= (uint64_t)lane(d + h, a + h, b + h, c + h, w->em + h, n) << h;
	if (carry || mask_only)
		sg_mask_write(w, &in->dst[carry], mask & sg_exec(w));
	return in + 1;
}

#define LANE_ENTRY(NAME, SIG, FLAGS)                                                     \
	static const struct sg_inst *NAME##_exec(                                        \
		struct sg_wave *w, const struct sg_inst *in)                             \
	{                                                                                \
		return lane_exec(w, in, NAME##_lane, SIG, FLAGS);                        \
	}                                                                                \
	static const struct sg_op sg_op_##NAME = {                                       \
		#NAME, SIG, SG_OP_VALU | (FLAGS), 0, NAME##_lane, NAME##_exec, NULL};    \
	static const struct sg_op *const sg_ref_##NAME                                   \
		__attribute__((section(SG_LANE_SECTION), used)) = &sg_op_##NAME;

#define OP1(NAME, TD, TA, FLAGS, EXPR)                                                   \
	static uint32_t NAME##_lane(LANE_ARGS)                                           \
	{                                                                                \
		LANES                                                                    \
		{                                                                        \
			C_##TA a = L_##TA(pa);                                           \
			C_##TD r = EXPR;                                                 \
			S_##TD(r);                                                       \
		}                                                                        \
		return 0;                                                                \
	}                                                                                \
	LANE_ENTRY(NAME, #TD ":" #TA, FLAGS)

#define OP2(NAME, TD, TA, TB, FLAGS, EXPR)                                               \
	static uint32_t NAME##_lane(LANE_ARGS)                                           \
	{                                                                                \
		LANES                                                                    \
		{                                                                        \
			C_##TA a = L_##TA(pa);                                           \
			C_##TB b = L_##TB(pb);                                           \
			C_##TD r = EXPR;                                                 \
			S_##TD(r);                                                       \
		}                                                                        \
		return 0;                                                                \
	}                                                                                \
	LANE_ENTRY(NAME, #TD ":" #TA #TB, FLAGS)

#define OP3(NAME, TD, TA, TB, TC, FLAGS, EXPR)                                           \
	static uint32_t NAME##_lane(LANE_ARGS)                                           \
	{                                                                                \
		LANES                                                                    \
		{                                                                        \
			C_##TA a = L_##TA(pa);                                           \
			C_##TB b = L_##TB(pb);                                           \
			C_##TC c = L_##TC(pc);                                           \
			C_##TD r = EXPR;                                                 \
			S_##TD(r);                                                       \
		}                                                                        \
		return 0;                                                                \
	}                                                                                \
	LANE_ENTRY(NAME, #TD ":" #TA #TB #TC, FLAGS)

/* The result is the third source too. */
#define OPT(NAME, TD, TA, TB, FLAGS, EXPR)                                               \
	static uint32_t NAME##_lane(LANE_ARGS)                                           \
	{                                                                                \
		LANES                                                                    \
		{                                                                        \
			C_##TA a = L_##TA(pa);                                           \
			C_##TB b = L_##TB(pb);                                           \
			C_##TD c = L_##TD(pc);                                           \
			C_##TD r = EXPR;                                                 \
			S_##TD(r);                                                       \
		}                                                                        \
		return 0;                                                                \
	}                                                                                \
	LANE_ENTRY(NAME, #TD ":" #TA #TB, SG_OP_TIE | (FLAGS))

/* A result and a carry: CARRY sees r too. */
#define OPC(NAME, TD, TA, TB, TC, SIG, EXPR, CARRY)                                      \
	static uint32_t NAME##_lane(LANE_ARGS)                                           \
	{                                                                                \
		uint32_t m[32];                                                          \
		(void)pc;                                                                \
		LANES                                                                    \
		{                                                                        \
			C_##TA a = L_##TA(pa);                                           \
			C_##TB b = L_##TB(pb);                                           \
			C_##TC c = L_##TC(pc);                                           \
			C_##TD r = EXPR;                                                 \
			m[i] = (CARRY) ? ~0u : 0;                                        \
			S_##TD(r);                                                       \
			(void)c;                                                         \
		}                                                                        \
		return lane_mask(m);                                                     \
	}                                                                                \
	LANE_ENTRY(NAME, SIG, 0)

#define CMP(NAME, TA, TB, COND)                                                          \
	static uint32_t NAME##_lane(LANE_ARGS)                                           \
	{                                                                                \
		uint32_t m[32];                                                          \
		for (int i = 0; i < 32; i++) {                                           \
			C_##TA a = L_##TA(pa);                                           \
			C_##TB b = L_##TB(pb);                                           \
			(void)a;                                                         \
			(void)b;                                                         \
			m[i] = (COND) ? ~0u : 0;                                         \
		}                                                                        \
		return lane_mask(m);                                                     \
	}                                                                                \
	LANE_ENTRY(NAME, "m:" #TA #TB, 0)
