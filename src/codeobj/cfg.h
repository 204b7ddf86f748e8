/* A function's machine code as instructions and basic blocks, found by following its
 * branches from the first instruction on. */
#pragma once

#include "codeobj/insn.h"
#include "disasm/disasm.h"

#include <stddef.h>

struct rck_block {
	uint32_t first, last; /* instructions, last included */
};

struct rck_cfg {
	/* in */
	const uint8_t *code;
	uint64_t size, address; /* bytes that may be read; the function's address */
	struct rck_disasm *disasm;
	/* out */
	struct rck_insn *insns; /* by address once rck_cfg_make_blocks was called */
	size_t n_insns;
	struct rck_block *blocks;
	size_t n_blocks;
	uint32_t *block_of;  /* instruction -> block */
	const char *gave_up; /* why this is not the whole function, or NULL */
	/* private */
	int32_t *at;
	size_t n_at, cap_insns;
};

/* Decodes what is not decoded yet, from offset and from all that its branches lead to. */
void rck_cfg_decode(struct rck_cfg *c, uint64_t offset);
/* The instruction at an offset, -1 when none was decoded there. */
int32_t rck_cfg_find(const struct rck_cfg *c, uint64_t offset);
/* Sorts the instructions and cuts them into blocks, anew when there were some. */
void rck_cfg_make_blocks(struct rck_cfg *c);
void rck_cfg_give_up(struct rck_cfg *c, const char *why);
void rck_cfg_release(struct rck_cfg *c);
