/* Each rule has a case that fires and one that does not, and a test holds the table of
 * cases against the table of rules. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "lint/check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A kernel of a V6 object in which all is well. */
static struct rck_code_object object;
static struct rck_kernel kernel;
static struct rck_reach reach;

static void reset(void)
{
	object = (struct rck_code_object){
		.version = 6,
		.target = "gfx90a",
		.processor = "gfx90a",
		.md_target = "amdgcn-amd-amdhsa--gfx90a",
		.md_version = {1, 2},
		.n_metadata_notes = 1,
		.kernels = &kernel,
		.n_kernels = 1,
	};
	kernel = (struct rck_kernel){
		.object = &object,
		.name = "_Z1kv",
		.symbol = "_Z1kv.kd",
		.demangled = "k()",
		.stated = ~0u,
		.sgpr_count = 20,
		.vgpr_count = 30,
		.scratch = 64,
		.lds = 1024,
		.kernarg_size = 8,
		.wavefront_size = 64,
		.max_workgroup = 256,
		.kd = {.found = true,
			.group_segment_fixed_size = 1024,
			.private_segment_fixed_size = 64,
			.kernarg_size = 8},
	};
	reach = (struct rck_reach){0};
}

static const uint64_t limit = 100;

static void declare_hostcall(void)
{
	kernel.declares_hostcall = true;
	kernel.cause = RCK_CAUSE_READS_SLOT;
}

static void reach_hostcall(void)
{
	declare_hostcall();
	reach.hostcall.state = RCK_REACH_YES;
}

static void reach_nothing(void)
{
	declare_hostcall();
	kernel.declares_heap = true;
	kernel.cause = RCK_CAUSE_O0;
	reach.hostcall.state = RCK_REACH_NO;
	reach.heap.state = RCK_REACH_NO;
}

static void declare_all(void)
{
	reach_nothing();
	reach = (struct rck_reach){0};
	kernel.confidence = RCK_CONFIDENCE_HIGH;
}

static void guess_o0(void)
{
	declare_all();
	kernel.confidence = RCK_CONFIDENCE_LOW;
}

static void dynamic_stack(void)
{
	kernel.dynamic_stack = RCK_YES;
	kernel.md_dynamic_stack = kernel.kd.uses_dynamic_stack = true;
}

static void dynamic_stack_covered(void)
{
	dynamic_stack();
	kernel.scratch = kernel.kd.private_segment_fixed_size = 16384;
}

static void dynamic_stack_v4(void)
{
	dynamic_stack();
	object.version = 4;
}

static void dynamic_stack_possible(void)
{
	kernel.dynamic_stack = RCK_POSSIBLE;
}

static void sanitizer(void)
{
	object.sanitizer = true;
}

static void mismatch(void)
{
	kernel.lds = 2048;
}

static void no_descriptor(void)
{
	kernel.kd.found = false;
}

static void other_version(void)
{
	object.md_version[1] = 0;
}

static void newer_version(void)
{
	object.osabi = 64;
	object.abiversion = 5;
	object.version = 0;
}

static void other_system(void)
{
	newer_version();
	object.osabi = 65;
}

static void other_target(void)
{
	object.md_target = "amdgcn-amd-amdhsa--gfx942";
}

static void no_metadata(void)
{
	object.n_metadata_notes = 0;
}

static void big(void)
{
	kernel.scratch = kernel.lds = kernel.vgpr_count = kernel.vgpr_spills = 101;
}

static void small(void)
{
	kernel.scratch = kernel.lds = kernel.vgpr_count = kernel.vgpr_spills = 100;
}

static void unstated(void)
{
	kernel.stated = 0;
	kernel.kd.found = false;
}

enum { PASS = RCK_STATE_PASS, FAIL, MAYBE, NOT_CHECKABLE };

