/* ab: one look at each arm, then the exposures, and what they come to. */
#include "cmd/ab.h"
#include "cmd/cmd.h"
#include "launch/probe.h"
#include "teardown/known.h"
#include "teardown/observe.h"
#include "teardown/preloads.h"
#include "teardown/verdict.h"
#include "util/cleanup.h"
#include "util/msg.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const all_routes[] = {"exit", "cumask", "fork"};
#define ROUTES (sizeof(all_routes) / sizeof(*all_routes))

/* The command lines of one cell; a position is an arm that was built. */
struct lines {
	struct rck_strv argv[RCK_ARMS_MAX], env[RCK_ARMS_MAX];
	struct rck_arm arms[RCK_ARMS_MAX];
	size_t arm_of[RCK_ARMS_MAX]; /* position -> arm of the experiment */
	size_t n;
};

static void lines_release(struct lines *l)
{
	for (size_t i = 0; i < RCK_ARMS_MAX; i++) {
		rck_strv_release(&l->argv[i]);
		rck_strv_release(&l->env[i]);
	}
}

/* ---- command lines ---- */

/* The probe with an arm's code object. Arguments that are not known are safe only where
 * nothing is executed. */
static int probe_line(struct ab *ab, const struct ab_arm *arm, const char *route,
	bool execute, struct rck_strv *argv, struct rck_strv *env, struct rck_diag *diag)
{
	const struct rck_device *d = &ab->teardown_device;
	bool soft = d->kind == RCK_DEVICE_SOFT;
	int err;

	err = rck_probe_command(
		ab->teardown_rocm, soft ? d->front : NULL, argv, env, diag);
	if (err)
		return err;
	rck_strv_add(argv, "--code-object");
	rck_strv_add(argv, ab_object_for(arm, d));
	rck_strv_add(argv, "--route");
	rck_strv_add(argv, route);
	/* named, its results are not looked at */
	if (!execute || !arm->bundled) {
		rck_strv_add(argv, "--kernel");
		rck_strv_add(argv, arm->kernel);
	}
	if (soft) {
		rck_strv_addf(env, "RCK_SOFT_TARGET=%.*s", (int)strcspn(d->target, ":"),
			d->target);
		rck_strv_addf(env, "RCK_SOFT_EXECUTE=%d", execute && arm->bundled);
	}
	return 0;
}

static int command_line(const struct ab_arm *arm, struct rck_strv *argv)
{
	rck_strv_add(argv, "/bin/sh");
	rck_strv_add(argv, "-c");
	rck_strv_add(argv, arm->command);
	return 0;
}

static bool can_expose(struct ab *ab, size_t i)
{
	const struct ab_arm *arm = &ab->arms[i];

	if (ab->kind == AB_COMMANDS)
		return true;
	return arm->path && !ab->x->arms[i].unbuilt &&
	       (arm->bundled || ab->teardown_device.kind == RCK_DEVICE_SOFT);
}

static int make_lines(
	struct ab *ab, const char *route, struct lines *l, struct rck_diag *diag)
{
	*l = (struct lines){.n = 0};
	for (size_t i = 0; i < ab->n_arms; i++) {
		struct rck_strv *argv = &l->argv[l->n], *env = &l->env[l->n];
		int err;

		if (!can_expose(ab, i))
			continue;
		err = ab->kind == AB_COMMANDS ? command_line(&ab->arms[i], argv)
					      : probe_line(ab, &ab->arms[i], route, false,
							argv, env, diag);
		if (err)
			return err;
		if (!ab->x->arms[i].command)
			ab->x->arms[i].command = rck_live_quote(rck_strv_list(argv));
		l->arms[l->n] = (struct rck_arm){
			ab->arms[i].name, rck_strv_list(argv), rck_strv_list(env)};
		l->arm_of[l->n++] = i;
	}
	return 0;
}

/* ---- one look ---- */

/* Wave instructions of the kernel, from the software device's count. */
static unsigned long long counted(const char *path, const char *kernel)
{
	_cleanup_fclose_ FILE *f = fopen(path, "re");
	char line[1024];
	unsigned long long n = 0;

	while (f && fgets(line, sizeof(line), f)) {
		const char *colon = strstr(line, ": ");
		unsigned long long m;

		if (*line != ' ' && colon && !strncmp(line, kernel, strlen(kernel)) &&
			sscanf(colon, ": %llu wave instructions", &m) == 1)
			n += m;
	}
	return n;
}

static void observation_rows(struct ab *ab, size_t i, const struct rck_observation *ob)
{
	ab_row(ab, "listener", "listener (runtime's log)", i, "%s",
		ob->listener ? "started" : "not started");
	if (ob->buffer)
		ab_row(ab, "buffer", "hostcall buffer, bytes", i, "%llu",
			(unsigned long long)ob->buffer);
	else
		ab_row(ab, "buffer", "hostcall buffer, bytes", i, "-");
}

