/*
 * Matrix operations: MFMA and SMFMAC (gfx90a, gfx942, waves of 64), WMMA and SWMMAC
 * (gfx11, gfx12). Which lane and register holds which element, how sparse indices, CBSZ,
 * ABID, BLGP and index_key are read: AMD's CDNA2, CDNA3, RDNA3 and RDNA4 ISA guides and
 * AMD's matrix instruction calculator, version of 2025.
 *
 * Order of accumulation, which the guides leave open: from C (of sparse operations D),
 * one fused multiply-add after another, the lanes' elements of k as they lie (the lowest
 * lanes first), in the type of the result; 16-bit results are accumulated in f32 and
 * rounded once. Sparse operations skip what is not stored. Integers wrap, or saturate
 * with clamp. xf32 sources are rounded to 10 bits of fraction, to nearest even, which the
 * guides leave open too. On gfx90a f16 and bf16 denormals count as zero, and so do f32
 * results of them (PyTorch, "Numerical accuracy": MI200). MODE is not looked at.
 */
#include "softgpu/decode.h"
#include "softgpu/fp8.h"
#include "softgpu/lane-float.h"

#include <math.h>
#include <string.h>

enum kind { MFMA, SMFMAC, WMMA, SWMMAC };

/*
 * Types: f d h y as in signatures, i 8-bit and n 4-bit integers, 8 fp8, 5 bf8, x xf32.
 */
struct shape {
	const char *name;
	uint8_t kind, m, n, k, blocks;
	char a, b, d; /* of A, of B, of C and D */
};

/* clang-format off */
#define FP8S(X, KIND, P, S, M, N, K) \
	X(KIND, P "_fp8_fp8" S, M, N, K, 1, '8', '8', 'f') \
	X(KIND, P "_fp8_bf8" S, M, N, K, 1, '8', '5', 'f') \
	X(KIND, P "_bf8_fp8" S, M, N, K, 1, '5', '8', 'f') \
	X(KIND, P "_bf8_bf8" S, M, N, K, 1, '5', '5', 'f')
