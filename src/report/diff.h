/* What changed between two releases, for people and programs. */
#pragma once

#include "lint/diff.h"

struct rck_diff_options {
	const char *old, *new; /* what they are called */
	bool color, demangle;
	unsigned width;
	bool all; /* improvements and kernels that came or went, one by one (text) */
};

void rck_diff_text(const struct rck_diff *d, const struct rck_lint *old,
	const struct rck_lint *new, const struct rck_diff_options *o,
	struct rck_strbuf *out);
void rck_diff_json(const struct rck_diff *d, const struct rck_lint *old,
	const struct rck_lint *new, const struct rck_diff_options *o,
	struct rck_strbuf *out);
