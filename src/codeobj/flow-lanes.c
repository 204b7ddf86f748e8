/* Which lanes of vector registers are followed: they hold spilled scalars. */
#include "codeobj/flow-state.h"

#include <string.h>

int rck_flow_slot(struct flow *f, uint64_t slot, bool add)
{
	size_t i = 0;

	while (i < f->n_slots && f->slots[i] != slot)
		i++;
	if (i < f->n_slots)
		return (int)i;
	if (!add || i == MAX_SLOTS)
		return -1;
	f->slots[f->n_slots++] = slot;
	return (int)i;
}

uint16_t *rck_flow_lanes(struct flow *f, unsigned place)
{
	return f->lanes + place * LANES;
}

const struct rck_operand *rck_flow_spilled(const struct rck_insn *in)
{
	const struct rck_operand *o = &in->operands[in->data];

	return in->slot && in->data < in->n && o->kind == RCK_OPERAND_VGPR &&
			       o->count == 1 && o->first < VGPRS
		       ? o
		       : NULL;
}

/* A place takes over the lanes that another can give it; true when it had not all. */
static bool extend_lanes(struct flow *f, unsigned to, unsigned from)
{
	bool more = false;

	for (unsigned i = 0; i < LANES; i++) {
		if (rck_flow_lanes(f, from)[i] && !rck_flow_lanes(f, to)[i]) {
			rck_flow_lanes(f, to)[i] = (uint16_t)++f->n_lanes;
			more = true;
		}
	}
	return more;
}

static bool has_lanes(struct flow *f, unsigned place)
{
	for (unsigned i = 0; i < LANES; i++)
		if (rck_flow_lanes(f, place)[i])
			return true;
	return false;
}

void rck_flow_number_lanes(struct flow *f)
{
	bool more = true;

	memset(f->lanes, 0, (VGPRS + MAX_SLOTS) * LANES * sizeof(*f->lanes));
	f->n_lanes = f->n_slots = 0;
	for (size_t i = 0; i < f->cfg.n_insns; i++) {
		const struct rck_operand *o = f->cfg.insns[i].operands;

		if (f->cfg.insns[i].op != RCK_OP_WRITELANE ||
			o[0].kind != RCK_OPERAND_VGPR ||
			o[2].kind != RCK_OPERAND_NUMBER || (uint64_t)o[2].number >= LANES)
			continue;
		uint16_t *lane = &rck_flow_lanes(f, o[0].first)[o[2].number];

		if (!*lane)
			*lane = (uint16_t)++f->n_lanes;
	}
	while (more && f->n_lanes < UINT16_MAX / 2) {
		more = false;
		for (size_t i = 0; i < f->cfg.n_insns; i++) {
			const struct rck_insn *in = &f->cfg.insns[i];
			const struct rck_operand *o = rck_flow_spilled(in);
			int slot = o ? rck_flow_slot(f, in->slot,
					       in->spill && has_lanes(f, o->first))
				     : -1;

			if (slot < 0)
				continue;
			more |= in->spill ? extend_lanes(
						    f, VGPRS + (unsigned)slot, o->first)
					  : extend_lanes(
						    f, o->first, VGPRS + (unsigned)slot);
		}
	}
	f->n_values = AT_LANE + f->n_lanes + 1;
}
