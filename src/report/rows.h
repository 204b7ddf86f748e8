/*
 * Rows of a table of kernels: one for each kernel, or (grouped) one for all kernels of
 * the same mangled name, which are the same kernel over several targets. A row keeps
 * copies, so code objects need not outlive it.
 */
#pragma once

#include "codeobj/codeobj.h"

/* A fact over the kernels of a row. */
struct rck_row_fact {
	unsigned known;     /* kernels that state it */
	unsigned yes;       /* BOOL: of these, true ones */
	unsigned disagrees; /* metadata and descriptor differ */
	uint64_t min, max;  /* NUMBER */
	char *string; /* STRING: the different ones, ',' between; NULL: none known */
};

struct rck_row {
	char *name;
	char *demangled;
	unsigned kernels;
	unsigned flagged;
	unsigned possible_stack;
	char *target;        /* of the first kernel */
	size_t order;        /* of the first kernel */
	char *args;          /* one line each; NULL without args */
	unsigned other_args; /* kernels whose arguments differ from these */
	struct rck_row_fact facts[RCK_FACT_COUNT_];
};

struct rck_rows;

struct rck_rows *rck_rows_new(bool group, bool args);
void rck_rows_free(struct rck_rows *rows); /* NULL is fine */
void rck_rows_add(struct rck_rows *rows, const struct rck_kernel *k);
size_t rck_rows_count(const struct rck_rows *rows);
const struct rck_row *rck_rows_get(const struct rck_rows *rows, size_t i);

/*
 * Keys: "flags" (flagged rows first), "file" (as they were added), "name", "target", or a
 * fact's key: numbers fall, strings rise. Equal rows stay in the order of the file.
 * False: no such key.
 */
bool rck_rows_sort_key(const char *key, int *out);
void rck_rows_sort(struct rck_rows *rows, int key);
