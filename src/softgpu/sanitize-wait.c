/*
 * Waits. A load's registers are there when the wave has waited until at most so many
 * operations of its counter are outstanding as were issued after it; scalar loads come
 * back out of order, so only a wait for none covers them. vmcnt (gfx12: loadcnt) counts
 * vector loads, and stores on gfx9; lgkmcnt (gfx12: dscnt and kmcnt) LDS, scalar loads
 * and messages. A flat access counts in both, and either wait is taken for it: which
 * memory it went to is not the sanitizer's to know. (The ISA guides, "Manually inserted
 * wait states"; LLVM's AMDGPUUsage, "Memory model".)
 */
#include "softgpu/sanitize-parts.h"

static void complete(struct sg_san_wave *v, unsigned int by, uint32_t left)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < v->n_waiting; i++) {
		uint16_t row = v->waiting[i];
		unsigned int kind = v->pending[row];
		unsigned int counter = by == SAN_BY_VM ? SAN_VM : SAN_LGKM;
		/* a flat access has its order among the loads */
		bool ordered = by == SAN_BY_VM || kind == SAN_BY_LGKM;

		if (kind & by && (!left || (ordered && v->order[row] + left <=
							       v->issued[counter])))
			v->pending[row] = 0;
		else if (kind)
			v->waiting[kept++] = row;
	}
	v->n_waiting = kept;
}

void sg_san_wait(const struct sg_san_step *t)
{
	struct sg_san_wave *v = t->v;
	const union sg_wait wait = {.imm = t->in->imm};

	if (wait.load != SG_WAIT_ANY)
		complete(v, SAN_BY_VM, wait.load);
	if (wait.lds != SG_WAIT_ANY)
		complete(v, SAN_BY_LGKM, wait.lds);
	if (wait.scalar == 0 && v->any_spending) {
		memset(v->spending, 0, sizeof(v->spending));
		v->any_spending = false;
	}
}

void sg_san_issue(
	const struct sg_san_step *t, unsigned int counters, const struct sg_dst *dst)
{
	struct sg_san_wave *v = t->v;
	unsigned int row;

	if (counters & SAN_BY_VM)
		v->issued[SAN_VM]++;
	if (counters & SAN_BY_LGKM)
		v->issued[SAN_LGKM]++;
	if (!dst || dst->kind != SG_K_VGPR)
		return;
	row = sg_san_row(t->w, dst->off);
	for (unsigned int k = 0; k < sg_type_words(dst->type) && row + k < SG_ROWS; k++) {
		if (!v->pending[row + k] && v->n_waiting < SG_ROWS)
			v->waiting[v->n_waiting++] = (uint16_t)(row + k);
		v->pending[row + k] = (uint8_t)counters;
		v->order[row + k] = v->issued[counters & SAN_BY_VM ? SAN_VM : SAN_LGKM];
	}
}

void sg_san_issue_scalar(const struct sg_san_step *t, const struct sg_dst *dst)
{
	struct sg_san_wave *v = t->v;

	if (t->w->p->gen < SG_GEN_12)
		v->issued[SAN_LGKM]++;
	if (!dst || dst->kind != SG_K_SGPR)
		return;
	for (unsigned int k = 0; k < sg_type_words(dst->type); k++)
		if (dst->off + k < SG_S_DUMP)
			v->spending[dst->off + k] = true;
	v->any_spending = true;
}

static void check(const struct sg_san_step *t, uint8_t kind, uint32_t off,
	unsigned int words, const char *what)
{
	struct sg_san_wave *v = t->v;
	unsigned int row = sg_san_row(t->w, off);

	for (unsigned int k = 0; k < words; k++) {
		if (kind == SG_K_VGPR && row + k < SG_ROWS && v->pending[row + k]) {
			sg_san_report(t, SAN_WAIT,
				"%c%u is %s before s_waitcnt for the load of it",
				row + k < SG_VGPRS ? 'v' : 'a', (row + k) % SG_VGPRS,
				what);
			v->pending[row + k] = 0; /* dropped by the next wait */
		} else if (kind == SG_K_SGPR && off + k < SG_S_SLOTS &&
			   v->spending[off + k]) {
			sg_san_report(t, SAN_WAIT,
				"s%u is %s before s_waitcnt for the load of it", off + k,
				what);
			v->spending[off + k] = false;
		}
	}
}

static unsigned int words_of(const struct sg_wave *w, char type)
{
	return type == 'm' ? w->lanes / 32 : sg_type_words(type);
}

void sg_san_check_pending(const struct sg_san_step *t, bool results)
{
	const struct sg_inst *in = t->in;

	if (!t->v->n_waiting && !t->v->any_spending)
		return;
	for (unsigned int k = 0; k < in->nsrc && k < SG_SRC_MAX; k++)
		check(t, in->src[k].kind, in->src[k].off, words_of(t->w, in->src[k].type),
			"used");
	for (unsigned int k = 0; results && k < in->ndst; k++)
		check(t, in->dst[k].kind, in->dst[k].off, words_of(t->w, in->dst[k].type),
			"overwritten");
}
