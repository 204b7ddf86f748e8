/* An experiment's numbers, words, reports and way through JSON, on made-up exposures. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/experiment.h"
#include "teardown/known.h"
#include "teardown/verdict.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static struct rck_exposure *add(
	struct rck_cell *c, unsigned arm, unsigned round, bool hangs)
{
	struct rck_trial_result *r = &c->result;
	struct rck_exposure *e;

	r->exposures = rck_xrealloc(r->exposures, (r->n + 1) * sizeof(*r->exposures));
	c->strata = rck_xrealloc(c->strata, (r->n + 1) * sizeof(*c->strata));
	c->strata[r->n] = round;
	e = &r->exposures[r->n++];
	*e = (struct rck_exposure){.arm = arm, .round = round, .done = true};
	if (hangs) {
		e->outcome = RCK_OUTCOME_HANG_DONE;
		e->listener = 7;
		e->spins_in = rck_xstrdup("libamdhip64.so.6");
		e->threads = rck_xcalloc(1, sizeof(*e->threads));
		e->n_threads = 1;
		e->threads[0] = (struct rck_thread){.name = rck_xstrdup("probe"),
			.state = 'R',
			.cpu = .9,
			.module = rck_xstrdup("libamdhip64.so.6"),
			.frames = rck_xcalloc(2, sizeof(char *)),
			.n_frames = 2};
		/* two places in one loop */
		e->threads[0].frames[0] =
			rck_xasprintf("libamdhip64.so.6+0x4604d%u", round % 2 ? 2 : 5);
		e->threads[0].frames[1] = rck_xstrdup("exit+0x1 (libc.so.6)");
	}
	return e;
}

/* The origin's load B: 33 of 40 and 0 of 40, four of each in a round. */
static void make(struct rck_experiment *x, const char *first)
{
	struct rck_cell *c;

	*x = (struct rck_experiment){.tool = rck_xstrdup("ab")};
	x->repeat = rck_xstrdup("rocmcheck ab '<script>'");
	rck_experiment_environment(x, "hip_version", "CLR version", "6.4.43484");
	rck_experiment_arm(x, first);
	rck_experiment_arm(x, "O1");
	rck_experiment_row(x, "hostcall", "declare hostcall", 0, "8 of 8 kernels");
	rck_experiment_row(x, "hostcall", "declare hostcall", 1, "0 of 8 kernels");
	rck_experiment_row(
		x, "hostile", "name <b>\033[31m", 0, "<script>alert(1)</script>");
	rck_experiment_note(x, "A note & more.");
	c = rck_experiment_cell(x);
	c->shape = RCK_LOAD_CHURN;
	c->route = rck_xstrdup("cumask");
	c->workers = 48;
	c->concurrent = 4;
	c->wanted = 40;
	c->result.rounds = 10;
	for (unsigned i = 0; i < 40; i++) {
		add(c, 0, i / 4, i < 33);
		add(c, 1, i / 4, false);
	}
}

static void tallies(void **state)
{
	struct rck_experiment x;
	struct rck_comparison p;
	struct rck_tally t;

	make(&x, "O0");
	t = rck_cell_tally(&x.cells[0], 0);
	assert_int_equal(t.n, 40);
	assert_int_equal(t.hangs, 33);
	assert_true(t.rate.low > .67 && t.rate.high < .92);
	p = rck_cell_compare(&x.cells[0], 0, 1);
	assert_true(p.fisher < 1e-14);
	assert_true(p.by_round > 0 && p.by_round < 1e-9);
	rck_experiment_release(&x);
}

static void folding(void **state)
{
	struct rck_experiment x;
	struct rck_fold *folds;
	size_t n;

	make(&x, "O0");
	folds = rck_cell_folds(&x.cells[0], x.n_arms, &n);
	assert_int_equal(n, 1);
	assert_int_equal(folds[0].n, 33);
	assert_int_equal(folds[0].by_arm[0], 33);
	assert_int_equal(folds[0].by_arm[1], 0);
	rck_folds_free(folds, n);
	rck_experiment_release(&x);
}

static void contains(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("'%s' is not in:\n%s", part, text);
}

static void words(void **state)
{
	struct rck_experiment x;
	char *text;

	make(&x, "O0");
	text = rck_verdict_cell(&x, &x.cells[0]);
	contains(text,
		"Route cumask, under 48 churn workers, 4 at a time: O0 hung after its "
		"work was done in 33 of 40 (82.5 %, 95 % interval 68.1 to 91.3)");
	contains(text, "O1 did not hang: 0 of 40 (0.0 %, 95 % interval 0.0 to 8.8)");
	contains(text, "Of 33 hung processes 33 spin in libamdhip64.so.6");
	contains(text, "the listener thread is gone in 33 of 33");
	free(text);
	assert_true(rck_verdict_has_findings(&x));
	rck_experiment_release(&x);
}

