#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "lint/policy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int load(struct rck_policy *p, const char *text, struct rck_diag *diag)
{
	rck_policy_init(p, "2026-11-30");
	return rck_policy_load_mem(p, text, strlen(text), "/a/b/.rocmcheck.ini", diag);
}

static void test_whole(void **state)
{
	struct rck_policy p;
	struct rck_diag diag;

	assert_int_equal(load(&p,
				 "# a comment\n"
				 "[policy]\n"
				 "fail-on = error\n"
				 "maybe = fail\n"
				 "require-device-code = yes\n"
				 "max-findings = 10\n"
				 "baseline = known.json\n"
				 "[rules]\n"
				 "heap-declared = off\n"
				 "spills-over = error\n"
				 "[limits]\n"
				 "scratch = 1K\n"
				 "[limits gfx9*]\n"
				 "scratch = 64\n"
				 "[targets]\n"
				 "require = gfx90a, gfx1100\n"
				 "[allow printers]\n"
				 "rule = hostcall-declared heap-declared\n"
				 "kernel = ^debug_.*$\n"
				 "file = lib/*\n"
				 "target = gfx11*\n"
				 "reason = prints on purpose\n"
				 "expires = 2026-12-01\n"
				 "[allow \"old one\"]\n"
				 "file = *\n"
				 "reason = was so\n"
				 "expires = 2026-11-29\n",
				 &diag),
		0);
	assert_int_equal(p.fail_on, RCK_SEVERITY_ERROR);
	assert_true(p.maybe_fails);
	assert_true(p.require_device_code);
	assert_false(p.allow_incomplete);
	assert_int_equal(p.max_findings, 10);
	assert_string_equal(p.baseline, "/a/b/known.json");
	assert_int_equal(p.severity[RCK_RULE_HEAP_DECLARED], RCK_SEVERITY_OFF);
	assert_int_equal(p.severity[RCK_RULE_SPILLS_OVER], RCK_SEVERITY_ERROR);
	assert_int_equal(p.severity[RCK_RULE_DYNAMIC_STACK], RCK_SEVERITY_WARNING);
	assert_int_equal(*rck_policy_limit(&p, RCK_LIMIT_SCRATCH, "gfx1100"), 1024);
	assert_int_equal(*rck_policy_limit(&p, RCK_LIMIT_SCRATCH, "gfx90a:xnack-"), 64);
	assert_null(rck_policy_limit(&p, RCK_LIMIT_LDS, "gfx90a"));
	assert_int_equal(p.n_required, 2);
	assert_string_equal(p.required[1], "gfx1100");
	assert_int_equal(p.n_allows, 2);
	assert_string_equal(p.allows[0].name, "printers");
	assert_int_equal(p.allows[0].rules,
		1u << RCK_RULE_HOSTCALL_DECLARED | 1u << RCK_RULE_HEAP_DECLARED);
	assert_false(p.allows[0].expired);
	assert_string_equal(p.allows[1].name, "old one");
	assert_true(p.allows[1].expired);
	rck_policy_release(&p);
}

static const struct {
	const char *text, *message;
} mistakes[] = {
	{"[policy]\nfail-onn = error\n", "line 2: unknown key 'fail-onn' in [policy]"},
	{"[polcy]\n", "line 1: no section is called 'polcy'"},
	{"\n[rules]\n\nno-such = off\n", "line 4: no rule is called 'no-such'"},
	{"[rules]\nheap-declared = bad\n",
		"line 2: 'bad' is not one of off, note, warning, error"},
	{"[limits]\nscratch = -1\n", "line 2: '-1' is not a whole number"},
	{"[limits]\nscrach = 1\n", "line 2: no limit is called 'scrach'"},
	{"[policy]\nrequire-device-code = perhaps\n",
		"line 2: 'perhaps' is neither yes nor no"},
	{"[policy]\nmaybe = perhaps\n", "line 2: 'perhaps' is neither report nor fail"},
	{"[policy]\nfail-on = off\n", "line 2: 'off' is not one of note, warning, error"},
	{"fail-on = error\n", "line 1: 'fail-on' stands before any section"},
	{"[allow x]\nreason = because\n",
		"line 1: [allow x] selects nothing: it needs rule, kernel, file or "
		"target"},
	{"[allow x]\n\n[allow y]\nfile = *\nreason = r\n",
		"line 1: [allow x] selects nothing: it needs rule, kernel, file or "
		"target"},
	{"[allow x]\nfile = *\n", "line 1: [allow x] has no reason"},
	{"[allow x]\nfile = a\nfile = b\n", "line 3: 'file' stands twice in [allow x]"},
	{"[allow x]\nkernel = (\n", "line 2: '(' is no regular expression: "},
	{"[allow x]\nkernel =\n", "line 2: '' is no regular expression: it is empty"},
	{"[allow x]\nexpires = 2026-13-01\n",
		"line 2: '2026-13-01' is not a date (YYYY-MM-DD)"},
	{"[allow x]\nexpires = tomorrow\n",
		"line 2: 'tomorrow' is not a date (YYYY-MM-DD)"},
	{"[policy]\nnonsense\n", "line 2: neither a section, a key nor a comment"},
	{"[policy x]\n", "line 1: [policy] takes no name"},
	{"[allow x]\nrule = heap-declared nothing\n",
		"line 2: no rule is called 'nothing'"},
	{"[policy] fail-on = note\n", "line 1: something stands behind [policy]"},
	{"[policy]\rfail-on = note\r", "line 1: something stands behind [policy]"},
};