/* "--route exit: 0 and 0": why. */
static void explain_order(struct ab *ab, const struct rck_observation *ob)
{
	if (ab->explained || ab->o->amd_order || ob->listener_destructor < 0)
		return;
	ab->explained = true;
	if (ob->listener_destructor == ob->destructors - 1)
		rck_experiment_note(ab->x,
			"Route exit cannot hang with this build of libamdhip64: of its "
			"%ld "
			"static destructors the listener's is registered last, so it "
			"runs "
			"first, before the teardown that loses the race (AMD's own "
			"builds have "
			"the other order: --amd-order).",
			ob->destructors);
	else
		rck_experiment_note(ab->x,
			"Route exit can hang with this build of libamdhip64: the "
			"listener's "
			"static destructor is number %ld of %ld in the order of "
			"registration, "
			"so others run before it.",
			ob->listener_destructor + 1, ob->destructors);
}

/* The wrong runtime under a result is worse than no result. */
static bool is_right_runtime(struct ab *ab, const char *hip, const char *hsa)
{
	const struct rck_device *d = &ab->teardown_device;
	const char *which = NULL;

	if (hip && strcmp(hip, d->hip)) {
		_cleanup_free_ char *a = realpath(hip, NULL);
		_cleanup_free_ char *b = realpath(d->hip, NULL);

		if (!a || !b || strcmp(a, b))
			which = hip;
	}
	if (hsa && d->kind == RCK_DEVICE_SOFT && strncmp(hsa, d->front, strlen(d->front)))
		which = hsa;
	if (!which)
		return true;
	rck_error("the wrong library was loaded: '%s'", which);
	ab_trouble(ab);
	return false;
}

static void look_at(struct ab *ab, size_t i)
{
	_cleanup_strv_ struct rck_strv argv = {NULL, 0}, env = {NULL, 0};
	_cleanup_free_ char *count = rck_xasprintf("%s/%zu.count", ab->folder, i);
	struct rck_observation ob;
	struct rck_diag diag;
	unsigned long long n;

	if (probe_line(ab, &ab->arms[i], "exit", true, &argv, &env, &diag)) {
		rck_error("arm '%s': %s", ab->arms[i].name, diag.msg);
		ab_trouble(ab);
		return;
	}
	rck_strv_addf(&env, "RCK_SOFT_COUNT=%s", count);
	if (rck_observe(rck_strv_list(&argv), rck_strv_list(&env), &ob, &diag)) {
		rck_error("arm '%s': %s", ab->arms[i].name, diag.msg);
		ab_trouble(ab);
	} else if (is_right_runtime(ab, ob.hip, ob.hsa)) {
		observation_rows(ab, i, &ob);
		explain_order(ab, &ob);
		n = counted(count, ab->arms[i].kernel);
		if (n)
			ab_row(ab, "instructions", "wave instructions, a launch", i,
				"%llu", n);
	}
	rck_observation_release(&ob);
}

/* ---- the exposures ---- */

/* Positions of the trial become arms of the experiment. */
static void number_arms(struct rck_cell *c, const struct lines *l)
{
	struct rck_baseline baseline[RCK_ARMS_MAX];

	memcpy(baseline, c->result.baseline, sizeof(baseline));
	memset(c->result.baseline, 0, sizeof(c->result.baseline));
	for (size_t i = 0; i < l->n; i++)
		c->result.baseline[l->arm_of[i]] = baseline[i];
	for (size_t i = 0; i < c->result.n; i++)
		c->result.exposures[i].arm =
			(unsigned)l->arm_of[c->result.exposures[i].arm];
}

static bool all_right(struct ab *ab, const struct rck_cell *c)
{
	if (ab->kind == AB_COMMANDS)
		return true;
	for (size_t i = 0; i < c->result.n; i++)
		if (!is_right_runtime(
			    ab, c->result.exposures[i].hip, c->result.exposures[i].hsa))
			return false;
	return true;
}

static void cell_trouble(struct ab *ab, struct rck_cell *c, const char *why)
{
	rck_error("load %s, route %s: %s", rck_load_name(c->shape),
		*c->route ? c->route : "-", why);
	free(c->trouble);
	c->trouble = rck_xstrdup(why);
	ab_trouble(ab);
}

static void run_cell(
	struct ab *ab, enum rck_load_shape shape, const char *route, const char *preload)
{
	const struct ab_options *o = ab->o;
	struct rck_cell *c = rck_experiment_cell(ab->x);
	char label[32];
	struct lines l;
	struct rck_diag diag;
	struct rck_trial t = {.shape = shape,
		.workers = (unsigned)o->workers,
		.exposures = (unsigned)o->exposures,
		.concurrent = (unsigned)o->concurrent,
		.timeout = o->timeout,
		.grace = o->grace,
		.preload = preload,
		.done_regex = o->done_regex,
		.core_folder = o->core_folder,
		.until_confident = o->until_confident,
		.seed = (unsigned)o->seed,
		.stop = &rck_live_stop,
		.progress = rck_live_progress,
		.progress_arg = label};
	int err;

