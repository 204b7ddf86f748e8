/* flat, global, scratch and buffer accesses: addresses, then loads, stores, atomics. */
#include "softgpu/ops-mem.h"

/* ---- binding ---- */

static const char *mem_mods(const struct sg_text *t, bool buffer)
{
	const struct sg_mods *m = &t->mods;

	if (m->tfe)
		return "tfe or lwe";
	if (m->gds)
		return "gds";
	if ((m->offen || m->idxen) && !buffer)
		return "offen or idxen of what is no buffer access";
	if (m->clamp || m->omod || m->dpp || m->sdwa || m->has_op_sel || m->m_seen ||
		m->offset0 || m->offset1)
		return "modifiers of vector operations";
	return NULL;
}

static char data_type(unsigned int words)
{
	return words == 1 ? 'b' : words == 2 ? 'B' : words == 3 ? 't' : 'e';
}

static const char *bind_vgpr(struct sg_program *p, const struct sg_token *t,
	unsigned int words, struct sg_src *s)
{
	const char *why = NULL;

	if (t->kind != SG_T_VGPR && t->kind != SG_T_AGPR)
		return "an address or data that is no vector register";
	/* Atomics with a compare value have twice the data. */
	return sg_bind_src(p, t, data_type(words), true, s, &why) ? NULL : why;
}

static const struct sg_inst *exec_to_lds(struct sg_wave *w, const struct sg_inst *in);

/* Loads of gfx9 and gfx10 that put a dword a lane into LDS, at m0; no register is their
 * result. */
static const char *bind_to_lds(struct sg_program *p, struct sg_inst *in)
{
	if (p->gen > SG_GEN_10 || SG_MEM_DIR(in->op) != SG_LOAD ||
		SG_MEM_ELEM(in->op) > SG_E_B32)
		return "a load straight into LDS";
	in->exec = exec_to_lds;
	return NULL;
}

const char *sg_bind_mem(struct sg_program *p, const struct sg_text *t, struct sg_inst *in)
{
	const struct sg_op *op = in->op;
	enum sg_space space = SG_MEM_SPACE(op);
	enum sg_dir dir = SG_MEM_DIR(op);
	unsigned int words = sg_elem_words(SG_MEM_ELEM(op)), dwords = words, k = 0;
	enum sg_atomic a = SG_MEM_ATOMIC(op);
	bool ret = dir == SG_ATOMIC && (t->mods.glc || t->mods.atomic_return);
	bool to_lds = sg_mem_to_lds(op, &t->mods);
	bool has_dst = (dir == SG_LOAD && !to_lds) || (ret && space != SG_BUFFER);
	unsigned int want = space == SG_BUFFER ? (to_lds ? 3 : 4)
					       : (space == SG_FLAT ? 1u : 2u) + has_dst +
							 (dir != SG_LOAD);
	const char *why = mem_mods(t, space == SG_BUFFER);
	const struct sg_token *addr, *data = NULL;

	if (t->mods.format && !SG_MEM_TYPED(op))
		why = "format";
	if (!why && to_lds)
		why = bind_to_lds(p, in);
	if (why)
		return why;
	if (a == SG_A_CMPSWAP || a == SG_A_FCMPSWAP)
		dwords *= 2;
	if (t->nops != want)
		return "an unexpected number of operands";
	if (space == SG_BUFFER) {
		if (dir != SG_LOAD)
			data = &t->ops[0];
		if (ret) { /* the result replaces the data */
			struct sg_token r = t->ops[0];

			r.count = words;
			if (!sg_bind_dst(p, &r, data_type(words), &in->dst[0], &why))
				return why;
			in->ndst = 1;
		}
		k = dir == SG_LOAD ? 0 : 1;
	}
	if (has_dst) {
		if (!sg_bind_dst(p, &t->ops[k++], data_type(words), &in->dst[0], &why))
			return why;
		if (in->dst[0].kind != SG_K_VGPR)
			return "a result that is no vector register";
		in->ndst = 1;
		/* true16's name of the half must agree with the operation's. */
		if (t->ops[k - 1].half == 2)
			return "a load into the upper half by name";
	}
	addr = &t->ops[k++];
	if (dir != SG_LOAD && space != SG_BUFFER)
		data = &t->ops[k++];
	if (data) {
		why = bind_vgpr(p, data, dwords, &in->src[SG_M_DATA]);
		if (why)
			return why;
		in->falsify = in->falsify && true;
	}
	in->nsrc = 4;
	in->imm = t->mods.offset;
	if (space == SG_GLOBAL || space == SG_FLAT) {
		bool sbase = space == SG_GLOBAL && t->ops[k].kind == SG_T_SGPR &&
			     t->ops[k].index != SG_S_NULL;

		if (space == SG_GLOBAL && !sbase && t->ops[k].kind != SG_T_OFF &&
			t->ops[k].kind != SG_T_SGPR)
			return "a base that is no scalar pair";
		if (sbase && !sg_bind_src(p, &t->ops[k], 'B', false, &in->src[SG_M_BASE],
				     &why))
			return why;
		return bind_vgpr(p, addr, sbase ? 1 : 2, &in->src[SG_M_ADDR]);
	}
	if (space == SG_SCRATCH) {
		if (addr->kind != SG_T_OFF) {
			why = bind_vgpr(p, addr, 1, &in->src[SG_M_ADDR]);
			if (why)
				return why;
		}
		if (t->ops[k].kind != SG_T_OFF && !sg_bind_src(p, &t->ops[k], 'b', false,
							  &in->src[SG_M_BASE], &why))
			return why;
		return NULL;
	}
	if (t->mods.offen || t->mods.idxen) {
		why = bind_vgpr(p, addr, t->mods.offen && t->mods.idxen ? 2 : 1,
			&in->src[SG_M_ADDR]);
		if (why)
			return why;
	} else if (addr->kind != SG_T_OFF) {
		return "an address without offen or idxen";
	}
	if (!sg_bind_src(p, &t->ops[k], 'e', false, &in->src[SG_M_BASE], &why) ||
		!sg_bind_src(p, &t->ops[k + 1], 'b', false, &in->src[SG_M_OFF], &why))
		return why;
	return in->src[SG_M_BASE].kind == SG_K_SGPR
		       ? NULL
		       : "a buffer descriptor that is no register";
}

