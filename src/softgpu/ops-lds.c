/*
 * LDS: loads, stores, atomics, and the permutations that use its crossbar. An address
 * beyond the workgroup's LDS reads 0 and writes nothing, as on hardware; misaligned
 * addresses are allowed (the mode that HSA runs in), but not for atomics.
 */
#include "softgpu/ops-mem.h"

bool sg_lds_lane(struct sg_wave *w, const struct sg_inst *in, uint64_t off,
	unsigned int size, uint8_t **p)
{
	(void)in;
	off = (uint32_t)off; /* the sum of register and offset has 32 bits */
	if (off >= w->g->lds_size || size > w->g->lds_size - off)
		return false;
	*p = w->g->lds + off;
	return true;
}

static char data_type(unsigned int words)
{
	return words == 1 ? 'b' : words == 2 ? 'B' : words == 3 ? 't' : 'e';
}

static const char *check_ds(const struct sg_text *t)
{
	const struct sg_mods *m = &t->mods;

	if (m->gds)
		return "gds";
	if (m->clamp || m->omod || m->dpp || m->sdwa || m->has_op_sel || m->offen ||
		m->idxen || m->glc || m->lds || m->tfe || m->m_seen || m->format ||
		m->has_byte_sel)
		return "modifiers of other operations";
	if (m->offset < 0 || m->offset > 65535 || m->offset0 < 0 || m->offset0 > 255 ||
		m->offset1 < 0 || m->offset1 > 255)
		return "an offset out of range";
	return NULL;
}

static const char *vreg(struct sg_program *p, const struct sg_token *t,
	unsigned int words, struct sg_src *s)
{
	const char *why = NULL;

	if (t->kind != SG_T_VGPR && t->kind != SG_T_AGPR)
		return "an operand that is no vector register";
	return sg_bind_src(p, t, data_type(words), true, s, &why) ? NULL : why;
}

static const char *bind_ds(
	struct sg_program *p, const struct sg_text *t, struct sg_inst *in)
{
	enum ds_form f = DS_FORM(in->op);
	unsigned int words = sg_elem_words(DS_ELEM(in->op)), k = 0, dst = 0, data = 0, n;
	const char *why = check_ds(t);
	bool addr = f != DS_ADDTID_R && f != DS_ADDTID_W;

	if (why)
		return why;
	switch (f) {
	case DS_READ:
	case DS_ADDTID_R:
		dst = words;
		break;
	case DS_READ2:
		dst = 2 * words;
		break;
	case DS_WRITE:
	case DS_ADDTID_W:
		data = 1;
		break;
	case DS_WRITE2:
		data = 2;
		break;
	case DS_XCHG2:
		data = 2;
		dst = 2 * words;
		break;
	case DS_RMW:
		data = 1;
		dst = DS_RTN(in->op) ? words : 0;
		break;
	default:
		data = 2;
		dst = DS_RTN(in->op) ? words : 0;
	}
	n = (dst ? 1 : 0) + (addr ? 1 : 0) + data;
	if (t->nops != n)
		return "an unexpected number of operands";
	if (dst) {
		if (!sg_bind_dst(p, &t->ops[k++], data_type(dst), &in->dst[0], &why))
			return why;
		if (in->dst[0].kind != SG_K_VGPR)
			return "a result that is no vector register";
		in->ndst = 1;
	}
	if (addr) {
		why = vreg(p, &t->ops[k++], 1, &in->src[0]);
		if (why)
			return why;
	}
	for (unsigned int d = 0; d < data && !why; d++)
		why = vreg(p, &t->ops[k++], words, &in->src[1 + d]);
	in->nsrc = (uint8_t)(1 + data);
	in->imm = t->mods.offset;
	return why;
}