/* kind, name, M, N, K, blocks, types of A, B, C and D */
#define SHAPES(X) \
	X(MFMA, "v_mfma_f32_32x32x1f32", 32, 32, 1, 2, 'f', 'f', 'f') \
	X(MFMA, "v_mfma_f32_16x16x1f32", 16, 16, 1, 4, 'f', 'f', 'f') \
	X(MFMA, "v_mfma_f32_4x4x1f32", 4, 4, 1, 16, 'f', 'f', 'f') \
	X(MFMA, "v_mfma_f32_32x32x2f32", 32, 32, 2, 1, 'f', 'f', 'f') \
	X(MFMA, "v_mfma_f32_16x16x4f32", 16, 16, 4, 1, 'f', 'f', 'f') \
	X(MFMA, "v_mfma_f32_32x32x4f16", 32, 32, 4, 2, 'h', 'h', 'f') \
	X(MFMA, "v_mfma_f32_16x16x4f16", 16, 16, 4, 4, 'h', 'h', 'f') \
	X(MFMA, "v_mfma_f32_4x4x4f16", 4, 4, 4, 16, 'h', 'h', 'f') \
	X(MFMA, "v_mfma_f32_32x32x8f16", 32, 32, 8, 1, 'h', 'h', 'f') \
	X(MFMA, "v_mfma_f32_16x16x16f16", 16, 16, 16, 1, 'h', 'h', 'f') \
	X(MFMA, "v_mfma_f32_32x32x4bf16_1k", 32, 32, 4, 2, 'y', 'y', 'f') \
	X(MFMA, "v_mfma_f32_16x16x4bf16_1k", 16, 16, 4, 4, 'y', 'y', 'f') \
	X(MFMA, "v_mfma_f32_4x4x4bf16_1k", 4, 4, 4, 16, 'y', 'y', 'f') \
	X(MFMA, "v_mfma_f32_32x32x8bf16_1k", 32, 32, 8, 1, 'y', 'y', 'f') \
	X(MFMA, "v_mfma_f32_16x16x16bf16_1k", 16, 16, 16, 1, 'y', 'y', 'f') \
	X(MFMA, "v_mfma_f32_32x32x2bf16", 32, 32, 2, 2, 'y', 'y', 'f') \
	X(MFMA, "v_mfma_f32_16x16x2bf16", 16, 16, 2, 4, 'y', 'y', 'f') \
	X(MFMA, "v_mfma_f32_4x4x2bf16", 4, 4, 2, 16, 'y', 'y', 'f') \
	X(MFMA, "v_mfma_f32_32x32x4bf16", 32, 32, 4, 1, 'y', 'y', 'f') \
	X(MFMA, "v_mfma_f32_16x16x8bf16", 16, 16, 8, 1, 'y', 'y', 'f') \
	X(MFMA, "v_mfma_i32_32x32x4i8", 32, 32, 4, 2, 'i', 'i', 'i') \
	X(MFMA, "v_mfma_i32_16x16x4i8", 16, 16, 4, 4, 'i', 'i', 'i') \
	X(MFMA, "v_mfma_i32_4x4x4i8", 4, 4, 4, 16, 'i', 'i', 'i') \
	X(MFMA, "v_mfma_i32_32x32x8i8", 32, 32, 8, 1, 'i', 'i', 'i') \
	X(MFMA, "v_mfma_i32_16x16x16i8", 16, 16, 16, 1, 'i', 'i', 'i') \
	X(MFMA, "v_mfma_f64_16x16x4f64", 16, 16, 4, 1, 'd', 'd', 'd') \
	X(MFMA, "v_mfma_f64_4x4x4f64", 4, 4, 4, 4, 'd', 'd', 'd') \
	X(MFMA, "v_mfma_f32_32x32x1_2b_f32", 32, 32, 1, 2, 'f', 'f', 'f') \
	X(MFMA, "v_mfma_f32_16x16x1_4b_f32", 16, 16, 1, 4, 'f', 'f', 'f') \
	X(MFMA, "v_mfma_f32_4x4x1_16b_f32", 4, 4, 1, 16, 'f', 'f', 'f') \
	X(MFMA, "v_mfma_f32_32x32x2_f32", 32, 32, 2, 1, 'f', 'f', 'f') \
	X(MFMA, "v_mfma_f32_16x16x4_f32", 16, 16, 4, 1, 'f', 'f', 'f') \
	X(MFMA, "v_mfma_f32_32x32x4_2b_f16", 32, 32, 4, 2, 'h', 'h', 'f') \
	X(MFMA, "v_mfma_f32_16x16x4_4b_f16", 16, 16, 4, 4, 'h', 'h', 'f') \
	X(MFMA, "v_mfma_f32_4x4x4_16b_f16", 4, 4, 4, 16, 'h', 'h', 'f') \
	X(MFMA, "v_mfma_f32_32x32x8_f16", 32, 32, 8, 1, 'h', 'h', 'f') \
	X(MFMA, "v_mfma_f32_16x16x16_f16", 16, 16, 16, 1, 'h', 'h', 'f') \
	X(MFMA, "v_mfma_f32_32x32x4_2b_bf16", 32, 32, 4, 2, 'y', 'y', 'f') \
	X(MFMA, "v_mfma_f32_16x16x4_4b_bf16", 16, 16, 4, 4, 'y', 'y', 'f') \
	X(MFMA, "v_mfma_f32_4x4x4_16b_bf16", 4, 4, 4, 16, 'y', 'y', 'f') \
	X(MFMA, "v_mfma_f32_32x32x8_bf16", 32, 32, 8, 1, 'y', 'y', 'f') \
	X(MFMA, "v_mfma_f32_16x16x16_bf16", 16, 16, 16, 1, 'y', 'y', 'f') \
	X(MFMA, "v_mfma_i32_32x32x4_2b_i8", 32, 32, 4, 2, 'i', 'i', 'i') \
	X(MFMA, "v_mfma_i32_16x16x4_4b_i8", 16, 16, 4, 4, 'i', 'i', 'i') \
	X(MFMA, "v_mfma_i32_4x4x4_16b_i8", 4, 4, 4, 16, 'i', 'i', 'i') \
	X(MFMA, "v_mfma_i32_32x32x16_i8", 32, 32, 16, 1, 'i', 'i', 'i') \
	X(MFMA, "v_mfma_i32_16x16x32_i8", 16, 16, 32, 1, 'i', 'i', 'i') \
	X(MFMA, "v_mfma_f64_16x16x4_f64", 16, 16, 4, 1, 'd', 'd', 'd') \
	X(MFMA, "v_mfma_f64_4x4x4_4b_f64", 4, 4, 4, 4, 'd', 'd', 'd') \
	X(MFMA, "v_mfma_f32_16x16x8_xf32", 16, 16, 8, 1, 'x', 'x', 'f') \
	X(MFMA, "v_mfma_f32_32x32x4_xf32", 32, 32, 4, 1, 'x', 'x', 'f') \
	FP8S(X, MFMA, "v_mfma_f32_16x16x32", "", 16, 16, 32) \
	FP8S(X, MFMA, "v_mfma_f32_32x32x16", "", 32, 32, 16) \
	X(SMFMAC, "v_smfmac_f32_16x16x32_f16", 16, 16, 32, 1, 'h', 'h', 'f') \
	X(SMFMAC, "v_smfmac_f32_32x32x16_f16", 32, 32, 16, 1, 'h', 'h', 'f') \
	X(SMFMAC, "v_smfmac_f32_16x16x32_bf16", 16, 16, 32, 1, 'y', 'y', 'f') \
	X(SMFMAC, "v_smfmac_f32_32x32x16_bf16", 32, 32, 16, 1, 'y', 'y', 'f') \
	X(SMFMAC, "v_smfmac_i32_16x16x64_i8", 16, 16, 64, 1, 'i', 'i', 'i') \
	X(SMFMAC, "v_smfmac_i32_32x32x32_i8", 32, 32, 32, 1, 'i', 'i', 'i') \
	FP8S(X, SMFMAC, "v_smfmac_f32_16x16x64", "", 16, 16, 64) \
	FP8S(X, SMFMAC, "v_smfmac_f32_32x32x32", "", 32, 32, 32) \
	X(WMMA, "v_wmma_f32_16x16x16_f16", 16, 16, 16, 1, 'h', 'h', 'f') \
	X(WMMA, "v_wmma_f32_16x16x16_bf16", 16, 16, 16, 1, 'y', 'y', 'f') \
	X(WMMA, "v_wmma_f16_16x16x16_f16", 16, 16, 16, 1, 'h', 'h', 'h') \
	X(WMMA, "v_wmma_bf16_16x16x16_bf16", 16, 16, 16, 1, 'y', 'y', 'y') \
	X(WMMA, "v_wmma_i32_16x16x16_iu8", 16, 16, 16, 1, 'i', 'i', 'i') \
	X(WMMA, "v_wmma_i32_16x16x16_iu4", 16, 16, 16, 1, 'n', 'n', 'i') \
	X(WMMA, "v_wmma_i32_16x16x32_iu4", 16, 16, 32, 1, 'n', 'n', 'i') \
	FP8S(X, WMMA, "v_wmma_f32_16x16x16", "", 16, 16, 16) \
	X(SWMMAC, "v_swmmac_f32_16x16x32_f16", 16, 16, 32, 1, 'h', 'h', 'f') \
	X(SWMMAC, "v_swmmac_f32_16x16x32_bf16", 16, 16, 32, 1, 'y', 'y', 'f') \
	X(SWMMAC, "v_swmmac_f16_16x16x32_f16", 16, 16, 32, 1, 'h', 'h', 'h') \
	X(SWMMAC, "v_swmmac_bf16_16x16x32_bf16", 16, 16, 32, 1, 'y', 'y', 'y') \
	X(SWMMAC, "v_swmmac_i32_16x16x32_iu8", 16, 16, 32, 1, 'i', 'i', 'i') \
	X(SWMMAC, "v_swmmac_i32_16x16x32_iu4", 16, 16, 32, 1, 'n', 'n', 'i') \
	X(SWMMAC, "v_swmmac_i32_16x16x64_iu4", 16, 16, 64, 1, 'n', 'n', 'i') \
	FP8S(X, SWMMAC, "v_swmmac_f32_16x16x32", "", 16, 16, 32)