/* ---- scratch ---- */

static const struct sg_inst *scratch_fault(
	struct sg_wave *w, const struct sg_inst *in, uint64_t off)
{
	return sg_stop(w, in, SG_FAULT_MEMORY, off,
		"scratch offset 0x%llx is beyond the %u bytes of a lane",
		(unsigned long long)off, w->scratch_lane);
}

static bool scratch_ok(const struct sg_wave *w, uint64_t off, unsigned int bytes)
{
	return off < w->scratch_lane && bytes <= w->scratch_lane - off;
}

static void scratch_get(const struct sg_wave *w, uint32_t off, unsigned int lane,
	uint8_t *buf, unsigned int bytes)
{
	for (unsigned int k = 0; k < bytes; k++)
		buf[k] = *sg_scratch_at(w, off + k, lane);
}

static void scratch_put(const struct sg_wave *w, uint32_t off, unsigned int lane,
	const uint8_t *buf, unsigned int bytes)
{
	for (unsigned int k = 0; k < bytes; k++)
		*sg_scratch_at(w, off + k, lane) = buf[k];
}

/* One lane's access at a private offset. */
static bool scratch_lane(
	struct sg_wave *w, const struct sg_inst *in, uint64_t off, unsigned int i)
{
	enum sg_elem e = SG_MEM_ELEM(in->op);
	unsigned int bytes = sg_elem_bytes(e);
	uint8_t buf[16];

	if (!scratch_ok(w, off, bytes)) {
		scratch_fault(w, in, off);
		return false;
	}
	if (SG_MEM_DIR(in->op) == SG_LOAD) {
		scratch_get(w, (uint32_t)off, i, buf, bytes);
		sg_elem_load(e, buf, w->v + in->dst[0].off + i, w->lanes);
	} else {
		sg_elem_store(e, buf, w->v + in->src[SG_M_DATA].off + i, w->lanes);
		scratch_put(w, (uint32_t)off, i, buf, bytes);
	}
	return true;
}

/* All lanes at one aligned offset: whole rows. */
static bool scratch_rows(struct sg_wave *w, const struct sg_inst *in, uint64_t off)
{
	enum sg_elem e = SG_MEM_ELEM(in->op);
	unsigned int words = sg_elem_words(e), n = w->lanes;
	uint32_t *row;

	if (off & 3 || e < SG_E_B32 || e > SG_E_B128 || !scratch_ok(w, off, 4 * words) ||
		SG_MEM_DIR(in->op) == SG_ATOMIC)
		return false;
	row = (uint32_t *)(void *)sg_scratch_at(w, (uint32_t)off, 0);
	for (unsigned int k = 0; k < words; k++, row += n) {
		if (SG_MEM_DIR(in->op) == SG_LOAD)
			sg_lane->merge(w->v + in->dst[0].off + k * n, row, w->em, n);
		else
			sg_lane->merge(
				row, w->v + in->src[SG_M_DATA].off + k * n, w->em, n);
	}
	return true;
}

