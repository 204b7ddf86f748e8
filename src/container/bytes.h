/*
 * Where bytes live and how long: a mapped file, borrowed memory, or anonymous memory that
 * an inflated container fills. Counted references, safe to take and drop on any thread.
 */
#pragma once

#include "container/container.h"

/*
 * Maps a regular file for reading. Anything else is refused without waiting for it:
 * -EISDIR, -EINVAL (FIFO, socket, device), or open's own -errno. A file that shrinks or
 * fails to be read while it is mapped does not raise SIGBUS: from the fault on it reads
 * as zeros, and rck_bytes_check() says so.
 */
int rck_bytes_map(const char *path, struct rck_bytes **out, struct rck_diag *diag);
/* Puts the handler that does so in front of the process's others. rck_bytes_map() does it
 * once; this is for who has set a handler since. */
void rck_bytes_guard(void);
/* Bytes of the caller, which must outlive the last reference. */
int rck_bytes_borrow(const void *data, uint64_t size, struct rck_bytes **out);
/* size bytes to be filled through *data; what is never written costs no memory. -ENOMEM.
 */
int rck_bytes_alloc(uint64_t size, struct rck_bytes **out, uint8_t **data);

struct rck_bytes *rck_bytes_ref(struct rck_bytes *b);
void rck_bytes_unref(struct rck_bytes *b); /* NULL is fine */

/* All of it; file_offset 0 for a mapped file and for borrowed memory, else NONE. */
struct rck_slice rck_bytes_slice(const struct rck_bytes *b);
/* -EIO and diag when the file behind it shrank, could not be read, or was written to
 * since it was mapped; else 0. With settled the file's times and size are looked at too,
 * not only the faults that were met. */
int rck_bytes_check(const struct rck_bytes *b, bool settled, struct rck_diag *diag);
/* The path it was mapped from, or NULL. */
const char *rck_bytes_path(const struct rck_bytes *b);
/* True when both map the same file. */
bool rck_bytes_same_file(const struct rck_bytes *a, const struct rck_bytes *b);
