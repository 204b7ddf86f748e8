#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "make.h"

#include <errno.h>

/* A note whose bytes the test packs itself. */
struct raw {
	msgpack_sbuffer b;
	msgpack_packer p;
	struct make *m;
};

static void raw_begin(struct raw *r)
{
	r->m = make_new();
	msgpack_sbuffer_init(&r->b);
	msgpack_packer_init(&r->p, &r->b, msgpack_sbuffer_write);
}

/* The root with one kernel whose map the caller packs: n_pairs. */
static void raw_kernel(struct raw *r, size_t n_pairs)
{
	raw_begin(r);
	msgpack_pack_map(&r->p, 1);
	make_str(&r->p, "amdhsa.kernels");
	msgpack_pack_array(&r->p, 1);
	msgpack_pack_map(&r->p, n_pairs);
}

static int raw_open(struct raw *r, struct rck_code_object **co, struct rck_diag *diag)
{
	make_note(r->m, "AMDGPU", 32, r->b.data, r->b.size);
	return make_open(r->m, co, diag);
}

static void raw_end(struct raw *r)
{
	msgpack_sbuffer_destroy(&r->b);
	make_release(r->m);
}

static const struct {
	const char *key;
	enum rck_fact fact;
} numbers[] = {
	{".agpr_count", RCK_FACT_AGPR_COUNT},
	{".group_segment_fixed_size", RCK_FACT_LDS},
	{".kernarg_segment_align", RCK_FACT_KERNARG_ALIGN},
	{".kernarg_segment_size", RCK_FACT_KERNARG_SIZE},
	{".max_flat_workgroup_size", RCK_FACT_MAX_WORKGROUP},
	{".private_segment_fixed_size", RCK_FACT_SCRATCH},
	{".sgpr_count", RCK_FACT_SGPR_COUNT},
	{".sgpr_spill_count", RCK_FACT_SGPR_SPILLS},
	{".vgpr_count", RCK_FACT_VGPR_COUNT},
	{".vgpr_spill_count", RCK_FACT_VGPR_SPILLS},
	{".wavefront_size", RCK_FACT_WAVEFRONT_SIZE},
};
#define N_NUMBERS (sizeof(numbers) / sizeof(*numbers))

/* Each number is found by its key, in LLVM's order and in the reverse. */
static void test_numbers(void **state)
{
	struct rck_code_object *co;
	struct rck_diag diag;
	struct rck_value v;

	for (int reverse = 0; reverse < 2; reverse++) {
		const char *keys[N_NUMBERS];
		uint64_t values[N_NUMBERS];
		struct make *m = make_new();

		for (size_t i = 0; i < N_NUMBERS; i++) {
			size_t j = reverse ? N_NUMBERS - 1 - i : i;

			keys[j] = numbers[i].key;
			values[j] = 100 + i;
		}
		make_metadata(m, 2, "k", NULL, N_NUMBERS, keys, values);
		assert_int_equal(make_open(m, &co, &diag), 0);
		for (size_t i = 0; i < N_NUMBERS; i++) {
			rck_kernel_fact(
				rck_code_object_kernel(co, 0), numbers[i].fact, &v);
			assert_true(v.known);
			assert_int_equal(v.number, 100 + i);
			assert_int_equal(v.source, RCK_SOURCE_METADATA);
		}
		rck_code_object_close(co);
		make_release(m);
	}
}

