/*
 * Binding: operands take their types from the operation, and whatever the text says
 * beyond what is implemented is refused.
 */
#include "softgpu/decode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "softgpu/lane-float.h"

static const struct sg_mods plain_mods = {
	.row_mask = 15, .bank_mask = 15, .dst_sel = 6, .src_sel = {6, 6}};

static uint64_t real_bits(double real, char type)
{
	float f = (float)real;
	uint32_t u;
	uint64_t d;

	/* 1/(2*pi) has its own bits in each size; the text is its rounding. */
	switch (type) {
	case 'd':
	case 'U':
	case 'I':
	case 'B':
		if (real > 0.159 && real < 0.16)
			return 0x3fc45f306dc9c882;
		memcpy(&d, &real, 8);
		return d;
	case 'h':
	case 'w':
	case 's':
	case 'x':
	case 'p':
		return sg_f2h(f);
	case 'y':
	case 'v':
		return sg_f2bf(f);
	default:
		if (real > 0.159 && real < 0.16)
			return 0x3e22f983;
		memcpy(&u, &f, 4);
		return u;
	}
}

static uint64_t int_bits(const struct sg_token *t, char type)
{
	uint64_t v = (uint64_t)t->value;

	if (type == 'd' && t->literal && v <= UINT32_MAX)
		return v << 32; /* the literal is the upper word */
	if (type == 'I' && t->literal && v <= UINT32_MAX)
		return (uint64_t)(int64_t)(int32_t)v;
	if (sg_type_words(type) == 2)
		return v;
	return sg_type_half(type) ? v & 0xffff : v & 0xffffffff;
}

static uint32_t row_of(const struct sg_program *p, const struct sg_token *t)
{
	return (t->index + (t->kind == SG_T_AGPR ? SG_VGPRS : 0)) * p->lanes;
}

bool sg_bind_src(struct sg_program *p, const struct sg_token *t, char type, bool rows,
	struct sg_src *s, const char **why)
{
	unsigned int words = sg_type_words(type);

	s->type = type;
	s->sel = 6;
	s->hi_hi = true;
	s->neg = t->neg;
	s->abs = t->abs;
	s->sext = t->sext;
	switch (t->kind) {
	case SG_T_VGPR:
	case SG_T_AGPR:
		if (!rows || type == 'm') {
			*why = "a vector register where a scalar is due";
			return false;
		}
		if (t->count != words || t->index + words > SG_VGPRS) {
			*why = "a register range of the wrong size";
			return false;
		}
		s->kind = SG_K_VGPR;
		s->off = row_of(p, t);
		s->hi = t->half == 2;
		return true;
	case SG_T_SGPR:
		if (t->index == SG_S_NULL)
			break;
		if (type != 'm' && t->count != words) {
			*why = "a register range of the wrong size";
			return false;
		}
		s->kind = SG_K_SGPR;
		s->off = t->index;
		s->hi = t->half == 2;
		return true;
	case SG_T_INT:
	case SG_T_FLOAT:
	case SG_T_VALUE:
		break;
	default:
		*why = "an operand of an unknown kind";
		return false;
	}
	uint64_t v = t->kind == SG_T_FLOAT   ? real_bits(t->real, type)
		     : t->kind == SG_T_SGPR  ? 0
		     : t->kind == SG_T_VALUE ? (uint64_t)t->value
					     : int_bits(t, type);

	/* A 32-bit use of an aperture is its upper word's register name in gfx9's text.
	 */
	if (t->kind == SG_T_VALUE && words == 1)
		v = t->value < 0xffffffff ? (uint64_t)t->value : (uint64_t)t->value >> 32;
	s->kind = SG_K_CONST;
	s->row = rows ? sg_program_row(p, v) : sg_program_words(p, v);
	if (!s->row)
		*why = "out of memory";
	return s->row;
}

bool sg_bind_dst(const struct sg_program *p, const struct sg_token *t, char type,
	struct sg_dst *d, const char **why)
{
	unsigned int words = sg_type_words(type);

