/*
 * One AMDGPU instruction, as far as calls, addresses and scalar values are concerned,
 * read from the assembler's text. Mnemonics are those of the ISA documents and of LLVM's
 * assembler, in the spellings of gfx6 to gfx12 (AMDGPUUsage, "Assembler").
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum rck_op {
	RCK_OP_OTHER,   /* writes its first operand, reads the others */
	RCK_OP_STORE,   /* reads all of its operands */
	RCK_OP_NOTHING, /* neither (s_nop, s_waitcnt, ...) */
	RCK_OP_MOV,
	RCK_OP_GETPC,
	RCK_OP_ADD,
	RCK_OP_ADDC,
	RCK_OP_SUB,
	RCK_OP_VADD,   /* with carry out: the addends are operands 2 and 3 */
	RCK_OP_VADDC,  /* with carry in and out: the same */
	RCK_OP_VADD64, /* v_lshl_add_u64: operand 1 << operand 2, plus operand 3 */
	RCK_OP_SEXT16,
	RCK_OP_COMPARE, /* s_cmp_*, of compare */
	RCK_OP_SELECT,  /* s_cselect */
	RCK_OP_VSELECT, /* v_cndmask: operand 3 of all ones gives operand 2 */
	RCK_OP_LOAD,    /* s_load, global_load, flat_load: width bytes */
	RCK_OP_READLANE,
	RCK_OP_WRITELANE,
	RCK_OP_READFIRSTLANE,
	RCK_OP_TEST,      /* v_cmp and the like: reads, and gives nothing away */
	RCK_OP_CALL,      /* s_swappc: operand 1 is the target */
	RCK_OP_CALL_HERE, /* s_call: relative */
	RCK_OP_JUMP_TO,   /* s_setpc: return, tail call, far branch */
	RCK_OP_BRANCH,    /* unconditional, relative */
	RCK_OP_BRANCH_IF, /* conditional, relative */
	RCK_OP_END,       /* nothing follows */
};

enum rck_compare { RCK_EQ, RCK_NE, RCK_GT, RCK_GE, RCK_LT, RCK_LE, RCK_NO_COMPARE };

enum rck_operand_kind {
	RCK_OPERAND_NONE,
	RCK_OPERAND_SGPR,
	RCK_OPERAND_VGPR,
	RCK_OPERAND_NUMBER,
	RCK_OPERAND_OTHER, /* vcc, exec, src_private_base, an AGPR, ... */
};

struct rck_operand {
	uint8_t kind;
	uint8_t count;  /* registers: 1, 2, 4, ... */
	uint16_t first; /* register */
	int64_t number;
};

#define RCK_OPERANDS 6

struct rck_insn {
	uint64_t address;
	uint8_t size; /* bytes */
	uint8_t op;
	uint8_t compare;
	bool is_signed; /* the comparison */
	bool scalar;    /* s_*: may change SCC */
	bool dest2;     /* its second operand is written, too */
	/* Saves operand data of one VGPR, or brings it back: slot names the place, by the
	   text of its address; 0: neither. */
	bool spill, reload;
	uint8_t data;
	uint64_t slot;
	uint8_t width;  /* of a load, bytes; 0: not known */
	uint8_t n;      /* operands */
	int64_t offset; /* "offset:" */
	struct rck_operand operands[RCK_OPERANDS];
};

/* Reads one instruction's text; what it does not know is RCK_OP_OTHER. Fills all but
 * address and size. */
void rck_insn_parse(struct rck_insn *in, const char *text);
/* Where a relative branch or call goes. */
uint64_t rck_insn_target(const struct rck_insn *in);

static inline bool rck_insn_is_branch(const struct rck_insn *i)
{
	return i->op == RCK_OP_BRANCH || i->op == RCK_OP_BRANCH_IF;
}

/* Control may go on to the next instruction. */
static inline bool rck_insn_falls_through(const struct rck_insn *i)
{
	return i->op != RCK_OP_BRANCH && i->op != RCK_OP_JUMP_TO && i->op != RCK_OP_END;
}
