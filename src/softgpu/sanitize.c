/*
 * The sanitizer. It keeps, beside the run:
 *   - for each LDS dword: whether it was written, and who touched it last since the last
 *     barrier; for each global dword that a kernel touches, who touched it;
 *   - for each vector register and scratch dword: the lanes in which something wrote it.
 *     Arithmetic passes the state on (a result of an unwritten source is unwritten); only
 *     its use as an address or as data of global memory or LDS is a finding, since
 *     compilers do save and move registers that hold nothing;
 *   - for each vector register: the memory operation that has still to fill it.
 * Two waves of a workgroup that touch one dword between barriers, one of them writing,
 * are a race unless both accesses are atomics. Across workgroups the same holds, unless
 * the kernel uses atomics on global memory, by which it may order things.
 */
#include "softgpu/sanitize.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "softgpu/ops-mem.h"

enum finding {
	SAN_RACE_LDS,
	SAN_RACE_GLOBAL,
	SAN_UNINIT_LDS,
	SAN_UNINIT_REGISTER,
	SAN_BOUNDS_LDS,
	SAN_WAIT,
	SAN_KINDS,
};

static const char *const names[] = {"lds-race", "global-race", "uninitialized-lds",
	"uninitialized-register", "lds-out-of-bounds", "missing-wait"};

/* Who touched a dword: wave, group and barrier phase of the last write and read. */
struct touch {
	uint64_t addr; /* hash key; LDS: unused */
	uint32_t wgroup, rgroup;
	uint16_t wwave, rwave, wphase, rphase;
	bool written, read, watomic, ratomic, many; /* many: read by several waves */
	bool init;
};

struct shadow_wave {
	uint64_t defined[SG_ROWS]; /* lanes in which the register holds something */
	uint64_t *scratch;         /* a mask of lanes a dword */
	uint32_t scratch_dwords;
	uint8_t pending[SG_VGPRS]; /* 1: a vector load, 2: LDS, 4: either (flat) */
	uint32_t order[SG_VGPRS];  /* of the load that fills it */
	uint32_t loads, lds;       /* issued */
};

struct shadow_group {
	struct shadow_group *next;
	uint64_t index;
	uint32_t dwords, nwaves;
	struct touch *lds;
	struct shadow_wave *waves;
};

#define SEEN 512

struct sg_san {
	FILE *out;
	struct shadow_group *groups;
	struct touch *global; /* open addressing */
	size_t used, size;
	bool atomics; /* the kernel has used atomics on global memory */
	struct {
		uint64_t pc;
		enum finding kind;
	} seen[SEEN];
	unsigned int n_seen;
};

struct sg_san *sg_san_new(FILE *out)
{
	struct sg_san *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->out = out;
	s->size = 1 << 16;
	s->global = calloc(s->size, sizeof(*s->global));
	if (!s->global) {
		free(s);
		return NULL;
	}
	return s;
}

static void group_shadow_free(struct shadow_group *g)
{
	for (uint32_t i = 0; g->waves && i < g->nwaves; i++)
		free(g->waves[i].scratch);
	free(g->waves);
	free(g->lds);
	free(g);
}

void sg_san_free(struct sg_san *s)
{
	if (!s)
		return;
	while (s->groups) {
		struct shadow_group *n = s->groups->next;

		group_shadow_free(s->groups);
		s->groups = n;
	}
	free(s->global);
	free(s);
}

static void report(struct sg_san *s, struct sg_wave *w, const struct sg_inst *in,
	enum finding kind, const char *fmt, ...) __attribute__((format(printf, 5, 6)));

static void report(struct sg_san *s, struct sg_wave *w, const struct sg_inst *in,
	enum finding kind, const char *fmt, ...)
{
	const char *kernel = w->g->run->k.launch->kernel;
	char text[160] = "", what[200];
	va_list ap;