	d->type = type;
	if (t->kind == SG_T_SGPR) {
		if (type != 'm' && t->count != words && t->index != SG_S_NULL) {
			*why = "a result range of the wrong size";
			return false;
		}
		d->kind = SG_K_SGPR;
		d->off = t->index == SG_S_NULL ? SG_S_DUMP : t->index;
		return true;
	}
	if ((t->kind != SG_T_VGPR && t->kind != SG_T_AGPR) || type == 'm' ||
		t->count != words || t->index + words > SG_VGPRS) {
		*why = "a result that is no register of its size";
		return false;
	}
	d->kind = SG_K_VGPR;
	d->off = row_of(p, t);
	return true;
}

static const struct sg_inst *exec_then_update(struct sg_wave *w, const struct sg_inst *in)
{
	const struct sg_inst *next = in->op->exec(w, in);

	sg_exec_changed(w);
	return next;
}

static bool float_mods_ok(const struct sg_op *op, char type)
{
	return strchr("fdhpvPgy", type) || (op->flags & SG_OP_FMODS);
}

/* What a vector operation may carry; false with why. */
static bool check_mods(const struct sg_op *op, struct sg_inst *in, struct sg_mods *m,
	const struct sg_text *t, const char **why)
{
	char dt = in->ndst ? in->dst[0].type : 0;
	bool packed = false, halves = sg_type_half(dt),
	     wide = sg_type_words(dt) > 1 && m->dst_sel != 6;

	for (unsigned int k = 0; k < in->nsrc; k++) {
		struct sg_src *s = &in->src[k];

		packed |= s->type && strchr("pqvPQ", s->type);
		halves |= sg_type_half(s->type);
		if ((s->neg || s->abs) && !float_mods_ok(op, s->type)) {
			*why = "neg or abs of an integer";
			return false;
		}
		if (s->abs && strchr("pvPQ", s->type)) {
			*why = "abs of a packed operand";
			return false;
		}
		if (s->sext && !m->sdwa) {
			*why = "sext outside of SDWA";
			return false;
		}
	}
	if (m->omod && (!dt || !strchr("fdh", dt) || (op->flags & SG_OP_NOCLAMP))) {
		*why = "mul or div of a result that is no float";
		return false;
	}
	if (m->clamp && (!dt || !strchr("fdhpP", dt) || (op->flags & SG_OP_NOCLAMP))) {
		*why = "clamp";
		return false;
	}
	if (m->has_op_sel_hi && !packed && !strchr(op->sig, 'g')) {
		*why = "op_sel_hi";
		return false;
	}
	if (m->has_op_sel && !packed && !halves && !strchr(op->sig, 'g')) {
		*why = "op_sel";
		return false;
	}
	if (m->has_neg && !packed) {
		*why = "neg_lo or neg_hi";
		return false;
	}
	for (unsigned int k = 0; k < in->nsrc; k++)
		wide |= sg_type_words(in->src[k].type) > 1 && in->src[k].type != 'm';
	if (m->sdwa && (wide || packed)) {
		*why = "SDWA of 64-bit or packed operands";
		return false;
	}
	if (m->sdwa && m->dst_sel != 6 && (!in->ndst || in->dst[0].kind != SG_K_VGPR)) {
		*why = "SDWA selection of a result that is no register";
		return false;
	}
	if ((!strcmp(t->suffix, "sdwa")) != m->sdwa && !strcmp(t->suffix, "sdwa"))
		m->sdwa = true;
	if (m->dpp && (in->nsrc < 1 || in->src[0].kind != SG_K_VGPR)) {
		*why = "DPP of an operand that is no vector register";
		return false;
	}
	if (m->dpp && packed && in->mods->has_op_sel) {
		*why = "DPP with op_sel of packed operands";
		return false;
	}
	if (m->offset || m->offset0 || m->offset1 || m->offen || m->idxen || m->glc ||
		m->lds || m->gds || m->tfe || m->atomic_return || m->m_seen ||
		m->format || m->index_key) {
		*why = "a modifier of memory or matrix operations";
		return false;
	}
	return true;
}

static void set_lane(struct sg_inst *in, const struct sg_op *op)
{
	in->lane = op->lane;
	in->mode_lane = op->lane ? sg_op_mode_lane(op->name) : NULL;
}

/*
 * Results of part of a register, and sources that are a byte of one, as SDWA has them.
 * gfx9 has the result's byte in op_sel's upper two bits.
 */
