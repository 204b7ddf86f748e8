#include "lint/diff.h"

#include <stdlib.h>
#include <string.h>

const char *rck_diff_fact_name(enum rck_diff_fact f)
{
	static const char *const names[RCK_DIFF_FACTS] = {
		[RCK_DIFF_VGPRS] = "vgprs",
		[RCK_DIFF_AGPRS] = "agprs",
		[RCK_DIFF_SGPRS] = "sgprs",
		[RCK_DIFF_SPILLS] = "spills",
		[RCK_DIFF_SCRATCH] = "scratch",
		[RCK_DIFF_LDS] = "lds",
	};

	return names[f];
}

/* A kernel of one release, all of its instances joined. */
struct entry {
	const char *name, *demangled, *target;
	struct rck_diff_side side;
};

struct list {
	struct entry *entries;
	size_t n;
};

static int compare(const struct entry *a, const struct entry *b)
{
	int d = strcmp(a->name, b->name);

	return d ? d : strcmp(a->target, b->target);
}

static int compare_entries(const void *a, const void *b)
{
	return compare(a, b);
}

static bool has_target(const struct rck_lint *l, const char *target)
{
	for (size_t i = 0; i < l->n_kernels; i++)
		if (!strcmp(l->kernels[i].target, target))
			return true;
	return false;
}

/* The target under which the other release has it: "gfx90a" also runs what was
 * "gfx90a:xnack-". */
static const char *common_target(const struct rck_lint *l, const char *target)
{
	size_t n = strcspn(target, ":");

	if (!target[n] || has_target(l, target))
		return target;
	for (size_t i = 0; i < l->n_kernels; i++)
		if (!strncmp(l->kernels[i].target, target, n) && !l->kernels[i].target[n])
			return l->kernels[i].target;
	return target;
}

static void join(struct rck_diff_side *a, const struct rck_diff_side *b)
{
	a->flags |= b->flags;
	for (int i = 0; i < RCK_DIFF_FACTS; i++)
		if (a->facts[i] < b->facts[i])
			a->facts[i] = b->facts[i];
}

static void make_list(
	struct list *out, const struct rck_lint *l, const struct rck_lint *other)
{
	const char *seen = NULL, *target = NULL;

	out->entries = rck_xcalloc(l->n_kernels + 1, sizeof(*out->entries));
	out->n = 0;
	for (size_t i = 0; i < l->n_kernels; i++) {
		const struct rck_lint_kernel *k = &l->kernels[i];

		if (k->target != seen) {
			seen = k->target;
			target = common_target(other, seen);
		}
		out->entries[i] = (struct entry){k->name,
			k->demangled ? k->demangled : k->name, target,
			{k->flags, {k->vgprs, k->agprs, k->sgprs, k->spills, k->scratch,
					   k->lds}}};
	}
	qsort(out->entries, l->n_kernels, sizeof(*out->entries), compare_entries);
	for (size_t i = 0; i < l->n_kernels; i++) {
		struct entry *last = out->n ? &out->entries[out->n - 1] : NULL;

		if (last && !compare(last, &out->entries[i]))
			join(&last->side, &out->entries[i].side);
		else
			out->entries[out->n++] = out->entries[i];
	}
}

/* More than the tolerance beyond what it was; from nothing, anything is. */
static bool grew(uint64_t from, uint64_t to, unsigned tolerance)
{
	return to > from && (double)(to - from) * 100 > (double)from * tolerance;
}

/* "possible" is what was known before the compiler said it for sure. */
#define FIRM ((unsigned)(RCK_FLAG_HOSTCALL | RCK_FLAG_HEAP | RCK_FLAG_STACK))

