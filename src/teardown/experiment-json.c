/* An experiment as one JSON object, and back. */
#include "container/container.h"
#include "teardown/experiment.h"
#include "teardown/stats.h"
#include "teardown/verdict.h"
#include "util/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- writing ---- */

static void write_tally(const struct rck_cell *c, const struct rck_experiment *x,
	size_t arm, struct rck_json *j)
{
	const struct rck_baseline *b = &c->result.baseline[arm];
	struct rck_tally t = rck_cell_tally(c, arm);

	rck_json_object(j);
	rck_json_kstr(j, "arm", x->arms[arm].name);
	rck_json_ku64(j, "exposures", t.n);
	for (int o = 0; o < RCK_OUTCOME_NOT_RUN; o++)
		rck_json_ku64(j, rck_outcome_key((enum rck_outcome)o), t.by_outcome[o]);
	rck_json_ku64(j, "hangs", t.hangs);
	rck_json_kdouble(j, "wilson_low", t.rate.low);
	rck_json_kdouble(j, "wilson_high", t.rate.high);
	if (arm) {
		struct rck_comparison p = rck_cell_compare(c, 0, arm);

		rck_json_kdouble(j, "p_fisher", p.fisher);
		rck_json_kdouble(j, "p_by_round", p.by_round);
	}
	rck_json_ku64(j, "listeners", t.listeners);
	rck_json_ku64(j, "starved", t.starved);
	rck_json_kdouble(j, "baseline_seconds", b->seconds);
	rck_json_kdouble(j, "baseline_cpu", b->cpu);
	rck_json_kdouble(j, "baseline_teardown", b->teardown);
	rck_json_ku64(j, "baseline_runs", b->runs);
	rck_json_ku64(j, "baseline_hangs", b->hangs);
	rck_json_object_end(j);
}

static void write_cell(
	const struct rck_cell *c, const struct rck_experiment *x, struct rck_json *j)
{
	const struct rck_trial_result *r = &c->result;

	rck_json_object(j);
	rck_json_kstr(j, "load", rck_load_name(c->shape));
	rck_json_kstr(j, "route", c->route);
	rck_json_ku64(j, "workers", c->workers);
	rck_json_ku64(j, "concurrent", c->concurrent);
	rck_json_ku64(j, "wanted", c->wanted);
	rck_json_kbool(j, "reordered", c->reordered);
	rck_json_kstr(j, "trouble", c->trouble);
	rck_json_ku64(j, "parts", c->parts);
	rck_json_ku64(j, "rounds", r->rounds);
	rck_json_kdouble(j, "deadline", r->deadline);
	rck_json_kdouble(j, "settle", r->settle);
	rck_json_kdouble(j, "grace", r->grace);
	rck_json_kdouble(j, "seconds", r->seconds);
	rck_json_kstr(j, "started_at", r->started_at);
	rck_json_kbool(j, "interrupted", r->interrupted);
	rck_json_kbool(j, "confident", r->confident);
	rck_json_key(j, "arms");
	rck_json_array(j);
	for (size_t i = 0; i < x->n_arms; i++)
		write_tally(c, x, i, j);
	rck_json_array_end(j);
	rck_json_key(j, "strata");
	rck_json_array(j);
	for (size_t i = 0; i < r->n; i++)
		rck_json_u64(j, c->strata[i]);
	rck_json_array_end(j);
	rck_json_key(j, "exposures");
	rck_json_array(j);
	for (size_t i = 0; i < r->n; i++)
		rck_exposure_write(&r->exposures[i], j);
	rck_json_array_end(j);
	rck_json_object_end(j);
}

static void write_row(const struct rck_row *row, size_t n_arms, struct rck_json *j)
{
	rck_json_object(j);
	rck_json_kstr(j, "key", row->key);
	rck_json_kstr(j, "title", row->title);
	rck_json_key(j, "values");
	rck_json_array(j);
	for (size_t i = 0; i < n_arms; i++)
		rck_json_str(j, row->values[i]);
	rck_json_array_end(j);
	rck_json_object_end(j);
}

