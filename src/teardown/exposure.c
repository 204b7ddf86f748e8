#include "teardown/exposure.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name, *key;
} outcomes[RCK_OUTCOMES] = {
	[RCK_OUTCOME_CLEAN] = {"clean", "clean"},
	[RCK_OUTCOME_HANG_DONE] = {"hang after work done", "hang-done"},
	[RCK_OUTCOME_HANG_WORK] = {"hang in work", "hang-work"},
	[RCK_OUTCOME_CRASH] = {"crash", "crash"},
	[RCK_OUTCOME_FAILED] = {"failed", "failed"},
	[RCK_OUTCOME_NOT_RUN] = {"not run", "not-run"},
};

const char *rck_outcome_name(enum rck_outcome o)
{
	return outcomes[o].name;
}

const char *rck_outcome_key(enum rck_outcome o)
{
	return outcomes[o].key;
}

static void thread_release(struct rck_thread *t)
{
	for (size_t i = 0; i < t->n_frames; i++)
		free(t->frames[i]);
	free(t->frames);
	free(t->name);
	free(t->module);
	free(t->note);
}

void rck_exposure_release(struct rck_exposure *e)
{
	for (size_t i = 0; i < e->n_threads; i++)
		thread_release(&e->threads[i]);
	free(e->threads);
	free(e->reason);
	free(e->output);
	free(e->spins_in);
	free(e->hip);
	free(e->hsa);
	free(e->core);
	*e = (struct rck_exposure){0};
}

static void write_thread(const struct rck_thread *t, struct rck_json *j)
{
	char state[2] = {t->state, 0};

	rck_json_object(j);
	rck_json_ki64(j, "pid", t->pid);
	rck_json_ki64(j, "tid", t->tid);
	rck_json_kstr(j, "name", t->name);
	rck_json_kstr(j, "state", state);
	rck_json_kdouble(j, "cpu", t->cpu);
	rck_json_kstr(j, "module", t->module);
	rck_json_kstr(j, "note", t->note);
	rck_json_key(j, "frames");
	rck_json_array(j);
	for (size_t i = 0; i < t->n_frames; i++)
		rck_json_str(j, t->frames[i]);
	rck_json_array_end(j);
	rck_json_object_end(j);
}

void rck_exposure_write(const struct rck_exposure *e, struct rck_json *j)
{
	rck_json_object(j);
	rck_json_ku64(j, "arm", e->arm);
	rck_json_ku64(j, "round", e->round);
	rck_json_ku64(j, "slot", e->slot);
	rck_json_kstr(j, "outcome", rck_outcome_key(e->outcome));
	rck_json_kbool(j, "done", e->done);
	rck_json_kdouble(j, "started", e->started);
	rck_json_kdouble(j, "done_after", e->done_after);
	rck_json_kdouble(j, "seconds", e->seconds);
	rck_json_kdouble(j, "cpu", e->cpu);
	rck_json_ki64(j, "status", e->status);
	rck_json_ki64(j, "signal", e->signal);
	rck_json_ku64(j, "left_behind", e->left_behind);
	rck_json_ki64(j, "listener", e->listener);
	rck_json_kbool(j, "listener_alive", e->listener_alive);
	rck_json_kbool(j, "in_fork", e->in_fork);
	rck_json_kbool(j, "starved", e->starved);
	rck_json_kbool(j, "reordered", e->reordered);
	rck_json_kstr(j, "reason", e->reason);
	rck_json_kstr(j, "spins_in", e->spins_in);
	rck_json_kstr(j, "hip", e->hip);
	rck_json_kstr(j, "hsa", e->hsa);
	rck_json_kstr(j, "core", e->core);
	rck_json_kstr(j, "output", e->output);
	rck_json_key(j, "threads");
	rck_json_array(j);
	for (size_t i = 0; i < e->n_threads; i++)
		write_thread(&e->threads[i], j);
	rck_json_array_end(j);
	rck_json_object_end(j);
}

static char *get_str(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? rck_xstrdup(s) : NULL;
}

static long long get_int(const json_t *o, const char *key)
{
	return json_integer_value(json_object_get(o, key));
}

static bool get_bool(const json_t *o, const char *key)
{
	return json_is_true(json_object_get(o, key));
}

static double get_num(const json_t *o, const char *key)
{
	return json_number_value(json_object_get(o, key));
}

