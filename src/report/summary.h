/* What was read, in numbers: of a leaf, of a file, of a run. Additions commute. */
#pragma once

#include "codeobj/codeobj.h"
#include "util/json.h"

#define RCK_CAUSE_COUNT_ (RCK_CAUSE_UNSETTLED + 1)

struct rck_summary {
	uint64_t files;         /* that hold device code */
	uint64_t files_without; /* read, and there is none in them */
	uint64_t code_objects;
	uint64_t kernels;  /* read */
	uint64_t selected; /* and wanted: what follows counts these */
	uint64_t flagged;  /* any of the three */
	uint64_t hostcall, heap, dynamic_stack;
	uint64_t possible_dynamic_stack;
	uint64_t causes[RCK_CAUSE_COUNT_]; /* of flagged kernels */
	uint64_t errors, incomplete, notes;
};

void rck_summary_add_kernel(struct rck_summary *s, const struct rck_kernel *k);
void rck_summary_add(struct rck_summary *s, const struct rck_summary *more);
/* Keys and values, into an open object. */
void rck_summary_json(const struct rck_summary *s, struct rck_json *j);