void rck_experiment_write(const struct rck_experiment *x, struct rck_json *j)
{
	_cleanup_free_ char *whole = rck_verdict_whole(x);

	rck_json_object(j);
	rck_json_ku64(j, "schema", RCK_EXPERIMENT_SCHEMA);
	rck_json_kstr(j, "tool", "rocmcheck");
	rck_json_kstr(j, "version", rck_version());
	rck_json_kstr(j, "command", x->tool);
	rck_json_kstr(j, "repeat", x->repeat);
	rck_json_kbool(j, "interrupted", x->interrupted);
	rck_json_key(j, "environment");
	rck_json_array(j);
	for (size_t i = 0; i < x->n_environment; i++) {
		rck_json_object(j);
		rck_json_kstr(j, "key", x->environment[i].key);
		rck_json_kstr(j, "title", x->environment[i].title);
		rck_json_kstr(j, "value", x->environment[i].value);
		rck_json_object_end(j);
	}
	rck_json_array_end(j);
	rck_json_key(j, "arms");
	rck_json_array(j);
	for (size_t i = 0; i < x->n_arms; i++) {
		rck_json_object(j);
		rck_json_kstr(j, "name", x->arms[i].name);
		rck_json_kstr(j, "command", x->arms[i].command);
		rck_json_kstr(j, "unbuilt", x->arms[i].unbuilt);
		rck_json_object_end(j);
	}
	rck_json_array_end(j);
	rck_json_key(j, "rows");
	rck_json_array(j);
	for (size_t i = 0; i < x->n_rows; i++)
		write_row(&x->rows[i], x->n_arms, j);
	rck_json_array_end(j);
	rck_json_key(j, "cells");
	rck_json_array(j);
	for (size_t i = 0; i < x->n_cells; i++)
		write_cell(&x->cells[i], x, j);
	rck_json_array_end(j);
	rck_json_kstr(j, "verdict", whole);
	rck_json_key(j, "notes");
	rck_json_array(j);
	for (size_t i = 0; i < x->n_notes; i++)
		rck_json_str(j, x->notes[i]);
	rck_json_array_end(j);
	rck_json_object_end(j);
}

int rck_experiment_append(
	const struct rck_experiment *x, const char *path, struct rck_diag *diag)
{
	_cleanup_strbuf_ struct rck_strbuf line = RCK_STRBUF_INIT;
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	struct rck_json j;
	struct stat st;
	size_t at = 0;
	int ret = 0;

	if (fd < 0)
		return rck_fail(diag, -errno, RCK_OFFSET_NONE, "cannot open: %s",
			strerror(errno));
	rck_json_init(&j, &line, 0);
	rck_experiment_write(x, &j);
	rck_strbuf_addc(&line, '\n');
	if (flock(fd, LOCK_EX))
		ret = rck_fail(diag, -errno, RCK_OFFSET_NONE, "cannot lock: %s",
			strerror(errno));
	else if (fstat(fd, &st))
		ret = rck_fail(diag, -errno, RCK_OFFSET_NONE, "cannot read its size: %s",
			strerror(errno));
	while (!ret && at < line.len) {
		ssize_t n = write(fd, line.buf + at, line.len - at);

		if (n < 0 && errno != EINTR)
			ret = rck_fail(diag, -errno, RCK_OFFSET_NONE, "cannot write: %s",
				strerror(errno));
		at += n > 0 ? (size_t)n : 0;
	}
	/* half a line would spoil the next one as well */
	if (ret && at && ftruncate(fd, st.st_size))
		ret = rck_fail(diag, ret, RCK_OFFSET_NONE,
			"cannot write, and half a line stays in it: %s", strerror(-ret));
	if (close(fd) && !ret)
		ret = rck_fail(diag, -errno, RCK_OFFSET_NONE, "cannot write: %s",
			strerror(errno));
	return ret;
}

/* ---- reading ---- */

static const char *text(const json_t *o, const char *key)
{
	return json_string_value(json_object_get(o, key));
}

static char *text_copy(const json_t *o, const char *key)
{
	const char *s = text(o, key);

	return s ? rck_xstrdup(s) : NULL;
}

static unsigned number(const json_t *o, const char *key)
{
	json_int_t v = json_integer_value(json_object_get(o, key));

	return v < 0 || v > 0xffffffff ? 0 : (unsigned)v;
}

static double real(const json_t *o, const char *key)
{
	return json_number_value(json_object_get(o, key));
}

static int read_shape(const char *name, enum rck_load_shape *out)
{
	for (int i = 0; name && i < RCK_LOAD_SHAPES; i++)
		if (!strcmp(name, rck_load_name((enum rck_load_shape)i))) {
			*out = (enum rck_load_shape)i;
			return 0;
		}
	return -EINVAL;
}

static void read_baseline(const json_t *o, struct rck_baseline *b)
{
	b->seconds = real(o, "baseline_seconds");
	b->cpu = real(o, "baseline_cpu");
	b->teardown = real(o, "baseline_teardown");
	b->runs = number(o, "baseline_runs");
	b->hangs = number(o, "baseline_hangs");
}

