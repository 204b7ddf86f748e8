/* Policy, baseline and report around a run of the rules: what `lint` and `flags` share.
 */
#include "cmd/gate.h"

#include "cmd/cmd.h"
#include "report/findings.h"
#include "util/closest.h"
#include "util/cleanup.h"
#include "util/msg.h"
#include "util/output.h"
#include "util/term.h"

#include <errno.h>
#include <string.h>
#include <time.h>

enum format {
	FORMAT_TEXT,
	FORMAT_JSON,
	FORMAT_JSONL,
	FORMAT_SARIF,
	FORMAT_JUNIT,
	FORMAT_GITHUB,
	FORMAT_HTML,
};

/* ---- policy and baseline */

static int load_policy(const struct rck_gate *g, struct rck_policy *p, const char *cwd)
{
	_cleanup_free_ char *found = NULL;
	struct rck_diag diag;

	if (!g->config && !g->no_config)
		found = rck_policy_find(cwd);
	if (!g->config && !found)
		return 0;
	if (rck_policy_load(p, g->config ? g->config : found, &diag)) {
		rck_error_diag(g->config ? g->config : found, &diag);
		return RCK_EXIT_USAGE;
	}
	return 0;
}

int rck_gate_no_rule(const char *id)
{
	struct rck_closest c;

	rck_closest_init(&c, id, strlen(id));
	for (size_t i = 0; i < RCK_RULE_COUNT_; i++)
		rck_closest_try(&c, rck_rules[i].id);
	rck_error("no rule is called '%s'%s", id, rck_closest_hint(&c, ""));
	return RCK_EXIT_USAGE;
}

/* The last option that names a rule wins. */
static int switch_rules(struct rck_policy *p, const struct rck_opt_list *list)
{
	struct rck_diag diag;

	for (size_t i = 0; i < list->n; i++) {
		const char *option = list->by[i]->name;
		const struct rck_rule *r;

		if (!strcmp(option, "severity")) {
			if (!rck_policy_set_severity(p, list->items[i], &diag))
				continue;
			rck_error("option '--severity': %s", diag.msg);
			return RCK_EXIT_USAGE;
		}
		r = rck_rule_find(list->items[i]);
		if (!r)
			return rck_gate_no_rule(list->items[i]);
		p->severity[r->number] =
			strcmp(option, "enable") ? RCK_SEVERITY_OFF : r->severity;
	}
	return 0;
}

/* The command line on top of the file. */
static int override_policy(const struct rck_gate *g, struct rck_policy *p)
{
	struct rck_diag diag;
	size_t i;

	if (switch_rules(p, &g->rules))
		return RCK_EXIT_USAGE;
	for (i = 0; i < g->allow_kernel.n; i++) {
		if (rck_policy_allow_kernel(p, g->allow_kernel.items[i], &diag)) {
			rck_error("option '--allow-kernel': %s", diag.msg);
			return RCK_EXIT_USAGE;
		}
	}
	if (g->fail_on >= 0)
		p->fail_on = (enum rck_severity)(RCK_SEVERITY_NOTE + g->fail_on);
	p->maybe_fails |= g->strict;
	p->require_device_code |= g->require_device_code;
	p->allow_incomplete |= g->allow_incomplete;
	if (g->max_findings != UINT64_MAX)
		p->max_findings = g->max_findings;
	return 0;
}

static int write_all(const char *path, const struct rck_strbuf *text)
{
	return rck_output_write(path, text->buf, text->len) ? RCK_EXIT_TROUBLE
							    : RCK_EXIT_CLEAN;
}

static bool to_file(const struct rck_gate *g)
{
	return g->output && strcmp(g->output, "-");
}

int rck_gate_write(const struct rck_gate *g, const struct rck_strbuf *text)
{
	if (to_file(g))
		return write_all(g->output, text);
	fwrite(text->buf, 1, text->len, stdout);
	return RCK_EXIT_CLEAN;
}

static int save_baseline(const struct rck_gate *g, struct rck_lint *l)
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
	status = write_all(g->write_baseline, &out);
	if (!status)
		rck_notice("wrote %zu findings to '%s'", n, g->write_baseline);
	return status;
}

/* ---- the report */

