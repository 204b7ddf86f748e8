/*
 * A text table: cells in, aligned lines out. Columns are as wide as their widest cell;
 * when the table is wider than the terminal the columns marked shrink are cut in the
 * middle ("…").
 */
#pragma once

#include "util/strbuf.h"

#include <stdbool.h>

struct rck_column {
	const char *title;
	bool right;     /* align to the right: numbers */
	bool shrink;    /* may be cut to fit */
	unsigned least; /* a shrinking column's least width */
	/* how a cell is cut to width columns; NULL: rck_table_cut() */
	void (*cut)(struct rck_strbuf *out, const char *text, size_t width);
};

struct rck_table;

/* Adds text cut in the middle ("…") to width columns; as it is when it fits. */
void rck_table_cut(struct rck_strbuf *out, const char *text, size_t width);

/* columns is borrowed and lives as long as the table. */
struct rck_table *rck_table_new(const struct rck_column *columns, size_t n);
void rck_table_free(struct rck_table *t);
/* The next cell of the current row, row by row; text is copied (already masked by the
 * caller). */
void rck_table_cell(struct rck_table *t, const char *text);
void rck_table_cellf(struct rck_table *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
size_t rck_table_rows(const struct rck_table *t);
/* Header and rows, in lines of at most width columns where shrinking allows it; indent
 * blanks lead. */
void rck_table_print(const struct rck_table *t, struct rck_strbuf *out, unsigned width,
	unsigned indent);