	for (unsigned int i = 0; i < s->n_seen; i++)
		if (s->seen[i].pc == in->pc && s->seen[i].kind == kind)
			return;
	if (s->n_seen == SEEN)
		return;
	s->seen[s->n_seen].pc = in->pc;
	s->seen[s->n_seen++].kind = kind;
	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	sg_program_text_locked((struct sg_program *)w->p, in->pc, text, sizeof(text));
	fprintf(s->out,
		"sanitize: [%s] kernel '%s' +0x%llx: %s: %s (workgroup %u,%u,%u wave "
		"%u)\n",
		names[kind], kernel ? kernel : "?",
		(unsigned long long)(in->pc - w->g->run->k.entry->pc), text, what,
		w->g->id[0], w->g->id[1], w->g->id[2], w->index);
	fflush(s->out);
}

/* ---- shadows ---- */

static struct shadow_group *group_of(struct sg_san *s, struct sg_wave *w)
{
	struct shadow_group **at, *g;
	uint32_t rows;

	for (at = &s->groups; *at; at = &(*at)->next)
		if ((*at)->index == w->g->index)
			return *at;
	g = calloc(1, sizeof(*g));
	if (!g)
		return NULL;
	g->index = w->g->index;
	g->nwaves = w->g->nwaves;
	g->dwords = w->g->lds_size / 4;
	g->lds = calloc(g->dwords + 1, sizeof(*g->lds));
	g->waves = calloc(g->nwaves, sizeof(*g->waves));
	if (!g->lds || !g->waves) {
		group_shadow_free(g);
		return NULL;
	}
	/* Work-item numbers are there from the start. */
	rows = w->p->gen == SG_GEN_10 ? 1 + (w->g->run->k.rsrc2 >> 11 & 3) : 1;
	for (uint32_t i = 0; i < g->nwaves; i++) {
		for (uint32_t r = 0; r < rows; r++)
			g->waves[i].defined[r] = UINT64_MAX;
		g->waves[i].scratch_dwords = w->scratch_lane / 4;
		g->waves[i].scratch =
			calloc(g->waves[i].scratch_dwords + 1, sizeof(uint64_t));
		if (!g->waves[i].scratch) {
			group_shadow_free(g);
			return NULL;
		}
	}
	g->next = s->groups;
	s->groups = g;
	return g;
}

static struct touch *global_at(struct sg_san *s, uint64_t addr)
{
	uint64_t h;

	if (s->used * 2 > s->size) {
		struct touch *old = s->global;
		size_t n = s->size;
		struct touch *bigger = calloc(2 * n, sizeof(*bigger));

		if (!bigger)
			return NULL;
		s->global = bigger;
		s->size = 2 * n;
		for (size_t i = 0; i < n; i++)
			if (old[i].addr) {
				for (h = old[i].addr * 0x9e3779b97f4a7c15ull >> 20;; h++)
					if (!bigger[h & (s->size - 1)].addr)
						break;
				bigger[h & (s->size - 1)] = old[i];
			}
		free(old);
	}
	for (h = addr * 0x9e3779b97f4a7c15ull >> 20;; h++) {
		struct touch *t = &s->global[h & (s->size - 1)];

		if (t->addr == addr)
			return t;
		if (!t->addr) {
			t->addr = addr;
			s->used++;
			return t;
		}
	}
}

/* Notes an access; true when it races with one before. */
static bool touch(
	struct touch *t, const struct sg_wave *w, bool write, bool atomic, bool across)
{
	uint32_t group = (uint32_t)w->g->index;
	uint16_t wave = (uint16_t)w->index, phase = (uint16_t)w->g->phase;
	bool race = false;

	if (t->written && !(atomic && t->watomic)) {
		if (t->wgroup == group)
			race = t->wwave != wave && t->wphase == phase;
		else
			race = across;
	}
	if (write && t->read && !(atomic && t->ratomic)) {
		if (t->rgroup == group)
			race |= (t->rwave != wave || t->many) && t->rphase == phase;
		else
			race |= across;
	}
	if (write) {
		t->written = true;
		t->watomic = atomic;
		t->wgroup = group;
		t->wwave = wave;
		t->wphase = phase;
	}
	if (!write || atomic) {
		t->many = t->read && t->rgroup == group && t->rphase == phase &&
			  (t->rwave != wave || t->many);
		t->read = true;
		t->ratomic = atomic;
		t->rgroup = group;
		t->rwave = wave;
		t->rphase = phase;
	}
	return race;
}

