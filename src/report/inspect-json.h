/*
 * inspect as JSON, schema 1 (share/schema/inspect.schema.json; the man page documents
 * it): one document, or JSON lines. The same records in both; in lines each names its
 * type, its file and its place, in the document these are where it stands.
 */
#pragma once

#include "report/summary.h"
#include "util/strbuf.h"

#define RCK_INSPECT_SCHEMA 1

enum rck_json_form { RCK_JSON_DOCUMENT, RCK_JSON_LINES };

/* Where a record belongs. */
struct rck_json_place {
	const char *path;
	const char *where; /* in the file; "" for the file itself */
};

/* ---- records, rendered on any thread; in lines each ends with a new line */

/* A code object's own facts. In a document its "kernels" array is left open. */
void rck_inspect_json_object(struct rck_strbuf *out, enum rck_json_form form,
	const struct rck_json_place *place, const struct rck_item *item,
	const struct rck_code_object *co);
/* nth counts the kernels that were rendered since. */
void rck_inspect_json_kernel(struct rck_strbuf *out, enum rck_json_form form,
	const struct rck_json_place *place, const struct rck_kernel *k, size_t nth,
	bool args);
/* Closes what _object left open. */
void rck_inspect_json_object_end(struct rck_strbuf *out, enum rck_json_form form);

/* ---- the whole, in order: what is to be written next is appended to out */

struct rck_inspect_json {
	enum rck_json_form form;
	struct rck_strbuf *out;
	uint64_t n_files, n_objects, n_problems, n_extracted;
	/* a document's arrays of the current file, which end up behind its code objects
	 */
	struct rck_strbuf problems, extracted;
};

void rck_inspect_json_start(
	struct rck_inspect_json *r, enum rck_json_form form, struct rck_strbuf *out);
void rck_inspect_json_file(struct rck_inspect_json *r, const char *path, uint64_t size);
/* Before the first piece of each code object's text is appended. */
void rck_inspect_json_next_object(struct rck_inspect_json *r);
void rck_inspect_json_problem(struct rck_inspect_json *r,
	const struct rck_json_place *place, enum rck_item_kind kind,
	const struct rck_diag *diag, const char *remedy);
void rck_inspect_json_extracted(
	struct rck_inspect_json *r, const struct rck_json_place *place, const char *to);
void rck_inspect_json_file_end(
	struct rck_inspect_json *r, const char *path, const struct rck_summary *s);
void rck_inspect_json_finish(struct rck_inspect_json *r, const struct rck_summary *s);
