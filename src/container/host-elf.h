/*
 * Host ELF files: their sections, by libelf. Any class and byte order.
 */
#pragma once

#include <libelf.h>

#include "container/container.h"

struct rck_host_elf {
	struct rck_slice slice;
	Elf *elf;
	size_t i, n;            /* the next section, and how many */
	struct rck_slice names; /* .shstrtab */
	uint32_t type;          /* of the section that was given last: SHT_* */
	uint64_t work; /* bytes of headers and relocations that pointers may still cost */
};

/* -EINVAL when a header table lies outside the bytes, or libelf refuses. To be closed
 * also when that failed. */
int rck_host_elf_open(struct rck_host_elf *e, struct rck_slice s, struct rck_diag *diag);
/*
 * The next section that has bytes in the file, is not compressed, and is PROGBITS or
 * SHT_LLVM_OFFLOADING: id is its name, index its number. Only its header is touched.
 */
int rck_host_elf_next(
	struct rck_host_elf *e, struct rck_entry *entry, struct rck_diag *diag);
void rck_host_elf_close(struct rck_host_elf *e);
