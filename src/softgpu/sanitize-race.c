/*
 * Races. Two waves of a workgroup that touch one byte between barriers, one of them
 * writing, race unless both accesses are atomics. So do two workgroups, unless the later
 * of the two has used atomics on global memory (or loads past the near caches, which is
 * how atomic loads are made), by which it may have waited for the other. Lanes of one
 * wave never race: a wave does its accesses one after another.
 *
 * A dword has a cell with its last write and its last read; each is who (workgroup, phase
 * between barriers, wave). Reads by several waves or workgroups are joined, so that a
 * later write meets them all. Where less than dwords is accessed, each byte has a cell.
 *
 * Nothing orders launches that run at one time, or the second had not begun: each access
 * is held against the cells of the others, too, unless its workgroup has used atomics. An
 * access is noted before the others' are looked at, so that of two at once one is seen.
 */
#include "softgpu/sanitize-parts.h"

#include <stdatomic.h>
#include <stdlib.h>

/* A record: flags, then who. 0: nobody yet. */
enum {
	ATOMIC = 1 << 4,
	VALID = 1 << 5,
	WAVES = 1 << 6,  /* several waves of the workgroup, in this phase */
	GROUPS = 1 << 7, /* several workgroups */
	WAVE_SHIFT = 8,
	PHASE_SHIFT = 13, /* 19 bits */
	GROUP_SHIFT = 32,
};

static uint64_t me(const struct sg_san_step *t)
{
	uint32_t phase = t->w->g->phase + t->g->more_phases;

	return t->w->g->index << GROUP_SHIFT |
	       (uint64_t)(phase & 0x7ffff) << PHASE_SHIFT |
	       (uint64_t)(t->w->index & 31) << WAVE_SHIFT | VALID;
}

static uint32_t group_of(uint64_t record)
{
	return (uint32_t)(record >> GROUP_SHIFT);
}

static uint32_t wave_of(uint64_t record)
{
	return record >> WAVE_SHIFT & 31;
}

static bool same_phase(uint64_t a, uint64_t b)
{
	return a >> PHASE_SHIFT == b >> PHASE_SHIFT;
}

/* ---- the shadow of global memory: a tree by address, made as it is touched ---- */

#define LEVEL_BITS 12
#define LEVEL_SIZE (1u << LEVEL_BITS)

#define PAGE_SIZE 4096u

struct page {
	pthread_mutex_t lock;
	struct sg_san_cell *bytes; /* instead of dwords, once there is need */
	struct sg_san_cell dwords[PAGE_SIZE / 4];
};

struct sg_san_pages {
	_Atomic(void *) at[LEVEL_SIZE];
};

struct sg_san_pages *sg_san_pages_new(void)
{
	return calloc(1, sizeof(struct sg_san_pages));
}

void sg_san_pages_free(struct sg_san_pages *p)
{
	for (unsigned int i = 0; p && i < LEVEL_SIZE; i++) {
		struct sg_san_pages *q = p->at[i];

		for (unsigned int j = 0; q && j < LEVEL_SIZE; j++) {
			struct sg_san_pages *r = q->at[j];

			for (unsigned int k = 0; r && k < LEVEL_SIZE; k++) {
				struct page *page = r->at[k];

				if (!page)
					continue;
				pthread_mutex_destroy(&page->lock);
				free(page->bytes);
				free(page);
			}
			free(r);
		}
		free(q);
	}
	free(p);
}

/* What is at a place of the tree, made when nothing is; NULL: out of memory. */
static void *place(_Atomic(void *) *at, size_t size)
{
	void *p = *at, *none = NULL;

	if (p)
		return p;
	p = calloc(1, size);
	if (p && size == sizeof(struct page))
		pthread_mutex_init(&((struct page *)p)->lock, NULL);
	if (p && !atomic_compare_exchange_strong(at, &none, p)) {
		free(p); /* another thread was first */
		p = none;
	}
	return p;
}

static struct page *page_of(struct sg_san_pages *p, uint64_t addr)
{
	p = place(&p->at[addr >> 36 & (LEVEL_SIZE - 1)], sizeof(*p));
	if (p)
		p = place(&p->at[addr >> 24 & (LEVEL_SIZE - 1)], sizeof(*p));
	return p ? place(&p->at[addr >> 12 & (LEVEL_SIZE - 1)], sizeof(struct page))
		 : NULL;
}

/* ---- cells ---- */

static bool conflicts(const struct sg_san_step *t, uint64_t record, uint64_t who,
	bool atomic, bool read)
{
	if (!(record & VALID) || (atomic && record & ATOMIC))
		return false;
	if (group_of(record) == group_of(who)) {
		if (same_phase(record, who) &&
			(wave_of(record) != wave_of(who) || record & WAVES))
			return true;
		if (!(record & GROUPS))
			return false;
	}
	/* another group's: an atomic store looks like any other, so that what was read
	 * by atomics may be stored */
	return !t->g->atomics && !(read && record & ATOMIC);
}

