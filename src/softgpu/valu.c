/* Vector operations: sources made ready, the lane loop, the result put in its place. */
#include "softgpu/isa.h"
#include "softgpu/lane-float.h"

#include <string.h>
#include <xmmintrin.h>

static const uint32_t all_on[2 * SG_LANES_MAX] = {
	[0 ... 2 * SG_LANES_MAX - 1] = UINT32_MAX};

static void splat(const struct sg_wave *w, uint32_t value, uint32_t *row)
{
	sg_lane->splat(value, row);
	if (w->lanes == 64)
		sg_lane->splat(value, row + 32);
}

static void expand(const struct sg_wave *w, uint64_t mask, uint32_t *row)
{
	sg_lane->expand((uint32_t)mask, row);
	if (w->lanes == 64)
		sg_lane->expand((uint32_t)(mask >> 32), row + 32);
}

void sg_exec_changed(struct sg_wave *w)
{
	expand(w, sg_exec(w), w->em);
}

#define MODE_FP16_OVFL (1u << 23)

_Thread_local struct sg_fp_mode sg_fp_now;

void sg_mode_changed(struct sg_wave *w)
{
	w->fp_slow = (w->mode & (MODE_FP16_OVFL | 0xff)) != 0xf0 || w->gpr_idx;
}

/*
 * MODE: two bits of rounding for f32, two for f64 and f16, then two of denormals each
 * (in, out). The CPU flushes f32 and f64 results as the device does, by what they would
 * be with any exponent.
 */
unsigned int sg_fp_enter(const struct sg_wave *w, char type)
{
	static const unsigned int rc[] = {0, 0x4000, 0x2000, 0x6000};
	unsigned int csr = _mm_getcsr(), set = csr & ~0xe000u;
	bool d = type == 'd' || type == 'h' || type == 'p';

	sg_fp_now.round = w->mode >> 2 & 3;
	sg_fp_now.ovfl = w->mode & MODE_FP16_OVFL;
	sg_fp_now.flush = !(w->mode & 0x80);
	if (type && strchr("fPgdhp", type))
		set |= rc[w->mode >> (d ? 2 : 0) & 3];
	if ((type == 'f' || type == 'P') && !(w->mode & 0x20))
		set |= 0x8000;
	if (type == 'd' && !(w->mode & 0x80))
		set |= 0x8000;
	if (set != csr)
		_mm_setcsr(set);
	return csr;
}

void sg_fp_leave(unsigned int csr)
{
	if (_mm_getcsr() != csr)
		_mm_setcsr(csr);
}

/* The source as it stands in its register. */
static inline const uint32_t *raw_row(
	struct sg_wave *w, const struct sg_inst *in, unsigned int k)
{
	const struct sg_src *s = &in->src[k];

	if (s->kind == SG_K_VGPR)
		return w->v + s->off;
	if (s->type == 'm') {
		expand(w, sg_mask_read(w, s), w->tmp[k]);
		return w->tmp[k];
	}
	if (s->kind == SG_K_CONST)
		return s->row;
	if (s->kind == SG_K_NONE)
		return w->tmp[k];
	splat(w, w->s[s->off], w->tmp[k]);
	if (sg_type_words(s->type) == 2)
		splat(w, w->s[s->off + 1], w->tmp[k] + w->lanes);
	return w->tmp[k];
}

/* The lane that lane i of a DPP instruction reads; -1: none. */
static int dpp_source(const struct sg_mods *m, unsigned int i, unsigned int lanes)
{
	unsigned int c = m->dpp_ctrl, row = i & ~15u, l = i & 15, n = c & 15;

	if (m->dpp == SG_DPP_8)
		return (int)((i & ~7u) | (m->dpp8 >> 3 * (i & 7) & 7));
	if (c < 0x100)
		return (int)((i & ~3u) | (c >> 2 * (i & 3) & 3));
	switch (c & 0x1f0) {
	case 0x100: /* row_shl: from the lane above */
		return l + n < 16 ? (int)(row + l + n) : -1;
	case 0x110:
		return l >= n ? (int)(row + l - n) : -1;
	case 0x120:
		return (int)(row + ((l - n) & 15));
	case 0x150:
		return (int)(row + n);
	case 0x160:
		return (int)(row + (l ^ n));
	default:
		break;
	}
	switch (c) {
	case 0x130: /* wave_shl:1 */
		return i + 1 < lanes ? (int)i + 1 : -1;
	case 0x134:
		return (int)((i + 1) % lanes);
	case 0x138:
		return (int)i - 1;
	case 0x13c:
		return (int)((i + lanes - 1) % lanes);
	case 0x140:
		return (int)(row + 15 - l);
	case 0x141:
		return (int)((i & ~7u) + 7 - (i & 7));
	case 0x142: /* row_bcast:15, to the next row */
		return row ? (int)row - 1 : -1;
	case 0x143: /* row_bcast:31 */
		return i >= 32 ? 31 : -1;
	default:
		return -1;
	}
}

