#include "report/findings.h"
#include "util/shorten.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Open addressing: keys of pointers and small numbers -> index + 1. */
struct index {
	uint64_t (*keys)[6];
	size_t *values;
	size_t n, cap;
};

static size_t *index_slot(struct index *x, const uint64_t key[static 6])
{
	size_t i = rck_hash_bytes(key, sizeof(*x->keys)) & (x->cap - 1);

	while (x->values[i] && memcmp(x->keys[i], key, sizeof(*x->keys)) != 0)
		i = (i + 1) & (x->cap - 1);
	return &x->values[i];
}

static void index_grow(struct index *x)
{
	struct index old = *x;

	x->cap = old.cap ? old.cap * 2 : 64;
	x->keys = rck_xcalloc(x->cap, sizeof(*x->keys));
	x->values = rck_xcalloc(x->cap, sizeof(*x->values));
	for (size_t i = 0; i < old.cap; i++) {
		if (old.values[i]) {
			size_t *v = index_slot(x, old.keys[i]);

			*v = old.values[i];
			memcpy(x->keys[v - x->values], old.keys[i], sizeof(*x->keys));
		}
	}
	free(old.keys);
	free(old.values);
}

/* The value of a key, to be set when it is 0: then the key is new. */
static size_t *index_add(struct index *x, const uint64_t key[static 6])
{
	size_t *v;

	if (x->n * 2 >= x->cap)
		index_grow(x);
	v = index_slot(x, key);
	if (!*v) {
		memcpy(x->keys[v - x->values], key, sizeof(*x->keys));
		x->n++;
	}
	return v;
}

static void index_release(struct index *x)
{
	free(x->keys);
	free(x->values);
}

