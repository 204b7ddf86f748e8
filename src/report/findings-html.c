/*
 * One page that needs no network: the data as compact JSON in columns, and a script that
 * puts into the page only what is seen, so that 70,000 kernels open at once.
 */
#include "report/findings.h"
#include "report/html.h"
#include "report/html/page.h"
#include "util/json.h"
#include "util/shorten.h"

#include <stdlib.h>
#include <string.h>

/* Beyond this the full names are left out; the short ones tell kernels apart. */
#define MAX_FULL_NAMES (3u << 20)

/* Strings with equal pointers for equal strings, numbered as they are met: where they
 * lie in memory differs from run to run. */
struct set {
	struct member {
		const char *item;
		size_t place;
	} * members;        /* once closed, by pointer */
	const char **items; /* once closed, by place */
	size_t n;
};

struct page {
	const struct rck_groups *g;
	const struct rck_lint *l;
	struct rck_json j;
	struct set names, strings;
};

static int by_pointer(const void *a, const void *b)
{
	const struct member *x = a, *y = b;
	uintptr_t p = (uintptr_t)x->item, q = (uintptr_t)y->item;

	return p != q ? (p > q) - (p < q) : (x->place > y->place) - (x->place < y->place);
}

static int by_place(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	return (x->place > y->place) - (x->place < y->place);
}

static void set_add(struct set *s, const char *item)
{
	if (!item)
		return;
	if (!(s->n & (s->n - 1)))
		s->members = rck_xrealloc(
			s->members, (s->n ? s->n * 2 : 1) * sizeof(*s->members));
	s->members[s->n] = (struct member){item, s->n};
	s->n++;
}

static void set_close(struct set *s)
{
	size_t n = 0;

	s->items = rck_xcalloc(s->n, sizeof(*s->items));
	if (!s->n)
		return;
	qsort(s->members, s->n, sizeof(*s->members), by_pointer);
	for (size_t i = 0; i < s->n; i++)
		if (!n || s->members[n - 1].item != s->members[i].item)
			s->members[n++] = s->members[i];
	s->n = n;
	qsort(s->members, n, sizeof(*s->members), by_place);
	for (size_t i = 0; i < n; i++) {
		s->items[i] = s->members[i].item;
		s->members[i].place = i;
	}
	qsort(s->members, n, sizeof(*s->members), by_pointer);
}

static void set_release(struct set *s)
{
	free(s->members);
	free(s->items);
}

static int of_pointer(const void *item, const void *member)
{
	uintptr_t p = (uintptr_t)item,
		  q = (uintptr_t)((const struct member *)member)->item;

	return (p > q) - (p < q);
}

/* -1: NULL */
static int64_t set_find(const struct set *s, const char *item)
{
	const struct member *m =
		item && s->n ? bsearch(item, s->members, s->n, sizeof(*m), of_pointer)
			     : NULL;

	return m ? (int64_t)m->place : -1;
}

static void collect(struct page *p)
{
	for (size_t i = 0; i < p->l->n_kernels; i++)
		set_add(&p->names, p->l->kernels[i].name);
	for (size_t i = 0; i < p->g->n; i++) {
		const struct rck_group *g = &p->g->items[i];

		set_add(&p->strings, g->first->text);
		set_add(&p->strings, g->path);
		set_add(&p->strings, g->proof);
		set_add(&p->strings, g->first->source);
		set_add(&p->strings, rck_group_remedy(g));
	}
	set_close(&p->names);
	set_close(&p->strings);
}

/* ---- the data */

static void put_summary(struct page *p)
{
	size_t severities[RCK_SEVERITY_COUNT_] = {0}, flagged = 0;

	for (size_t i = 0; i < p->g->n; i++) {
		const struct rck_finding *f = p->g->items[i].first;

		if (f->status == RCK_STATUS_NEW && f->state == RCK_STATE_FAIL)
			severities[f->severity]++;
	}
	for (size_t i = 0; i < p->l->n_files; i++)
		flagged += p->l->files[i].flagged;
	rck_json_key(&p->j, "summary");
	rck_json_object(&p->j);
	if (p->l->opt.sources)
		rck_json_ku64(&p->j, "sources", p->l->sources);
	rck_json_ku64(&p->j, "kernels", p->l->n_kernels);
	rck_json_ku64(&p->j, "distinct", p->names.n);
	rck_json_ku64(&p->j, "flagged", flagged);
	rck_json_ku64(&p->j, "errors", severities[RCK_SEVERITY_ERROR]);
	rck_json_ku64(&p->j, "warnings", severities[RCK_SEVERITY_WARNING]);
	rck_json_ku64(&p->j, "notes", severities[RCK_SEVERITY_NOTE]);
	rck_json_ku64(&p->j, "maybes", p->g->n_maybe);
	rck_json_ku64(&p->j, "accepted", p->g->n_allowed + p->g->n_baselined);
	rck_json_ku64(&p->j, "verdict", (uint64_t)rck_lint_verdict(p->l));
	rck_json_object_end(&p->j);
}

