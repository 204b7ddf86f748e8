/*
 * LLVM's OffloadBinary: what --offload-new-driver and OpenMP keep in .llvm.offloading.
 * Format: llvm/Object/OffloadBinary.h, version 1 (LLVM 22), 2 and 3 (LLVM main 2026-09,
 * OffloadBinary.cpp). All offsets count from the record's start.
 */
#pragma once

#include "container/ccob.h"

/* llvm::object::ImageKind */
enum rck_image_kind {
	RCK_IMAGE_NONE,
	RCK_IMAGE_OBJECT,
	RCK_IMAGE_BITCODE,
	RCK_IMAGE_CUBIN,
	RCK_IMAGE_FATBINARY,
	RCK_IMAGE_PTX,
	RCK_IMAGE_SPIRV,
};

struct rck_offload {
	struct rck_slice slice;
	unsigned version;
	uint64_t size; /* of the record, as stated */
	uint64_t
		inflated; /* version 3: bytes behind the header once inflated; 0: plain */
	uint64_t header_size;
	uint64_t entries_at, n, i;
	uint64_t last_end; /* of the images so far */
	/* of the entry that was given last */
	enum rck_image_kind image_kind;
	unsigned offload_kind; /* bits: 1 openmp 2 cuda 4 hip 8 sycl */
	bool metadata_only;
	struct rck_slice triple, arch; /* text, not NUL-terminated; may be empty */
};

/* Reads the header. -EINVAL: cut short, or longer than the slice; -ENOTSUP: a version
 * that is not known. For a compressed record call rck_offload_inflate() next. */
int rck_offload_open(struct rck_offload *o, struct rck_slice s, struct rck_diag *diag);
/* Makes *out the record as if it had never been compressed, to be opened anew. Errors as
 * rck_inflate(). */
int rck_offload_inflate(const struct rck_offload *o, struct rck_inflater *f,
	uint64_t limit, struct rck_bytes **out, struct rck_diag *diag);
/* The same header over inflated bytes: what the record says of its size no longer holds.
 */
int rck_offload_open_inflated(
	struct rck_offload *o, struct rck_slice s, struct rck_diag *diag);
/* The next entry: its image is entry->slice, its arch entry->id. */
int rck_offload_next(
	struct rck_offload *o, struct rck_entry *entry, struct rck_diag *diag);
