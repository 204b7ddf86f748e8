/* The page of an experiment: the words first, then what they rest on. */
#include "report/experiment.h"
#include "report/html.h"
#include "teardown/verdict.h"
#include "util/cleanup.h"

#include <stdlib.h>
#include <string.h>

/* The timeline, in pixels. */
#define CHART_WIDTH 900.0
#define LABEL_WIDTH 110.0
#define LANE        12.0

struct page {
	const struct rck_experiment *x;
	struct rck_strbuf *out;
};

static void text_cell(const struct page *p, const char *text)
{
	rck_strbuf_adds(p->out, "<td>");
	rck_html_text(p->out, text ? text : "-");
	rck_strbuf_adds(p->out, "</td>");
}

static void heading(const struct page *p, const char *title)
{
	rck_strbuf_addf(p->out, "<h2>%s</h2>\n", title);
}

/* ---- the words ---- */

static bool cell_is_bad(const struct page *p, const struct rck_cell *c)
{
	for (size_t i = 0; i < p->x->n_arms; i++) {
		struct rck_tally t = rck_cell_tally(c, i);

		if (t.by_outcome[RCK_OUTCOME_CLEAN] != t.n)
			return true;
	}
	return false;
}

static void sentence(const struct page *p, const char *text)
{
	rck_strbuf_adds(p->out, "<p>");
	rck_html_text(p->out, text);
	rck_strbuf_adds(p->out, "</p>\n");
}

static void verdicts(const struct page *p)
{
	_cleanup_free_ char *whole = rck_verdict_whole(p->x);

	heading(p, "Verdict");
	if (p->x->interrupted)
		rck_strbuf_adds(p->out, "<p class=\"verdict bad\">Interrupted: a partial "
					"result.</p>\n");
	for (size_t i = 0; i < p->x->n_cells; i++) {
		const struct rck_cell *c = &p->x->cells[i];
		char *text;

		if (!c->result.n)
			continue;
		text = rck_verdict_cell(p->x, c);
		rck_strbuf_addf(p->out, "<p class=\"verdict %s\">",
			cell_is_bad(p, c) ? "bad" : "good");
		rck_html_text(p->out, text);
		rck_strbuf_adds(p->out, "</p>\n");
		free(text);
	}
	if (whole)
		sentence(p, whole);
	for (size_t i = 0; i < p->x->n_notes; i++)
		sentence(p, p->x->notes[i]);
}

/* ---- the arms ---- */

static void arms(const struct page *p)
{
	const struct rck_experiment *x = p->x;

	heading(p, "Arms");
	rck_strbuf_adds(
		p->out, "<div class=\"scroll\"><table class=\"arms\">\n<tr><th></th>");
	for (size_t i = 0; i < x->n_arms; i++) {
		rck_strbuf_adds(p->out, "<th>");
		rck_html_text(p->out, x->arms[i].name);
		rck_strbuf_adds(p->out, "</th>");
	}
	rck_strbuf_adds(p->out, "</tr>\n");
	for (size_t i = 0; i < x->n_rows; i++) {
		rck_strbuf_adds(p->out, "<tr><th>");
		rck_html_text(p->out, x->rows[i].title);
		rck_strbuf_adds(p->out, "</th>");
		for (size_t k = 0; k < x->n_arms; k++)
			text_cell(p, x->rows[i].values[k]);
		rck_strbuf_adds(p->out, "</tr>\n");
	}
	rck_strbuf_adds(p->out, "<tr><th>command</th>");
	for (size_t i = 0; i < x->n_arms; i++) {
		rck_strbuf_adds(p->out, "<td><code>");
		rck_html_text(p->out,
			x->arms[i].unbuilt ? x->arms[i].unbuilt : x->arms[i].command);
		rck_strbuf_adds(p->out, "</code></td>");
	}
	rck_strbuf_adds(p->out, "</tr>\n</table></div>\n");
}

/* ---- rates ---- */

/* The interval as a bar on an axis from 0 to 100 %. */
static void interval(const struct page *p, const struct rck_tally *t)
{
	double rate = t->n ? (double)t->hangs / t->n : 0;

	rck_strbuf_addf(p->out,
		"<td><svg width=\"220\" height=\"18\" role=\"img\" aria-label=\"%.1f to "
		"%.1f "
		"percent\"><line class=\"axis\" x1=\"10\" y1=\"9\" x2=\"210\" "
		"y2=\"9\"/><line class=\"bar\" x1=\"%.1f\" y1=\"9\" x2=\"%.1f\" "
		"y2=\"9\"/><circle class=\"dot\" cx=\"%.1f\" cy=\"9\" "
		"r=\"4\"/></svg></td>",
		100 * t->rate.low, 100 * t->rate.high, 10 + 200 * t->rate.low,
		10 + 200 * t->rate.high, 10 + 200 * rate);
}

static void p_cell(const struct page *p, bool there, double value)
{
	char *text = there ? rck_verdict_p(value) : rck_xstrdup("");

	rck_strbuf_addf(p->out, "<td class=\"n\">%s</td>", text);
	free(text);
}