static uint64_t word(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

static const struct rck_lint_kernel *kernel_of(
	const struct rck_lint *l, const struct rck_finding *f)
{
	return f->kernel == RCK_NO_KERNEL ? NULL : &l->kernels[f->kernel];
}

/* What two findings must share to be told as one. */
static void key_of(
	const struct rck_lint *l, const struct rck_finding *f, uint64_t key[static 6])
{
	const struct rck_lint_kernel *k = kernel_of(l, f);

	key[0] = (uint64_t)f->file << 32 | f->rule->number << 16 |
		 (unsigned)f->state << 8 | f->status;
	key[1] = word(k ? k->name : NULL);
	key[2] = word(f->text);
	key[3] = word(f->allow);
	key[4] = k ? k->cause : 0;
	key[5] = word(k ? NULL : f->where);
}

struct building {
	struct rck_groups *g;
	struct rck_strbuf *targets; /* of each group */
	size_t cap;
};

static size_t new_group(
	struct building *b, const struct rck_lint *l, const struct rck_finding *f)
{
	struct rck_groups *g = b->g;
	const struct rck_lint_kernel *k = kernel_of(l, f);

	if (g->n == b->cap) {
		b->cap = b->cap ? b->cap * 2 : 64;
		g->items = rck_xrealloc(g->items, b->cap * sizeof(*g->items));
		b->targets = rck_xrealloc(b->targets, b->cap * sizeof(*b->targets));
	}
	b->targets[g->n] = (struct rck_strbuf)RCK_STRBUF_INIT;
	g->items[g->n] = (struct rck_group){
		.first = f,
		.name = k ? k->name : NULL,
		.demangled = k ? (k->demangled ? k->demangled : k->name) : NULL,
		.cause = k ? k->cause : RCK_CAUSE_NONE,
		.min = f->value,
		.max = f->value,
	};
	return ++g->n;
}

static void join(struct rck_lint const *l, struct rck_group *g,
	struct rck_strbuf *targets, const struct rck_finding *f, bool new_target)
{
	if (new_target && *f->target) {
		rck_strbuf_addf(targets, "%s%s", targets->len ? " " : "", f->target);
		g->n_targets++;
	}
	g->count++;
	g->min = f->value < g->min ? f->value : g->min;
	g->max = f->value > g->max ? f->value : g->max;
	g->path = g->path ? g->path : f->path;
	g->proof = g->proof ? g->proof : f->proof;
	g->counts |= rck_finding_counts(l, f);
	if (!g->first->source && f->source)
		g->first = f;
}

/* Distinct names and targets of the whole run. */
static void survey(struct rck_groups *g, const struct rck_lint *l)
{
	struct index names = {0}, targets = {0};

	for (size_t i = 0; i < l->n_kernels; i++) {
		const uint64_t name[6] = {word(l->kernels[i].name)};
		const uint64_t target[6] = {word(l->kernels[i].target)};
		size_t *v = index_add(&names, name);

		g->distinct_kernels += !*v;
		*v = 1;
		v = index_add(&targets, target);
		if (!*v) {
			*v = 1;
			g->targets = rck_xrealloc(
				g->targets, (g->n_targets + 1) * sizeof(*g->targets));
			g->targets[g->n_targets++] = l->kernels[i].target;
		}
	}
	index_release(&names);
	index_release(&targets);
}

void rck_groups_init(struct rck_groups *g, const struct rck_lint *l)
{
	struct building b = {.g = g};
	struct index groups = {0}, pairs = {0};

	*g = (struct rck_groups){.lint = l};
	for (size_t i = 0; i < l->n_findings; i++) {
		const struct rck_finding *f = &l->findings[i];
		uint64_t key[6];
		size_t *at, *pair;

		key_of(l, f, key);
		at = index_add(&groups, key);
		if (!*at)
			*at = new_group(&b, l, f);
		const uint64_t both[6] = {*at, word(f->target)};

		pair = index_add(&pairs, both);
		join(l, &g->items[*at - 1], &b.targets[*at - 1], f, !*pair);
		*pair = 1;
	}
	for (size_t i = 0; i < g->n; i++) {
		struct rck_group *group = &g->items[i];

		group->targets = rck_pool_add(&g->strings, b.targets[i].buf);
		rck_strbuf_release(&b.targets[i]);
		g->n_new += group->first->status == RCK_STATUS_NEW;
		g->n_allowed += group->first->status == RCK_STATUS_ALLOWED;
		g->n_baselined += group->first->status == RCK_STATUS_BASELINED;
		g->n_maybe += group->first->status == RCK_STATUS_NEW &&
			      group->first->state == RCK_STATE_MAYBE;
	}
	free(b.targets);
	index_release(&groups);
	index_release(&pairs);
	survey(g, l);
}

void rck_groups_release(struct rck_groups *g)
{
	rck_pool_release(&g->strings);
	free(g->items);
	free(g->targets);
	*g = (struct rck_groups){0};
}

const char *rck_group_remedy(const struct rck_group *g)
{
	return g->first->remedy ? g->first->remedy
				: rck_rule_remedy(g->first->rule, g->cause, g->path);
}

void rck_group_amount(const struct rck_group *g, struct rck_strbuf *out)
{
	if (!g->first->counted)
		return;
	rck_strbuf_addu(out, g->min);
	if (g->max != g->min)
		rck_strbuf_addf(out, " to %" PRIu64, g->max);
	rck_strbuf_addf(out, " %s", g->first->rule->unit);
}

const char *rck_group_file(const struct rck_groups *g, const struct rck_group *group)
{
	return g->lint->files[group->first->file].relative;
}

void rck_group_sentence(
	const struct rck_groups *all, const struct rck_group *g, struct rck_strbuf *out)
{
	rck_strbuf_addf(out, "%s: ", rck_group_file(all, g));
	if (g->name) {
		rck_strbuf_adds(out, "kernel '");
		rck_shorten_name(out, g->demangled, strlen(g->demangled));
		rck_strbuf_adds(out, "' ");
	}
	if (g->n_targets)
		rck_strbuf_addf(out, "for %s: ", g->targets);
	if (g->first->state == RCK_STATE_MAYBE)
		rck_strbuf_adds(out, "maybe: ");
	rck_strbuf_adds(out, g->first->text);
	if (g->first->counted) {
		rck_strbuf_adds(out, " (");
		rck_group_amount(g, out);
		rck_strbuf_addc(out, ')');
	}
	rck_strbuf_addc(out, '.');
}
