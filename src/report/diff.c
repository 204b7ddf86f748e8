#include "report/diff.h"
#include "util/json.h"
#include "util/shorten.h"
#include "util/term.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	unsigned flag;
	const char *key, *gained, *lost;
} flags[] = {
	{RCK_FLAG_HOSTCALL, "hostcall", "now declares a hostcall buffer",
		"no longer declares a hostcall buffer"},
	{RCK_FLAG_HEAP, "heap", "now declares the device heap",
		"no longer declares the device heap"},
	{RCK_FLAG_STACK, "dynamic_stack",
		"its stack now has no size known at compile time",
		"its stack has a known size now"},
};
#define N_FLAGS (sizeof(flags) / sizeof(flags[0]))

static const struct {
	const char *title, *unit, *more;
} facts[RCK_DIFF_FACTS] = {
	[RCK_DIFF_VGPRS] = {"VGPRs", "", "needs more vector registers"},
	[RCK_DIFF_AGPRS] = {"AGPRs", "", ""},
	[RCK_DIFF_SGPRS] = {"SGPRs", "", ""},
	[RCK_DIFF_SPILLS] = {"spills", "", "spills more"},
	[RCK_DIFF_SCRATCH] = {"scratch", " B", "needs more scratch"},
	[RCK_DIFF_LDS] = {"LDS", " B", "needs more LDS"},
};

/* ---- text: kernels that changed in the same way are told together */

static int compare_changes(const void *pa, const void *pb)
{
	const struct rck_diff_kernel *a = *(const struct rck_diff_kernel *const *)pa;
	const struct rck_diff_kernel *b = *(const struct rck_diff_kernel *const *)pb;

	if (a->regression != b->regression)
		return a->regression ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->gained != b->gained)
		return a->gained > b->gained ? -1 : 1;
	if (a->lost != b->lost)
		return a->lost > b->lost ? -1 : 1;
	if ((a->worse ^ b->worse) & RCK_DIFF_COSTS)
		return (a->worse & RCK_DIFF_COSTS) > (b->worse & RCK_DIFF_COSTS) ? -1 : 1;
	return a < b ? -1 : a > b;
}

static bool same_change(const struct rck_diff_kernel *a, const struct rck_diff_kernel *b)
{
	return a->regression == b->regression && a->kind == b->kind &&
	       a->gained == b->gained && a->lost == b->lost &&
	       !((a->worse ^ b->worse) & RCK_DIFF_COSTS);
}

static void add_clause(struct rck_strbuf *out, size_t *n, const char *text)
{
	rck_strbuf_addf(out, "%s%s", (*n)++ ? ", " : "", text);
}

static void add_range(struct rck_strbuf *out, const struct rck_diff_kernel **k, size_t n,
	enum rck_diff_fact f, bool new)
{
	uint64_t min = UINT64_MAX, max = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t v = new ? k[i]->new.facts[f] : k[i]->old.facts[f];

		min = v < min ? v : min;
		max = v > max ? v : max;
	}
	rck_strbuf_addu(out, min);
	if (max != min)
		rck_strbuf_addf(out, "-%" PRIu64, max);
}

static void add_change(struct rck_strbuf *out, const struct rck_diff_kernel **k, size_t n)
{
	static const char *const kinds[] = {
		[RCK_DIFF_ADDED] = "new", [RCK_DIFF_REMOVED] = "gone"};
	size_t clauses = 0;

	if (k[0]->kind != RCK_DIFF_CHANGED)
		add_clause(out, &clauses, kinds[k[0]->kind]);
	for (size_t i = 0; i < N_FLAGS; i++) {
		if (k[0]->gained & flags[i].flag)
			add_clause(out, &clauses, flags[i].gained);
		if (k[0]->lost & flags[i].flag)
			add_clause(out, &clauses, flags[i].lost);
	}
	for (int f = 0; f < RCK_DIFF_FACTS; f++)
		if (k[0]->worse & RCK_DIFF_COSTS & 1u << f)
			add_clause(out, &clauses, facts[f].more);
	if (!clauses)
		add_clause(out, &clauses, "numbers");
}

