#include "report/experiment.h"
#include "teardown/verdict.h"
#include "util/cleanup.h"
#include "util/table.h"
#include "util/term.h"

#include <stdlib.h>
#include <string.h>

#define FRAMES_SHOWN  12
#define TITLE_WIDTH   28 /* columns of the arms' first column */
#define THREADS_SHOWN 8

struct text {
	const struct rck_experiment *x;
	struct rck_strbuf *out;
	unsigned width;
	bool color;
};

static const char *style(const struct text *t, const char *sequence)
{
	return t->color ? sequence : "";
}

static void heading(const struct text *t, const char *title)
{
	rck_strbuf_addf(
		t->out, "\n%s%s%s\n", style(t, "\033[1m"), title, style(t, "\033[0m"));
}

static void paragraph(const struct text *t, const char *text, unsigned indent)
{
	_cleanup_strbuf_ struct rck_strbuf masked = RCK_STRBUF_INIT;

	rck_strbuf_add_masked(&masked, text, strlen(text));
	rck_strbuf_pad(t->out, ' ', indent);
	rck_term_wrap(t->out, masked.buf, indent, indent, t->width);
}

static void masked_cell(struct rck_table *table, const char *text)
{
	_cleanup_strbuf_ struct rck_strbuf s = RCK_STRBUF_INIT;

	rck_strbuf_add_masked(&s, text, strlen(text));
	rck_table_cell(table, s.buf);
}

/* ---- the arms side by side ---- */

/* Does every value of the row fit a column? Cut, it would say nothing. */
static bool row_fits(const struct text *t, const struct rck_row *row)
{
	size_t n = t->x->n_arms;
	size_t room = t->width > TITLE_WIDTH + 4 ? t->width - TITLE_WIDTH - 4 : 16;
	size_t column = room / n > 4 ? room / n - 2 : 4;

	for (size_t k = 0; k < n; k++)
		if (row->values[k] &&
			rck_term_columns(row->values[k], strlen(row->values[k])) > column)
			return false;
	return true;
}

/* Values that are too long for a column: below the table, equal ones once. */
static void long_row(const struct text *t, const struct rck_row *row)
{
	for (size_t k = 0; k < t->x->n_arms; k++) {
		_cleanup_strbuf_ struct rck_strbuf line = RCK_STRBUF_INIT;
		bool said = false;

		for (size_t i = 0; i < k && !said; i++)
			said = row->values[k] && row->values[i] &&
			       !strcmp(row->values[k], row->values[i]);
		if (said || !row->values[k])
			continue;
		rck_strbuf_addf(&line, "%s, %s", row->title, t->x->arms[k].name);
		for (size_t i = k + 1; i < t->x->n_arms; i++)
			if (row->values[i] && !strcmp(row->values[k], row->values[i]))
				rck_strbuf_addf(&line, " and %s", t->x->arms[i].name);
		rck_strbuf_addf(&line, ": %s", row->values[k]);
		paragraph(t, line.buf, 2);
	}
}

static void arms(const struct text *t)
{
	const struct rck_experiment *x = t->x;
	struct rck_column columns[RCK_ARMS_MAX + 1] = {{"", .shrink = true, .least = 16}};
	struct rck_table *table;

	for (size_t i = 0; i < x->n_arms; i++)
		columns[i + 1] = (struct rck_column){.title = x->arms[i].name};
	table = rck_table_new(columns, x->n_arms + 1);
	for (size_t i = 0; i < x->n_rows; i++) {
		if (!row_fits(t, &x->rows[i]))
			continue;
		masked_cell(table, x->rows[i].title);
		for (size_t k = 0; k < x->n_arms; k++)
			masked_cell(
				table, x->rows[i].values[k] ? x->rows[i].values[k] : "-");
	}
	if (x->n_rows)
		heading(t, "Arms");
	if (rck_table_rows(table))
		rck_table_print(table, t->out, t->width, 2);
	for (size_t i = 0; i < x->n_rows; i++)
		if (!row_fits(t, &x->rows[i]))
			long_row(t, &x->rows[i]);
	rck_table_free(table);
	for (size_t i = 0; i < x->n_arms; i++)
		if (x->arms[i].unbuilt) {
			char *line = rck_xasprintf(
				"%s: not built: %s", x->arms[i].name, x->arms[i].unbuilt);

			paragraph(t, line, 2);
			free(line);
		}
}

/* ---- the cells ---- */

static const struct rck_column cell_columns[] = {
	{"load"},
	{"route"},
	{"arm", .shrink = true, .least = 8},
	{"clean", .right = true},
	{"hang", .right = true},
	{"crash", .right = true},
	{"failed", .right = true},
	{"hang rate, 95 %", .right = true},
	{"p", .right = true},
	{"by round", .right = true},
};

