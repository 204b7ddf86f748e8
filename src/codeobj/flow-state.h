/*
 * The inside of flow.c: a state is followed over blocks (flow.c), from one instruction to
 * the next (flow-step.c), through the lanes that flow-lanes.c numbers.
 */
#pragma once

#include "codeobj/cfg.h"
#include "codeobj/flow.h"

#define SGPRS     128
#define VGPRS     256
#define LANES     64
#define MAX_SLOTS 64

enum kind {
	UNSEEN, /* no path has got here */
	CONST,
	POINTER_LO, /* of the followed pointer + v */
	POINTER_HI,
	RETURN_LO, /* of the return address */
	RETURN_HI,
	ARGUMENT, /* the dword at the followed pointer + v */
	UNKNOWN,
};

struct value {
	uint32_t v;
	uint32_t kind;
};

/* A state: SGPRs, VGPRs (where a value is the same in all lanes), spill lanes, SCC. */
enum { AT_VGPR = SGPRS, AT_LANE = SGPRS + VGPRS };

/* Of a basic block. */
struct state {
	struct value *in; /* NULL: not reached */
	bool queued;
};

struct flow {
	const struct rck_flow_input *in;
	struct rck_flow *out;
	struct rck_cfg cfg;
	struct state *states;
	uint32_t *queue; /* of blocks */
	size_t n_queue;
	/* [(VGPRS + MAX_SLOTS) * LANES]: 1 + index among the lanes in use */
	uint16_t *lanes;
	size_t n_lanes, n_values;
	uint64_t slots[MAX_SLOTS]; /* where registers with lanes are put away */
	size_t n_slots;
	struct value *now;
	bool recording;
	bool grown; /* a far branch has led to code not decoded yet */
};

static const struct value unknown = {0, UNKNOWN};

static inline struct value *scc(struct flow *f)
{
	return &f->now[f->n_values - 1];
}

/* flow-lanes.c. Which lanes are followed: those that v_writelane writes, where such a
 * register is put away, and the registers that it comes back to. */
void rck_flow_number_lanes(struct flow *f);
/* The lanes of a VGPR, or behind them those of a slot. */
uint16_t *rck_flow_lanes(struct flow *f, unsigned place);
/* The number of a slot; it is added when add is set. -1: not known. */
int rck_flow_slot(struct flow *f, uint64_t slot, bool add);
/* The VGPR that an instruction puts into its slot or brings back, or NULL. */
const struct rck_operand *rck_flow_spilled(const struct rck_insn *in);

/* flow-step.c: one instruction's effect on f->now. */
void rck_flow_step(struct flow *f, const struct rck_insn *in);

/* flow.c: what now holds joins the state in which a block begins. */
void rck_flow_to(struct flow *f, size_t block);
