#include "util/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Below glibc's mmap threshold (128 KiB), so that chunks are reused, not mapped anew. */
#define CHUNK (96 * 1024)

struct chunk {
	struct chunk *next;
	size_t size, used;
	_Alignas(8) char data[];
};

struct rck_arena {
	struct chunk *head;
	size_t limit, total;
};

struct rck_arena *rck_arena_new(size_t limit)
{
	struct rck_arena *a = malloc(sizeof(*a));

	if (a)
		*a = (struct rck_arena){.limit = limit ? limit : SIZE_MAX};
	return a;
}

void rck_arena_free(struct rck_arena *a)
{
	if (!a)
		return;
	for (struct chunk *c = a->head, *next; c; c = next) {
		next = c->next;
		free(c);
	}
	free(a);
}

static void *take(struct rck_arena *a, size_t size)
{
	struct chunk *c = a->head;
	size_t room;
	void *p;

	if (size > a->limit - a->total || size > SIZE_MAX / 2)
		return NULL;
	size = (size + 7) & ~(size_t)7;
	if (!c || size > c->size - c->used) {
		room = size > CHUNK / 4 ? size : CHUNK;
		c = malloc(sizeof(*c) + room);
		if (!c)
			return NULL;
		c->size = room;
		c->used = 0;
		/* A large block of its own goes behind the head, which has room left. */
		if (room == size && a->head) {
			c->next = a->head->next;
			a->head->next = c;
		} else {
			c->next = a->head;
			a->head = c;
		}
	}
	p = c->data + c->used;
	c->used += size;
	a->total = a->total + size > a->limit ? a->limit : a->total + size;
	return p;
}

void *rck_arena_alloc(struct rck_arena *a, size_t size)
{
	void *p = take(a, size);

	return p ? memset(p, 0, size) : NULL;
}

char *rck_arena_strndup(struct rck_arena *a, const char *s, size_t len)
{
	char *p = len < SIZE_MAX ? take(a, len + 1) : NULL;

	if (!p)
		return NULL;
	memcpy(p, s, len);
	p[len] = '\0';
	return p;
}

size_t rck_arena_used(const struct rck_arena *a)
{
	return a->total;
}
