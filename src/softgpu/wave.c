/*
 * A wave's initial state (AMDGPUUsage, "Initial Kernel Execution State"), its run, and
 * how it stops.
 */
#include "softgpu/wave.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "util/range.h"

#define NEAR (1u << 20) /* bytes behind a block that are told as its overrun */

/* Bits of kernel_code_properties. */
enum {
	KCP_PRIVATE_BUFFER = 1 << 0,
	KCP_DISPATCH_PTR = 1 << 1,
	KCP_QUEUE_PTR = 1 << 2,
	KCP_KERNARG_PTR = 1 << 3,
	KCP_DISPATCH_ID = 1 << 4,
	KCP_FLAT_SCRATCH = 1 << 5,
	KCP_PRIVATE_SIZE = 1 << 6,
	KCP_WAVE32 = 1 << 10,
};

static int launch_error(struct sg_fault *fault, const struct sg_launch *l,
	const char *fmt, ...) __attribute__((format(printf, 3, 4)));

static int launch_error(
	struct sg_fault *fault, const struct sg_launch *l, const char *fmt, ...)
{
	va_list ap;
	int n;

	memset(fault, 0, sizeof(*fault));
	fault->kind = SG_FAULT_LAUNCH;
	n = snprintf(fault->text, sizeof(fault->text),
		"kernel '%.128s' stopped: ", l->kernel ? l->kernel : "?");
	va_start(ap, fmt);
	vsnprintf(fault->text + n, sizeof(fault->text) - (size_t)n, fmt, ap);
	va_end(ap);
	return -EIO;
}

int sg_kernel_init(struct sg_kernel *k, const struct sg_launch *l, bool watched,
	struct sg_fault *fault)
{
	const struct sg_packet *p = &l->packet;
	struct sg_code *c = l->code;
	uint64_t off = p->kernel_object - (uint64_t)c->base, items;
	struct rck_diag diag = {0};
	const uint8_t *kd;

	memset(k, 0, sizeof(*k));
	k->launch = l;
	if (p->kernel_object & 63 || !rck_range_ok(off, 64, c->size))
		return launch_error(fault, l,
			"kernel object 0x%llx is no descriptor of '%.64s'",
			(unsigned long long)p->kernel_object, c->name);
	kd = c->base + off;
	k->rsrc3 = rck_le32(kd + 44);
	k->rsrc1 = rck_le32(kd + 48);
	k->rsrc2 = rck_le32(kd + 52);
	k->properties = rck_le16(kd + 56);
	k->lanes = c->gen >= SG_GEN_10 && (k->properties & KCP_WAVE32) ? 32 : 64;
	if (sg_code_program(c, k->lanes, watched, &k->program, &diag))
		return launch_error(fault, l, "%s", diag.msg);
	k->ngroups = 1;
	items = 1;
	for (int d = 0; d < 3; d++) {
		if (!p->workgroup_size[d] || !p->grid_size[d])
			return launch_error(fault, l, "a grid or workgroup of size 0");
		k->groups[d] = (p->grid_size[d] + p->workgroup_size[d] - 1) /
			       p->workgroup_size[d];
		k->ngroups *= k->groups[d];
		items *= p->workgroup_size[d];
	}
	if (items > 1024)
		return launch_error(fault, l,
			"a workgroup of %llu work-items (1024 at most)",
			(unsigned long long)items);
	if (p->group_segment_size > 160 * 1024)
		return launch_error(fault, l, "%u bytes of LDS", p->group_segment_size);
	k->nwaves = (uint32_t)((items + k->lanes - 1) / k->lanes);
	k->scratch_lane =
		l->scratch_per_lane ? l->scratch_per_lane : p->private_segment_size;
	k->scratch_lane = (k->scratch_lane + 15) & ~15u;
	if (k->scratch_lane > 1u << 22)
		return launch_error(
			fault, l, "%u bytes of scratch a lane", k->scratch_lane);
	k->entry = sg_program_at(k->program, p->kernel_object + rck_le64(kd + 16));
	return 0;
}

size_t sg_kernel_vgpr_bytes(const struct sg_kernel *k)
{
	size_t rows = k->program->gen <= SG_GEN_940 ? SG_ROWS : SG_VGPRS;

	return rows * k->lanes * 4;
}

/* The rows that the descriptor claims: what a wave finds cleared. */
static size_t claimed_rows(const struct sg_kernel *k)
{
	uint32_t granule = k->program->gen <= SG_GEN_940 ? 8 : k->lanes == 32 ? 8 : 4;
	uint32_t rows = ((k->rsrc1 & 63) + 1) * granule;

	return rows > SG_VGPRS ? SG_VGPRS : rows;
}

static uint32_t clipped(const struct sg_kernel *k, const struct sg_group *g, int d)
{
	uint32_t size = k->launch->packet.workgroup_size[d];
	uint32_t left = k->launch->packet.grid_size[d] - g->id[d] * size;

	return left < size ? left : size;
}