/*
 * Source 0 through DPP into out; clears in *on the lanes that do not take part. A lane
 * without a source reads 0 with bound_ctrl, else it stays as it was.
 */
static void dpp_row(struct sg_wave *w, const struct sg_inst *in, const uint32_t *row,
	uint32_t *out, unsigned int words, uint64_t *on)
{
	const struct sg_mods *m = in->mods;
	uint64_t exec = sg_exec(w);

	for (unsigned int i = 0; i < w->lanes; i++) {
		int from = dpp_source(m, i, w->lanes);
		bool masked = !(m->row_mask >> (i / 16) & 1) ||
			      !(m->bank_mask >> (i % 16 / 4) & 1);

		if (m->dpp == SG_DPP_8)
			masked = false;
		if (from >= 0 && !m->fi && !(exec >> from & 1))
			from = -1;
		for (unsigned int k = 0; k < words; k++)
			out[i + k * w->lanes] =
				from < 0 ? 0 : row[(uint32_t)from + k * w->lanes];
		/* Without a source: DPP8 reads 0, else bound_ctrl decides. */
		if (masked || (from < 0 && !m->bound_ctrl && m->dpp != SG_DPP_8))
			*on &= ~(1ull << i);
	}
}

uint64_t sg_dpp_lanes(
	const struct sg_wave *w, const struct sg_inst *in, uint64_t lanes, uint64_t *on)
{
	const struct sg_mods *m = in->mods;
	uint64_t exec = sg_exec(w), out = 0;

	for (unsigned int i = 0; i < w->lanes; i++) {
		int from = dpp_source(m, i, w->lanes);

		if (from >= 0 && !m->fi && !(exec >> from & 1))
			from = -1;
		if (from >= 0)
			out |= (lanes >> from & 1) << i;
		if (m->dpp != SG_DPP_8 && (!(m->row_mask >> (i / 16) & 1) ||
						  !(m->bank_mask >> (i % 16 / 4) & 1) ||
						  (from < 0 && !m->bound_ctrl)))
			*on &= ~(1ull << i);
	}
	return out;
}

static uint32_t select_bits(uint32_t x, uint8_t sel, bool sext)
{
	if (sel < 4)
		return sext ? (uint32_t)(int8_t)(x >> 8 * sel) : x >> 8 * sel & 0xff;
	if (sel < 6)
		return sext ? (uint32_t)(int16_t)(x >> 16 * (sel - 4))
			    : x >> 16 * (sel - 4) & 0xffff;
	return x;
}

/* Denormals of a source or result of this type become zero when MODE says so. */
static void flush_row(uint32_t *r, char type, unsigned int lanes, uint32_t mode, bool in)
{
	uint32_t bit32 = in ? 1u << 4 : 1u << 5, bit64 = in ? 1u << 6 : 1u << 7;

	for (unsigned int i = 0; i < lanes; i++)
		switch (type) {
		case 'f':
			if (!(mode & bit32) && !(r[i] & 0x7f800000))
				r[i] &= 0x80000000;
			break;
		case 'P':
			for (unsigned int k = 0; k < 2; k++)
				if (!(mode & bit32) && !(r[i + k * lanes] & 0x7f800000))
					r[i + k * lanes] &= 0x80000000;
			break;
		case 'd':
			if (!(mode & bit64) && !(r[i + lanes] & 0x7ff00000)) {
				r[i] = 0;
				r[i + lanes] &= 0x80000000;
			}
			break;
		case 'h':
			if (!(mode & bit64) && !(r[i] & 0x7c00))
				r[i] &= 0xffff8000;
			break;
		case 'p':
			if (!(mode & bit64) && !(r[i] & 0x7c00))
				r[i] &= 0xffff8000;
			if (!(mode & bit64) && !(r[i] & 0x7c000000))
				r[i] &= 0x8000ffff;
			break;
		default:
			break;
		}
}