static void test_other_keys(void **state)
{
	const struct rck_kernel *k;
	struct rck_code_object *co;
	struct rck_diag diag;
	struct raw r;

	raw_kernel(&r, 10);
	make_str(&r.p, ".name");
	make_str(&r.p, "k");
	make_str(&r.p, ".uses_dynamic_stack");
	msgpack_pack_true(&r.p);
	make_str(&r.p, ".uniform_work_group_size");
	msgpack_pack_uint8(&r.p, 1);
	make_str(&r.p, ".workgroup_processor_mode");
	msgpack_pack_false(&r.p);
	make_str(&r.p, ".reqd_workgroup_size");
	msgpack_pack_array(&r.p, 3);
	for (int i = 8; i > 0; i /= 2)
		if (i != 4)
			msgpack_pack_uint32(&r.p, (uint32_t)i);
	make_str(&r.p, ".language");
	make_str(&r.p, "HIP");
	make_str(&r.p, ".kind");
	make_str(&r.p, "init");
	/* unknown: kept as short text */
	make_str(&r.p, "wave.regalloc.spilled");
	msgpack_pack_map(&r.p, 2);
	make_str(&r.p, "a");
	msgpack_pack_array(&r.p, 3);
	msgpack_pack_int(&r.p, -7);
	msgpack_pack_nil(&r.p);
	msgpack_pack_double(&r.p, 0.5);
	make_str(&r.p, "b");
	msgpack_pack_true(&r.p);
	make_str(&r.p, ".gfx1250_revision");
	make_str(&r.p, "A0");
	make_str(&r.p, ".cluster_dims");
	msgpack_pack_bin(&r.p, 3);
	msgpack_pack_bin_body(&r.p, "\1\2\3", 3);

	assert_int_equal(raw_open(&r, &co, &diag), 0);
	k = rck_code_object_kernel(co, 0);
	assert_string_equal(k->symbol, "k.kd");
	assert_int_equal(k->dynamic_stack, RCK_YES);
	assert_true(k->uniform_workgroup);
	assert_true(k->stated & RCK_MD(WORKGROUP_PROCESSOR_MODE));
	assert_false(k->workgroup_processor_mode);
	assert_int_equal(k->reqd_workgroup[0], 8);
	assert_int_equal(k->reqd_workgroup[2], 1);
	assert_string_equal(k->language, "HIP");
	assert_string_equal(k->kind, "init");
	assert_int_equal(k->n_extra, 3);
	assert_string_equal(k->extra[0].key, "wave.regalloc.spilled");
	assert_string_equal(k->extra[0].value, "{a: [-7, null, 0.5], b: true}");
	assert_string_equal(k->extra[1].key, ".gfx1250_revision");
	assert_string_equal(k->extra[1].value, "A0");
	assert_string_equal(k->extra[2].value, "(3 bytes)");
	rck_code_object_close(co);
	raw_end(&r);
}

static void test_root(void **state)
{
	struct rck_code_object *co;
	struct rck_diag diag;
	struct raw r;

	raw_begin(&r);
	msgpack_pack_map(&r.p, 5);
	make_str(&r.p, "amdhsa.printf");
	msgpack_pack_array(&r.p, 2);
	make_str(&r.p, "1:1:4:%d\\n");
	make_str(&r.p, "2:0:hello");
	make_str(&r.p, "amdhsa.target");
	make_str(&r.p, "amdgcn-amd-amdhsa--gfx90a");
	make_str(&r.p, "amdhsa.version");
	msgpack_pack_array(&r.p, 2);
	msgpack_pack_uint32(&r.p, 1);
	msgpack_pack_uint32(&r.p, 2);
	make_str(&r.p, "amdhsa.globals");
	msgpack_pack_array(&r.p, 0);
	make_str(&r.p, "vendor.unknown");
	msgpack_pack_nil(&r.p);
	assert_int_equal(raw_open(&r, &co, &diag), 0);
	assert_int_equal(rck_code_object_kernel_count(co), 0);
	assert_int_equal(rck_code_object_note_count(co), 0);
	assert_int_equal(co->n_printf, 2);
	assert_string_equal(co->printf_formats[1], "2:0:hello");
	assert_string_equal(co->md_target, "amdgcn-amd-amdhsa--gfx90a");
	assert_int_equal(co->md_version[1], 2);
	rck_code_object_close(co);
	raw_end(&r);
}

/* Unknown hidden kinds are kept and shown, and no error. */
static void test_args(void **state)
{
	static const char *const kinds[] = {"by_value", "hidden_hostcall_buffer",
		"hidden_assert_fault_buffer", "global_buffer", "hidden_heap_v1", NULL};
	struct make *m = make_new();
	const struct rck_kernel *k;
	struct rck_code_object *co;
	const struct rck_arg *a;
	struct rck_diag diag;

	make_metadata(m, 2, "k", kinds, 0, NULL, NULL);
	assert_int_equal(make_open(m, &co, &diag), 0);
	k = rck_code_object_kernel(co, 0);
	assert_int_equal(rck_kernel_arg_count(k), 5);
	for (size_t i = 0; kinds[i]; i++) {
		a = rck_kernel_arg(k, i);
		assert_string_equal(a->value_kind, kinds[i]);
		assert_int_equal(a->offset, 8 * i);
		assert_int_equal(a->size, 8);
		assert_int_equal(a->hidden, !strncmp(kinds[i], "hidden_", 7));
		assert_null(a->name);
	}
	assert_null(rck_kernel_arg(k, 5));
	assert_int_equal(k->hidden, 1u << RCK_HIDDEN_HOSTCALL_BUFFER |
					    1u << RCK_HIDDEN_UNKNOWN |
					    1u << RCK_HIDDEN_HEAP_V1);
	assert_true(k->declares_hostcall);
	assert_true(k->declares_heap);
	rck_code_object_close(co);
	make_release(m);
}

