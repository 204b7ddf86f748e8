/*
 * AOTriton's kernel packs (.aks2): a header, then an xz stream of a directory and the
 * code objects. Format: ROCm/aotriton, v2src/packed_kernel.cc ("AKS2 Format", 2024 and
 * 2025). Needs liblzma (HAVE_LZMA).
 *
 *	"AKS2", u32 inflated bytes, u32 kernels, u32 directory's bytes; inflated, the
 *	directory: u32 LDS, u32 threads, u32 offset behind the directory, u32 size, u32
 *	length of the name with its NUL, the name; then the images. A size of 0: it was
 *	not compiled.
 */
#pragma once

#include "container/bytes.h"

struct rck_aks2 {
	struct rck_slice packed;      /* the xz stream */
	uint64_t inflated, directory; /* bytes */
	uint32_t kernels;
	struct rck_slice content; /* inflated */
	uint64_t at;              /* of the next one in the directory */
	uint32_t index;
	uint32_t empty; /* kernels without an image, so far */
};

/* Reads the header. -EINVAL. */
int rck_aks2_open(struct rck_aks2 *a, struct rck_slice s, struct rck_diag *diag);
/* Inflates it (at most limit bytes) into *out, of which the caller has the reference that
 * a needs. -ENOTSUP without HAVE_LZMA, -E2BIG, -EBADMSG, -ENOMEM. */
int rck_aks2_inflate(struct rck_aks2 *a, uint64_t limit, struct rck_bytes **out,
	struct rck_diag *diag);
/* The next code object; offsets count in the inflated bytes. -EINVAL ends the walk: names
 * have no fixed length, so nothing is known of what follows. */
int rck_aks2_next(struct rck_aks2 *a, struct rck_entry *entry, struct rck_diag *diag);
