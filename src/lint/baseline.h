/*
 * Findings that are known and accepted for now. A baseline is JSON, sorted, one entry a
 * line, so that its changes can be reviewed:
 *
 *	{"schema": 1, "findings": [
 *	  {"rule": "...", "path": "lib/a.so", "target": "gfx90a", "kernel": "_Z1kv",
 *"count": 1}
 *	]}
 *
 * The key is rule, relative path, target and mangled kernel ("" for findings of files),
 * never an offset; count tells how often it may occur.
 */
#pragma once

#include "rocmcheck.h"
#include "util/strbuf.h"

struct rck_baseline_key {
	const char *rule, *path, *target, *kernel;
};

struct rck_baseline_entry {
	struct rck_baseline_key key;
	uint64_t count; /* accepted */
	uint64_t seen;  /* by rck_baseline_accepts */
};

struct rck_baseline {
	struct rck_baseline_entry *entries; /* sorted by rck_baseline_key_compare */
	size_t n;
	void *document; /* what the strings belong to */
};

int rck_baseline_key_compare(
	const struct rck_baseline_key *a, const struct rck_baseline_key *b);
/* Errors: -ENOENT and other -errno, -EINVAL with line and column when it is no baseline.
 */
int rck_baseline_load(const char *path, struct rck_baseline *out, struct rck_diag *diag);
int rck_baseline_load_mem(
	const char *text, size_t len, struct rck_baseline *out, struct rck_diag *diag);
void rck_baseline_release(struct rck_baseline *b);
/* Counts one occurrence; true while no more than count were seen. */
bool rck_baseline_accepts(struct rck_baseline *b, const struct rck_baseline_key *key);
/* The text of a baseline with these keys; equal keys are counted. The array is sorted. */
void rck_baseline_write(struct rck_baseline_key *keys, size_t n, struct rck_strbuf *out);