/* ---- registers ---- */

static uint64_t defined(
	const struct shadow_wave *v, const struct sg_wave *w, const struct sg_src *s)
{
	unsigned int row = s->off / w->lanes, n = sg_type_words(s->type);
	uint64_t m = UINT64_MAX;

	if (s->kind != SG_K_VGPR)
		return m;
	for (unsigned int k = 0; k < n && row + k < SG_ROWS; k++)
		m &= v->defined[row + k];
	return m;
}

static void define(struct shadow_wave *v, const struct sg_wave *w, const struct sg_dst *d,
	uint64_t mask, uint64_t value)
{
	unsigned int row = d->off / w->lanes, n = sg_type_words(d->type);

	if (d->kind != SG_K_VGPR)
		return;
	for (unsigned int k = 0; k < n && row + k < SG_ROWS; k++)
		v->defined[row + k] = (v->defined[row + k] & ~mask) | (value & mask);
}

static void need_defined(struct sg_san *s, struct sg_wave *w, const struct sg_inst *in,
	const struct shadow_wave *v, const struct sg_src *src, const char *use)
{
	uint64_t bad = sg_exec(w) & ~defined(v, w, src);

	if (bad)
		report(s, w, in, SAN_UNINIT_REGISTER,
			"v%u is %s, and nothing wrote it in lane %d", src->off / w->lanes,
			use, __builtin_ctzll(bad));
}

/* ---- waits ---- */

/* The number behind "name(" in a wait's text; -1 when it is not there. */
static int wait_count(const char *text, const char *name)
{
	const char *p = strstr(text, name);

	return p && p[strlen(name)] == '(' ? atoi(p + strlen(name) + 1) : -1;
}

static void waited(struct shadow_wave *v, uint8_t bit, uint32_t issued, int left)
{
	if (left < 0)
		return;
	for (unsigned int r = 0; r < SG_VGPRS; r++)
		if (v->pending[r] & bit && v->order[r] + (uint32_t)left <= issued)
			v->pending[r] = 0;
}

static void step_wait(struct shadow_wave *v, const char *text)
{
	int vm = wait_count(text, "vmcnt"), lgkm = wait_count(text, "lgkmcnt");
	int imm = -1;
	const char *x = strstr(text, "0x");

	if (x)
		imm = (int)strtol(x, NULL, 16);
	if (!strncmp(text, "s_wait_loadcnt_dscnt", 20)) {
		vm = imm >> 8 & 63;
		lgkm = imm & 63;
	} else if (!strncmp(text, "s_wait_loadcnt", 14)) {
		vm = imm;
	} else if (!strncmp(text, "s_wait_dscnt", 12)) {
		lgkm = imm;
	} else if (!strncmp(text, "s_waitcnt ", 10) && vm < 0 && lgkm < 0 &&
		   strstr(text, " 0") && imm <= 0) {
		vm = lgkm = 0;
	}
	waited(v, 1 | 4, v->loads, vm);
	waited(v, 2 | 4, v->lds, lgkm);
}

static void check_pending(struct sg_san *s, struct sg_wave *w, const struct sg_inst *in,
	struct shadow_wave *v, uint32_t off, unsigned int words)
{
	unsigned int row = off / w->lanes;

	for (unsigned int k = 0; k < words && row + k < SG_VGPRS; k++)
		if (v->pending[row + k]) {
			report(s, w, in, SAN_WAIT,
				"v%u is used before s_waitcnt for the load of it",
				row + k);
			v->pending[row + k] = 0;
		}
}

