#include "teardown/experiment.h"
#include "container/container.h"
#include "teardown/stats.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

static void field_release(struct rck_field *f)
{
	free(f->key);
	free(f->title);
	free(f->value);
}

static void row_release(struct rck_row *r, size_t n_arms)
{
	for (size_t i = 0; i < n_arms; i++)
		free(r->values[i]);
	free(r->values);
	free(r->key);
	free(r->title);
}

static void cell_release(struct rck_cell *c)
{
	free(c->route);
	free(c->trouble);
	free(c->strata);
	rck_trial_result_release(&c->result);
}

void rck_experiment_release(struct rck_experiment *x)
{
	for (size_t i = 0; i < x->n_environment; i++)
		field_release(&x->environment[i]);
	for (size_t i = 0; i < x->n_rows; i++)
		row_release(&x->rows[i], x->n_arms);
	for (size_t i = 0; i < x->n_arms; i++) {
		free(x->arms[i].name);
		free(x->arms[i].command);
		free(x->arms[i].unbuilt);
	}
	for (size_t i = 0; i < x->n_cells; i++)
		cell_release(&x->cells[i]);
	for (size_t i = 0; i < x->n_notes; i++)
		free(x->notes[i]);
	free(x->environment);
	free(x->rows);
	free(x->arms);
	free(x->cells);
	free(x->notes);
	free(x->tool);
	free(x->repeat);
	*x = (struct rck_experiment){0};
}

/* Room for one more, zeroed. */
static void *one_more(void *list, size_t *n, size_t size)
{
	char *p = rck_xrealloc(list, (*n + 1) * size);

	memset(p + *n * size, 0, size);
	(*n)++;
	return p;
}

static char *copy(const char *s)
{
	return s ? rck_xstrdup(s) : NULL;
}

void rck_experiment_environment(
	struct rck_experiment *x, const char *key, const char *title, const char *value)
{
	if (!value)
		return;
	x->environment =
		one_more(x->environment, &x->n_environment, sizeof(*x->environment));
	x->environment[x->n_environment - 1] =
		(struct rck_field){copy(key), copy(title), copy(value)};
}

const char *rck_experiment_value(const struct rck_experiment *x, const char *key)
{
	for (size_t i = 0; i < x->n_environment; i++)
		if (!strcmp(x->environment[i].key, key))
			return x->environment[i].value;
	return NULL;
}

struct rck_arm_info *rck_experiment_arm(struct rck_experiment *x, const char *name)
{
	x->arms = one_more(x->arms, &x->n_arms, sizeof(*x->arms));
	x->arms[x->n_arms - 1].name = copy(name);
	return &x->arms[x->n_arms - 1];
}

void rck_experiment_row(struct rck_experiment *x, const char *key, const char *title,
	size_t arm, const char *value)
{
	size_t i = 0;

	while (i < x->n_rows && strcmp(x->rows[i].key, key))
		i++;
	if (i == x->n_rows) {
		x->rows = one_more(x->rows, &x->n_rows, sizeof(*x->rows));
		x->rows[i].key = copy(key);
		x->rows[i].title = copy(title);
		x->rows[i].values = rck_xcalloc(x->n_arms, sizeof(char *));
	}
	free(x->rows[i].values[arm]);
	x->rows[i].values[arm] = copy(value);
}

struct rck_cell *rck_experiment_cell(struct rck_experiment *x)
{
	x->cells = one_more(x->cells, &x->n_cells, sizeof(*x->cells));
	x->cells[x->n_cells - 1].parts = 1;
	return &x->cells[x->n_cells - 1];
}

void rck_cell_from_trial(struct rck_cell *c, const struct rck_trial *t, const char *route)
{
	c->shape = t->shape;
	c->route = copy(route);
	c->workers = t->workers;
	c->concurrent = t->concurrent;
	c->wanted = t->exposures;
	c->strata = rck_xcalloc(c->result.n + 1, sizeof(*c->strata));
	for (size_t i = 0; i < c->result.n; i++)
		c->strata[i] = c->result.exposures[i].round;
}

void rck_cell_drop(struct rck_cell *c)
{
	rck_trial_result_release(&c->result);
	free(c->strata);
	c->strata = NULL;
}

int rck_cell_check_order(struct rck_cell *c, struct rck_diag *diag)
{
	const char *reason = NULL;
	size_t had_it = 0;
	int err;

	for (size_t i = 0; i < c->result.n; i++) {
		had_it += c->result.exposures[i].reordered;
		if (!c->result.exposures[i].reordered && !reason)
			reason = c->result.exposures[i].reason;
	}
	if (c->result.n && had_it == c->result.n) {
		c->reordered = true;
		return 0;
	}
	err = rck_fail(diag, -ENOENT, RCK_OFFSET_NONE,
		"AMD's order of destructors was not to be had: %s",
		reason ? reason : "no libamdhip64 was loaded");
	rck_cell_drop(c);
	return err;
}

void rck_experiment_note(struct rck_experiment *x, const char *fmt, ...)
{
	struct rck_strbuf text = RCK_STRBUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	rck_strbuf_vaddf(&text, fmt, ap);
	va_end(ap);
	x->notes = one_more(x->notes, &x->n_notes, sizeof(*x->notes));
	x->notes[x->n_notes - 1] = rck_strbuf_detach(&text);
}