static void put_tables(struct page *p)
{
	struct rck_json *j = &p->j;

	rck_json_key(j, "targets");
	rck_json_array(j);
	for (size_t i = 0; i < p->g->n_targets; i++)
		rck_json_str(j, p->g->targets[i]);
	rck_json_array_end(j);
	rck_json_key(j, "files");
	rck_json_array(j);
	for (size_t i = 0; i < p->l->n_files; i++) {
		rck_json_object(j);
		rck_json_kstr(j, "path", p->l->files[i].relative);
		rck_json_object_end(j);
	}
	rck_json_array_end(j);
	rck_json_key(j, "causes");
	rck_json_array(j);
	for (int c = RCK_CAUSE_NONE; c <= RCK_CAUSE_UNSETTLED; c++) {
		rck_json_object(j);
		rck_json_kstr(j, "text", rck_cause_text((enum rck_cause)c));
		rck_json_object_end(j);
	}
	rck_json_array_end(j);
	rck_json_key(j, "rules");
	rck_json_array(j);
	for (size_t r = 0; r < RCK_RULE_COUNT_; r++) {
		rck_json_object(j);
		rck_json_kstr(j, "id", rck_rules[r].id);
		rck_json_kstr(j, "why", rck_rules[r].why);
		rck_json_kstr(j, "ref", rck_rules[r].reference);
		rck_json_object_end(j);
	}
	rck_json_array_end(j);
	rck_json_key(j, "strings");
	rck_json_array(j);
	for (size_t i = 0; i < p->strings.n; i++)
		rck_json_str(j, p->strings.items[i]);
	rck_json_array_end(j);
}

static void put_names(struct page *p)
{
	const char **full = rck_xcalloc(p->names.n + 1, sizeof(*full));
	size_t total = 0;

	for (size_t i = 0; i < p->l->n_kernels; i++) {
		const struct rck_lint_kernel *k = &p->l->kernels[i];

		full[set_find(&p->names, k->name)] =
			k->demangled ? k->demangled : k->name;
	}
	rck_json_key(&p->j, "short");
	rck_json_array(&p->j);
	for (size_t i = 0; i < p->names.n; i++) {
		_cleanup_strbuf_ struct rck_strbuf s = RCK_STRBUF_INIT;

		rck_shorten_name(&s, full[i], strlen(full[i]));
		rck_json_str(&p->j, s.buf);
		total += strlen(full[i]);
	}
	rck_json_array_end(&p->j);
	if (total <= MAX_FULL_NAMES) {
		rck_json_key(&p->j, "full");
		rck_json_array(&p->j);
		for (size_t i = 0; i < p->names.n; i++)
			rck_json_str(&p->j, full[i]);
		rck_json_array_end(&p->j);
	}
	free(full);
}

static size_t target_index(const struct page *p, const char *target)
{
	size_t i = 0;

	while (i < p->g->n_targets && p->g->targets[i] != target)
		i++;
	return i;
}

#define COLUMN(p, name, expression)                                                      \
	do {                                                                             \
		rck_json_key(&(p)->j, name);                                             \
		rck_json_array(&(p)->j);                                                 \
		for (size_t i = 0; i < (p)->l->n_kernels; i++) {                         \
			const struct rck_lint_kernel *k = &(p)->l->kernels[i];           \
			rck_json_u64(&(p)->j, (uint64_t)(expression));                   \
		}                                                                        \
		rck_json_array_end(&(p)->j);                                             \
	} while (0)

static void put_kernels(struct page *p)
{
	rck_json_key(&p->j, "kernels");
	rck_json_object(&p->j);
	COLUMN(p, "name", set_find(&p->names, k->name));
	COLUMN(p, "target", target_index(p, k->target));
	COLUMN(p, "file", k->file);
	COLUMN(p, "worst", k->worst);
	COLUMN(p, "flags", k->flags);
	COLUMN(p, "vgprs", k->vgprs);
	COLUMN(p, "agprs", k->agprs);
	COLUMN(p, "sgprs", k->sgprs);
	COLUMN(p, "spills", k->spills);
	COLUMN(p, "scratch", k->scratch);
	COLUMN(p, "lds", k->lds);
	rck_json_object_end(&p->j);
}

