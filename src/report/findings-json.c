/* Schema 1, documented in the man page: keys in this order, new ones at the end. */
#include "report/findings.h"
#include "util/json.h"

#include <string.h>

static void put_targets(struct rck_json *j, const char *targets)
{
	rck_json_array(j);
	for (const char *p = targets; *p;) {
		size_t n = strcspn(p, " ");

		rck_json_strn(j, p, n);
		p += n + (p[n] == ' ');
	}
	rck_json_array_end(j);
}

static void put_kernel(
	struct rck_json *j, const struct rck_groups *g, const struct rck_group *group)
{
	const struct rck_finding *f = group->first;
	const struct rck_lint_kernel *k = &g->lint->kernels[f->kernel];

	rck_json_kstr(j, "kernel", group->name);
	rck_json_kstr(j, "demangled", group->demangled);
	rck_json_kstr(j, "cause", rck_cause_name(group->cause));
	rck_json_kstr(j, "cause_confidence", rck_confidence_name(k->confidence));
	if (group->path)
		rck_json_kstr(j, "call_path", group->path);
	if (group->proof)
		rck_json_kstr(j, "proof", group->proof);
	rck_json_kstr(j, "confidence", rck_confidence_name(f->confidence));
	if (f->source) {
		rck_json_key(j, "source");
		rck_json_object(j);
		rck_json_kstr(j, "file", f->source);
		rck_json_ku64(j, "line", f->line);
		rck_json_object_end(j);
	}
}

static void put_finding(struct rck_json *j, const struct rck_groups *g,
	const struct rck_group *group, bool typed)
{
	const struct rck_finding *f = group->first;

	rck_json_object(j);
	if (typed)
		rck_json_kstr(j, "type", "finding");
	rck_json_kstr(j, "rule", f->rule->id);
	rck_json_kstr(j, "state", rck_state_name(f->state));
	rck_json_kstr(j, "severity", rck_severity_name(f->severity));
	rck_json_kstr(j, "status", rck_status_name(f->status));
	rck_json_kstr(j, "path", rck_group_file(g, group));
	rck_json_key(j, "targets");
	put_targets(j, group->targets);
	rck_json_ku64(j, "count", group->count);
	rck_json_kstr(j, "message", f->text);
	if (f->counted) {
		rck_json_key(j, "value");
		rck_json_object(j);
		rck_json_ku64(j, "min", group->min);
		rck_json_ku64(j, "max", group->max);
		rck_json_kstr(j, "unit", f->rule->unit);
		rck_json_object_end(j);
	}
	if (group->name)
		put_kernel(j, g, group);
	else
		rck_json_kstr(j, "where", f->where);
	if (f->rule->scope == RCK_SCOPE_SOURCE)
		rck_json_ku64(j, "line", f->line);
	rck_json_kstr(j, "remedy", rck_group_remedy(group));
	if (f->allow)
		rck_json_kstr(j, "reason", f->allow->reason);
	rck_json_object_end(j);
}

static void put_files(struct rck_json *j, const struct rck_lint *l)
{
	rck_json_key(j, "files");
	rck_json_array(j);
	for (size_t i = 0; i < l->n_files; i++) {
		const struct rck_lint_file *f = &l->files[i];

		rck_json_object(j);
		rck_json_kstr(j, "path", f->relative);
		rck_json_ku64(j, "code_objects", f->objects);
		rck_json_ku64(j, "kernels", f->kernels);
		rck_json_ku64(j, "flagged", f->flagged);
		rck_json_ku64(j, "incomplete", f->incomplete);
		rck_json_ku64(j, "errors", f->errors);
		rck_json_object_end(j);
	}
	rck_json_array_end(j);
}

static void put_errors(struct rck_json *j, const struct rck_lint *l)
{
	rck_json_key(j, "errors");
	rck_json_array(j);
	for (size_t i = 0; i < l->n_errors; i++) {
		const struct rck_lint_error *e = &l->errors[i];

		rck_json_object(j);
		rck_json_kstr(j, "path", l->files[e->file].relative);
		rck_json_kstr(j, "where", e->where);
		rck_json_key(j, "offset");
		if (e->diag.offset == RCK_OFFSET_NONE)
			rck_json_null(j);
		else
			rck_json_u64(j, e->diag.offset);
		rck_json_kstr(j, "message", e->diag.msg);
		rck_json_object_end(j);
	}
	rck_json_array_end(j);
}

