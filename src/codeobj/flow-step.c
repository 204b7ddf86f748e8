/* What one instruction does to the values that are followed. */
#include "codeobj/flow-state.h"
#include "util/strbuf.h"

#include <stdlib.h>
#include <string.h>

/* ---- values */

static struct value constant(uint32_t v)
{
	return (struct value){v, CONST};
}

/* Dword half of operand i. */
static struct value get(
	struct flow *f, const struct rck_insn *in, unsigned i, unsigned half)
{
	const struct rck_operand *o = &in->operands[i];
	unsigned at;

	if (i >= in->n)
		return unknown;
	if (o->kind == RCK_OPERAND_NUMBER)
		return constant((uint32_t)((uint64_t)o->number >> (half ? 32 : 0)));
	if ((o->kind != RCK_OPERAND_SGPR && o->kind != RCK_OPERAND_VGPR) ||
		half >= o->count)
		return unknown;
	at = o->first + half;
	if (at >= (o->kind == RCK_OPERAND_SGPR ? SGPRS : VGPRS))
		return unknown;
	return f->now[(o->kind == RCK_OPERAND_SGPR ? 0 : AT_VGPR) + at];
}

static void forget_lanes(struct flow *f, unsigned place)
{
	for (unsigned i = 0; i < LANES; i++) {
		uint16_t lane = rck_flow_lanes(f, place)[i];

		if (lane)
			f->now[AT_LANE + lane - 1] = unknown;
	}
}

static void copy_lanes(struct flow *f, unsigned to, unsigned from)
{
	for (unsigned i = 0; i < LANES; i++) {
		uint16_t a = rck_flow_lanes(f, to)[i], b = rck_flow_lanes(f, from)[i];

		if (a)
			f->now[AT_LANE + a - 1] = b ? f->now[AT_LANE + b - 1] : unknown;
	}
}

static void set(struct flow *f, const struct rck_insn *in, unsigned i, unsigned half,
	struct value v)
{
	const struct rck_operand *o = &in->operands[i];
	unsigned at = o->first + half;

	if (i >= in->n || half >= o->count)
		return;
	if (o->kind == RCK_OPERAND_SGPR && at < SGPRS) {
		f->now[at] = v;
	} else if (o->kind == RCK_OPERAND_VGPR && at < VGPRS) {
		f->now[AT_VGPR + at] = v;
		forget_lanes(f, at);
	}
}

static void forget(struct flow *f, const struct rck_insn *in, unsigned i)
{
	for (unsigned half = 0; i < in->n && half < in->operands[i].count; half++)
		set(f, in, i, half, unknown);
}

/* ---- what is recorded in the last pass */

static void record_use(struct flow *f, int64_t offset)
{
	struct rck_flow *out = f->out;

	if (!f->recording)
		return;
	for (size_t i = 0; i < out->n_used; i++)
		if (out->used[i] == offset)
			return;
	out->used = rck_xrealloc(out->used, (out->n_used + 1) * sizeof(*out->used));
	out->used[out->n_used++] = offset;
}

static void record_escape(struct flow *f)
{
	if (f->recording)
		f->out->escapes = true;
}

static void record_call(struct flow *f, struct value lo, struct value hi, bool tail)
{
	struct rck_flow *out = f->out;
	struct rck_flow_call c = {.tail = tail};

	if (!f->recording)
		return;
	c.known = lo.kind == CONST && hi.kind == CONST;
	if (!c.known) {
		out->indirect++;
		return;
	}
	c.target = ((uint64_t)hi.v << 32 | lo.v) - f->in->address;
	c.pointer = f->now[8].kind == POINTER_LO && f->now[9].kind == POINTER_HI;
	c.delta = c.pointer ? (int32_t)f->now[8].v : 0;
	for (unsigned i = 0; i < 32; i++) /* as an ordinary argument */
		if (f->now[AT_VGPR + i].kind == POINTER_LO)
			record_escape(f);
	for (size_t i = 0; i < out->n_calls; i++)
		if (out->calls[i].target == c.target &&
			out->calls[i].pointer == c.pointer &&
			out->calls[i].delta == c.delta)
			return;
	out->calls = rck_xrealloc(out->calls, (out->n_calls + 1) * sizeof(*out->calls));
	out->calls[out->n_calls++] = c;
}

/* Reads operand i as an instruction does that is not followed further. */
static void use(struct flow *f, const struct rck_insn *in, unsigned i, bool harmless)
{
	for (unsigned half = 0; half < in->operands[i].count; half++) {
		struct value v = get(f, in, i, half);

		if (v.kind == ARGUMENT)
			record_use(f, (int32_t)v.v);
		else if (v.kind == POINTER_LO && !harmless)
			record_escape(f);
	}
}

