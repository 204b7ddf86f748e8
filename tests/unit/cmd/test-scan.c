#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "cmd/scan.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MIB (1u << 20)

/* Files of the tests: built fixtures, or nothing. */
static char many[4096], compressed[4096];
static char *operands[] = {many, "/nonexistent/file", compressed, many};

static int find_fixtures(void **state)
{
	const char *build = getenv("RCK_BUILD_DIR");

	snprintf(many, sizeof(many), "%s/fixtures/made/many.hsaco", build ? build : ".");
	snprintf(compressed, sizeof(compressed), "%s/fixtures/made/ccob-v2.hsaco",
		build ? build : ".");
	*state = access(many, R_OK) || access(compressed, R_OK) ? NULL : many;
	return 0;
}

/* What a run told, and how it was told it. */
struct log {
	struct rck_strbuf text;
	atomic_int inside; /* callbacks that must not run side by side */
	atomic_int prepared;
	unsigned pieces; /* of output each leaf renders, MiB */
	int stop_after;  /* emits; 0: never */
	int emits, open_files;
	size_t bytes;
	bool keep;
};

static void enter(struct log *log)
{
	assert_int_equal(atomic_fetch_add(&log->inside, 1), 0);
}

static void leave(struct log *log)
{
	atomic_fetch_sub(&log->inside, 1);
}

static void begin(void *user, struct rck_scan_file *file)
{
	struct log *log = user;

	enter(log);
	log->open_files++;
	rck_strbuf_addf(
		&log->text, "begin %s %d\n", strrchr(file->path, '/'), file->size > 0);
	leave(log);
}

static void prepare(void *user, struct rck_scan_leaf *leaf)
{
	struct log *log = user;
	char *piece = malloc(MIB);

	atomic_fetch_add(&log->prepared, 1);
	if (!leaf->co) {
		free(piece);
		return;
	}
	assert_non_null(leaf->item);
	memset(piece, 'x', MIB);
	for (unsigned i = 0; i < log->pieces; i++) {
		rck_strbuf_add(&leaf->out, piece, MIB);
		rck_scan_flush(leaf);
	}
	leaf->result = piece;
}

static bool emit(void *user, struct rck_scan_leaf *leaf)
{
	struct log *log = user;

	enter(log);
	log->bytes += leaf->out.len;
	assert_true(leaf->out.len <= 2 * MIB);
	if (!leaf->partial) {
		assert_int_equal(
			log->keep && leaf->kind == RCK_ITEM_CODE_OBJECT, !!leaf->co);
		rck_strbuf_addf(&log->text, "%d %s\n", leaf->kind, leaf->where);
		free(leaf->result);
	}
	leave(log);
	return ++log->emits != log->stop_after;
}

static void end(void *user, struct rck_scan_file *file)
{
	struct log *log = user;

	enter(log);
	log->open_files--;
	rck_strbuf_addf(&log->text, "end %s\n", strrchr(file->path, '/'));
	leave(log);
}

static void run(struct log *log, unsigned jobs)
{
	struct rck_inputs_spec inputs = {.n = 4, .operands = operands};
	struct rck_scan_spec spec = {.jobs = jobs};
	struct rck_inputs *in;
	struct rck_diag diag;

	assert_int_equal(rck_inputs_open(&inputs, &in, &diag), 0);
	rck_scan_run(in, &spec,
		&(struct rck_scan_ops){.user = log,
			.keep = log->keep,
			.begin = begin,
			.prepare = prepare,
			.emit = emit,
			.end = end});
	rck_inputs_close(in);
	assert_int_equal(log->open_files, 0);
}