static const struct sg_inst *scratch_access(struct sg_wave *w, const struct sg_inst *in,
	uint64_t uniform, const uint32_t *voff)
{
	if (!voff && scratch_rows(w, in, uniform))
		return in + 1;
	for (unsigned int i = 0; i < w->lanes; i++)
		if (w->em[i] && !scratch_lane(w, in, uniform + (voff ? voff[i] : 0), i))
			return NULL;
	return in + 1;
}

static const struct sg_inst *exec_scratch(struct sg_wave *w, const struct sg_inst *in)
{
	const struct sg_src *a = &in->src[SG_M_ADDR], *b = &in->src[SG_M_BASE];
	/* The scalar part is a signed 32-bit offset, as the address register's is not. */
	int64_t base = in->imm + (b->kind ? (int64_t)*sg_sp(w, in, SG_M_BASE) : 0);

	if (!a->kind && base < 0)
		return scratch_fault(w, in, (uint64_t)base);
	if (a->kind && base < 0) {
		for (unsigned int i = 0; i < w->lanes; i++)
			if (w->em[i] &&
				!scratch_lane(w, in,
					(uint64_t)((int64_t)w->v[a->off + i] + base), i))
				return NULL;
		return in + 1;
	}
	return scratch_access(w, in, (uint64_t)base, a->kind ? w->v + a->off : NULL);
}

/* ---- global memory ---- */

const struct sg_inst *sg_memory_fault(
	struct sg_wave *w, const struct sg_inst *in, uint64_t addr, unsigned int lane)
{
	char where[100];

	sg_near_block(w, addr, where, sizeof(where));
	return sg_stop(w, in, SG_FAULT_MEMORY, addr,
		"%s of %u bytes at 0x%llx (lane %u): %s",
		SG_MEM_DIR(in->op) == SG_LOAD    ? "load"
		: SG_MEM_DIR(in->op) == SG_STORE ? "store"
						 : "atomic",
		sg_elem_bytes(SG_MEM_ELEM(in->op)), (unsigned long long)addr, lane,
		where);
}

/* Rows of dwords from addresses that were found good. False: lane by lane, please. */
static bool load_fast(struct sg_wave *w, const struct sg_inst *in, unsigned int words,
	const struct sg_scan *s)
{
	uint32_t *d = w->v + in->dst[0].off, off[SG_LANES_MAX];
	unsigned int n = w->lanes;

	if (!s->line && words == 1) {
		sg_lane->load_line(d, (const void *)(uintptr_t)s->zero, w->em, n);
		return true;
	}
	if (s->lo & 3 || s->hi - s->lo > INT32_MAX - 16)
		return false;
	sg_lane->offsets(off, w->addr, s->lo, n);
	return sg_lane->gather(d, words, (const void *)(uintptr_t)s->lo,
		s->hi - s->lo + 4 * words, off, 0, w->em, n);
}

static bool store_fast(struct sg_wave *w, const struct sg_inst *in, unsigned int words,
	const struct sg_scan *s)
{
	const uint32_t *r = w->v + in->src[SG_M_DATA].off;
	uint32_t off[SG_LANES_MAX];
	unsigned int n = w->lanes;

	if (!s->line && words == 1) {
		sg_lane->store_line((void *)(uintptr_t)s->zero, r, w->em, n);
		return true;
	}
	if (s->lo & 3 || s->hi - s->lo > INT32_MAX - 16)
		return false;
	sg_lane->offsets(off, w->addr, s->lo, n);
	return sg_lane->scatter((void *)(uintptr_t)s->lo, s->hi - s->lo + 4 * words, off,
		0, r, words, w->em, n);
}

static uint64_t data_word(const struct sg_wave *w, const struct sg_inst *in,
	unsigned int i, unsigned int k, unsigned int bytes)
{
	const uint32_t *s = w->v + in->src[SG_M_DATA].off + i;

	return bytes == 4
		       ? s[k * w->lanes]
		       : s[2 * k * w->lanes] | (uint64_t)s[(2 * k + 1) * w->lanes] << 32;
}

static bool atomic_lane(
	struct sg_wave *w, const struct sg_inst *in, unsigned int i, void *p, bool shared)
{
	unsigned int bytes = sg_elem_bytes(SG_MEM_ELEM(in->op));
	uint64_t old, cmp = 0;

