/* rocmcheck lint: inputs -> scan -> rules -> one report. */
#include "cmd/commands.h"
#include "cmd/scan.h"
#include "report/findings.h"
#include "util/cleanup.h"
#include "util/msg.h"
#include "util/table.h"
#include "util/term.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

enum format {
	FORMAT_TEXT,
	FORMAT_JSON,
	FORMAT_JSONL,
};

static struct rck_inputs_spec inputs;
static struct rck_scan_spec scan;
static int format, color, fail_on = -1;
static const char *config, *baseline, *write_baseline, *output, *root, *explain, *title;
static bool no_config, exit_zero, require_device_code, allow_incomplete, list_rules;
static bool mangled, strict, show_all, no_disassembly;
static unsigned long long max_findings;
static struct rck_opt_list enable, disable, severity, allow_kernel;

static const struct rck_opt opts[] = {
	{RCK_OPT_CHOICE, 'f', "format", &format, "text|json|jsonl",
		"what to write (default text)"},
	{RCK_OPT_STRING, 'o', "output", &output, "FILE", "write to FILE, not to stdout"},
	{RCK_OPT_STRING, 'c', "config", &config, "FILE",
		"the policy (default: .rocmcheck.ini here or in a folder above)"},
	{RCK_OPT_FLAG, 0, "no-config", &no_config, NULL, "look for no policy file"},
	{RCK_OPT_STRING, 'b', "baseline", &baseline, "FILE",
		"accept the findings that FILE lists"},
	{RCK_OPT_STRING, 0, "write-baseline", &write_baseline, "FILE",
		"write the findings to FILE as a baseline and exit 0"},
	{RCK_OPT_CHOICE, 0, "fail-on", &fail_on, "note|warning|error",
		"the least severity that makes the exit status 1 (default warning)"},
	{RCK_OPT_FLAG, 0, "strict", &strict, NULL,
		"a rule that answers maybe fails as well"},
	{RCK_OPT_FLAG, 0, "exit-zero", &exit_zero, NULL, "exit 0 where it would be 1"},
	{RCK_OPT_FLAG, 0, "require-device-code", &require_device_code, NULL,
		"a file without device code is an error"},
	{RCK_OPT_FLAG, 0, "allow-incomplete", &allow_incomplete, NULL,
		"device code whose metadata cannot be read is no reason for exit 2"},
	{RCK_OPT_UINT, 0, "max-findings", &max_findings, "N",
		"tell at most N findings (text, github); all count"},
	{RCK_OPT_LIST, 0, "enable", &enable, "RULE", "switch a rule on"},
	{RCK_OPT_LIST, 0, "disable", &disable, "RULE", "switch a rule off"},
	{RCK_OPT_LIST, 0, "severity", &severity, "RULE=LEVEL",
		"off, note, warning or error"},
	{RCK_OPT_LIST, 0, "allow-kernel", &allow_kernel, "REGEX",
		"accept findings of kernels whose name matches"},
	{RCK_OPT_FLAG, 'a', "all", &show_all, NULL,
		"tell allowed and baselined findings, too"},
	{RCK_OPT_FLAG, 0, "no-disassembly", &no_disassembly, NULL,
		"judge by metadata alone: no call paths"},
	{RCK_OPT_FLAG, 0, "mangled", &mangled, NULL, "names as they are in the file"},
	{RCK_OPT_STRING, 0, "root", &root, "DIR",
		"paths in reports and baselines are relative to DIR (default: here)"},
	{RCK_OPT_STRING, 0, "title", &title, "TEXT", "the title of an html report"},
	{RCK_OPT_CHOICE, 0, "color", &color, "auto|always|never", "colour text"},
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

	if (!r) {
		rck_error("no rule is called '%s'", id);
		return RCK_EXIT_USAGE;
	}
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

/* ---- policy and baseline */

static int load_policy(struct rck_policy *p, const char *cwd)
{
	_cleanup_free_ char *found = NULL;
	struct rck_diag diag;

	if (!config && !no_config)
		found = rck_policy_find(cwd);
	if (!config && !found)
		return 0;
	if (rck_policy_load(p, config ? config : found, &diag)) {
		rck_error_diag(config ? config : found, &diag);
		return RCK_EXIT_USAGE;
	}
	return 0;
}

static int switch_rules(struct rck_policy *p, const struct rck_opt_list *list, bool on)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct rck_rule *r = rck_rule_find(list->items[i]);

		if (!r) {
			rck_error("no rule is called '%s'", list->items[i]);
			return RCK_EXIT_USAGE;
		}
		p->severity[r->number] = on ? r->severity : RCK_SEVERITY_OFF;
	}
	return 0;
}

