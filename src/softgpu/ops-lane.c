/* Operations across lanes, and the few vector operations with a fourth source. */
#include "softgpu/decode.h"
#include "softgpu/lane-float.h"

#include <math.h>
#include <string.h>

static unsigned int first_lane(const struct sg_wave *w)
{
	uint64_t exec = sg_exec(w);

	return exec ? (unsigned int)__builtin_ctzll(exec) : 0;
}

static const struct sg_inst *readfirstlane(struct sg_wave *w, const struct sg_inst *in)
{
	const uint32_t *a = sg_src_row(w, in, 0);

	w->s[in->dst[0].off] = a[first_lane(w)];
	if (in->dst[0].off - SG_S_EXEC < 2)
		sg_exec_changed(w);
	return in + 1;
}

static const struct sg_inst *readlane(struct sg_wave *w, const struct sg_inst *in)
{
	const uint32_t *a, *b = sg_src_row(w, in, 1);
	uint32_t lane = b[0] & (w->lanes - 1);

	a = in->src[0].kind == SG_K_VGPR ? w->v + in->src[0].off : sg_src_row(w, in, 0);
	w->s[in->dst[0].off] = a[lane];
	if (in->dst[0].off - SG_S_EXEC < 2)
		sg_exec_changed(w);
	return in + 1;
}

static const struct sg_inst *writelane(struct sg_wave *w, const struct sg_inst *in)
{
	uint32_t value = sg_src_row(w, in, 0)[0];
	uint32_t lane = sg_src_row(w, in, 1)[0] & (w->lanes - 1);

	w->v[in->dst[0].off + lane] = value;
	return in + 1;
}

SG_OP_ENTRY(
	rfl, {"v_readfirstlane_b32", "b:b", SG_OP_VALU, 0, NULL, readfirstlane, NULL});
SG_OP_ENTRY(rl, {"v_readlane_b32", "b:bb", SG_OP_VALU, 0, NULL, readlane, NULL});
SG_OP_ENTRY(wl, {"v_writelane_b32", "b:bb", SG_OP_VALU, 0, NULL, writelane, NULL});

static const struct sg_inst *mbcnt(struct sg_wave *w, const struct sg_inst *in)
{
	const uint32_t *a = sg_src_row(w, in, 0), *b = sg_src_row(w, in, 1);
	uint32_t *d = w->v + in->dst[0].off;
	bool hi = in->op->arg;

	for (unsigned int i = 0; i < w->lanes; i++) {
		uint32_t below = hi ? (i > 32 ? (1u << (i - 32)) - 1 : 0)
				    : (i < 32 ? (1u << i) - 1 : UINT32_MAX);

		if (w->em[i])
			d[i] = (uint32_t)__builtin_popcount(a[i] & below) + b[i];
	}
	return in + 1;
}

SG_OP_ENTRY(mbcntlo, {"v_mbcnt_lo_u32_b32", "u:bu", SG_OP_VALU, 0, NULL, mbcnt, NULL});
SG_OP_ENTRY(mbcnthi, {"v_mbcnt_hi_u32_b32", "u:bu", SG_OP_VALU, 1, NULL, mbcnt, NULL});

/* v_permlane16 and x16: op_sel[0] reads lanes that are off too, op_sel[1] is bound_ctrl.
 */
static const char *bind_permlane(
	struct sg_program *p, const struct sg_text *t, struct sg_inst *in)
{
	const char *why = NULL;
	unsigned int n =
		in->op->arg & 4 ? 2 : 4; /* the "var" forms have one selector row */

	if (in->op->arg & 4)
		n = 3;
	if (t->nops != n || !sg_bind_dst(p, &t->ops[0], 'b', &in->dst[0], &why))
		return why ? why : "operands";
	in->ndst = 1;
	for (unsigned int k = 1; k < n; k++)
		if (!sg_bind_src(p, &t->ops[k], 'b', true, &in->src[in->nsrc++], &why))
			return why;
	if (t->mods.clamp || t->mods.omod || t->mods.dpp || t->mods.sdwa)
		return "modifiers of a permutation";
	return NULL;
}