	if ((uintptr_t)p % bytes) {
		sg_stop(w, in, SG_FAULT_MEMORY, (uint64_t)(uintptr_t)p,
			"atomic of %u bytes at 0x%llx (lane %u): misaligned", bytes,
			(unsigned long long)(uintptr_t)p, i);
		return false;
	}
	if (SG_MEM_ATOMIC(in->op) == SG_A_CMPSWAP ||
		SG_MEM_ATOMIC(in->op) == SG_A_FCMPSWAP)
		cmp = data_word(w, in, i, 1, bytes);
	old = sg_atomic_do(SG_MEM_ATOMIC(in->op), bytes, p, data_word(w, in, i, 0, bytes),
		cmp, shared);
	if (in->ndst) {
		w->v[in->dst[0].off + i] = (uint32_t)old;
		if (bytes == 8)
			w->v[in->dst[0].off + i + w->lanes] = (uint32_t)(old >> 32);
	}
	return true;
}

/* The access of one lane in global memory, which has been checked. */
static bool global_lane(struct sg_wave *w, const struct sg_inst *in, unsigned int i)
{
	enum sg_elem e = SG_MEM_ELEM(in->op);
	uint8_t *p = (uint8_t *)(uintptr_t)w->addr[i];

	switch (SG_MEM_DIR(in->op)) {
	case SG_LOAD:
		sg_elem_load(e, p, w->v + in->dst[0].off + i, w->lanes);
		return true;
	case SG_STORE:
		sg_elem_store(e, p, w->v + in->src[SG_M_DATA].off + i, w->lanes);
		return true;
	default:
		return atomic_lane(w, in, i, p, true);
	}
}

/*
 * A lane that fetches something for its whole group right behind a barrier (a ticket, a
 * count) waits for it on hardware for longer than the other waves take to read in LDS
 * what was there; so do not let it write there first. Code that leaves out the barrier
 * between is wrong and works (rocPRIM 6.4.3's adjacent_find), and the sanitizer tells it.
 */
static const struct sg_inst *fetched(struct sg_wave *w, const struct sg_inst *in)
{
	uint64_t exec = sg_exec(w);

	if (__builtin_expect(!w->released, 1) || !in->ndst || (exec & (exec - 1)))
		return in + 1;
	w->released = false;
	w->ip = in + 1;
	w->state = SG_YIELD;
	return NULL;
}

static const struct sg_inst *global_access(struct sg_wave *w, const struct sg_inst *in)
{
	enum sg_elem e = SG_MEM_ELEM(in->op);
	unsigned int bytes = sg_elem_bytes(e), words = sg_elem_words(e);
	bool checked, dwords = e >= SG_E_B32 && e <= SG_E_B128;
	struct sg_scan s;

	sg_lane->scan(w->addr, w->em, w->lanes, &s);
	if (s.lo > s.hi)
		return in + 1; /* nobody */
	checked = s.hi <= UINT64_MAX - bytes && sg_range(w, s.lo, s.hi + bytes - s.lo);
	if (checked && dwords && SG_MEM_DIR(in->op) == SG_LOAD &&
		load_fast(w, in, words, &s))
		return fetched(w, in);
	if (checked && dwords && SG_MEM_DIR(in->op) == SG_STORE &&
		store_fast(w, in, words, &s))
		return in + 1;
	for (unsigned int i = 0; i < w->lanes; i++) {
		if (!w->em[i])
			continue;
		if (!checked && !sg_range(w, w->addr[i], bytes))
			return sg_memory_fault(w, in, w->addr[i], i);
		if (!global_lane(w, in, i))
			return NULL;
	}
	return fetched(w, in);
}

static const struct sg_inst *exec_global(struct sg_wave *w, const struct sg_inst *in)
{
	const struct sg_src *a = &in->src[SG_M_ADDR];
	const uint32_t *v = w->v + a->off;
	unsigned int n = w->lanes;

	if (in->src[SG_M_BASE].kind)
		sg_lane->address(w->addr, v, NULL,
			sg_sp64(w, in, SG_M_BASE) + (uint64_t)in->imm, n);
	else
		sg_lane->address(w->addr, v, v + n, (uint64_t)in->imm, n);
	return global_access(w, in);
}

/* One lane in LDS; outside of it a load gives 0 and a store is lost, as on hardware. */
static bool lds_lane(
	struct sg_wave *w, const struct sg_inst *in, uint64_t off, unsigned int i)
{
	static const uint8_t zero[16];
	enum sg_elem e = SG_MEM_ELEM(in->op);
	uint8_t *p;
	bool there = sg_lds_lane(w, in, off, sg_elem_bytes(e), &p);