/* clang-format on */

#define SHAPE(KIND, NAME, ...) {NAME, KIND, __VA_ARGS__},
static const struct shape shapes[] = {SHAPES(SHAPE)};

static unsigned int bits_of(char type)
{
	switch (type) {
	case 'd':
		return 64;
	case 'f':
	case 'x':
		return 32;
	case 'h':
	case 'y':
		return 16;
	case 'n':
		return 4;
	default:
		return 8;
	}
}

static bool is_half(char type)
{
	return type == 'h' || type == 'y';
}

static bool is_sparse(const struct shape *s)
{
	return s->kind == SMFMAC || s->kind == SWMMAC;
}

/*
 * How a source lies: k is dealt out to `parts` groups of lanes, `each` elements a lane. A
 * lane has one register at least, so 4-bit elements leave lanes of a wave64 unused.
 */
struct deal {
	unsigned int parts, each, words;
};

static struct deal deal_of(const struct shape *s, enum sg_gen gen, unsigned int lanes,
	unsigned int k, char type)
{
	struct deal d = {lanes / (s->m * s->blocks), 0, 0};

	if (s->kind == WMMA && gen < SG_GEN_12)
		d.parts = 1; /* each part has all of it */
	while (d.parts > 1 && k / d.parts * bits_of(type) < 32)
		d.parts /= 2;
	d.each = k / d.parts;
	d.words = d.each * bits_of(type) / 32;
	return d;
}