static void to_json(const struct rck_experiment *x, struct rck_strbuf *out)
{
	struct rck_json j;

	rck_json_init(&j, out, 0);
	rck_experiment_write(x, &j);
}

static int from_json(const char *text, struct rck_experiment *x)
{
	struct rck_diag diag;
	json_t *o = json_loads(text, 0, NULL);
	int err;

	assert_non_null(o);
	err = rck_experiment_read(o, x, &diag);
	json_decref(o);
	return err;
}

static void json(void **state)
{
	_cleanup_strbuf_ struct rck_strbuf a = RCK_STRBUF_INIT, b = RCK_STRBUF_INIT;
	struct rck_experiment x, again;

	make(&x, "O0");
	/* what hangs so is read back so, in the same bytes */
	to_json(&x, &a);
	assert_int_equal(from_json(a.buf, &again), 0);
	to_json(&again, &b);
	assert_string_equal(a.buf, b.buf);
	rck_experiment_release(&x);
	rck_experiment_release(&again);
}

/* One place of a good line is changed; it must be refused. */
static void refuses(const char *good, const char *from, const char *to)
{
	const char *at = strstr(good, from);
	struct rck_experiment x;
	char *bad;

	assert_non_null(at);
	bad = rck_xasprintf("%.*s%s%s", (int)(at - good), good, to, at + strlen(from));
	if (!from_json(bad, &x))
		fail_msg("'%s' instead of '%s' was taken", to, from);
	free(bad);
}

static void bad_json(void **state)
{
	_cleanup_strbuf_ struct rck_strbuf good = RCK_STRBUF_INIT;
	struct rck_experiment x;

	make(&x, "O0");
	to_json(&x, &good);
	refuses(good.buf, "\"schema\":1", "\"schema\":2");
	refuses(good.buf, "\"command\":\"ab\"", "\"command\":\"<b>\"");
	refuses(good.buf, "\"load\":\"churn\"", "\"load\":\"other\"");
	refuses(good.buf, "\"route\":\"cumask\"", "\"route\":\"<b>\"");
	refuses(good.buf, "\"arms\":[",
		"\"arms\":[{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},");
	refuses(good.buf, "\"strata\":[0,", "\"strata\":[99999,");
	refuses(good.buf, "\"strata\":[0,", "\"strata\":[-1,");
	refuses(good.buf, "\"strata\":[0,", "\"strata\":[");
	refuses(good.buf, "\"exposures\":[{\"arm\":0", "\"exposures\":[{\"arm\":2");
	refuses(good.buf, "\"outcome\":\"hang-done\"", "\"outcome\":\"?\"");
	rck_experiment_release(&x);
}

static void whole_of(const struct rck_experiment *x, const char *part)
{
	char *text = rck_verdict_whole(x);

	if (part)
		contains(text, part);
	else
		assert_null(text);
	free(text);
}

/* What the cells say together follows what is merged into them. */
static void whole(void **state)
{
	struct rck_experiment a, b;
	struct rck_diag diag;

	make(&a, "O0");
	whole_of(&a, "O0 hangs where O1 does not");
	whole_of(&a, "Find what makes the kernels declare it");
	rck_experiment_row(&a, "compiler", "compiler", 0, "clang++");
	whole_of(&a, "at least -O1");
	make(&b, "O0");
	add(&b.cells[0], 1, 10, false)->listener = 7;
	b.cells[0].result.seconds = 100;
	whole_of(&b, NULL); /* a listener and no hang: the listener is not all of it */
	add(&b.cells[0], 1, 10, true);
	a.cells[0].result.seconds = 50;
	assert_int_equal(rck_experiment_merge(&a, &b, &diag), 0);
	whole_of(&a, "O0 and O1: no arm is without hangs.");
	assert_float_equal(a.cells[0].result.exposures[80].started, 50, 1e-9);
	rck_experiment_release(&a);
	rck_experiment_release(&b);

	make(&a, "O0");
	rck_cell_drop(&a.cells[0]);
	add(&a.cells[0], 0, 0, false)->listener = 7;
	whole_of(&a, "was started in 1 exposure, and none hung");
	rck_experiment_release(&a);
}