static const struct sg_inst *exec_read(struct sg_wave *w, const struct sg_inst *in)
{
	static const uint8_t zero[16];
	enum sg_elem e = DS_ELEM(in->op);
	unsigned int bytes = sg_elem_bytes(e), words = sg_elem_words(e), n = w->lanes;
	uint32_t addr[SG_LANES_MAX], *d = w->v + in->dst[0].off;
	uint8_t *p;

	if (e >= SG_E_B32 && e <= SG_E_B128 &&
		sg_lane->gather(d, words, w->g->lds, w->g->lds_size,
			w->v + in->src[0].off, (uint32_t)in->imm, w->em, n))
		return in + 1;
	memcpy(addr, w->v + in->src[0].off, 4ul * n); /* the result may lie on it */
	for (unsigned int i = 0; i < n; i++)
		if (w->em[i]) {
			bool ok = sg_lds_lane(
				w, in, (uint64_t)addr[i] + (uint64_t)in->imm, bytes, &p);

			sg_elem_load(e, ok ? p : zero, d + i, n);
		}
	return in + 1;
}

static const struct sg_inst *exec_write(struct sg_wave *w, const struct sg_inst *in)
{
	enum sg_elem e = DS_ELEM(in->op);
	const uint32_t *a = w->v + in->src[0].off, *s = w->v + in->src[1].off;
	uint8_t *p;

	if (e >= SG_E_B32 && e <= SG_E_B128 &&
		sg_lane->scatter(w->g->lds, w->g->lds_size, a, (uint32_t)in->imm, s,
			sg_elem_words(e), w->em, w->lanes))
		return in + 1;
	for (unsigned int i = 0; i < w->lanes; i++)
		if (w->em[i] && sg_lds_lane(w, in, (uint64_t)a[i] + (uint64_t)in->imm,
					sg_elem_bytes(e), &p))
			sg_elem_store(e, p, s + i, w->lanes);
	return in + 1;
}

uint64_t sg_ds_offset2(const struct sg_inst *in, int which)
{
	uint64_t o = (uint64_t)(which ? in->mods->offset1 : in->mods->offset0);

	return o * sg_elem_bytes(DS_ELEM(in->op)) * (DS_ST64(in->op) ? 64 : 1);
}

static const struct sg_inst *exec_read2(struct sg_wave *w, const struct sg_inst *in)
{
	static const uint8_t zero[16];
	enum sg_elem e = DS_ELEM(in->op);
	unsigned int bytes = sg_elem_bytes(e), words = sg_elem_words(e), n = w->lanes;
	uint32_t addr[SG_LANES_MAX], *d = w->v + in->dst[0].off;
	uint64_t off[2] = {sg_ds_offset2(in, 0), sg_ds_offset2(in, 1)};
	uint8_t *p;

	memcpy(addr, w->v + in->src[0].off, 4ul * n);
	if (sg_lane->gather(d, words, w->g->lds, w->g->lds_size, addr, (uint32_t)off[0],
		    w->em, n) &&
		sg_lane->gather(d + words * n, words, w->g->lds, w->g->lds_size, addr,
			(uint32_t)off[1], w->em, n))
		return in + 1;
	for (unsigned int i = 0; i < n; i++)
		for (unsigned int k = 0; w->em[i] && k < 2; k++) {
			bool ok = sg_lds_lane(w, in, addr[i] + off[k], bytes, &p);

			sg_elem_load(e, ok ? p : zero, d + k * words * n + i, n);
		}
	return in + 1;
}

static const struct sg_inst *exec_write2(struct sg_wave *w, const struct sg_inst *in)
{
	enum sg_elem e = DS_ELEM(in->op);
	const uint32_t *a = w->v + in->src[0].off;
	unsigned int words = sg_elem_words(e);
	uint8_t *p;

	if (sg_lane->scatter(w->g->lds, w->g->lds_size, a, (uint32_t)sg_ds_offset2(in, 0),
		    w->v + in->src[1].off, words, w->em, w->lanes) &&
		sg_lane->scatter(w->g->lds, w->g->lds_size, a,
			(uint32_t)sg_ds_offset2(in, 1), w->v + in->src[2].off, words,
			w->em, w->lanes))
		return in + 1;
	for (unsigned int i = 0; i < w->lanes; i++)
		for (int k = 0; w->em[i] && k < 2; k++)
			if (sg_lds_lane(w, in, a[i] + sg_ds_offset2(in, k),
				    sg_elem_bytes(e), &p))
				sg_elem_store(
					e, p, w->v + in->src[1 + k].off + i, w->lanes);
	return in + 1;
}

