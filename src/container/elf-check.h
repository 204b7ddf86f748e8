/* What libelf does not check before it allocates. */
#pragma once

#include "container/container.h"

/*
 * Holds an ELF's header against its bytes: both header tables must lie inside, the
 * section count also where section 0 states it (ELF gABI, "Extended section numbering").
 * libelf allocates by that count, so every elf_memory() in this tree comes after this.
 * 0, or -EINVAL.
 */
int rck_elf_check(struct rck_slice s, struct rck_diag *diag);
