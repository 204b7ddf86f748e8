/*
 * What an SQLite database in WAL mode has not yet taken over from its write-ahead log,
 * the file NAME-wal beside it: a MIOpen that is running, or was killed, leaves kernels
 * there. Format: sqlite.org/fileformat2.html, "The Database Header" and "The Write-Ahead
 * Log". SQLite itself would write beside the file (NAME-shm, a checkpoint) to read it.
 */
#pragma once

#include "container/bytes.h"

/* True when the header says that the last writer used a write-ahead log. */
bool rck_kdb_in_wal_mode(struct rck_slice db);
/*
 * A private copy of the database with the log's committed transactions in it, no longer
 * in WAL mode, so that it can be read in memory. wal may be empty; what stands behind its
 * last commit, or does not have its salts and checksums, never happened: SQLite passes
 * over it, too. *out is the caller's. -ENOMEM; -EINVAL: a log that claims more pages than
 * there are, or of another size.
 */
int rck_kdb_apply_wal(struct rck_slice db, struct rck_slice wal, struct rck_bytes **out,
	struct rck_diag *diag);