/* A group's targets as places in the list of all. */
static void put_group_targets(struct page *p, const struct rck_group *g)
{
	rck_json_key(&p->j, "g");
	rck_json_array(&p->j);
	for (const char *t = g->targets; *t;) {
		size_t n = strcspn(t, " ");

		for (size_t i = 0; i < p->g->n_targets; i++)
			if (strlen(p->g->targets[i]) == n &&
				!memcmp(p->g->targets[i], t, n))
				rck_json_u64(&p->j, i);
		t += n + (t[n] == ' ');
	}
	rck_json_array_end(&p->j);
}

static void put_findings(struct page *p)
{
	struct rck_json *j = &p->j;

	rck_json_key(j, "findings");
	rck_json_array(j);
	for (size_t i = 0; i < p->g->n; i++) {
		const struct rck_group *g = &p->g->items[i];
		const struct rck_finding *f = g->first;

		rck_json_object(j);
		rck_json_ku64(j, "r", f->rule->number);
		rck_json_ku64(j, "s", f->severity);
		rck_json_ku64(j, "m", f->state == RCK_STATE_MAYBE);
		rck_json_ku64(j, "x", f->status);
		rck_json_ku64(j, "f", f->file);
		rck_json_ku64(j, "c", g->cause);
		rck_json_ki64(j, "n", set_find(&p->names, g->name));
		put_group_targets(p, g);
		rck_json_ki64(j, "t", set_find(&p->strings, f->text));
		rck_json_ki64(j, "p", set_find(&p->strings, g->path));
		rck_json_ki64(j, "o", set_find(&p->strings, g->proof));
		rck_json_ki64(j, "d", set_find(&p->strings, rck_group_remedy(g)));
		if (f->source) {
			rck_json_ki64(j, "src", set_find(&p->strings, f->source));
			rck_json_ku64(j, "l", f->line);
		}
		if (!g->name)
			rck_json_kstr(j, "where", *f->where ? f->where : f->target);
		rck_json_object_end(j);
	}
	rck_json_array_end(j);
}

/* In a script element no text may look like its end: '<' stands in strings alone. */
static void put_data(struct page *p, struct rck_strbuf *out)
{
	_cleanup_strbuf_ struct rck_strbuf data = RCK_STRBUF_INIT;

	rck_json_init(&p->j, &data, 0);
	rck_json_object(&p->j);
	put_summary(p);
	put_tables(p);
	put_names(p);
	put_kernels(p);
	put_findings(p);
	rck_json_object_end(&p->j);
	for (const char *s = data.buf; *s;) {
		size_t n = strcspn(s, "<");

		rck_strbuf_add(out, s, n);
		s += n;
		if (*s) {
			rck_strbuf_adds(out, "\\u003c");
			s++;
		}
	}
}

/* The page's own markup with the title and the line below it put in. */
static void put_markup(const struct page *p, const char *title, struct rck_strbuf *out)
{
	const char *at = strstr(rck_page_html, "</h1>");
	const char *under = strstr(at, "</p>");

	rck_strbuf_add(out, rck_page_html, (size_t)(at - rck_page_html));
	rck_html_text(out, title);
	rck_strbuf_add(out, at, (size_t)(under - at));
	if (p->l->opt.sources)
		rck_strbuf_addf(out, "rocmcheck %s \302\267 %zu HIP source%s",
			rck_version(), p->l->sources, p->l->sources == 1 ? "" : "s");
	else
		rck_strbuf_addf(out,
			"rocmcheck %s \302\267 %zu file%s \302\267 %zu code object%s",
			rck_version(), p->l->n_files, p->l->n_files == 1 ? "" : "s",
			p->l->objects, p->l->objects == 1 ? "" : "s");
	if (p->l->n_errors)
		rck_strbuf_addf(out, " \302\267 %zu could not be read", p->l->n_errors);
	rck_strbuf_adds(out, under);
}

void rck_findings_html(const struct rck_groups *g, const struct rck_report_options *o,
	struct rck_strbuf *out)
{
	struct page p = {.g = g, .l = g->lint};
	const char *title = o->title               ? o->title
			    : g->lint->opt.sources ? "How device code is compiled"
						   : "Device code";

	collect(&p);
	rck_strbuf_adds(out,
		"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		"<meta name=\"viewport\" "
		"content=\"width=device-width,initial-scale=1\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
		"'none'; "
		"style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src "
		"data:\">\n"
		"<link rel=\"icon\" href=\"data:,\">\n<title>");
	rck_html_text(out, title);
	rck_strbuf_addf(
		out, "</title>\n<style>\n%s</style>\n</head>\n<body>\n", rck_page_css);
	put_markup(&p, title, out);
	rck_strbuf_adds(out, "<script type=\"application/json\" id=\"data\">");
	put_data(&p, out);
	rck_strbuf_addf(
		out, "</script>\n<script>\n%s</script>\n</body>\n</html>\n", rck_page_js);
	set_release(&p.names);
	set_release(&p.strings);
}