/* The command line on top of the file. */
static int override_policy(struct rck_policy *p)
{
	struct rck_diag diag;
	size_t i;

	if (switch_rules(p, &enable, true) || switch_rules(p, &disable, false))
		return RCK_EXIT_USAGE;
	for (i = 0; i < severity.n; i++) {
		if (rck_policy_set_severity(p, severity.items[i], &diag)) {
			rck_error("option '--severity': %s", diag.msg);
			return RCK_EXIT_USAGE;
		}
	}
	for (i = 0; i < allow_kernel.n; i++) {
		if (rck_policy_allow_kernel(p, allow_kernel.items[i], &diag)) {
			rck_error("option '--allow-kernel': %s", diag.msg);
			return RCK_EXIT_USAGE;
		}
	}
	if (fail_on >= 0)
		p->fail_on = (enum rck_severity)(RCK_SEVERITY_NOTE + fail_on);
	p->maybe_fails |= strict;
	p->require_device_code |= require_device_code;
	p->allow_incomplete |= allow_incomplete;
	p->max_findings = max_findings ? max_findings : p->max_findings;
	return 0;
}

static int write_all(const char *path, const struct rck_strbuf *text)
{
	_cleanup_fclose_ FILE *f = fopen(path, "we");

	if (f && fwrite(text->buf, 1, text->len, f) == text->len && !fflush(f))
		return 0;
	rck_error("cannot write '%s': %s", path, strerror(errno));
	return RCK_EXIT_TROUBLE;
}

static int save_baseline(const struct rck_lint *l)
{
	_cleanup_strbuf_ struct rck_strbuf out = RCK_STRBUF_INIT;
	struct rck_baseline_key *keys = rck_xcalloc(l->n_findings + 1, sizeof(*keys));
	size_t n = 0;
	int status;

	for (size_t i = 0; i < l->n_findings; i++)
		if (l->findings[i].status != RCK_STATUS_ALLOWED &&
			l->findings[i].rule->number != RCK_RULE_INCOMPLETE)
			keys[n++] = rck_finding_key(l, &l->findings[i]);
	rck_baseline_write(keys, n, &out);
	free(keys);
	status = write_all(write_baseline, &out);
	if (!status)
		rck_notice("wrote %zu findings to '%s'", n, write_baseline);
	return status;
}

/* ---- the scan */

static void prepare(void *user, struct rck_scan_leaf *leaf)
{
	if (leaf->co)
		leaf->result = rck_lint_check(user, leaf->item, leaf->co);
}

static void begin(void *user, struct rck_scan_file *file)
{
	rck_lint_begin(user, file->path, file->named);
}

static bool emit(void *user, struct rck_scan_leaf *leaf)
{
	switch (leaf->kind) {
	case RCK_ITEM_CODE_OBJECT:
		rck_lint_take(user, leaf->result);
		leaf->result = NULL;
		break;
	case RCK_ITEM_INCOMPLETE:
		rck_lint_incomplete(user, leaf->where, &leaf->diag);
		break;
	case RCK_ITEM_ERROR:
		rck_lint_error(user, leaf->where, &leaf->diag);
		rck_error_diag(leaf->file->path, &leaf->diag);
		break;
	default:
		break;
	}
	return true;
}