static void test_mistakes(void **state)
{
	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
		struct rck_policy p;
		struct rck_diag diag = {0};

		assert_int_equal(load(&p, mistakes[i].text, &diag), -EINVAL);
		if (strncmp(diag.msg, mistakes[i].message, strlen(mistakes[i].message)))
			fail_msg("'%s' instead of '%s'", diag.msg, mistakes[i].message);
		rck_policy_release(&p);
	}
}

/* A byte order mark, CRLF, comments behind sections. */
static void test_editors(void **state)
{
	struct rck_policy p;
	struct rck_diag diag;

	assert_int_equal(
		load(&p, "\xef\xbb\xbf[policy]\r\nfail-on = error\r\n", &diag), 0);
	assert_int_equal(p.fail_on, RCK_SEVERITY_ERROR);
	rck_policy_release(&p);
	assert_int_equal(
		load(&p, "[rules] ; ours\nheap-declared = off\n[limits]#\n", &diag), 0);
	assert_int_equal(p.severity[RCK_RULE_HEAP_DECLARED], RCK_SEVERITY_OFF);
	rck_policy_release(&p);
}

static void test_nul(void **state)
{
	static const char text[] = "[policy]\nfail\0on = error\n";
	struct rck_policy p;
	struct rck_diag diag;

	rck_policy_init(&p, "2026-11-30");
	assert_int_equal(
		rck_policy_load_mem(&p, text, sizeof(text) - 1, "p.ini", &diag), -EINVAL);
	assert_string_equal(diag.msg, "line 2: holds a NUL byte");
	rck_policy_release(&p);
}

static void test_long_line(void **state)
{
	struct rck_policy p;
	struct rck_diag diag;
	char text[2000];

	memset(text, 'x', sizeof(text));
	memcpy(text, "[allow x]\nreason = ", 19);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(load(&p, text, &diag), -EINVAL);
	assert_non_null(strstr(diag.msg, "line 2: more than"));
	rck_policy_release(&p);
}

static void test_command_line(void **state)
{
	struct rck_policy p;
	struct rck_diag diag;

	rck_policy_init(&p, "2026-11-30");
	assert_int_equal(rck_policy_set_severity(&p, "heap-declared=error", &diag), 0);
	assert_int_equal(p.severity[RCK_RULE_HEAP_DECLARED], RCK_SEVERITY_ERROR);
	assert_int_equal(rck_policy_set_severity(&p, "heap-declared", &diag), -EINVAL);
	assert_int_equal(rck_policy_set_severity(&p, "nix=error", &diag), -EINVAL);
	assert_int_equal(rck_policy_set_severity(&p, "heap-declared=x", &diag), -EINVAL);
	assert_int_equal(rck_policy_allow_kernel(&p, "^k$", &diag), 0);
	assert_int_equal(rck_policy_allow_kernel(&p, "(", &diag), -EINVAL);
	assert_int_equal(rck_policy_allow_kernel(&p, "", &diag), -EINVAL);
	rck_policy_release(&p);
}

static void test_find(void **state)
{
	char dir[] = "/tmp/rck-policy-XXXXXX", path[64], *found;
	FILE *f;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/a", dir);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_null(rck_policy_find(path));
	snprintf(path, sizeof(path), "%s/" RCK_POLICY_FILE, dir);
	f = fopen(path, "w");
	assert_non_null(f);
	fclose(f);
	snprintf(path, sizeof(path), "%s/a", dir);
	found = rck_policy_find(path);
	assert_non_null(found);
	assert_int_equal(strncmp(found, dir, strlen(dir)), 0);
	unlink(found);
	free(found);
	rmdir(path);
	rmdir(dir);
}

static void test_targets(void **state)
{
	assert_true(rck_target_matches("gfx90a", "gfx90a:xnack-"));
	assert_true(rck_target_matches("gfx90a:xnack-", "gfx90a:xnack-"));
	assert_false(rck_target_matches("gfx90a:xnack+", "gfx90a:xnack-"));
	assert_true(rck_target_matches("gfx9*", "gfx90a:xnack-"));
	assert_false(rck_target_matches("gfx9", "gfx90a"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_editors),
		cmocka_unit_test(test_nul),
		cmocka_unit_test(test_long_line),
		cmocka_unit_test(test_command_line),
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_targets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
