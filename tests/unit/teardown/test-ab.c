/*
 * ab over planted commands, over this machine's HIP runtime, and over the first folder of
 * scripts/fetch-rocm that RCK_ROCM_TREES names and whose runtime has the race. Everything
 * on the software device; only the starved load, which does not depend on luck.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "teardown/experiment.h"
#include "teardown/known.h"
#include "util/rocm.h"
#include "util/spawn.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *plant;

struct answer {
	struct rck_strbuf out, err;
	struct rck_experiment x; /* with --format json, or its last line */
	int status;
};

static void run_ab(struct answer *a, const char *const *options)
{
	const char *env[] = {"COLUMNS=1000", NULL};
	const char *argv[32] = {getenv("RCK_PROGRAM"), "ab"};
	struct rck_spawn s = {
		.argv = argv, .env = env, .out = &a->out, .err = &a->err, .timeout = 500};
	struct rck_diag diag;
	json_t *o;
	size_t n = 2;

	*a = (struct answer){RCK_STRBUF_INIT, RCK_STRBUF_INIT, {0}, -1};
	while (*options)
		argv[n++] = *options++;
	assert_int_equal(rck_spawn_run(&s), 0);
	assert_false(s.timed_out);
	a->status = s.status;
	o = json_loads(a->out.buf, 0, NULL);
	if (o)
		assert_int_equal(rck_experiment_read(o, &a->x, &diag), 0);
	json_decref(o);
}

static void release(struct answer *a)
{
	rck_strbuf_release(&a->out);
	rck_strbuf_release(&a->err);
	rck_experiment_release(&a->x);
}

/* A status that was not expected is worth its words. */
static void ended(const struct answer *a, int status)
{
	if (a->status != status)
		fail_msg("exit status %d, not %d:\n%s\n%s", a->status, status, a->err.buf,
			a->out.buf);
}

/* All n exposures of an arm ended so; what did not is told. */
static void all_ended(
	const struct rck_cell *c, size_t arm, enum rck_outcome outcome, size_t n)
{
	size_t right = 0, others = 0;

	for (size_t i = 0; i < c->result.n; i++) {
		const struct rck_exposure *e = &c->result.exposures[i];

		if (e->arm != arm)
			continue;
		if (e->outcome == outcome) {
			right++;
			continue;
		}
		others++;
		print_message("route %s, arm %zu: %s%s%s\n", c->route, arm,
			rck_outcome_name(e->outcome), e->reason ? ": " : "",
			e->reason ? e->reason : "");
	}
	if (right != n || others)
		fail_msg("route %s, arm %zu: %zu of %zu ended as '%s'", c->route, arm,
			right, n, rck_outcome_name(outcome));
}

static const char *value(const struct answer *a, const char *key, size_t arm)
{
	for (size_t i = 0; i < a->x.n_rows; i++)
		if (!strcmp(a->x.rows[i].key, key))
			return a->x.rows[i].values[arm];
	fail_msg("no row '%s'", key);
	return NULL;
}

static void commands(void **state)
{
	char *spin = rck_xasprintf("%s spin", plant);
	char *clean = rck_xasprintf("%s clean", plant);
	const char *options[] = {"--a-command", spin, "--b-command", clean, "-n", "2",
		"--load", "starve", "--timeout", "1", "--grace", ".5", "--format", "json",
		NULL};
	struct answer a;

	run_ab(&a, options);
	ended(&a, 1);
	assert_int_equal(a.x.n_cells, 1);
	all_ended(&a.x.cells[0], 0, RCK_OUTCOME_HANG_DONE, 2);
	all_ended(&a.x.cells[0], 1, RCK_OUTCOME_CLEAN, 2);
	assert_int_equal(rck_cell_tally(&a.x.cells[0], 1).n, 2);
	release(&a);
	free(spin);
	free(clean);
}

static void usage(void **state)
{
	static const char *const bad[][4] = {
		{"--opt", "O7", NULL},
		{"--a", "one-only", NULL},
		{"--load", "heavy", NULL},
		{"--routes", "", NULL},
		{"--merge", NULL},
		{"operand", NULL},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct answer a;

		run_ab(&a, bad[i]);
		ended(&a, 3);
		assert_string_equal(a.out.buf, "");
		release(&a);
	}
}

