#include "report/rows.h"
#include "util/strbuf.h"

#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

struct rck_rows {
	bool group, args;
	struct rck_row **rows;
	size_t n, cap;
	void *by_name; /* tsearch(3) tree of the rows, when they are grouped */
};

/* Sort keys that are no fact count down from -1. */
static const char *const other_keys[] = {"flags", "file", "name", "target"};
enum { BY_FLAGS = -1, BY_FILE = -2, BY_NAME = -3, BY_TARGET = -4 };

struct rck_rows *rck_rows_new(bool group, bool args)
{
	struct rck_rows *rows = rck_xcalloc(1, sizeof(*rows));

	rows->group = group;
	rows->args = args;
	return rows;
}

static void keep_node(void *node)
{
	(void)node;
}

void rck_rows_free(struct rck_rows *rows)
{
	if (!rows)
		return;
	tdestroy(rows->by_name, keep_node);
	for (size_t i = 0; i < rows->n; i++) {
		struct rck_row *r = rows->rows[i];

		for (int f = 0; f < RCK_FACT_COUNT_; f++)
			free(r->facts[f].string);
		free(r->name);
		free(r->demangled);
		free(r->target);
		free(r->args);
		free(r);
	}
	free(rows->rows);
	free(rows);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(
		((const struct rck_row *)a)->name, ((const struct rck_row *)b)->name);
}

static struct rck_row *new_row(struct rck_rows *rows, const struct rck_kernel *k)
{
	struct rck_row *r = rck_xcalloc(1, sizeof(*r));

	if (rows->n == rows->cap) {
		rows->cap = rows->cap ? rows->cap * 2 : 64;
		rows->rows = rck_xrealloc(rows->rows, rows->cap * sizeof(*rows->rows));
	}
	r->order = rows->n;
	r->name = rck_xstrdup(rck_kernel_name(k));
	r->demangled = rck_xstrdup(rck_kernel_demangled(k));
	r->target = rck_xstrdup(rck_code_object_target(k->object));
	rows->rows[rows->n++] = r;
	return r;
}

static struct rck_row *row_of(struct rck_rows *rows, const struct rck_kernel *k)
{
	struct rck_row probe = {.name = (char *)rck_kernel_name(k)};
	struct rck_row **found;

	if (!rows->group)
		return new_row(rows, k);
	found = tfind(&probe, &rows->by_name, by_name);
	if (!found) {
		found = tsearch(new_row(rows, k), &rows->by_name, by_name);
		if (!found)
			rck_oom();
	}
	return *found;
}

/* Adds a value to the list of different ones. */
static void add_string(struct rck_row_fact *f, const char *value)
{
	size_t len = strlen(value);
	char *longer;

	for (const char *p = f->string; p && *p; p += strcspn(p, ","), p += *p == ',')
		if (strcspn(p, ",") == len && !memcmp(p, value, len))
			return;
	longer =
		f->string ? rck_xasprintf("%s,%s", f->string, value) : rck_xstrdup(value);
	free(f->string);
	f->string = longer;
}

static void add_fact(struct rck_row_fact *f, const struct rck_value *v)
{
	f->disagrees += v->disagrees;
	if (!v->known)
		return;
	if (v->type == RCK_VALUE_STRING) {
		add_string(f, v->string);
	} else {
		f->yes += !!v->number;
		f->min = f->known && f->min < v->number ? f->min : v->number;
		f->max = f->known && f->max > v->number ? f->max : v->number;
	}
	f->known++;
}

static char *args_text(const struct rck_kernel *k)
{
	struct rck_strbuf sb = RCK_STRBUF_INIT;

	for (size_t i = 0; i < k->n_args; i++) {
		const struct rck_arg *a = &k->args[i];

		rck_strbuf_addf(&sb, "%6" PRIu64 " %4" PRIu64 "  ", a->offset, a->size);
		rck_strbuf_add_masked(&sb, a->value_kind, strlen(a->value_kind));
		for (int n = 0; n < 2; n++) {
			const char *s = n ? a->name : a->type_name;

			if (s && *s) {
				rck_strbuf_addc(&sb, ' ');
				rck_strbuf_add_masked(&sb, s, strlen(s));
			}
		}
		rck_strbuf_addc(&sb, '\n');
	}
	return rck_strbuf_detach(&sb);
}

static void add_args(struct rck_row *r, const struct rck_kernel *k)
{
	char *text = args_text(k);

	if (!r->args) {
		r->args = text;
		return;
	}
	r->other_args += !!strcmp(r->args, text);
	free(text);
}

void rck_rows_add(struct rck_rows *rows, const struct rck_kernel *k)
{
	struct rck_row *r = row_of(rows, k);

	r->kernels++;
	r->flagged += rck_kernel_flagged(k);
	r->possible_stack += k->dynamic_stack == RCK_POSSIBLE;
	for (enum rck_fact f = 0; f < RCK_FACT_COUNT_; f++) {
		struct rck_value v;

		rck_kernel_fact(k, f, &v);
		add_fact(&r->facts[f], &v);
	}
	if (rows->args)
		add_args(r, k);
}

size_t rck_rows_count(const struct rck_rows *rows)
{
	return rows->n;
}

const struct rck_row *rck_rows_get(const struct rck_rows *rows, size_t i)
{
	return rows->rows[i];
}

bool rck_rows_sort_key(const char *key, int *out)
{
	for (size_t i = 0; i < sizeof(other_keys) / sizeof(*other_keys); i++)
		if (!strcmp(key, other_keys[i])) {
			*out = -1 - (int)i;
			return true;
		}
	for (enum rck_fact f = 0; f < RCK_FACT_COUNT_; f++)
		if (!strcmp(key, rck_fact_info(f)->key)) {
			*out = (int)f;
			return true;
		}
	return false;
}

/* Known before unknown; numbers fall, strings rise. */
static int compare_fact(const struct rck_row_fact *a, const struct rck_row_fact *b,
	enum rck_value_type type)
{
	if (!a->known || !b->known)
		return !a->known - !b->known;
	if (type == RCK_VALUE_STRING)
		return strcmp(a->string, b->string);
	if (type == RCK_VALUE_BOOL)
		return (a->yes < b->yes) - (a->yes > b->yes);
	return (a->max < b->max) - (a->max > b->max);
}

static int compare_rows(const void *x, const void *y, void *arg)
{
	const struct rck_row *a = *(struct rck_row *const *)x;
	const struct rck_row *b = *(struct rck_row *const *)y;
	int key = *(int *)arg, c = 0;

	switch (key) {
	case BY_FLAGS:
		c = !a->flagged - !b->flagged;
		break;
	case BY_FILE:
		break;
	case BY_NAME:
		c = strcmp(a->demangled, b->demangled);
		break;
	case BY_TARGET:
		c = strcmp(a->target, b->target);
		break;
	default:
		c = compare_fact(&a->facts[key], &b->facts[key],
			rck_fact_info((enum rck_fact)key)->type);
	}
	return c ? c : (a->order > b->order) - (a->order < b->order);
}

void rck_rows_sort(struct rck_rows *rows, int key)
{
	qsort_r(rows->rows, rows->n, sizeof(*rows->rows), compare_rows, &key);
}
