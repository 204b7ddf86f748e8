/*
 * A compressed clang offload bundle, "CCOB": a header and one zlib stream or zstd frames,
 * which inflate to a whole bundle. Format: llvm/Object/OffloadBundle.h and
 * OffloadBundle.cpp (LLVM 22), versions 1, 2, 3. Version 1 states no size of its own.
 */
#pragma once

#include "container/bytes.h"

enum rck_ccob_method { RCK_CCOB_ZLIB = 0, RCK_CCOB_ZSTD = 1 };

struct rck_ccob {
	struct rck_slice payload; /* version 1: all that is left of the slice */
	unsigned version;         /* 1, 2, 3 */
	enum rck_ccob_method method;
	uint64_t size;     /* header and payload; version 1: 0, it is not stated */
	uint64_t inflated; /* bytes, as the header claims */
	uint64_t hash;     /* the first eight bytes of the inflated bytes' MD5, LE */
	uint64_t header_size;
};

/* Reads the header. -EINVAL: cut short, or longer than the slice; -ENOTSUP: a version or
 * method that is not known. */
int rck_ccob_parse(struct rck_slice s, struct rck_ccob *out, struct rck_diag *diag);
/* The record's size in bytes, header included: stated, or for version 1 what the decoder
 * takes (zstd: found by its block headers; zlib: inflated once for it). */
int rck_ccob_extent(const struct rck_ccob *c, uint64_t *size, struct rck_diag *diag);

/* Contexts that are used again from one inflation to the next; zeroed before first use.
 */
struct rck_inflater {
	struct ZSTD_DCtx_s *zstd;
};
void rck_inflater_release(struct rck_inflater *f);

/*
 * Inflates a payload of exactly inflated bytes, at most limit; *out owns them, with a
 * copy of prefix in front. -E2BIG over the limit, -EINVAL when payload and claim do not
 * fit, -EBADMSG on damaged data. Memory: the inflated size once, never more than a claim
 * that the payload could keep. what names the thing in messages: "compressed bundle".
 */
int rck_inflate(struct rck_inflater *f, const char *what, enum rck_ccob_method method,
	struct rck_slice prefix, struct rck_slice payload, uint64_t inflated,
	uint64_t limit, struct rck_bytes **out, struct rck_diag *diag);
/* rck_inflate() of a record and, with verify, a check of its hash (-EBADMSG). */
int rck_ccob_inflate(struct rck_inflater *f, const struct rck_ccob *c, uint64_t limit,
	bool verify, struct rck_bytes **out, struct rck_diag *diag);
