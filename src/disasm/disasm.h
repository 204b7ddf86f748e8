/*
 * AMDGPU machine code to the assembler's text, one instruction at a time. The work is
 * done by a library found at run time: AMD's comgr (libamd_comgr.so.3 or .so.2) where it
 * knows the target, else libLLVM through its C interface. Nothing is linked and no header
 * of theirs is needed.
 *
 * A handle serves one thread at a time; different handles may be used at once. A library
 * once opened stays open for the life of the process.
 */
#pragma once

#include "rocmcheck.h"

struct rck_disasm;

/* Zero is the default of every member. Strings are read during the call only. */
struct rck_disasm_options {
	const char *comgr; /* path or soname of comgr; "" means do not use comgr */
	const char *llvm;  /* path or soname of libLLVM; "" means do not use libLLVM */
	/*
	 * gfx10 and later: the code is for waves of 64 lanes. comgr has no such option:
	 * it prints a lane mask by its first register (s4 for s[4:5]).
	 */
	bool wave64;
};

/*
 * Opens a disassembler for a target id in any of its spellings: "gfx90a",
 * "gfx90a:sramecc+:xnack-", "amdgcn-amd-amdhsa--gfx90a:xnack-" (LLVM's AMDGPUUsage,
 * "Target ID"). Options may be NULL. On success *out is the caller's, ended by
 * rck_disasm_close. Errors: -EINVAL the target id is malformed; -ENOENT no library could
 * be opened; -ENOTSUP those found do not know the target; -ENOMEM. diag->msg says which
 * were tried.
 */
int rck_disasm_open(const char *target_id, const struct rck_disasm_options *options,
	struct rck_disasm **out, struct rck_diag *diag);

/*
 * Disassembles the instruction at code, of which avail bytes may be read. pc is its
 * address; it is not part of the text, since branches print their raw 16-bit operand
 * (the target is pc + 4 + 4 * (int16_t)operand). The text has no leading or trailing
 * blanks, is cut to text_cap - 1 bytes and ends with NUL; *len (may be NULL) gets its
 * length. Returns the number of bytes consumed, a positive multiple of 4. Errors: -EILSEQ
 * the bytes are no instruction of this target (a caller that walks on skips 4 bytes);
 * -ENODATA fewer than 4 bytes; -ENOBUFS the text did not fit.
 */
int rck_disasm_next(struct rck_disasm *d, const void *code, size_t avail, uint64_t pc,
	char *text, size_t text_cap, size_t *len);

/* "comgr 2.4" or "libLLVM 22.1": borrowed until close. */
const char *rck_disasm_backend(const struct rck_disasm *d);

/* NULL is allowed. */
void rck_disasm_close(struct rck_disasm *d);