static unsigned int c_words(const struct shape *s, enum sg_gen gen, unsigned int lanes)
{
	unsigned int each = (unsigned int)s->m * s->n * s->blocks / lanes;

	if (s->d == 'd')
		return 2 * each;
	/* gfx11 leaves half of each register of a 16-bit result alone. */
	return is_half(s->d) && gen >= SG_GEN_12 ? each / 2 : each;
}

static char type_of(unsigned int words)
{
	return words == 1    ? 'b'
	       : words == 2  ? 'B'
	       : words == 4  ? 'e'
	       : words == 8  ? 'O'
	       : words == 16 ? 'S'
			     : 'T';
}

/* ---- binding ---- */

static const char *check_generation(const struct shape *s, enum sg_gen gen)
{
	bool fp8 = s->a == '8' || s->a == '5', ok;

	if (s->kind == MFMA)
		ok = gen <= SG_GEN_940;
	else if (s->kind == SMFMAC)
		ok = gen == SG_GEN_940;
	else if (s->kind == SWMMAC)
		ok = gen == SG_GEN_12;
	else
		ok = gen == SG_GEN_12 || (gen == SG_GEN_11 && !fp8 && s->k == 16);
	return ok ? NULL : "a matrix operation of another generation";
}

/* Bits of a register that are one set of sparse indices. */
static unsigned int index_bits(const struct deal *a)
{
	return 2 * a->each;
}

static const char *check_modifiers(
	const struct sg_program *p, const struct shape *s, const struct sg_mods *m)
{
	struct deal a = deal_of(s, p->gen, p->lanes, s->k / 2, s->a);
	bool fp8 = s->a == '8' || s->a == '5',
	     wmma = s->kind == WMMA || s->kind == SWMMAC;

	if (m->omod || m->dpp || m->sdwa || m->offset || m->has_byte_sel ||
		m->has_op_sel_hi || m->glc)
		return "a modifier of a matrix operation";
	if (m->clamp && (s->d != 'i' || !wmma))
		return "clamp of a matrix operation";
	if (m->has_op_sel && (s->kind != WMMA || p->gen >= SG_GEN_12 || !is_half(s->d) ||
				     m->op_sel & 3))
		return "op_sel of a matrix operation";
	if (m->has_neg && !wmma)
		return "neg_lo or neg_hi of a matrix operation";
	if (m->has_neg && s->d == 'i' && (m->neg_hi || m->neg_lo & 4))
		return "neg_hi of an integer matrix operation";
	if (m->has_neg && fp8 && (m->neg_lo | m->neg_hi) & 3)
		return "neg of 8-bit floats";
	if (m->has_neg && s->kind == SWMMAC && (m->neg_lo | m->neg_hi) & 4)
		return "neg of an index";
	if (m->neg && (s->d != 'd' || p->gen != SG_GEN_940))
		return "neg of a matrix operation";
	if ((m->cbsz || m->abid) && (wmma || s->d == 'd'))
		return "cbsz or abid of a matrix operation";
	if (s->kind == MFMA &&
		(m->cbsz > 4 || (1u << m->cbsz) > s->blocks || m->abid >= 1u << m->cbsz))
		return "cbsz or abid beyond the blocks";
	if (s->kind == SMFMAC && m->abid >= 32 / index_bits(&a))
		return "abid beyond the indices";
	if (m->index_key && (s->kind != SWMMAC || m->index_key >= 32 / index_bits(&a)))
		return "index_key beyond the indices";
	/* gfx942 has no BLGP where K grew, nor for its new types. */
	if (m->blgp &&
		(s->kind != MFMA || m->blgp > 7 || s->d == 'd' || s->a == 'x' || fp8 ||
			(p->gen == SG_GEN_940 && s->blocks == 1 && s->a != 'f')))
		return "blgp of a matrix operation";
	return NULL;
}

