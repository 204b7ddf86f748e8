/* For people: what one rule says in the same words about many kernels is told once. */
#include "report/findings.h"
#include "util/shorten.h"
#include "util/term.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FEW_TARGETS 3 /* as many are named in the first line */

/* Groups [from, to) of the order below that read the same but for the kernel. */
struct cluster {
	const struct rck_group **groups;
	size_t n;
	size_t set; /* of its kernels: equal sets have equal numbers */
};

struct text {
	const struct rck_groups *g;
	const struct rck_report_options *o;
	struct rck_strbuf *out;
	const struct rck_group **order;
	size_t n_order;
	struct cluster *clusters;
	size_t n_clusters;
	size_t told; /* groups */
};

static const char *paint(const struct text *t, const char *code)
{
	return t->o->color ? code : "";
}

static const char *color_of(const struct rck_finding *f)
{
	static const char *const codes[RCK_SEVERITY_COUNT_] = {
		"", "\033[36m", "\033[33m", "\033[31m"};

	return f->state == RCK_STATE_MAYBE ? "\033[35m" : codes[f->severity];
}

static int compare_words(const void *pa, const void *pb)
{
	const struct rck_finding *a = (*(const struct rck_group *const *)pa)->first;
	const struct rck_finding *b = (*(const struct rck_group *const *)pb)->first;
	const struct rck_group *ga = *(const struct rck_group *const *)pa;
	const struct rck_group *gb = *(const struct rck_group *const *)pb;

#define BY(x, y)                                                                         \
	if ((x) != (y))                                                                  \
	return (x) < (y) ? -1 : 1
	BY(a->file, b->file);
	BY(a->status, b->status);
	BY(a->state, b->state);
	BY(b->severity, a->severity);
	BY(a->rule->number, b->rule->number);
	BY(ga->cause, gb->cause);
	if (a->text != b->text)
		return strcmp(a->text, b->text);
	if (ga->targets != gb->targets)
		return strcmp(ga->targets, gb->targets);
	BY(ga, gb);
#undef BY
	return 0;
}

static bool same_words(const struct rck_group *a, const struct rck_group *b)
{
	return a->first->file == b->first->file && a->first->rule == b->first->rule &&
	       a->first->state == b->first->state &&
	       a->first->status == b->first->status && a->first->text == b->first->text &&
	       a->first->allow == b->first->allow && a->cause == b->cause &&
	       a->targets == b->targets && a->name && b->name;
}

static bool same_file(const struct cluster *a, const struct cluster *b)
{
	return a->groups[0]->first->file == b->groups[0]->first->file;
}

static bool same_kernels(const struct cluster *a, const struct cluster *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (a->groups[i]->name != b->groups[i]->name)
			return false;
	return true;
}

static void make_clusters(struct text *t)
{
	t->clusters = rck_xcalloc(t->n_order + 1, sizeof(*t->clusters));
	for (size_t i = 0; i < t->n_order;) {
		struct cluster *c = &t->clusters[t->n_clusters++];

		c->groups = t->order + i;
		for (c->n = 1; i + c->n < t->n_order &&
			       same_words(c->groups[0], c->groups[c->n]);)
			c->n++;
		i += c->n;
		c->set = t->n_clusters;
		/* those of a file stand together */
		for (size_t k = t->n_clusters - 1;
			k-- > 0 && same_file(&t->clusters[k], c);)
			if (same_kernels(&t->clusters[k], c))
				c->set = t->clusters[k].set;
	}
}

static void add_masked(struct text *t, const char *s)
{
	rck_strbuf_add_masked(t->out, s, strlen(s));
}

static void add_name(struct text *t, const struct rck_group *g)
{
	_cleanup_strbuf_ struct rck_strbuf name = RCK_STRBUF_INIT;

	if (t->o->demangle)
		rck_shorten_name(&name, g->demangled, strlen(g->demangled));
	else
		rck_strbuf_adds(&name, g->name);
	rck_strbuf_add_masked(t->out, name.buf, name.len);
}

static const char *plural(size_t n)
{
	return n == 1 ? "" : "s";
}