static void source_mods(const struct sg_wave *w, const struct sg_inst *in,
	const struct sg_src *s, uint32_t *r)
{
	const unsigned int n = w->lanes;
	const bool fmods = in->op->flags & SG_OP_FMODS;
	unsigned int i;

	switch (s->type) {
	case 'd':
		for (i = 0; i < n; i++) {
			if (s->abs)
				r[i + n] &= 0x7fffffff;
			if (s->neg)
				r[i + n] ^= 0x80000000;
		}
		return;
	case 'p':
	case 'q':
	case 'v':
		for (i = 0; i < n; i++) {
			uint32_t lo = s->hi ? r[i] >> 16 : r[i] & 0xffff;
			uint32_t hi = s->hi_hi ? r[i] >> 16 : r[i] & 0xffff;

			if (s->type != 'q') {
				lo ^= s->neg ? 0x8000 : 0;
				hi ^= s->neg_hi ? 0x8000 : 0;
			}
			r[i] = lo | hi << 16;
		}
		return;
	case 'P':
	case 'Q':
		for (i = 0; i < n; i++) {
			uint32_t lo = r[i + (s->hi ? n : 0)],
				 hi = r[i + (s->hi_hi ? n : 0)];

			r[i] = lo ^ (s->neg ? 0x80000000 : 0);
			r[i + n] = hi ^ (s->neg_hi ? 0x80000000 : 0);
		}
		return;
	case 'g': /* op_sel_hi: it is an f16, in the half that op_sel names */
		for (i = 0; i < n; i++) {
			bool keep = w->mode & (s->hi_hi ? 0x40 : 0x10);

			if (s->hi_hi) {
				uint16_t h = (uint16_t)(s->hi ? r[i] >> 16 : r[i]);
				float f = sg_h2f(keep || h & 0x7c00 ? h : h & 0x8000);

				memcpy(&r[i], &f, 4);
			} else if (!keep && !(r[i] & 0x7f800000)) {
				r[i] &= 0x80000000;
			}
			if (s->abs)
				r[i] &= 0x7fffffff;
			if (s->neg)
				r[i] ^= 0x80000000;
		}
		return;
	default:
		break;
	}
	for (i = 0; i < n; i++) {
		if (s->sel != 6)
			r[i] = select_bits(r[i], s->sel, s->sext);
		if (s->hi)
			r[i] >>= 16;
		if (sg_type_half(s->type)) {
			if (s->abs)
				r[i] &= 0xffff7fff;
			if (s->neg)
				r[i] ^= 0x8000;
		} else if (s->type == 'f' || fmods) {
			if (s->abs)
				r[i] &= 0x7fffffff;
			if (s->neg)
				r[i] ^= 0x80000000;
		}
	}
}

/* A source of whole registers with neg and abs, the only modifiers of in->signs. */
static const uint32_t *signs_row(
	struct sg_wave *w, const struct sg_inst *in, unsigned int k)
{
	const struct sg_src *s = &in->src[k];
	const uint32_t *row = raw_row(w, in, k);
	const uint32_t keep = s->abs ? 0x7fffffff : ~0u, flip = s->neg ? 0x80000000 : 0;
	const unsigned int n = w->lanes;
	uint32_t *r = w->tmp[k];

	if (!s->neg && !s->abs)
		return row;
	if (s->type == 'd') { /* the sign is in the upper row */
		memcpy(r, row, 4ul * n);
		row += n;
		r += n;
	}
	for (unsigned int h = 0; h < n; h += 32)
		for (unsigned int i = 0; i < 32; i++)
			r[h + i] = (row[h + i] & keep) ^ flip;
	return w->tmp[k];
}

