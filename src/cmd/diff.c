/* rocmcheck diff: two releases -> two runs -> what changed. */
#include "cmd/commands.h"
#include "cmd/lint-scan.h"
#include "report/diff.h"
#include "util/cleanup.h"
#include "util/msg.h"
#include "util/term.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum format { FORMAT_TEXT, FORMAT_JSON };

static struct rck_scan_spec scan;
static struct rck_opt_list exclude;
static int format, color;
static bool mangled, all, exit_zero, allow_incomplete;
static unsigned long long tolerance = 10;

static const struct rck_opt opts[] = {
	{RCK_OPT_CHOICE, 'f', "format", &format, "text|json",
		"what to write (default text)"},
	{RCK_OPT_UINT, 't', "tolerance", &tolerance, "PERCENT",
		"how much a number may grow (default 10)"},
	{RCK_OPT_FLAG, 'a', "all", &all, NULL,
		"name the kernels of every change, not of regressions alone (text)"},
	{RCK_OPT_FLAG, 0, "mangled", &mangled, NULL,
		"names as they are in the file (text)"},
	{RCK_OPT_FLAG, 0, "exit-zero", &exit_zero, NULL, "exit 0 where it would be 1"},
	{RCK_OPT_FLAG, 0, "allow-incomplete", &allow_incomplete, NULL,
		"device code whose metadata cannot be read is no reason for exit 2"},
	{RCK_OPT_LIST, 0, "exclude", &exclude, "GLOB",
		"leave out files and folders whose path or name matches"},
	{RCK_OPT_CHOICE, 0, "color", &color, "auto|always|never", "colour text"},
	RCK_SCAN_OPTIONS(scan),
	{RCK_OPT_END},
};

/* One release: a file, or all that a folder holds. The rules are off: facts alone. */
static int read_release(
	struct rck_lint *l, struct rck_policy *policy, char *path, const char *cwd)
{
	const struct rck_inputs_spec inputs = {
		.recursive = true, .exclude = exclude, .n = 1, .operands = &path};
	const struct rck_lint_options o = {.policy = policy,
		.cwd = cwd,
		.root = cwd,
		.all_names = true,
		.no_reach = true};
	int status;

	rck_policy_init(policy, "");
	for (int i = 0; i < RCK_RULE_COUNT_; i++)
		policy->severity[i] = RCK_SEVERITY_OFF;
	if (!allow_incomplete)
		policy->severity[RCK_RULE_INCOMPLETE] = RCK_SEVERITY_ERROR;
	rck_lint_init(l, &o);
	status = rck_lint_scan(l, &inputs, &scan);
	if (status)
		return status;
	for (size_t i = 0; i < l->n_findings; i++) {
		const struct rck_finding *f = &l->findings[i];

		if (f->status == RCK_STATUS_NEW)
			rck_error("'%s%s%s': %s", l->files[f->file].path,
				*f->where ? ": " : "", f->where, f->text);
	}
	if (!l->n_kernels && !l->n_errors)
		rck_warning("'%s' holds no kernels", path);
	return rck_lint_verdict(l);
}

static void report(const struct rck_diff *d, const struct rck_lint *old,
	const struct rck_lint *new, char **operands)
{
	const struct rck_diff_options o = {
		.old = operands[0],
		.new = operands[1],
		.color = rck_term_color((enum rck_color_mode)color, 1),
		.demangle = !mangled,
		.width = rck_term_width(),
		.all = all,
	};
	_cleanup_strbuf_ struct rck_strbuf out = RCK_STRBUF_INIT;

	if (format == FORMAT_JSON)
		rck_diff_json(d, old, new, &o, &out);
	else
		rck_diff_text(d, old, new, &o, &out);
	fwrite(out.buf, 1, out.len, stdout);
}

static int run(int n, char **operands)
{
	_cleanup_free_ char *cwd = getcwd(NULL, 0);
	struct rck_policy policies[2];
	struct rck_lint runs[2];
	struct rck_diff d;
	int status = 0;

	if (n == 2 && !strcmp(operands[0], "-") && !strcmp(operands[1], "-")) {
		rck_error("standard input can be read only once");
		return RCK_EXIT_USAGE;
	}
	if (n != 2) {
		rck_error("diff compares two files or folders, OLD and NEW");
		return RCK_EXIT_USAGE;
	}
	if (!cwd) {
		rck_error("cannot tell the working directory: %s", strerror(errno));
		return RCK_EXIT_TROUBLE;
	}
	for (int i = 0; i < 2; i++)
		status = rck_exit_worse(
			status, read_release(&runs[i], &policies[i], operands[i], cwd));
	if (status != RCK_EXIT_USAGE) {
		rck_diff_make(&d, &runs[0], &runs[1],
			tolerance < 1000 ? (unsigned)tolerance : 1000);
		report(&d, &runs[0], &runs[1], operands);
		if (!exit_zero)
			status = rck_exit_worse(status, rck_diff_verdict(&d));
		rck_diff_release(&d);
	}
	for (int i = 0; i < 2; i++) {
		rck_lint_release(&runs[i]);
		rck_policy_release(&policies[i]);
	}
	return status;
}

const struct rck_cmd rck_cmd_diff = {
	.name = "diff",
	.summary = "two releases, kernel by kernel",
	.operands = "OLD NEW",
	.opts = opts,
	.run = run,
	.details = "Exit status: 0 no regression, 1 a kernel gained a declaration, lost "
		   "a target "
		   "or\ngrew by more than --tolerance (spills, scratch, LDS, vector "
		   "registers), "
		   "2 something\ncould not be read, 3 usage.",
};
