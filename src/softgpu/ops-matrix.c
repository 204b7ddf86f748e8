/*
 * Matrix operations: MFMA (gfx90a, gfx942, waves of 64) and WMMA (gfx11, gfx12). Which
 * lane and register holds which element is from AMD's CDNA2, CDNA3, RDNA3 and RDNA4 ISA
 * guides. Order of accumulation, which the guides leave open: from C, one fused
 * multiply-add after another with k ascending, in the type of the result; 16-bit results
 * are accumulated in f32 and rounded once. Integers wrap, or saturate with clamp.
 */
#include "softgpu/decode.h"
#include "softgpu/lane-float.h"

#include <math.h>
#include <string.h>

enum kind { MFMA, WMMA11, WMMA12 };

struct shape {
	const char *name;
	uint8_t kind, m, n, k, blocks;
	char a, d; /* types of A and B, of C and D: f d h y i (8 bits) n (4 bits) */
};

/* clang-format off */
/* name, kind, M, N, K, blocks, type of A and B, type of C and D */
#define SHAPES(X) \
	X(0, "v_mfma_f32_32x32x1f32", MFMA, 32, 32, 1, 2, 'f', 'f') \
	X(1, "v_mfma_f32_16x16x1f32", MFMA, 16, 16, 1, 4, 'f', 'f') \
	X(2, "v_mfma_f32_4x4x1f32", MFMA, 4, 4, 1, 16, 'f', 'f') \
	X(3, "v_mfma_f32_32x32x2f32", MFMA, 32, 32, 2, 1, 'f', 'f') \
	X(4, "v_mfma_f32_16x16x4f32", MFMA, 16, 16, 4, 1, 'f', 'f') \
	X(5, "v_mfma_f32_32x32x4f16", MFMA, 32, 32, 4, 2, 'h', 'f') \
	X(6, "v_mfma_f32_16x16x4f16", MFMA, 16, 16, 4, 4, 'h', 'f') \
	X(7, "v_mfma_f32_4x4x4f16", MFMA, 4, 4, 4, 16, 'h', 'f') \
	X(8, "v_mfma_f32_32x32x8f16", MFMA, 32, 32, 8, 1, 'h', 'f') \
	X(9, "v_mfma_f32_16x16x16f16", MFMA, 16, 16, 16, 1, 'h', 'f') \
	X(10, "v_mfma_f32_32x32x4bf16_1k", MFMA, 32, 32, 4, 2, 'y', 'f') \
	X(11, "v_mfma_f32_16x16x4bf16_1k", MFMA, 16, 16, 4, 4, 'y', 'f') \
	X(12, "v_mfma_f32_4x4x4bf16_1k", MFMA, 4, 4, 4, 16, 'y', 'f') \
	X(13, "v_mfma_f32_32x32x8bf16_1k", MFMA, 32, 32, 8, 1, 'y', 'f') \
	X(14, "v_mfma_f32_16x16x16bf16_1k", MFMA, 16, 16, 16, 1, 'y', 'f') \
	X(15, "v_mfma_f32_32x32x2bf16", MFMA, 32, 32, 2, 2, 'y', 'f') \
	X(16, "v_mfma_f32_16x16x2bf16", MFMA, 16, 16, 2, 4, 'y', 'f') \
	X(17, "v_mfma_f32_4x4x2bf16", MFMA, 4, 4, 2, 16, 'y', 'f') \
	X(18, "v_mfma_f32_32x32x4bf16", MFMA, 32, 32, 4, 1, 'y', 'f') \
	X(19, "v_mfma_f32_16x16x8bf16", MFMA, 16, 16, 8, 1, 'y', 'f') \
	X(20, "v_mfma_i32_32x32x4i8", MFMA, 32, 32, 4, 2, 'i', 'i') \
	X(21, "v_mfma_i32_16x16x4i8", MFMA, 16, 16, 4, 4, 'i', 'i') \
	X(22, "v_mfma_i32_4x4x4i8", MFMA, 4, 4, 4, 16, 'i', 'i') \
	X(23, "v_mfma_i32_32x32x8i8", MFMA, 32, 32, 8, 1, 'i', 'i') \
	X(24, "v_mfma_i32_16x16x16i8", MFMA, 16, 16, 16, 1, 'i', 'i') \
	X(25, "v_mfma_f64_16x16x4f64", MFMA, 16, 16, 4, 1, 'd', 'd') \
	X(26, "v_mfma_f64_4x4x4f64", MFMA, 4, 4, 4, 4, 'd', 'd') \
	X(27, "v_mfma_f32_32x32x1_2b_f32", MFMA, 32, 32, 1, 2, 'f', 'f') \
	X(28, "v_mfma_f32_16x16x1_4b_f32", MFMA, 16, 16, 1, 4, 'f', 'f') \
	X(29, "v_mfma_f32_4x4x1_16b_f32", MFMA, 4, 4, 1, 16, 'f', 'f') \
	X(30, "v_mfma_f32_32x32x2_f32", MFMA, 32, 32, 2, 1, 'f', 'f') \
	X(31, "v_mfma_f32_16x16x4_f32", MFMA, 16, 16, 4, 1, 'f', 'f') \
	X(32, "v_mfma_f32_32x32x4_2b_f16", MFMA, 32, 32, 4, 2, 'h', 'f') \
	X(33, "v_mfma_f32_16x16x4_4b_f16", MFMA, 16, 16, 4, 4, 'h', 'f') \
	X(34, "v_mfma_f32_4x4x4_16b_f16", MFMA, 4, 4, 4, 16, 'h', 'f') \
	X(35, "v_mfma_f32_32x32x8_f16", MFMA, 32, 32, 8, 1, 'h', 'f') \
	X(36, "v_mfma_f32_16x16x16_f16", MFMA, 16, 16, 16, 1, 'h', 'f') \
	X(37, "v_mfma_f32_32x32x4_2b_bf16", MFMA, 32, 32, 4, 2, 'y', 'f') \
	X(38, "v_mfma_f32_16x16x4_4b_bf16", MFMA, 16, 16, 4, 4, 'y', 'f') \
	X(39, "v_mfma_f32_4x4x4_16b_bf16", MFMA, 4, 4, 4, 16, 'y', 'f') \
	X(40, "v_mfma_f32_32x32x8_bf16", MFMA, 32, 32, 8, 1, 'y', 'f') \
	X(41, "v_mfma_f32_16x16x16_bf16", MFMA, 16, 16, 16, 1, 'y', 'f') \
	X(42, "v_mfma_i32_32x32x4_2b_i8", MFMA, 32, 32, 4, 2, 'i', 'i') \
	X(43, "v_mfma_i32_16x16x4_4b_i8", MFMA, 16, 16, 4, 4, 'i', 'i') \
	X(44, "v_mfma_i32_4x4x4_16b_i8", MFMA, 4, 4, 4, 16, 'i', 'i') \
	X(45, "v_mfma_i32_32x32x16_i8", MFMA, 32, 32, 16, 1, 'i', 'i') \
	X(46, "v_mfma_i32_16x16x32_i8", MFMA, 16, 16, 32, 1, 'i', 'i') \
	X(47, "v_mfma_f64_16x16x4_f64", MFMA, 16, 16, 4, 1, 'd', 'd') \
	X(48, "v_mfma_f64_4x4x4_4b_f64", MFMA, 4, 4, 4, 4, 'd', 'd') \
	X(49, "v_wmma_f32_16x16x16_f16", WMMA11, 16, 16, 16, 1, 'h', 'f') \
	X(50, "v_wmma_f32_16x16x16_bf16", WMMA11, 16, 16, 16, 1, 'y', 'f') \
	X(51, "v_wmma_f16_16x16x16_f16", WMMA11, 16, 16, 16, 1, 'h', 'h') \
	X(52, "v_wmma_bf16_16x16x16_bf16", WMMA11, 16, 16, 16, 1, 'y', 'y') \
	X(53, "v_wmma_i32_16x16x16_iu8", WMMA11, 16, 16, 16, 1, 'i', 'i') \
	X(54, "v_wmma_i32_16x16x16_iu4", WMMA11, 16, 16, 16, 1, 'n', 'i') \
	X(55, "v_wmma_i32_16x16x32_iu4", WMMA12, 16, 16, 32, 1, 'n', 'i')