static const struct {
	enum rck_rule_id rule;
	void (*make)(void); /* NULL: all is well */
	int state;
} cases[] = {
	{RCK_RULE_HOSTCALL_DECLARED, NULL, PASS},
	{RCK_RULE_HOSTCALL_DECLARED, declare_hostcall, FAIL},
	{RCK_RULE_HOSTCALL_DECLARED, reach_hostcall, FAIL},
	{RCK_RULE_HOSTCALL_DECLARED, reach_nothing, PASS},
	{RCK_RULE_HOSTCALL_UNREACHED, NULL, PASS},
	{RCK_RULE_HOSTCALL_UNREACHED, reach_nothing, FAIL},
	{RCK_RULE_HOSTCALL_UNREACHED, reach_hostcall, PASS},
	{RCK_RULE_HOSTCALL_UNREACHED, declare_hostcall, NOT_CHECKABLE},
	{RCK_RULE_HOSTCALL_UNREACHED, declare_all, MAYBE},
	{RCK_RULE_HEAP_DECLARED, NULL, PASS},
	{RCK_RULE_HEAP_DECLARED, declare_all, FAIL},
	{RCK_RULE_HEAP_DECLARED, reach_nothing, FAIL},
	{RCK_RULE_DYNAMIC_STACK, NULL, PASS},
	{RCK_RULE_DYNAMIC_STACK, dynamic_stack, FAIL},
	{RCK_RULE_DYNAMIC_STACK, dynamic_stack_possible, MAYBE},
	{RCK_RULE_DYNAMIC_STACK_SMALL_SCRATCH, NULL, PASS},
	{RCK_RULE_DYNAMIC_STACK_SMALL_SCRATCH, dynamic_stack, FAIL},
	{RCK_RULE_DYNAMIC_STACK_SMALL_SCRATCH, dynamic_stack_covered, PASS},
	{RCK_RULE_DYNAMIC_STACK_SMALL_SCRATCH, dynamic_stack_v4, PASS},
	{RCK_RULE_BUILT_WITHOUT_OPTIMIZATION, NULL, PASS},
	{RCK_RULE_BUILT_WITHOUT_OPTIMIZATION, declare_all, FAIL},
	{RCK_RULE_BUILT_WITHOUT_OPTIMIZATION, guess_o0, MAYBE},
	{RCK_RULE_BUILT_WITHOUT_OPTIMIZATION, declare_hostcall, PASS},
	{RCK_RULE_SANITIZER_BUILD, NULL, PASS},
	{RCK_RULE_SANITIZER_BUILD, sanitizer, FAIL},
	{RCK_RULE_METADATA_DESCRIPTOR_MISMATCH, NULL, PASS},
	{RCK_RULE_METADATA_DESCRIPTOR_MISMATCH, mismatch, FAIL},
	{RCK_RULE_METADATA_DESCRIPTOR_MISMATCH, no_descriptor, MAYBE},
	{RCK_RULE_VERSION_MISMATCH, NULL, PASS},
	{RCK_RULE_VERSION_MISMATCH, other_version, FAIL},
	{RCK_RULE_VERSION_MISMATCH, other_target, FAIL},
	{RCK_RULE_VERSION_MISMATCH, no_metadata, NOT_CHECKABLE},
	{RCK_RULE_VERSION_MISMATCH, newer_version, MAYBE},
	{RCK_RULE_VERSION_MISMATCH, other_system, NOT_CHECKABLE},
	{RCK_RULE_SCRATCH_OVER, small, PASS},
	{RCK_RULE_SCRATCH_OVER, big, FAIL},
	{RCK_RULE_SCRATCH_OVER, unstated, NOT_CHECKABLE},
	{RCK_RULE_SPILLS_OVER, small, PASS},
	{RCK_RULE_SPILLS_OVER, big, FAIL},
	{RCK_RULE_SPILLS_OVER, unstated, NOT_CHECKABLE},
	{RCK_RULE_VGPR_OVER, small, PASS},
	{RCK_RULE_VGPR_OVER, big, FAIL},
	{RCK_RULE_VGPR_OVER, unstated, NOT_CHECKABLE},
	{RCK_RULE_LDS_OVER, small, PASS},
	{RCK_RULE_LDS_OVER, big, FAIL},
	{RCK_RULE_LDS_OVER, unstated, NOT_CHECKABLE},
};

static void test_cases(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct rck_rule *rule = &rck_rules[cases[i].rule];
		struct rck_verdict v = {.text = RCK_STRBUF_INIT};
		struct rck_subject s = {.co = &object,
			.kernel = rule->scope == RCK_SCOPE_KERNEL ? &kernel : NULL,
			.reach = &reach,
			.limit = rule->limit >= 0 ? &limit : NULL};
		int got;

		reset();
		if (cases[i].make)
			cases[i].make();
		got = rule->check(&s, &v);
		if (got != cases[i].state)
			fail_msg("case %zu, %s: state %d instead of %d (%s)", i, rule->id,
				got, cases[i].state, v.text.buf);
		/* a finding says something, and nothing else does */
		assert_int_equal(v.text.len > 0, got == FAIL || got == MAYBE);
		rck_strbuf_release(&v.text);
	}
}