static const struct sg_inst *permlane16(struct sg_wave *w, const struct sg_inst *in)
{
	const bool x = in->op->arg & 1, var = in->op->arg & 4;
	const bool fi = in->mods->op_sel & 1, bound = in->mods->op_sel & 2;
	const uint32_t *b = sg_src_row(w, in, 1), *c = var ? NULL : sg_src_row(w, in, 2);
	uint32_t *d = w->v + in->dst[0].off, src[SG_LANES_MAX];
	uint64_t exec = sg_exec(w);

	memcpy(src, sg_src_row(w, in, 0), w->lanes * 4ul);
	for (unsigned int i = 0; i < w->lanes; i++) {
		unsigned int l = i & 15, row = (i & ~15u) ^ (x ? 16 : 0), from;
		uint64_t sel;

		if (!(exec >> i & 1))
			continue;
		if (var) {
			from = row + (b[i] & 15);
		} else {
			sel = b[0] | (uint64_t)c[0] << 32;
			from = row + (unsigned int)(sel >> 4 * l & 15);
		}
		if (fi || exec >> from & 1)
			d[i] = src[from];
		else if (bound)
			d[i] = 0;
	}
	return in + 1;
}

SG_OP_ENTRY(
	pl16, {"v_permlane16_b32", "", SG_OP_VALU, 0, NULL, permlane16, bind_permlane});
SG_OP_ENTRY(
	plx16, {"v_permlanex16_b32", "", SG_OP_VALU, 1, NULL, permlane16, bind_permlane});
SG_OP_ENTRY(pl16v,
	{"v_permlane16_var_b32", "", SG_OP_VALU, 4, NULL, permlane16, bind_permlane});
SG_OP_ENTRY(plx16v,
	{"v_permlanex16_var_b32", "", SG_OP_VALU, 5, NULL, permlane16, bind_permlane});

static const struct sg_inst *permlane64(struct sg_wave *w, const struct sg_inst *in)
{
	uint32_t *d = w->v + in->dst[0].off, src[SG_LANES_MAX];

	memcpy(src, sg_src_row(w, in, 0), w->lanes * 4ul);
	for (unsigned int i = 0; i < w->lanes; i++)
		if (w->em[i])
			d[i] = src[w->lanes == 64 ? i ^ 32 : i];
	return in + 1;
}

SG_OP_ENTRY(pl64, {"v_permlane64_b32", "b:b", SG_OP_VALU, 0, NULL, permlane64, NULL});

/* Exchanges; both operands are results. */
static const struct sg_inst *swap(struct sg_wave *w, const struct sg_inst *in)
{
	uint32_t *d = w->v + in->dst[0].off, *s = w->v + in->src[0].off;

	if (in->src[0].kind != SG_K_VGPR)
		return sg_stop(
			w, in, SG_FAULT_ILLEGAL, 0, "v_swap of what is no register");
	for (unsigned int i = 0; i < w->lanes; i++)
		if (w->em[i]) {
			uint32_t t = d[i];

			d[i] = s[i];
			s[i] = t;
		}
	return in + 1;
}

SG_OP_ENTRY(swap, {"v_swap_b32", "b:b", SG_OP_VALU, 0, NULL, swap, NULL});

/* ---- the last step of division: fma, scaled by vcc ---- */

