/*
 * rocm-kpack: device code kept beside a host binary (TheRock, ROCm 7.11 and later). A
 * binary keeps a reference, .kpack archives keep the code. Formats: ROCm/rocm-systems,
 * shared/kpack (runtime/src/toc_parser.cpp, loader.cpp, 2026), docs/
 * multi_arch_packaging_with_kpack.md.
 */
#pragma once

#include <msgpack.h>

#include "container/container.h"

/* Longest table of contents and most kernels that are read (the kernels: as upstream). */
#define RCK_KPACK_TOC     (64u << 20)
#define RCK_KPACK_KERNELS 1000000u

struct rck_kpack {
	struct rck_slice slice;
	msgpack_unpacked toc;
	const msgpack_object *binaries; /* map: binary's key -> map of arches */
	const msgpack_object *blobs;    /* scheme none: array of {offset, size} */
	uint64_t *frames; /* scheme zstd-per-kernel: where the sizes are, by ordinal */
	uint64_t n_frames;
	uint64_t frames_end;
	uint32_t binary, arch; /* the next entry */
	uint64_t index;
	/* of the entry that was given last */
	const char *arch_name;
	size_t arch_len;
	bool compressed;   /* entry->slice is zstd frames of original_size bytes */
	uint64_t original; /* bytes */
};

/* Reads header and table of contents. To be closed also when it failed. -EINVAL, -E2BIG;
 * -ENOTSUP: a version or scheme that is not known. */
int rck_kpack_open(struct rck_kpack *k, struct rck_slice s, struct rck_diag *diag);
/* The next kernel: entry->id is the binary's key ("lib/librocrand.so.1#0"). */
int rck_kpack_next(struct rck_kpack *k, struct rck_entry *entry, struct rck_diag *diag);
void rck_kpack_close(struct rck_kpack *k);

/* What a host binary says in .rocm_kpack_ref. */
struct rck_kpack_ref {
	msgpack_unpacked map;
	const char *name; /* "lib/librocrand.so.1" */
	size_t name_len;
	const msgpack_object *paths; /* array of strings, relative to the binary; may hold
					@GFXARCH@ */
};

/* To be closed also when it failed. -EINVAL. */
int rck_kpack_ref_open(
	struct rck_kpack_ref *r, struct rck_slice s, struct rck_diag *diag);
/* Path i; false behind the last, NULL where no string stands. */
bool rck_kpack_ref_path(
	const struct rck_kpack_ref *r, uint32_t i, const char **path, size_t *len);
void rck_kpack_ref_close(struct rck_kpack_ref *r);
/* Whether an archive's key belongs to the binary: name, "#", number. */
bool rck_kpack_ref_is(const struct rck_kpack_ref *r, const char *key, size_t len);
