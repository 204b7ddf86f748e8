#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "make.h"

#include <errno.h>

static void put32(uint8_t *p, uint32_t v)
{
	memcpy(p, &v, 4);
}

static void test_decode(void **state)
{
	struct rck_descriptor d = {0};
	uint8_t kd[64] = {0};
	int64_t entry;

	put32(kd, 1024);
	put32(kd + 4, 48);
	put32(kd + 8, 312);
	put32(kd + 16, 0xffffff00);
	put32(kd + 20, 0xffffffff);
	put32(kd + 44, 3);
	put32(kd + 48, 1);
	put32(kd + 52, 2);
	kd[57] = 1 << 2 | 1 << 3;
	rck_descriptor_decode(&d, kd, &entry);
	assert_int_equal(d.group_segment_fixed_size, 1024);
	assert_int_equal(d.private_segment_fixed_size, 48);
	assert_int_equal(d.kernarg_size, 312);
	assert_int_equal(entry, -256);
	assert_int_equal(d.rsrc1, 1);
	assert_int_equal(d.rsrc2, 2);
	assert_int_equal(d.rsrc3, 3);
	assert_true(d.wavefront32);
	assert_true(d.uses_dynamic_stack);
	kd[57] = 1 << 2;
	rck_descriptor_decode(&d, kd, &entry);
	assert_true(d.wavefront32);
	assert_false(d.uses_dynamic_stack);
}

static void test_decode_v2(void **state)
{
	struct rck_descriptor d = {0};
	uint8_t kd[256] = {0};
	int64_t entry;

	put32(kd + 16, 256);
	put32(kd + 48, 0xac0081);
	put32(kd + 56, 1 << 20);
	put32(kd + 60, 16384);
	put32(kd + 64, 64);
	put32(kd + 72, 40);
	kd[103] = 6;
	rck_descriptor_decode_v2(&d, kd, &entry);
	assert_int_equal(entry, 256);
	assert_int_equal(d.rsrc1, 0xac0081);
	assert_int_equal(d.private_segment_fixed_size, 16384);
	assert_int_equal(d.group_segment_fixed_size, 64);
	assert_int_equal(d.kernarg_size, 40);
	assert_true(d.uses_dynamic_stack);
	assert_false(d.wavefront32);
}

/* Found by either hash table, and without one not at all: here there are no sections. */
static void test_found(void **state)
{
	static const char *const names[] = {"a", "kernel_two", "_Z5thirdPf"};

	for (enum make_hash hash = MAKE_GNU; hash <= MAKE_NONE; hash++) {
		struct make *m = make_new();
		struct rck_code_object *co;
		struct rck_diag diag;

		m->hash = hash;
		for (size_t i = 0; i < 3; i++) {
			make_metadata(m, 2, names[i], NULL, 0, NULL, NULL);
			put32(make_kernel(m, names[i]), 100 + (uint32_t)i);
		}
		assert_int_equal(make_open(m, &co, &diag), 0);
		for (size_t i = 0; i < 3; i++) {
			const struct rck_kernel *k = rck_code_object_kernel(co, i);

			assert_int_equal(k->kd.found, hash != MAKE_NONE);
			if (!k->kd.found)
				continue;
			assert_int_equal(k->kd.group_segment_fixed_size, 100 + i);
			assert_int_equal(k->kd.code_size, 100);
			assert_int_equal(k->kd.offset % 64, 0);
			assert_int_equal(k->kd.entry + MAKE_BASE, k->kd.entry_address);
			assert_ptr_equal(rck_code_object_at(co, k->kd.entry_address, 100),
				m->data + k->kd.entry);
		}
		assert_int_equal(
			make_noted(co, "kernel 'a' and 2 more: no kernel descriptor is "
				       "found"),
			hash == MAKE_NONE);
		rck_code_object_close(co);
		make_release(m);
	}
}

/* An address maps to the file only as far as its segment goes. */
static void test_at(void **state)
{
	struct make *m = make_new();
	struct rck_code_object *co;

	assert_int_equal(make_open(m, &co, NULL), 0);
	assert_ptr_equal(rck_code_object_at(co, MAKE_BASE, m->size), m->data);
	assert_null(rck_code_object_at(co, MAKE_BASE, m->size + 1));
	assert_null(rck_code_object_at(co, MAKE_BASE - 1, 1));
	assert_null(rck_code_object_at(co, MAKE_BASE + m->size, 0));
	assert_null(rck_code_object_at(co, UINT64_MAX, UINT64_MAX));
	assert_null(rck_code_object_at(co, MAKE_BASE + 1, UINT64_MAX));
	rck_code_object_close(co);
	make_release(m);
}

static void test_functions(void **state)
{
	struct make *m = make_new();
	const struct rck_function *f;
	struct rck_code_object *co;
	size_t n;

	m->other_symbol = "helper";
	make_metadata(m, 2, "b", NULL, 0, NULL, NULL);
	make_metadata(m, 2, "a", NULL, 0, NULL, NULL);
	make_kernel(m, "b");
	make_kernel(m, "a");
	assert_int_equal(make_open(m, &co, NULL), 0);
	f = rck_code_object_functions(co, &n);
	assert_int_equal(n, 3);
	/* by address, then by name */
	assert_string_equal(f[0].name, "b");
	assert_string_equal(f[1].name, "helper");
	assert_string_equal(f[2].name, "a");
	assert_int_equal(f[0].address, f[1].address);
	assert_int_equal(f[2].address, f[0].address + 256);
	assert_int_equal(f[2].offset + MAKE_BASE, f[2].address);
	assert_int_equal(f[1].size, 4);
	rck_code_object_close(co);
	make_release(m);
}

/* A hash table that leads in circles or out of the file finds nothing, and ends. */
static void test_hostile_hash(void **state)
{
	for (enum make_hash hash = MAKE_GNU; hash <= MAKE_SYSV; hash++) {
		struct make *m = make_new();
		struct rck_code_object *co;
		uint32_t *u;

		m->hash = hash;
		make_metadata(m, 2, "none", NULL, 0, NULL, NULL);
		make_kernel(m, "k")[0] = 0;
		m->kernels[0].no_kd = true;
		make_finish(m);
		for (u = (uint32_t *)m->data; (uint8_t *)(u + 4) < m->data + m->size; u++)
			if (hash == MAKE_GNU && u[0] == 1 && u[1] == 1 && u[2] == 1 &&
				u[3] == 6) {
				u[7] &= ~1u; /* the chain does not end */
				u[6] = 1;
			} else if (hash == MAKE_SYSV && u[0] == 2 && u[1] == 2) {
				u[2] = u[3] = 1;
				u[5] = 1; /* symbol 1 follows itself */
			}
		assert_int_equal(
			rck_code_object_open_mem(m->data, m->size, &co, NULL), 0);
		assert_false(rck_code_object_kernel(co, 0)->kd.found);
		rck_code_object_close(co);
		make_release(m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decode),
		cmocka_unit_test(test_decode_v2),
		cmocka_unit_test(test_found),
		cmocka_unit_test(test_at),
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_hostile_hash),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