static void end(void *user, struct rck_scan_file *file)
{
	rck_lint_end(user);
}

static int run_scan(struct rck_lint *l)
{
	const struct rck_scan_ops ops = {
		.user = l, .begin = begin, .emit = emit, .end = end, .prepare = prepare};
	struct rck_inputs *in;
	struct rck_diag diag;

	if (rck_inputs_open(&inputs, &in, &diag)) {
		rck_error("%s", diag.msg);
		return RCK_EXIT_USAGE;
	}
	rck_scan_run(in, &scan, &ops);
	rck_inputs_close(in);
	rck_lint_finish(l);
	return 0;
}

/* ---- the report */

static int report(const struct rck_lint *l)
{
	static rck_findings_writer *const writers[] = {
		[FORMAT_TEXT] = rck_findings_text,
		[FORMAT_JSON] = rck_findings_json,
		[FORMAT_JSONL] = rck_findings_jsonl,
	};
	const struct rck_report_options o = {
		.color = !output && rck_term_color((enum rck_color_mode)color, 1),
		.demangle = !mangled,
		.width = rck_term_width(),
		.max_findings = l->opt.policy->max_findings,
		.show_accepted = show_all,
		.title = title,
	};
	_cleanup_strbuf_ struct rck_strbuf out = RCK_STRBUF_INIT;
	struct rck_groups groups;
	int status = 0;

	rck_groups_init(&groups, l);
	writers[format](&groups, &o, &out);
	rck_groups_release(&groups);
	if (output)
		return rck_exit_worse(status, write_all(output, &out));
	fwrite(out.buf, 1, out.len, stdout);
	return status;
}

static int lint(struct rck_policy *policy, const char *cwd)
{
	const char *path = baseline ? baseline : policy->baseline;
	struct rck_baseline known = {0};
	struct rck_lint_options o = {
		.policy = policy,
		.cwd = cwd,
		.root = root ? root : cwd,
		.all_names = false,
		.no_reach = no_disassembly,
	};
	_cleanup_free_ char *real_root = root ? realpath(root, NULL) : NULL;
	struct rck_lint l;
	struct rck_diag diag;
	int status, trouble;

	if (root && !real_root) {
		rck_error("cannot open '%s': %s", root, strerror(errno));
		return RCK_EXIT_USAGE;
	}
	if (real_root)
		o.root = real_root;
	if (path && !write_baseline) {
		if (rck_baseline_load(path, &known, &diag)) {
			rck_error_diag(path, &diag);
			return RCK_EXIT_TROUBLE;
		}
		o.baseline = &known;
	}
	rck_lint_init(&l, &o);
	status = run_scan(&l);
	if (!status) {
		status = rck_lint_verdict(&l);
		trouble = write_baseline ? save_baseline(&l) : report(&l);
		if (status == RCK_EXIT_FINDINGS && (exit_zero || write_baseline))
			status = RCK_EXIT_CLEAN;
		status = rck_exit_worse(status, trouble);
	}
	rck_lint_release(&l);
	rck_baseline_release(&known);
	return status;
}

static int run(int n, char **operands)
{
	_cleanup_free_ char *cwd = getcwd(NULL, 0);
	struct rck_policy policy;
	time_t now = time(NULL);
	char today[11];
	int status;

	if (list_rules)
		return print_rules();
	if (explain)
		return print_rule(explain);
	if (!cwd) {
		rck_error("cannot tell the working directory: %s", strerror(errno));
		return RCK_EXIT_TROUBLE;
	}
	strftime(today, sizeof(today), "%Y-%m-%d", gmtime(&now));
	inputs.n = n;
	inputs.operands = operands;
	rck_policy_init(&policy, today);
	status = load_policy(&policy, cwd);
	if (!status)
		status = override_policy(&policy);
	if (!status)
		status = lint(&policy, cwd);
	rck_policy_release(&policy);
	return status;
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
