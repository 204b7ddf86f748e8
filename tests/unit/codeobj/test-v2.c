#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "make.h"

#include <errno.h>

#ifdef HAVE_LIBYAML
static int open_yaml(const char *text, struct rck_code_object **co, struct rck_diag *diag)
{
	static const uint8_t isa[] = {4, 0, 7, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 'A',
		'M', 'D', 0, 'A', 'M', 'D', 'G', 'P', 'U', 0};
	static struct make *m; /* the object's bytes outlive this call, by one */
	int err;

	if (m)
		make_release(m);
	m = make_new();
	m->version = 2;
	m->flags = 0x2c;
	make_note(m, "AMD", 3, isa, sizeof(isa));
	if (text)
		make_note(m, "AMD", 10, text, strlen(text) + 1);
	err = make_open(m, co, diag);
	return err;
}

static void test_keys(void **state)
{
	static const char text[] =
		"---\n"
		"Version: [ 1, 0 ]\n"
		"Printf: ['1:0:hello', '2:1:4:%d']\n"
		"Kernels:\n"
		"  - Name: k\n"
		"    SymbolName: 'k@kd'\n"
		"    Language: OpenCL C\n"
		"    LanguageVersion: [ 2, 0 ]\n"
		"    Attrs:\n"
		"      ReqdWorkGroupSize: [ 64, 2, 1 ]\n"
		"      VecTypeHint: float4\n"
		"    Args:\n"
		"      - Name: p\n"
		"        TypeName: 'float*'\n"
		"        Size: 8\n"
		"        Align: 8\n"
		"        ValueKind: GlobalBuffer\n"
		"        AddrSpaceQual: Global\n"
		"        AccQual: ReadOnly\n"
		"      - { Size: 4, Align: 4, ValueKind: ByValue }\n"
		"      - { Size: 8, Align: 8, ValueKind: HiddenHostcallBuffer }\n"
		"      - { Size: 8, Align: 8, ValueKind: HiddenMultiGridSyncArg }\n"
		"      - { Size: 2, Align: 2, ValueKind: HiddenWonder }\n"
		"    CodeProps:\n"
		"      KernargSegmentSize: 34\n"
		"      GroupSegmentFixedSize: 0x40\n"
		"      PrivateSegmentFixedSize: 16384\n"
		"      KernargSegmentAlign: 8\n"
		"      WavefrontSize: 64\n"
		"      NumSGPRs: 46\n"
		"      NumVGPRs: 41\n"
		"      MaxFlatWorkGroupSize: 128\n"
		"      IsDynamicCallStack: true\n"
		"      NumSpilledSGPRs: 3\n"
		"      NumSpilledVGPRs: many\n"
		"    Wonder: [ 1 ]\n"
		"...\n";
	static const struct {
		const char *kind;
		uint64_t offset;
	} args[] = {{"global_buffer", 0}, {"by_value", 8}, {"hidden_hostcall_buffer", 16},
		{"hidden_multigrid_sync_arg", 24}, {"hidden_wonder", 32}};
	const struct rck_kernel *k;
	struct rck_code_object *co;
	struct rck_diag diag;

	assert_int_equal(open_yaml(text, &co, &diag), 0);
	assert_int_equal(rck_code_object_version(co), 2);
	assert_string_equal(rck_code_object_target(co), "gfx900");
	assert_int_equal(co->md_version[0], 1);
	assert_int_equal(co->n_printf, 2);
	k = rck_code_object_kernel(co, 0);
	assert_string_equal(k->name, "k");
	assert_string_equal(k->symbol, "k");
	assert_string_equal(k->language, "OpenCL C");
	assert_string_equal(k->vec_type_hint, "float4");
	assert_int_equal(k->reqd_workgroup[0], 64);
	assert_int_equal(k->reqd_workgroup[1], 2);
	assert_int_equal(k->kernarg_size, 34);
	assert_int_equal(k->lds, 64);
	assert_int_equal(k->scratch, 16384);
	assert_int_equal(k->sgpr_count, 46);
	assert_int_equal(k->vgpr_count, 41);
	assert_int_equal(k->max_workgroup, 128);
	assert_int_equal(k->sgpr_spills, 3);
	assert_false(k->stated & RCK_MD(VGPR_SPILLS));
	assert_true(
		make_noted(co, "NumSpilledVGPRs of a kernel has a value of the wrong"));
	assert_int_equal(k->dynamic_stack, RCK_YES);
	assert_true(k->declares_hostcall);
	assert_int_equal(k->n_args, 5);
	for (size_t i = 0; i < 5; i++) {
		assert_string_equal(k->args[i].value_kind, args[i].kind);
		assert_int_equal(k->args[i].offset, args[i].offset);
		assert_int_equal(k->args[i].hidden, i > 1);
	}
	assert_string_equal(k->args[0].name, "p");
	assert_string_equal(k->args[0].type_name, "float*");
	assert_string_equal(k->args[0].address_space, "global");
	assert_int_equal(k->n_extra, 1);
	assert_string_equal(k->extra[0].key, "Wonder");
	rck_code_object_close(co);
}

static void test_absent_means_false(void **state)
{
	struct rck_code_object *co;
	const struct rck_kernel *k;
	struct rck_value v;

	assert_int_equal(
		open_yaml("{Version: [1, 0], Kernels: [{Name: k}]}", &co, NULL), 0);
	k = rck_code_object_kernel(co, 0);
	rck_kernel_fact(k, RCK_FACT_DYNAMIC_STACK, &v);
	assert_true(v.known);
	assert_false(v.number);
	assert_int_equal(v.source, RCK_SOURCE_METADATA);
	rck_code_object_close(co);
}