static const char *bind_c(struct sg_program *p, const struct shape *s,
	const struct sg_token *t, char type, struct sg_src *c)
{
	const char *why = NULL;
	bool number = t->kind == SG_T_INT || t->kind == SG_T_FLOAT;

	sg_bind_src(p, t, number ? s->d : type, true, c, &why);
	return why ? why : c->kind == SG_K_SGPR ? "a matrix in scalar registers" : NULL;
}

static const char *bind_matrix(
	struct sg_program *p, const struct sg_text *t, struct sg_inst *in)
{
	const struct shape *s = shapes;
	const char *why;
	struct deal a, b;
	bool sparse;
	char c;

	while (strcmp(s->name, in->op->name))
		s++;
	in->imm = s - shapes;
	sparse = is_sparse(s);
	why = check_generation(s, p->gen);
	if (!why)
		why = check_modifiers(p, s, &t->mods);
	if (!why && t->nops != 4)
		why = "an unexpected number of operands";
	if (why)
		return why;
	a = deal_of(s, p->gen, p->lanes, sparse ? s->k / 2 : s->k, s->a);
	b = deal_of(s, p->gen, p->lanes, s->k, s->b);
	c = type_of(c_words(s, p->gen, p->lanes));
	if (!sg_bind_dst(p, &t->ops[0], c, &in->dst[0], &why) ||
		!sg_bind_src(p, &t->ops[1], type_of(a.words), true, &in->src[0], &why) ||
		!sg_bind_src(p, &t->ops[2], type_of(b.words), true, &in->src[1], &why))
		return why;
	if (sparse) { /* the result is C too, and the third source the indices */
		why = bind_c(p, s, &t->ops[0], c, &in->src[2]);
		if (!why && !sg_bind_src(p, &t->ops[3], 'b', true, &in->src[3], &why))
			return why;
		if (!why && in->src[3].kind != SG_K_VGPR)
			why = "indices that are not in a vector register";
	} else {
		why = bind_c(p, s, &t->ops[3], c, &in->src[2]);
	}
	if (!why && (in->src[0].kind != SG_K_VGPR || in->src[1].kind != SG_K_VGPR ||
			    in->dst[0].kind != SG_K_VGPR))
		why = "a matrix that is not in vector registers";
	in->ndst = 1;
	in->nsrc = sparse ? 4 : 3;
	return why;
}

/* ---- elements ---- */

/* Element e of a lane's part of a matrix. */
static uint64_t element(
	const uint32_t *r, unsigned int bits, unsigned int e, unsigned int lanes)
{
	unsigned int at = e * bits;

	if (bits == 64)
		return r[2 * e * lanes] | (uint64_t)r[(2 * e + 1) * lanes] << 32;
	if (bits == 32)
		return r[e * lanes];
	return r[at / 32 * lanes] >> at % 32 & ((1u << bits) - 1);
}

static float xf32(uint32_t u)
{
	if (~u & 0x7f800000)
		u += 0xfff + (u >> 13 & 1);
	return sg_bits_f(u & 0xffffe000);
}

static float float_of(uint32_t u, char type, enum sg_gen gen)
{
	bool fnuz = gen == SG_GEN_940, flush = gen == SG_GEN_90A;

	switch (type) {
	case 'h':
		return sg_h2f((uint16_t)(flush && !(u & 0x7c00) ? u & 0x8000 : u));
	case 'y':
		return sg_bits_f((flush && !(u & 0x7f80) ? u & 0x8000 : u) << 16);
	case '8':
		return sg_fp8_get((uint8_t)u, fnuz ? SG_FP8_FNUZ : SG_FP8);
	case '5':
		return sg_fp8_get((uint8_t)u, fnuz ? SG_BF8_FNUZ : SG_BF8);
	case 'x':
		return xf32(u);
	default:
		return sg_bits_f(u);
	}
}