static uint64_t data_of(const struct sg_wave *w, const struct sg_src *s, unsigned int i,
	unsigned int bytes)
{
	return bytes == 4
		       ? w->v[s->off + i]
		       : w->v[s->off + i] | (uint64_t)w->v[s->off + i + w->lanes] << 32;
}

static const struct sg_inst *exec_rmw(struct sg_wave *w, const struct sg_inst *in)
{
	enum ds_form f = DS_FORM(in->op);
	unsigned int bytes = sg_elem_bytes(DS_ELEM(in->op)), n = w->lanes;
	unsigned int times = f == DS_XCHG2 ? 2 : 1;
	const uint32_t *a = w->v + in->src[0].off;
	uint32_t *d = in->ndst ? w->v + in->dst[0].off : NULL;
	uint64_t old[2] = {0};
	uint8_t *p;

	for (unsigned int i = 0; i < n; i++) {
		if (!w->em[i])
			continue;
		for (unsigned int k = 0; k < times; k++) {
			uint64_t off = a[i] + (f == DS_XCHG2 ? sg_ds_offset2(in, (int)k)
							     : (uint64_t)in->imm);
			uint64_t v = data_of(w, &in->src[1 + k], i, bytes), b = 0;

			if (f == DS_CMP) { /* compare first, then the new value */
				b = v;
				v = data_of(w, &in->src[2], i, bytes);
			} else if (f == DS_CMPSTORE) {
				b = data_of(w, &in->src[2], i, bytes);
			}
			old[k] = 0;
			if (off % bytes)
				return sg_stop(w, in, SG_FAULT_MEMORY, off,
					"LDS atomic of %u bytes at 0x%llx (lane %u): "
					"misaligned",
					bytes, (unsigned long long)off, i);
			if (sg_lds_lane(w, in, off, bytes, &p))
				old[k] = sg_atomic_do(
					DS_ATOMIC(in->op), bytes, p, v, b, false);
		}
		for (unsigned int k = 0; d && k < times; k++) {
			unsigned int words = bytes / 4;

			d[i + k * words * n] = (uint32_t)old[k];
			if (words == 2)
				d[i + (k * 2 + 1) * n] = (uint32_t)(old[k] >> 32);
		}
	}
	return in + 1;
}

/* The address is m0 and the lane's number. */
static const struct sg_inst *exec_addtid(struct sg_wave *w, const struct sg_inst *in)
{
	bool read = DS_FORM(in->op) == DS_ADDTID_R;
	uint64_t base = (w->s[SG_S_M0] & 0xffff) + (uint64_t)in->imm;
	uint8_t *p;

	for (unsigned int i = 0; i < w->lanes; i++) {
		bool ok = sg_lds_lane(w, in, base + 4 * i, 4, &p);

		if (w->em[i] && read)
			w->v[in->dst[0].off + i] = ok ? *(uint32_t *)(void *)p : 0;
		else if (w->em[i] && ok)
			memcpy(p, &w->v[in->src[1].off + i], 4);
	}
	return in + 1;
}

#define DSOP(NAME, FORM, E, A, RTN, ST, X)                                               \
	SG_OP_ANON({NAME, "", SG_OP_MEM, DS(FORM, E, A, RTN, ST), NULL, X, bind_ds});
#define READ(OLD, NEW, E)                                                                \
	DSOP("ds_read_" OLD, DS_READ, E, 0, 0, 0, exec_read)                             \
	DSOP("ds_load_" NEW, DS_READ, E, 0, 0, 0, exec_read)
#define WRITE(OLD, NEW, E)                                                               \
	DSOP("ds_write_" OLD, DS_WRITE, E, 0, 0, 0, exec_write)                          \
	DSOP("ds_store_" NEW, DS_WRITE, E, 0, 0, 0, exec_write)
