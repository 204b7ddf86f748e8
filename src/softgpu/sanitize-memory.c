/*
 * Memory: what loads bring and stores take. LDS and scratch have a state of each dword
 * (of LDS by bytes); what global memory holds is taken as written. A load of what nothing
 * wrote is no finding by itself (compilers load ahead of a condition), only its use is.
 */
#include "softgpu/sanitize-parts.h"

/* ---- scratch ---- */

static struct sg_san_origin *scratch_row(
	const struct sg_san_step *t, uint64_t off, unsigned int k, uint64_t **undef)
{
	uint64_t d = off / 4 + k;

	if (d >= t->v->scratch_dwords)
		return NULL;
	*undef = &t->v->scratch[d];
	return &t->v->scratch_from[d];
}

/* The lanes of on, all at one offset; part: less than a dword is stored. */
static void scratch_access(
	const struct sg_san_step *t, uint64_t off, uint64_t on, unsigned int words)
{
	const struct sg_inst *in = t->in;
	bool load = SG_MEM_DIR(in->op) == SG_LOAD;
	bool part = sg_elem_bytes(SG_MEM_ELEM(in->op)) < 4 || off & 3;

	for (unsigned int k = 0; k < words; k++) {
		struct sg_san_origin *from,
			here = {in, (uint32_t)off + 4 * k, SAN_UNINIT_SCRATCH, false};
		uint64_t *cell, undef;

		from = scratch_row(t, off, k, &cell);
		if (!from)
			return; /* beyond the wave's: the access itself will stop it */
		if (load) {
			sg_san_result(
				t, &in->dst[0], k, on, *cell, from->in ? from : &here);
			continue;
		}
		undef = sg_san_source(t, SG_M_DATA, (int)k, &here);
		*cell = (*cell & ~(part ? on & ~undef : on)) | (part ? 0 : undef & on);
		if (undef & on && !part)
			*from = here;
	}
}

static void scratch_lanes(
	const struct sg_san_step *t, uint64_t base, const uint32_t *voff)
{
	unsigned int words = sg_elem_words(SG_MEM_ELEM(t->in->op));
	uint64_t on = sg_exec(t->w);

	if (!voff) {
		scratch_access(t, base, on, words);
		return;
	}
	for (; on; on &= on - 1)
		scratch_access(t, base + voff[__builtin_ctzll(on)], on & -on, words);
}

/* ---- LDS ---- */

/* True when the lane's bytes are in the group's LDS. */
static bool lds_lane(const struct sg_san_step *t, uint64_t off, unsigned int bytes,
	bool write, bool atomic, unsigned int lane)
{
	off = (uint32_t)off; /* the sum of register and offset has 32 bits */
	if (off + bytes > t->w->g->lds_size) {
		sg_san_report(t, SAN_BOUNDS_LDS,
			"LDS offset 0x%llx of %u bytes, lane %u: the workgroup has %u",
			(unsigned long long)off, bytes, lane, t->w->g->lds_size);
		return false;
	}
	sg_san_touch_lds(t, (uint32_t)off, bytes, write, atomic, lane);
	return true;
}

static unsigned int bytes_in(uint32_t dword, uint32_t off, unsigned int size)
{
	unsigned int m = 0;

	for (unsigned int b = 0; b < 4; b++)
		m |= dword + b >= off && dword + b < off + size ? 1u << b : 0;
	return m;
}

/* A lane loads words of dst from word `first` on. */
static void lds_load(const struct sg_san_step *t, uint32_t off, unsigned int bytes,
	unsigned int first, unsigned int lane)
{
	const struct sg_dst *d = &t->in->dst[0];
	uint64_t bit = 1ull << lane;

	for (unsigned int k = 0; k < (bytes + 3) / 4; k++) {
		uint32_t at = off + 4 * k, end = off + bytes;
		unsigned int size = end - at < 4 ? end - at : 4;
		struct sg_san_origin here = {t->in, at, SAN_UNINIT_LDS, false};
		bool undef = true;

		/* a register has no state by bytes: one that was written is enough, since
		 * a structure may be loaded with its padding */
		for (uint32_t w = at & ~3u; w < at + size; w += 4) {
			undef &= !(t->g->lds_bytes[w / 4] & bytes_in(w, at, size));
			if (t->g->lds_from[w / 4].in)
				here = t->g->lds_from[w / 4];
		}
		sg_san_result(t, d, first + k, bit, undef ? bit : 0, &here);
	}
}