/* Two runs, appended to one file, are one report of twice as many exposures. */
static void appended(void **state)
{
	char name[] = "/tmp/rck-ab-XXXXXX";
	int fd = mkstemp(name);
	char *clean = rck_xasprintf("%s clean", plant);
	const char *options[] = {"--a-command", clean, "--b-command", clean, "-n", "3",
		"--load", "none", "--append", name, "--format", "json", NULL};
	const char *merge[] = {"--merge", name, "--format", "json", NULL};
	struct answer a;

	close(fd);
	for (int i = 0; i < 2; i++) {
		run_ab(&a, options);
		ended(&a, 0);
		release(&a);
	}
	run_ab(&a, merge);
	ended(&a, 0);
	assert_int_equal(a.x.cells[0].parts, 2);
	assert_int_equal(rck_cell_tally(&a.x.cells[0], 0).n, 6);
	release(&a);
	fd = open(name, O_WRONLY | O_APPEND);
	assert_int_equal(write(fd, "{\"schema\":9}\n", 13), 13);
	close(fd);
	run_ab(&a, merge);
	ended(&a, 2);
	assert_non_null(strstr(a.err.buf, "line 3: no result of 'ab' or 'stress'"));
	release(&a);
	unlink(name);
	free(clean);
}

/* The HIP runtime of dir (NULL: the machine's); false after a named skip. */
static bool has_hip(const char *dir, int *race)
{
	struct rck_rocm *rocm = NULL;
	struct rck_diag diag;
	bool there;

	if (rck_rocm_open(dir, &rocm, &diag))
		return false;
	there = rck_rocm_path(rocm, RCK_ROCM_HIP) != NULL;
	rck_known_race(rck_rocm_version(rocm, RCK_ROCM_HIP), race);
	rck_rocm_close(rocm);
	return there;
}

/* The whole table on this machine's ROCm, kernels executed; no teardown. */
static void table(void **state)
{
	const char *options[] = {"--opt", "O0,O1", "--device", "soft", "--no-teardown",
		"--format", "json", NULL};
	struct answer a;
	int race;

	if (!has_hip(NULL, &race)) {
		print_message("skipped: no HIP runtime here\n");
		skip();
	}
	run_ab(&a, options);
	ended(&a, 1);
	assert_string_equal(value(&a, "hostcall", 0), "8 of 8 kernels");
	assert_string_equal(value(&a, "hostcall", 1), "0 of 8 kernels");
	assert_true(atoi(value(&a, "code", 0)) > atoi(value(&a, "code", 1)));
	assert_true(strncmp(value(&a, "numerics", 0), "right in ", 9) == 0);
	assert_true(strncmp(value(&a, "numerics", 1), "right in ", 9) == 0);
	release(&a);
}

static void arm_without_code(void **state)
{
	const char *options[] = {"--opt", "O1", "--source", "/nonexistent.hip",
		"--device", "soft", "--format", "json", NULL};
	struct answer a;
	int race;

	if (!has_hip(NULL, &race)) {
		print_message("skipped: no HIP runtime here\n");
		skip();
	}
	run_ab(&a, options);
	ended(&a, 2);
	assert_non_null(a.x.arms[0].unbuilt);
	release(&a);
}

/* A kernel that takes more arguments than the probe's own, and a larger one. */
static void kernel_of_ones_own(void **state)
{
	char path[] = "/tmp/rck-own-XXXXXX.hip";
	const char *options[] = {"--opt", "O0,O1", "--source", path, "--device", "soft",
		"--load", "none", "--routes", "exit", "-n", "1", "--format", "json",
		NULL};
	struct rck_tally tally;
	struct answer a;
	int race, fd;

	if (!has_hip(NULL, &race)) {
		print_message("skipped: no HIP runtime here\n");
		skip();
	}
	fd = mkstemps(path, 4);
	assert_true(fd >= 0);
	dprintf(fd, "#include <hip/hip_runtime.h>\n"
		    "struct large { char c[3000]; };\n"
		    "extern \"C\" __global__ void own(int *p, struct large l");
	for (int i = 0; i < 200; i++)
		dprintf(fd, ", int a%d", i);
	dprintf(fd, ") { *p = l.c[2999] + a199; }\n");
	close(fd);
	run_ab(&a, options);
	unlink(path);
	ended(&a, 1);
	assert_int_equal(a.x.n_cells, 1);
	for (size_t arm = 0; arm < 2; arm++) {
		tally = rck_cell_tally(&a.x.cells[0], arm);
		assert_int_equal(tally.n, 1);
		assert_int_equal(tally.by_outcome[RCK_OUTCOME_CLEAN], 1);
	}
	release(&a);
}