static bool byte_mods(
	const struct sg_op *op, struct sg_inst *in, struct sg_mods *m, const char **why)
{
	if (m->has_byte_sel && !(op->flags & (SG_OP_BYTE_SRC | SG_OP_BYTE_DST))) {
		*why = "byte_sel";
		return false;
	}
	if (op->flags & SG_OP_BYTE_SRC && m->has_byte_sel) {
		if (m->sdwa || in->src[0].kind != SG_K_VGPR) {
			*why = "byte_sel of what is no vector register";
			return false;
		}
		in->src[0].sel = m->byte_sel;
	}
	if (op->flags & SG_OP_BYTE_DST) {
		if (m->has_op_sel &&
			(m->op_sel_n != 4 || m->op_sel & 3 || m->has_byte_sel)) {
			*why = "op_sel";
			return false;
		}
		if (m->clamp || m->omod) {
			*why = "clamp or omod of a byte";
			return false;
		}
		m->dst_sel = m->has_op_sel ? m->op_sel >> 2 & 3 : m->byte_sel;
		m->dst_unused = 2;
		m->sdwa = true;
		m->has_op_sel = false;
		m->op_sel = 0;
	}
	return true;
}

static bool signs_only(const struct sg_inst *in)
{
	for (unsigned int k = 0; k < in->nsrc; k++) {
		const struct sg_src *s = &in->src[k];
		bool whole = strchr("fd", s->type) || in->op->flags & SG_OP_FMODS;

		if (s->sel != 6 || s->hi || s->neg_hi || !s->hi_hi || s->type == 'g' ||
			((s->neg || s->abs) && !whole))
			return false;
	}
	return true;
}

static bool finish_valu(struct sg_program *p, const struct sg_text *t, struct sg_inst *in,
	struct sg_mods *m, const char **why)
{
	const struct sg_op *op = in->op;
	bool gfx9 = p->gen <= SG_GEN_940;
	bool mix = strchr(op->sig, 'g'), tie = op->flags & SG_OP_TIE;

	if (m->clamp && (op->flags & SG_OP_SAT)) {
		char twin[64];

		snprintf(twin, sizeof(twin), "%s_sat", op->name);
		op = sg_op_find(twin);
		if (!op) {
			*why = "clamp";
			return false;
		}
		set_lane(in, op);
		in->exec = op->exec;
		m->clamp = 0;
	}
	if (!byte_mods(in->op, in, m, why) || !check_mods(in->op, in, m, t, why))
		return false;
	in->wide = in->ndst && in->dst[0].kind == SG_K_VGPR &&
		   sg_type_words(in->dst[0].type) == 2;
	in->half =
		in->ndst && in->dst[0].kind == SG_K_VGPR && sg_type_half(in->dst[0].type);
	if (in->half)
		in->imm = gfx9 && !(in->op->flags & SG_OP_KEEPHI);
	/* op_sel's last bit is the result's. */
	if (m->op_sel_n > 1 && m->op_sel_n == in->nsrc + (tie ? 0u : 1u) &&
		(in->half || !tie) && m->op_sel >> (m->op_sel_n - 1) & 1) {
		if (!in->half) {
			*why = "op_sel of a result that is not of 16 bits";
			return false;
		}
		m->op_sel = (uint8_t)((m->op_sel & ~(1u << (m->op_sel_n - 1))) | 8);
	}
	/* true16 writes the half into the register's name, mixhi into its own. */
	if (in->half && ((t->nops && t->ops[0].half == 2) || strstr(op->name, "_mixhi_")))
		m->op_sel |= 8;
	for (unsigned int k = 0; k < in->nsrc && k < SG_SRC_MAX; k++) {
		struct sg_src *s = &in->src[k];
		bool packed = strchr("pqvPQ", s->type);

		if (k < 2 && m->sdwa && !packed)
			s->sel = m->src_sel[k];
		if (packed || mix) {
			s->hi = m->op_sel >> k & 1;
			s->hi_hi = m->has_op_sel_hi ? m->op_sel_hi >> k & 1 : packed;
			s->neg ^= m->neg_lo >> k & 1;
			s->neg_hi = m->neg_hi >> k & 1;
			if (packed && s->type == 'q' && (s->neg || s->neg_hi)) {
				*why = "neg of packed integers";
				return false;
			}
			if (mix && (m->neg_hi >> k & 1)) {
				s->abs = true; /* mix: neg_hi is abs */
			}
			if (strchr("P", s->type) && s->kind == SG_K_CONST && s->hi_hi &&
				s->row != sg_program_row(p, 0)) {
				*why = "a constant in the upper half of packed f32";
				return false;
			}
		} else if (k < 3 && (m->op_sel >> k & 1)) {
			if (!sg_type_half(s->type)) {
				*why = "op_sel of a source that is not of 16 bits";
				return false;
			}
			s->hi = true;
		}
		if (s->kind == SG_K_CONST && s->hi && sg_type_half(s->type)) {
			*why = "op_sel of a constant";
			return false;
		}
		if (s->type == 'g' || s->neg || s->abs || s->sel != 6 || s->hi ||
			s->neg_hi || (packed && !s->hi_hi))
			in->full = true;
	}
	in->signs = in->full && signs_only(in);
	if (m->clamp || m->omod || m->sdwa || m->dpp || in->falsify) {
		in->full = true;
		in->signs = false;
	}
	/* The operation's own exec knows registers and masks, and nothing else. */
	if (in->lane && (in->full || in->cmpx ||
				(in->ndst && in->dst[0].type != 'm' &&
					in->dst[0].kind != SG_K_VGPR)))
		in->exec = sg_exec_valu;
	return true;
}

