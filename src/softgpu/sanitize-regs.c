/*
 * Registers that nothing wrote. Their state goes with values: by lanes in vector
 * registers, by bits in scalar ones (a lane mask is built by and/or over bits that nobody
 * looks at). Only a use is a finding: as an address, a condition, or as data of a store
 * to global memory, since compilers do save, move and select among registers that hold
 * nothing.
 */
#include "softgpu/sanitize-parts.h"

#include "softgpu/wave.h"

/* Why the value of a register that is read here holds nothing. */
static struct sg_san_origin origin(const struct sg_san_step *t,
	const struct sg_san_origin *known, uint32_t reg, bool scalar)
{
	if (known->in)
		return *known;
	return (struct sg_san_origin){t->in, reg, SAN_UNINIT_REGISTER, scalar};
}

static unsigned int src_words(const struct sg_wave *w, char type)
{
	return type == 'm' ? w->lanes / 32 : sg_type_words(type);
}

/* ---- scalar ---- */

static uint32_t sundef(const struct sg_san_wave *v, uint32_t slot)
{
	return slot < SG_S_SLOTS ? v->sundef[slot] : 0;
}

/* Undefined bits of `words` words from a slot on, the first two of them as a number. */
static uint64_t scalar_bits(const struct sg_san_step *t, uint32_t off, unsigned int words,
	struct sg_san_origin *from)
{
	uint64_t bits = 0;

	for (unsigned int k = 0; k < words; k++) {
		uint32_t u = sundef(t->v, off + k);

		if (u && from)
			*from = origin(t, &t->v->sfrom[off + k], off + k, true);
		bits |= k < 2 ? (uint64_t)u << 32 * k : u;
	}
	return bits;
}

static void scalar_result(const struct sg_san_step *t, uint32_t off, unsigned int words,
	uint64_t undef, const struct sg_san_origin *from)
{
	for (unsigned int k = 0; k < words && off + k < SG_S_SLOTS; k++) {
		t->v->sundef[off + k] = k < 2 ? (uint32_t)(undef >> 32 * k) : 0;
		if (t->v->sundef[off + k])
			t->v->sfrom[off + k] = *from;
	}
}

static void exec_written(
	const struct sg_san_step *t, uint64_t undef, const struct sg_san_origin *from)
{
	undef &= t->w->lane_all;
	if (undef)
		sg_san_report_undef(t, "made the mask of lanes", undef, from);
	t->v->sundef[SG_S_EXEC] = t->v->sundef[SG_S_EXEC + 1] = 0;
}

/* ---- sources and results of vector operations ---- */

uint64_t sg_san_source(
	const struct sg_san_step *t, unsigned int k, int word, struct sg_san_origin *from)
{
	const struct sg_src *s = &t->in->src[k];
	unsigned int words = src_words(t->w, s->type);
	uint64_t undef = 0, bits;

	if (s->kind == SG_K_SGPR) {
		bits = scalar_bits(t, s->off + (word > 0 ? (unsigned int)word : 0),
			word >= 0 ? 1 : words, from);
		if (s->type == 'm')
			return bits & t->w->lane_all;
		return bits ? t->w->lane_all : 0;
	}
	if (s->kind != SG_K_VGPR)
		return 0;
	for (unsigned int i = 0; i < words; i++) {
		unsigned int row = sg_san_row(t->w, s->off) + i;

		if ((word >= 0 && (unsigned int)word != i) || row >= SG_ROWS ||
			!t->v->undef[row])
			continue;
		undef |= t->v->undef[row];
		*from = origin(t, &t->v->from[row], row, false);
	}
	return undef;
}

void sg_san_result(const struct sg_san_step *t, const struct sg_dst *d, unsigned int word,
	uint64_t on, uint64_t undef, const struct sg_san_origin *from)
{
	unsigned int row = sg_san_row(t->w, d->off) + word;

	if (d->kind != SG_K_VGPR || row >= SG_ROWS)
		return;
	t->v->undef[row] = (t->v->undef[row] & ~on) | (undef & on);
	if (undef & on)
		t->v->from[row] = *from;
}

