/*
 * GitHub Actions: workflow commands, of which a step shows ten of each kind, so what one
 * rule says of a file is one of them, and one of max_findings; and the table of a job's
 * summary, which may have 1 MiB.
 */
#include "report/findings.h"
#include "util/shorten.h"

#include <stdlib.h>
#include <string.h>

#define PER_KIND    10
#define MAX_SUMMARY ((1u << 20) - (64u << 10))
#define MAX_NAMES   5 /* kernels that an annotation names */

/* The log of a job is a terminal, too: lines apart, what drives one is masked. */
static void put_escaped(struct rck_strbuf *out, const char *s, bool property)
{
	while (*s) {
		size_t n = strcspn(s, property ? "%\r\n:," : "%\r\n");

		rck_strbuf_add_masked(out, s, n);
		s += n;
		if (*s)
			rck_strbuf_addf(out, "%%%02X", (unsigned char)*s++);
	}
}

static bool same(const struct rck_group *a, const struct rck_group *b)
{
	return a->first->file == b->first->file && a->first->rule == b->first->rule &&
	       a->first->state == b->first->state && a->first->text == b->first->text;
}

static int compare(const void *pa, const void *pb)
{
	const struct rck_group *a = *(const struct rck_group *const *)pa;
	const struct rck_group *b = *(const struct rck_group *const *)pb;

	if (a->counts != b->counts)
		return a->counts ? -1 : 1;
	if (a->first->severity != b->first->severity)
		return a->first->severity > b->first->severity ? -1 : 1;
	if (a->first->file != b->first->file)
		return a->first->file < b->first->file ? -1 : 1;
	if (a->first->rule != b->first->rule)
		return a->first->rule < b->first->rule ? -1 : 1;
	if (a->first->text != b->first->text)
		return strcmp(a->first->text, b->first->text);
	return a < b ? -1 : a > b;
}

/* The new groups, worst first, those of a bunch together; free() it. */
static const struct rck_group **sorted(const struct rck_groups *g, size_t *n)
{
	const struct rck_group **order = rck_xcalloc(g->n + 1, sizeof(*order));

	*n = 0;
	for (size_t i = 0; i < g->n; i++)
		if (g->items[i].first->status == RCK_STATUS_NEW)
			order[(*n)++] = &g->items[i];
	qsort(order, *n, sizeof(*order), compare);
	return order;
}

static const char *kind_of(const struct rck_group *g)
{
	if (!g->counts || g->first->severity == RCK_SEVERITY_NOTE)
		return "notice";
	return rck_severity_name(g->first->severity);
}

static void put_names(struct rck_strbuf *s, const struct rck_group **groups, size_t n)
{
	for (size_t i = 0; i < n && i < MAX_NAMES; i++) {
		rck_strbuf_adds(s, "\n  ");
		rck_shorten_name(s, groups[i]->demangled, strlen(groups[i]->demangled));
	}
	if (n > MAX_NAMES)
		rck_strbuf_addf(s, "\n  and %zu more", n - MAX_NAMES);
}

static void put_annotation(struct rck_strbuf *out, const struct rck_groups *all,
	const struct rck_group **groups, size_t n)
{
	const struct rck_group *g = groups[0];
	const struct rck_finding *f = g->first;
	bool source = f->source && f->source[0] != '/';
	_cleanup_strbuf_ struct rck_strbuf s = RCK_STRBUF_INIT;

	rck_strbuf_addf(out, "::%s file=", kind_of(g));
	put_escaped(out, source ? f->source : rck_group_file(all, g), true);
	if (source)
		rck_strbuf_addf(out, ",line=%u", f->line);
	rck_strbuf_addf(out, ",title=rocmcheck %s::", f->rule->id);
	if (n == 1) {
		rck_group_sentence(all, g, &s);
	} else {
		rck_strbuf_addf(
			&s, "%s: %zu kernels: %s", rck_group_file(all, g), n, f->text);
		put_names(&s, groups, n);
	}
	if (g->path)
		rck_strbuf_addf(&s, "\nCall path: %s", g->path);
	rck_strbuf_addf(&s, "\n%s", rck_group_remedy(g));
	put_escaped(out, s.buf, false);
	rck_strbuf_addc(out, '\n');
}

void rck_findings_github(const struct rck_groups *g, const struct rck_report_options *o,
	struct rck_strbuf *out)
{
	size_t n, end, used[RCK_SEVERITY_COUNT_] = {0}, left = 0;
	const struct rck_group **order = sorted(g, &n);
	uint64_t told = 0;