static void set_pending(struct shadow_wave *v, const struct sg_wave *w,
	const struct sg_dst *d, uint8_t kind)
{
	unsigned int row = d->off / w->lanes;

	for (unsigned int k = 0; k < sg_type_words(d->type) && row + k < SG_VGPRS; k++) {
		v->pending[row + k] = kind;
		v->order[row + k] = kind == 2 ? v->lds : v->loads;
	}
}

/* ---- memory ---- */

static void lds_access(struct sg_san *s, struct sg_wave *w, const struct sg_inst *in,
	struct shadow_group *g, uint64_t off, unsigned int bytes, bool write, bool atomic,
	unsigned int lane)
{
	off = (uint32_t)off;
	if (off + bytes > w->g->lds_size) {
		report(s, w, in, SAN_BOUNDS_LDS,
			"LDS offset 0x%llx of %u bytes, lane %u: the workgroup has %u",
			(unsigned long long)off, bytes, lane, w->g->lds_size);
		return;
	}
	for (uint64_t d = off / 4; d <= (off + bytes - 1) / 4; d++) {
		struct touch *t = &g->lds[d];

		if (touch(t, w, write, atomic, false))
			report(s, w, in, SAN_RACE_LDS,
				"LDS offset 0x%llx, lane %u: wave %u touched it since "
				"the last barrier",
				(unsigned long long)d * 4, lane,
				t->written && t->wwave != w->index ? t->wwave : t->rwave);
		if ((!write || atomic) && !t->init)
			report(s, w, in, SAN_UNINIT_LDS,
				"LDS offset 0x%llx, lane %u: nothing wrote it",
				(unsigned long long)d * 4, lane);
		if (write)
			t->init = true;
	}
}

static void global_touch(struct sg_san *s, struct sg_wave *w, const struct sg_inst *in,
	uint64_t addr, unsigned int bytes, bool write, bool atomic, unsigned int lane)
{
	for (uint64_t a = addr & ~3ull; a < addr + bytes; a += 4) {
		struct touch *t = global_at(s, a), before;

		if (!t)
			return;
		before = *t;
		if (touch(t, w, write, atomic, !s->atomics && bytes >= 4))
			report(s, w, in, SAN_RACE_GLOBAL,
				"0x%llx, lane %u: workgroup %u wave %u touched it with "
				"no barrier between",
				(unsigned long long)a, lane,
				before.written ? before.wgroup : before.rgroup,
				before.written ? before.wwave : before.rwave);
	}
}

static void scratch_access(struct shadow_wave *v, struct sg_wave *w,
	const struct sg_inst *in, uint64_t off, bool write, unsigned int lane)
{
	unsigned int words = sg_elem_words(SG_MEM_ELEM(in->op));
	uint64_t bit = 1ull << lane;

	for (unsigned int k = 0; k < words && off / 4 + k < v->scratch_dwords; k++) {
		uint64_t *cell = &v->scratch[off / 4 + k], src;

		if (write) {
			src = in->src[SG_M_DATA].kind == SG_K_VGPR
				      ? v->defined[in->src[SG_M_DATA].off / w->lanes + k]
				      : UINT64_MAX;
			*cell = (*cell & ~bit) | (src & bit);
		} else if (in->ndst) {
			uint64_t *d = &v->defined[in->dst[0].off / w->lanes + k];

			*d = (*d & ~bit) | (*cell & bit);
		}
	}
}

static void step_vmem(struct sg_san *s, struct sg_wave *w, const struct sg_inst *in,
	struct shadow_group *g, struct shadow_wave *v)
{
	enum sg_space space = SG_MEM_SPACE(in->op);
	enum sg_dir dir = SG_MEM_DIR(in->op);
	unsigned int bytes = sg_elem_bytes(SG_MEM_ELEM(in->op)), n = w->lanes;
	bool write = dir != SG_LOAD, atomic = dir == SG_ATOMIC,
	     private_ = space == SG_SCRATCH;
	const struct sg_src *a = &in->src[SG_M_ADDR], *b = &in->src[SG_M_BASE];
	const uint32_t *r = space == SG_BUFFER ? sg_sp(w, in, SG_M_BASE) : NULL;