READ("u8", "u8", SG_E_U8)
READ("i8", "i8", SG_E_I8)
READ("u16", "u16", SG_E_U16)
READ("i16", "i16", SG_E_I16)
READ("b32", "b32", SG_E_B32)
READ("b64", "b64", SG_E_B64)
READ("b96", "b96", SG_E_B96)
READ("b128", "b128", SG_E_B128)
READ("u8_d16", "u8_d16", SG_E_D16_U8)
READ("u8_d16_hi", "u8_d16_hi", SG_E_D16HI_U8)
READ("i8_d16", "i8_d16", SG_E_D16_I8)
READ("i8_d16_hi", "i8_d16_hi", SG_E_D16HI_I8)
READ("u16_d16", "u16_d16", SG_E_D16_B16)
READ("u16_d16_hi", "u16_d16_hi", SG_E_D16HI_B16)
WRITE("b8", "b8", SG_E_U8)
WRITE("b16", "b16", SG_E_U16)
WRITE("b32", "b32", SG_E_B32)
WRITE("b64", "b64", SG_E_B64)
WRITE("b96", "b96", SG_E_B96)
WRITE("b128", "b128", SG_E_B128)
WRITE("b8_d16_hi", "b8_d16_hi", SG_E_HI_B8)
WRITE("b16_d16_hi", "b16_d16_hi", SG_E_D16HI_B16)
#define TWO(B, E)                                                                        \
	DSOP("ds_read2_" B, DS_READ2, E, 0, 0, 0, exec_read2)                            \
	DSOP("ds_read2st64_" B, DS_READ2, E, 0, 0, 1, exec_read2)                        \
	DSOP("ds_load_2addr_" B, DS_READ2, E, 0, 0, 0, exec_read2)                       \
	DSOP("ds_load_2addr_stride64_" B, DS_READ2, E, 0, 0, 1, exec_read2)              \
	DSOP("ds_write2_" B, DS_WRITE2, E, 0, 0, 0, exec_write2)                         \
	DSOP("ds_write2st64_" B, DS_WRITE2, E, 0, 0, 1, exec_write2)                     \
	DSOP("ds_store_2addr_" B, DS_WRITE2, E, 0, 0, 0, exec_write2)                    \
	DSOP("ds_store_2addr_stride64_" B, DS_WRITE2, E, 0, 0, 1, exec_write2)           \
	DSOP("ds_wrxchg2_rtn_" B, DS_XCHG2, E, SG_A_SWAP, 1, 0, exec_rmw)                \
	DSOP("ds_wrxchg2st64_rtn_" B, DS_XCHG2, E, SG_A_SWAP, 1, 1, exec_rmw)            \
	DSOP("ds_storexchg_2addr_rtn_" B, DS_XCHG2, E, SG_A_SWAP, 1, 0, exec_rmw)        \
	DSOP("ds_storexchg_2addr_stride64_rtn_" B, DS_XCHG2, E, SG_A_SWAP, 1, 1, exec_rmw)
TWO("b32", SG_E_B32)
TWO("b64", SG_E_B64)
#define RMW(NAME, T, FORM, A, E)                                                         \
	DSOP("ds_" NAME "_" T, FORM, E, A, 0, 0, exec_rmw)                               \
	DSOP("ds_" NAME "_rtn_" T, FORM, E, A, 1, 0, exec_rmw)
#define RMW2(NAME, T, FORM, A)                                                           \
	RMW(NAME, T "32", FORM, A, SG_E_B32)                                             \
	RMW(NAME, T "64", FORM, A, SG_E_B64)