static void test_every_rule_has_both(void **state)
{
	for (size_t r = 0; r < RCK_RULE_COUNT_; r++) {
		bool fires = false, quiet = false;

		if (!rck_rules[r].check) /* of files: tested with the run */
			continue;
		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			fires |= cases[i].rule == r && cases[i].state == FAIL;
			quiet |= cases[i].rule == r && cases[i].state == PASS;
		}
		if (!fires || !quiet)
			fail_msg("%s lacks a case", rck_rules[r].id);
	}
}

static void test_table(void **state)
{
	for (size_t r = 0; r < RCK_RULE_COUNT_; r++) {
		const struct rck_rule *rule = &rck_rules[r];

		assert_int_equal(rule->number, r);
		assert_ptr_equal(rck_rule_find(rule->id), rule);
		assert_true(strlen(rule->why) > 40 && strlen(rule->remedy) > 20);
		assert_int_equal(strncmp(rule->reference, "https://", 8), 0);
		assert_true(rule->severity > RCK_SEVERITY_OFF);
		assert_int_equal(!rule->check,
			rule->scope == RCK_SCOPE_FILE || rule->scope == RCK_SCOPE_SOURCE);
	}
	assert_null(rck_rule_find("no-such-rule"));
}

static void test_no_limit_is_not_checkable(void **state)
{
	struct rck_verdict v = {.text = RCK_STRBUF_INIT};
	struct rck_subject s = {.co = &object, .kernel = &kernel};

	reset();
	big();
	assert_int_equal(
		rck_rules[RCK_RULE_VGPR_OVER].check(&s, &v), RCK_STATE_NOT_CHECKABLE);
}

/* ---- the run: rules of files, allow-lists, baseline */

static struct rck_policy policy;
static struct rck_lint lint;

static void start(const char *text, struct rck_baseline *baseline)
{
	struct rck_diag diag;

	rck_policy_init(&policy, "2026-11-30");
	if (rck_policy_load_mem(&policy, text, strlen(text), "p.ini", &diag))
		fail_msg("%s", diag.msg);
	rck_lint_init(&lint, &(struct rck_lint_options){.policy = &policy,
				     .baseline = baseline,
				     .cwd = "/build",
				     .root = "/build",
				     .no_reach = true});
}

static void stop(void)
{
	rck_lint_release(&lint);
	rck_policy_release(&policy);
}

static void take(void)
{
	rck_lint_take(&lint, rck_lint_check(&lint, NULL, &object));
}

static size_t count(enum rck_rule_id rule, enum rck_status status)
{
	size_t n = 0;

	for (size_t i = 0; i < lint.n_findings; i++)
		n += lint.findings[i].rule->number == rule &&
		     lint.findings[i].status == status;
	return n;
}

static void test_files(void **state)
{
	struct rck_diag d = {.msg = "LLVM bitcode"};

	start("[targets]\nrequire = gfx90a gfx1100\n", NULL);
	rck_lint_begin(&lint, "a.so", true);
	reset();
	take();
	rck_lint_end(&lint);
	assert_int_equal(count(RCK_RULE_TARGET_MISSING, RCK_STATUS_NEW), 1);
	assert_int_equal(lint.states[RCK_RULE_TARGET_MISSING][RCK_STATE_PASS], 1);
	rck_lint_begin(&lint, "b.so", true);
	rck_lint_end(&lint);
	assert_int_equal(count(RCK_RULE_NO_DEVICE_CODE, RCK_STATUS_NEW), 1);
	rck_lint_begin(&lint, "found.txt", false);
	rck_lint_end(&lint);
	assert_int_equal(count(RCK_RULE_NO_DEVICE_CODE, RCK_STATUS_NEW), 1);
	assert_int_equal(rck_lint_verdict(&lint), 1);
	rck_lint_begin(&lint, "c.o", true);
	rck_lint_incomplete(&lint, "", &d, NULL);
	rck_lint_end(&lint);
	assert_int_equal(count(RCK_RULE_INCOMPLETE, RCK_STATUS_NEW), 1);
	assert_int_equal(rck_lint_verdict(&lint), 2);
	stop();
}

