/*
 * MIOpen's kernel databases (.kdb, .ukdb): an SQLite file whose table kern_db keeps code
 * objects, bzip2-compressed. Format: MIOpen, src/include/miopen/kern_db.hpp. Needs
 * sqlite3 and bz2 (HAVE_KDB).
 */
#pragma once

#include "container/bytes.h"

struct sqlite3;
struct sqlite3_stmt;

struct rck_kdb {
	struct sqlite3 *db;
	struct sqlite3_stmt *rows;
	uint64_t index;
	bool log_unseen; /* of WAL mode, and nobody knows what a log beside it holds */
	/* of the entry that was given last */
	struct rck_bytes *bytes; /* of entry->slice; a reference until the next one */
};

/* -ENOTSUP without HAVE_KDB; -EINVAL: not SQLite's format; -ENOENT: a database, but not
 * of kernels. To be closed also when it failed. */
int rck_kdb_open(struct rck_kdb *k, struct rck_slice s, struct rck_diag *diag);
/*
 * The next code object, inflated (at most limit bytes); with verify it is held against
 * its MD5. entry->id is the kernel's name.
 */
int rck_kdb_next(struct rck_kdb *k, uint64_t limit, bool verify, struct rck_entry *entry,
	struct rck_diag *diag);
void rck_kdb_close(struct rck_kdb *k);