/* "FILE: error: [rule] 38 kernels, 10 targets: text". A single kernel is named in it. */
static void print_head(struct text *t, const struct cluster *c, bool again)
{
	const struct rck_group *g = c->groups[0];
	const struct rck_finding *f = g->first;
	_cleanup_strbuf_ struct rck_strbuf amount = RCK_STRBUF_INIT;
	struct rck_group whole = *g;
	const char *file = rck_group_file(t->g, g);

	for (size_t i = 1; i < c->n; i++) {
		whole.min = whole.min < c->groups[i]->min ? whole.min : c->groups[i]->min;
		whole.max = whole.max > c->groups[i]->max ? whole.max : c->groups[i]->max;
	}
	rck_group_amount(&whole, &amount);
	rck_strbuf_adds(t->out, paint(t, "\033[1m"));
	add_masked(t, file);
	rck_strbuf_addf(t->out, ":%s %s%s%s: [%s] ", paint(t, "\033[0m"),
		paint(t, color_of(f)),
		f->state == RCK_STATE_MAYBE ? "maybe" : rck_severity_name(f->severity),
		paint(t, "\033[0m"), f->rule->id);
	if (g->name && c->n == 1 && !again) {
		rck_strbuf_adds(t->out, "kernel '");
		add_name(t, g);
		rck_strbuf_adds(t->out, "'");
	} else if (g->name) {
		rck_strbuf_addf(t->out, "%s%zu kernel%s", again ? "the same " : "", c->n,
			plural(c->n));
	}
	if (g->n_targets > FEW_TARGETS) {
		rck_strbuf_addf(t->out, ", %zu targets", g->n_targets);
	} else if (g->n_targets) {
		rck_strbuf_adds(t->out, g->name ? " for " : "for ");
		add_masked(t, g->targets);
	}
	if (g->name || g->n_targets)
		rck_strbuf_adds(t->out, ": ");
	add_masked(t, f->text);
	if (amount.len)
		rck_strbuf_addf(t->out, " (%s)", amount.buf);
	if (*f->where && !g->name) {
		rck_strbuf_adds(t->out, " (in ");
		add_masked(t, f->where);
		rck_strbuf_adds(t->out, ")");
	}
	if (f->status == RCK_STATUS_ALLOWED && f->allow) {
		rck_strbuf_adds(t->out, " [allowed: ");
		add_masked(t, f->allow->reason);
		rck_strbuf_addc(t->out, ']');
	} else if (f->status != RCK_STATUS_NEW) {
		rck_strbuf_addf(t->out, " [%s]", rck_status_name(f->status));
	}
	rck_strbuf_addc(t->out, '\n');
}

static void print_note(struct text *t, const char *label, const char *text)
{
	_cleanup_strbuf_ struct rck_strbuf masked = RCK_STRBUF_INIT;

	if (!text || !*text)
		return;
	rck_strbuf_add_masked(&masked, text, strlen(text));
	rck_strbuf_addf(
		t->out, "  %s%-6s%s ", paint(t, "\033[2m"), label, paint(t, "\033[0m"));
	rck_term_wrap(t->out, masked.buf, 9, 9, t->o->width);
}

static void print_cause(struct text *t, const struct rck_group *g)
{
	_cleanup_strbuf_ struct rck_strbuf s = RCK_STRBUF_INIT;
	enum rck_rule_id n = g->first->rule->number;

	if (g->cause == RCK_CAUSE_NONE || n > RCK_RULE_BUILT_WITHOUT_OPTIMIZATION ||
		(g->cause == RCK_CAUSE_UNSETTLED && g->path))
		return;
	rck_strbuf_addf(&s, "%s (confidence %s)", rck_cause_text(g->cause),
		rck_confidence_name(t->g->lint->kernels[g->first->kernel].confidence));
	print_note(t, "cause", s.buf);
}

/* The first route tells how; that there are as many is told by number. */
static void print_route(struct text *t, const struct cluster *c)
{
	_cleanup_strbuf_ struct rck_strbuf s = RCK_STRBUF_INIT;
	const struct rck_group *with = NULL;
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++) {
		if (c->groups[i]->path) {
			with = with ? with : c->groups[i];
			n++;
		}
	}
	if (with) {
		rck_strbuf_adds(&s, with->path);
		if (with->proof)
			rck_strbuf_addf(&s, " (%s)", with->proof);
		if (n > 1)
			rck_strbuf_addf(
				&s, "; %zu more kernel%s likewise", n - 1, plural(n - 1));
		print_note(t, "path", s.buf);
	} else if (c->groups[0]->proof) {
		rck_strbuf_addf(&s, "%s (confidence %s)", c->groups[0]->proof,
			rck_confidence_name(c->groups[0]->first->confidence));
		print_note(t, "proof", s.buf);
	}
}

static void print_kernels(struct text *t, const struct cluster *c, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct rck_group *g = c->groups[i];

		if (c->n > 1) {
			rck_strbuf_adds(t->out, "    ");
			add_name(t, g);
		}
		if (g->first->source) {
			rck_strbuf_adds(t->out, c->n > 1 ? "  (" : "  at     ");
			add_masked(t, g->first->source);
			rck_strbuf_addf(
				t->out, ":%u%s", g->first->line, c->n > 1 ? ")" : "");
		}
		if (c->n > 1 || g->first->source)
			rck_strbuf_addc(t->out, '\n');
	}
}