	for (size_t i = 0; i < n; i = end) {
		bool quiet = !order[i]->counts;
		size_t *kind =
			&used[quiet ? RCK_SEVERITY_NOTE : order[i]->first->severity];

		for (end = i + 1; end < n && same(order[i], order[end]);)
			end++;
		/* one notice is kept for what is left out */
		if (*kind == PER_KIND - (kind == &used[RCK_SEVERITY_NOTE]) ||
			(o->max_findings && told == o->max_findings)) {
			left++;
			continue;
		}
		++*kind;
		told++;
		put_annotation(out, g, order + i, end - i);
	}
	for (size_t i = 0; i < g->lint->n_errors; i++) {
		const struct rck_lint_error *e = &g->lint->errors[i];

		if (used[RCK_SEVERITY_ERROR]++ >= PER_KIND)
			continue;
		rck_strbuf_adds(out, "::error file=");
		put_escaped(out, g->lint->files[e->file].relative, true);
		rck_strbuf_adds(out, ",title=rocmcheck cannot read it::");
		put_escaped(out, e->diag.msg, false);
		rck_strbuf_addc(out, '\n');
	}
	if (left)
		rck_strbuf_addf(out,
			"::notice title=rocmcheck::%zu more annotations are in the "
			"job's summary\n",
			left);
	free(order);
}

/* Text in a cell of a Markdown table. */
static void put_cell(struct rck_strbuf *out, const char *text)
{
	_cleanup_strbuf_ struct rck_strbuf masked = RCK_STRBUF_INIT;

	while (*text) {
		size_t n = strcspn(text, "\n");

		rck_strbuf_add_masked(&masked, text, n);
		text += n;
		if (*text) {
			rck_strbuf_addc(&masked, ' ');
			text++;
		}
	}
	for (const char *s = masked.buf; *s; s++) {
		if (strchr("|\\`*_<>[]", *s))
			rck_strbuf_addc(out, '\\');
		rck_strbuf_addc(out, *s);
	}
}

static void put_row(struct rck_strbuf *out, const struct rck_groups *all,
	const struct rck_group **groups, size_t n)
{
	const struct rck_group *g = groups[0];
	_cleanup_strbuf_ struct rck_strbuf names = RCK_STRBUF_INIT;

	rck_strbuf_addf(out, "| %s | `%s` | ",
		g->first->state == RCK_STATE_MAYBE
			? "maybe"
			: rck_severity_name(g->first->severity),
		g->first->rule->id);
	put_cell(out, rck_group_file(all, g));
	rck_strbuf_addf(out, " | %zu | %zu | ", g->name ? n : 0, g->n_targets);
	put_cell(out, g->first->text);
	rck_strbuf_adds(out, " | ");
	if (g->path)
		put_cell(out, g->path);
	else if (g->demangled) {
		rck_shorten_name(&names, g->demangled, strlen(g->demangled));
		put_cell(out, names.buf);
	}
	rck_strbuf_adds(out, " | ");
	put_cell(out, rck_group_remedy(g));
	rck_strbuf_adds(out, " |\n");
}

void rck_findings_summary(const struct rck_groups *g, const struct rck_report_options *o,
	struct rck_strbuf *out)
{
	size_t n, end, left = 0;
	const struct rck_group **order = sorted(g, &n);

	rck_strbuf_addf(out,
		"## rocmcheck\n\n%zu kernels, %zu distinct, for %zu targets in %zu code "
		"objects of %zu files. %zu findings are new, %zu allowed, %zu in the "
		"baseline; %zu files could not be read.\n\n",
		g->lint->n_kernels, g->distinct_kernels, g->n_targets, g->lint->objects,
		g->lint->n_files, g->n_new, g->n_allowed, g->n_baselined,
		g->lint->n_errors);
	if (n)
		rck_strbuf_adds(out,
			"| | rule | file | kernels | targets | finding | for example | "
			"what to do |\n|---|---|---|--:|--:|---|---|---|\n");
	for (size_t i = 0; i < n; i = end) {
		for (end = i + 1; end < n && same(order[i], order[end]);)
			end++;
		if (out->len > MAX_SUMMARY)
			left++;
		else
			put_row(out, g, order + i, end - i);
	}
	if (left)
		rck_strbuf_addf(out, "\nand %zu more\n", left);
	free(order);
}