void sg_san_define(const struct sg_san_step *t, const struct sg_dst *d, uint64_t on)
{
	if (d->kind == SG_K_SGPR)
		scalar_result(t, d->off, src_words(t->w, d->type), 0, NULL);
	for (unsigned int k = 0; d->kind == SG_K_VGPR && k < sg_type_words(d->type); k++)
		sg_san_result(t, d, k, on, 0, NULL);
}

void sg_san_need(const struct sg_san_step *t, unsigned int k, const char *use)
{
	struct sg_san_origin from = {0};
	uint64_t bad = sg_exec(t->w) & sg_san_source(t, k, -1, &from);

	if (bad)
		sg_san_report_undef(t, use, bad, &from);
}

/*
 * Data of a store: a lane of which no word holds anything. One that is part of more words
 * may be a structure's padding.
 */
void sg_san_need_data(const struct sg_san_step *t, unsigned int k)
{
	unsigned int words = src_words(t->w, t->in->src[k].type);
	struct sg_san_origin from = {0};
	uint64_t bad = sg_exec(t->w);

	for (unsigned int i = 0; bad && i < words; i++)
		bad &= sg_san_source(t, k, (int)i, &from);
	if (bad)
		sg_san_report_undef(t, "stored", bad, &from);
}

/* ---- vector operations ---- */

static uint64_t mask_value(const struct sg_san_step *t, unsigned int k)
{
	return sg_mask_read(t->w, &t->in->src[k]);
}

static uint64_t selected(const struct sg_san_step *t, struct sg_san_origin *from)
{
	struct sg_san_origin a_from = {0}, b_from = {0}, m_from = {0};
	uint64_t a = sg_san_source(t, 0, -1, &a_from),
		 b = sg_san_source(t, 1, -1, &b_from);
	uint64_t m = sg_san_source(t, 2, -1, &m_from), mask, undef;

	if (!(a | b | m))
		return 0;
	mask = mask_value(t, 2);
	undef = m | (~mask & a) | (mask & b);
	*from = m ? m_from : (~mask & a) ? a_from : b_from;
	return undef;
}

static void lane_to_scalar(const struct sg_san_step *t, uint8_t class)
{
	const struct sg_inst *in = t->in;
	struct sg_san_origin from = {0};
	uint64_t undef = sg_san_source(t, 0, -1, &from), exec = sg_exec(t->w);
	unsigned int lane = exec ? (unsigned int)__builtin_ctzll(exec) : 0;

	if (class == SAN_C_READLANE)
		lane = in->src[1].kind == SG_K_VGPR
			       ? 0
			       : *sg_sp(t->w, in, 1) & (t->w->lanes - 1);
	scalar_result(t, in->dst[0].off, 1, undef >> lane & 1 ? UINT32_MAX : 0, &from);
}

static void write_lane(const struct sg_san_step *t)
{
	const struct sg_inst *in = t->in;
	struct sg_san_origin from = {0};
	uint64_t undef = sg_san_source(t, 0, -1, &from);
	unsigned int lane = *sg_sp(t->w, in, 1) & (t->w->lanes - 1);

	sg_san_result(t, &in->dst[0], 0, 1ull << lane, undef, &from);
}

/* m0 moves the operands on by registers: what is written there holds something. */
static void indexed(const struct sg_san_step *t)
{
	struct sg_dst d = t->in->dst[0];

	if (d.kind != SG_K_VGPR)
		return;
	sg_san_define(t, &d, sg_exec(t->w));
	d.off +=
		(t->w->gpr_idx ? t->w->s[SG_S_M0] & 255 : t->w->s[SG_S_M0]) * t->w->lanes;
	if (d.off < SG_VGPRS * t->w->lanes)
		sg_san_define(t, &d, sg_exec(t->w));
}

static void swap(const struct sg_san_step *t)
{
	unsigned int a = sg_san_row(t->w, t->in->dst[0].off),
		     b = sg_san_row(t->w, t->in->src[0].off);
	uint64_t exec = sg_exec(t->w), ua = t->v->undef[a], ub = t->v->undef[b];
	struct sg_san_origin fa = t->v->from[a];

	t->v->undef[a] = (ua & ~exec) | (ub & exec);
	t->v->undef[b] = (ub & ~exec) | (ua & exec);
	t->v->from[a] = t->v->from[b];
	t->v->from[b] = fa;
}