/* Every hidden kind has a name that finds it. */
static void test_hidden_names(void **state)
{
	for (int h = 0; h < RCK_HIDDEN_UNKNOWN; h++) {
		const char *const kinds[] = {rck_hidden_name(h), NULL};
		struct make *m = make_new();
		struct rck_code_object *co;

		make_metadata(m, 2, "k", kinds, 0, NULL, NULL);
		assert_int_equal(make_open(m, &co, NULL), 0);
		assert_int_equal(rck_code_object_kernel(co, 0)->hidden, 1u << h);
		rck_code_object_close(co);
		make_release(m);
	}
}

/* A value of the wrong kind is as good as none, and noted. */
static void test_wrong_kind(void **state)
{
	struct rck_code_object *co;
	struct rck_diag diag;
	struct rck_value v;
	struct raw r;

	raw_kernel(&r, 4);
	make_str(&r.p, ".name");
	make_str(&r.p, "k");
	make_str(&r.p, ".sgpr_count");
	make_str(&r.p, "12");
	make_str(&r.p, ".vgpr_count");
	msgpack_pack_int(&r.p, -1);
	make_str(&r.p, ".reqd_workgroup_size");
	msgpack_pack_array(&r.p, 0);
	assert_int_equal(raw_open(&r, &co, &diag), 0);
	rck_kernel_fact(rck_code_object_kernel(co, 0), RCK_FACT_SGPR_COUNT, &v);
	assert_false(v.known);
	rck_kernel_fact(rck_code_object_kernel(co, 0), RCK_FACT_VGPR_COUNT, &v);
	assert_false(v.known);
	assert_true(
		make_noted(co, ".sgpr_count of a kernel has a value of the wrong kind"));
	assert_true(make_noted(co, ".vgpr_count"));
	assert_true(make_noted(co, ".reqd_workgroup_size"));
	rck_code_object_close(co);
	raw_end(&r);
}

/* What cannot be read is an error with its place, never fewer kernels. */
static const struct {
	const char *bytes;
	size_t size;
	int err;
	const char *msg;
	size_t at; /* in the note */
} bad[] = {
#define B(bytes, err, msg, at)                                                           \
	{                                                                                \
		bytes, sizeof(bytes) - 1, err, msg, at                                   \
	}
	B("", -EINVAL, "the root is not a map", 0),
	B("\x90", -EINVAL, "the root is not a map", 0),
	B("\x81\x01\x02", -EINVAL, "a root key is not a string", 1),
	B("\x81\xae"
	  "amdhsa.kernels"
	  "\x80",
		-EINVAL, "not an array", 16),
	B("\x81\xae"
	  "amdhsa.kernels"
	  "\x91\x01",
		-EINVAL, "a kernel is not a map", 17),
	B("\x81\xae"
	  "amdhsa.kernels"
	  "\x91\x80",
		-EINVAL, "neither .name nor .symbol", 17),
	B("\x81\xae"
	  "amdhsa.kernels"
	  "\x92\x81\xa5.name\xa1k",
		-EINVAL, "ends too early", 26),
	B("\x81\xae"
	  "amdhsa.kernels"
	  "\xdd\xff\xff\xff\xff",
		-EINVAL, "ends too early", 21),
	B("\x81\xae"
	  "amdhsa.kernels"
	  "\x91\xdf\xff\xff\xff\xff",
		-EINVAL, "claims", 17),
	B("\xdf\xff\xff\xff\xff", -EINVAL, "ends too early", 5),
	B("\x81\xae"
	  "amdhsa.kernels"
	  "\x91\x81\xa5.args\x80",
		-EINVAL, ".args is not an array", 17),
	B("\x81\xae"
	  "amdhsa.kernels"
	  "\x91\x81\xa5.args\x91\x01",
		-EINVAL, "an argument is not a map", 17),
	B("\x81\xae"
	  "amdhsa.kernels"
	  "\x91\x81\xa5.args\x91\x80",
		-EINVAL, "an argument has no .value_kind", 17),
	B("\x81\xae"
	  "amdhsa.kernels"
	  "\x91\x81\xa5.args\x91\x81\xab.value_kind\x07",
		-EINVAL, ".value_kind is not a string", 17),
	B("\x81\xae"
	  "amdhsa.kernels"
	  "\x91\x82\xa5.args\x90\xa5.args\x90",
		-EINVAL, ".args is there twice", 17),
	B("\x81\xa1"
	  "a\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91"
	  "\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\xc0",
		-E2BIG, "nested deeper", 35),
};

