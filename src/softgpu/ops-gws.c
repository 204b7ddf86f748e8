/*
 * Global wave sync: counters beside LDS over which the groups of a cooperative launch
 * meet (gfx9 and gfx10). Only what HIP uses: init by a kernel of the runtime's own, and
 * the barrier. LLVM's AMDGPUUsage, "Global data share"; the RDNA 2 ISA document, 10.3:
 * init sets the counter to the waves that meet less one; a barrier's last wave finds it
 * at 0, sets it to its data again and lets all go.
 */
#include "softgpu/decode.h"
#include "softgpu/wave.h"

#include <string.h>

#define RESOURCES 64 /* of all queues together; a real device has as many */

struct resource {
	uint64_t queue; /* 0: free */
	uint32_t id;
	uint32_t left;  /* waves that are still to come, less one */
	uint32_t round; /* barriers gone through, from 1 */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct resource resources[RESOURCES];

/* lock held; NULL: no room. */
static struct resource *find(uint64_t queue, uint32_t id, bool make)
{
	struct resource *spare = NULL;

	for (size_t i = 0; i < RESOURCES; i++) {
		struct resource *r = &resources[i];

		if (r->queue == queue && r->id == id)
			return r;
		if (!r->queue && !spare)
			spare = r;
	}
	if (spare && make)
		*spare = (struct resource){queue, id, 0, 1};
	return make ? spare : NULL;
}

static uint64_t queue_of(const struct sg_wave *w)
{
	return w->g->run->k.launch->queue_address;
}

/* Offset and m0[21:16] name the counter. */
static uint32_t id_of(const struct sg_wave *w, const struct sg_inst *in)
{
	return ((uint32_t)in->imm + (w->s[SG_S_M0] >> 16 & 63)) & 63;
}

/* The data of the first lane that is on. */
static uint32_t data_of(const struct sg_wave *w, const struct sg_inst *in)
{
	uint64_t on = sg_exec(w);

	return w->v[in->src[0].off + (on ? (unsigned int)__builtin_ctzll(on) : 0)];
}

static const struct sg_inst *gws_init(struct sg_wave *w, const struct sg_inst *in)
{
	struct resource *r;

	pthread_mutex_lock(&lock);
	r = find(queue_of(w), id_of(w, in), true);
	if (r)
		r->left = data_of(w, in);
	pthread_mutex_unlock(&lock);
	return r ? in + 1
		 : sg_stop(w, in, SG_FAULT_LAUNCH, 0,
			   "no global wave sync counter is left");
}

static const struct sg_inst *gws_barrier(struct sg_wave *w, const struct sg_inst *in)
{
	const struct sg_inst *to = NULL;
	struct resource *r;

	pthread_mutex_lock(&lock);
	r = find(queue_of(w), id_of(w, in), false);
	if (!r) {
		to = in;
	} else if (w->gws_round) { /* has come before and waits */
		if (w->gws_round != r->round)
			to = in + 1;
	} else if (!r->left) {
		r->left = data_of(w, in);
		r->round += r->round == UINT32_MAX ? 2 : 1;
		to = in + 1;
	} else {
		r->left--;
		w->gws_round = r->round;
	}
	pthread_mutex_unlock(&lock);
	if (to == in)
		return sg_stop(w, in, SG_FAULT_LAUNCH, 0,
			"a barrier over all groups that nothing initialised");
	if (to) {
		w->gws_round = 0;
		return to;
	}
	w->ip = in; /* looks again at its next turn */
	w->state = SG_SLEEP;
	return NULL;
}

static const char *bind_gws(
	struct sg_program *p, const struct sg_text *t, struct sg_inst *in)
{
	const struct sg_mods *m = &t->mods;
	const char *why = NULL;

	if (!m->gds)
		return "no gds";
	if (m->clamp || m->omod || m->dpp || m->sdwa || m->has_op_sel || m->offen ||
		m->idxen || m->glc || m->lds || m->tfe || m->m_seen || m->offset0 ||
		m->offset1 || m->offset < 0 || m->offset > 63)
		return "modifiers of other operations";
	if (t->nops != 1 || t->ops[0].kind != SG_T_VGPR)
		return "an unexpected operand";
	if (!sg_bind_src(p, &t->ops[0], 'b', true, &in->src[0], &why))
		return why;
	in->nsrc = 1;
	in->imm = m->offset;
	return NULL;
}

SG_OP_ENTRY(init, {"ds_gws_init", "", 0, 0, NULL, gws_init, bind_gws});
SG_OP_ENTRY(barrier, {"ds_gws_barrier", "", 0, 0, NULL, gws_barrier, bind_gws});
