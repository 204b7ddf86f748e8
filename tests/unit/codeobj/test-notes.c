#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "make.h"

#include <errno.h>

static void test_walk(void **state)
{
	struct make *m = make_new();
	struct rck_note_cursor c;
	struct rck_diag diag;
	struct rck_note n;

	make_note(m, "AMD", 3, "abcde", 5);
	make_note(m, "AMDGPU", 32, "", 0);
	make_note(m, "AMDGPU", 32, "wxyz", 4);
	rck_note_open(&c, (const uint8_t *)m->notes.data, m->notes.size, 1000, 4);
	assert_int_equal(rck_note_next(&c, &n, &diag), 1);
	assert_int_equal(n.owner_len, 3);
	assert_memory_equal(n.owner, "AMD", 3);
	assert_int_equal(n.type, 3);
	assert_int_equal(n.desc_size, 5);
	assert_memory_equal(n.desc, "abcde", 5);
	assert_int_equal(n.offset, 1016);
	assert_int_equal(rck_note_next(&c, &n, &diag), 1);
	assert_int_equal(n.desc_size, 0);
	assert_int_equal(rck_note_next(&c, &n, &diag), 1);
	assert_memory_equal(n.desc, "wxyz", 4);
	assert_int_equal(rck_note_next(&c, &n, &diag), 0);
	make_release(m);
}

static void test_align_8(void **state)
{
	/* 12 + 4 bytes, then 1 byte and padding to 8; a second note follows */
	static const uint8_t bytes[] = {4, 0, 0, 0, 1, 0, 0, 0, 7, 0, 0, 0, 'G', 'N', 'U',
		0, 'x', 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 'G', 'N',
		'U', 0};
	struct rck_note_cursor c;
	struct rck_note n;

	rck_note_open(&c, bytes, sizeof(bytes), 0, 8);
	assert_int_equal(rck_note_next(&c, &n, NULL), 1);
	assert_int_equal(n.type, 7);
	assert_int_equal(rck_note_next(&c, &n, NULL), 1);
	assert_int_equal(n.type, 8);
	assert_int_equal(rck_note_next(&c, &n, NULL), 0);
}

static void test_bad(void **state)
{
	static const struct {
		uint32_t name, desc;
	} sizes[] = {{0xffffffff, 0}, {4, 0xffffffff}, {0xfffffff4, 0xfffffff4}, {4, 5},
		{9, 0}};
	struct rck_note_cursor c;
	struct rck_diag diag;
	struct rck_note n;
	uint8_t bytes[20];

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		memset(bytes, 0, sizeof(bytes));
		memcpy(bytes, &sizes[i], 8);
		rck_note_open(&c, bytes, sizeof(bytes), 64, 4);
		assert_int_equal(rck_note_next(&c, &n, &diag), -EINVAL);
		assert_int_equal(diag.offset, 64);
		assert_int_equal(rck_note_next(&c, &n, &diag), 0);
	}
	/* a head that is cut short; padding behind the last note is none */
	memset(bytes, 0, sizeof(bytes));
	rck_note_open(&c, bytes, 11, 0, 4);
	assert_int_equal(rck_note_next(&c, &n, &diag), 0);
	bytes[8] = 1;
	rck_note_open(&c, bytes, 11, 0, 4);
	assert_int_equal(rck_note_next(&c, &n, &diag), -EINVAL);
}

/* Metadata notes add up; foreign ones and those of other types are passed over. */
static void test_every_note(void **state)
{
	static const char *const args[] = {"by_value", NULL};
	struct make *m = make_new();
	struct rck_code_object *co;
	struct rck_diag diag;

	make_note(m, "GNU", 32, "\xc1", 1);
	make_note(m, "AMDGPU", 33, "\xc1", 1);
	make_metadata(m, 2, "one", args, 0, NULL, NULL);
	make_metadata(m, 2, "two", args, 0, NULL, NULL);
	make_metadata(m, 2, "one", NULL, 0, NULL, NULL);
	make_kernel(m, "one");
	make_kernel(m, "two");
	assert_int_equal(make_open(m, &co, &diag), 0);
	assert_int_equal(co->n_metadata_notes, 3);
	assert_int_equal(rck_code_object_kernel_count(co), 2);
	assert_string_equal(rck_kernel_name(rck_code_object_kernel(co, 0)), "one");
	assert_int_equal(rck_kernel_arg_count(rck_code_object_kernel(co, 0)), 1);
	assert_string_equal(rck_kernel_name(rck_code_object_kernel(co, 1)), "two");
	assert_int_equal(rck_code_object_kernel(co, 1)->unit, 1);
	assert_true(make_noted(co, "describes a kernel twice: one.kd"));
	assert_null(rck_code_object_kernel(co, 2));
	rck_code_object_close(co);
	make_release(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_walk),
		cmocka_unit_test(test_align_8),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_every_note),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
