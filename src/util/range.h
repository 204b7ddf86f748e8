/* Ranges and little-endian reads: every offset and size that a file states goes through
 * here. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* True when [off, off + size) lies inside [0, total); no sum can overflow. */
static inline bool rck_range_ok(uint64_t off, uint64_t size, uint64_t total)
{
	return off <= total && size <= total - off;
}

/* off rounded up to a power of two; UINT64_MAX when that overflows. */
static inline uint64_t rck_align_up(uint64_t off, uint64_t align)
{
	return off > UINT64_MAX - (align - 1) ? UINT64_MAX
					      : (off + align - 1) & ~(align - 1);
}

/* Reads of unaligned little-endian integers. */
static inline uint16_t rck_le16(const void *p)
{
	const uint8_t *b = p;
	return (uint16_t)(b[0] | b[1] << 8);
}

static inline uint32_t rck_le32(const void *p)
{
	const uint8_t *b = p;
	return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static inline uint64_t rck_le64(const void *p)
{
	return rck_le32(p) | (uint64_t)rck_le32((const uint8_t *)p + 4) << 32;
}