static void p_cell(struct rck_table *table, double p)
{
	rck_table_cellf(table, p < .001 ? "%.0e" : "%.3f", p);
}

static void cell_row(struct rck_table *table, const struct rck_experiment *x,
	const struct rck_cell *c, size_t arm, bool first)
{
	struct rck_tally t = rck_cell_tally(c, arm);

	rck_table_cell(table, first ? rck_load_name(c->shape) : "");
	rck_table_cellf(table, "%s%s", first ? (*c->route ? c->route : "-") : "",
		first && c->reordered ? "*" : "");
	masked_cell(table, x->arms[arm].name);
	rck_table_cellf(table, "%u/%u", t.by_outcome[RCK_OUTCOME_CLEAN], t.n);
	rck_table_cellf(table, "%u/%u", t.hangs, t.n);
	rck_table_cellf(table, "%u", t.by_outcome[RCK_OUTCOME_CRASH]);
	rck_table_cellf(table, "%u", t.by_outcome[RCK_OUTCOME_FAILED]);
	rck_table_cellf(table, "%.1f %% (%.1f-%.1f)", t.n ? 100.0 * t.hangs / t.n : 0,
		100 * t.rate.low, 100 * t.rate.high);
	if (!arm) {
		rck_table_cell(table, "");
		rck_table_cell(table, "");
	} else {
		struct rck_comparison p = rck_cell_compare(c, 0, arm);

		p_cell(table, p.fisher);
		p_cell(table, p.by_round);
	}
}

static void cells(const struct text *t)
{
	const struct rck_experiment *x = t->x;
	struct rck_table *table =
		rck_table_new(cell_columns, sizeof(cell_columns) / sizeof(*cell_columns));
	bool reordered = false;

	for (size_t i = 0; i < x->n_cells; i++) {
		bool first = true;

		reordered |= x->cells[i].reordered;
		for (size_t k = 0; k < x->n_arms; k++) {
			if (!rck_cell_tally(&x->cells[i], k).n)
				continue;
			cell_row(table, x, &x->cells[i], k, first);
			first = false;
		}
	}
	if (rck_table_rows(table)) {
		heading(t, "Teardown");
		rck_table_print(table, t->out, t->width, 2);
	}
	if (reordered)
		rck_strbuf_adds(t->out, "  * destructor order of AMD's builds, imitated "
					"by a preload\n");
	for (size_t i = 0; i < x->n_cells; i++)
		if (x->cells[i].trouble) {
			char *line = rck_xasprintf("load %s, route %s: not run: %s",
				rck_load_name(x->cells[i].shape),
				*x->cells[i].route ? x->cells[i].route : "-",
				x->cells[i].trouble);

			paragraph(t, line, 2);
			free(line);
		}
	rck_table_free(table);
}

/* ---- the evidence ---- */

static void thread(const struct text *t, const struct rck_thread *h)
{
	_cleanup_strbuf_ struct rck_strbuf line = RCK_STRBUF_INIT;

	rck_strbuf_addf(&line, "thread %s, state %c, %.0f %% of a CPU%s%s", h->name,
		h->state, 100 * h->cpu, h->note ? ": " : "", h->note ? h->note : "");
	rck_strbuf_adds(t->out, "    ");
	rck_strbuf_add_masked(t->out, line.buf, line.len);
	rck_strbuf_addc(t->out, '\n');
	for (size_t i = 0; i < h->n_frames && i < FRAMES_SHOWN; i++) {
		rck_strbuf_addf(t->out, "      #%zu ", i);
		rck_strbuf_add_masked(t->out, h->frames[i], strlen(h->frames[i]));
		rck_strbuf_addc(t->out, '\n');
	}
	if (h->n_frames > FRAMES_SHOWN)
		rck_strbuf_addf(
			t->out, "      ... %zu more\n", h->n_frames - FRAMES_SHOWN);
}

static void evidence_of(const struct text *t, const struct rck_cell *c)
{
	size_t n;
	struct rck_fold *folds = rck_cell_folds(c, t->x->n_arms, &n);

	for (size_t i = 0; i < n && i < 3; i++) {
		const struct rck_exposure *e = folds[i].example;

		rck_strbuf_addf(t->out, "  load %s%s%s: the same in %u hung process%s:",
			rck_load_name(c->shape), *c->route ? ", route " : "", c->route,
			folds[i].n, folds[i].n == 1 ? "" : "es");
		for (size_t k = 0; k < t->x->n_arms; k++)
			if (folds[i].by_arm[k])
				rck_strbuf_addf(t->out, " %s %u", t->x->arms[k].name,
					folds[i].by_arm[k]);
		rck_strbuf_addf(t->out, "; %s\n", rck_exposure_listener_state(e));
		for (size_t k = 0; k < e->n_threads && k < THREADS_SHOWN; k++)
			thread(t, &e->threads[k]);
		if (e->core) {
			rck_strbuf_adds(t->out, "    core: ");
			rck_strbuf_add_masked(t->out, e->core, strlen(e->core));
			rck_strbuf_addc(t->out, '\n');
		}
	}
	if (n > 3)
		rck_strbuf_addf(t->out, "  and %zu other stacks: --format json\n", n - 3);
	rck_folds_free(folds, n);
}