/* ---- instructions */

static struct value add(struct flow *f, struct value a, struct value b)
{
	*scc(f) = unknown;
	if (a.kind == CONST && b.kind == POINTER_LO) {
		struct value t = a;

		a = b;
		b = t;
	}
	if (b.kind != CONST || (a.kind != CONST && a.kind != POINTER_LO))
		return unknown;
	if (a.kind == CONST)
		*scc(f) = constant(a.v + b.v < a.v);
	return (struct value){a.v + b.v, a.kind};
}

static struct value add_carry(struct flow *f, struct value a, struct value b)
{
	struct value carry = *scc(f);

	*scc(f) = unknown;
	if ((a.kind == POINTER_HI && b.kind == CONST) ||
		(b.kind == POINTER_HI && a.kind == CONST))
		return (struct value){0, POINTER_HI};
	if (a.kind != CONST || b.kind != CONST || carry.kind != CONST)
		return unknown;
	return constant(a.v + b.v + carry.v);
}

static void do_add(struct flow *f, const struct rck_insn *in, unsigned a, unsigned b)
{
	struct value lo = add(f, get(f, in, a, 0), get(f, in, b, 0));
	struct value hi = unknown;

	if (lo.kind == UNKNOWN) {
		use(f, in, a, false);
		use(f, in, b, false);
	}
	if (in->operands[0].count == 2)
		hi = add_carry(f, get(f, in, a, 1), get(f, in, b, 1));
	set(f, in, 0, 0, lo);
	set(f, in, 0, 1, hi);
	if (!in->scalar)
		*scc(f) = unknown;
}

static void do_sub(struct flow *f, const struct rck_insn *in)
{
	struct value a = get(f, in, 1, 0), b = get(f, in, 2, 0);

	*scc(f) = unknown;
	if (b.kind == CONST && (a.kind == CONST || a.kind == POINTER_LO)) {
		set(f, in, 0, 0, (struct value){a.v - b.v, a.kind});
		return;
	}
	use(f, in, 1, false);
	use(f, in, 2, false);
	forget(f, in, 0);
}

static void do_compare(struct flow *f, const struct rck_insn *in)
{
	struct value a = get(f, in, 0, 0), b = get(f, in, 1, 0);
	int64_t x = in->is_signed ? (int32_t)a.v : (int64_t)a.v;
	int64_t y = in->is_signed ? (int32_t)b.v : (int64_t)b.v;
	const bool results[] = {x == y, x != y, x > y, x >= y, x < y, x <= y};

	use(f, in, 0, true);
	use(f, in, 1, true);
	*scc(f) = a.kind == CONST && b.kind == CONST && in->compare < RCK_NO_COMPARE
			  ? constant(results[in->compare])
			  : unknown;
}

static void do_select(struct flow *f, const struct rck_insn *in)
{
	for (unsigned half = 0; half < in->operands[0].count; half++) {
		struct value a = get(f, in, 1, half), b = get(f, in, 2, half);
		bool same = a.kind == b.kind && a.v == b.v;

		if (scc(f)->kind == CONST) {
			set(f, in, 0, half, scc(f)->v ? a : b);
			continue;
		}
		if (!same) {
			use(f, in, 1, false);
			use(f, in, 2, false);
		}
		set(f, in, 0, half, same ? a : unknown);
	}
}

static void do_vector_select(struct flow *f, const struct rck_insn *in)
{
	struct value mask = get(f, in, 3, 0);

	if (mask.kind == CONST && (!mask.v || mask.v == UINT32_MAX)) {
		set(f, in, 0, 0, get(f, in, mask.v ? 2 : 1, 0));
		return;
	}
	use(f, in, 1, false);
	use(f, in, 2, false);
	forget(f, in, 0);
}

/* The offset that a load adds to its base; false: not known. */
static bool load_offset(
	struct flow *f, const struct rck_insn *in, unsigned i, int64_t *out)
{
	const struct rck_operand *o = &in->operands[i];
	struct value v;

	*out = in->offset;
	if (i >= in->n || o->kind == RCK_OPERAND_OTHER) /* "off", "null" */
		return true;
	if (o->kind == RCK_OPERAND_NUMBER) {
		*out += f->in->dwords ? o->number * 4 : o->number;
		return true;
	}
	v = get(f, in, i, 0);
	*out += (int32_t)v.v;
	return v.kind == CONST;
}