/* Missing trailing vcc of short encodings (v_dual_cndmask, VOP2's carry in older text).
 */
static bool implicit_vcc(const struct sg_program *p, struct sg_token *t)
{
	memset(t, 0, sizeof(*t));
	t->kind = SG_T_SGPR;
	t->index = SG_S_VCC;
	t->count = p->lanes / 32;
	return true;
}

static bool bind_operands(struct sg_program *p, struct sg_text *t, struct sg_inst *in,
	struct sg_mods *m, const char **why)
{
	const struct sg_op *op = in->op;
	const char *colon = strchr(op->sig, ':'), *src = colon ? colon + 1 : op->sig;
	unsigned int nd = colon ? (unsigned int)(colon - op->sig) : 0,
		     ns = (unsigned int)strlen(src);
	unsigned int k = 0, total;
	bool valu = op->flags & SG_OP_VALU;

	/* v_cmpx of gfx10 and later has no result but exec. */
	if (in->cmpx && p->gen >= SG_GEN_10)
		nd = 0;
	total = nd + ns;
	if (t->nops + 1 == total && ns && src[ns - 1] == 'm')
		implicit_vcc(p, &t->ops[t->nops++]);
	if (t->nops != total) {
		*why = "an unexpected number of operands";
		return false;
	}
	for (; k < nd; k++)
		if (!sg_bind_dst(p, &t->ops[k], op->sig[k], &in->dst[k], why))
			return false;
	for (; k < total; k++) {
		const struct sg_token *tok = &t->ops[k];
		char type = src[k - nd];

		if (type == 'k' || type == 'j') {
			if (tok->kind != SG_T_INT) {
				*why = "a number is due";
				return false;
			}
			in->imm = tok->value;
			continue;
		}
		if (!sg_bind_src(p, tok, type, valu, &in->src[in->nsrc], why))
			return false;
		if (!valu && (tok->neg || tok->abs) && !strchr("fh", type)) {
			*why = "neg or abs of a scalar";
			return false;
		}
		in->nsrc++;
	}
	in->ndst = (uint8_t)nd;
	if (in->cmpx && !nd) { /* exec is its result like any other */
		in->dst[0] = (struct sg_dst){.off = SG_S_EXEC, SG_K_SGPR, 'm'};
		in->ndst = 1;
		in->cmpx = false;
	}
	if (op->flags & SG_OP_TIE) {
		struct sg_src *s = &in->src[in->nsrc++];

		s->kind = in->dst[0].kind;
		s->type = in->dst[0].type;
		s->off = in->dst[0].off;
		s->sel = 6;
		s->hi_hi = true;
		s->hi = t->ops[0].half == 2;
	}
	if (valu)
		return finish_valu(p, t, in, m, why);
	if (memcmp(&t->mods, &plain_mods, sizeof(plain_mods))) {
		*why = "modifiers of a scalar operation";
		return false;
	}
	for (k = 0; k < nd; k++)
		if (in->dst[k].kind == SG_K_SGPR && in->dst[k].off <= SG_S_EXEC + 1 &&
			in->dst[k].off + sg_type_words(in->dst[k].type) > SG_S_EXEC)
			in->exec = exec_then_update;
	return true;
}