/* The first line of a file that begins so, behind its colon; free(). NULL: none. */
static char *line_of(const char *path, const char *key)
{
	char line[512];
	char *found = NULL;
	FILE *f = fopen(path, "re");

	if (!f)
		return NULL;
	while (!found && fgets(line, sizeof(line), f)) {
		char *colon = strchr(line, ':');

		line[strcspn(line, "\n")] = 0;
		if (!key)
			found = rck_xstrdup(line);
		else if (colon && !strncmp(line, key, strlen(key)))
			found = rck_xstrdup(colon + 1 + strspn(colon + 1, " \t"));
	}
	fclose(f);
	return found;
}

void rck_experiment_describe_machine(struct rck_experiment *x)
{
	char *cpu = line_of("/proc/cpuinfo", "model name");
	char *group = line_of("/proc/sys/kernel/sched_autogroup_enabled", NULL);
	struct utsname u;
	char number[32];

	rck_experiment_environment(x, "cpu", "CPU", cpu);
	snprintf(number, sizeof(number), "%u", rck_load_cpus());
	rck_experiment_environment(x, "cpus", "CPUs", number);
	if (!uname(&u)) {
		char *kernel = rck_xasprintf("%s %s", u.sysname, u.release);

		rck_experiment_environment(x, "machine", "machine", u.nodename);
		rck_experiment_environment(x, "kernel", "kernel", kernel);
		free(kernel);
	}
	rck_experiment_environment(x, "autogroup", "sched_autogroup", group);
	free(cpu);
	free(group);
}

/* ---- what a cell says ---- */

struct rck_tally rck_cell_tally(const struct rck_cell *c, size_t arm)
{
	struct rck_tally t = {0};

	for (size_t i = 0; i < c->result.n; i++) {
		const struct rck_exposure *e = &c->result.exposures[i];

		if (e->arm != arm)
			continue;
		t.n++;
		t.by_outcome[e->outcome]++;
		t.starved += e->starved;
		t.listeners += e->listener != 0;
		t.left_behind += e->left_behind;
	}
	t.hangs =
		t.by_outcome[RCK_OUTCOME_HANG_DONE] + t.by_outcome[RCK_OUTCOME_HANG_WORK];
	t.rate = rck_stats_wilson(t.hangs, t.n);
	return t;
}

static unsigned last_stratum(const struct rck_cell *c)
{
	unsigned last = 0;

	for (size_t i = 0; i < c->result.n; i++)
		if (c->strata[i] > last)
			last = c->strata[i];
	return last;
}

struct rck_comparison rck_cell_compare(const struct rck_cell *c, size_t a, size_t b)
{
	size_t n = (size_t)last_stratum(c) + 1;
	struct rck_stratum *s = rck_xcalloc(n, sizeof(*s));
	struct rck_tally ta = rck_cell_tally(c, a), tb = rck_cell_tally(c, b);
	struct rck_comparison p;

	for (size_t i = 0; i < c->result.n; i++) {
		const struct rck_exposure *e = &c->result.exposures[i];
		struct rck_stratum *r = &s[c->strata[i]];

		if (e->arm == a) {
			r->na++;
			r->ka += rck_outcome_is_hang(e->outcome);
		} else if (e->arm == b) {
			r->nb++;
			r->kb += rck_outcome_is_hang(e->outcome);
		}
	}
	p.fisher = rck_stats_fisher(ta.hangs, ta.n, tb.hangs, tb.n);
	p.by_round = rck_stats_stratified(s, n);
	free(s);
	return p;
}

static int by_count(const void *a, const void *b)
{
	const struct rck_fold *x = a, *y = b;

	return x->n < y->n ? 1 : x->n > y->n ? -1 : 0;
}

struct rck_fold *rck_cell_folds(const struct rck_cell *c, size_t n_arms, size_t *n)
{
	struct rck_fold *folds = NULL;
	char **keys = NULL;

	*n = 0;
	for (size_t i = 0; i < c->result.n; i++) {
		const struct rck_exposure *e = &c->result.exposures[i];
		char *key;
		size_t k = 0;

		if (!rck_outcome_is_hang(e->outcome) || e->arm >= n_arms)
			continue;
		key = rck_exposure_stack_key(e);
		while (k < *n && strcmp(keys[k], key))
			k++;
		if (k == *n) {
			keys = rck_xrealloc(keys, (k + 1) * sizeof(*keys));
			keys[k] = key;
			folds = one_more(folds, n, sizeof(*folds));
			folds[k].example = e;
			folds[k].by_arm = rck_xcalloc(n_arms, sizeof(unsigned));
		} else {
			free(key);
		}
		folds[k].n++;
		folds[k].by_arm[e->arm]++;
	}
	for (size_t k = 0; k < *n; k++)
		free(keys[k]);
	free(keys);
	if (*n)
		qsort(folds, *n, sizeof(*folds), by_count);
	return folds;
}

void rck_folds_free(struct rck_fold *folds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(folds[i].by_arm);
	free(folds);
}
