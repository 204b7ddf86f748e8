/* A table of kernels for people: rows in, lines out. */
#pragma once

#include "report/rows.h"
#include "util/strbuf.h"

struct rck_kernel_table_spec {
	unsigned width; /* columns; 0: no limit, and names are not shortened */
	bool color;
	bool group;               /* rows are names over several targets */
	unsigned long long limit; /* rows; 0: all */
	int sort;                 /* rck_rows_sort_key() */
	const char *columns;      /* keys of facts, ',' between; "all"; NULL: what fits */
};

/* -EINVAL and a message for the user when spec->columns names no fact. */
int rck_kernel_table_check(
	const struct rck_kernel_table_spec *spec, struct rck_diag *diag);
/* Sorts the rows and adds their table to out, and under each row its arguments. A column
 * of targets is left out where each row has all n_targets of them: the caller names
 * these. */
void rck_kernel_table_print(const struct rck_kernel_table_spec *spec,
	struct rck_rows *rows, size_t n_targets, struct rck_strbuf *out);