	switch (SG_MEM_DIR(in->op)) {
	case SG_LOAD:
		sg_elem_load(e, there ? p : zero, w->v + in->dst[0].off + i, w->lanes);
		return true;
	case SG_STORE:
		if (there)
			sg_elem_store(e, p, w->v + in->src[SG_M_DATA].off + i, w->lanes);
		return true;
	default:
		return !there || atomic_lane(w, in, i, p, false);
	}
}

static bool scratch_atomic(
	struct sg_wave *w, const struct sg_inst *in, uint64_t off, unsigned int i)
{
	unsigned int bytes = sg_elem_bytes(SG_MEM_ELEM(in->op));
	uint64_t cell = 0;

	if (!scratch_ok(w, off, bytes) || off % bytes) {
		scratch_fault(w, in, off);
		return false;
	}
	scratch_get(w, (uint32_t)off, i, (uint8_t *)&cell, bytes);
	if (!atomic_lane(w, in, i, &cell, false))
		return false;
	scratch_put(w, (uint32_t)off, i, (const uint8_t *)&cell, bytes);
	return true;
}

static const struct sg_inst *exec_flat(struct sg_wave *w, const struct sg_inst *in)
{
	const uint32_t *v = w->v + in->src[SG_M_ADDR].off;
	unsigned int n = w->lanes;
	struct sg_scan s;

	sg_lane->address(w->addr, v, v + n, (uint64_t)in->imm, n);
	sg_lane->scan(w->addr, w->em, n, &s);
	if (s.lo > s.hi)
		return in + 1;
	/* Both apertures lie between the two halves of canonical addresses. */
	if (s.hi >> 48 == 0 || s.lo >> 48 > 2)
		return global_access(w, in);
	if (!s.same && s.first >> 48 == 2 && scratch_rows(w, in, (uint32_t)s.first))
		return in + 1;
	for (unsigned int i = 0; i < n; i++) {
		uint64_t a = w->addr[i];
		bool ok;

		if (!w->em[i])
			continue;
		if (v[i + n] == 1u << 16) {
			ok = lds_lane(w, in, (uint32_t)a, i);
		} else if (v[i + n] == 2u << 16) {
			ok = SG_MEM_DIR(in->op) == SG_ATOMIC
				     ? scratch_atomic(w, in, (uint32_t)a, i)
				     : scratch_lane(w, in, (uint32_t)a, i);
		} else if (!sg_range(w, a, sg_elem_bytes(SG_MEM_ELEM(in->op)))) {
			return sg_memory_fault(w, in, a, i);
		} else {
			ok = global_lane(w, in, i);
		}
		if (!ok)
			return NULL;
	}
	return in + 1;
}

/* ---- buffers ---- */

/*
 * A descriptor with swizzling and the thread's number added is how scratch is reached
 * before flat scratch: its base is the wave's scratch, soffset counts bytes of the wave.
 */
bool sg_buffer_address_of(struct sg_wave *w, const struct sg_inst *in, unsigned int bytes,
	bool *scratch, uint64_t *offset)
{
	const uint32_t *r = sg_sp(w, in, SG_M_BASE);
	const struct sg_src *a = &in->src[SG_M_ADDR];
	uint64_t base = r[0] | (uint64_t)(r[1] & 0xffff) << 32;
	uint32_t stride = r[1] >> 16 & 0x3fff, records = r[2],
		 soffset = *sg_sp(w, in, SG_M_OFF);
	enum sg_gen gen = w->p->gen;
	bool swizzle = gen >= SG_GEN_11 ? r[1] >> 30 : r[1] >> 31, tid = r[3] >> 23 & 1;
	unsigned int n = w->lanes;
	bool raw;

	*scratch = false;
	if (swizzle && tid) {
		uint64_t off = base + soffset - (uint64_t)w->scratch;

		*scratch = off % (4 * n) == 0 && !in->mods->idxen;
		*offset = off / n + (uint64_t)in->imm;
		return false;
	}
	if (swizzle || tid)
		return false;
	if (base >> 47)
		base |= 0xffffull << 48;
	/* gfx10 and later say in word 3 how the range is checked; before: by the stride.
	 */
	raw = gen >= SG_GEN_10 ? (r[3] >> 28 & 3) >= 2 || !stride : !stride;
	if (gen >= SG_GEN_10 && (r[3] >> 28 & 3) == 2)
		records = UINT32_MAX; /* no check but for zero records */
	for (unsigned int i = 0; i < n; i++) {
		uint64_t index = 0, off = (uint64_t)in->imm;

		if (!w->em[i])
			continue;
		if (in->mods->idxen)
			index = w->v[a->off + i];
		if (in->mods->offen)
			off += w->v[a->off + i + (in->mods->idxen ? n : 0)];
		w->addr[i] = base + soffset + off + index * stride;
		if (raw ? off + index * stride + bytes > records : index >= records)
			w->addr[i] = SG_OUT_OF_RANGE;
	}
	return true;
}