static void in_order_on_any_number_of_threads(void **state)
{
	struct log first = {.text = RCK_STRBUF_INIT};

	if (!*state)
		skip();
	run(&first, 1);
	assert_non_null(strstr(first.text.buf, "begin /file 0\n3 \nend /file\n"));
	assert_true(atomic_load(&first.prepared) > 18);
	for (unsigned jobs = 2; jobs < 24; jobs += 3)
		for (int keep = 0; keep < 2; keep++) {
			struct log log = {.text = RCK_STRBUF_INIT, .keep = keep};

			run(&log, jobs);
			assert_string_equal(log.text.buf, first.text.buf);
			rck_strbuf_release(&log.text);
		}
	rck_strbuf_release(&first.text);
}

/* A leaf's output comes in pieces while others wait for their turn. */
static void large_output_is_cut(void **state)
{
	struct log first = {.text = RCK_STRBUF_INIT, .pieces = 5};

	if (!*state)
		skip();
	run(&first, 1);
	assert_true(first.bytes >= 90 * (size_t)MIB);
	for (unsigned jobs = 2; jobs < 10; jobs += 3) {
		struct log log = {.text = RCK_STRBUF_INIT, .pieces = 5};

		run(&log, jobs);
		assert_int_equal(log.bytes, first.bytes);
		assert_int_equal(log.emits, first.emits);
		assert_string_equal(log.text.buf, first.text.buf);
		rck_strbuf_release(&log.text);
	}
	rck_strbuf_release(&first.text);
}

static void stops_early(void **state)
{
	if (!*state)
		skip();
	for (unsigned jobs = 1; jobs < 6; jobs++) {
		struct log log = {.text = RCK_STRBUF_INIT, .stop_after = 3};

		run(&log, jobs);
		/* what was under way is still told: a leaf, or a compressed bundle's two
		 */
		assert_true(log.emits >= 3 && log.emits <= 3 + 2 * 4 * (int)jobs);
		assert_true(jobs > 1 || log.emits <= 4);
		rck_strbuf_release(&log.text);
	}
}

/* The file of these callbacks, and what was told of it. */
struct shrinking {
	char path[64];
	int objects, errors, changed;
};

static bool shrink_at_first(void *user, struct rck_scan_leaf *leaf)
{
	struct shrinking *s = user;

	if (!s->objects && !s->errors)
		assert_int_equal(truncate(s->path, 100), 0);
	s->objects += leaf->kind == RCK_ITEM_CODE_OBJECT;
	s->errors += leaf->kind == RCK_ITEM_ERROR;
	s->changed += leaf->kind == RCK_ITEM_ERROR && leaf->diag.code == -EIO;
	return true;
}

/* A file that shrinks under the scan: told, and no signal. */
static void file_shrinks(void **state)
{
	for (unsigned jobs = 1; *state && jobs < 4; jobs++) {
		struct shrinking s = {"/tmp/rocmcheck-scan-XXXXXX", 0, 0, 0};
		struct rck_inputs_spec inputs = {.n = 1, .operands = (char *[]){s.path}};
		struct rck_scan_spec spec = {.jobs = jobs};
		struct rck_inputs *in;
		struct rck_diag diag;
		char command[4200];
		int fd = mkstemp(s.path);

		assert_true(fd >= 0);
		close(fd);
		snprintf(command, sizeof(command), "cp '%s' %s", many, s.path);
		assert_int_equal(system(command), 0);
		assert_int_equal(rck_inputs_open(&inputs, &in, &diag), 0);
		rck_scan_run(in, &spec,
			&(struct rck_scan_ops){.user = &s, .emit = shrink_at_first});
		rck_inputs_close(in);
		unlink(s.path);
		/* other threads may have been faster */
		assert_true(s.objects == 1 || (jobs > 1 && s.objects > 1));
		/* by the walk, and by each leaf that met it */
		assert_true(s.changed >= 1);
	}
	if (!*state)
		skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		/* the first: cmocka puts its own handler of SIGBUS back behind it */
		cmocka_unit_test_setup(file_shrinks, find_fixtures),
		cmocka_unit_test_setup(in_order_on_any_number_of_threads, find_fixtures),
		cmocka_unit_test_setup(large_output_is_cut, find_fixtures),
		cmocka_unit_test_setup(stops_early, find_fixtures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