/* An exposure's arm indexes the arms, and its stratum is bounded by what there is. */
static int read_exposures(const json_t *o, size_t n_arms, struct rck_cell *c)
{
	const json_t *list = json_object_get(o, "exposures");
	const json_t *strata = json_object_get(o, "strata");
	size_t n = json_array_size(list);

	if (json_array_size(strata) != n)
		return -EINVAL;
	c->result.exposures = rck_xcalloc(n + 1, sizeof(*c->result.exposures));
	c->strata = rck_xcalloc(n + 1, sizeof(*c->strata));
	for (size_t i = 0; i < n; i++) {
		json_int_t s = json_integer_value(json_array_get(strata, i));
		struct rck_exposure *e = &c->result.exposures[i];

		if (rck_exposure_read(json_array_get(list, i), e))
			return -EINVAL;
		c->result.n++;
		if (e->arm >= n_arms || s < 0 || (size_t)s >= n)
			return -EINVAL;
		c->strata[i] = (unsigned)s;
	}
	return 0;
}

/* These words stand in reports as they are. NULL is fine. */
static bool is_made_of(const char *word, const char *characters)
{
	return !word || !word[strspn(word, characters)];
}

static int read_cell(const json_t *o, struct rck_experiment *x)
{
	struct rck_cell *c = rck_experiment_cell(x);
	const json_t *arms = json_object_get(o, "arms");
	const char *started = text(o, "started_at");

	if (read_shape(text(o, "load"), &c->shape) ||
		!is_made_of(text(o, "route"), "abcdefghijklmnopqrstuvwxyz") ||
		!is_made_of(started, "0123456789-:TZ"))
		return -EINVAL;
	c->route = rck_xstrdup(text(o, "route") ? text(o, "route") : "");
	c->workers = number(o, "workers");
	c->concurrent = number(o, "concurrent");
	c->wanted = number(o, "wanted");
	c->reordered = json_is_true(json_object_get(o, "reordered"));
	c->trouble = text_copy(o, "trouble");
	c->parts = number(o, "parts");
	c->result.rounds = number(o, "rounds");
	c->result.deadline = real(o, "deadline");
	c->result.settle = real(o, "settle");
	c->result.grace = real(o, "grace");
	c->result.seconds = real(o, "seconds");
	c->result.interrupted = json_is_true(json_object_get(o, "interrupted"));
	c->result.confident = json_is_true(json_object_get(o, "confident"));
	snprintf(c->result.started_at, sizeof(c->result.started_at), "%s",
		started ? started : "");
	for (size_t i = 0; i < json_array_size(arms) && i < RCK_ARMS_MAX; i++)
		read_baseline(json_array_get(arms, i), &c->result.baseline[i]);
	return read_exposures(o, x->n_arms, c);
}

static void read_lists(const json_t *o, struct rck_experiment *x)
{
	const json_t *item;
	size_t i;

	json_array_foreach(json_object_get(o, "environment"), i, item)
	{
		if (text(item, "key") && text(item, "title"))
			rck_experiment_environment(x, text(item, "key"),
				text(item, "title"), text(item, "value"));
	}
	json_array_foreach(json_object_get(o, "arms"), i, item)
	{
		_cleanup_strbuf_ struct rck_strbuf name = RCK_STRBUF_INIT;
		struct rck_arm_info *a;

		if (text(item, "name"))
			rck_strbuf_add_masked(
				&name, text(item, "name"), strlen(text(item, "name")));
		a = rck_experiment_arm(x, name.buf);

		a->command = text_copy(item, "command");
		a->unbuilt = text_copy(item, "unbuilt");
	}
	json_array_foreach(json_object_get(o, "rows"), i, item)
	{
		const json_t *values = json_object_get(item, "values");

		for (size_t k = 0; k < x->n_arms && text(item, "key"); k++)
			rck_experiment_row(x, text(item, "key"),
				text(item, "title") ? text(item, "title") : "", k,
				json_string_value(json_array_get(values, k)));
	}
	json_array_foreach(json_object_get(o, "notes"), i, item)
	{
		if (json_is_string(item))
			rck_experiment_note(x, "%s", json_string_value(item));
	}
}

int rck_experiment_read(const json_t *o, struct rck_experiment *x, struct rck_diag *diag)
{
	const json_t *cells = json_object_get(o, "cells");

	*x = (struct rck_experiment){0};
	if (number(o, "schema") != RCK_EXPERIMENT_SCHEMA || !text(o, "command") ||
		(strcmp(text(o, "command"), "ab") &&
			strcmp(text(o, "command"), "stress")))
		return rck_fail(diag, -EINVAL, RCK_OFFSET_NONE,
			"no result of 'ab' or 'stress', schema %d",
			RCK_EXPERIMENT_SCHEMA);
	if (json_array_size(json_object_get(o, "arms")) > RCK_ARMS_MAX)
		return rck_fail(diag, -EINVAL, RCK_OFFSET_NONE, "more than %d arms",
			RCK_ARMS_MAX);
	x->tool = text_copy(o, "command");
	x->repeat = text_copy(o, "repeat");
	x->interrupted = json_is_true(json_object_get(o, "interrupted"));
	read_lists(o, x);
	for (size_t i = 0; i < json_array_size(cells); i++)
		if (read_cell(json_array_get(cells, i), x)) {
			rck_experiment_release(x);
			return rck_fail(diag, -EINVAL, RCK_OFFSET_NONE,
				"cell %zu is malformed", i);
		}
	return 0;
}