static int32_t int_of(uint32_t u, char type, bool sign)
{
	if (type == 'n')
		return sign ? (int32_t)(u << 28) >> 28 : (int32_t)(u & 15);
	return sign ? (int8_t)u : (uint8_t)u;
}

/* The lane and register (element) of C's (row, column). */
static void where_c(const struct shape *s, enum sg_gen gen, unsigned int lanes,
	unsigned int block, unsigned int row, unsigned int col, unsigned int *lane,
	unsigned int *e)
{
	if (gen == SG_GEN_11) {
		unsigned int high = lanes / 16;

		*lane = col + 16 * (row % high);
		*e = row / high;
	} else if (gen == SG_GEN_12 && lanes == 32) {
		*lane = col + 16 * (row / 8);
		*e = row % 8;
	} else if (gen == SG_GEN_12) {
		*lane = col + 16 * (row / 8) + 32 * (row / 4 % 2);
		*e = row % 4;
	} else if (s->d == 'd' && s->m == 4) {
		*lane = col + 4 * block + 16 * row;
		*e = 0;
	} else if (s->d == 'd') {
		*lane = col + 16 * (row % 4);
		*e = row / 4;
	} else if (s->m == 4) {
		*lane = col + 4 * block;
		*e = row;
	} else {
		unsigned int groups = 64 / s->n; /* lanes' groups of four rows */

		*lane = col + s->n * (row / 4 % groups);
		*e = block * (s->m * s->n / 64) + row / 4 / groups * 4 + row % 4;
	}
}

/* ---- execution ---- */

#define AB_MAX 1024 /* elements of A and of B: 32 x 32 */
#define C_MAX  2048 /* of C: 2 x 32 x 32 */

union cell {
	float f;
	int32_t i;
};

/* A matrix operation with its sources taken apart; B has k rows of n. */
struct work {
	const struct shape *s;
	struct deal a, b;
	unsigned int lanes, stored; /* stored: elements of A a row */
	enum sg_gen gen;
	union cell ma[AB_MAX], mb[AB_MAX], mc[C_MAX];
	double da[AB_MAX], db[AB_MAX], dc[C_MAX / 4];
	uint8_t at[AB_MAX]; /* B's row for each element of A */
};

static unsigned int lane_of(const struct work *k, const struct deal *d,
	unsigned int block, unsigned int row, unsigned int part)
{
	if (k->s->a == 'd' && k->s->m == 4) /* blocks lie within the parts */
		return row + 4 * block + 16 * part;
	return row + k->s->m * (block * d->parts + part);
}

/* The lane that is read for a lane of B. */
static unsigned int blgp_lane(unsigned int lane, unsigned int blgp)
{
	switch (blgp) {
	case 0:
		return lane;
	case 1:
	case 2:
		return (lane & 31) + 32 * (blgp - 1);
	case 3:
		return (lane + 16) & 63;
	default:
		return (lane & 15) + 16 * (blgp - 4);
	}
}

static void take(
	struct work *k, bool is_b, unsigned int to, uint64_t bits, bool minus, bool sign)
{
	char type = is_b ? k->s->b : k->s->a;
	union cell *cell = (is_b ? k->mb : k->ma) + to;

	if (k->s->d == 'd') {
		double v;

		memcpy(&v, &bits, 8);
		(is_b ? k->db : k->da)[to] = minus ? -v : v;
	} else if (k->s->d == 'i') {
		cell->i = int_of((uint32_t)bits, type, sign);
	} else {
		cell->f = float_of((uint32_t)bits, type, k->gen);
		if (minus)
			cell->f = -cell->f;
	}
}

/* neg_lo negates the lower halves of a register, neg_hi the upper. */
static bool minus_at(const struct work *k, const struct sg_mods *m, unsigned int source,
	unsigned int e)
{
	if (k->s->d == 'd')
		return m->neg >> source & 1;
	return k->s->d != 'i' && (e & 1 ? m->neg_hi : m->neg_lo) >> source & 1;
}