static bool source_plain(const struct sg_src *s)
{
	if (s->type == 'g')
		return false;
	if (s->type == 'p' || s->type == 'q' || s->type == 'v' || s->type == 'P' ||
		s->type == 'Q')
		return !s->hi && s->hi_hi && !s->neg && !s->neg_hi;
	return !s->neg && !s->abs && s->sel == 6 && !s->hi;
}

/* A source with everything applied; *on loses the lanes that DPP turns off. */
static const uint32_t *full_row(
	struct sg_wave *w, const struct sg_inst *in, unsigned int k, uint64_t *on)
{
	const struct sg_src *s = &in->src[k];
	const uint32_t *row = raw_row(w, in, k);
	uint32_t *r = w->tmp[k];
	unsigned int words = sg_type_words(s->type);
	bool flush =
		w->fp_slow && !(in->op->flags & SG_OP_NOFLUSH) && sg_type_float(s->type);

	if (s->type == 'm' || s->kind == SG_K_NONE)
		return row;
	if (k == 0 && in->mods->dpp) {
		uint32_t copy[2 * SG_LANES_MAX];

		memcpy(copy, row, words * w->lanes * 4ul);
		dpp_row(w, in, copy, r, words, on);
	} else if (source_plain(s) && !flush) {
		return row;
	} else if (row != r) {
		memcpy(r, row, words * w->lanes * 4ul);
	}
	if (!source_plain(s))
		source_mods(w, in, s, r);
	if (flush)
		flush_row(r, s->type, w->lanes, w->mode, true);
	return r;
}

const uint32_t *sg_src_row(struct sg_wave *w, const struct sg_inst *in, unsigned int k)
{
	uint64_t on = UINT64_MAX;

	return (in->full && !in->signs) || w->fp_slow ? full_row(w, in, k, &on)
						      : signs_row(w, in, k);
}

static float clamp1(float x)
{
	return x > 0 ? x < 1 ? x : 1 : 0; /* NaN gives 0 (DX10_CLAMP) */
}

static float scaled(float x, uint8_t omod)
{
	return omod == 2 ? x * 2 : omod == 4 ? x * 4 : omod == 1 ? x * 0.5f : x;
}

static void result_mods(const struct sg_wave *w, const struct sg_inst *in, uint32_t *r)
{
	const struct sg_mods *m = in->mods;
	const unsigned int n = w->lanes;

	for (unsigned int i = 0; i < n; i++) {
		float f;
		double d;
		uint64_t u;

		switch (in->dst[0].type) {
		case 'f':
			memcpy(&f, &r[i], 4);
			f = scaled(f, m->omod);
			f = m->clamp ? clamp1(f) : f;
			memcpy(&r[i], &f, 4);
			break;
		case 'P':
			for (unsigned int k = 0; k < 2; k++) {
				memcpy(&f, &r[i + k * n], 4);
				f = m->clamp ? clamp1(f) : f;
				memcpy(&r[i + k * n], &f, 4);
			}
			break;
		case 'd':
			u = r[i] | (uint64_t)r[i + n] << 32;
			memcpy(&d, &u, 8);
			d = m->omod == 2   ? d * 2
			    : m->omod == 4 ? d * 4
			    : m->omod == 1 ? d / 2
					   : d;
			if (m->clamp)
				d = d > 0 ? d < 1 ? d : 1 : 0;
			memcpy(&u, &d, 8);
			r[i] = (uint32_t)u;
			r[i + n] = (uint32_t)(u >> 32);
			break;
		case 'h':
			f = scaled(sg_h2f((uint16_t)r[i]), m->omod);
			r[i] = sg_f2h(m->clamp ? clamp1(f) : f);
			break;
		case 'p':
			if (m->clamp)
				r[i] = sg_f2h(clamp1(sg_h2f((uint16_t)r[i]))) |
				       (uint32_t)sg_f2h(
					       clamp1(sg_h2f((uint16_t)(r[i] >> 16))))
					       << 16;
			break;
		default:
			break;
		}
	}
}

