/* The reports of ab and stress: one experiment in, text out. None of them prints. */
#pragma once

#include "teardown/experiment.h"

#include <stdbool.h>

/* For people: the arms side by side, a line for each arm of each cell, the stack of the
 * hangs, the verdict. width: columns. */
void rck_experiment_text(const struct rck_experiment *x, struct rck_strbuf *out,
	unsigned width, bool color);
/* One JSON object, indented. */
void rck_experiment_json(const struct rck_experiment *x, struct rck_strbuf *out);
/* JUnit XML as CI systems read it: a suite a cell, a test case an exposure. */
void rck_experiment_junit(const struct rck_experiment *x, struct rck_strbuf *out);
/* One self-contained page; nothing is fetched. */
void rck_experiment_html(const struct rck_experiment *x, struct rck_strbuf *out);