static void test_bad(void **state)
{
	static const struct {
		const char *text, *msg;
		size_t at;
	} bad[] = {
		{"[]", "the root is not a map", 0},
		{"Kernels: {}", "Kernels is not a list", 9},
		{"Kernels: [ 1 ]", "a kernel is not a map", 11},
		{"Kernels: [ {} ]", "a kernel has no Name", 11},
		{"Kernels: [ {Name: k, Args: 1} ]", "Args is not a list", 27},
		{"Kernels: [ {Name: k, Args: [1]} ]", "an argument is not a map", 28},
		{"Kernels: [ {Name: k, Args: [{}]} ]", "an argument has no ValueKind",
			28},
		{"Kernels: [ {Name: k, Args: [{ValueKind: []}]} ]", "not a string", 40},
		{"Kernels: [ {Name: k, CodeProps: 1} ]", "is not a map", 32},
		{"Kernels: [ {Name: k, Args: [], Args: []} ]", "Args is there twice", 37},
		{"Kernels: [", "metadata: ", 10},
		{"Kernels: *nowhere", "undefined alias", 9},
		{"\t- x", "metadata: ", 0},
		{"%A\n%B", "metadata: ", 2},
	};
	struct rck_code_object *co;
	struct rck_diag diag;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_int_equal(open_yaml(bad[i].text, &co, &diag), -EINVAL);
		if (!strstr(diag.msg, bad[i].msg))
			fail_msg("%zu: '%s' is not in '%s'", i, bad[i].msg, diag.msg);
		/* headers, the ISA note, the note's own head, the text */
		assert_int_equal(diag.offset, 64 + 3 * 56 + 16 + 28 + 16 + bad[i].at);
	}
}

/* A document that repeats itself by aliases costs no more than its kernels' limit. */
static void test_aliases(void **state)
{
	struct rck_code_object *co;
	struct rck_diag diag;
	char text[4096] = "A: &a {ValueKind: ByValue}\nB: &b [", *p = text + strlen(text);

	for (int i = 0; i < 500; i++)
		p += sprintf(p, "%s*a", i ? "," : "");
	p += sprintf(p, "]\nC: &c {Name: k, Args: *b}\nKernels: [");
	for (int i = 0; i < 500; i++)
		p += sprintf(p, "%s*c", i ? "," : "");
	sprintf(p, "]\n");
	/* 500 kernels of 500 arguments each, all called "k": one is left */
	assert_int_equal(open_yaml(text, &co, &diag), 0);
	assert_int_equal(rck_code_object_kernel_count(co), 1);
	assert_int_equal(rck_kernel_arg_count(rck_code_object_kernel(co, 0)), 500);
	rck_code_object_close(co);
	/* what libyaml takes quadratic time for is refused before */
	memset(text, '[', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(open_yaml(text, &co, &diag), -E2BIG);
	for (p = text; p < text + 3000;)
		p += sprintf(p, "%%A\n");
	assert_int_equal(open_yaml(text, &co, &diag), -E2BIG);
	p = text + sprintf(text, "A: [");
	for (int i = 0; i < 300; i++)
		p += sprintf(p, "&a%d b,", i);
	sprintf(p, "]\n");
	assert_int_equal(open_yaml(text, &co, &diag), -E2BIG);
	/* a map that holds itself is read to the depth that is looked at, no further */
	assert_int_equal(
		open_yaml("Kernels: &k [ {Name: k, CodeProps: {X: *k}, Y: *k} ]\n", &co,
			&diag),
		0);
	assert_string_equal(rck_code_object_kernel(co, 0)->extra[0].value, "[...]");
	rck_code_object_close(co);
}
#else
static void test_without_libyaml(void **state)
{
	struct make *m = make_new();
	struct rck_code_object *co;
	struct rck_diag diag;

	m->version = 2;
	make_note(m, "AMD", 10, "---\n", 4);
	assert_int_equal(make_open(m, &co, &diag), -ENOTSUP);
	assert_non_null(strstr(diag.msg, "libyaml is not built in"));
	make_release(m);
}
#endif

/* V2 objects with e_flags of 0 name their target in a note only. */
static void test_isa_note(void **state)
{
	static const uint32_t stepping[] = {3, 10};
	static const char *const targets[] = {"gfx803", "gfx80a"};

	for (size_t i = 0; i < 2; i++) {
		uint32_t isa[4] = {4 | 7 << 16, 8, 0, stepping[i]};
		struct make *m = make_new();
		struct rck_code_object *co;

		m->version = 2;
		make_note(m, "AMD", 3, isa, sizeof(isa));
		make_finish(m);
		((Elf64_Ehdr *)m->data)->e_flags = 0;
		assert_int_equal(
			rck_code_object_open_mem(m->data, m->size, &co, NULL), 0);
		assert_string_equal(rck_code_object_target(co), targets[i]);
		assert_true(make_noted(co, "e_flags name no processor"));
		rck_code_object_close(co);
		((Elf64_Ehdr *)m->data)->e_flags = 0x2c;
		assert_int_equal(
			rck_code_object_open_mem(m->data, m->size, &co, NULL), 0);
		assert_string_equal(rck_code_object_target(co), "gfx900");
		assert_true(make_noted(co, ", e_flags say gfx900"));
		rck_code_object_close(co);
		make_release(m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#ifdef HAVE_LIBYAML
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_absent_means_false),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_aliases),
#else
		cmocka_unit_test(test_without_libyaml),
#endif
		cmocka_unit_test(test_isa_note),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