static void ordinary(const struct sg_san_step *t, uint8_t class)
{
	const struct sg_inst *in = t->in;
	const struct sg_dst *last = &in->dst[in->ndst ? in->ndst - 1 : 0];
	uint64_t exec = sg_exec(t->w), on = exec, all = 0, low = 0;
	struct sg_san_origin from = {0};
	/* part of a register: what is written joins what is there */
	bool part = in->half || (in->mods->sdwa && in->mods->dst_sel != 6);

	if (class == SAN_C_CNDMASK && !in->mods->dpp)
		all = low = selected(t, &from);
	for (unsigned int k = 0;
		(class != SAN_C_CNDMASK || in->mods->dpp) && k < in->nsrc; k++) {
		uint64_t u = sg_san_source(t, k, -1, &from), l = u;

		if (!u && !in->mods->dpp)
			continue;
		if (class == SAN_C_LOW_FIRST)
			l = sg_san_source(t, k, 0, &from);
		if (!k && in->mods->dpp) {
			u = sg_dpp_lanes(t->w, in, u, &on);
			l = sg_dpp_lanes(t->w, in, l, &on);
		}
		all |= u;
		low |= l;
	}
	if (in->ndst && in->dst[0].kind == SG_K_VGPR) {
		unsigned int words = sg_type_words(in->dst[0].type);

		for (unsigned int i = 0; i < words; i++)
			sg_san_result(t, &in->dst[0], i, part ? on & ~all : on,
				i || class != SAN_C_LOW_FIRST ? all : low, &from);
	}
	if (in->ndst && last->kind == SG_K_SGPR)
		scalar_result(t, last->off, src_words(t->w, last->type),
			last->type == 'm' ? all & exec
			: all             ? UINT64_MAX
					  : 0,
			&from);
	if (in->cmpx || (in->ndst && last->off == SG_S_EXEC && last->kind == SG_K_SGPR))
		exec_written(t, all & exec, &from);
}

void sg_san_step_valu(const struct sg_san_step *t, uint8_t class)
{
	sg_san_check_pending(t, true);
	if (t->w->gpr_idx)
		class = SAN_C_INDEXED;
	switch (class) {
	case SAN_C_READLANE:
	case SAN_C_READFIRST:
		lane_to_scalar(t, class);
		break;
	case SAN_C_WRITELANE:
		write_lane(t);
		break;
	case SAN_C_SWAP:
		swap(t);
		break;
	case SAN_C_INDEXED:
		indexed(t);
		break;
	case SAN_C_DEFINES:
		for (unsigned int k = 0; k < t->in->ndst; k++)
			sg_san_define(t, &t->in->dst[k], UINT64_MAX);
		break;
	default:
		ordinary(t, class);
	}
}

/* ---- scalar operations ---- */

struct bits {
	uint64_t value, undef;
};

static struct bits scalar_source(
	const struct sg_san_step *t, unsigned int k, struct sg_san_origin *from)
{
	const struct sg_src *s = &t->in->src[k];
	unsigned int words = sg_type_words(s->type);
	struct bits b = {0, 0};

	if (k >= t->in->nsrc)
		return b;
	b.value = words == 2 ? sg_sp64(t->w, t->in, k) : *sg_sp(t->w, t->in, k);
	if (s->kind == SG_K_SGPR)
		b.undef = scalar_bits(t, s->off, words, from);
	return b;
}

static struct bits invert(struct bits b)
{
	return (struct bits){~b.value, b.undef};
}

/* A bit of a & b holds something where both do, or one is a 0 that does. */
static uint64_t undef_and(struct bits a, struct bits b)
{
	return (a.undef | b.undef) & (a.undef | a.value) & (b.undef | b.value);
}