	if (shape == RCK_LOAD_STARVE && !strcmp(route, "fork")) {
		t.shape = RCK_LOAD_NONE;
		t.exposures = t.exposures ? t.exposures : rck_load_exposures(shape);
		rck_experiment_note(ab->x,
			"Route fork is exposed with no load instead of a starved "
			"listener: the "
			"child that hangs does so because the listener had run before "
			"the fork, which "
			"starving would prevent.");
	}
	snprintf(label, sizeof(label), "%s%s%s", rck_load_name(t.shape),
		*route ? ", " : "", route);
	rck_trial_defaults(&t);
	err = make_lines(ab, route, &l, &diag);
	if (!err && l.n) {
		t.arms = l.arms;
		t.n_arms = l.n;
		err = rck_trial_run(&t, &c->result, &diag);
		number_arms(c, &l);
	}
	rck_cell_from_trial(c, &t, route);
	rck_live_clear();
	if (!err && l.n && o->amd_order && !c->result.interrupted)
		err = rck_cell_check_order(c, &diag);
	if (err)
		cell_trouble(ab, c, diag.msg);
	else if (!all_right(ab, c))
		cell_trouble(ab, c, "the wrong library was loaded");
	if (c->trouble && c->result.n)
		rck_cell_drop(c);
	lines_release(&l);
}

/* A bit for each name of a comma-separated list; 0 after an error line. */
static unsigned parse_list(
	const char *option, const char *text, const char *const *names, size_t n)
{
	_cleanup_strv_ struct rck_strv words = {NULL, 0};
	unsigned bits = 0;

	rck_strv_split(&words, text, ",");
	for (size_t i = 0; i < words.n; i++) {
		size_t k = 0;

		if (!strcmp(words.items[i], "all")) {
			bits = (1u << n) - 1;
			continue;
		}
		while (k < n && strcmp(words.items[i], names[k]))
			k++;
		if (k == n) {
			rck_error("option '--%s': '%s' is not known", option,
				words.items[i]);
			return 0;
		}
		bits |= 1u << k;
	}
	if (!bits)
		rck_error("option '--%s': nothing given", option);
	return bits;
}

int ab_expose_parse(struct ab *ab)
{
	const struct ab_options *o = ab->o;
	const char *loads[RCK_LOAD_SHAPES];
	const char *routes = o->routes ? o->routes : o->self ? "all" : "exit,cumask";

	for (int i = 0; i < RCK_LOAD_SHAPES; i++)
		loads[i] = rck_load_name((enum rck_load_shape)i);
	ab->loads = parse_list("load", o->loads, loads, RCK_LOAD_SHAPES);
	if (!ab->loads)
		return RCK_EXIT_USAGE;
	ab->routes = parse_list("routes", routes, all_routes, ROUTES);
	if (!ab->routes)
		return RCK_EXIT_USAGE;
	return RCK_EXIT_CLEAN;
}

void ab_expose(struct ab *ab)
{
	_cleanup_free_ char *preload = NULL;
	struct rck_diag diag;

	if (ab->kind != AB_COMMANDS && !ab->has_teardown_device)
		return;
	if (rck_preloads_find(ab->o->amd_order, &preload, &diag)) {
		rck_error("%s", diag.msg);
		ab_trouble(ab);
		return;
	}
	for (size_t i = 0; i < ab->n_arms && ab->kind != AB_COMMANDS; i++)
		if (can_expose(ab, i) && !rck_live_stop)
			look_at(ab, i);
	for (int shape = 0; shape < RCK_LOAD_SHAPES; shape++) {
		if (!(ab->loads & 1u << shape))
			continue;
		for (size_t r = 0; r < ROUTES && !rck_live_stop; r++) {
			if (ab->kind == AB_COMMANDS && r)
				break;
			if (ab->kind == AB_COMMANDS || (ab->routes & 1u << r))
				run_cell(ab, (enum rck_load_shape)shape,
					ab->kind == AB_COMMANDS ? "" : all_routes[r],
					preload);
		}
	}
}

/* ---- what it comes to ---- */

static void conclude_version(struct ab *ab)
{
	int present;
	const char *text =
		rck_known_race(rck_experiment_value(ab->x, "hip_version"), &present);

	if (ab->kind != AB_COMMANDS && ab->has_teardown_device)
		rck_experiment_note(ab->x, "%s", text);
}

void ab_conclude(struct ab *ab)
{
	size_t built = 0;

	for (size_t i = 0; i < ab->x->n_arms; i++)
		built += !ab->x->arms[i].unbuilt;
	if (!ab->x->n_cells && built < 2)
		rck_experiment_note(
			ab->x, "Nothing was compared: fewer than two arms were built.");
	else if (!ab->x->n_cells)
		rck_experiment_note(ab->x,
			"The arms %s. Their teardown was not exposed: nothing is said of "
			"hangs.",
			ab->differ ? "differ in what they declare or compute"
				   : "declare and compute the same");
	conclude_version(ab);
	if (ab->has_teardown_device && ab->teardown_device.kind == RCK_DEVICE_SOFT &&
		ab->x->n_cells)
		rck_experiment_note(ab->x, "Exposed on the software device, with no GPU: "
					   "the HIP runtime is the "
					   "real one, unmodified; the device below it is "
					   "ideal, and in the exposures "
					   "kernels complete unexecuted.");
}
