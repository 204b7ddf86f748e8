/* What a cell of an experiment says, in the words of a maintainer. */
#pragma once

#include "teardown/experiment.h"

/* "with no load", "under 48 churn workers, 4 at a time", "with the listener starved".
 * free(). */
char *rck_verdict_load(const struct rck_cell *c);
/* "8 of 8 (100.0 %, 95 % interval 67.6 to 100.0)". free(). */
char *rck_verdict_rate(unsigned k, unsigned n);
/* "p = 0.012", "p = 1.6e-09". free(). */
char *rck_verdict_p(double p);
/* The paragraph of one cell. free(). */
char *rck_verdict_cell(const struct rck_experiment *x, const struct rck_cell *c);
/*
 * What the cells of ab say together, merged runs' too: which arms hang, and whether that
 * follows the listener. NULL where there is nothing to say. free().
 */
char *rck_verdict_whole(const struct rck_experiment *x);
/* True when an arm hung, crashed or failed in some cell. */
bool rck_verdict_has_findings(const struct rck_experiment *x);
