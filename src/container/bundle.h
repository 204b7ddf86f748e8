/*
 * A clang offload bundle, binary form: a magic, a table of entries, the code objects.
 * Format: clang/docs/ClangOffloadBundler.rst (LLVM 22). The bundle states no size of its
 * own: it ends where its last entry ends. HIP's driver aligns entries to 4096.
 */
#pragma once

#include "container/container.h"

#define RCK_BUNDLE_MAGIC      "__CLANG_OFFLOAD_BUNDLE__"
#define RCK_BUNDLE_MAGIC_SIZE 24
/* Entries that are read; HIP's own runtime looks at a header of 4096 bytes, some 70. */
#define RCK_BUNDLE_ENTRIES 1024

struct rck_bundle {
	struct rck_slice slice;
	uint64_t claimed; /* entries, as the header says */
	uint64_t n;       /* entries whose header is there, at most RCK_BUNDLE_ENTRIES */
	uint64_t i, at;   /* the next entry, and where its header is */
	uint64_t header_end;
	bool told;
};

/* -EINVAL when not even the number of entries is there. A table that is cut short is an
 * error of rck_bundle_next(), behind the entries that are there. */
int rck_bundle_open(struct rck_bundle *b, struct rck_slice s, struct rck_diag *diag);
/*
 * entry->id is the entry id; entries of no bytes are given too (the host's is such a
 * one). An entry that leaves the bundle's bytes, lies in the table itself, or overlaps
 * an earlier one is -EINVAL, and the next call goes on behind it.
 */
int rck_bundle_next(struct rck_bundle *b, struct rck_entry *entry, struct rck_diag *diag);
/* Where the bundle at s.data ends, in bytes from there; false when that is only what its
 * sound entries tell and others are damaged. */
bool rck_bundle_extent(struct rck_slice s, uint64_t *end);

/* "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-" in its parts, none NUL-terminated. */
struct rck_bundle_id {
	const char *kind; /* host, hip, hipv4, openmp */
	size_t kind_len;
	const char *triple; /* "amdgcn-amd-amdhsa-", as written */
	size_t triple_len;
	const char *target; /* "gfx90a:xnack-", "amdgcnspirv"; may be empty */
	size_t target_len;
};
/* Takes three and four triple fields (generic processors hold dashes of their own).
 * false when id is not of this form. */
bool rck_bundle_id_parse(const char *id, size_t len, struct rck_bundle_id *out);