static void work_item_ids(struct sg_wave *w, const struct sg_kernel *k)
{
	const struct sg_group *g = w->g;
	uint32_t sx = clipped(k, g, 0), sy = clipped(k, g, 1), sz = clipped(k, g, 2);
	uint32_t total = sx * sy * sz, n = w->lanes, first = w->index * n;
	uint32_t count = k->rsrc2 >> 11 & 3;
	uint64_t exec = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t id = first + i, x, y, z;

		if (id >= total)
			break;
		exec |= 1ull << i;
		x = id % sx;
		y = id / sx % sy;
		z = id / sx / sy;
		if (k->program->gen != SG_GEN_10) {
			w->v[i] = x | y << 10 | z << 20;
			continue;
		}
		w->v[i] = x;
		if (count >= 1)
			w->v[n + i] = y;
		if (count >= 2)
			w->v[2 * n + i] = z;
	}
	sg_set_s64(w, SG_S_EXEC, exec);
}

static uint32_t put64(struct sg_wave *w, uint32_t s, uint64_t v)
{
	sg_set_s64(w, s, v);
	return s + 2;
}

void sg_wave_init(struct sg_wave *w, struct sg_group *g, uint32_t index)
{
	const struct sg_kernel *k = &g->run->k;
	const struct sg_launch *l = k->launch;
	uint32_t s = 0, user = k->rsrc2 >> 1 & 31, n = k->lanes;
	uint64_t base;
	enum sg_gen gen = k->program->gen;

	memset(w->s, 0, sizeof(w->s));
	w->g = g;
	w->p = k->program;
	w->index = index;
	w->lanes = n;
	w->lane_all = n == 64 ? UINT64_MAX : UINT32_MAX;
	w->ip = k->entry;
	w->state = SG_RUN;
	w->executed = 0;
	w->schedule_mode = 0;
	w->gpr_idx = 0;
	w->barrier_phase = 0;
	w->released = false;
	w->v = g->vgprs + index * (sg_kernel_vgpr_bytes(k) / 4);
	memset(w->v, 0, claimed_rows(k) * n * 4);
	if (gen <= SG_GEN_940)
		memset(w->v + SG_VGPRS * n, 0, claimed_rows(k) * n * 4);
	w->scratch_lane = k->scratch_lane;
	w->scratch = g->scratch + (size_t)index * k->scratch_lane * n;
	memset(w->span, 0, sizeof(w->span));
	/* FLOAT_MODE, DX10_CLAMP, IEEE_MODE and FP16_OVFL of rsrc1. */
	w->mode = (k->rsrc1 >> 12 & 0xff) | (k->rsrc1 >> 21 & 1) << 8 |
		  (k->rsrc1 >> 23 & 1) << 9 | (k->rsrc1 >> 26 & 1) << 23;
	sg_mode_changed(w);

	base = (uint64_t)w->scratch;
	if (k->properties & KCP_PRIVATE_BUFFER) {
		w->s[s] = (uint32_t)base;
		w->s[s + 1] = (uint32_t)(base >> 32 & 0xffff) |
			      (gen >= SG_GEN_11 ? 3u << 30 : 1u << 31);
		w->s[s + 2] = k->scratch_lane * n;
		/* ADD_TID_ENABLE; INDEX_STRIDE 2 is 32 lanes, 3 is 64. */
		w->s[s + 3] = 1u << 23 | (n == 64 ? 3u : 2u) << 21;
		s += 4;
	}
	if (k->properties & KCP_DISPATCH_PTR)
		s = put64(w, s, l->packet_address);
	if (k->properties & KCP_QUEUE_PTR)
		s = put64(w, s, l->queue_address);
	if (k->properties & KCP_KERNARG_PTR)
		s = put64(w, s, l->packet.kernarg_address);
	if (k->properties & KCP_DISPATCH_ID)
		s = put64(w, s, l->dispatch_id);
	if (k->properties & KCP_FLAT_SCRATCH)
		s = put64(w, s, base);
	if (k->properties & KCP_PRIVATE_SIZE)
		w->s[s++] = k->scratch_lane;
	s = user; /* kernel arguments that would be preloaded are loaded by the prologue
		   */
	if (gen < SG_GEN_12) {
		for (int d = 0; d < 3; d++)
			if (k->rsrc2 >> (7 + d) & 1)
				w->s[s++] = g->id[d];
		if (k->rsrc2 >> 10 & 1)
			w->s[s++] = k->nwaves; /* WORKGROUP_INFO */
		if (k->rsrc2 & 1)
			w->s[s] = 0; /* the wave's offset is in the base already */
	}
	/* Architected: ttmp9 x, ttmp7 y and z, ttmp8 the wave's number in bits 29:25. */
	w->s[SG_S_TTMP + 9] = g->id[0];
	w->s[SG_S_TTMP + 7] = g->id[1] | g->id[2] << 16;
	w->s[SG_S_TTMP + 8] = index << 25;
	if (gen <= SG_GEN_940)
		sg_set_s64(w, SG_S_FLAT_SCRATCH, base);
	sg_set_s64(w, SG_S_FLAT_LO, base);
	work_item_ids(w, k);
	sg_exec_changed(w);
	if (!sg_exec(w))
		w->state = SG_DONE; /* a clipped group needs fewer waves */
}