static void test_incomplete_allowed(void **state)
{
	struct rck_diag d = {.msg = "LLVM bitcode"};

	start("[allow rdc]\nrule = incomplete\nfile = *.o\nreason = checked when "
	      "linked\n",
		NULL);
	rck_lint_begin(&lint, "./c.o", true);
	rck_lint_incomplete(&lint, "", &d, NULL);
	rck_lint_end(&lint);
	assert_int_equal(count(RCK_RULE_INCOMPLETE, RCK_STATUS_ALLOWED), 1);
	assert_int_equal(rck_lint_verdict(&lint), 0);
	stop();
}

static void test_require_device_code(void **state)
{
	start("[policy]\nrequire-device-code = yes\n", NULL);
	rck_lint_begin(&lint, "found.txt", false);
	rck_lint_end(&lint);
	rck_lint_finish(&lint);
	assert_int_equal(count(RCK_RULE_NO_DEVICE_CODE, RCK_STATUS_NEW), 1);
	assert_int_equal(rck_lint_verdict(&lint), 1);
	stop();
}

/* s_getpc_b64 s[4:5]; s_add_u32 s4, s4, LITERAL; s_endpgm (gfx9) */
static uint8_t code[2][16] = {
	{0x00, 0x1c, 0x84, 0xbe, 0x04, 0xff, 0x04, 0x80, 1, 2, 3, 4, 0, 0, 0x81, 0xbf},
	{0x00, 0x1c, 0x84, 0xbe, 0x04, 0xff, 0x04, 0x80, 9, 9, 9, 9, 0, 0, 0x81, 0xbf},
};

static void place(size_t i)
{
	reset();
	object.slice = (struct rck_slice){code[i], sizeof(code[i]), RCK_OFFSET_NONE};
	kernel.kd.entry = 0;
	kernel.kd.code_size = sizeof(code[i]);
}

static void test_duplicates(void **state)
{
	start("", NULL);
	rck_lint_begin(&lint, "a.so", true);
	place(0);
	take();
	place(1); /* moved by the linker */
	take();
	assert_int_equal(count(RCK_RULE_DUPLICATE_KERNEL_DIFFERS, RCK_STATUS_NEW), 0);
	code[1][15] = 0xbe; /* another instruction */
	take();
	assert_int_equal(count(RCK_RULE_DUPLICATE_KERNEL_DIFFERS, RCK_STATUS_NEW), 1);
	assert_int_equal(lint.findings[lint.n_findings - 1].state, RCK_STATE_MAYBE);
	kernel.vgpr_count++; /* other flags, or another source */
	take();
	assert_int_equal(count(RCK_RULE_DUPLICATE_KERNEL_DIFFERS, RCK_STATUS_NEW), 2);
	assert_int_equal(lint.findings[lint.n_findings - 1].state, RCK_STATE_FAIL);
	kernel.name = "_ZN1aL1kEv"; /* internal linkage: two kernels */
	take();
	place(0);
	kernel.name = "_ZN1aL1kEv";
	take();
	assert_int_equal(count(RCK_RULE_DUPLICATE_KERNEL_DIFFERS, RCK_STATUS_NEW), 2);
	rck_lint_end(&lint);
	rck_lint_begin(&lint, "b.so", true); /* another file starts anew */
	place(0);
	take();
	assert_int_equal(count(RCK_RULE_DUPLICATE_KERNEL_DIFFERS, RCK_STATUS_NEW), 2);
	rck_lint_end(&lint);
	stop();
	code[1][15] = 0xbf;
}

/* Each of what is compared is enough to make two bodies of one kernel. */
static void test_what_differs(void **state)
{
	static uint64_t *const numbers[] = {&kernel.vgpr_count, &kernel.agpr_count,
		&kernel.sgpr_count, &kernel.sgpr_spills, &kernel.vgpr_spills,
		&kernel.scratch, &kernel.lds};
	const size_t n = sizeof(numbers) / sizeof(*numbers);

	for (size_t i = 0; i <= n; i++) {
		start("", NULL);
		rck_lint_begin(&lint, "a.so", true);
		place(0);
		take();
		assert_int_equal(lint.n_findings, 0);
		if (i < n)
			++*numbers[i];
		else
			kernel.declares_heap = !kernel.declares_heap;
		take();
		if (count(RCK_RULE_DUPLICATE_KERNEL_DIFFERS, RCK_STATUS_NEW) != 1 ||
			lint.findings[lint.n_findings - 1].state != RCK_STATE_FAIL)
			fail_msg("case %zu", i);
		rck_lint_end(&lint);
		stop();
	}
}