/* SDWA's placing of a result into part of a register. */
static void sdwa_result(const struct sg_wave *w, const struct sg_inst *in, uint32_t *r,
	const uint32_t *old)
{
	uint8_t sel = in->mods->dst_sel;
	uint32_t bits = sel < 4 ? 8 : 16, shift = sel < 4 ? 8u * sel : 16u * (sel - 4);
	uint32_t mask = sel < 4 ? 0xff : 0xffff;

	if (sel == 6)
		return;
	for (unsigned int i = 0; i < w->lanes; i++) {
		uint32_t v = (r[i] & mask) << shift;

		if (in->mods->dst_unused == 2)
			v |= old[i] & ~(mask << shift);
		else if (in->mods->dst_unused == 1)
			v |= (r[i] >> (bits - 1) & 1) ? ~((1ull << (shift + bits)) - 1)
						      : 0;
		r[i] = v;
	}
}

static int merge_mode(const struct sg_wave *w, const struct sg_inst *in)
{
	if (in->mods->op_sel & 8)
		return SG_MERGE_HIGH;
	if (w->p && in->imm) /* gfx9: set by the decoder, the upper half becomes zero */
		return SG_MERGE_ZERO;
	return SG_MERGE_LOW;
}

static void put_half(struct sg_wave *w, const struct sg_inst *in, const uint32_t *em)
{
	uint32_t *d = w->v + in->dst[0].off;
	int mode = merge_mode(w, in);

	sg_lane->merge16(d, w->res, em, mode);
	if (w->lanes == 64)
		sg_lane->merge16(d + 32, w->res + 32, em + 32, mode);
}

static void put_mask(struct sg_wave *w, const struct sg_inst *in, uint64_t mask)
{
	mask &= sg_exec(w);
	if (in->ndst && in->dst[in->ndst - 1].type == 'm')
		sg_mask_write(w, &in->dst[in->ndst - 1], mask);
	if (in->cmpx) {
		sg_set_s64(w, SG_S_EXEC,
			sg_wave64(w) ? mask : mask | (uint64_t)w->s[SG_S_EXEC + 1] << 32);
		sg_exec_changed(w);
	}
}

static const struct sg_inst *valu_full(struct sg_wave *w, const struct sg_inst *in)
{
	const uint32_t *a, *b, *c, *em = w->em;
	const size_t st = w->lanes;
	uint32_t dpp_em[SG_LANES_MAX];
	uint64_t on = UINT64_MAX, mask;
	sg_lane_fn lane = w->fp_slow && in->mode_lane ? in->mode_lane : in->lane;
	unsigned int csr = 0;
	const bool wants_mask =
		(in->ndst && in->dst[in->ndst - 1].type == 'm') || in->cmpx;
	const bool vector = in->ndst && in->dst[0].kind == SG_K_VGPR;
	const char type = in->ndst ? in->dst[0].type : 0;

	a = full_row(w, in, 0, &on);
	b = full_row(w, in, 1, &on);
	c = full_row(w, in, 2, &on);
	if (on != UINT64_MAX) {
		expand(w, sg_exec(w) & on, dpp_em);
		em = dpp_em;
	}
	/* Results start as what is there, for operations that keep part of it. */
	if (vector)
		memcpy(w->res, w->v + in->dst[0].off, (in->wide ? 8 : 4) * st);
	if (w->fp_slow)
		csr = sg_fp_enter(w, sg_type_float(type) ? type : in->src[0].type);
	mask = lane(w->res, a, b, c, all_on, st);
	if (st == 64)
		mask |= (uint64_t)lane(w->res + 32, a + 32, b + 32, c + 32, all_on, st)
			<< 32;
	if (w->fp_slow)
		sg_fp_leave(csr);
	if (in->falsify) {
		for (unsigned int i = 0; i < st; i++)
			w->res[i + (in->wide ? st : 0)] ^= 0x400;
		mask ^= 1;
	}
	if (vector) {
		uint32_t *d = w->v + in->dst[0].off;

		if (w->fp_slow && !(in->op->flags & SG_OP_NOFLUSH) && sg_type_float(type))
			flush_row(w->res, type, w->lanes, w->mode, false);
		if (in->mods->clamp || in->mods->omod)
			result_mods(w, in, w->res);
		if (in->mods->sdwa)
			sdwa_result(w, in, w->res, d);
		if (in->half && (!in->mods->sdwa || in->mods->dst_sel == 6)) {
			put_half(w, in, em);
		} else {
			sg_lane->merge(d, w->res, em, w->lanes);
			if (in->wide)
				sg_lane->merge(d + st, w->res + st, em, w->lanes);
		}
	}
	if (wants_mask)
		put_mask(w, in, mask & on);
	return in + 1;
}