static uint64_t undef_result(
	const struct sg_san_step *t, uint8_t class, struct bits a, struct bits b)
{
	unsigned int shift = (unsigned int)b.value &
			     (sg_type_words(t->in->src[0].type) == 2 ? 63 : 31);
	bool scc = sundef(t->v, SG_S_SCC),
	     carry = strstr(t->in->op->name, "addc") || strstr(t->in->op->name, "subb");

	switch (class) {
	case SAN_C_AND:
		return undef_and(a, b);
	case SAN_C_OR:
		return undef_and(invert(a), invert(b));
	case SAN_C_ANDN2:
		return undef_and(a, invert(b));
	case SAN_C_ORN2:
		return undef_and(invert(a), b);
	case SAN_C_ANDN1:
		return undef_and(invert(a), b);
	case SAN_C_ORN1:
		return undef_and(a, invert(b));
	case SAN_C_XOR:
	case SAN_C_COPY:
		return a.undef | b.undef;
	case SAN_C_SELECT:
		return scc ? UINT64_MAX : t->w->s[SG_S_SCC] ? a.undef : b.undef;
	case SAN_C_SHL:
		return b.undef ? UINT64_MAX : a.undef << shift;
	case SAN_C_SHR:
		return b.undef ? UINT64_MAX : a.undef >> shift;
	default:
		return a.undef || b.undef || (carry && scc) ? UINT64_MAX : 0;
	}
}

/* SCC of a bitwise operation is whether any bit is set: known when one that holds
 * something may be; the sanitizer takes any bit that holds something for that. */
static void scc_result(const struct sg_san_step *t, uint64_t undef, uint64_t all,
	const struct sg_san_origin *from)
{
	bool unknown = all && (undef & all) == all;

	t->v->sundef[SG_S_SCC] = unknown;
	if (unknown)
		t->v->sfrom[SG_S_SCC] = *from;
}

static void save_exec(const struct sg_san_step *t, uint8_t class)
{
	struct sg_san_origin from = {0};
	struct bits a = scalar_source(t, 0, &from), e = {sg_s64(t->w, SG_S_EXEC), 0};

	exec_written(t, undef_result(t, class, a, e), &from);
	scalar_result(t, t->in->dst[0].off, sg_type_words(t->in->dst[0].type), 0, NULL);
	t->v->sundef[SG_S_SCC] = 0;
}

void sg_san_step_salu(const struct sg_san_step *t, uint8_t class)
{
	const struct sg_inst *in = t->in;
	const char *name = in->op->name;
	struct sg_san_origin from = {0};
	struct bits a = {0, 0}, b = {0, 0};
	uint64_t undef, all;
	bool wide;

	sg_san_check_pending(t, true);
	if (strstr(name, "exec_b")) {
		save_exec(t, class);
		return;
	}
	a = scalar_source(t, 0, &from);
	b = scalar_source(t, 1, &from);
	if (class == SAN_C_SELECT && sundef(t->v, SG_S_SCC))
		from = origin(t, &t->v->sfrom[SG_S_SCC], SG_S_SCC, true);
	if (class == SAN_C_CMOV && !t->w->s[SG_S_SCC])
		return;
	undef = undef_result(t, class, a, b);
	if (class == SAN_C_COMPARE) {
		t->v->sundef[SG_S_SCC] = a.undef || b.undef;
		t->v->sfrom[SG_S_SCC] = from;
		return;
	}
	if (!in->ndst || in->dst[0].kind != SG_K_SGPR)
		return;
	wide = sg_type_words(in->dst[0].type) == 2;
	all = wide ? UINT64_MAX : UINT32_MAX;
	undef &= all;
	if (in->dst[0].off == SG_S_EXEC) {
		exec_written(t, undef, &from);
		undef = 0;
	} else {
		scalar_result(
			t, in->dst[0].off, sg_type_words(in->dst[0].type), undef, &from);
	}
	if (class != SAN_C_SELECT && class != SAN_C_CMOV && class != SAN_C_COPY &&
		class != SAN_C_SALU)
		scc_result(t, undef, all, &from);
}

void sg_san_branch(const struct sg_san_step *t, uint32_t slot, const char *what)
{
	unsigned int words = slot == SG_S_VCC ? t->w->lanes / 32 : 1;
	uint64_t all = words == 2 ? UINT64_MAX : slot == SG_S_SCC ? 1 : UINT32_MAX;
	struct sg_san_origin from = {0};
	uint64_t bits = scalar_bits(t, slot, words, &from) & all;
	uint64_t value = words == 2 ? sg_s64(t->w, slot) : t->w->s[slot];

	/* one set bit that holds something decides */
	if (bits && !(value & ~bits & all))
		sg_san_report_undef(t, what, 0, &from);
}