static void put_rules(struct rck_json *j, const struct rck_lint *l)
{
	rck_json_key(j, "rules");
	rck_json_object(j);
	for (size_t r = 0; r < RCK_RULE_COUNT_; r++) {
		if (!rck_rule_is_of(&rck_rules[r], l->opt.sources))
			continue;
		rck_json_key(j, rck_rules[r].id);
		rck_json_object(j);
		rck_json_kstr(
			j, "severity", rck_severity_name(l->opt.policy->severity[r]));
		for (int s = 0; s < RCK_STATE_COUNT_; s++)
			rck_json_ku64(
				j, rck_state_name((enum rck_state)s), l->states[r][s]);
		rck_json_object_end(j);
	}
	rck_json_object_end(j);
}

static void put_policy(struct rck_json *j, const struct rck_lint *l)
{
	const struct rck_policy *p = l->opt.policy;
	const struct rck_baseline *b = l->opt.baseline;

	rck_json_key(j, "unused_allows");
	rck_json_array(j);
	for (size_t i = 0; i < p->n_allows; i++) {
		if (p->allows[i].hits)
			continue;
		rck_json_object(j);
		rck_json_kstr(j, "name", p->allows[i].name);
		rck_json_ku64(j, "line", p->allows[i].line);
		rck_json_kbool(j, "expired", p->allows[i].expired);
		rck_json_object_end(j);
	}
	rck_json_array_end(j);
	rck_json_key(j, "stale_baseline");
	rck_json_array(j);
	for (size_t i = 0; b && i < b->n; i++) {
		const struct rck_baseline_entry *e = &b->entries[i];

		if (!rck_baseline_is_stale(l, e))
			continue;
		rck_json_object(j);
		rck_json_kstr(j, "rule", e->key.rule);
		rck_json_kstr(j, "path", e->key.path);
		rck_json_kstr(j, "target", e->key.target);
		rck_json_kstr(j, "kernel", e->key.kernel);
		rck_json_ku64(j, "count", e->count);
		rck_json_ku64(j, "found", e->seen);
		rck_json_object_end(j);
	}
	rck_json_array_end(j);
}

static void put_summary(struct rck_json *j, const struct rck_groups *g)
{
	const struct rck_lint *l = g->lint;

	rck_json_key(j, "summary");
	rck_json_object(j);
	rck_json_ku64(j, "files", l->n_files);
	rck_json_ku64(j, "code_objects", l->objects);
	rck_json_ku64(j, "kernels", l->n_kernels);
	rck_json_ku64(j, "distinct_kernels", g->distinct_kernels);
	rck_json_key(j, "targets");
	rck_json_array(j);
	for (size_t i = 0; i < g->n_targets; i++)
		rck_json_str(j, g->targets[i]);
	rck_json_array_end(j);
	rck_json_ku64(j, "new", g->n_new);
	rck_json_ku64(j, "maybe", g->n_maybe);
	rck_json_ku64(j, "allowed", g->n_allowed);
	rck_json_ku64(j, "baselined", g->n_baselined);
	rck_json_ku64(j, "verdict", (uint64_t)rck_lint_verdict(l));
	rck_json_object_end(j);
}

void rck_findings_json(const struct rck_groups *g, const struct rck_report_options *o,
	struct rck_strbuf *out)
{
	struct rck_json j;

	rck_json_init(&j, out, 2);
	rck_json_object(&j);
	rck_json_ku64(&j, "schema", 1);
	rck_json_kstr(&j, "tool", "rocmcheck");
	rck_json_kstr(&j, "version", RCK_VERSION);
	rck_json_kstr(&j, "command", g->lint->opt.sources ? "flags" : "lint");
	put_files(&j, g->lint);
	rck_json_key(&j, "findings");
	rck_json_array(&j);
	for (size_t i = 0; i < g->n; i++)
		put_finding(&j, g, &g->items[i], false);
	rck_json_array_end(&j);
	put_errors(&j, g->lint);
	put_policy(&j, g->lint);
	put_rules(&j, g->lint);
	put_summary(&j, g);
	rck_json_object_end(&j);
	rck_strbuf_addc(out, '\n');
}

/* One object a line: the findings, then the rest as one object of type "run". */
void rck_findings_jsonl(const struct rck_groups *g, const struct rck_report_options *o,
	struct rck_strbuf *out)
{
	struct rck_json j;

	for (size_t i = 0; i < g->n; i++) {
		rck_json_init(&j, out, 0);
		put_finding(&j, g, &g->items[i], true);
		rck_strbuf_addc(out, '\n');
	}
	rck_json_init(&j, out, 0);
	rck_json_object(&j);
	rck_json_kstr(&j, "type", "run");
	rck_json_ku64(&j, "schema", 1);
	rck_json_kstr(&j, "version", RCK_VERSION);
	put_files(&j, g->lint);
	put_errors(&j, g->lint);
	put_policy(&j, g->lint);
	put_rules(&j, g->lint);
	put_summary(&j, g);
	rck_json_object_end(&j);
	rck_strbuf_addc(out, '\n');
}
