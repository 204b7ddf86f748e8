#include "report/experiment.h"
#include "report/html.h"
#include "teardown/verdict.h"

#include <stdlib.h>
#include <string.h>

static void stacks(struct rck_strbuf *out, const struct rck_exposure *e)
{
	for (size_t i = 0; i < e->n_threads; i++) {
		const struct rck_thread *t = &e->threads[i];
		char *line = rck_xasprintf("thread %s, state %c, %.0f %% of a CPU\n",
			t->name, t->state, 100 * t->cpu);

		rck_html_text(out, line);
		free(line);
		for (size_t f = 0; f < t->n_frames; f++) {
			rck_strbuf_addf(out, "  #%zu ", f);
			rck_html_text(out, t->frames[f]);
			rck_strbuf_addc(out, '\n');
		}
	}
}

static void test_case(struct rck_strbuf *out, const struct rck_experiment *x,
	const struct rck_exposure *e)
{
	bool crashed = e->outcome == RCK_OUTCOME_CRASH;
	const char *element = crashed ? "error" : "failure";

	rck_strbuf_adds(out, "    <testcase classname=\"");
	rck_html_text(out, x->arms[e->arm].name);
	rck_strbuf_addf(out, "\" name=\"round %u slot %u\" time=\"%.3f\"", e->round,
		e->slot, e->seconds);
	if (e->outcome == RCK_OUTCOME_CLEAN) {
		rck_strbuf_adds(out, "/>\n");
		return;
	}
	rck_strbuf_addf(out, ">\n      <%s type=\"%s\" message=\"%s", element,
		rck_outcome_key(e->outcome), rck_outcome_name(e->outcome));
	if (e->spins_in) {
		rck_strbuf_adds(out, ", spins in ");
		rck_html_text(out, e->spins_in);
	}
	if (e->signal)
		rck_strbuf_addf(out, ", signal %d", e->signal);
	rck_strbuf_adds(out, "\">");
	stacks(out, e);
	rck_strbuf_addf(out, "</%s>\n    </testcase>\n", element);
}

static void suite(
	struct rck_strbuf *out, const struct rck_experiment *x, const struct rck_cell *c)
{
	unsigned failures = 0, errors = 0;
	char *verdict = rck_verdict_cell(x, c);

	for (size_t i = 0; i < c->result.n; i++) {
		enum rck_outcome o = c->result.exposures[i].outcome;

		errors += o == RCK_OUTCOME_CRASH;
		failures += o != RCK_OUTCOME_CRASH && o != RCK_OUTCOME_CLEAN;
	}
	rck_strbuf_addf(out,
		"  <testsuite name=\"%s %s%s%s\" tests=\"%zu\" "
		"failures=\"%u\" errors=\"%u\" time=\"%.3f\"",
		x->tool, rck_load_name(c->shape), *c->route ? " " : "", c->route,
		c->result.n + (c->trouble != NULL), failures,
		errors + (c->trouble != NULL), c->result.seconds);
	if (*c->result.started_at)
		rck_strbuf_addf(out, " timestamp=\"%.19s\"", c->result.started_at);
	rck_strbuf_adds(out, ">\n    <properties>\n");
	for (size_t i = 0; i < x->n_environment; i++) {
		rck_strbuf_adds(out, "      <property name=\"");
		rck_html_text(out, x->environment[i].key);
		rck_strbuf_adds(out, "\" value=\"");
		rck_html_text(out, x->environment[i].value);
		rck_strbuf_adds(out, "\"/>\n");
	}
	rck_strbuf_adds(out, "    </properties>\n");
	for (size_t i = 0; i < c->result.n; i++)
		test_case(out, x, &c->result.exposures[i]);
	if (c->trouble) {
		rck_strbuf_adds(out, "    <testcase classname=\"rocmcheck\" name=\"run\">"
				     "<error type=\"trouble\" message=\"");
		rck_html_text(out, c->trouble);
		rck_strbuf_adds(out, "\"/></testcase>\n");
	}
	rck_strbuf_adds(out, "    <system-out>");
	rck_html_text(out, verdict);
	rck_strbuf_adds(out, "</system-out>\n  </testsuite>\n");
	free(verdict);
}

void rck_experiment_junit(const struct rck_experiment *x, struct rck_strbuf *out)
{
	rck_strbuf_adds(
		out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
	for (size_t i = 0; i < x->n_cells; i++)
		suite(out, x, &x->cells[i]);
	rck_strbuf_adds(out, "</testsuites>\n");
}