/* ---- merging ---- */

static bool same(const char *a, const char *b)
{
	return !strcmp(a ? a : "", b ? b : "");
}

static int check_mergeable(const struct rck_experiment *a, const struct rck_experiment *b,
	struct rck_diag *diag)
{
	static const char *const keys[] = {
		"hip_version", "hip_sha256", "device", "target"};

	if (!same(a->tool, b->tool))
		return rck_fail(diag, -EINVAL, RCK_OFFSET_NONE,
			"one is of '%s', one of '%s'", a->tool, b->tool);
	if (a->n_arms != b->n_arms)
		return rck_fail(diag, -EINVAL, RCK_OFFSET_NONE, "%zu arms and %zu",
			a->n_arms, b->n_arms);
	for (size_t i = 0; i < a->n_arms; i++)
		if (!same(a->arms[i].name, b->arms[i].name))
			return rck_fail(diag, -EINVAL, RCK_OFFSET_NONE,
				"arm %zu is '%.80s' and '%.80s'", i, a->arms[i].name,
				b->arms[i].name);
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		const char *va = rck_experiment_value(a, keys[i]);
		const char *vb = rck_experiment_value(b, keys[i]);

		if (!same(va, vb))
			return rck_fail(diag, -EINVAL, RCK_OFFSET_NONE,
				"%s is '%.70s' and '%.70s'", keys[i], va ? va : "",
				vb ? vb : "");
	}
	return 0;
}

static struct rck_cell *find_cell(struct rck_experiment *x, const struct rck_cell *like)
{
	for (size_t i = 0; i < x->n_cells; i++) {
		struct rck_cell *c = &x->cells[i];

		if (c->shape == like->shape && same(c->route, like->route) &&
			c->reordered == like->reordered)
			return c;
	}
	return NULL;
}

static void copy_exposure(const struct rck_exposure *from, struct rck_exposure *to)
{
	_cleanup_strbuf_ struct rck_strbuf text = RCK_STRBUF_INIT;
	struct rck_json j;
	json_t *o;

	rck_json_init(&j, &text, 0);
	rck_exposure_write(from, &j);
	o = json_loadb(text.buf, text.len, 0, NULL);
	rck_exposure_read(o, to);
	json_decref(o);
}

static void add_exposures(struct rck_cell *to, const struct rck_cell *from)
{
	struct rck_trial_result *r = &to->result;
	size_t total = r->n + from->result.n;
	double after = r->seconds; /* each run has its own clock: one after another */
	unsigned next = 0;

	for (size_t i = 0; i < r->n; i++)
		if (to->strata[i] >= next)
			next = to->strata[i] + 1;
	r->exposures = rck_xrealloc(r->exposures, (total + 1) * sizeof(*r->exposures));
	to->strata = rck_xrealloc(to->strata, (total + 1) * sizeof(*to->strata));
	for (size_t i = 0; i < from->result.n; i++) {
		copy_exposure(&from->result.exposures[i], &r->exposures[r->n]);
		r->exposures[r->n].started += after;
		to->strata[r->n++] = next + from->strata[i];
	}
	r->rounds += from->result.rounds;
	r->seconds += from->result.seconds;
	r->interrupted |= from->result.interrupted;
	to->wanted += from->wanted;
	to->parts += from->parts;
}

int rck_experiment_merge(struct rck_experiment *into, const struct rck_experiment *from,
	struct rck_diag *diag)
{
	int err = check_mergeable(into, from, diag);

	if (err)
		return err;
	for (size_t i = 0; i < from->n_cells; i++) {
		const struct rck_cell *c = &from->cells[i];
		struct rck_cell *to = find_cell(into, c);

		if (!to) {
			to = rck_experiment_cell(into);
			to->shape = c->shape;
			to->route = rck_xstrdup(c->route);
			to->reordered = c->reordered;
			to->workers = c->workers;
			to->concurrent = c->concurrent;
			to->trouble = c->trouble ? rck_xstrdup(c->trouble) : NULL;
			to->parts = 0;
			to->result.deadline = c->result.deadline;
			to->result.settle = c->result.settle;
			to->result.grace = c->result.grace;
			memcpy(to->result.baseline, c->result.baseline,
				sizeof(to->result.baseline));
			memcpy(to->result.started_at, c->result.started_at,
				sizeof(to->result.started_at));
		}
		add_exposures(to, c);
	}
	into->interrupted |= from->interrupted;
	return 0;
}