static uint64_t join_read(uint64_t old, uint64_t who, bool atomic)
{
	uint64_t new = who | (atomic ? ATOMIC : 0);

	if (!(old & VALID))
		return new;
	if (group_of(old) != group_of(who))
		return new | GROUPS;
	if (!same_phase(old, who))
		return new | (old & GROUPS);
	new |= old &(WAVES | GROUPS);
	if (!(old & ATOMIC))
		new &= ~(uint64_t)ATOMIC;
	return wave_of(old) == wave_of(who) ? new : new | WAVES;
}

/* Notes an access; returns the record that it races with, or 0, and where that was. */
static uint64_t touch(const struct sg_san_step *t, struct sg_san_cell *c, bool write,
	bool atomic, uint32_t *pc)
{
	uint64_t who = me(t), race = 0;
	uint32_t here = (uint32_t)(t->in->pc - (uint64_t)t->w->p->code->base);

	if (conflicts(t, c->write, who, atomic, false)) {
		race = c->write;
		*pc = c->write_pc;
	} else if (write && conflicts(t, c->read, who, atomic, true)) {
		race = c->read;
		*pc = c->read_pc;
	}
	if (write) {
		c->write = who | (atomic ? ATOMIC : 0);
		c->write_pc = here;
	}
	if (!write || atomic) {
		c->read = join_read(c->read, who, atomic);
		c->read_pc = here;
	}
	return race;
}

static void report(const struct sg_san_step *t, enum sg_san_kind kind, uint64_t address,
	unsigned int lane, uint64_t record, uint32_t pc)
{
	const struct sg_kernel *k = &t->w->g->run->k;
	uint32_t g = group_of(record);
	char where[400], who[80];

	sg_place(k, (uint64_t)t->w->p->code->base + pc, where, sizeof(where));
	if (g == (uint32_t)t->w->g->index && !(record & GROUPS))
		snprintf(who, sizeof(who), "wave %u", wave_of(record));
	else
		snprintf(who, sizeof(who), "workgroup %u,%u,%u wave %u", g % k->groups[0],
			g / k->groups[0] % k->groups[1], g / k->groups[0] / k->groups[1],
			wave_of(record));
	sg_san_report(t, kind,
		"%s 0x%llx, lane %u: %s touched it at %s, with no barrier between",
		kind == SAN_RACE_LDS ? "LDS offset" : "address",
		(unsigned long long)address, lane, who, where);
}

/* Cells of bytes as those of their dwords are. */
static struct sg_san_cell *split(const struct sg_san_cell *dwords, size_t n)
{
	struct sg_san_cell *bytes = malloc(4 * n * sizeof(*bytes));

	for (size_t i = 0; bytes && i < 4 * n; i++)
		bytes[i] = dwords[i / 4];
	return bytes;
}

void sg_san_touch_lds(const struct sg_san_step *t, uint32_t off, unsigned int bytes,
	bool write, bool atomic, unsigned int lane)
{
	struct sg_san_group *g = t->g;
	unsigned int each;

	if (g->nwaves < 2)
		return;
	if ((bytes | off) & 3 && !g->lds_by_byte) {
		g->lds_by_byte = split(g->lds, g->dwords + 1);
		if (!g->lds_by_byte)
			return;
	}
	each = g->lds_by_byte ? 1 : 4;
	for (uint32_t a = off; a < off + bytes; a += each) {
		uint32_t pc;
		uint64_t r =
			touch(t, g->lds_by_byte ? &g->lds_by_byte[a] : &g->lds[a / 4],
				write, atomic, &pc);

		if (r) {
			report(t, SAN_RACE_LDS, a, lane, r, pc);
			return;
		}
	}
}

static void touch_lane(const struct sg_san_step *t, struct page *page, uint64_t addr,
	unsigned int bytes, bool write, bool atomic, unsigned int lane)
{
	unsigned int each, off = addr % PAGE_SIZE;

	if ((bytes | off) & 3 && !page->bytes) {
		page->bytes = split(page->dwords, PAGE_SIZE / 4);
		if (!page->bytes)
			return;
	}
	each = page->bytes ? 1 : 4;
	for (unsigned int a = off; a < off + bytes; a += each) {
		uint32_t pc;
		uint64_t r =
			touch(t, page->bytes ? &page->bytes[a] : &page->dwords[a / 4],
				write, atomic, &pc);

		if (r) {
			report(t, SAN_RACE_GLOBAL, addr - off + a, lane, r, pc);
			return;
		}
	}
}

/* ---- other launches ---- */

static pthread_rwlock_t open_lock = PTHREAD_RWLOCK_INITIALIZER;
static struct sg_san *open_first;
static _Atomic unsigned int open_n;

