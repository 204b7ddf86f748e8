/*
 * Bytes -> code objects. Each container format is one file with one cursor:
 *
 *	int rck_X_open(struct rck_X *x, struct rck_slice s, struct rck_diag *diag);
 *	int rck_X_next(struct rck_X *x, struct rck_entry *entry, struct rck_diag *diag);
 *
 * open returns 0 or -errno; next returns 1 and an entry, 0 at the end, -errno with diag
 * filled when an entry is malformed (a later call goes on behind it where the format
 * allows, else returns 0). A cursor's diag.offset counts from its slice's first byte: the
 * walk makes it one of the file. Cursors allocate nothing that a file's own number sizes
 * and live on the stack or in the walk's frames. walk.c alone knows which format nests in
 * which: it sniffs magic, never names.
 */
#pragma once

#include "rocmcheck.h"

/* Reference-counted bytes: a mapping, borrowed memory, or an inflated container. */
struct rck_bytes;

/* A range of bytes with where it comes from. file_offset is RCK_OFFSET_NONE inside
 * inflated bytes. */
struct rck_slice {
	const uint8_t *data;
	uint64_t size;
	uint64_t file_offset;
};

/* A part of a container: its name there and its bytes. */
struct rck_entry {
	struct rck_slice slice;
	const char *
		id; /* borrowed from the cursor until the next call; not NUL-terminated */
	size_t id_len;
	uint64_t index; /* of the entry in its container */
};

/* Fills diag (when not NULL) and returns code. offset as in struct rck_diag. */
int rck_fail(struct rck_diag *diag, int code, uint64_t offset, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* A part of a slice; the caller has checked the range. */
static inline struct rck_slice rck_subslice(
	struct rck_slice s, uint64_t off, uint64_t size)
{
	return (struct rck_slice){s.data + off, size,
		s.file_offset == RCK_OFFSET_NONE ? RCK_OFFSET_NONE : s.file_offset + off};
}