static void lds_store(const struct sg_san_step *t, uint32_t off, unsigned int bytes,
	unsigned int data, unsigned int lane)
{
	for (unsigned int k = 0; k < (bytes + 3) / 4; k++) {
		uint32_t at = off + 4 * k, end = off + bytes;
		unsigned int size = end - at < 4 ? end - at : 4;
		struct sg_san_origin from = {0};
		bool undef = sg_san_source(t, data, (int)k, &from) >> lane & 1;

		for (uint32_t w = at & ~3u; w < at + size; w += 4) {
			unsigned int m = bytes_in(w, at, size);

			if (!undef) {
				t->g->lds_bytes[w / 4] |= (uint8_t)m;
				continue;
			}
			t->g->lds_bytes[w / 4] &= (uint8_t)~m;
			t->g->lds_from[w / 4] = from;
		}
	}
}

/* One lane's access of any kind to LDS. */
static void lds_access(const struct sg_san_step *t, uint64_t off, unsigned int bytes,
	enum sg_dir dir, unsigned int data, unsigned int first, unsigned int lane)
{
	if (!lds_lane(t, off, bytes, dir != SG_LOAD, dir == SG_ATOMIC, lane)) {
		if (t->in->ndst) /* reads 0 */
			for (unsigned int k = 0; k < (bytes + 3) / 4; k++)
				sg_san_result(t, &t->in->dst[0], first + k, 1ull << lane,
					0, NULL);
		return;
	}
	off = (uint32_t)off;
	if (dir != SG_STORE && t->in->ndst)
		lds_load(t, (uint32_t)off, bytes, first, lane);
	if (dir != SG_LOAD)
		lds_store(t, (uint32_t)off, bytes, data, lane);
}

void sg_san_step_lds(const struct sg_san_step *t)
{
	const struct sg_inst *in = t->in;
	enum ds_form form = DS_FORM(in->op);
	unsigned int bytes = sg_elem_bytes(DS_ELEM(in->op));
	bool two = form == DS_READ2 || form == DS_WRITE2 || form == DS_XCHG2;
	bool tid = form == DS_ADDTID_R || form == DS_ADDTID_W;
	enum sg_dir dir = form == DS_READ || form == DS_READ2 || form == DS_ADDTID_R
				  ? SG_LOAD
			  : form == DS_WRITE || form == DS_WRITE2 || form == DS_ADDTID_W
				  ? SG_STORE
				  : SG_ATOMIC;
	/* the new value of a compare-and-swap */
	unsigned int data = form == DS_CMP ? 2 : 1;

	sg_san_check_pending(t, false);
	if (!tid)
		sg_san_need(t, 0, "an address");
	for (uint64_t on = sg_exec(t->w); on; on &= on - 1) {
		unsigned int i = (unsigned int)__builtin_ctzll(on);
		uint64_t a = tid ? (t->w->s[SG_S_M0] & 0xffff) + 4ull * i
				 : t->w->v[in->src[0].off + i];

		for (int k = 0; k < (two ? 2 : 1); k++)
			lds_access(t,
				a + (two ? sg_ds_offset2(in, k) : (uint64_t)in->imm),
				bytes, dir, data + (unsigned int)k,
				(unsigned int)k * sg_elem_words(DS_ELEM(in->op)), i);
	}
	sg_san_issue(t, SAN_BY_LGKM, in->ndst ? &in->dst[0] : NULL);
}