/* The numbers of a group, where some of its kernels changed them by more than allowed. */
static void print_numbers(
	struct rck_strbuf *out, const struct rck_diff_kernel **k, size_t n)
{
	unsigned changed = 0;
	size_t clauses = 0;

	for (size_t i = 0; i < n; i++)
		changed |= k[i]->worse | k[i]->better;
	for (int f = 0; f < RCK_DIFF_FACTS; f++) {
		if (!(changed >> f & 1))
			continue;
		rck_strbuf_adds(out, clauses++ ? ", " : "  ");
		rck_strbuf_addf(out, "%s ", facts[f].title);
		add_range(out, k, n, (enum rck_diff_fact)f, false);
		rck_strbuf_adds(out, " -> ");
		add_range(out, k, n, (enum rck_diff_fact)f, true);
		rck_strbuf_adds(out, facts[f].unit);
	}
	if (clauses)
		rck_strbuf_addc(out, '\n');
}

/* Each name once with its number of targets: kernels are in the order of their names. */
static size_t count_names(const struct rck_diff_kernel **k, size_t n)
{
	size_t names = 0;

	for (size_t i = 0; i < n; i++)
		names += !i || strcmp(k[i]->name, k[i - 1]->name) != 0;
	return names;
}

static void print_names(struct rck_strbuf *out, const struct rck_diff_kernel **k,
	size_t n, const struct rck_diff_options *o)
{
	for (size_t i = 0, end; i < n; i = end) {
		_cleanup_strbuf_ struct rck_strbuf name = RCK_STRBUF_INIT;
		_cleanup_strbuf_ struct rck_strbuf targets = RCK_STRBUF_INIT;

		for (end = i; end < n && !strcmp(k[end]->name, k[i]->name); end++)
			rck_strbuf_addf(
				&targets, "%s%s", end > i ? " " : "", k[end]->target);
		if (o->demangle)
			rck_shorten_name(&name, k[i]->demangled, strlen(k[i]->demangled));
		else
			rck_strbuf_adds(&name, k[i]->name);
		rck_strbuf_adds(out, "    ");
		rck_strbuf_add_masked(out, name.buf, name.len);
		if (end - i > 3)
			rck_strbuf_addf(out, "  (%zu targets)\n", end - i);
		else
			rck_strbuf_addf(out, "  (%s)\n", targets.buf);
	}
}

static void print_targets(
	struct rck_strbuf *out, const char *what, const char **targets, size_t n)
{
	if (!n)
		return;
	rck_strbuf_addf(out, "%s:", what);
	for (size_t i = 0; i < n; i++)
		rck_strbuf_addf(out, " %s", targets[i]);
	rck_strbuf_adds(out, "\n");
}

static const char *plural(size_t n)
{
	return n == 1 ? "" : "s";
}

void rck_diff_text(const struct rck_diff *d, const struct rck_lint *old,
	const struct rck_lint *new, const struct rck_diff_options *o,
	struct rck_strbuf *out)
{
	const struct rck_diff_kernel **order =
		rck_xcalloc(d->n_kernels + 1, sizeof(*order));

	for (size_t i = 0; i < d->n_kernels; i++)
		order[i] = &d->kernels[i];
	qsort(order, d->n_kernels, sizeof(*order), compare_changes);
	rck_strbuf_adds(out, "old: ");
	rck_strbuf_add_masked(out, o->old, strlen(o->old));
	rck_strbuf_addf(
		out, ", %zu kernel%s\nnew: ", old->n_kernels, plural(old->n_kernels));
	rck_strbuf_add_masked(out, o->new, strlen(o->new));
	rck_strbuf_addf(out, ", %zu kernel%s\n", new->n_kernels, plural(new->n_kernels));
	print_targets(out, "targets removed", d->removed, d->n_removed);
	print_targets(out, "targets added", d->added, d->n_added);
	for (size_t i = 0, end; i < d->n_kernels; i = end) {
		size_t names;

		for (end = i + 1;
			end < d->n_kernels && same_change(order[i], order[end]);)
			end++;
		names = count_names(order + i, end - i);
		rck_strbuf_addf(out, "\n%s%s%s: %zu kernel%s, %zu with their targets: ",
			o->color ? order[i]->regression ? "\033[31m" : "\033[32m" : "",
			order[i]->regression ? "regression" : "change",
			o->color ? "\033[0m" : "", names, plural(names), end - i);
		add_change(out, order + i, end - i);
		rck_strbuf_addc(out, '\n');
		print_numbers(out, order + i, end - i);
		if (order[i]->regression || o->all)
			print_names(out, order + i, end - i, o);
	}
	rck_strbuf_addf(out, "\n%zu regression%s, %zu other change%s, %zu the same\n",
		d->n_regressions, plural(d->n_regressions),
		d->n_kernels - d->n_regressions, plural(d->n_kernels - d->n_regressions),
		d->n_same);
	free(order);
}