static void load_constant(
	struct flow *f, const struct rck_insn *in, uint64_t address, unsigned n)
{
	uint32_t data[16];

	f->out->placed = true;
	if (n > 16 || !f->in->load(f->in->user, address, n, data)) {
		forget(f, in, 0);
		return;
	}
	for (unsigned i = 0; i < n; i++)
		set(f, in, 0, i, constant(data[i]));
}

static void do_scalar_load(struct flow *f, const struct rck_insn *in)
{
	struct value lo = get(f, in, 1, 0), hi = get(f, in, 1, 1);
	unsigned n = in->operands[0].count;
	int64_t offset;
	bool known = load_offset(f, in, 2, &offset);

	if (known && lo.kind == CONST && hi.kind == CONST && in->width >= 4) {
		load_constant(f, in, ((uint64_t)hi.v << 32 | lo.v) + (uint64_t)offset, n);
		return;
	}
	if (lo.kind != POINTER_LO || !known) {
		use(f, in, 1, false);
		forget(f, in, 0);
		return;
	}
	offset += (int32_t)lo.v;
	for (unsigned i = 0; i < n; i++)
		set(f, in, 0, i,
			(struct value){(uint32_t)(offset + 4 * (int64_t)i), ARGUMENT});
	/* a load of just these eight bytes is there for them; a wider one may be merged
	 */
	if (in->width == 8)
		record_use(f, offset);
}

/* flat_load dst, v[a:b]; global_load dst, v[a:b], off; global_load dst, v, s[a:b] */
static void do_vector_load(struct flow *f, const struct rck_insn *in)
{
	bool base_is_scalar = in->n > 2 && in->operands[2].kind == RCK_OPERAND_SGPR;
	unsigned base = base_is_scalar ? 2 : 1;
	struct value lo = get(f, in, base, 0);
	int64_t offset;

	if (lo.kind == POINTER_LO) {
		if (load_offset(f, in, base_is_scalar ? 1 : RCK_OPERANDS, &offset))
			for (int64_t i = 0; i < in->width; i += 4)
				record_use(f, (int32_t)lo.v + offset + i);
		else
			record_escape(f);
	} else {
		use(f, in, base, false);
	}
	forget(f, in, 0);
}

static void do_write_lane(struct flow *f, const struct rck_insn *in)
{
	const struct rck_operand *o = in->operands;
	struct value v = get(f, in, 1, 0);

	if (o[0].kind != RCK_OPERAND_VGPR || o[0].first >= VGPRS)
		return;
	f->now[AT_VGPR + o[0].first] = unknown;
	if (o[2].kind == RCK_OPERAND_NUMBER && (uint64_t)o[2].number < LANES)
		f->now[AT_LANE + rck_flow_lanes(f, o[0].first)[o[2].number] - 1] = v;
	else
		forget_lanes(f, o[0].first);
}

static void do_read_lane(struct flow *f, const struct rck_insn *in)
{
	const struct rck_operand *o = in->operands;
	uint16_t lane = 0;

	if (o[1].kind == RCK_OPERAND_VGPR && o[1].first < VGPRS &&
		o[2].kind == RCK_OPERAND_NUMBER && (uint64_t)o[2].number < LANES)
		lane = rck_flow_lanes(f, o[1].first)[o[2].number];
	set(f, in, 0, 0, lane ? f->now[AT_LANE + lane - 1] : get(f, in, 1, 0));
}

/* Functions return values in v0 to v31 (LLVM, AMDGPUCallingConv.td) and the return
 * address register is the call's own. A compiler reads another register behind a call
 * only where it knows that the callee keeps it: by convention, or because it has seen the
 * callee. */
static void clobber_by_call(struct flow *f)
{
	f->now[30] = f->now[31] = unknown;
	for (unsigned i = 0; i < 32; i++)
		f->now[AT_VGPR + i] = unknown;
	*scc(f) = unknown;
}

static void do_call(struct flow *f, const struct rck_insn *in)
{
	uint64_t here = rck_insn_target(in);

	if (in->op == RCK_OP_CALL)
		record_call(f, get(f, in, 1, 0), get(f, in, 1, 1), false);
	else
		record_call(f, constant((uint32_t)here), constant((uint32_t)(here >> 32)),
			false);
	clobber_by_call(f);
}

