/* A loaded code object as the interpreter keeps it. Private to src/softgpu. */
#pragma once

#include <pthread.h>

#include "rocmcheck.h"
#include "softgpu/decode.h"

struct sg_code {
	char *name, *target, *comgr, *llvm;
	const uint8_t *base;
	size_t size;
	enum sg_gen gen;
	const void *elf; /* the code object's file, borrowed: for source lines; or NULL */
	size_t elf_size;
	uint64_t bias; /* address minus the file's virtual address */
	pthread_mutex_t lock;
	struct sg_program *program[2][2]; /* waves of 32, of 64; run, watched */
	struct sg_source *source;         /* source.c's, opened at first need */
	bool no_source;
};

/*
 * The program for a wave size, made when first asked for. watched: every instruction is
 * there for trace.c; else what does nothing is left out.
 */
int sg_code_program(struct sg_code *code, uint32_t lanes, bool watched,
	struct sg_program **out, struct rck_diag *diag);

/* The text at pc: its size in bytes, or -EFAULT, -EILSEQ. */
int sg_program_text(struct sg_program *p, uint64_t pc, char *text, size_t cap);

/* The same while other threads may decode. */
int sg_program_text_locked(struct sg_program *p, uint64_t pc, char *text, size_t cap);

/* ---- source.c ---- */

/*
 * Where the instruction at pc comes from: "FILE:LINE", with ", inlined at FILE:LINE" for
 * the functions around an inlined one. False, and text empty: the code object has no
 * debug information, or no comgr is there to read it. Any thread.
 */
bool sg_code_line(struct sg_code *code, uint64_t pc, char *text, size_t cap);
void sg_source_close(struct sg_source *s); /* NULL is allowed */

extern const struct sg_op sg_op_link, sg_op_illegal;
const struct sg_op *sg_op_at(unsigned int i);
