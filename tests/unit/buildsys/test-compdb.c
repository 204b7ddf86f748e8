#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "buildsys/compdb.h"
#include "util/strbuf.h"

#include <errno.h>
#include <string.h>

static int read_text(const char *text, struct rck_compdb *db, struct rck_diag *diag)
{
	return rck_compdb_read(text, strlen(text), db, diag);
}

static void both_forms(void **state)
{
	struct rck_compdb db;
	struct rck_diag diag;

	assert_int_equal(read_text("[{\"directory\":\"/"
				   "b\",\"file\":\"a.hip\",\"command\":\"cc -O2 'a b'\"},"
				   "{\"directory\":\"/b\",\"file\":\"/s/"
				   "c.hip\",\"arguments\":[\"cc\",\"x y\"],"
				   "\"output\":\"c.o\"}]",
				 &db, &diag),
		0);
	assert_int_equal(db.n, 2);
	assert_string_equal(db.entries[0].path, "/b/a.hip");
	assert_string_equal(db.entries[0].words.items[2], "a b");
	assert_string_equal(db.entries[1].path, "/s/c.hip");
	assert_string_equal(db.entries[1].words.items[1], "x y");
	assert_string_equal(db.entries[1].output, "c.o");
	rck_compdb_release(&db);
}

static void wrong_shapes_do_not_lose_the_rest(void **state)
{
	struct rck_compdb db;
	struct rck_diag diag;

	assert_int_equal(
		read_text("[1,{\"file\":2,\"command\":\"x\"},{\"command\":\"x\"},"
			  "{\"file\":\"a\",\"arguments\":[1]},{\"file\":\"a\"},"
			  "{\"file\":\"a\",\"command\":\" \"},"
			  "{\"file\":\"a\",\"command\":\"cc a\"}]",
			&db, &diag),
		0);
	assert_int_equal(db.n, 2);
	assert_int_equal(db.bad.n, 5);
	assert_string_equal(db.bad.items[1], "entry 1: 'file' is no string");
	rck_compdb_release(&db);
}

static void not_json(void **state)
{
	struct rck_strbuf deep = RCK_STRBUF_INIT;
	struct rck_compdb db;
	struct rck_diag diag;

	assert_int_equal(read_text("[{\"file\": }]", &db, &diag), -EINVAL);
	assert_true(diag.offset > 8 && diag.offset < 12);
	assert_int_equal(read_text("{}", &db, &diag), -EINVAL);
	assert_int_equal(read_text("", &db, &diag), -EINVAL);
	assert_int_equal(read_text("[{\"file\":\"\xff\"}]", &db, &diag), -EINVAL);
	rck_strbuf_pad(&deep, '[', 1000000);
	assert_int_equal(rck_compdb_read(deep.buf, deep.len, &db, &diag), -EINVAL);
	rck_strbuf_release(&deep);
}

static void not_there(void **state)
{
	struct rck_compdb db;
	struct rck_diag diag;

	assert_int_equal(rck_compdb_load("/no/such/file", &db, &diag), -ENOENT);
	assert_int_equal(rck_compdb_load("/dev/zero", &db, &diag), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_forms),
		cmocka_unit_test(wrong_shapes_do_not_lose_the_rest),
		cmocka_unit_test(not_json),
		cmocka_unit_test(not_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
