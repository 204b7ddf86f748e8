/*
 * PE images and COFF objects: their sections. Format: Microsoft's "PE Format" (learn.
 * microsoft.com/windows/win32/debug/pe-format, 2024); bigobj: ANON_OBJECT_HEADER_BIGOBJ
 * of winnt.h. Linkers cut section names of images to eight bytes (".hip_fat").
 */
#pragma once

#include "container/container.h"

struct rck_pe {
	struct rck_slice slice;
	struct rck_slice strings; /* the string table; empty when there is none */
	uint64_t table;           /* offset of the section headers */
	uint64_t i, n;
	char name[9]; /* of the section given last, when it is a short one */
};

/* Takes what begins with "MZ", and bare COFF objects, big ones too. -EINVAL: a header
 * that leads outside; -ENOEXEC: "MZ", but no PE (a DOS program). */
int rck_pe_open(struct rck_pe *p, struct rck_slice s, struct rck_diag *diag);
/* The next section that has bytes in the file; id is its name, the long one where there
 * is a string table ("/175"). */
int rck_pe_next(struct rck_pe *p, struct rck_entry *entry, struct rck_diag *diag);