bool sg_buffer_address(
	struct sg_wave *w, const struct sg_inst *in, bool *scratch, uint64_t *offset)
{
	return sg_buffer_address_of(
		w, in, sg_elem_bytes(SG_MEM_ELEM(in->op)), scratch, offset);
}

static const struct sg_inst *exec_buffer(struct sg_wave *w, const struct sg_inst *in)
{
	const struct sg_src *a = &in->src[SG_M_ADDR];
	unsigned int bytes = sg_elem_bytes(SG_MEM_ELEM(in->op)), n = w->lanes;
	uint64_t off;
	bool scratch;

	if (!sg_buffer_address(w, in, &scratch, &off)) {
		if (!scratch)
			return sg_stop(w, in, SG_FAULT_ILLEGAL, 0,
				"a swizzled buffer that is not scratch");
		return scratch_access(w, in, off, a->kind ? w->v + a->off : NULL);
	}
	for (unsigned int i = 0; i < n; i++) {
		static const uint8_t zero[16];

		if (!w->em[i])
			continue;
		if (w->addr[i] == SG_OUT_OF_RANGE) {
			if (SG_MEM_DIR(in->op) == SG_LOAD)
				sg_elem_load(SG_MEM_ELEM(in->op), zero,
					w->v + in->dst[0].off + i, n);
			continue;
		}
		if (!sg_range(w, w->addr[i], bytes))
			return sg_memory_fault(w, in, w->addr[i], i);
		if (!global_lane(w, in, i))
			return NULL;
	}
	return in + 1;
}

/* ---- loads straight into LDS (CDNA3 ISA guide, "Memory Buffer Load to LDS") ---- */

/*
 * LDS address: m0[15:0] + the instruction's offset + 4 * lane, a dword each whatever was
 * loaded. The offset counts on both sides.
 */
static const struct sg_inst *exec_to_lds(struct sg_wave *w, const struct sg_inst *in)
{
	enum sg_elem e = SG_MEM_ELEM(in->op);
	unsigned int bytes = sg_elem_bytes(e), n = w->lanes;
	const struct sg_src *a = &in->src[SG_M_ADDR], *b = &in->src[SG_M_BASE];
	uint64_t to = (w->s[SG_S_M0] & 0xffff) + (uint64_t)in->imm, none;
	const uint32_t *v = w->v + a->off;
	enum sg_space space = SG_MEM_SPACE(in->op);
	bool scratch;

	if (space == SG_BUFFER && !sg_buffer_address(w, in, &scratch, &none))
		return sg_stop(w, in, SG_FAULT_ILLEGAL, 0,
			"a load from a swizzled buffer straight into LDS");
	if (space == SG_GLOBAL)
		sg_lane->address(w->addr, v, b->kind ? NULL : v + n,
			(b->kind ? sg_sp64(w, in, SG_M_BASE) : 0) + (uint64_t)in->imm, n);
	for (unsigned int i = 0; i < n; i++) {
		uint32_t x[4] = {0};
		uint8_t buf[4] = {0}, *p = buf;

		if (!w->em[i])
			continue;
		if (space == SG_SCRATCH) {
			uint64_t off = (uint64_t)in->imm + (a->kind ? v[i] : 0) +
				       (b->kind ? *sg_sp(w, in, SG_M_BASE) : 0);

			if (!scratch_ok(w, off, bytes))
				return scratch_fault(w, in, off);
			scratch_get(w, (uint32_t)off, i, buf, bytes);
		} else if (w->addr[i] != SG_OUT_OF_RANGE) {
			if (!sg_range(w, w->addr[i], bytes))
				return sg_memory_fault(w, in, w->addr[i], i);
			p = (uint8_t *)(uintptr_t)w->addr[i];
		}
		sg_elem_load(e, p, x, 1);
		if (in->falsify)
			x[0] ^= 0x400;
		if (sg_lds_lane(w, in, to + 4 * i, 4, &p))
			memcpy(p, x, 4);
	}
	return in + 1;
}

/* ---- the table ---- */

#define ENTRY(NAME, SPACE, DIR, ELEM, EXEC)                                              \
	SG_OP_ANON({NAME, "", SG_OP_MEM, SG_MEM(SPACE, DIR, ELEM), NULL, EXEC,           \
		sg_bind_mem});