void sg_wave_run(struct sg_wave *w, int64_t quantum)
{
	const struct sg_inst *in = w->ip;

	w->state = SG_RUN;
	w->quantum = quantum;
	if (w->g->run->watch) {
		sg_watch_run(w);
		return;
	}
	while (in)
		in = in->exec(w, in);
}

bool sg_range_slow(struct sg_wave *w, uint64_t addr, uint64_t size)
{
	const struct sg_launch *l = w->g->run->k.launch;
	struct sg_span *s = &w->span[w->span_next & 3];
	uint64_t lo = 0, hi = UINT64_MAX;

	if (l->range && l->range(l->range_ctx, addr, &lo, &hi))
		return false;
	if (addr < lo || addr >= hi || size > hi - addr)
		return false;
	w->span_next++;
	s->lo = lo;
	s->hi = hi;
	return true;
}

void sg_near_block(struct sg_wave *w, uint64_t addr, char *text, size_t cap)
{
	const struct sg_launch *l = w->g->run->k.launch;
	uint64_t lo, hi;

	snprintf(text, cap, "no allocation there");
	for (uint64_t back = 1; l->range && back <= NEAR && back <= addr; back *= 2) {
		if (l->range(l->range_ctx, addr - back, &lo, &hi))
			continue;
		if (addr < hi) /* its end is beyond the block's */
			snprintf(text, cap, "the block of %llu bytes ends %llu behind",
				(unsigned long long)(hi - lo),
				(unsigned long long)(hi - addr));
		else
			snprintf(text, cap,
				"no allocation there, %llu bytes past the end of a block "
				"of %llu",
				(unsigned long long)(addr - hi),
				(unsigned long long)(hi - lo));
		return;
	}
}

uint64_t sg_realtime(const struct sg_wave *w);
uint64_t sg_realtime(const struct sg_wave *w)
{
	uint64_t hz = w->g->run->k.launch->timestamp_hz;
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	if (!hz)
		hz = 100000000;
	return (uint64_t)ts.tv_sec * hz +
	       (uint64_t)((unsigned __int128)ts.tv_nsec * hz / 1000000000u);
}

void sg_interrupt(struct sg_wave *w);
void sg_interrupt(struct sg_wave *w)
{
	const struct sg_launch *l = w->g->run->k.launch;

	if (l->interrupt)
		l->interrupt(l->interrupt_ctx, w->s[SG_S_M0]);
}

void sg_place(const struct sg_kernel *k, uint64_t pc, char *text, size_t cap)
{
	uint64_t kd = k->launch->packet.kernel_object, entry = k->entry->pc;
	char line[360];
	int64_t off;

	/* what does nothing is left out of what runs, also at the kernel's beginning */
	if (kd)
		entry = kd + rck_le64((const uint8_t *)(uintptr_t)kd + 16);
	off = (int64_t)(pc - entry);

	*text = '\0';
	if (!pc)
		return;
	if (sg_code_line(k->program->code, pc, line, sizeof(line)))
		snprintf(text, cap, "%c0x%llx (%s)", off < 0 ? '-' : '+',
			(unsigned long long)(off < 0 ? -off : off), line);
	else
		snprintf(text, cap, "%c0x%llx", off < 0 ? '-' : '+',
			(unsigned long long)(off < 0 ? -off : off));
}

const struct sg_inst *sg_stop(struct sg_wave *w, const struct sg_inst *in,
	enum sg_fault_kind kind, uint64_t address, const char *fmt, ...)
{
	struct sg_run *r = w->g->run;
	struct sg_program *p = (struct sg_program *)w->p;
	const char *kernel = r->k.launch->kernel;
	char reason[256], text[160] = "", at[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(reason, sizeof(reason), fmt, ap);
	va_end(ap);
	w->state = SG_FAULTED;
	w->ip = in;
	pthread_mutex_lock(&r->lock);
	if (!r->stop) {
		struct sg_fault *f = r->fault;

		f->kind = kind;
		f->pc = in->pc;
		f->address = address;
		memcpy(f->group, w->g->id, sizeof(f->group));
		f->wave = w->index;
		/* An illegal instruction's reason has its text already. */
		if (in->op != &sg_op_illegal && in->pc)
			sg_program_text_locked(p, in->pc, text, sizeof(text));
		sg_place(&r->k, in->pc, at, sizeof(at));
		snprintf(f->text, sizeof(f->text),
			"kernel '%.128s' stopped%s%s: %s%s%s (workgroup %u,%u,%u wave "
			"%u)",
			kernel ? kernel : "?", *at ? " at " : "", at, text,
			*text ? ": " : "", reason, f->group[0], f->group[1], f->group[2],
			f->wave);
		r->stop = 1;
	}
	pthread_mutex_unlock(&r->lock);
	return NULL;
}
