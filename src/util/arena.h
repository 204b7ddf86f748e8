/*
 * An arena: many small allocations that all end together. Nothing in it is freed alone.
 */
#pragma once

#include <stddef.h>

struct rck_arena;

/* limit: bytes after which allocations fail; 0: none. NULL: no memory. */
struct rck_arena *rck_arena_new(size_t limit);
void rck_arena_free(struct rck_arena *a); /* NULL is fine */

/* size bytes, zeroed, aligned to 8; NULL when there is no memory or the limit is hit. */
void *rck_arena_alloc(struct rck_arena *a, size_t size);
/* A copy of s[0..len) with a NUL behind it. */
char *rck_arena_strndup(struct rck_arena *a, const char *s, size_t len);
/* Bytes handed out so far. */
size_t rck_arena_used(const struct rck_arena *a);
