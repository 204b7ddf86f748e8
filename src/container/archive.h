/*
 * ar archives, walked over their bytes: GNU (long names in "//"), thin (members are other
 * files), BSD ("#1/len"), and COFF libraries. libelf 0.188 takes thin archives for no ELF
 * and BSD members for empty ones, without a word. Formats: binutils' ar.h and bfd/archive
 * documentation, llvm/docs CommandGuide llvm-ar, FreeBSD ar(5), Microsoft "PE Format".
 */
#pragma once

#include "container/container.h"

struct rck_archive {
	struct rck_slice slice;
	struct rck_slice long_names; /* the data of "//" */
	uint64_t at;                 /* the next member's header */
	uint64_t i;
	bool thin;
	/* of the member that was given last */
	bool elsewhere;         /* thin: id is a path, the slice is empty */
	uint64_t nested_origin; /* thin, of an archive in the archive: its header's offset
				   there; RCK_OFFSET_NONE when it is a file of its own */
};

int rck_archive_open(struct rck_archive *a, struct rck_slice s, struct rck_diag *diag);
/* The next member that is neither a symbol table nor a table of names. -EINVAL on a
 * damaged member header ends the archive: nothing says where the next one is. */
int rck_archive_next(
	struct rck_archive *a, struct rck_entry *entry, struct rck_diag *diag);