static void judge(struct rck_diff_kernel *k, unsigned tolerance)
{
	if (k->kind == RCK_DIFF_CHANGED) {
		k->gained = FIRM & k->new.flags & ~k->old.flags;
		k->lost = FIRM & k->old.flags & ~k->new.flags;
		if (k->new.flags & RCK_FLAG_STACK_POSSIBLE)
			k->lost &= ~(unsigned)RCK_FLAG_STACK;
		for (int i = 0; i < RCK_DIFF_FACTS; i++) {
			if (grew(k->old.facts[i], k->new.facts[i], tolerance))
				k->worse |= 1u << i;
			if (grew(k->new.facts[i], k->old.facts[i], tolerance))
				k->better |= 1u << i;
		}
	} else if (k->kind == RCK_DIFF_ADDED) {
		k->gained = FIRM & k->new.flags;
	}
	/* scratch of a stack without a known size says nothing about the size */
	if (k->old.flags & (RCK_FLAG_STACK | RCK_FLAG_STACK_POSSIBLE))
		k->worse &= ~(1u << RCK_DIFF_SCRATCH);
	k->regression = k->gained || (k->worse & RCK_DIFF_COSTS);
}

static void add_kernel(struct rck_diff *d, const struct entry *e, enum rck_diff_kind kind,
	const struct rck_diff_side *old, const struct rck_diff_side *new,
	unsigned tolerance)
{
	static const struct rck_diff_side nothing;
	struct rck_diff_kernel *k;

	if (!(d->n_kernels & (d->n_kernels - 1)))
		d->kernels = rck_xrealloc(d->kernels,
			(d->n_kernels ? d->n_kernels * 2 : 1) * sizeof(*d->kernels));
	k = &d->kernels[d->n_kernels];
	*k = (struct rck_diff_kernel){.name = e->name,
		.demangled = e->demangled,
		.target = e->target,
		.kind = kind,
		.old = old ? *old : nothing,
		.new = new ? *new : nothing};
	judge(k, tolerance);
	if (kind == RCK_DIFF_CHANGED && !k->gained && !k->lost && !k->worse &&
		!k->better) {
		d->n_same++;
		return;
	}
	d->n_kernels++;
	d->n_regressions += k->regression;
}

static bool listed(const char **targets, size_t n, const char *target)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(targets[i], target))
			return true;
	return false;
}

/* Targets that are in one release alone. */
static void lone_targets(
	const struct list *from, const struct list *other, const char ***out, size_t *n)
{
	for (size_t i = 0; i < from->n; i++) {
		const char *target = from->entries[i].target;
		bool there = listed(*out, *n, target);

		for (size_t k = 0; k < other->n && !there; k++)
			there = !strcmp(other->entries[k].target, target);
		if (there)
			continue;
		*out = rck_xrealloc(*out, (*n + 1) * sizeof(**out));
		(*out)[(*n)++] = target;
	}
}

void rck_diff_make(struct rck_diff *d, const struct rck_lint *old,
	const struct rck_lint *new, unsigned tolerance)
{
	struct list a, b;
	size_t i = 0, k = 0;

	*d = (struct rck_diff){0};
	make_list(&a, old, new);
	make_list(&b, new, old);
	lone_targets(&a, &b, &d->removed, &d->n_removed);
	lone_targets(&b, &a, &d->added, &d->n_added);
	while (i < a.n || k < b.n) {
		int c = i == a.n   ? 1
			: k == b.n ? -1
				   : compare(&a.entries[i], &b.entries[k]);

		if (!c) {
			add_kernel(d, &b.entries[k], RCK_DIFF_CHANGED, &a.entries[i].side,
				&b.entries[k].side, tolerance);
		} else if (c < 0) {
			if (!listed(d->removed, d->n_removed, a.entries[i].target))
				add_kernel(d, &a.entries[i], RCK_DIFF_REMOVED,
					&a.entries[i].side, NULL, tolerance);
		} else {
			add_kernel(d, &b.entries[k], RCK_DIFF_ADDED, NULL,
				&b.entries[k].side, tolerance);
		}
		i += c <= 0;
		k += c >= 0;
	}
	free(a.entries);
	free(b.entries);
}

void rck_diff_release(struct rck_diff *d)
{
	free(d->kernels);
	free(d->removed);
	free(d->added);
	*d = (struct rck_diff){0};
}

int rck_diff_verdict(const struct rck_diff *d)
{
	return d->n_regressions || d->n_removed;
}
