#include "teardown/verdict.h"
#include "util/cleanup.h"
#include "teardown/stats.h"

#include <stdlib.h>
#include <string.h>

#define CONFIDENCE .95
#define LOW_RATE   .01

char *rck_verdict_load(const struct rck_cell *c)
{
	switch (c->shape) {
	case RCK_LOAD_SPIN:
		return rck_xasprintf("under %u busy threads", c->workers);
	case RCK_LOAD_CHURN:
		return rck_xasprintf("under %u churn workers, %u at a time", c->workers,
			c->concurrent);
	case RCK_LOAD_STARVE:
		return rck_xstrdup("with the listener starved");
	default:
		return c->concurrent > 1 ? rck_xasprintf("with no load but %u at a time",
						   c->concurrent)
					 : rck_xstrdup("with no load");
	}
}

char *rck_verdict_rate(unsigned k, unsigned n)
{
	struct rck_interval w = rck_stats_wilson(k, n);

	if (!n)
		return rck_xstrdup("0 of 0");
	return rck_xasprintf("%u of %u (%.1f %%, 95 %% interval %.1f to %.1f)", k, n,
		100.0 * k / n, 100 * w.low, 100 * w.high);
}

char *rck_verdict_p(double p)
{
	return rck_xasprintf(p < .001 ? "p = %.1e" : "p = %.3f", p);
}

/* "hung after its work was done in 8 of 8 (...)", and what else went wrong. */
static void add_arm(struct rck_strbuf *out, const struct rck_tally *t)
{
	unsigned work = t->by_outcome[RCK_OUTCOME_HANG_WORK];
	char *rate = rck_verdict_rate(t->hangs, t->n);

	if (!t->hangs)
		rck_strbuf_addf(out, "did not hang: %s", rate);
	else if (!work)
		rck_strbuf_addf(out, "hung after its work was done in %s", rate);
	else if (work == t->hangs)
		rck_strbuf_addf(out, "hung in its work in %s", rate);
	else
		rck_strbuf_addf(out, "hung in %s, %u of them in its work", rate, work);
	if (t->by_outcome[RCK_OUTCOME_CRASH])
		rck_strbuf_addf(
			out, "; it crashed in %u", t->by_outcome[RCK_OUTCOME_CRASH]);
	if (t->by_outcome[RCK_OUTCOME_FAILED])
		rck_strbuf_addf(
			out, "; it failed in %u", t->by_outcome[RCK_OUTCOME_FAILED]);
	if (t->left_behind)
		rck_strbuf_addf(out,
			"; it left %u processes behind, ended by the supervisor",
			t->left_behind);
	free(rate);
}

/* No hang: what that excludes, and what would exclude more. */
static void add_bound(struct rck_strbuf *out, const struct rck_tally *t)
{
	unsigned needed = rck_stats_clean_needed(LOW_RATE, CONFIDENCE);

	if (!t->n || t->by_outcome[RCK_OUTCOME_CLEAN] != t->n)
		return;
	if (t->n >= needed)
		rck_strbuf_addf(out, " With 95 %% confidence the rate is below %.2g %%.",
			100 * rck_stats_clean_bound(t->n, CONFIDENCE));
	else
		rck_strbuf_addf(out,
			" %u clean exposure%s, with 95 %% confidence, a "
			"rate above %.1f %%; below 1 %% takes %u.",
			t->n, t->n == 1 ? " excludes" : "s exclude",
			100 * rck_stats_clean_bound(t->n, CONFIDENCE), needed);
}

static bool is_libc(const char *frame)
{
	return strstr(frame, "libc.so") || strstr(frame, "libpthread") ||
	       strstr(frame, "ld-linux");
}

/* The innermost frame, and who led there when it is the C library's. */
static void add_frame(struct rck_strbuf *out, const struct rck_thread *t)
{
	size_t i = 0;

	while (i < t->n_frames && is_libc(t->frames[i]))
		i++;
	if (i == t->n_frames)
		i = 0;
	rck_strbuf_addf(out, " (%s%s)", i ? "called from " : "", t->frames[i]);
}

/* Where they hang, from the most frequent stack. */
static void add_evidence(
	struct rck_strbuf *out, const struct rck_experiment *x, const struct rck_cell *c)
{
	size_t n;
	struct rck_fold *folds = rck_cell_folds(c, x->n_arms, &n);
	unsigned total = 0, spins = 0, listener = 0, gone = 0, forked = 0;
	const struct rck_exposure *e;
	const struct rck_thread *t;

	if (!n)
		return;
	e = folds[0].example;
	for (size_t i = 0; i < c->result.n; i++) {
		const struct rck_exposure *h = &c->result.exposures[i];

		if (!rck_outcome_is_hang(h->outcome))
			continue;
		total++;
		listener += h->listener != 0;
		gone += h->listener && !h->listener_alive;
		forked += h->in_fork;
		spins += e->spins_in && h->spins_in && !strcmp(h->spins_in, e->spins_in);
	}
	t = rck_exposure_busiest(e);
	if (spins)
		rck_strbuf_addf(out, " Of %u hung process%s %u spin%s in %s", total,
			total == 1 ? "" : "es", spins, spins == 1 ? "s" : "",
			e->spins_in);
	else
		rck_strbuf_addf(out, " The hung process%s wait%s", total == 1 ? "" : "es",
			total == 1 ? "s" : "");
	if (t && t->n_frames)
		add_frame(out, t);
	if (forked)
		rck_strbuf_addf(out,
			"; %u of %u in a forked child, which never had a listener thread",
			forked, total);
	else if (listener)
		rck_strbuf_addf(
			out, "; the listener thread is gone in %u of %u", gone, listener);
	rck_strbuf_addc(out, '.');
	rck_folds_free(folds, n);
}

