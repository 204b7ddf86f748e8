/*
 * inspect for people: for each file a table of its kernels and one line that sums it up;
 * at the end why the flags are there and what to do about it, once for each cause.
 *
 * By default the same kernel over several targets is one row, flagged rows come first,
 * and a table ends after so many rows: the question is "which kernels, and why", and ten
 * targets of one source file have one answer. Nothing is lost: the summary line counts
 * all, and the last line of a cut table says how to see the rest.
 */
#pragma once

#include "report/kernel-table.h"
#include "report/summary.h"
#include "util/strbuf.h"

struct rck_inspect_text;

/* spec is borrowed and has been checked; what is to be written is appended to out. */
struct rck_inspect_text *rck_inspect_text_new(
	const struct rck_kernel_table_spec *spec, bool args, struct rck_strbuf *out);
void rck_inspect_text_free(struct rck_inspect_text *t); /* NULL is fine */

/* In order: a file, what is in it, its end. path is borrowed until the file's end. */
void rck_inspect_text_file(struct rck_inspect_text *t, const char *path);
void rck_inspect_text_object(
	struct rck_inspect_text *t, const char *where, const struct rck_code_object *co);
void rck_inspect_text_kernel(struct rck_inspect_text *t, const struct rck_kernel *k);
/* Something readable but odd, or (kind INCOMPLETE) device code without metadata. */
void rck_inspect_text_problem(struct rck_inspect_text *t, const char *where,
	enum rck_item_kind kind, const struct rck_diag *diag);
void rck_inspect_text_extracted(struct rck_inspect_text *t, const char *to);
void rck_inspect_text_file_end(struct rck_inspect_text *t, const struct rck_summary *s);
/* The causes, and the total when there were several files. */
void rck_inspect_text_finish(struct rck_inspect_text *t, const struct rck_summary *s);