static void merging(void **state)
{
	struct rck_experiment a, b;
	struct rck_diag diag;
	struct rck_tally t;

	make(&a, "O0");
	make(&b, "O0");
	b.cells[0].route[0] = 'C'; /* another cell */
	assert_int_equal(rck_experiment_merge(&a, &b, &diag), 0);
	assert_int_equal(a.n_cells, 2);
	b.cells[0].route[0] = 'c';
	assert_int_equal(rck_experiment_merge(&a, &b, &diag), 0);
	t = rck_cell_tally(&a.cells[0], 0);
	assert_int_equal(t.n, 80);
	assert_int_equal(t.hangs, 66);
	assert_int_equal(a.cells[0].parts, 2);
	/* rounds of two runs are no one round */
	assert_int_equal(a.cells[0].strata[0], 0);
	assert_int_equal(a.cells[0].strata[80], 10);
	rck_experiment_release(&b);

	make(&b, "O2");
	assert_true(rck_experiment_merge(&a, &b, &diag) < 0);
	assert_string_equal(diag.msg, "arm 0 is 'O0' and 'O2'");
	rck_experiment_release(&b);
	make(&b, "O0");
	free(b.environment[0].value);
	b.environment[0].value = rck_xstrdup("5.2.21153");
	assert_true(rck_experiment_merge(&a, &b, &diag) < 0);
	assert_string_equal(diag.msg, "hip_version is '6.4.43484' and '5.2.21153'");
	rck_experiment_release(&b);
	rck_experiment_release(&a);
}

static void reports(void **state)
{
	_cleanup_strbuf_ struct rck_strbuf text = RCK_STRBUF_INIT, html = RCK_STRBUF_INIT,
					   junit = RCK_STRBUF_INIT;
	struct rck_experiment x;
	size_t cases = 0, failures = 0;

	make(&x, "O0");
	rck_experiment_text(&x, &text, 100, false);
	contains(text.buf, "33/40");
	contains(text.buf, "82.5 % (68.1-91.3)");
	contains(text.buf, "the same in 33 hung processes: O0 33");
	contains(text.buf, "declare hostcall");
	contains(text.buf, "name <b>\\x1b[31m");
	assert_null(strchr(text.buf, '\033'));

	rck_experiment_html(&x, &html);
	contains(html.buf, "33 of 40");
	contains(html.buf, "&lt;script&gt;alert(1)&lt;/script&gt;");
	assert_null(strstr(html.buf, "<script"));
	assert_null(strstr(html.buf, "http"));
	assert_null(strchr(html.buf, '\033'));

	rck_experiment_junit(&x, &junit);
	for (const char *p = junit.buf; (p = strstr(p, "<testcase ")); p++)
		cases++;
	for (const char *p = junit.buf; (p = strstr(p, "<failure ")); p++)
		failures++;
	assert_int_equal(cases, 80);
	assert_int_equal(failures, 33);
	contains(junit.buf, "tests=\"80\" failures=\"33\" errors=\"0\"");
	rck_experiment_release(&x);
}

/* A result that does not fit leaves the file as it was: half a line would spoil the next
 * one as well. */
static void appended(void **state)
{
	char path[] = "/tmp/rck-append-XXXXXX";
	int fd = mkstemp(path);
	struct rck_experiment x = {0};
	struct rlimit old, limit;
	struct rck_diag diag;
	struct stat st;
	off_t before;

	assert_true(fd >= 0);
	make(&x, "O0");
	assert_int_equal(rck_experiment_append(&x, path, &diag), 0);
	assert_int_equal(fstat(fd, &st), 0);
	before = st.st_size;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	limit = (struct rlimit){(rlim_t)before + 100, old.rlim_max};
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(rck_experiment_append(&x, path, &diag), -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, before);
	close(fd);
	unlink(path);
	rck_experiment_release(&x);
}

static void order(void **state)
{
	struct rck_cell c = {.parts = 1};
	struct rck_diag diag;

	add(&c, 0, 0, false)->reordered = true;
	assert_int_equal(rck_cell_check_order(&c, &diag), 0);
	assert_true(c.reordered);
	c.reordered = false;
	add(&c, 0, 0, false);
	assert_true(rck_cell_check_order(&c, &diag) < 0);
	assert_false(c.reordered);
	assert_int_equal(c.result.n, 0);
}

static void known(void **state)
{
	int present;

	assert_non_null(rck_known_race("5.2.21153", &present));
	assert_int_equal(present, 0);
	rck_known_race("6.1.40093", &present);
	assert_int_equal(present, 0);
	rck_known_race("6.2.41133", &present);
	assert_int_equal(present, 1);
	rck_known_race("7.0.51831", &present);
	assert_int_equal(present, 1);
	rck_known_race("6", &present);
	assert_int_equal(present, -1);
	rck_known_race(NULL, &present);
	assert_int_equal(present, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tallies),
		cmocka_unit_test(folding),
		cmocka_unit_test(words),
		cmocka_unit_test(json),
		cmocka_unit_test(bad_json),
		cmocka_unit_test(merging),
		cmocka_unit_test(whole),
		cmocka_unit_test(reports),
		cmocka_unit_test(appended),
		cmocka_unit_test(order),
		cmocka_unit_test(known),
	};

	return cmocka_run_group_tests_name("teardown-experiment", tests, NULL, NULL);
}