static void test_internal_names(void **state)
{
	static const struct {
		const char *name;
		bool internal;
	} names[] = {
		{"_ZN12_GLOBAL__N_11kEv", true}, /* (anonymous namespace)::k() */
		{"_ZL1kv", true},
		{"_ZN1aL1kEv", true},
		{"_Z1kv", false},
		{"_ZN1a1kEv", false},
		{"_ZN1a1LEv", false}, /* a name of its own: a::L() */
		{"Lk", false},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		start("", NULL);
		rck_lint_begin(&lint, "a.so", true);
		place(0);
		kernel.name = names[i].name;
		take();
		kernel.vgpr_count++;
		take();
		if (!count(RCK_RULE_DUPLICATE_KERNEL_DIFFERS, RCK_STATUS_NEW) !=
			names[i].internal)
			fail_msg("%s", names[i].name);
		rck_lint_end(&lint);
		stop();
	}
}

/* What linking moves is a literal that s_add_u32 or s_addc_u32 adds, and nothing else. */
static void test_bodies(void **state)
{
	static const struct {
		uint32_t word;
		bool literal; /* the next dword is one that may differ */
	} adds[] = {
		{0x8004ff04, true},  /* s_add_u32 s4, s4, LITERAL */
		{0x800404ff, true},  /* s_add_u32 s4, LITERAL, s4 */
		{0x8205ff05, true},  /* s_addc_u32 s5, s5, LITERAL */
		{0x8004040c, false}, /* s_add_u32 s4, s12, s4 */
		{0x8084ff04, false}, /* s_sub_u32 s4, s4, LITERAL */
		{0x8604ff04, false}, /* s_and_b32 s4, s4, LITERAL */
		{0xbe8400ff, false}, /* s_mov_b32 s4, LITERAL */
	};

	for (size_t i = 0; i < sizeof(adds) / sizeof(*adds); i++) {
		uint32_t a[] = {adds[i].word, 1, 0xbf810000};
		uint32_t b[] = {adds[i].word, 2, 0xbf810000};
		uint64_t ha = rck_lint_body((uint8_t *)a, sizeof(a));
		uint64_t hb = rck_lint_body((uint8_t *)b, sizeof(b));

		if ((ha == hb) != adds[i].literal)
			fail_msg("0x%08x", adds[i].word);
		/* behind it everything counts again, and so does the length */
		b[1] = a[1];
		b[2]++;
		assert_true(ha != rck_lint_body((uint8_t *)b, sizeof(b)));
		assert_true(ha != rck_lint_body((uint8_t *)a, sizeof(a) - 4));
	}
}

static void test_allow(void **state)
{
	static const struct {
		const char *entry;
		bool allowed;
	} entries[] = {
		{"rule = hostcall-declared", true},
		{"rule = heap-declared", false},
		{"kernel = ^_Z1kv$", true},
		{"kernel = ^k\\(\\)$", true},
		{"kernel = other", false},
		{"file = lib/*.so", true},
		{"file = bin/*", false},
		{"target = gfx9*", true},
		{"target = gfx11*", false},
		{"file = *\nexpires = 2026-11-29", false},
		{"file = *\nexpires = 2026-11-30", true},
	};

	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		char text[256];

		snprintf(text, sizeof(text), "[allow x]\n%s\nreason = r\n",
			entries[i].entry);
		start(text, NULL);
		rck_lint_begin(&lint, "/build/lib/a.so", true);
		reset();
		declare_hostcall();
		take();
		rck_lint_end(&lint);
		if (count(RCK_RULE_HOSTCALL_DECLARED, RCK_STATUS_ALLOWED) !=
				entries[i].allowed ||
			policy.allows[0].hits != entries[i].allowed)
			fail_msg("%s", entries[i].entry);
		assert_int_equal(rck_lint_verdict(&lint), !entries[i].allowed);
		stop();
	}
}