/* gfx9 and gfx10 count dwords, gfx11 bits. */
#define SPACE_OPS(P, S, X)                                                               \
	LOADS(P, S, X, "ubyte", "u8", SG_E_U8)                                           \
	LOADS(P, S, X, "sbyte", "i8", SG_E_I8)                                           \
	LOADS(P, S, X, "ushort", "u16", SG_E_U16)                                        \
	LOADS(P, S, X, "sshort", "i16", SG_E_I16)                                        \
	LOADS(P, S, X, "dword", "b32", SG_E_B32)                                         \
	LOADS(P, S, X, "dwordx2", "b64", SG_E_B64)                                       \
	LOADS(P, S, X, "dwordx3", "b96", SG_E_B96)                                       \
	LOADS(P, S, X, "dwordx4", "b128", SG_E_B128)                                     \
	LOADS(P, S, X, "ubyte_d16", "d16_u8", SG_E_D16_U8)                               \
	LOADS(P, S, X, "sbyte_d16", "d16_i8", SG_E_D16_I8)                               \
	LOADS(P, S, X, "short_d16", "d16_b16", SG_E_D16_B16)                             \
	LOADS(P, S, X, "ubyte_d16_hi", "d16_hi_u8", SG_E_D16HI_U8)                       \
	LOADS(P, S, X, "sbyte_d16_hi", "d16_hi_i8", SG_E_D16HI_I8)                       \
	LOADS(P, S, X, "short_d16_hi", "d16_hi_b16", SG_E_D16HI_B16)                     \
	STORES(P, S, X, "byte", "b8", SG_E_U8)                                           \
	STORES(P, S, X, "short", "b16", SG_E_U16)                                        \
	STORES(P, S, X, "dword", "b32", SG_E_B32)                                        \
	STORES(P, S, X, "dwordx2", "b64", SG_E_B64)                                      \
	STORES(P, S, X, "dwordx3", "b96", SG_E_B96)                                      \
	STORES(P, S, X, "dwordx4", "b128", SG_E_B128)                                    \
	STORES(P, S, X, "byte_d16_hi", "d16_hi_b8", SG_E_HI_B8)                          \
	STORES(P, S, X, "short_d16_hi", "d16_hi_b16", SG_E_D16HI_B16)
#define LOADS(P, S, X, OLD, NEW, E)                                                      \
	ENTRY(P "_load_" OLD, S, SG_LOAD, E, X)                                          \
	ENTRY(P "_load_" NEW, S, SG_LOAD, E, X)
#define STORES(P, S, X, OLD, NEW, E)                                                     \
	ENTRY(P "_store_" OLD, S, SG_STORE, E, X)                                        \
	ENTRY(P "_store_" NEW, S, SG_STORE, E, X)

SPACE_OPS("global", SG_GLOBAL, exec_global)
SPACE_OPS("flat", SG_FLAT, exec_flat)
SPACE_OPS("scratch", SG_SCRATCH, exec_scratch)
SPACE_OPS("buffer", SG_BUFFER, exec_buffer)

#define TO_LDS(P, S)                                                                     \
	ENTRY(P "_load_lds_ubyte", S, SG_LOAD, SG_E_U8, exec_to_lds)                     \
	ENTRY(P "_load_lds_sbyte", S, SG_LOAD, SG_E_I8, exec_to_lds)                     \
	ENTRY(P "_load_lds_ushort", S, SG_LOAD, SG_E_U16, exec_to_lds)                   \
	ENTRY(P "_load_lds_sshort", S, SG_LOAD, SG_E_I16, exec_to_lds)                   \
	ENTRY(P "_load_lds_dword", S, SG_LOAD, SG_E_B32, exec_to_lds)
TO_LDS("global", SG_GLOBAL)
TO_LDS("scratch", SG_SCRATCH)

#define ATOMIC(P, S, X, NAME, A, E)                                                      \
	SG_OP_ANON({P "_atomic_" NAME, "", SG_OP_MEM,                                    \
		SG_MEM(S, SG_ATOMIC, E) | (A) << 16, NULL, X, sg_bind_mem});
#define ATOMIC4(P, S, X, OLD, T, A)                                                      \
	ATOMIC(P, S, X, OLD, A, SG_E_B32)                                                \
	ATOMIC(P, S, X, OLD "_x2", A, SG_E_B64)                                          \
	ATOMIC(P, S, X, OLD "_" T "32", A, SG_E_B32)                                     \
	ATOMIC(P, S, X, OLD "_" T "64", A, SG_E_B64)
