/* Strings kept once: equal strings have equal pointers, which live as long as the pool.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct rck_pool {
	struct rck_pool_entry *entries;
	size_t n, cap; /* cap is a power of two, or 0 */
	char **blocks;
	size_t n_blocks, used, room;
};

/* The pool's copy of s; NULL for NULL. */
const char *rck_pool_add(struct rck_pool *p, const char *s);
void rck_pool_release(struct rck_pool *p);
/* FNV-1a, 64 bits. */
uint64_t rck_hash_bytes(const void *data, size_t len);