char *rck_verdict_cell(const struct rck_experiment *x, const struct rck_cell *c)
{
	struct rck_strbuf out = RCK_STRBUF_INIT;
	char *load = rck_verdict_load(c);

	if (*c->route)
		rck_strbuf_addf(&out, "Route %s, %s: ", c->route, load);
	else
		rck_strbuf_addf(&out, "%c%s: ", load[0] - 'a' + 'A', load + 1);
	for (size_t i = 0; i < x->n_arms; i++) {
		struct rck_tally t = rck_cell_tally(c, i);

		if (x->arms[i].unbuilt || !t.n)
			continue;
		rck_strbuf_addf(&out, "%s%s ", out.buf[out.len - 2] == ':' ? "" : "; ",
			x->n_arms > 1 ? x->arms[i].name : "it");
		add_arm(&out, &t);
		if (c->result.baseline[i].hangs)
			rck_strbuf_adds(&out, "; it hung in a run without load, too");
		if (i && rck_cell_tally(c, 0).n) {
			struct rck_comparison p = rck_cell_compare(c, 0, i);
			char *fisher = rck_verdict_p(p.fisher);
			char *by_round = rck_verdict_p(p.by_round);

			rck_strbuf_addf(&out,
				"; against %s %s by Fisher's exact test, "
				"%s by permutation within rounds",
				x->arms[0].name, fisher, by_round);
			free(fisher);
			free(by_round);
		}
	}
	rck_strbuf_addc(&out, '.');
	if (x->n_arms == 1) {
		struct rck_tally t = rck_cell_tally(c, 0);

		add_bound(&out, &t);
	}
	add_evidence(&out, x, c);
	if (c->reordered)
		rck_strbuf_adds(&out,
			" (Destructor order of AMD's builds, imitated by a preloaded "
			"library; no library was modified.)");
	if (c->result.confident)
		rck_strbuf_adds(&out, " Stopped early by the sequential test, which says "
				      "enough was seen; "
				      "intervals and p are not adjusted for that.");
	if (c->result.interrupted)
		rck_strbuf_adds(&out, " Interrupted: this is a partial result.");
	free(load);
	return rck_strbuf_detach(&out);
}

/* Exposures and hangs of an arm over all cells. */
static struct rck_tally total_of(const struct rck_experiment *x, size_t arm)
{
	struct rck_tally sum = {0};

	for (size_t i = 0; i < x->n_cells; i++) {
		struct rck_tally t = rck_cell_tally(&x->cells[i], arm);

		sum.n += t.n;
		sum.hangs += t.hangs;
		sum.listeners += t.listeners;
	}
	return sum;
}

/* The arms that hung, or that did not: "O0", "O1 and O2". free() it. */
static char *names_of(const struct rck_experiment *x, bool hung)
{
	struct rck_strbuf out = RCK_STRBUF_INIT;

	for (size_t i = 0; i < x->n_arms; i++) {
		struct rck_tally t = total_of(x, i);

		if (t.n && (t.hangs != 0) == hung)
			rck_strbuf_addf(
				&out, "%s%s", out.len ? " and " : "", x->arms[i].name);
	}
	return rck_strbuf_detach(&out);
}

/* Did each arm hang exactly where the listener was started? */
static bool follows_listener(const struct rck_experiment *x)
{
	for (size_t i = 0; i < x->n_arms; i++) {
		struct rck_tally t = total_of(x, i);

		if (t.n && (t.hangs != 0) != (t.listeners != 0))
			return false;
	}
	return true;
}

static bool is_of_levels(const struct rck_experiment *x)
{
	for (size_t i = 0; i < x->n_rows; i++)
		if (!strcmp(x->rows[i].key, "compiler"))
			return true;
	return false;
}

char *rck_verdict_whole(const struct rck_experiment *x)
{
	_cleanup_free_ char *hung = names_of(x, true);
	_cleanup_free_ char *clean = names_of(x, false);
	unsigned listeners = 0;

	if (strcmp(x->tool, "ab") != 0)
		return NULL;
	for (size_t i = 0; i < x->n_arms; i++)
		listeners += total_of(x, i).listeners;
	if (!*hung)
		return listeners ? rck_xasprintf("The listener thread was started in %u "
						 "exposure%s, and none hung.",
					   listeners, listeners == 1 ? "" : "s")
				 : NULL;
	if (!*clean)
		return rck_xasprintf("%s: no arm is without hangs.", hung);
	if (!follows_listener(x))
		return NULL;
	return rck_xasprintf(
		"%s hangs where %s does not, and the one difference that the runtime "
		"sees is the hostcall buffer that the kernels declare: at the first "
		"launch of such a kernel it starts a listener thread, and its teardown "
		"can wait for that thread without end. %s",
		hung, clean,
		is_of_levels(x) ? "Compile device code with at least -O1."
				: "Find what makes the kernels declare it with "
				  "'rocmcheck inspect', and remove it.");
}

bool rck_verdict_has_findings(const struct rck_experiment *x)
{
	for (size_t i = 0; i < x->n_cells; i++)
		for (size_t k = 0; k < x->cells[i].result.n; k++)
			if (x->cells[i].result.exposures[k].outcome != RCK_OUTCOME_CLEAN)
				return true;
	return false;
}
