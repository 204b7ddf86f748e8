/*
 * A look at msgpack before msgpack-c sees it. msgpack-c 4.0.0 allocates what a map or an
 * array claims to hold (5 bytes can ask for 256 GiB) and answers "too deep" and "no
 * memory" with the same code; what has passed here makes it do neither.
 */
#pragma once

#include "container/container.h"

/* The deepest nesting that msgpack-c's own stack takes (MSGPACK_EMBED_STACK_SIZE). */
#define RCK_MSGPACK_DEPTH 32

/*
 * Walks the one msgpack object at data[0..size): every declared count and length is held
 * against the bytes left, nesting against RCK_MSGPACK_DEPTH. Bytes behind the object are
 * allowed. 0, or -EINVAL (cut short, or the reserved byte 0xc1) or -E2BIG (too deep) with
 * diag->offset the offset of the fault from data. Allocates nothing and takes O(size).
 * Format: msgpack's spec.md (github.com/msgpack/msgpack, 2017-08-09).
 */
int rck_msgpack_scan(const uint8_t *data, uint64_t size, struct rck_diag *diag);

/* The same; *end becomes the offset of the first byte behind the object. */
int rck_msgpack_scan_end(
	const uint8_t *data, uint64_t size, uint64_t *end, struct rck_diag *diag);

/*
 * Enters the map or array at data[*at]: *count becomes its number of pairs or elements
 * and *at moves behind its head. -EINVAL: something else is there, or the head is cut
 * short. What count claims is not held against the bytes left: scan what follows.
 */
int rck_msgpack_enter(
	const uint8_t *data, uint64_t size, uint64_t *at, bool map, uint64_t *count);