static bool decode_vopd(struct sg_program *p, char *text, char *second, uint64_t pc,
	unsigned int size, struct sg_inst *in, char why[96])
{
	struct sg_inst *pair = sg_program_alloc(p, 2 * sizeof(*pair));
	char one[256];

	if (!pair) {
		snprintf(why, 96, "out of memory");
		return false;
	}
	for (int i = 0; i < 2; i++) {
		char *s = i ? second : text;

		if (strncmp(s, "v_dual_", 7)) {
			snprintf(why, 96, "no v_dual_ instruction");
			return false;
		}
		snprintf(one, sizeof(one), "v_%s", s + 7);
		if (!sg_decode(p, one, pc, size, &pair[i], why))
			return false;
		if (!pair[i].lane || pair[i].ndst != 1 || pair[i].wide || pair[i].half ||
			pair[i].dst[0].kind != SG_K_VGPR) {
			snprintf(why, 96, "a half of v_dual_ that is not expected");
			return false;
		}
	}
	in->exec = sg_exec_vopd;
	in->pair = pair;
	in->op = pair[0].op;
	in->mods = pair[0].mods;
	in->pc = pc;
	in->size = (uint8_t)size;
	return true;
}

bool sg_decode(struct sg_program *p, const char *text, uint64_t pc, unsigned int size,
	struct sg_inst *in, char why[96])
{
	const char *falsify = getenv("RCK_SOFT_FALSIFY"), *name, *reason = NULL;
	char buf[48], first[256], *dual;
	struct sg_text t;
	struct sg_mods *m;

	memset(in, 0, sizeof(*in));
	in->pc = pc;
	in->size = (uint8_t)size;
	in->mods = &plain_mods;
	snprintf(first, sizeof(first), "%s", text);
	dual = strstr(first, " :: ");
	if (dual) {
		*dual = '\0';
		return decode_vopd(p, first, dual + 4, pc, size, in, why);
	}
	snprintf(why, 96, "not implemented");
	buf[0] = '\0';
	/* The operation first: those without operands of interest take any text. */
	snprintf(first, sizeof(first), "%.*s", (int)strcspn(text, " \t"), text);
	in->op = sg_op_find(sg_alias(first, p->gen, buf));
	if (in->op && (in->op->flags & SG_OP_NOP)) {
		in->exec = in->op->exec;
		if (in->op->flags & SG_OP_WAIT)
			in->imm = sg_text_wait(text);
		return true;
	}
	if (!sg_text_parse(text, p->gen, &t, why))
		return false;
	snprintf(why, 96, "not implemented");
	if (!strncmp(t.name, "v_cmpx_", 7)) {
		char plain_name[48];

		in->cmpx = true;
		snprintf(plain_name, sizeof(plain_name), "v_cmp_%.40s", t.name + 7);
		snprintf(t.name, sizeof(t.name), "%s", plain_name);
	}
	name = sg_alias(t.name, p->gen, buf);
	in->op = sg_op_find(name);
	if (!in->op)
		return false;
	m = sg_program_alloc(p, sizeof(*m));
	if (!m)
		return false;
	*m = t.mods;
	in->mods = m;
	in->exec = in->op->exec;
	set_lane(in, in->op);
	in->falsify = falsify && (!strcmp(falsify, name) || !strcmp(falsify, t.name));
	if (in->op->bind) {
		reason = in->op->bind(p, &t, in);
	} else if (!bind_operands(p, &t, in, m, &reason)) {
		if (!reason)
			reason = "operands";
	} else {
		reason = NULL;
	}
	if (reason) {
		snprintf(why, 96, "%s", reason);
		return false;
	}
	return true;
}