static void test_baseline(void **state)
{
	static const char known[] =
		"{\"schema\": 1, \"findings\": [{\"rule\": \"hostcall-declared\", "
		"\"path\": \"lib/a.so\", \"target\": \"gfx90a\", \"kernel\": \"_Z1kv\", "
		"\"count\": 2}, {\"rule\": \"heap-declared\", \"path\": \"lib/a.so\", "
		"\"target\": \"gfx90a\", \"kernel\": \"_Z1kv\", \"count\": 1}, "
		"{\"rule\": \"heap-declared\", \"path\": \"elsewhere\", \"target\": "
		"\"gfx90a\", \"kernel\": \"_Z1kv\", \"count\": 1}]}";
	struct rck_baseline b;
	struct rck_diag diag;

	assert_int_equal(rck_baseline_load_mem(known, strlen(known), &b, &diag), 0);
	start("", &b);
	rck_lint_begin(&lint, "lib/a.so", true);
	reset();
	declare_hostcall();
	for (int i = 0; i < 3; i++)
		take();
	rck_lint_end(&lint);
	assert_int_equal(count(RCK_RULE_HOSTCALL_DECLARED, RCK_STATUS_BASELINED), 2);
	assert_int_equal(count(RCK_RULE_HOSTCALL_DECLARED, RCK_STATUS_NEW), 1);
	assert_int_equal(rck_lint_verdict(&lint), 1);
	/* stale: of this run's files, and found less often */
	for (size_t i = 0; i < b.n; i++)
		assert_int_equal(rck_baseline_is_stale(&lint, &b.entries[i]),
			!strcmp(b.entries[i].key.path, "lib/a.so") &&
				!strcmp(b.entries[i].key.rule, "heap-declared"));
	stop();
	rck_baseline_release(&b);
}

static void test_levels(void **state)
{
	start("[policy]\nfail-on = error\n", NULL);
	rck_lint_begin(&lint, "a.so", true);
	reset();
	dynamic_stack_possible(); /* a maybe */
	take();
	declare_hostcall(); /* a warning */
	take();
	rck_lint_end(&lint);
	assert_int_equal(rck_lint_verdict(&lint), 0);
	policy.fail_on = RCK_SEVERITY_WARNING;
	assert_int_equal(rck_lint_verdict(&lint), 1);
	stop();
	start("[policy]\nmaybe = fail\n", NULL);
	rck_lint_begin(&lint, "a.so", true);
	reset();
	dynamic_stack_possible();
	take();
	rck_lint_end(&lint);
	assert_int_equal(rck_lint_verdict(&lint), 1);
	stop();
}

static void test_relative(void **state)
{
	static const struct {
		const char *root, *path, *result;
	} paths[] = {
		{"/build", "a/b", "a/b"},
		{"/build", "./a/b", "a/b"},
		{"/build", "/build/a/b", "a/b"},
		{"/build", "/other/b", "/other/b"},
		{"/build", "/buildshop/b", "/buildshop/b"},
		{"/build/a", "a/b", "b"},
		{"/elsewhere", "a/b", "a/b"},
		{"/", "/a/b", "a/b"},
		{"/", "a/b", "build/a/b"},
		{"/build/", "/build/a/b", "a/b"},
		{"/build", "a/../a//./b", "a/b"},
		{"/build", "../build/a/b", "a/b"},
		{"/build", "../other/b", "../other/b"},
		{"/build", "/../build/./b", "b"},
		{"/build/a", "..", ".."},
		{"/build", "..a/b.", "..a/b."},
		{"/build", "-", "-"},
	};

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		char *r = rck_lint_relative(paths[i].root, "/build", paths[i].path);

		assert_string_equal(r, paths[i].result);
		free(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_every_rule_has_both),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_no_limit_is_not_checkable),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_incomplete_allowed),
		cmocka_unit_test(test_require_device_code),
		cmocka_unit_test(test_duplicates),
		cmocka_unit_test(test_what_differs),
		cmocka_unit_test(test_internal_names),
		cmocka_unit_test(test_bodies),
		cmocka_unit_test(test_allow),
		cmocka_unit_test(test_baseline),
		cmocka_unit_test(test_levels),
		cmocka_unit_test(test_relative),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