static float fmas_f(const struct sg_wave *w, float a, float b, float c, bool vcc)
{
	double p, s, t, e;
	unsigned int csr;
	uint64_t bits;
	int scale;
	float f;

	if (!vcc && !w->fp_slow)
		return fmaf(a, b, c);
	if (!vcc) {
		csr = sg_fp_enter(w, 'f');
		f = fmaf(a, b, c);
		sg_fp_leave(csr);
		return f;
	}
	/* One rounding: the sum in double, made odd when inexact, then scaled exactly. */
	p = (double)a * b;
	s = p + c;
	t = s - p;
	e = (p - (s - t)) + (c - t);
	if (e != 0 && s - s == 0 && e - e == 0) {
		memcpy(&bits, &s, 8);
		if (!(bits & 1))
			bits += (e > 0) == (s > 0) ? 1 : (uint64_t)-1;
		memcpy(&s, &bits, 8);
	}
	memcpy(&bits, &c, 4);
	scale = ((uint32_t)bits >> 23 & 0xff) > 127 ? 64 : -64;
	s = ldexp(s, scale);
	csr = sg_fp_enter(w, 'f');
	f = (float)s;
	sg_fp_leave(csr);
	return f;
}

static double fmas_d(const struct sg_wave *w, double a, double b, double c, bool vcc)
{
	unsigned int csr;
	uint64_t bits;
	__float128 q;

	if (!vcc && !w->fp_slow)
		return fma(a, b, c);
	if (!vcc) {
		csr = sg_fp_enter(w, 'd');
		a = fma(a, b, c);
		sg_fp_leave(csr);
		return a;
	}
	memcpy(&bits, &c, 8);
	/* 113 bits hold the product; a sum that does not fit is beyond half a unit
	 * anyway. */
	q = (__float128)a * b + c;
	return (double)(q * ((bits >> 52 & 0x7ff) > 1023 ? (__float128)0x1p128
							 : (__float128)0x1p-128));
}

static const struct sg_inst *div_fmas(struct sg_wave *w, const struct sg_inst *in)
{
	const uint32_t *r[3];
	uint64_t vcc = sg_wave64(w) ? sg_s64(w, SG_S_VCC) : w->s[SG_S_VCC];
	uint32_t *d = w->v + in->dst[0].off, n = w->lanes;

	for (unsigned int k = 0; k < 3; k++)
		r[k] = sg_src_row(w, in, k);
	for (unsigned int i = 0; i < n; i++) {
		if (!w->em[i])
			continue;
		if (in->op->arg) {
			uint64_t u[3], x;
			double f[3], y;

			for (unsigned int k = 0; k < 3; k++)
				u[k] = r[k][i] | (uint64_t)r[k][i + n] << 32;
			memcpy(f, u, sizeof(f));
			y = fmas_d(w, f[0], f[1], f[2], vcc >> i & 1);
			memcpy(&x, &y, 8);
			d[i] = (uint32_t)x;
			d[i + n] = (uint32_t)(x >> 32);
		} else {
			float f[3], y;

			for (unsigned int k = 0; k < 3; k++)
				memcpy(&f[k], &r[k][i], 4);
			y = fmas_f(w, f[0], f[1], f[2], vcc >> i & 1);
			memcpy(&d[i], &y, 4);
		}
		if (in->falsify)
			d[i + (in->op->arg ? n : 0)] ^= 0x400;
	}
	return in + 1;
}

SG_OP_ENTRY(fmas32, {"v_div_fmas_f32", "f:fff", SG_OP_VALU, 0, NULL, div_fmas, NULL});
SG_OP_ENTRY(fmas64, {"v_div_fmas_f64", "d:ddd", SG_OP_VALU, 1, NULL, div_fmas, NULL});

/* ---- dot products whose bytes are signed where neg_lo says so (gfx11) ---- */

static const char *bind_dot_iu(
	struct sg_program *p, const struct sg_text *t, struct sg_inst *in)
{
	const struct sg_mods *m = &t->mods;
	const char *why = NULL;