static int append_summary(const struct rck_groups *g, const struct rck_report_options *o)
{
	const char *path = getenv("GITHUB_STEP_SUMMARY");
	_cleanup_strbuf_ struct rck_strbuf out = RCK_STRBUF_INIT;
	_cleanup_fclose_ FILE *f = NULL;

	if (!path || !*path)
		return 0;
	rck_findings_summary(g, o, &out);
	f = fopen(path, "ae");
	if (f && fwrite(out.buf, 1, out.len, f) == out.len && !fflush(f))
		return 0;
	rck_error("cannot write '%s': %s", path, strerror(errno));
	return RCK_EXIT_TROUBLE;
}

static int report(const struct rck_gate *g, const struct rck_lint *l)
{
	static rck_findings_writer *const writers[] = {
		[FORMAT_TEXT] = rck_findings_text,
		[FORMAT_JSON] = rck_findings_json,
		[FORMAT_JSONL] = rck_findings_jsonl,
		[FORMAT_SARIF] = rck_findings_sarif,
		[FORMAT_JUNIT] = rck_findings_junit,
		[FORMAT_GITHUB] = rck_findings_github,
		[FORMAT_HTML] = rck_findings_html,
	};
	const struct rck_report_options o = {
		.color = !to_file(g) && rck_term_color((enum rck_color_mode)g->color, 1),
		.demangle = !g->mangled,
		.width = rck_term_width(),
		.max_findings = l->opt.policy->max_findings,
		.show_accepted = g->show_all,
		.title = g->title,
	};
	_cleanup_strbuf_ struct rck_strbuf out = RCK_STRBUF_INIT;
	struct rck_groups groups;
	int status = 0;

	if (g->preface && g->format == FORMAT_TEXT)
		rck_strbuf_add(&out, g->preface->buf, g->preface->len);
	rck_groups_init(&groups, l);
	writers[g->format](&groups, &o, &out);
	if (g->format == FORMAT_GITHUB)
		status = append_summary(&groups, &o);
	rck_groups_release(&groups);
	return rck_exit_worse(status, rck_gate_write(g, &out));
}

static int check(const struct rck_gate *g, struct rck_policy *policy, const char *cwd,
	int (*fill)(struct rck_lint *l, void *user), void *user)
{
	const char *path = g->baseline ? g->baseline : policy->baseline;
	struct rck_baseline known = {0};
	struct rck_lint_options o = {
		.policy = policy,
		.cwd = cwd,
		.root = g->root ? g->root : cwd,
		.all_names = g->format == FORMAT_HTML,
		.no_reach = g->no_disassembly,
		.sources = g->sources,
	};
	_cleanup_free_ char *real_root = g->root ? realpath(g->root, NULL) : NULL;
	struct rck_lint l;
	struct rck_diag diag;
	int status, trouble;

	if (g->root && !real_root) {
		rck_error("cannot open '%s': %s", g->root, strerror(errno));
		return RCK_EXIT_USAGE;
	}
	if (real_root)
		o.root = real_root;
	if (path && !g->write_baseline) {
		if (rck_baseline_load(path, &known, &diag)) {
			rck_error_diag(path, &diag);
			return RCK_EXIT_TROUBLE;
		}
		o.baseline = &known;
	}
	rck_lint_init(&l, &o);
	status = fill(&l, user);
	if (status != RCK_EXIT_USAGE) {
		status = rck_exit_worse(status, rck_lint_verdict(&l));
		trouble = g->write_baseline ? save_baseline(g, &l) : report(g, &l);
		if (status == RCK_EXIT_FINDINGS && (g->exit_zero || g->write_baseline))
			status = RCK_EXIT_CLEAN;
		status = rck_exit_worse(status, trouble);
	}
	rck_lint_release(&l);
	rck_baseline_release(&known);
	return status;
}

int rck_gate_run(
	const struct rck_gate *g, int (*fill)(struct rck_lint *l, void *user), void *user)
{
	_cleanup_free_ char *cwd = getcwd(NULL, 0);
	struct rck_policy policy;
	time_t now = time(NULL);
	char today[11];
	int status;

	if (!cwd) {
		rck_error("cannot tell the working directory: %s", strerror(errno));
		return RCK_EXIT_TROUBLE;
	}
	strftime(today, sizeof(today), "%Y-%m-%d", gmtime(&now));
	rck_policy_init(&policy, today);
	status = load_policy(g, &policy, cwd);
	if (!status)
		status = override_policy(g, &policy);
	if (!status)
		status = check(g, &policy, cwd, fill, user);
	rck_policy_release(&policy);
	return status;
}