static void read_thread(const json_t *o, struct rck_thread *t)
{
	const char *state = json_string_value(json_object_get(o, "state"));
	const json_t *frames = json_object_get(o, "frames");

	t->pid = (pid_t)get_int(o, "pid");
	t->tid = (pid_t)get_int(o, "tid");
	t->name = get_str(o, "name");
	t->state = state && isalpha((unsigned char)*state) ? *state : '?';
	t->cpu = get_num(o, "cpu");
	t->module = get_str(o, "module");
	t->note = get_str(o, "note");
	t->frames = rck_xcalloc(json_array_size(frames) + 1, sizeof(*t->frames));
	for (size_t i = 0; i < json_array_size(frames); i++) {
		const char *s = json_string_value(json_array_get(frames, i));

		t->frames[t->n_frames++] = rck_xstrdup(s ? s : "?");
	}
}

int rck_exposure_read(const json_t *o, struct rck_exposure *e)
{
	const char *outcome = json_string_value(json_object_get(o, "outcome"));
	const json_t *threads = json_object_get(o, "threads");
	int found = -1;

	*e = (struct rck_exposure){0};
	for (int i = 0; outcome && i < RCK_OUTCOMES; i++)
		if (!strcmp(outcome, outcomes[i].key))
			found = i;
	if (found < 0)
		return -EINVAL;
	e->outcome = (enum rck_outcome)found;
	e->arm = (unsigned)get_int(o, "arm");
	e->round = (unsigned)get_int(o, "round");
	e->slot = (unsigned)get_int(o, "slot");
	e->done = get_bool(o, "done");
	e->started = get_num(o, "started");
	e->done_after = get_num(o, "done_after");
	e->seconds = get_num(o, "seconds");
	e->cpu = get_num(o, "cpu");
	e->status = (int)get_int(o, "status");
	e->signal = (int)get_int(o, "signal");
	e->left_behind = (unsigned)get_int(o, "left_behind");
	e->listener = (pid_t)get_int(o, "listener");
	e->listener_alive = get_bool(o, "listener_alive");
	e->in_fork = get_bool(o, "in_fork");
	e->starved = get_bool(o, "starved");
	e->reordered = get_bool(o, "reordered");
	e->reason = get_str(o, "reason");
	e->spins_in = get_str(o, "spins_in");
	e->hip = get_str(o, "hip");
	e->hsa = get_str(o, "hsa");
	e->core = get_str(o, "core");
	e->output = get_str(o, "output");
	e->threads = rck_xcalloc(json_array_size(threads) + 1, sizeof(*e->threads));
	for (size_t i = 0; i < json_array_size(threads); i++)
		read_thread(json_array_get(threads, i), &e->threads[e->n_threads++]);
	return 0;
}

/* Where in its loop a spinning thread was met is chance. */
static void add_innermost(struct rck_strbuf *key, const struct rck_thread *t)
{
	const char *frame = t->frames[0], *plus = strchr(frame, '+');

	if (t->cpu < RCK_THREAD_SPINS || !plus)
		rck_strbuf_addf(key, "%s\n", frame);
	else
		rck_strbuf_addf(key, "%.*s\n", (int)(plus - frame), frame);
}

const struct rck_thread *rck_exposure_busiest(const struct rck_exposure *e)
{
	const struct rck_thread *found = NULL;

	for (size_t i = 0; i < e->n_threads; i++)
		if (!found || e->threads[i].cpu > found->cpu)
			found = &e->threads[i];
	return found;
}

const char *rck_exposure_listener_state(const struct rck_exposure *e)
{
	if (!e->listener)
		return "no listener thread was made";
	if (e->in_fork)
		return "a forked child, which never had a listener thread";
	return e->listener_alive ? "the listener thread lives"
				 : "the listener thread is gone";
}

char *rck_exposure_stack_key(const struct rck_exposure *e)
{
	struct rck_strbuf key = RCK_STRBUF_INIT;

	for (size_t i = 0; i < e->n_threads; i++) {
		const struct rck_thread *t = &e->threads[i];

		rck_strbuf_addf(&key, "thread %s\n", t->name ? t->name : "");
		if (t->n_frames)
			add_innermost(&key, t);
		for (size_t f = 1; f < t->n_frames; f++)
			rck_strbuf_addf(&key, "%s\n", t->frames[f]);
	}
	return rck_strbuf_detach(&key);
}
