#include "lint/baseline.h"
#include "container/container.h"
#include "util/json.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

int rck_baseline_key_compare(
	const struct rck_baseline_key *a, const struct rck_baseline_key *b)
{
	int d = strcmp(a->path, b->path);

	if (!d)
		d = strcmp(a->rule, b->rule);
	if (!d)
		d = strcmp(a->kernel, b->kernel);
	return d ? d : strcmp(a->target, b->target);
}

static int compare(const void *a, const void *b)
{
	/* an entry starts with its key */
	return rck_baseline_key_compare(a, b);
}

static int bad_entry(struct rck_diag *diag, size_t i, const char *what)
{
	return rck_fail(diag, -EINVAL, RCK_OFFSET_NONE, "finding %zu: %s", i + 1, what);
}

static int read_entry(
	json_t *at, size_t i, struct rck_baseline_entry *e, struct rck_diag *diag)
{
	json_error_t error;
	json_int_t count;

	if (json_unpack_ex(at, &error, JSON_STRICT, "{s:s, s:s, s:s, s:s, s:I}", "rule",
		    &e->key.rule, "path", &e->key.path, "target", &e->key.target,
		    "kernel", &e->key.kernel, "count", &count))
		return bad_entry(diag, i, error.text);
	if (count < 1)
		return bad_entry(diag, i, "its count is not positive");
	e->count = (uint64_t)count;
	e->seen = 0;
	return 0;
}

static int read_document(json_t *doc, struct rck_baseline *out, struct rck_diag *diag)
{
	json_error_t error;
	json_t *findings, *at;
	json_int_t schema;
	size_t i;
	int err;

	if (json_unpack_ex(doc, &error, 0, "{s:I, s:o}", "schema", &schema, "findings",
		    &findings) ||
		!json_is_array(findings))
		return rck_fail(diag, -EINVAL, RCK_OFFSET_NONE, "it is no baseline: %s",
			*error.text ? error.text : "no array");
	if (schema != 1)
		return rck_fail(diag, -EINVAL, RCK_OFFSET_NONE,
			"its schema is %lld; this version reads 1", (long long)schema);
	out->entries = rck_xcalloc(json_array_size(findings) + 1, sizeof(*out->entries));
	json_array_foreach(findings, i, at)
	{
		err = read_entry(at, i, &out->entries[i], diag);
		if (err)
			return err;
		out->n = i + 1;
	}
	qsort(out->entries, out->n, sizeof(*out->entries), compare);
	return 0;
}

static int load(json_t *doc, const json_error_t *error, struct rck_baseline *out,
	struct rck_diag *diag)
{
	int err;

	*out = (struct rck_baseline){.document = doc};
	if (!doc)
		return rck_fail(diag, -EINVAL, RCK_OFFSET_NONE, "line %d, column %d: %s",
			error->line, error->column, error->text);
	err = read_document(doc, out, diag);
	if (err)
		rck_baseline_release(out);
	return err;
}

int rck_baseline_load(const char *path, struct rck_baseline *out, struct rck_diag *diag)
{
	json_error_t error = {0};
	FILE *f = fopen(path, "re");
	json_t *doc;

	*out = (struct rck_baseline){0};
	if (!f)
		return rck_fail(diag, -errno, RCK_OFFSET_NONE, "cannot open it: %m");
	doc = json_loadf(f, JSON_REJECT_DUPLICATES, &error);
	/* jansson takes a failed read for the end */
	if (ferror(f)) {
		rck_fail(diag, -EIO, RCK_OFFSET_NONE, "cannot read it: %m");
		json_decref(doc);
		fclose(f);
		return -EIO;
	}
	fclose(f);
	return load(doc, &error, out, diag);
}

int rck_baseline_load_mem(
	const char *text, size_t len, struct rck_baseline *out, struct rck_diag *diag)
{
	json_error_t error = {0};
	json_t *doc = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);

	return load(doc, &error, out, diag);
}

void rck_baseline_release(struct rck_baseline *b)
{
	free(b->entries);
	json_decref(b->document);
	*b = (struct rck_baseline){0};
}

bool rck_baseline_accepts(struct rck_baseline *b, const struct rck_baseline_key *key)
{
	struct rck_baseline_entry *e;

	if (!b->n)
		return false;
	e = bsearch(key, b->entries, b->n, sizeof(*b->entries), compare);
	return e && e->seen++ < e->count;
}

void rck_baseline_write(struct rck_baseline_key *keys, size_t n, struct rck_strbuf *out)
{
	const char *comma = "";

	if (n)
		qsort(keys, n, sizeof(*keys), compare);
	rck_strbuf_adds(out, "{\"schema\": 1, \"findings\": [");
	for (size_t i = 0, end; i < n; i = end) {
		struct rck_json j;

		for (end = i + 1; end < n && !compare(&keys[i], &keys[end]);)
			end++;
		rck_strbuf_addf(out, "%s\n  ", comma);
		rck_json_init(&j, out, 0);
		rck_json_object(&j);
		rck_json_kstr(&j, "rule", keys[i].rule);
		rck_json_kstr(&j, "path", keys[i].path);
		rck_json_kstr(&j, "target", keys[i].target);
		rck_json_kstr(&j, "kernel", keys[i].kernel);
		rck_json_ku64(&j, "count", end - i);
		rck_json_object_end(&j);
		comma = ",";
	}
	rck_strbuf_adds(out, "\n]}\n");
}
