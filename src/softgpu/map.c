/* Every block of memory that a kernel or a pointer query may name, by address. */
#include "softgpu/softgpu.h"

#include "util/range.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct table {
	struct sg_block *blocks; /* by base */
	size_t n, room;
};

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct table memory; /* disjoint */
static struct table locked; /* the host's: ranges may overlap */

static struct table *table_of(enum sg_block_kind kind)
{
	return kind == SG_BLOCK_LOCKED ? &locked : &memory;
}

/* The number of blocks that start at or below addr. */
static size_t upper(const struct table *t, uint64_t addr)
{
	size_t lo = 0, hi = t->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (t->blocks[mid].base <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static bool holds(const struct sg_block *b, uint64_t addr)
{
	return addr >= b->base && addr - b->base < b->size;
}

static struct sg_block *find(uint64_t addr)
{
	size_t i = upper(&memory, addr);

	if (i && holds(&memory.blocks[i - 1], addr))
		return &memory.blocks[i - 1];
	for (i = upper(&locked, addr); i--;)
		if (holds(&locked.blocks[i], addr))
			return &locked.blocks[i];
	return NULL;
}

static int insert(struct table *t, const struct sg_block *b)
{
	size_t i = upper(t, b->base);

	if (t == &memory && ((i && holds(&t->blocks[i - 1], b->base)) ||
				    (i < t->n && t->blocks[i].base - b->base < b->size)))
		return -EEXIST;
	if (t->n == t->room) {
		size_t room = t->room ? t->room * 2 : 64;
		void *p = realloc(t->blocks, room * sizeof *t->blocks);
		if (!p)
			return -ENOMEM;
		t->blocks = p;
		t->room = room;
	}
	memmove(&t->blocks[i + 1], &t->blocks[i], (t->n - i) * sizeof *t->blocks);
	t->blocks[i] = *b;
	t->n++;
	return 0;
}

int sg_map_add(const struct sg_block *block)
{
	int r;

	pthread_rwlock_wrlock(&lock);
	r = insert(table_of(block->kind), block);
	pthread_rwlock_unlock(&lock);
	return r;
}

static struct sg_block *starting_at(uint64_t base, enum sg_block_kind kind)
{
	struct table *t = table_of(kind);

	for (size_t i = upper(t, base); i-- && t->blocks[i].base == base;)
		if (t->blocks[i].kind == kind)
			return &t->blocks[i];
	return NULL;
}

int sg_map_remove(uint64_t base, enum sg_block_kind kind, struct sg_block *old)
{
	struct table *t = table_of(kind);
	struct sg_block *b;

	pthread_rwlock_wrlock(&lock);
	b = starting_at(base, kind);
	if (b) {
		size_t i = (size_t)(b - t->blocks);
		if (old)
			*old = *b;
		memmove(b, b + 1, (t->n - i - 1) * sizeof *b);
		t->n--;
	}
	pthread_rwlock_unlock(&lock);
	return b ? 0 : -ENOENT;
}

bool sg_map_find(uint64_t addr, struct sg_block *out)
{
	struct sg_block *b;

	pthread_rwlock_rdlock(&lock);
	b = find(addr);
	if (b)
		*out = *b;
	pthread_rwlock_unlock(&lock);
	return b;
}

bool sg_map_set_user(uint64_t addr, void *user)
{
	struct sg_block *b;

	pthread_rwlock_wrlock(&lock);
	b = find(addr);
	if (b)
		b->user = user;
	pthread_rwlock_unlock(&lock);
	return b;
}

bool sg_map_set_access(uint64_t base, enum sg_block_kind kind, bool access)
{
	struct sg_block *b;

	pthread_rwlock_wrlock(&lock);
	b = starting_at(base, kind);
	if (b)
		b->access = access;
	pthread_rwlock_unlock(&lock);
	return b;
}

bool sg_map_set_owner(uint64_t base, enum sg_block_kind kind, void *owner)
{
	struct sg_block *b;

	pthread_rwlock_wrlock(&lock);
	b = starting_at(base, kind);
	if (b)
		b->owner = owner;
	pthread_rwlock_unlock(&lock);
	return b;
}

/* The host's own pages may go without a word to us; then the kernel stops, not we. */
static bool mapped(uint64_t addr)
{
	unsigned char in_core;

	return !mincore((void *)(uintptr_t)(addr & ~UINT64_C(4095)), 1, &in_core);
}

int sg_map_range(void *ctx, uint64_t addr, uint64_t *lo, uint64_t *hi)
{
	struct sg_block b;

	if (!sg_map_find(addr, &b))
		return sg_svm_range(addr, lo, hi) || !mapped(addr) ? -EFAULT : 0;
	if (!b.access || (b.kind == SG_BLOCK_LOCKED && !mapped(addr)))
		return -EFAULT;
	*lo = b.base;
	*hi = b.base + b.size;
	return 0;
}