#define SHAPE(I, NAME, ...) {NAME, __VA_ARGS__},
static const struct shape shapes[] = {SHAPES(SHAPE)};

/* clang-format on */
static unsigned int bits_of(char type)
{
	return type == 'd'   ? 64
	       : type == 'f' ? 32
	       : type == 'i' ? 8
	       : type == 'n' ? 4
			     : 16;
}

static enum kind kind_of(const struct sg_program *p, const struct shape *s)
{
	return s->kind == MFMA ? MFMA : p->gen >= SG_GEN_12 ? WMMA12 : WMMA11;
}

/* Elements of A (or B) that a lane holds; WMMA of gfx11 has each twice. */
static unsigned int per_lane(const struct shape *s, enum kind kind, unsigned int lanes)
{
	unsigned int total = (unsigned int)s->m * s->k * s->blocks;

	return kind == WMMA11 ? s->k : total / lanes;
}

static unsigned int c_words(const struct shape *s, enum kind kind, unsigned int lanes)
{
	unsigned int each = (unsigned int)s->m * s->n * s->blocks / lanes;

	if (s->d == 'd')
		return 2 * each;
	/* gfx11 leaves half of each register of a 16-bit result alone. */
	return (s->d == 'h' || s->d == 'y') && kind == WMMA12 ? each / 2 : each;
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

static const char *bind_matrix(
	struct sg_program *p, const struct sg_text *t, struct sg_inst *in)
{
	const struct shape *s = &shapes[in->op->arg];
	enum kind kind = kind_of(p, s);
	unsigned int ab = per_lane(s, kind, p->lanes) * bits_of(s->a) / 32;
	unsigned int c = c_words(s, kind, p->lanes);
	const struct sg_mods *m = &t->mods;
	const char *why = NULL;

	if (kind == MFMA ? p->gen > SG_GEN_940 : p->gen < SG_GEN_11)
		return "a matrix operation of another generation";
	if (t->nops != 4)
		return "an unexpected number of operands";
	if (m->omod || m->dpp || m->sdwa || m->offset || m->index_key ||
		m->has_op_sel_hi ||
		(kind == MFMA && (m->has_op_sel || m->has_neg || m->clamp || m->blgp)))
		return "a modifier of a matrix operation";
	if (m->clamp && s->d != 'i')
		return "clamp of a float matrix operation";
	if (m->has_neg && s->d == 'i' && (m->neg_hi || m->neg_lo & 4))
		return "neg_hi of an integer matrix operation";
	if (m->has_op_sel &&
		(kind != WMMA11 || (s->d != 'h' && s->d != 'y') || m->op_sel & 3))
		return "op_sel of a matrix operation";
	if (m->cbsz && (1u << m->cbsz) > s->blocks)
		return "cbsz beyond the blocks";
	if (!sg_bind_dst(p, &t->ops[0], type_of(c), &in->dst[0], &why) ||
		!sg_bind_src(p, &t->ops[1], type_of(ab), true, &in->src[0], &why) ||
		!sg_bind_src(p, &t->ops[2], type_of(ab), true, &in->src[1], &why))
		return why;
	if (t->ops[3].kind == SG_T_INT || t->ops[3].kind == SG_T_FLOAT)
		sg_bind_src(p, &t->ops[3],
			s->d == 'd'                  ? 'd'
			: s->d == 'h' || s->d == 'y' ? s->d
			: s->d == 'f'                ? 'f'
						     : 'i',
			true, &in->src[2], &why);
	else
		sg_bind_src(p, &t->ops[3], type_of(c), true, &in->src[2], &why);
	if (!why && (in->src[0].kind != SG_K_VGPR || in->src[1].kind != SG_K_VGPR ||
			    in->src[2].kind == SG_K_SGPR || in->dst[0].kind != SG_K_VGPR))
		why = "a matrix that is not in vector registers";
	in->ndst = 1;
	in->nsrc = 3;
	return why;
}

/* Element e of the lane's part of a matrix. */
static uint64_t element(
	const uint32_t *r, unsigned int bits, unsigned int e, unsigned int n)
{
	unsigned int at = e * bits;

	if (bits == 64)
		return r[2 * e * n] | (uint64_t)r[(2 * e + 1) * n] << 32;
	if (bits == 32)
		return r[e * n];
	return r[at / 32 * n] >> at % 32 & ((1u << bits) - 1);
}

static double value(uint64_t u, char type, bool sign)
{
	uint32_t w = (uint32_t)u;
	float f;
	double d;

	switch (type) {
	case 'd':
		memcpy(&d, &u, 8);
		return d;
	case 'h':
		return sg_h2f((uint16_t)u);
	case 'y':
		w <<= 16;
		/* fall through */
	case 'f':
		memcpy(&f, &w, 4);
		return f;
	case 'i':
		return sign ? (int8_t)w : (int)w;
	default:
		return sign ? (int)(w << 28) >> 28 : (int)w;
	}
}

/* The lane and the element in it of A's (row, k); B's (column, k) is the same. */
static void where_ab(const struct shape *s, enum kind kind, unsigned int lanes,
	unsigned int block, unsigned int row, unsigned int k, unsigned int *lane,
	unsigned int *e)
{
	unsigned int w = per_lane(s, kind, lanes), groups = s->k / w;

	*e = k % w;
	if (kind == WMMA11)
		*lane = row;
	else if (s->a == 'd' && s->m == 4) /* blocks lie within the k groups */
		*lane = row + 4 * block + 16 * k;
	else
		*lane = row + s->m * (block * groups + k / w);
}

/* The lane and register (element) of C's (row, column). */
static void where_c(const struct shape *s, enum kind kind, unsigned int lanes,
	unsigned int block, unsigned int row, unsigned int col, unsigned int *lane,
	unsigned int *e)
{
	if (kind == WMMA11) {
		unsigned int high = lanes / 16;

		*lane = col + 16 * (row % high);
		*e = row / high;
	} else if (kind == WMMA12) {
		unsigned int each = 256 / lanes;

		*lane = col + 16 * (row / each);
		*e = row % each;
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

static const struct sg_inst *exec_matrix(struct sg_wave *w, const struct sg_inst *in)
{
	const struct shape *s = &shapes[in->op->arg];
	enum kind kind = kind_of(w->p, s);
	const struct sg_mods *m = in->mods;
	unsigned int n = w->lanes, ab = bits_of(s->a), words = c_words(s, kind, n);
	const uint32_t *ra = w->v + in->src[0].off, *rb = w->v + in->src[1].off, *rc;
	bool cconst = in->src[2].kind == SG_K_CONST, integer = s->d == 'i';
	/* MFMA's bytes are signed; WMMA's are where neg_lo says so. */
	bool sign_a = kind == MFMA || m->neg_lo & 1,
	     sign_b = kind == MFMA || m->neg_lo & 2;
	uint32_t out[32 * SG_LANES_MAX];

	rc = cconst ? in->src[2].row : w->v + in->src[2].off;
	memcpy(out, w->v + in->dst[0].off, (size_t)words * n * 4);
	for (unsigned int b = 0; b < s->blocks; b++)
		for (unsigned int i = 0; i < s->m; i++)
			for (unsigned int j = 0; j < s->n; j++) {
				unsigned int lane, e, half = 0,
						      cbits = s->d == 'd' ? 64 : 32;
				unsigned int ablock = (b & ~((1u << m->cbsz) - 1)) |
						      (m->cbsz ? m->abid : 0);
				uint64_t cu;
				double acc;
				int64_t iacc;

				where_c(s, kind, n, b, i, j, &lane, &e);
				if (s->d == 'h' || s->d == 'y') {
					/* gfx11: one half of a register; gfx12: both,
					 * packed */
					half = kind == WMMA11 ? (m->op_sel & 4 ? 1 : 0)
							      : e & 1;
					e = kind == WMMA11 ? e : e / 2;
				}
				cu = cconst ? rc[0] | (cbits == 64 ? (uint64_t)rc[n] << 32
								   : 0)
					    : element(rc + lane, cbits, e, n);
				if (s->d == 'h' || s->d == 'y')
					cu = (cconst ? cu : cu >> 16 * half) & 0xffff;
				acc = integer ? 0 : value(cu, s->d, false);
				iacc = (int32_t)cu;
				if (!integer && m->neg_hi & 4)
					acc = fabs(acc);
				if (!integer && m->neg_lo & 4)
					acc = -acc;
				for (unsigned int k = 0; k < s->k; k++) {
					unsigned int la, ea, lb, eb;
					double x, y;

					where_ab(s, kind, n, ablock, i, k, &la, &ea);
					where_ab(s, kind, n, b, j, k, &lb, &eb);
					x = value(element(ra + la, ab, ea, n), s->a,
						sign_a);
					y = value(element(rb + lb, ab, eb, n), s->a,
						sign_b);
					if (!integer && kind != MFMA) {
						/* neg_lo negates the even k, neg_hi the
						 * odd ones */
						x = (k & 1 ? m->neg_hi : m->neg_lo) & 1
							    ? -x
							    : x;
						y = (k & 1 ? m->neg_hi : m->neg_lo) & 2
							    ? -y
							    : y;
					}
					if (integer)
						iacc += (int64_t)x * (int64_t)y;
					else if (s->d == 'd')
						acc = fma(x, y, acc);
					else
						acc = fmaf(
							(float)x, (float)y, (float)acc);
				}
				if (m->clamp)
					iacc = iacc > INT32_MAX   ? INT32_MAX
					       : iacc < INT32_MIN ? INT32_MIN
								  : iacc;
				if (s->d == 'd') {
					memcpy(&cu, &acc, 8);
					out[2 * e * n + lane] = (uint32_t)cu;
					out[(2 * e + 1) * n + lane] =
						(uint32_t)(cu >> 32);
				} else if (integer) {
					out[e * n + lane] = (uint32_t)iacc;
				} else if (s->d == 'f') {
					float f = (float)acc;

					memcpy(&out[e * n + lane], &f, 4);
				} else {
					uint32_t h = s->d == 'h' ? sg_f2h((float)acc)
								 : sg_f2bf((float)acc);
					uint32_t *o = &out[e * n + lane];

					*o = half ? (*o & 0xffff) | h << 16
						  : (*o & 0xffff0000) | h;
				}
			}
	if (in->falsify)
		out[0] ^= 0x400;
	memcpy(w->v + in->dst[0].off, out, (size_t)words * n * 4);
	return in + 1;
}

#define MATRIX(I, NAME, ...)                                                             \
	SG_OP_ENTRY(matrix##I, {NAME, "", 0, I, NULL, exec_matrix, bind_matrix});
SHAPES(MATRIX)
