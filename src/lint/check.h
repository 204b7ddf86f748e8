/* What check.c hands to finding.c. Private to this room. */
#pragma once

#include "lint/finding.h"
#include "util/range.h"

struct rck_lint_part {
	struct rck_pool strings;
	const char *target, *where;
	struct rck_lint_kernel *kernels;
	size_t n_kernels;
	struct rck_finding *findings; /* kernel: index into kernels above */
	size_t n_findings;
	uint64_t states[RCK_RULE_COUNT_][RCK_STATE_COUNT_];
};

/* A hash of machine code that ignores what only says where linking placed things. */
uint64_t rck_lint_body(const uint8_t *code, uint64_t size);