static void test_bad(void **state)
{
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct make *m = make_new();
		struct rck_code_object *co;
		struct rck_diag diag;

		/* in V5, .args twice needs args that are not NULL: see the arena */
		make_note(m, "AMDGPU", 32, bad[i].bytes, bad[i].size);
		assert_int_equal(make_open(m, &co, &diag), bad[i].err);
		assert_int_equal(diag.code, bad[i].err);
		if (!strstr(diag.msg, bad[i].msg))
			fail_msg("%zu: '%s' is not in '%s'", i, bad[i].msg, diag.msg);
		/* the notes begin behind the headers, and a note's text after 20 bytes */
		assert_int_equal(diag.offset, 64 + 3 * 56 + 20 + bad[i].at);
		make_release(m);
	}
}

/* Descriptors that no metadata speaks of are kernels that would go unseen. */
static void test_undescribed(void **state)
{
	struct make *m = make_new();
	struct rck_code_object *co;
	struct rck_diag diag;

	make_metadata(m, 2, "seen", NULL, 0, NULL, NULL);
	make_kernel(m, "seen");
	make_kernel(m, "unseen");
	assert_int_equal(make_open(m, &co, &diag), -ENODATA);
	assert_string_equal(diag.msg,
		"1 of 2 kernel descriptors have no metadata (perhaps unseen.kd)");
	make_release(m);
}

/* A kernel that would make msgpack-c ask for hundreds of MiB is refused. */
static void test_too_large(void **state)
{
	size_t size = 3u << 20;
	uint8_t *nils = malloc(size + 64);
	struct rck_code_object *co;
	struct rck_diag diag;
	struct make *m = make_new();
	uint8_t *data;
	size_t at;

	assert_non_null(nils);
	at = (size_t)sprintf((char *)nils, "\x81\xae"
					   "amdhsa.kernels"
					   "\x91\x81\xa1x\xdd");
	nils[at++] = (uint8_t)(size >> 24);
	nils[at++] = (uint8_t)(size >> 16);
	nils[at++] = (uint8_t)(size >> 8);
	nils[at++] = (uint8_t)size;
	memset(nils + at, 0xc0, size);
	make_finish(m);
	/* the note goes behind the rest, where there is room */
	data = calloc(1, m->size + size + 128);
	assert_non_null(data);
	memcpy(data, m->data, m->size);
	((uint32_t *)(data + m->size))[0] = 7;
	((uint32_t *)(data + m->size))[1] = (uint32_t)(size + at);
	((uint32_t *)(data + m->size))[2] = 32;
	memcpy(data + m->size + 12, "AMDGPU", 7);
	memcpy(data + m->size + 20, nils, at + size);
	((Elf64_Phdr *)(data + 64))[1].p_offset = m->size;
	((Elf64_Phdr *)(data + 64))[1].p_filesz = 20 + size + at;
	assert_int_equal(
		rck_code_object_open_mem(data, m->size + 20 + size + at, &co, &diag),
		-E2BIG);
	assert_non_null(strstr(diag.msg, "at most 2097152 are read"));
	free(data);
	free(nils);
	make_release(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_other_keys),
		cmocka_unit_test(test_root),
		cmocka_unit_test(test_args),
		cmocka_unit_test(test_hidden_names),
		cmocka_unit_test(test_wrong_kind),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_undescribed),
		cmocka_unit_test(test_too_large),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