static void take_a(struct work *k, const struct sg_wave *w, const struct sg_inst *in,
	unsigned int block)
{
	const uint32_t *r = w->v + in->src[0].off;
	const struct sg_mods *m = in->mods;
	bool sign = k->s->kind == MFMA || k->s->kind == SMFMAC || m->neg_lo & 1;

	/* CBSZ: one block of a group serves them all; ABID says which. */
	if (k->s->kind == MFMA && m->cbsz)
		block = (block & ~((1u << m->cbsz) - 1)) | m->abid;
	for (unsigned int i = 0; i < k->s->m; i++)
		for (unsigned int x = 0; x < k->stored; x++) {
			unsigned int e = x % k->a.each;
			unsigned int lane = lane_of(k, &k->a, block, i, x / k->a.each);

			take(k, false, i * k->stored + x,
				element(r + lane, bits_of(k->s->a), e, k->lanes),
				minus_at(k, m, 0, e), sign);
			k->at[i * k->stored + x] = (uint8_t)x;
		}
}

static void take_b(struct work *k, const struct sg_wave *w, const struct sg_inst *in,
	unsigned int block)
{
	const uint32_t *r = w->v + in->src[1].off;
	const struct sg_mods *m = in->mods;
	bool sign = k->s->kind == MFMA || k->s->kind == SMFMAC || m->neg_lo & 2;

	for (unsigned int x = 0; x < k->s->k; x++)
		for (unsigned int j = 0; j < k->s->n; j++) {
			unsigned int e = x % k->b.each, part = x / k->b.each, lane;

			/* Where A has half as many parts, B's are dealt crosswise. */
			if (is_sparse(k->s) && k->a.parts < k->b.parts)
				part = part % 2 * 2 + part / 2;
			lane = blgp_lane(lane_of(k, &k->b, block, j, part), m->blgp);
			take(k, true, x * k->s->n + j,
				element(r + lane, bits_of(k->s->b), e, k->lanes),
				minus_at(k, m, 1, e), sign);
		}
}

/* Two bits an element: which of four rows of B it meets. */
static void take_indices(
	struct work *k, const struct sg_wave *w, const struct sg_inst *in)
{
	const uint32_t *r = w->v + in->src[3].off;
	const struct sg_mods *m = in->mods;
	unsigned int bits = index_bits(&k->a);
	unsigned int set = k->s->kind == SWMMAC ? m->index_key
			   : m->cbsz & 3        ? 0
						: m->abid;

	for (unsigned int i = 0; i < k->s->m; i++)
		for (unsigned int x = 0; x < k->stored; x++) {
			unsigned int lane = lane_of(k, &k->a, 0, i, x / k->a.each);
			unsigned int at = set * bits + 2 * (x % k->a.each);

			k->at[i * k->stored + x] =
				(uint8_t)(x / 2 * 4 + (r[lane] >> at & 3));
		}
}

/* C's value at (row i, column j) of a block, or D's when put is set. */
static void move_c(struct work *k, const struct sg_inst *in, const uint32_t *c,
	uint32_t *put, unsigned int block, unsigned int i, unsigned int j)
{
	const struct sg_mods *m = in->mods;
	const struct shape *s = k->s;
	unsigned int lane, e, half = 0, x = i * s->n + j, n = k->lanes;
	bool number = in->src[2].kind == SG_K_CONST;
	uint64_t u;

	where_c(s, k->gen, n, block, i, j, &lane, &e);
	if (is_half(s->d)) { /* gfx11: one half of a register; gfx12: packed */
		half = k->gen >= SG_GEN_12 ? e & 1 : m->op_sel >> 2 & 1;
		e = k->gen >= SG_GEN_12 ? e / 2 : e;
	}
	if (put) {
		uint32_t *o = put + e * n + lane, h;

		if (s->d == 'd') {
			memcpy(&u, &k->dc[x], 8);
			put[2 * e * n + lane] = (uint32_t)u;
			put[(2 * e + 1) * n + lane] = (uint32_t)(u >> 32);
		} else if (!is_half(s->d)) {
			*o = (uint32_t)k->mc[x].i;
		} else {
			h = s->d == 'h' ? sg_f2h(k->mc[x].f) : sg_f2bf(k->mc[x].f);
			*o = half ? (*o & 0xffff) | h << 16 : (*o & 0xffff0000) | h;
		}
		return;
	}
	if (number)
		u = c[0] | (s->d == 'd' ? (uint64_t)c[n] << 32 : 0);
	else
		u = element(c + lane, s->d == 'd' ? 64 : 32, e, n);
	if (s->d == 'd') {
		memcpy(&k->dc[x], &u, 8);
		if (m->neg & 4)
			k->dc[x] = -k->dc[x];
		return;
	}
	if (s->d == 'i') {
		k->mc[x].i = (int32_t)u;
		return;
	}
	if (is_half(s->d) && !number)
		u = u >> 16 * half & 0xffff;
	k->mc[x].f = s->d == 'h'   ? sg_h2f((uint16_t)u)
		     : s->d == 'y' ? sg_bits_f((uint32_t)u << 16)
				   : sg_bits_f((uint32_t)u);
	if (m->neg_hi & 4)
		k->mc[x].f = fabsf(k->mc[x].f);
	if (m->neg_lo & 4)
		k->mc[x].f = -k->mc[x].f;
}