RMW2("add", "u", DS_RMW, SG_A_ADD)
RMW2("sub", "u", DS_RMW, SG_A_SUB)
RMW2("rsub", "u", DS_RMW, SG_A_RSUB)
RMW2("inc", "u", DS_RMW, SG_A_INC)
RMW2("dec", "u", DS_RMW, SG_A_DEC)
RMW2("min", "i", DS_RMW, SG_A_SMIN)
RMW2("max", "i", DS_RMW, SG_A_SMAX)
RMW2("min", "u", DS_RMW, SG_A_UMIN)
RMW2("max", "u", DS_RMW, SG_A_UMAX)
RMW2("and", "b", DS_RMW, SG_A_AND)
RMW2("or", "b", DS_RMW, SG_A_OR)
RMW2("xor", "b", DS_RMW, SG_A_XOR)
RMW2("mskor", "b", DS_CMPSTORE, SG_A_MSKOR)
RMW2("wrxchg", "b", DS_RMW, SG_A_SWAP)
RMW2("storexchg", "b", DS_RMW, SG_A_SWAP)
RMW2("cmpst", "b", DS_CMP, SG_A_CMPSWAP)
RMW2("cmpst", "f", DS_CMP, SG_A_FCMPSWAP)
RMW2("cmpstore", "b", DS_CMPSTORE, SG_A_CMPSWAP)
RMW2("cmpstore", "f", DS_CMPSTORE, SG_A_FCMPSWAP)
RMW2("add", "f", DS_RMW, SG_A_FADD)
RMW2("min", "f", DS_RMW, SG_A_FMIN)
RMW2("max", "f", DS_RMW, SG_A_FMAX)
RMW2("min_num", "f", DS_RMW, SG_A_FMIN)
RMW2("max_num", "f", DS_RMW, SG_A_FMAX)
RMW("pk_add", "f16", DS_RMW, SG_A_PK_F16, SG_E_B32)
RMW("pk_add", "bf16", DS_RMW, SG_A_PK_BF16, SG_E_B32)
RMW("sub_clamp", "u32", DS_RMW, SG_A_CSUB, SG_E_B32)
RMW("cond_sub", "u32", DS_RMW, SG_A_CONDSUB, SG_E_B32)
DSOP("ds_wrap_rtn_b32", DS_CMPSTORE, SG_E_B32, SG_A_WRAP, 1, 0, exec_rmw)
DSOP("ds_condxchg32_rtn_b64", DS_RMW, SG_E_B64, SG_A_CONDXCHG, 1, 0, exec_rmw)
DSOP("ds_read_addtid_b32", DS_ADDTID_R, SG_E_B32, 0, 0, 0, exec_addtid)
DSOP("ds_load_addtid_b32", DS_ADDTID_R, SG_E_B32, 0, 0, 0, exec_addtid)
DSOP("ds_write_addtid_b32", DS_ADDTID_W, SG_E_B32, 0, 0, 0, exec_addtid)
DSOP("ds_store_addtid_b32", DS_ADDTID_W, SG_E_B32, 0, 0, 0, exec_addtid)

/* ---- the crossbar ---- */

static const char *bind_cross(
	struct sg_program *p, const struct sg_text *t, struct sg_inst *in)
{
	const char *why = check_ds(t);
	unsigned int n = in->op->arg ? 3 : 2;

	if (why || t->nops != n)
		return why ? why : "an unexpected number of operands";
	if (!sg_bind_dst(p, &t->ops[0], 'b', &in->dst[0], &why))
		return why;
	in->ndst = 1;
	for (unsigned int k = 1; k < n && !why; k++)
		why = vreg(p, &t->ops[k], 1, &in->src[k - 1]);
	in->nsrc = (uint8_t)(n - 1);
	in->imm = (uint16_t)t->mods.offset;
	return why;
}

unsigned int sg_bpermute_from(
	const struct sg_wave *w, const struct sg_inst *in, unsigned int i)
{
	uint32_t n = w->lanes, from = (w->v[in->src[0].off + i] + (uint32_t)in->imm) >> 2;

	/* gfx10 and later in wave64 stay within their half. */
	if (n == 64 && w->p->gen >= SG_GEN_10)
		return (from & 31) | (i & 32);
	return from & (n - 1);
}

static const struct sg_inst *bpermute(struct sg_wave *w, const struct sg_inst *in)
{
	const uint32_t *s = w->v + in->src[1].off;
	uint32_t r[SG_LANES_MAX], *d = w->v + in->dst[0].off, n = w->lanes;

	for (unsigned int i = 0; i < n; i++) {
		unsigned int from = sg_bpermute_from(w, in, i);

		r[i] = w->em[from] ? s[from] : 0;
	}
	for (unsigned int i = 0; i < n; i++)
		d[i] = (r[i] & w->em[i]) | (d[i] & ~w->em[i]);
	return in + 1;
}

static const struct sg_inst *permute(struct sg_wave *w, const struct sg_inst *in)
{
	const uint32_t *a = w->v + in->src[0].off, *s = w->v + in->src[1].off;
	uint32_t r[SG_LANES_MAX] = {0}, *d = w->v + in->dst[0].off, n = w->lanes;

	for (unsigned int i = 0; i < n; i++) {
		uint32_t to = (a[i] + (uint32_t)in->imm) >> 2 & (n - 1);

		if (n == 64 && w->p->gen >= SG_GEN_10)
			to = (to & 31) | (i & 32);
		if (w->em[i])
			r[to] = s[i];
	}
	for (unsigned int i = 0; i < n; i++)
		d[i] = (r[i] & w->em[i]) | (d[i] & ~w->em[i]);
	return in + 1;
}