void sg_san_launch_begin(struct sg_san *s)
{
	pthread_rwlock_wrlock(&open_lock);
	s->next = open_first;
	open_first = s;
	open_n++;
	pthread_rwlock_unlock(&open_lock);
}

void sg_san_launch_end(struct sg_san *s)
{
	struct sg_san **at = &open_first;

	pthread_rwlock_wrlock(&open_lock);
	while (*at && *at != s)
		at = &(*at)->next;
	if (*at) {
		*at = s->next;
		open_n--;
	}
	pthread_rwlock_unlock(&open_lock);
}

void sg_san_forked(void)
{
	pthread_rwlock_init(&open_lock, NULL);
	open_first = NULL;
	open_n = 0;
}

/* NULL: nothing there was touched. */
static struct page *page_find(struct sg_san_pages *p, uint64_t addr)
{
	p = p->at[addr >> 36 & (LEVEL_SIZE - 1)];
	if (p)
		p = p->at[addr >> 24 & (LEVEL_SIZE - 1)];
	return p ? p->at[addr >> 12 & (LEVEL_SIZE - 1)] : NULL;
}

static bool meets(uint64_t record, bool atomic)
{
	return record & VALID && !(atomic && record & ATOMIC);
}

/* Whether another launch's cells of a part of one page race with an access; the place of
 * its own. */
static bool meets_page(struct page *page, uint64_t addr, unsigned int bytes, bool write,
	bool atomic, uint32_t *pc)
{
	unsigned int off = addr % PAGE_SIZE, end = off + bytes;
	bool found = false;

	pthread_mutex_lock(&page->lock);
	for (unsigned int a = off; a < end && !found; a++) {
		const struct sg_san_cell *c =
			page->bytes ? &page->bytes[a] : &page->dwords[a / 4];

		found = true;
		if (meets(c->write, atomic))
			*pc = c->write_pc;
		else if (write && meets(c->read, atomic))
			*pc = c->read_pc;
		else
			found = false;
	}
	pthread_mutex_unlock(&page->lock);
	return found;
}

static bool meets_launch(const struct sg_san_step *t, struct sg_san *other, uint64_t addr,
	unsigned int bytes, bool write, bool atomic, unsigned int lane)
{
	const struct sg_kernel *k = &other->run->k;
	struct page *page = page_find(other->pages, addr);
	char where[400];
	uint32_t pc;

	if (!page || !meets_page(page, addr, bytes, write, atomic, &pc))
		return false;
	sg_place(k, (uint64_t)k->launch->code->base + pc, where, sizeof(where));
	sg_san_report(t, SAN_RACE_LAUNCH,
		"address 0x%llx, lane %u: kernel '%.128s' touched it at %s and has not "
		"ended",
		(unsigned long long)addr, lane,
		k->launch->kernel ? k->launch->kernel : "?", where);
	return true;
}

static void touch_others(const struct sg_san_step *t, uint64_t on, unsigned int bytes,
	bool write, bool atomic)
{
	bool found = false;

	pthread_rwlock_rdlock(&open_lock);
	for (; on && !found; on &= on - 1) {
		unsigned int lane = (unsigned int)__builtin_ctzll(on), part;

		for (uint64_t a = t->w->addr[lane], end = a + bytes; a < end; a += part) {
			part = PAGE_SIZE - a % PAGE_SIZE;
			part = end - a < part ? (unsigned int)(end - a) : part;
			for (struct sg_san *s = open_first; s && !found; s = s->next)
				found = s != t->s &&
					meets_launch(t, s, a, part, write, atomic, lane);
		}
	}
	pthread_rwlock_unlock(&open_lock);
}

void sg_san_touch_global(const struct sg_san_step *t, uint64_t on, unsigned int bytes,
	bool write, bool atomic)
{
	struct page *page = NULL;
	uint64_t number = 0, all = on;

	for (; on; on &= on - 1) {
		unsigned int lane = (unsigned int)__builtin_ctzll(on), part;

		/* an access may cross into the next page */
		for (uint64_t a = t->w->addr[lane], end = a + bytes; a < end; a += part) {
			part = PAGE_SIZE - a % PAGE_SIZE;
			part = end - a < part ? (unsigned int)(end - a) : part;
			if (!page || a / PAGE_SIZE != number) {
				if (page)
					pthread_mutex_unlock(&page->lock);
				number = a / PAGE_SIZE;
				page = page_of(t->s->pages, a);
				if (!page)
					return;
				pthread_mutex_lock(&page->lock);
			}
			touch_lane(t, page, a, part, write, atomic, lane);
		}
	}
	if (page)
		pthread_mutex_unlock(&page->lock);
	if (open_n > 1 && !t->g->atomics)
		touch_others(t, all, bytes, write, atomic);
}