static void multiply(struct work *k, bool saturate)
{
	const struct shape *s = k->s;

	if (s->d == 'f' || is_half(s->d)) {
		sg_lane->matrix(&k->mc[0].f, &k->ma[0].f, k->at, &k->mb[0].f, s->m, s->n,
			k->stored);
		for (unsigned int x = 0; k->gen == SG_GEN_90A && is_half(s->a) &&
					 x < (unsigned int)s->m * s->n;
			x++)
			k->mc[x].f = sg_fz(k->mc[x].f);
		return;
	}
	for (unsigned int i = 0; i < s->m; i++)
		for (unsigned int j = 0; j < s->n; j++) {
			int64_t sum = k->mc[i * s->n + j].i;
			double *d = s->d == 'd' ? &k->dc[i * s->n + j] : NULL;

			for (unsigned int x = 0; x < k->stored; x++) {
				unsigned int a = i * k->stored + x,
					     b = k->at[a] * s->n + j;

				if (d)
					*d = fma(k->da[a], k->db[b], *d);
				else
					sum += (int64_t)k->ma[a].i * k->mb[b].i;
			}
			if (saturate)
				sum = sum > INT32_MAX   ? INT32_MAX
				      : sum < INT32_MIN ? INT32_MIN
							: sum;
			if (s->d == 'i')
				k->mc[i * s->n + j].i = (int32_t)sum;
		}
}

static const struct sg_inst *exec_matrix(struct sg_wave *w, const struct sg_inst *in)
{
	const struct shape *s = &shapes[in->imm];
	size_t size = c_words(s, w->p->gen, w->lanes) * (size_t)w->lanes * 4;
	const uint32_t *c =
		in->src[2].kind == SG_K_CONST ? in->src[2].row : w->v + in->src[2].off;
	uint32_t out[32 * SG_LANES_MAX];
	struct work k;

	k.s = s;
	k.lanes = w->lanes;
	k.gen = w->p->gen;
	k.stored = is_sparse(s) ? s->k / 2u : s->k;
	k.a = deal_of(s, k.gen, k.lanes, k.stored, s->a);
	k.b = deal_of(s, k.gen, k.lanes, s->k, s->b);
	memcpy(out, w->v + in->dst[0].off, size);
	for (unsigned int block = 0; block < s->blocks; block++) {
		take_a(&k, w, in, block);
		take_b(&k, w, in, block);
		if (is_sparse(s))
			take_indices(&k, w, in);
		for (unsigned int i = 0; i < s->m; i++)
			for (unsigned int j = 0; j < s->n; j++)
				move_c(&k, in, c, NULL, block, i, j);
		multiply(&k, in->mods->clamp);
		for (unsigned int i = 0; i < s->m; i++)
			for (unsigned int j = 0; j < s->n; j++)
				move_c(&k, in, c, out, block, i, j);
	}
	if (in->falsify)
		out[0] ^= 0x400;
	memcpy(w->v + in->dst[0].off, out, size);
	return in + 1;
}

#define MATRIX(KIND, NAME, ...)                                                          \
	SG_OP_ANON({NAME, "", 0, 0, NULL, exec_matrix, bind_matrix});
SHAPES(MATRIX)