	if (a->kind)
		need_defined(s, w, in, v, a, "an address");
	if (r && (r[3] >> 23 & 1))
		private_ = true;
	if (in->ndst)
		define(v, w, &in->dst[0], sg_exec(w), UINT64_MAX);
	for (unsigned int i = 0; i < n; i++) {
		uint64_t addr = (uint64_t)in->imm;

		if (!w->em[i])
			continue;
		if (space == SG_GLOBAL || space == SG_FLAT) {
			addr += b->kind ? sg_sp64(w, in, SG_M_BASE) + w->v[a->off + i]
					: w->v[a->off + i] |
						  (uint64_t)w->v[a->off + i + n] << 32;
		} else if (space == SG_SCRATCH) {
			addr += (a->kind ? w->v[a->off + i] : 0) +
				(b->kind ? *sg_sp(w, in, SG_M_BASE) : 0);
		} else {
			addr += a->kind ? w->v[a->off + i] : 0;
			if (private_)
				addr += ((r[0] | (uint64_t)(r[1] & 0xffff) << 32) +
						*sg_sp(w, in, SG_M_OFF) -
						(uint64_t)w->scratch) /
					n;
			else
				return; /* ordinary buffers check themselves */
		}
		if (private_ || (space == SG_FLAT && addr >> 48 == 2)) {
			scratch_access(v, w, in, (uint32_t)addr, write, i);
		} else if (space == SG_FLAT && addr >> 48 == 1) {
			lds_access(s, w, in, g, addr, bytes, write, atomic, i);
		} else {
			/* Loads past the near caches are how atomic loads are made. */
			s->atomics |= atomic ||
				      (!write && (in->mods->glc || in->mods->coherent));
			if (write && in->src[SG_M_DATA].kind &&
				!(defined(v, w, &in->src[SG_M_DATA]) >> i & 1))
				need_defined(s, w, in, v, &in->src[SG_M_DATA], "stored");
			global_touch(s, w, in, addr, bytes, write,
				atomic ||
					(!write && (in->mods->glc || in->mods->coherent)),
				i);
		}
	}
	if (dir == SG_LOAD || in->ndst) {
		v->loads++;
		if (space == SG_FLAT)
			v->lds++;
		if (in->ndst)
			set_pending(v, w, &in->dst[0], space == SG_FLAT ? 4 : 1);
	} else if (w->p->gen <= SG_GEN_940) {
		v->loads++; /* gfx9 counts stores too */
	}
}

static void step_lds(struct sg_san *s, struct sg_wave *w, const struct sg_inst *in,
	struct shadow_group *g, struct shadow_wave *v)
{
	unsigned int form = in->op->arg & 255,
		     bytes = sg_elem_bytes((enum sg_elem)(in->op->arg >> 8 & 255));
	bool two = form == 2 || form == 3 || form == 7, rmw = form >= 4 && form <= 7;
	bool write = form == 1 || form == 3 || rmw;
	unsigned int scale = in->op->arg >> 25 & 1 ? 64 : 1;

	if (form >= 8) /* ds_read_addtid: addresses without registers */
		return;
	need_defined(s, w, in, v, &in->src[0], "an address");
	for (unsigned int k = 1; k < in->nsrc && write; k++)
		need_defined(s, w, in, v, &in->src[k], "stored");
	for (unsigned int i = 0; i < w->lanes; i++) {
		uint64_t a = w->v[in->src[0].off + i];

		if (!w->em[i])
			continue;
		if (!two) {
			lds_access(
				s, w, in, g, a + (uint64_t)in->imm, bytes, write, rmw, i);
			continue;
		}
		lds_access(s, w, in, g, a + (uint64_t)in->mods->offset0 * bytes * scale,
			bytes, write, rmw, i);
		lds_access(s, w, in, g, a + (uint64_t)in->mods->offset1 * bytes * scale,
			bytes, write, rmw, i);
	}
	v->lds++;
	if (in->ndst) {
		define(v, w, &in->dst[0], sg_exec(w), UINT64_MAX);
		set_pending(v, w, &in->dst[0], 2);
	}
}

