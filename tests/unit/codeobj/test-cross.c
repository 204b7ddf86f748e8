#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "make.h"

#include <errno.h>

static struct rck_code_object *open_header(unsigned version, unsigned flags)
{
	struct make *m = make_new();
	struct rck_code_object *co;

	m->version = version;
	m->flags = flags;
	assert_int_equal(make_open(m, &co, NULL), 0);
	/* what is asked for below was copied */
	make_release(m);
	return co;
}

static void test_targets(void **state)
{
	static const struct {
		unsigned version, flags;
		const char *target;
		unsigned generic;
	} rows[] = {
		{2, 0x02c, "gfx900", 0},
		{3, 0x12c, "gfx900:xnack+", 0},
		{3, 0x02c, "gfx900:xnack-", 0},
		{3, 0x330, "gfx908:sramecc+:xnack+", 0},
		{3, 0x036, "gfx1030", 0},
		{4, 0x53f, "gfx90a", 0},
		{4, 0x63f, "gfx90a:xnack-", 0},
		{4, 0xf3f, "gfx90a:sramecc+:xnack+", 0},
		{5, 0xa4c, "gfx942:sramecc-:xnack-", 0},
		{5, 0x040, "gfx940", 0},
		{6, 0x041, "gfx1100", 0},
		{6, 0x100055f, "gfx9-4-generic", 1},
		{6, 0x2000051, "gfx9-generic", 2},
		{6, 0x05b, "gfx12-5-generic", 0},
		{6, 0x099, "gfx?(0x99)", 0},
		{4, 0x27, "gfx?(0x27)", 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct rck_code_object *co = open_header(rows[i].version, rows[i].flags);

		assert_string_equal(rck_code_object_target(co), rows[i].target);
		assert_int_equal(co->generic_version, rows[i].generic);
		assert_int_equal(rck_code_object_version(co), rows[i].version);
		assert_int_equal(make_noted(co, "is not known to this version"),
			strchr(rows[i].target, '?') != NULL);
		assert_int_equal(make_noted(co, "without a generic version"),
			strstr(rows[i].target, "generic") && !rows[i].generic);
		rck_code_object_close(co);
	}
}

static void test_headers(void **state)
{
	struct make *m = make_new();
	struct rck_code_object *co;
	struct rck_diag diag;

	m->version = 9;
	assert_int_equal(make_open(m, &co, NULL), 0);
	assert_int_equal(rck_code_object_version(co), 0);
	assert_true(make_noted(co, "ABI version 7 (code object V9?)"));
	rck_code_object_close(co);
	m->osabi_less_hsa = 1;
	assert_int_equal(make_open(m, &co, NULL), 0);
	assert_true(make_noted(co, "OS ABI 65 is not HSA"));
	rck_code_object_close(co);

	make_finish(m);
	m->data[18] = 62;
	assert_int_equal(
		rck_code_object_open_mem(m->data, m->size, &co, &diag), -ENOEXEC);
	assert_string_equal(diag.msg, "not an AMDGPU ELF file (machine 62)");
	assert_int_equal(diag.offset, 18);
	make_finish(m);
	m->data[EI_CLASS] = ELFCLASS32;
	assert_int_equal(
		rck_code_object_open_mem(m->data, m->size, &co, &diag), -ENOEXEC);
	make_finish(m);
	m->data[EI_DATA] = ELFDATA2MSB;
	assert_int_equal(
		rck_code_object_open_mem(m->data, m->size, &co, &diag), -ENOEXEC);
	assert_int_equal(rck_code_object_open_mem("x", 1, &co, &diag), -ENOEXEC);
	make_finish(m);
	assert_int_equal(rck_code_object_open_mem(m->data, 63, &co, &diag), -EINVAL);
	/* every program header that is cut, or points out of the file, is an error */
	for (size_t n = 64; n < m->size; n++)
		assert_int_equal(
			rck_code_object_open_mem(m->data, n, &co, &diag), -EINVAL);
	make_release(m);
}

static void test_version(void **state)
{
	static const struct {
		unsigned version, minor;
		bool fits;
	} rows[] = {{3, 0, true}, {4, 1, true}, {5, 2, true}, {6, 2, true}, {6, 3, true},
		{6, 0, false}, {5, 1, false}, {4, 2, false}, {3, 1, false}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct make *m = make_new();
		struct rck_code_object *co;
		char text[64];

		m->version = rows[i].version;
		m->flags = 0x41;
		make_metadata(m, rows[i].minor, "k", NULL, 0, NULL, NULL);
		make_kernel(m, "k");
		assert_int_equal(make_open(m, &co, NULL), 0);
		snprintf(text, sizeof(text), "metadata version 1.%u in a V%u code object",
			rows[i].minor, rows[i].version);
		assert_int_equal(make_noted(co, text), !rows[i].fits);
		assert_int_equal(rck_code_object_note_count(co), !rows[i].fits);
		rck_code_object_close(co);
		make_release(m);
	}
}

/* amdhsa.target, or any claim of a container, against e_flags. */
static void test_claims(void **state)
{
	static const struct {
		unsigned flags;
		const char *claim, *path;
		bool clash;
	} rows[] = {
		{0x53f, "gfx90a", NULL, false},
		{0x53f, "gfx90a:xnack-", NULL, false}, /* any */
		{0x63f, "gfx90a:xnack-", NULL, false},
		{0x63f, "gfx90a:xnack+", NULL, true},
		{0xe3f, "gfx90a:sramecc+:xnack-", NULL, false},
		{0xe3f, "gfx90a:sramecc-:xnack-", NULL, true},
		{0x53f, "gfx908", NULL, true},
		{0x55f, "gfx9-4-generic", NULL, false},
		{0x55f, "gfx9-generic", NULL, true},
		{0x02c, NULL, "/x/gfx8_DummyKernel.hsaco", true},
		{0x02c, NULL, "/x/gfx9_DummyKernel.hsaco", false},
		{0x02c, NULL, "/gfx8/k.hsaco", false},
		{0x53f, NULL, "TensileLibrary_gfx90a-xnack+.co", false},
		{0x53f, NULL, "a_gfx908_gfx90a.co", false},
		{0x53f, NULL, "a_gfx908_gfx942.co", true},
		{0x53f, NULL, "gfxstuff_gfx8dummy.co", false},
		{0x55f, NULL, "k-gfx9-4-generic.co", false},
		{0x53f, NULL, "gfx", false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct rck_code_object *co = open_header(5, rows[i].flags);
		size_t n = rck_code_object_note_count(co);

		rck_cross_check_claim(co, rows[i].claim, rows[i].path);
		if (rck_code_object_note_count(co) != n + rows[i].clash)
			fail_msg("row %zu", i);
		rck_code_object_close(co);
	}
}

static void test_disagreements(void **state)
{
	static const char *const keys[] = {".group_segment_fixed_size",
		".kernarg_segment_size", ".private_segment_fixed_size",
		".uses_dynamic_stack", ".wavefront_size"};
	static const uint64_t values[] = {64, 40, 16, 1, 64};
	struct make *m = make_new();
	const struct rck_kernel *k;
	struct rck_code_object *co;
	struct rck_value v;

	for (int i = 0; i < 2; i++) {
		make_metadata(m, 2, i ? "second" : "first", NULL, 5, keys, values);
		make_kernel(m, i ? "second" : "first");
	}
	/* the first: all agree; the second: none do, and it states wave32 */
	m->kernels[0].kd[0] = 64;
	m->kernels[0].kd[4] = 16;
	m->kernels[0].kd[8] = 40;
	m->kernels[0].kd[57] = 1 << 3;
	m->kernels[1].kd[8] = 48;
	m->kernels[1].kd[57] = 1 << 2;
	assert_int_equal(make_open(m, &co, NULL), 0);
	assert_true(make_noted(
		co, "kernel 'second': the metadata says LDS 64, the descriptor 0"));
	assert_true(make_noted(
		co, "kernel 'second': the metadata says scratch 16, the descriptor 0"));
	assert_true(make_noted(co,
		"kernel 'second': the metadata says kernarg size 40, the descriptor 48"));
	assert_true(make_noted(co, "kernel 'second': the metadata says wavefront size "
				   "64, the descriptor 32"));
	assert_true(make_noted(co,
		"kernel 'second': the metadata says dynamic stack 1, the descriptor 0"));
	assert_int_equal(rck_code_object_note_count(co), 5);
	for (int i = 0; i < 2; i++) {
		k = rck_code_object_kernel(co, (size_t)i);
		rck_kernel_fact(k, RCK_FACT_LDS, &v);
		assert_int_equal(v.source, RCK_SOURCE_BOTH);
		assert_int_equal(v.disagrees, i);
		assert_int_equal(v.number, 64);
		rck_kernel_fact(k, RCK_FACT_DYNAMIC_STACK, &v);
		assert_true(v.number);
		assert_int_equal(v.disagrees, i);
	}
	rck_code_object_close(co);
	make_release(m);
}

/* A descriptor's kernarg size of 0 is one that its writer left out. */
static void test_sources(void **state)
{
	static const char *const keys[] = {".kernarg_segment_size"};
	static const uint64_t values[] = {40};
	struct make *m = make_new();
	const struct rck_kernel *k;
	struct rck_code_object *co;
	struct rck_value v;

	make_metadata(m, 2, "k", NULL, 1, keys, values);
	make_kernel(m, "k")[4] = 16;
	assert_int_equal(make_open(m, &co, NULL), 0);
	k = rck_code_object_kernel(co, 0);
	rck_kernel_fact(k, RCK_FACT_KERNARG_SIZE, &v);
	assert_int_equal(v.source, RCK_SOURCE_METADATA);
	assert_false(v.disagrees);
	rck_kernel_fact(k, RCK_FACT_SCRATCH, &v);
	assert_int_equal(v.source, RCK_SOURCE_DESCRIPTOR);
	assert_int_equal(v.number, 16);
	rck_kernel_fact(k, RCK_FACT_SGPR_COUNT, &v);
	assert_false(v.known);
	assert_int_equal(v.source, RCK_SOURCE_NONE);
	rck_kernel_fact(k, RCK_FACT_DYNAMIC_STACK, &v);
	assert_true(v.known);
	assert_false(v.number);
	assert_int_equal(v.source, RCK_SOURCE_DESCRIPTOR);
	assert_int_equal(rck_kernel_fact(k, RCK_FACT_COUNT_, &v), -EINVAL);
	rck_code_object_close(co);
	make_release(m);
}

static void test_fact_table(void **state)
{
	for (int f = 0; f < RCK_FACT_COUNT_; f++) {
		const struct rck_fact_info *info = rck_fact_info(f);

		assert_int_equal(info->fact, f);
		assert_true(*info->key && *info->title && *info->help);
		for (const char *p = info->key; *p; p++)
			assert_true(*p == '_' || (*p >= 'a' && *p <= 'z'));
		for (int g = 0; g < f; g++)
			assert_string_not_equal(info->key, rck_fact_info(g)->key);
	}
	assert_null(rck_fact_info(RCK_FACT_COUNT_));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_targets),
		cmocka_unit_test(test_headers),
		cmocka_unit_test(test_version),
		cmocka_unit_test(test_claims),
		cmocka_unit_test(test_disagreements),
		cmocka_unit_test(test_sources),
		cmocka_unit_test(test_fact_table),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
