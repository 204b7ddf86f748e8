/*
 * Records one after another in a range, as linkers leave them in .hip_fatbin and
 * .llvm.offloading: bundles, compressed bundles and OffloadBinaries in any mix, zeros
 * between them.
 */
#pragma once

#include "container/sniff.h"

struct rck_records {
	struct rck_slice slice;
	uint64_t at;   /* where the next record is looked for */
	uint64_t n;    /* records given so far, damaged ones included */
	uint64_t junk; /* where bytes that are no record start; RCK_OFFSET_NONE */
	uint64_t
		step; /* where a record that is searched for may start: multiples of it */
	bool scattered; /* between them stands anything: it is passed over silently */
	bool searching; /* behind something damaged, or junk: look for a magic */
};

struct rck_record {
	enum rck_magic magic;
	struct rck_slice slice;
	uint64_t index;
	uint64_t skipped; /* bytes in front of it that are neither record nor zeros */
	uint64_t skipped_at;
};

void rck_records_open(struct rck_records *r, struct rck_slice s);
/* The same over a whole file whose sections are unknown: records on page boundaries of
 * the file, where linkers put .hip_fatbin, and anything between them. */
void rck_records_open_scattered(struct rck_records *r, struct rck_slice s);
/*
 * The next record: where the one before it says that it ends (never by searching its
 * payload), zeros skipped. Where something else stands the next plausible magic is
 * searched for and out->skipped says how much was passed over; bytes passed over at the
 * end come as a last record of RCK_MAGIC_NONE. -errno: a record was there and is damaged
 * (out->index counts it, out->slice is where it starts). What stands behind a damaged
 * record is searched for, and what that passes over is not told again.
 */
int rck_records_next(
	struct rck_records *r, struct rck_record *out, struct rck_diag *diag);
