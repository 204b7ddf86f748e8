/*
 * What one function does with calls and with the pointer to the kernel's arguments:
 * constants and that pointer are followed through scalar and vector registers, and
 * through the lanes of vector registers that hold spilled scalars, over all branches.
 *
 * What is followed: s_getpc with what is added to it, loads from constant memory of the
 * code object, and one pointer: in a kernel the kernarg segment's, in a function the
 * implicit arguments', which callers pass in s[8:9] (LLVM, SIMachineFunctionInfo and
 * AMDGPUCallLowering: the fixed ABI of special inputs). A register with spilled scalars
 * in its lanes is followed to the stack or an AGPR and back; such places are the
 * compiler's own, and nothing else is taken to write there.
 */
#pragma once

#include "disasm/disasm.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rck_flow_call {
	uint64_t target; /* minus the function's address; valid when known */
	bool known, tail;
	bool pointer;  /* s[8:9] holds the followed pointer plus delta */
	int64_t delta; /* bytes */
};

struct rck_flow {
	struct rck_flow_call *calls; /* each target and pointer once */
	size_t n_calls;
	size_t indirect; /* calls and jumps whose target is not known */
	int64_t *used; /* offsets from the pointer of the dwords that are read and used */
	size_t n_used;
	bool escapes;        /* the pointer got to where it is not followed */
	bool placed;         /* depends on more than the function's own bytes */
	const char *gave_up; /* why this is not the whole function, or NULL */
};

struct rck_flow_input {
	const uint8_t *code; /* from address on */
	uint64_t
		size; /* of the function, or of all that follows when that is not known */
	uint64_t address;
	bool kernel;
	unsigned pointer; /* the first of the two SGPRs that hold it; UINT_MAX: none */
	bool dwords;      /* s_load's numbers count dwords: gfx6, gfx7 */
	struct rck_disasm *disasm;
	/* n dwords of constant memory; false: not known, or may change */
	bool (*load)(void *user, uint64_t address, size_t n, uint32_t *out);
	/* whether another function begins there */
	bool (*is_function)(void *user, uint64_t address);
	void *user;
};

/* Fills *out; free with rck_flow_free. */
void rck_flow_run(const struct rck_flow_input *in, struct rck_flow *out);
void rck_flow_free(struct rck_flow *f);