#define ATOMIC_MM(P, S, X, OLD, NEW, T, A)                                               \
	ATOMIC(P, S, X, OLD, A, SG_E_B32)                                                \
	ATOMIC(P, S, X, OLD "_x2", A, SG_E_B64)                                          \
	ATOMIC(P, S, X, NEW "_" T "32", A, SG_E_B32)                                     \
	ATOMIC(P, S, X, NEW "_" T "64", A, SG_E_B64)
#define SPACE_ATOMICS(P, S, X)                                                           \
	ATOMIC4(P, S, X, "swap", "b", SG_A_SWAP)                                         \
	ATOMIC4(P, S, X, "cmpswap", "b", SG_A_CMPSWAP)                                   \
	ATOMIC4(P, S, X, "add", "u", SG_A_ADD)                                           \
	ATOMIC4(P, S, X, "sub", "u", SG_A_SUB)                                           \
	ATOMIC4(P, S, X, "and", "b", SG_A_AND)                                           \
	ATOMIC4(P, S, X, "or", "b", SG_A_OR)                                             \
	ATOMIC4(P, S, X, "xor", "b", SG_A_XOR)                                           \
	ATOMIC4(P, S, X, "inc", "u", SG_A_INC)                                           \
	ATOMIC4(P, S, X, "dec", "u", SG_A_DEC)                                           \
	ATOMIC_MM(P, S, X, "smin", "min", "i", SG_A_SMIN)                                \
	ATOMIC_MM(P, S, X, "umin", "min", "u", SG_A_UMIN)                                \
	ATOMIC_MM(P, S, X, "smax", "max", "i", SG_A_SMAX)                                \
	ATOMIC_MM(P, S, X, "umax", "max", "u", SG_A_UMAX)                                \
	ATOMIC(P, S, X, "add_f32", SG_A_FADD, SG_E_B32)                                  \
	ATOMIC(P, S, X, "add_f64", SG_A_FADD, SG_E_B64)                                  \
	ATOMIC(P, S, X, "fmin", SG_A_FMIN, SG_E_B32)                                     \
	ATOMIC(P, S, X, "fmin_x2", SG_A_FMIN, SG_E_B64)                                  \
	ATOMIC(P, S, X, "fmax", SG_A_FMAX, SG_E_B32)                                     \
	ATOMIC(P, S, X, "fmax_x2", SG_A_FMAX, SG_E_B64)                                  \
	ATOMIC(P, S, X, "min_f32", SG_A_FMIN, SG_E_B32)                                  \
	ATOMIC(P, S, X, "max_f32", SG_A_FMAX, SG_E_B32)                                  \
	ATOMIC(P, S, X, "min_num_f32", SG_A_FMIN, SG_E_B32)                              \
	ATOMIC(P, S, X, "max_num_f32", SG_A_FMAX, SG_E_B32)                              \
	ATOMIC(P, S, X, "min_f64", SG_A_FMIN, SG_E_B64)                                  \
	ATOMIC(P, S, X, "max_f64", SG_A_FMAX, SG_E_B64)                                  \
	ATOMIC(P, S, X, "min_num_f64", SG_A_FMIN, SG_E_B64)                              \
	ATOMIC(P, S, X, "max_num_f64", SG_A_FMAX, SG_E_B64)                              \
	ATOMIC(P, S, X, "fcmpswap", SG_A_FCMPSWAP, SG_E_B32)                             \
	ATOMIC(P, S, X, "fcmpswap_x2", SG_A_FCMPSWAP, SG_E_B64)                          \
	ATOMIC(P, S, X, "cmpswap_f32", SG_A_FCMPSWAP, SG_E_B32)                          \
	ATOMIC(P, S, X, "pk_add_f16", SG_A_PK_F16, SG_E_B32)                             \
	ATOMIC(P, S, X, "pk_add_bf16", SG_A_PK_BF16, SG_E_B32)                           \
	ATOMIC(P, S, X, "csub", SG_A_CSUB, SG_E_B32)                                     \
	ATOMIC(P, S, X, "csub_u32", SG_A_CSUB, SG_E_B32)                                 \
	ATOMIC(P, S, X, "sub_clamp_u32", SG_A_CSUB, SG_E_B32)                            \
	ATOMIC(P, S, X, "cond_sub_u32", SG_A_CONDSUB, SG_E_B32)

SPACE_ATOMICS("global", SG_GLOBAL, exec_global)
SPACE_ATOMICS("flat", SG_FLAT, exec_flat)
SPACE_ATOMICS("buffer", SG_BUFFER, exec_buffer)