static void do_jump_to(struct flow *f, const struct rck_insn *in)
{
	struct value lo = get(f, in, 0, 0), hi = get(f, in, 0, 1);
	uint64_t offset = ((uint64_t)hi.v << 32 | lo.v) - f->in->address;
	int32_t to;

	if (lo.kind == RETURN_LO && hi.kind == RETURN_HI)
		return;
	if (lo.kind != CONST || hi.kind != CONST || offset >= f->in->size ||
		(offset && f->in->is_function(f->in->user, f->in->address + offset))) {
		record_call(f, lo, hi, true);
		return;
	}
	to = rck_cfg_find(&f->cfg, offset);
	if (to < 0) {
		rck_cfg_decode(&f->cfg, offset);
		f->grown = rck_cfg_find(&f->cfg, offset) >= 0;
	} else if (f->cfg.blocks[f->cfg.block_of[to]].first != (uint32_t)to) {
		rck_cfg_give_up(&f->cfg, "a far branch into the middle of straight code");
	} else if (!f->recording) {
		rck_flow_to(f, f->cfg.block_of[to]);
	}
}

/* A register with lanes put away or brought back. */
static void do_spill(struct flow *f, const struct rck_insn *in)
{
	const struct rck_operand *o = rck_flow_spilled(in);
	int slot = o ? rck_flow_slot(f, in->slot, false) : -1;

	if (slot < 0)
		return;
	if (in->spill)
		copy_lanes(f, VGPRS + (unsigned)slot, o->first);
	else
		copy_lanes(f, o->first, VGPRS + (unsigned)slot);
}

static void do_other(struct flow *f, const struct rck_insn *in)
{
	unsigned first = in->op == RCK_OP_STORE ? 0 : in->dest2 ? 2 : 1;

	for (unsigned i = first; i < in->n; i++)
		use(f, in, i, in->op == RCK_OP_TEST);
	if (in->op == RCK_OP_STORE) {
		do_spill(f, in);
		return;
	}
	forget(f, in, 0);
	do_spill(f, in); /* a reload; or a move to an AGPR */
	if (in->dest2)
		forget(f, in, 1);
	if (in->scalar)
		*scc(f) = unknown;
}

void rck_flow_step(struct flow *f, const struct rck_insn *in)
{
	switch ((enum rck_op)in->op) {
	case RCK_OP_MOV:
		for (unsigned half = 0; half < in->operands[0].count; half++)
			set(f, in, 0, half, get(f, in, 1, half));
		break;
	case RCK_OP_GETPC:
		set(f, in, 0, 0, constant((uint32_t)(in->address + in->size)));
		set(f, in, 0, 1, constant((uint32_t)((in->address + in->size) >> 32)));
		break;
	case RCK_OP_ADD:
		do_add(f, in, 1, 2);
		break;
	case RCK_OP_VADD:
		do_add(f, in, 2, 3);
		forget(f, in, 1);
		break;
	case RCK_OP_VADD64:
		do_add(f, in, 1, 3);
		break;
	case RCK_OP_ADDC:
		set(f, in, 0, 0, add_carry(f, get(f, in, 1, 0), get(f, in, 2, 0)));
		break;
	case RCK_OP_VADDC:
		set(f, in, 0, 0, add_carry(f, get(f, in, 2, 0), get(f, in, 3, 0)));
		forget(f, in, 1);
		break;
	case RCK_OP_SUB:
		do_sub(f, in);
		break;
	case RCK_OP_SEXT16: {
		struct value v = get(f, in, 1, 0);

		set(f, in, 0, 0,
			v.kind == CONST ? constant((uint32_t)(int16_t)v.v) : unknown);
		break;
	}
	case RCK_OP_COMPARE:
		do_compare(f, in);
		break;
	case RCK_OP_SELECT:
		do_select(f, in);
		break;
	case RCK_OP_VSELECT:
		do_vector_select(f, in);
		break;
	case RCK_OP_LOAD:
		if (in->scalar)
			do_scalar_load(f, in);
		else
			do_vector_load(f, in);
		break;
	case RCK_OP_READLANE:
		do_read_lane(f, in);
		break;
	case RCK_OP_WRITELANE:
		do_write_lane(f, in);
		break;
	case RCK_OP_READFIRSTLANE:
		set(f, in, 0, 0, get(f, in, 1, 0));
		break;
	case RCK_OP_CALL:
	case RCK_OP_CALL_HERE:
		do_call(f, in);
		break;
	case RCK_OP_JUMP_TO:
		do_jump_to(f, in);
		break;
	case RCK_OP_OTHER:
	case RCK_OP_STORE:
	case RCK_OP_TEST:
		do_other(f, in);
		break;
	case RCK_OP_NOTHING:
	case RCK_OP_BRANCH:
	case RCK_OP_BRANCH_IF:
	case RCK_OP_END:
		break;
	}
}
