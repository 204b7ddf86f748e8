/* Files -> a run of the rules: what `lint` and `diff` share. */
#pragma once

#include "cmd/scan.h"
#include "lint/finding.h"

/* Brings what the inputs hold into the run. Returns an enum rck_exit: clean, or usage
 * when there is nothing to read; what could not be read is in the run. */
int rck_lint_scan(struct rck_lint *l, const struct rck_inputs_spec *inputs,
	const struct rck_scan_spec *scan);