/* The negative control: a runtime that starts the listener and has no race. */
static void without_race(void **state)
{
	const char *options[] = {"--opt", "O0,O1", "--device", "soft", "--no-launch",
		"--routes", "all", "-n", "2", "--format", "json", NULL};
	struct answer a;
	int race = 0;

	if (!has_hip(NULL, &race) || race) {
		print_message("skipped: no HIP runtime without the race here\n");
		skip();
	}
	run_ab(&a, options);
	ended(&a, 1); /* the code differs */
	assert_int_equal(a.x.n_cells, 3);
	for (size_t i = 0; i < a.x.n_cells; i++)
		for (size_t arm = 0; arm < 2; arm++) {
			struct rck_tally t = rck_cell_tally(&a.x.cells[i], arm);

			all_ended(&a.x.cells[i], arm, RCK_OUTCOME_CLEAN, 2);
			assert_int_equal(t.listeners, arm ? 0 : 2);
		}
	assert_string_equal(value(&a, "listener", 0), "started");
	assert_true(atol(value(&a, "buffer", 0)) > 1000000);
	assert_string_equal(value(&a, "listener", 1), "not started");
	release(&a);
}

/* The first tree whose runtime has the race; NULL after a named skip. free(). */
static char *racy_tree(void)
{
	_cleanup_strv_ struct rck_strv trees = {NULL, 0};
	const char *names = getenv("RCK_ROCM_TREES");

	rck_strv_split(&trees, names ? names : "", " :");
	for (size_t i = 0; i < trees.n; i++) {
		int race = 0;

		if (has_hip(trees.items[i], &race) && race == 1)
			return rck_xstrdup(trees.items[i]);
	}
	return NULL;
}

/* Both routes that hang with an unmodified runtime, and the one that cannot in Debian's
 * order of destructors. */
static void with_race(void **state)
{
	char *tree = racy_tree();
	const char *options[] = {"--opt", "O0,O1", "--device", "soft", "--no-launch",
		"--teardown-rocm", tree, "--routes", "all", "-n", "2", "--format", "json",
		NULL};
	struct answer a;

	if (!tree) {
		print_message(
			"skipped: RCK_ROCM_TREES names no HIP runtime with the race\n");
		skip();
	}
	run_ab(&a, options);
	ended(&a, 1);
	assert_int_equal(a.x.n_cells, 3);
	for (size_t i = 0; i < a.x.n_cells; i++) {
		const struct rck_cell *c = &a.x.cells[i];
		bool is_exit = !strcmp(c->route, "exit");

		all_ended(c, 0, is_exit ? RCK_OUTCOME_CLEAN : RCK_OUTCOME_HANG_DONE, 2);
		all_ended(c, 1, RCK_OUTCOME_CLEAN, 2);
		for (size_t k = 0; k < c->result.n; k++) {
			const struct rck_exposure *e = &c->result.exposures[k];

			assert_int_equal(e->listener != 0, e->arm == 0);
			if (!rck_outcome_is_hang(e->outcome))
				continue;
#ifdef HAVE_LIBDW
			assert_non_null(strstr(e->spins_in, "libamdhip64.so"));
#endif
			assert_int_equal(e->in_fork, !strcmp(c->route, "fork"));
			assert_int_equal(e->listener_alive, e->in_fork);
		}
	}
	release(&a);
	free(tree);
}

/* The plain route, in AMD's order of destructors. */
static void amd_order(void **state)
{
	char *tree = racy_tree();
	const char *options[] = {"--opt", "O0,O1", "--device", "soft", "--no-launch",
		"--teardown-rocm", tree, "--routes", "exit", "-n", "2", "--amd-order",
		"--format", "json", NULL};
	struct answer a;

	if (!tree) {
		print_message(
			"skipped: RCK_ROCM_TREES names no HIP runtime with the race\n");
		skip();
	}
	run_ab(&a, options);
	ended(&a, 1);
	assert_true(a.x.cells[0].reordered);
	assert_int_equal(rck_cell_tally(&a.x.cells[0], 0).hangs, 2);
	assert_int_equal(rck_cell_tally(&a.x.cells[0], 1).hangs, 0);
	release(&a);
	free(tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commands),
		cmocka_unit_test(usage),
		cmocka_unit_test(appended),
		cmocka_unit_test(table),
		cmocka_unit_test(arm_without_code),
		cmocka_unit_test(kernel_of_ones_own),
		cmocka_unit_test(without_race),
		cmocka_unit_test(with_race),
		cmocka_unit_test(amd_order),
	};

	plant = rck_xasprintf("%s/tests/unit/teardown/plant", getenv("RCK_BUILD_DIR"));
	return cmocka_run_group_tests_name("teardown-ab", tests, NULL, NULL);
}
