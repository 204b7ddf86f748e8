/* rocmcheck lint: inputs -> scan -> rules -> one report. */
#include "cmd/commands.h"
#include "cmd/gate.h"
#include "cmd/lint-scan.h"
#include "util/msg.h"
#include "util/table.h"
#include "util/term.h"

#include <stdio.h>

static struct rck_inputs_spec inputs;
static struct rck_scan_spec scan;
static struct rck_gate gate = RCK_GATE_INIT;
static const char *explain;
static bool list_rules;

static const struct rck_opt opts[] = {
	RCK_GATE_OPTIONS(gate),
	{RCK_OPT_FLAG, 0, "require-device-code", &gate.require_device_code, NULL,
		"a file without device code is an error"},
	{RCK_OPT_FLAG, 0, "allow-incomplete", &gate.allow_incomplete, NULL,
		"device code whose metadata cannot be read is no reason for exit 2"},
	{RCK_OPT_LIST, 0, "allow-kernel", &gate.allow_kernel, "REGEX",
		"accept findings of kernels whose name matches"},
	{RCK_OPT_FLAG, 0, "no-disassembly", &gate.no_disassembly, NULL,
		"judge by metadata alone: no call paths"},
	{RCK_OPT_FLAG, 0, "mangled", &gate.mangled, NULL,
		"names as they are in the file"},
	{RCK_OPT_FLAG, 0, "list-rules", &list_rules, NULL, "print the rules and exit"},
	{RCK_OPT_STRING, 0, "explain", &explain, "RULE",
		"say what a rule means, why it matters and what to do"},
	RCK_INPUTS_OPTIONS(inputs),
	RCK_SCAN_OPTIONS(scan),
	{RCK_OPT_END},
};

/* ---- the rules themselves */

static int print_rules(void)
{
	static const struct rck_column columns[] = {{"RULE"}, {"SEVERITY"}, {"SUMMARY"}};
	_cleanup_strbuf_ struct rck_strbuf out = RCK_STRBUF_INIT;
	struct rck_table *t = rck_table_new(columns, 3);

	for (size_t i = 0; i < RCK_RULE_COUNT_; i++) {
		rck_table_cell(t, rck_rules[i].id);
		rck_table_cell(t, rck_severity_name(rck_rules[i].severity));
		rck_table_cell(t, rck_rules[i].summary);
	}
	rck_table_print(t, &out, rck_term_width(), 0);
	rck_table_free(t);
	fwrite(out.buf, 1, out.len, stdout);
	return RCK_EXIT_CLEAN;
}

static int print_rule(const char *id)
{
	const struct rck_rule *r = rck_rule_find(id);
	_cleanup_strbuf_ struct rck_strbuf out = RCK_STRBUF_INIT;

	if (!r)
		return rck_gate_no_rule(id);
	rck_strbuf_addf(&out, "%s (%s): %s\n\n", r->id, rck_severity_name(r->severity),
		r->summary);
	rck_term_wrap(&out, r->why, 0, 0, rck_term_width());
	rck_strbuf_addf(&out, "\n%s\n\nWhat to do: ", r->reference);
	rck_term_wrap(&out, r->remedy, 12, 0, rck_term_width());
	if (r->limit >= 0)
		rck_strbuf_addf(&out, "\nIts limit is '%s' in the policy's [limits].\n",
			rck_limit_name((enum rck_limit)r->limit));
	fwrite(out.buf, 1, out.len, stdout);
	return RCK_EXIT_CLEAN;
}

static int fill(struct rck_lint *l, void *user)
{
	return rck_lint_scan(l, &inputs, &scan);
}

static int run(int n, char **operands)
{
	if (list_rules)
		return print_rules();
	if (explain)
		return print_rule(explain);
	inputs.n = n;
	inputs.operands = operands;
	return rck_gate_run(&gate, fill, NULL);
}

const struct rck_cmd rck_cmd_lint = {
	.name = "lint",
	.summary = "findings by rule, for CI",
	.operands = "PATH...",
	.opts = opts,
	.run = run,
	.details =
		"Exit status: 0 nothing found, 1 findings of the severity --fail-on and "
		"above,\n2 something could not be read or is incomplete, 3 usage or "
		"policy.\n'--list-rules' prints the rules, '--explain RULE' tells more "
		"of "
		"one.",
};