/* ---- what crashed or failed ---- */

#define LAST_WORDS 400 /* bytes */

static void last_words(const struct text *t, const struct rck_exposure *e)
{
	size_t len = e->output ? strlen(e->output) : 0;
	const char *from = len > LAST_WORDS ? e->output + len - LAST_WORDS : e->output;

	for (const char *line = from; line && *line;) {
		size_t n = strcspn(line, "\n");

		rck_strbuf_adds(t->out, "    | ");
		rck_strbuf_add_masked(t->out, line, n);
		rck_strbuf_addc(t->out, '\n');
		line += n + (line[n] != 0);
	}
}

/* The first one of each arm in each cell. */
static void other_ends(const struct text *t)
{
	bool any = false;

	for (size_t i = 0; i < t->x->n_cells; i++) {
		const struct rck_cell *c = &t->x->cells[i];
		unsigned shown = 0; /* a bit an arm */

		for (size_t k = 0; k < c->result.n; k++) {
			const struct rck_exposure *e = &c->result.exposures[k];

			if ((e->outcome != RCK_OUTCOME_CRASH &&
				    e->outcome != RCK_OUTCOME_FAILED) ||
				(shown & 1u << e->arm))
				continue;
			shown |= 1u << e->arm;
			if (!any)
				heading(t, "What crashed or failed");
			any = true;
			rck_strbuf_addf(t->out, "  load %s%s%s, %s: %s %d %s\n",
				rck_load_name(c->shape), *c->route ? ", route " : "",
				c->route, t->x->arms[e->arm].name,
				e->signal ? "signal" : "exit status",
				e->signal ? e->signal : e->status,
				e->done ? "after its work was done" : "in its work");
			last_words(t, e);
		}
	}
}

static bool has_hangs(const struct rck_experiment *x)
{
	for (size_t i = 0; i < x->n_cells; i++)
		for (size_t k = 0; k < x->n_arms; k++)
			if (rck_cell_tally(&x->cells[i], k).hangs)
				return true;
	return false;
}

static void evidence(const struct text *t)
{
	if (!has_hangs(t->x))
		return;
	heading(t, "What hangs");
	for (size_t i = 0; i < t->x->n_cells; i++)
		evidence_of(t, &t->x->cells[i]);
}

/* ---- the words ---- */

static void verdict(const struct text *t)
{
	_cleanup_free_ char *whole = rck_verdict_whole(t->x);

	heading(t, "Verdict");
	for (size_t i = 0; i < t->x->n_cells; i++) {
		char *text;

		if (!t->x->cells[i].result.n)
			continue;
		text = rck_verdict_cell(t->x, &t->x->cells[i]);
		paragraph(t, text, 2);
		free(text);
	}
	if (whole)
		paragraph(t, whole, 2);
	for (size_t i = 0; i < t->x->n_notes; i++)
		paragraph(t, t->x->notes[i], 2);
}

static void environment_line(const struct text *t, const char *title, const char *value)
{
	_cleanup_strbuf_ struct rck_strbuf masked = RCK_STRBUF_INIT;

	/* of a merged file it may be anything */
	rck_strbuf_add_masked(&masked, title, strlen(title));
	rck_strbuf_addf(t->out, "  %-16s ", masked.buf);
	rck_strbuf_add_masked(t->out, value, strlen(value));
	rck_strbuf_addc(t->out, '\n');
}

static void environment(const struct text *t)
{
	heading(t, "Where");
	for (size_t i = 0; i < t->x->n_environment; i++)
		environment_line(
			t, t->x->environment[i].title, t->x->environment[i].value);
	if (t->x->repeat)
		environment_line(t, "again", t->x->repeat);
}

void rck_experiment_text(const struct rck_experiment *x, struct rck_strbuf *out,
	unsigned width, bool color)
{
	struct text t = {x, out, width, color};

	rck_strbuf_addf(out, "%srocmcheck %s%s%s\n", style(&t, "\033[1m"), x->tool,
		style(&t, "\033[0m"),
		x->interrupted ? ": interrupted, a partial result" : "");
	environment(&t);
	arms(&t);
	cells(&t);
	evidence(&t);
	other_ends(&t);
	verdict(&t);
}