/* The crossbar: lanes' states go with their values. */
void sg_san_step_cross(const struct sg_san_step *t)
{
	const struct sg_inst *in = t->in;
	struct sg_san_origin from = {0}, address_from = {0};
	uint64_t exec = sg_exec(t->w), undef = 0, source, address;

	sg_san_check_pending(t, false);
	if (!strcmp(in->op->name, "ds_bpermute_b32")) {
		source = sg_san_source(t, 1, -1, &from) & exec;
		for (unsigned int i = 0; source && i < t->w->lanes; i++)
			undef |= (source >> sg_bpermute_from(t->w, in, i) & 1) << i;
		address = sg_san_source(t, 0, -1, &address_from) & exec;
		if (address)
			from = address_from;
		undef |= address;
	}
	sg_san_result(t, &in->dst[0], 0, exec, undef, &from);
	sg_san_issue(t, SAN_BY_LGKM, &in->dst[0]);
}

/* ds_append and ds_consume: an atomic of the wave at m0 + offset. */
void sg_san_step_append(const struct sg_san_step *t)
{
	const struct sg_inst *in = t->in;
	uint64_t exec = sg_exec(t->w);
	uint64_t off = (t->w->s[SG_S_M0] & 0xffff) + (uint64_t)in->imm;

	sg_san_check_pending(t, false);
	if (exec)
		lds_lane(t, off, 4, true, true, (unsigned int)__builtin_ctzll(exec));
	sg_san_define(t, &in->dst[0], exec);
	sg_san_issue(t, SAN_BY_LGKM, &in->dst[0]);
}

/* ---- the rest of memory ---- */

static void global_lanes(const struct sg_san_step *t, uint64_t on)
{
	enum sg_dir dir = SG_MEM_DIR(t->in->op);
	const struct sg_mods *m = t->in->mods;
	/* Loads past the near caches are how atomic loads are made; stores likewise. */
	bool atomic = dir == SG_ATOMIC || m->coherent || (dir == SG_LOAD && m->glc);

	if (!on)
		return;
	t->g->atomics |= atomic;
	if (dir != SG_LOAD)
		sg_san_need_data(t, SG_M_DATA);
	if (t->in->ndst)
		sg_san_define(t, &t->in->dst[0], on);
	sg_san_touch_global(
		t, on, sg_elem_bytes(SG_MEM_ELEM(t->in->op)), dir != SG_LOAD, atomic);
}

static void flat_lanes(const struct sg_san_step *t)
{
	enum sg_dir dir = SG_MEM_DIR(t->in->op);
	unsigned int bytes = sg_elem_bytes(SG_MEM_ELEM(t->in->op));
	uint64_t global = 0;

	for (uint64_t on = sg_exec(t->w); on; on &= on - 1) {
		unsigned int i = (unsigned int)__builtin_ctzll(on);
		uint64_t a = t->w->addr[i];

		if (a >> 48 == 1)
			lds_access(t, a, bytes, dir, SG_M_DATA, 0, i);
		else if (a >> 48 == 2)
			scratch_access(t, (uint32_t)a, 1ull << i,
				sg_elem_words(SG_MEM_ELEM(t->in->op)));
		else
			global |= 1ull << i;
	}
	global_lanes(t, global);
}

static void buffer_lanes(const struct sg_san_step *t)
{
	const struct sg_src *a = &t->in->src[SG_M_ADDR];
	uint64_t off, global = 0;
	bool scratch;

	if (!sg_buffer_address(t->w, t->in, &scratch, &off)) {
		if (scratch)
			scratch_lanes(t, off, a->kind ? t->w->v + a->off : NULL);
		return;
	}
	for (uint64_t on = sg_exec(t->w); on; on &= on - 1)
		if (t->w->addr[__builtin_ctzll(on)] != SG_OUT_OF_RANGE)
			global |= on & -on;
	if (t->in->ndst)
		sg_san_define(t, &t->in->dst[0], sg_exec(t->w));
	global_lanes(t, global);
}

