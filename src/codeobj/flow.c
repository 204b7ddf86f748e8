#include "codeobj/flow-state.h"
#include "util/strbuf.h"

#include <stdlib.h>
#include <string.h>

#define MAX_VALUES (8u << 20) /* registers x blocks */

static void forget_states(struct flow *f)
{
	for (size_t i = 0; f->states && i < f->cfg.n_blocks; i++)
		free(f->states[i].in);
	free(f->states);
	free(f->queue);
	f->states = NULL;
	f->queue = NULL;
	f->n_queue = 0;
}

void rck_flow_to(struct flow *f, size_t block)
{
	struct state *b = &f->states[block];
	bool changed = !b->in;

	if (!b->in) {
		b->in = rck_xmalloc(f->n_values * sizeof(*b->in));
		memcpy(b->in, f->now, f->n_values * sizeof(*b->in));
	} else {
		for (size_t i = 0; i < f->n_values; i++) {
			struct value *v = &b->in[i];

			if (v->kind == UNKNOWN || f->now[i].kind == UNSEEN ||
				(v->kind == f->now[i].kind && v->v == f->now[i].v))
				continue;
			*v = v->kind == UNSEEN ? f->now[i] : unknown;
			changed = true;
		}
	}
	if (changed && !b->queued) {
		b->queued = true;
		f->queue[f->n_queue++] = (uint32_t)block;
	}
}

static void leave_block(struct flow *f, size_t block)
{
	uint32_t i = f->cfg.blocks[block].last;
	const struct rck_insn *last = &f->cfg.insns[i];

	if (rck_insn_is_branch(last)) {
		int32_t to =
			rck_cfg_find(&f->cfg, rck_insn_target(last) - f->in->address);

		if (to >= 0)
			rck_flow_to(f, f->cfg.block_of[to]);
		else
			rck_cfg_give_up(&f->cfg, "a branch out of the function");
	}
	if (!rck_insn_falls_through(last))
		return;
	if (block + 1 < f->cfg.n_blocks && last[1].address == last->address + last->size)
		rck_flow_to(f, block + 1);
	else if (last->op != RCK_OP_CALL && last->op != RCK_OP_NOTHING) /* never return */
		rck_cfg_give_up(&f->cfg, "code that runs past the function's end");
}

static void run_block(struct flow *f, size_t block)
{
	const struct rck_block b = f->cfg.blocks[block];

	memcpy(f->now, f->states[block].in, f->n_values * sizeof(*f->now));
	for (uint32_t i = b.first; i <= b.last && !f->grown; i++)
		rck_flow_step(f, &f->cfg.insns[i]);
	if (!f->recording && !f->grown)
		leave_block(f, block);
}

static void enter(struct flow *f)
{
	unsigned p = f->in->pointer;

	for (size_t i = 0; i < f->n_values; i++)
		f->now[i] = i < AT_LANE ? unknown : (struct value){0, UNSEEN};
	*scc(f) = unknown;
	if (!f->in->kernel) {
		f->now[30] = (struct value){0, RETURN_LO};
		f->now[31] = (struct value){0, RETURN_HI};
	}
	if (p < SGPRS - 1) {
		f->now[p] = (struct value){0, POINTER_LO};
		f->now[p + 1] = (struct value){0, POINTER_HI};
	}
	rck_flow_to(f, 0);
}

/* One pass over the code known so far; true when it has led to more of it. */
static bool pass(struct flow *f)
{
	f->grown = false;
	rck_flow_number_lanes(f);
	rck_cfg_make_blocks(&f->cfg);
	if (f->cfg.n_blocks * f->n_values > MAX_VALUES) {
		rck_cfg_give_up(&f->cfg, "more branches than are followed");
		return false;
	}
	f->states = rck_xcalloc(f->cfg.n_blocks + 1, sizeof(*f->states));
	f->queue = rck_xcalloc(f->cfg.n_blocks + 1, sizeof(*f->queue));
	free(f->now);
	f->now = rck_xcalloc(f->n_values, sizeof(*f->now));
	enter(f);
	while (f->n_queue && !f->grown) {
		uint32_t block = f->queue[--f->n_queue];

		f->states[block].queued = false;
		run_block(f, block);
	}
	return f->grown;
}

void rck_flow_run(const struct rck_flow_input *in, struct rck_flow *out)
{
	struct flow f = {.in = in,
		.out = out,
		.cfg = {.code = in->code,
			.size = in->size,
			.address = in->address,
			.disasm = in->disasm}};
	unsigned rounds = 0;

	*out = (struct rck_flow){0};
	f.lanes = rck_xcalloc((VGPRS + MAX_SLOTS) * LANES, sizeof(*f.lanes));
	rck_cfg_decode(&f.cfg, 0);
	while (f.cfg.n_insns && pass(&f)) {
		forget_states(&f);
		if (++rounds == 64) {
			rck_cfg_give_up(&f.cfg, "more far branches than are followed");
			break;
		}
	}
	f.recording = true;
	for (size_t i = 0; f.states && i < f.cfg.n_blocks; i++)
		if (f.states[i].in)
			run_block(&f, i);
	out->gave_up = f.cfg.gave_up;
	forget_states(&f);
	rck_cfg_release(&f.cfg);
	free(f.now);
	free(f.lanes);
}

void rck_flow_free(struct rck_flow *f)
{
	free(f->calls);
	free(f->used);
	*f = (struct rck_flow){0};
}