static void rate_row(const struct page *p, const struct rck_cell *c, size_t arm)
{
	struct rck_tally t = rck_cell_tally(c, arm);
	struct rck_comparison cmp = {1, 1};

	if (!t.n)
		return;
	if (arm)
		cmp = rck_cell_compare(c, 0, arm);
	rck_strbuf_addf(p->out, "<tr><td>%s</td><td>", rck_load_name(c->shape));
	rck_html_text(p->out, *c->route ? c->route : "-");
	rck_strbuf_addf(p->out, "%s</td>", c->reordered ? " *" : "");
	text_cell(p, p->x->arms[arm].name);
	rck_strbuf_addf(p->out,
		"<td class=\"n\">%u</td><td class=\"n\">%u</td><td class=\"n\">%u</td>"
		"<td class=\"n\">%u</td><td class=\"n\">%u</td>"
		"<td class=\"n\">%.1f (%.1f&ndash;%.1f)</td>",
		t.n, t.by_outcome[RCK_OUTCOME_CLEAN], t.hangs,
		t.by_outcome[RCK_OUTCOME_CRASH], t.by_outcome[RCK_OUTCOME_FAILED],
		100.0 * t.hangs / t.n, 100 * t.rate.low, 100 * t.rate.high);
	interval(p, &t);
	p_cell(p, arm != 0, cmp.fisher);
	p_cell(p, arm != 0, cmp.by_round);
	rck_strbuf_adds(p->out, "</tr>\n");
}

static void rates(const struct page *p)
{
	bool reordered = false;

	heading(p, "Teardown");
	rck_strbuf_adds(p->out,
		"<div "
		"class=\"scroll\"><table>\n<tr><th>load</th><th>route</th><th>arm</th>"
		"<th class=\"n\">n</th><th class=\"n\">clean</th><th "
		"class=\"n\">hang</th>"
		"<th class=\"n\">crash</th><th class=\"n\">failed</th>"
		"<th class=\"n\">hangs, % (95 %)</th><th>0 to 100 %</th>"
		"<th class=\"n\">Fisher</th><th class=\"n\">by round</th></tr>\n");
	for (size_t i = 0; i < p->x->n_cells; i++) {
		reordered |= p->x->cells[i].reordered;
		for (size_t k = 0; k < p->x->n_arms; k++)
			rate_row(p, &p->x->cells[i], k);
	}
	rck_strbuf_adds(p->out, "</table></div>\n");
	if (reordered)
		rck_strbuf_adds(p->out,
			"<p class=\"soft\">* destructor order of AMD's builds, imitated "
			"by a "
			"preloaded library; no library was modified.</p>\n");
	for (size_t i = 0; i < p->x->n_cells; i++)
		if (p->x->cells[i].trouble) {
			rck_strbuf_addf(p->out, "<p>Load %s, route ",
				rck_load_name(p->x->cells[i].shape));
			rck_html_text(p->out, p->x->cells[i].route);
			rck_strbuf_adds(p->out, ": not run: ");
			rck_html_text(p->out, p->x->cells[i].trouble);
			rck_strbuf_adds(p->out, "</p>\n");
		}
}

/* ---- the timeline ---- */

/* Lanes so that exposures that overlap do not cover each other: the slot, an arm's block
 * after another's. */
static unsigned lanes_of(const struct rck_cell *c)
{
	unsigned most = 0;

	for (size_t i = 0; i < c->result.n; i++)
		if (c->concurrent > 1 && c->result.exposures[i].slot > most)
			most = c->result.exposures[i].slot;
	return most + 1;
}

static double last_end(const struct rck_cell *c)
{
	double end = 1;

	for (size_t i = 0; i < c->result.n; i++) {
		const struct rck_exposure *e = &c->result.exposures[i];

		if (e->started + e->seconds > end)
			end = e->started + e->seconds;
	}
	return end;
}

static void exposure_bar(const struct page *p, const struct rck_cell *c,
	const struct rck_exposure *e, double scale, unsigned lanes)
{
	unsigned lane = e->arm * lanes + (c->concurrent > 1 ? e->slot : 0);
	double width = e->seconds * scale;

	rck_strbuf_addf(p->out,
		"<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.0f\">"
		"<title>",
		rck_outcome_key(e->outcome), LABEL_WIDTH + e->started * scale,
		lane * LANE + 4, width < 2 ? 2 : width, LANE - 2);
	rck_html_text(p->out, p->x->arms[e->arm].name);
	rck_strbuf_addf(p->out, ", round %u: %s, %.2f s</title></rect>\n", e->round + 1,
		rck_outcome_name(e->outcome), e->seconds);
}