static void step_valu(struct sg_san *s, struct sg_wave *w, const struct sg_inst *in,
	struct shadow_wave *v)
{
	/* Their low word needs the sources' low words only. */
	static const char *const low_first[] = {"v_mad_u64_u32", "v_mad_i64_i32",
		"v_lshlrev_b64", "v_lshl_add_u64", "v_add_u64", "v_mov_b64",
		"v_pk_mov_b32", "v_pk_add_f32", "v_pk_mul_f32", "v_pk_fma_f32"};
	uint64_t all = UINT64_MAX, low = UINT64_MAX, exec = sg_exec(w);

	for (unsigned int k = 0; k < in->nsrc; k++)
		if (in->src[k].kind == SG_K_VGPR) {
			check_pending(s, w, in, v, in->src[k].off,
				sg_type_words(in->src[k].type));
			all &= defined(v, w, &in->src[k]);
			low &= v->defined[in->src[k].off / w->lanes];
		}
	if (!in->ndst || in->dst[0].kind != SG_K_VGPR)
		return;
	/* v_writelane writes one lane, whatever exec; permutations move states with
	 * values. */
	if (!strcmp(in->op->name, "v_writelane_b32"))
		define(v, w, &in->dst[0], UINT64_MAX, UINT64_MAX);
	else
		define(v, w, &in->dst[0], exec, in->mods->dpp ? UINT64_MAX : all);
	for (unsigned int k = 0; in->wide && k < sizeof(low_first) / sizeof(*low_first);
		k++)
		if (!strcmp(in->op->name, low_first[k])) {
			uint64_t *d = &v->defined[in->dst[0].off / w->lanes];

			*d = (*d & ~exec) | (low & exec);
		}
}

static void group_forget(struct sg_san *s, struct shadow_group *g)
{
	struct shadow_group **at;

	for (at = &s->groups; *at != g; at = &(*at)->next)
		;
	*at = g->next;
	group_shadow_free(g);
}

void sg_san_step(struct sg_san *s, struct sg_wave *w, const struct sg_inst *in)
{
	struct shadow_group *g = group_of(s, w);
	struct shadow_wave *v;

	if (!g || !in->op->name)
		return;
	v = &g->waves[w->index];
	if (in->exec == sg_exec_vopd) {
		step_valu(s, w, in->pair, v);
		step_valu(s, w, in->pair + 1, v);
		return;
	}
	if (!strncmp(in->op->name, "s_wait", 6)) {
		char text[160] = "";

		sg_program_text_locked(
			(struct sg_program *)w->p, in->pc, text, sizeof(text));
		step_wait(v, text);
		return;
	}
	if (!strcmp(in->op->name, "s_endpgm")) {
		if (w->g->live == 1)
			group_forget(s, g);
		return;
	}
	if (in->op->flags & SG_OP_VALU) {
		step_valu(s, w, in, v);
		return;
	}
	for (unsigned int k = 0; k < in->nsrc && (in->op->flags & SG_OP_MEM); k++)
		if (in->src[k].kind == SG_K_VGPR)
			check_pending(s, w, in, v, in->src[k].off,
				sg_type_words(in->src[k].type));
	if (!strncmp(in->op->name, "ds_", 3) && in->op->flags & SG_OP_MEM)
		step_lds(s, w, in, g, v);
	else if (strncmp(in->op->name, "s_", 2) && in->op->flags & SG_OP_MEM)
		step_vmem(s, w, in, g, v);
	else if (in->ndst) /* permutations through LDS, matrices */
		define(v, w, &in->dst[0], UINT64_MAX, UINT64_MAX);
}