static void scratch_space(const struct sg_san_step *t)
{
	const struct sg_src *a = &t->in->src[SG_M_ADDR], *b = &t->in->src[SG_M_BASE];
	int64_t base =
		t->in->imm + (b->kind ? (int64_t)*sg_sp(t->w, t->in, SG_M_BASE) : 0);

	scratch_lanes(t, (uint64_t)base, a->kind ? t->w->v + a->off : NULL);
}

static void issue(const struct sg_san_step *t, enum sg_space space)
{
	const struct sg_dst *d = t->in->ndst ? &t->in->dst[0] : NULL;
	unsigned int by = space == SG_FLAT ? SAN_BY_VM | SAN_BY_LGKM : SAN_BY_VM;

	/* gfx9 counts stores with the loads; later ones have a counter of their own */
	if (d || t->w->p->gen <= SG_GEN_940)
		sg_san_issue(t, by, d);
	else if (space == SG_FLAT)
		sg_san_issue(t, SAN_BY_LGKM, NULL);
}

/* Loads straight into LDS: a dword a lane, written as a store's would be. */
static void to_lds_lanes(const struct sg_san_step *t)
{
	uint64_t base = (t->w->s[SG_S_M0] & 0xffff) + (uint64_t)t->in->imm;

	for (uint64_t on = sg_exec(t->w); on; on &= on - 1) {
		unsigned int lane = (unsigned int)__builtin_ctzll(on);
		uint32_t off = (uint32_t)base + 4 * lane;

		if (!lds_lane(t, off, 4, true, false, lane))
			continue;
		for (uint32_t w = off & ~3u; w < off + 4; w += 4)
			t->g->lds_bytes[w / 4] |= (uint8_t)bytes_in(w, off, 4);
	}
}

void sg_san_step_vmem(const struct sg_san_step *t)
{
	const struct sg_src *a = &t->in->src[SG_M_ADDR];
	const uint32_t *v = t->w->v + a->off;
	enum sg_space space = SG_MEM_SPACE(t->in->op);
	unsigned int n = t->w->lanes;

	sg_san_check_pending(t, false);
	if (a->kind)
		sg_san_need(t, SG_M_ADDR, "an address");
	if (t->in->src[SG_M_BASE].kind == SG_K_SGPR)
		sg_san_need(t, SG_M_BASE, "an address");
	if (t->in->src[SG_M_OFF].kind == SG_K_SGPR)
		sg_san_need(t, SG_M_OFF, "an address");
	switch (space) {
	case SG_GLOBAL:
		if (t->in->src[SG_M_BASE].kind)
			sg_lane->address(t->w->addr, v, NULL,
				sg_sp64(t->w, t->in, SG_M_BASE) + (uint64_t)t->in->imm,
				n);
		else
			sg_lane->address(t->w->addr, v, v + n, (uint64_t)t->in->imm, n);
		global_lanes(t, sg_exec(t->w));
		break;
	case SG_FLAT:
		sg_lane->address(t->w->addr, v, v + n, (uint64_t)t->in->imm, n);
		flat_lanes(t);
		break;
	case SG_SCRATCH:
		if (!sg_mem_to_lds(t->in->op, t->in->mods))
			scratch_space(t);
		break;
	default:
		buffer_lanes(t);
	}
	if (sg_mem_to_lds(t->in->op, t->in->mods))
		to_lds_lanes(t);
	issue(t, space);
}

void sg_san_step_smem(const struct sg_san_step *t)
{
	const struct sg_inst *in = t->in;

	sg_san_check_pending(t, false);
	for (unsigned int k = 0; k < in->nsrc; k++)
		if (in->src[k].kind == SG_K_SGPR)
			sg_san_need(t, k, "an address");
	if (in->ndst)
		sg_san_define(t, &in->dst[0], 0);
	sg_san_issue_scalar(t, in->ndst ? &in->dst[0] : NULL);
}