static void timeline(const struct page *p, const struct rck_cell *c)
{
	unsigned lanes = lanes_of(c);
	double end = last_end(c), scale = (CHART_WIDTH - LABEL_WIDTH - 10) / end;
	double height = lanes * LANE * (double)p->x->n_arms + 24;

	if (!c->result.n)
		return;
	rck_strbuf_addf(p->out, "<p class=\"soft\">load %s%s%s%s</p>\n",
		rck_load_name(c->shape), *c->route ? ", route " : "", c->route,
		c->parts > 1 ? ", the merged runs one after another" : "");
	rck_strbuf_addf(p->out, "<svg viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\">\n",
		CHART_WIDTH, height, CHART_WIDTH);
	for (size_t i = 0; i < p->x->n_arms; i++) {
		rck_strbuf_addf(p->out, "<text x=\"0\" y=\"%.0f\">",
			(double)i * lanes * LANE + 13);
		rck_html_text(p->out, p->x->arms[i].name);
		rck_strbuf_adds(p->out, "</text>\n");
	}
	for (size_t i = 0; i < c->result.n; i++)
		exposure_bar(p, c, &c->result.exposures[i], scale, lanes);
	rck_strbuf_addf(p->out,
		"<line class=\"axis\" x1=\"%.0f\" y1=\"%.0f\" x2=\"%.0f\" y2=\"%.0f\"/>"
		"<text x=\"%.0f\" y=\"%.0f\">0 s</text><text x=\"%.0f\" y=\"%.0f\" "
		"text-anchor=\"end\">%.0f s</text>\n</svg>\n",
		LABEL_WIDTH, height - 16, CHART_WIDTH - 10, height - 16, LABEL_WIDTH,
		height - 3, CHART_WIDTH - 10, height - 3, end);
}

/* ---- the evidence ---- */

static void stack(const struct page *p, const struct rck_fold *f)
{
	const struct rck_exposure *e = f->example;

	rck_strbuf_addf(p->out, "<details open><summary>%u hung process%s:", f->n,
		f->n == 1 ? "" : "es");
	for (size_t k = 0; k < p->x->n_arms; k++)
		if (f->by_arm[k]) {
			rck_strbuf_addc(p->out, ' ');
			rck_html_text(p->out, p->x->arms[k].name);
			rck_strbuf_addf(p->out, " %u", f->by_arm[k]);
		}
	rck_strbuf_addf(p->out, "; %s</summary>\n<pre>", rck_exposure_listener_state(e));
	for (size_t i = 0; i < e->n_threads; i++) {
		const struct rck_thread *t = &e->threads[i];

		rck_strbuf_adds(p->out, "thread ");
		rck_html_text(p->out, t->name);
		rck_strbuf_addf(
			p->out, ", state %c, %.0f %% of a CPU", t->state, 100 * t->cpu);
		if (t->note) {
			rck_strbuf_adds(p->out, ": ");
			rck_html_text(p->out, t->note);
		}
		rck_strbuf_addc(p->out, '\n');
		for (size_t k = 0; k < t->n_frames; k++) {
			rck_strbuf_addf(p->out, "  #%zu ", k);
			rck_html_text(p->out, t->frames[k]);
			rck_strbuf_addc(p->out, '\n');
		}
	}
	rck_strbuf_adds(p->out, "</pre></details>\n");
}

static void evidence(const struct page *p)
{
	bool any = false;

	for (size_t i = 0; i < p->x->n_cells; i++) {
		const struct rck_cell *c = &p->x->cells[i];
		size_t n;
		struct rck_fold *folds = rck_cell_folds(c, p->x->n_arms, &n);

		if (n && !any)
			heading(p, "What hangs");
		any |= n > 0;
		if (n)
			rck_strbuf_addf(p->out, "<p class=\"soft\">load %s%s%s</p>\n",
				rck_load_name(c->shape), *c->route ? ", route " : "",
				c->route);
		for (size_t k = 0; k < n; k++)
			stack(p, &folds[k]);
		rck_folds_free(folds, n);
	}
}

static void environment(const struct page *p)
{
	heading(p, "Where");
	rck_strbuf_adds(p->out, "<div class=\"scroll\"><table>\n");
	for (size_t i = 0; i < p->x->n_environment; i++) {
		rck_strbuf_adds(p->out, "<tr><th>");
		rck_html_text(p->out, p->x->environment[i].title);
		rck_strbuf_adds(p->out, "</th>");
		text_cell(p, p->x->environment[i].value);
		rck_strbuf_adds(p->out, "</tr>\n");
	}
	rck_strbuf_adds(p->out, "</table></div>\n");
	if (p->x->repeat) {
		rck_strbuf_adds(p->out, "<p>The same again:</p>\n<pre>");
		rck_html_text(p->out, p->x->repeat);
		rck_strbuf_adds(p->out, "</pre>\n");
	}
}

void rck_experiment_html(const struct rck_experiment *x, struct rck_strbuf *out)
{
	struct page p = {x, out};
	char *title = rck_xasprintf("rocmcheck %s", x->tool);

	rck_html_begin(out, title);
	verdicts(&p);
	rates(&p);
	heading(&p, "Timeline");
	for (size_t i = 0; i < x->n_cells; i++)
		timeline(&p, &x->cells[i]);
	evidence(&p);
	arms(&p);
	environment(&p);
	rck_html_end(out);
	free(title);
}
