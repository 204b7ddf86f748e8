#include "util/pool.h"
#include "util/strbuf.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK (1u << 16)

struct rck_pool_entry {
	uint64_t hash;
	const char *s;
};

uint64_t rck_hash_bytes(const void *data, size_t len)
{
	const uint8_t *p = data;
	uint64_t h = 0xcbf29ce484222325;

	for (size_t i = 0; i < len; i++)
		h = (h ^ p[i]) * 0x100000001b3;
	return h;
}

static struct rck_pool_entry *slot_of(const struct rck_pool *p, uint64_t h, const char *s)
{
	size_t i = h & (p->cap - 1);

	while (p->entries[i].s &&
		(p->entries[i].hash != h || strcmp(p->entries[i].s, s) != 0))
		i = (i + 1) & (p->cap - 1);
	return &p->entries[i];
}

static void grow(struct rck_pool *p)
{
	struct rck_pool old = *p;

	p->cap = old.cap ? old.cap * 2 : 256;
	p->entries = rck_xcalloc(p->cap, sizeof(*p->entries));
	for (size_t i = 0; i < old.cap; i++)
		if (old.entries[i].s)
			*slot_of(p, old.entries[i].hash, old.entries[i].s) =
				old.entries[i];
	free(old.entries);
}

static char *keep(struct rck_pool *p, const char *s, size_t size)
{
	char *at;

	if (size > p->room) {
		p->blocks = rck_xrealloc(p->blocks, (p->n_blocks + 1) * sizeof(char *));
		p->room = size > BLOCK ? size : BLOCK;
		p->blocks[p->n_blocks++] = rck_xmalloc(p->room);
		p->used = 0;
	}
	at = p->blocks[p->n_blocks - 1] + p->used;
	memcpy(at, s, size);
	p->used += size;
	p->room -= size;
	return at;
}

const char *rck_pool_add(struct rck_pool *p, const char *s)
{
	struct rck_pool_entry *e;
	uint64_t h;
	size_t len;

	if (!s)
		return NULL;
	if (p->n * 2 >= p->cap)
		grow(p);
	len = strlen(s);
	h = rck_hash_bytes(s, len);
	e = slot_of(p, h, s);
	if (!e->s) {
		*e = (struct rck_pool_entry){h, keep(p, s, len + 1)};
		p->n++;
	}
	return e->s;
}

void rck_pool_release(struct rck_pool *p)
{
	for (size_t i = 0; i < p->n_blocks; i++)
		free(p->blocks[i]);
	free(p->blocks);
	free(p->entries);
	*p = (struct rck_pool){0};
}
