/*
 * From the disassembler's text to a decoded instruction. decode-text.c splits the text
 * without knowing operations; decode.c binds it to an operation of the table.
 */
#pragma once

#include "softgpu/isa.h"

#define SG_TEXT_OPS 12

enum sg_token_kind {
	SG_T_VGPR,
	SG_T_AGPR,
	SG_T_SGPR,  /* also vcc, exec, m0, null, ttmp, scc: by slot */
	SG_T_INT,   /* an inline integer, or a hexadecimal literal (literal = true) */
	SG_T_FLOAT, /* an inline float constant */
	SG_T_VALUE, /* a 64-bit value with a name: src_shared_base and its like */
	SG_T_OFF,
	SG_T_WORD, /* anything else: hwreg(...), sendmsg(...) */
};

struct sg_token {
	enum sg_token_kind kind;
	uint32_t index; /* register or slot */
	uint32_t count; /* registers */
	int64_t value;
	double real;
	bool literal, neg, abs, sext;
	uint8_t half; /* 0 none, 1 ".l", 2 ".h" */
	char word[64];
};

struct sg_text {
	char name[48];  /* the mnemonic without encoding suffix */
	char suffix[8]; /* "e32", "e64", "sdwa", "dpp", "dpp8", "" */
	unsigned int nops;
	struct sg_token ops[SG_TEXT_OPS];
	struct sg_mods mods;
	char rest[160]; /* the text behind the mnemonic, as it was */
};

struct sg_program {
	struct sg_code *code;
	enum sg_gen gen;
	uint32_t lanes;
	bool watched;
	/* The rest is decode-cache.c's. */
	struct sg_cache *cache;
};

/*
 * Splits one instruction; false: *why says what is not understood. nop_ok: an operation
 * whose operands nobody reads is not an error when they are odd.
 */
bool sg_text_parse(const char *text, enum sg_gen gen, struct sg_text *t, char why[96]);

/* The counts of a wait's text ("s_waitcnt vmcnt(0)", "s_wait_dscnt 0x1"), as imm. */
int64_t sg_text_wait(const char *text);

/* Binds text to an operation: fills in, or returns false with why. */
bool sg_decode(struct sg_program *p, const char *text, uint64_t pc, unsigned int size,
	struct sg_inst *in, char why[96]);

/* Memory of the program's life; constants are shared. */
void *sg_program_alloc(struct sg_program *p, size_t size);
const uint32_t *sg_program_row(struct sg_program *p, uint64_t value);
const uint32_t *sg_program_words(struct sg_program *p, uint64_t value);

/* Binds one source operand; why is set on false. */
bool sg_bind_src(struct sg_program *p, const struct sg_token *t, char type, bool rows,
	struct sg_src *s, const char **why);
bool sg_bind_dst(const struct sg_program *p, const struct sg_token *t, char type,
	struct sg_dst *d, const char **why);

/* The name that the table uses for a mnemonic of this generation. */
const char *sg_alias(const char *name, enum sg_gen gen, char buf[48]);
