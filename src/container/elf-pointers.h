/*
 * Where the pointers in a section of a host ELF file lead once it is linked and loaded.
 * An address stands in the section itself (programs that are not position-independent,
 * and DT_RELR), in a relative relocation (shared libraries, PIE), or is a symbol's (.o).
 * ELF gABI, "Relocation"; the types from each machine's psABI, as in elf.h.
 */
#pragma once

#include "container/host-elf.h"

/*
 * targets[i] becomes the offset, in e's bytes, of what the pointer at offset
 * first + i * stride of section index leads to; RCK_OFFSET_NONE when that is not in the
 * file (an undefined symbol) or not to be told: other files than 64-bit little-endian
 * ones, other machines than x86-64, AArch64, POWER, RISC-V and LoongArch, or more work
 * than e->work allows.
 */
void rck_elf_pointers(struct rck_host_elf *e, size_t index, uint64_t first,
	uint64_t stride, uint64_t *targets, size_t n);