	if (t->nops != 4)
		return "an unexpected number of operands";
	if (m->omod || m->dpp || m->sdwa || m->has_op_sel || m->has_op_sel_hi ||
		m->neg_hi || m->neg_lo & 4)
		return "a modifier of a dot product";
	if (!sg_bind_dst(p, &t->ops[0], 'i', &in->dst[0], &why))
		return why;
	in->ndst = 1;
	for (unsigned int k = 0; k < 3; k++)
		if (!sg_bind_src(
			    p, &t->ops[k + 1], 'b', true, &in->src[in->nsrc++], &why))
			return why;
	return in->dst[0].kind == SG_K_VGPR ? NULL
					    : "a result that is no vector register";
}

static const struct sg_inst *dot_iu(struct sg_wave *w, const struct sg_inst *in)
{
	const uint32_t *a = sg_src_row(w, in, 0), *b = sg_src_row(w, in, 1),
		       *c = sg_src_row(w, in, 2);
	const unsigned int bits = in->op->arg, up = 32 - bits;
	const bool sa = in->mods->neg_lo & 1, sb = in->mods->neg_lo & 2;
	uint32_t *d = w->v + in->dst[0].off;

	for (unsigned int i = 0; i < w->lanes; i++) {
		int64_t sum = (int32_t)c[i];

		for (unsigned int k = 0; k < 32; k += bits) {
			uint32_t x = a[i] >> k << up, y = b[i] >> k << up;

			sum += (sa ? (int64_t)((int32_t)x >> up) : (int64_t)(x >> up)) *
			       (sb ? (int64_t)((int32_t)y >> up) : (int64_t)(y >> up));
		}
		if (in->mods->clamp)
			sum = sum > INT32_MAX   ? INT32_MAX
			      : sum < INT32_MIN ? INT32_MIN
						: sum;
		if (w->em[i])
			d[i] = (uint32_t)sum ^ (in->falsify ? 0x400 : 0);
	}
	return in + 1;
}

SG_OP_ENTRY(dotiu8, {"v_dot4_i32_iu8", "", SG_OP_VALU, 8, NULL, dot_iu, bind_dot_iu});
SG_OP_ENTRY(dotiu4, {"v_dot8_i32_iu4", "", SG_OP_VALU, 4, NULL, dot_iu, bind_dot_iu});

/* v_movrel*: a register chosen by m0. */
static const struct sg_inst *movrel(struct sg_wave *w, const struct sg_inst *in)
{
	/* The forms ending in _2 have two numbers in m0. */
	const bool two = in->op->arg & 4;
	uint32_t m0 = w->s[SG_S_M0], n = w->lanes;
	uint32_t by_from = (two ? m0 & 255 : m0) * n,
		 by_to = (two ? m0 >> 16 & 255 : m0) * n;
	uint32_t from = in->src[0].off + (in->op->arg & 1 ? by_from : 0);
	uint32_t to = in->dst[0].off + (in->op->arg & 2 ? by_to : 0);
	const uint32_t *s;
	uint32_t *d;

	if (to >= SG_VGPRS * w->lanes ||
		(in->src[0].kind == SG_K_VGPR && from >= SG_VGPRS * w->lanes))
		return sg_stop(
			w, in, SG_FAULT_ILLEGAL, 0, "v_movrel outside of the registers");
	s = in->src[0].kind == SG_K_VGPR ? w->v + from : sg_src_row(w, in, 0);
	d = w->v + to;
	for (unsigned int i = 0; i < w->lanes; i++)
		if (w->em[i])
			d[i] = s[i];
	return in + 1;
}

SG_OP_ENTRY(movrels, {"v_movrels_b32", "b:b", SG_OP_VALU, 1, NULL, movrel, NULL});
SG_OP_ENTRY(movreld, {"v_movreld_b32", "b:b", SG_OP_VALU, 2, NULL, movrel, NULL});
SG_OP_ENTRY(movrelsd, {"v_movrelsd_b32", "b:b", SG_OP_VALU, 3, NULL, movrel, NULL});
SG_OP_ENTRY(movrelsd2, {"v_movrelsd_2_b32", "b:b", SG_OP_VALU, 7, NULL, movrel, NULL});
