#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "lint/baseline.h"

#include <errno.h>
#include <string.h>

#define KEY(r, p, t, k)                                                                  \
	(struct rck_baseline_key)                                                        \
	{                                                                                \
		r, p, t, k                                                               \
	}

static void test_round_trip(void **state)
{
	struct rck_baseline_key keys[] = {
		KEY("heap-declared", "lib/b.so", "gfx90a", "k\"1"),
		KEY("heap-declared", "lib/a.so", "gfx90a", "k"),
		KEY("heap-declared", "lib/a.so", "gfx90a", "k"),
	};
	_cleanup_strbuf_ struct rck_strbuf out = RCK_STRBUF_INIT;
	struct rck_baseline b;
	struct rck_diag diag;

	rck_baseline_write(keys, 3, &out);
	assert_string_equal(out.buf,
		"{\"schema\": 1, \"findings\": [\n"
		"  "
		"{\"rule\":\"heap-declared\",\"path\":\"lib/a.so\",\"target\":\"gfx90a\","
		"\"kernel\":\"k\",\"count\":2},\n"
		"  "
		"{\"rule\":\"heap-declared\",\"path\":\"lib/b.so\",\"target\":\"gfx90a\","
		"\"kernel\":\"k\\\"1\",\"count\":1}\n"
		"]}\n");
	assert_int_equal(rck_baseline_load_mem(out.buf, out.len, &b, &diag), 0);
	assert_int_equal(b.n, 2);
	/* as often as it says, and no more */
	assert_true(rck_baseline_accepts(&b, &keys[0]));
	assert_true(rck_baseline_accepts(&b, &keys[0]));
	assert_false(rck_baseline_accepts(&b, &keys[0]));
	assert_true(rck_baseline_accepts(&b, &keys[2]));
	assert_false(rck_baseline_accepts(
		&b, &KEY("heap-declared", "lib/a.so", "gfx908", "k")));
	assert_false(rck_baseline_accepts(
		&b, &KEY("dynamic-stack", "lib/a.so", "gfx90a", "k")));
	rck_baseline_release(&b);
}

static void test_empty(void **state)
{
	_cleanup_strbuf_ struct rck_strbuf out = RCK_STRBUF_INIT;
	struct rck_baseline b;
	struct rck_diag diag;

	rck_baseline_write(NULL, 0, &out);
	assert_int_equal(rck_baseline_load_mem(out.buf, out.len, &b, &diag), 0);
	assert_int_equal(b.n, 0);
	assert_false(rck_baseline_accepts(&b, &KEY("a", "b", "c", "d")));
	rck_baseline_release(&b);
}

static const char *const broken[] = {
	"",
	"{",
	"[]",
	"{\"schema\": 2, \"findings\": []}",
	"{\"findings\": []}",
	"{\"schema\": 1, \"findings\": {}}",
	"{\"schema\": 1, \"findings\": [1]}",
	"{\"schema\": 1, \"findings\": [{\"rule\": \"r\"}]}",
	"{\"schema\": 1, \"findings\": [{\"rule\":\"r\",\"path\":\"p\",\"target\":\"t\","
	"\"kernel\":\"k\",\"count\":0}]}",
	"{\"schema\": 1, \"findings\": [{\"rule\":\"r\",\"path\":\"p\",\"target\":\"t\","
	"\"kernel\":\"k\",\"count\":1,\"more\":1}]}",
};

static void test_broken(void **state)
{
	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		struct rck_baseline b;
		struct rck_diag diag = {0};

		assert_int_equal(
			rck_baseline_load_mem(broken[i], strlen(broken[i]), &b, &diag),
			-EINVAL);
		assert_true(strlen(diag.msg) > 10);
	}
}

static void test_missing(void **state)
{
	struct rck_baseline b;
	struct rck_diag diag;

	assert_int_equal(
		rck_baseline_load("/nonexistent/baseline.json", &b, &diag), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_broken),
		cmocka_unit_test(test_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