static void print_cluster(struct text *t, size_t i)
{
	struct cluster *c = &t->clusters[i];
	bool again = c->groups[0]->name && c->set != i + 1;
	size_t left = t->o->max_findings ? t->o->max_findings - t->told : c->n;
	size_t n = left < c->n ? left : c->n;

	print_head(t, c, again && c->n > 1);
	if (!again)
		print_kernels(t, c, n);
	if (!again && c->groups[0]->n_targets > FEW_TARGETS)
		print_note(t, "on", c->groups[0]->targets);
	print_cause(t, c->groups[0]);
	print_route(t, c);
	if (c->groups[0]->first->status == RCK_STATUS_NEW)
		print_note(t, "fix", rck_group_remedy(c->groups[0]));
	t->told += n;
}

static void print_policy(struct text *t)
{
	const struct rck_policy *p = t->g->lint->opt.policy;
	const struct rck_baseline *b = t->g->lint->opt.baseline;

	char *path = p->path ? rck_lint_relative(
				       t->g->lint->opt.root, t->g->lint->opt.cwd, p->path)
			     : NULL;

	for (size_t i = 0; i < p->n_allows; i++) {
		const struct rck_allow *a = &p->allows[i];

		if (a->hits)
			continue;
		if (a->line && path) {
			add_masked(t, path);
			rck_strbuf_addf(t->out, ":%u: ", a->line);
		}
		rck_strbuf_adds(t->out, "allow '");
		add_masked(t, a->name);
		rck_strbuf_adds(
			t->out, a->expired ? "' has expired\n" : "' matches nothing\n");
	}
	free(path);
	for (size_t i = 0; b && i < b->n; i++) {
		const struct rck_baseline_entry *e = &b->entries[i];

		if (!rck_baseline_is_stale(t->g->lint, e))
			continue;
		rck_strbuf_adds(t->out, "baseline: stale: ");
		add_masked(t, e->key.path);
		rck_strbuf_addc(t->out, ' ');
		add_masked(t, e->key.rule);
		rck_strbuf_addc(t->out, ' ');
		add_masked(t, e->key.target);
		rck_strbuf_addc(t->out, ' ');
		add_masked(t, e->key.kernel);
		rck_strbuf_addf(t->out, " (%" PRIu64 " of %" PRIu64 " found)\n", e->seen,
			e->count);
	}
}

static void print_totals(struct text *t)
{
	const struct rck_groups *g = t->g;
	const struct rck_lint *l = g->lint;
	size_t errors = 0, warnings = 0, notes = 0;

	for (size_t i = 0; i < g->n; i++) {
		const struct rck_finding *f = g->items[i].first;

		if (f->status != RCK_STATUS_NEW || f->state == RCK_STATE_MAYBE)
			continue;
		errors += f->severity == RCK_SEVERITY_ERROR;
		warnings += f->severity == RCK_SEVERITY_WARNING;
		notes += f->severity == RCK_SEVERITY_NOTE;
	}
	if (l->opt.sources)
		rck_strbuf_addf(
			t->out, "%zu HIP source%s\n", l->sources, plural(l->sources));
	else
		rck_strbuf_addf(t->out,
			"%zu kernel%s, %zu distinct, for %zu target%s in %zu code "
			"object%s of "
			"%zu "
			"file%s\n",
			l->n_kernels, plural(l->n_kernels), g->distinct_kernels,
			g->n_targets, plural(g->n_targets), l->objects,
			plural(l->objects), l->n_files, plural(l->n_files));
	if (l->n_errors)
		rck_strbuf_addf(t->out, "%zu could not be read; ", l->n_errors);
	rck_strbuf_addf(t->out,
		"%zu error%s, %zu warning%s, %zu note%s, %zu maybe; %zu allowed, %zu "
		"in the baseline\n",
		errors, plural(errors), warnings, plural(warnings), notes, plural(notes),
		g->n_maybe, g->n_allowed, g->n_baselined);
}

void rck_findings_text(const struct rck_groups *g, const struct rck_report_options *o,
	struct rck_strbuf *out)
{
	struct text t = {.g = g, .o = o, .out = out};
	size_t i;

	t.order = rck_xcalloc(g->n + 1, sizeof(*t.order));
	for (i = 0; i < g->n; i++)
		if (o->show_accepted || g->items[i].first->status == RCK_STATUS_NEW)
			t.order[t.n_order++] = &g->items[i];
	qsort(t.order, t.n_order, sizeof(*t.order), compare_words);
	make_clusters(&t);
	for (i = 0; i < t.n_clusters; i++) {
		if (o->max_findings && t.told >= o->max_findings)
			break;
		print_cluster(&t, i);
		rck_strbuf_addc(out, '\n');
	}
	if (t.told < t.n_order)
		rck_strbuf_addf(out, "and %zu more finding%s\n\n", t.n_order - t.told,
			plural(t.n_order - t.told));
	print_policy(&t);
	print_totals(&t);
	free(t.clusters);
	free(t.order);
}