/* ---- JSON, schema 1 */

static void put_flags(struct rck_json *j, const char *key, unsigned set)
{
	rck_json_key(j, key);
	rck_json_array(j);
	for (size_t i = 0; i < N_FLAGS; i++)
		if (set & flags[i].flag)
			rck_json_str(j, flags[i].key);
	rck_json_array_end(j);
}

static void put_kernel(struct rck_json *j, const struct rck_diff_kernel *k)
{
	static const char *const kinds[] = {[RCK_DIFF_CHANGED] = "changed",
		[RCK_DIFF_ADDED] = "added",
		[RCK_DIFF_REMOVED] = "removed"};

	rck_json_object(j);
	rck_json_kstr(j, "kernel", k->name);
	rck_json_kstr(j, "demangled", k->demangled);
	rck_json_kstr(j, "target", k->target);
	rck_json_kstr(j, "change", kinds[k->kind]);
	rck_json_kbool(j, "regression", k->regression);
	put_flags(j, "gained", k->gained);
	put_flags(j, "lost", k->lost);
	for (int f = 0; f < RCK_DIFF_FACTS; f++) {
		if (k->kind == RCK_DIFF_CHANGED && k->old.facts[f] == k->new.facts[f])
			continue;
		rck_json_key(j, rck_diff_fact_name((enum rck_diff_fact)f));
		rck_json_array(j);
		if (k->kind == RCK_DIFF_ADDED)
			rck_json_null(j);
		else
			rck_json_u64(j, k->old.facts[f]);
		if (k->kind == RCK_DIFF_REMOVED)
			rck_json_null(j);
		else
			rck_json_u64(j, k->new.facts[f]);
		rck_json_array_end(j);
	}
	rck_json_object_end(j);
}

static void put_side(
	struct rck_json *j, const char *key, const char *path, const struct rck_lint *l)
{
	rck_json_key(j, key);
	rck_json_object(j);
	rck_json_kstr(j, "path", path);
	rck_json_ku64(j, "code_objects", l->objects);
	rck_json_ku64(j, "kernels", l->n_kernels);
	rck_json_object_end(j);
}

static void put_targets(struct rck_json *j, const char *key, const char **t, size_t n)
{
	rck_json_key(j, key);
	rck_json_array(j);
	for (size_t i = 0; i < n; i++)
		rck_json_str(j, t[i]);
	rck_json_array_end(j);
}

void rck_diff_json(const struct rck_diff *d, const struct rck_lint *old,
	const struct rck_lint *new, const struct rck_diff_options *o,
	struct rck_strbuf *out)
{
	struct rck_json j;

	rck_json_init(&j, out, 2);
	rck_json_object(&j);
	rck_json_ku64(&j, "schema", 1);
	rck_json_kstr(&j, "tool", "rocmcheck");
	rck_json_kstr(&j, "version", RCK_VERSION);
	rck_json_kstr(&j, "command", "diff");
	put_side(&j, "old", o->old, old);
	put_side(&j, "new", o->new, new);
	put_targets(&j, "targets_removed", d->removed, d->n_removed);
	put_targets(&j, "targets_added", d->added, d->n_added);
	rck_json_key(&j, "kernels");
	rck_json_array(&j);
	for (size_t i = 0; i < d->n_kernels; i++)
		put_kernel(&j, &d->kernels[i]);
	rck_json_array_end(&j);
	rck_json_ku64(&j, "regressions", d->n_regressions);
	rck_json_ku64(&j, "same", d->n_same);
	rck_json_object_end(&j);
	rck_strbuf_addc(out, '\n');
}