/* gfx9's indexing mode: m0 counts registers on from the operands that the mask names. */
static const struct sg_inst *valu_indexed(struct sg_wave *w, const struct sg_inst *in)
{
	struct sg_inst copy = *in;
	uint32_t by = (w->s[SG_S_M0] & 255) * w->lanes, end = SG_VGPRS * w->lanes;

	for (unsigned int k = 0; k < 3; k++)
		if (copy.src[k].kind == SG_K_VGPR && w->gpr_idx >> k & 1 &&
			copy.src[k].off < end) {
			copy.src[k].off += by;
			if (copy.src[k].off >= end)
				return sg_stop(w, in, SG_FAULT_ILLEGAL, 0,
					"an indexed register beyond v255");
		}
	if (copy.ndst && copy.dst[0].kind == SG_K_VGPR && w->gpr_idx & 8) {
		copy.dst[0].off += by;
		if (copy.dst[0].off >= end)
			return sg_stop(w, in, SG_FAULT_ILLEGAL, 0,
				"an indexed register beyond v255");
	}
	return valu_full(w, &copy) ? in + 1 : NULL;
}

const struct sg_inst *sg_exec_valu(struct sg_wave *w, const struct sg_inst *in)
{
	const uint32_t *a, *b = all_on, *c = all_on; /* absent: a row to read */
	const size_t st = w->lanes;
	uint32_t *d;
	uint64_t mask;

	if (__builtin_expect((in->full && !in->signs) || w->fp_slow, 0))
		return __builtin_expect(w->gpr_idx, 0) ? valu_indexed(w, in)
						       : valu_full(w, in);
	a = signs_row(w, in, 0);
	if (in->nsrc > 1)
		b = signs_row(w, in, 1);
	if (in->nsrc > 2)
		c = signs_row(w, in, 2);
	if (in->half) {
		in->lane(w->res, a, b, c, all_on, st);
		if (st == 64)
			in->lane(w->res + 32, a + 32, b + 32, c + 32, all_on, st);
		put_half(w, in, w->em);
		return in + 1;
	}
	d = in->ndst && in->dst[0].kind == SG_K_VGPR ? w->v + in->dst[0].off : w->res;
	mask = in->lane(d, a, b, c, w->em, st);
	if (st == 64)
		mask |= (uint64_t)in->lane(d + 32, a + 32, b + 32, c + 32, w->em + 32, st)
			<< 32;
	if (in->cmpx || (in->ndst && in->dst[in->ndst - 1].type == 'm'))
		put_mask(w, in, mask);
	return in + 1;
}

/* VOPD: both halves read before either writes. The second half is a decoded instruction.
 */
const struct sg_inst *sg_exec_vopd(struct sg_wave *w, const struct sg_inst *in)
{
	const struct sg_inst *x = in->pair, *y = in->pair + 1;
	uint32_t row[SG_LANES_MAX];
	const uint32_t *a, *b, *c;
	uint32_t *d = w->v + y->dst[0].off;
	const size_t st = w->lanes;

	/* y into a row of its own, then x, then y's row into its register. */
	a = sg_src_row(w, y, 0);
	b = y->nsrc > 1 ? sg_src_row(w, y, 1) : all_on;
	c = y->nsrc > 2 ? sg_src_row(w, y, 2) : all_on;
	memcpy(row, d, 4 * st);
	if ((y->full && !y->signs) || w->fp_slow) {
		/* The full path writes the register itself: save and put back. */
		uint32_t old[SG_LANES_MAX];

		memcpy(old, d, 4 * st);
		if (!valu_full(w, y))
			return NULL;
		memcpy(row, d, 4 * st);
		memcpy(d, old, 4 * st);
	} else {
		y->lane(row, a, b, c, w->em, st);
		if (st == 64)
			y->lane(row + 32, a + 32, b + 32, c + 32, w->em + 32, st);
	}
	if (!sg_exec_valu(w, x))
		return NULL;
	memcpy(d, row, 4 * st);
	return in + 1;
}