/* gfx12: lanes that are off give their values too. */
static const struct sg_inst *bpermute_fi(struct sg_wave *w, const struct sg_inst *in)
{
	const uint32_t *a = w->v + in->src[0].off, *s = w->v + in->src[1].off;
	uint32_t r[SG_LANES_MAX], *d = w->v + in->dst[0].off, n = w->lanes;

	for (unsigned int i = 0; i < n; i++)
		r[i] = s[(a[i] + (uint32_t)in->imm) >> 2 & (n - 1)];
	for (unsigned int i = 0; i < n; i++)
		d[i] = (r[i] & w->em[i]) | (d[i] & ~w->em[i]);
	return in + 1;
}

/* ds_append, ds_consume: a counter at m0 + offset grows by the number of lanes. */
static const char *bind_append(
	struct sg_program *p, const struct sg_text *t, struct sg_inst *in)
{
	const char *why = check_ds(t);

	if (why || t->nops != 1)
		return why ? why : "an unexpected number of operands";
	if (!sg_bind_dst(p, &t->ops[0], 'b', &in->dst[0], &why))
		return why;
	in->ndst = 1;
	in->imm = t->mods.offset;
	return in->dst[0].kind == SG_K_VGPR ? NULL
					    : "a result that is no vector register";
}

static const struct sg_inst *append(struct sg_wave *w, const struct sg_inst *in)
{
	uint32_t n = (uint32_t)__builtin_popcountll(sg_exec(w)), old = 0, new;
	uint8_t *p;

	if (sg_lds_lane(w, in, (w->s[SG_S_M0] & 0xffff) + (uint64_t)in->imm, 4, &p)) {
		memcpy(&old, p, 4);
		new = in->op->arg ? old - n : old + n;
		memcpy(p, &new, 4);
	}
	for (unsigned int i = 0; i < w->lanes; i++)
		if (w->em[i])
			w->v[in->dst[0].off + i] = old;
	return in + 1;
}

static const struct sg_inst *swizzle(struct sg_wave *w, const struct sg_inst *in)
{
	const uint32_t *s = w->v + in->src[0].off;
	uint32_t r[SG_LANES_MAX], *d = w->v + in->dst[0].off, n = w->lanes;
	uint32_t o = (uint32_t)in->imm;

	for (unsigned int i = 0; i < n; i++) {
		uint32_t l = i & 31, from;

		if (o >= 0xe000)
			return sg_stop(
				w, in, SG_FAULT_ILLEGAL, 0, "ds_swizzle_b32 in FFT mode");
		if (o >= 0xc000) /* rotation within 32 lanes; the mask keeps lane bits */
			from = (l & (o & 31)) |
			       ((o & 0x400 ? l - (o >> 5 & 31) : l + (o >> 5 & 31)) &
				       ~(o & 31) & 31);
		else if (o & 0x8000)
			from = (l & ~3u) | (o >> 2 * (l & 3) & 3);
		else
			from = ((l & (o & 31)) | (o >> 5 & 31)) ^ (o >> 10 & 31);
		from |= i & 32;
		r[i] = w->em[from] ? s[from] : 0;
	}
	for (unsigned int i = 0; i < n; i++)
		d[i] = (r[i] & w->em[i]) | (d[i] & ~w->em[i]);
	return in + 1;
}

SG_OP_ENTRY(bperm, {"ds_bpermute_b32", "", 0, 1, NULL, bpermute, bind_cross});
SG_OP_ENTRY(bpermfi, {"ds_bpermute_fi_b32", "", 0, 1, NULL, bpermute_fi, bind_cross});
SG_OP_ENTRY(append, {"ds_append", "", 0, 0, NULL, append, bind_append});
SG_OP_ENTRY(consume, {"ds_consume", "", 0, 1, NULL, append, bind_append});
SG_OP_ENTRY(perm, {"ds_permute_b32", "", 0, 1, NULL, permute, bind_cross});
SG_OP_ENTRY(swiz, {"ds_swizzle_b32", "", 0, 0, NULL, swizzle, bind_cross});
