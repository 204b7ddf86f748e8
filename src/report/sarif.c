/*
 * SARIF 2.1.0 (OASIS), one run, as GitHub's code scanning reads it: a result is what one
 * rule says of one kernel in one file over all targets, at most MAX_RESULTS of them, each
 * with one location and a fingerprint that neither offsets nor other findings change.
 */
#include "report/findings.h"
#include "util/json.h"
#include "util/shorten.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MAX_RESULTS 25000 /* GitHub: results of a run */

/* RFC 3986: a relative reference, or file:// for an absolute path. */
static void put_uri(struct rck_json *j, const char *path)
{
	_cleanup_strbuf_ struct rck_strbuf uri = RCK_STRBUF_INIT;

	if (path[0] == '/')
		rck_strbuf_adds(&uri, "file://");
	for (const unsigned char *p = (const unsigned char *)path; *p; p++) {
		/* a colon in the first segment would make a scheme of it */
		if (isalnum(*p) || strchr("-._~/", *p))
			rck_strbuf_addc(&uri, (char)*p);
		else
			rck_strbuf_addf(&uri, "%%%02X", *p);
	}
	rck_json_kstr(j, "uri", uri.buf);
}

static void put_text(struct rck_json *j, const char *key, const char *text)
{
	rck_json_key(j, key);
	rck_json_object(j);
	rck_json_kstr(j, "text", text);
	rck_json_object_end(j);
}

static const char *level_of(enum rck_severity s)
{
	return s == RCK_SEVERITY_OFF ? "none" : rck_severity_name(s);
}

static void put_rule(struct rck_json *j, const struct rck_rule *r, enum rck_severity s)
{
	_cleanup_strbuf_ struct rck_strbuf help = RCK_STRBUF_INIT;

	rck_strbuf_addf(
		&help, "%s\n\nWhat to do: %s\n\n%s", r->why, r->remedy, r->reference);
	rck_json_object(j);
	rck_json_kstr(j, "id", r->id);
	put_text(j, "shortDescription", r->summary);
	put_text(j, "fullDescription", r->why);
	put_text(j, "help", help.buf);
	rck_json_kstr(j, "helpUri", r->reference);
	rck_json_key(j, "defaultConfiguration");
	rck_json_object(j);
	rck_json_kbool(j, "enabled", s != RCK_SEVERITY_OFF);
	rck_json_kstr(j, "level", level_of(s));
	rck_json_object_end(j);
	rck_json_object_end(j);
}

/* The place of a rule among those that are listed, and the number of those. */
static size_t rule_index(const struct rck_lint *l, enum rck_rule_id id)
{
	size_t n = 0;

	for (size_t i = 0; i < id; i++)
		n += rck_rule_is_of(&rck_rules[i], l->opt.sources);
	return n;
}

static void put_driver(struct rck_json *j, const struct rck_lint *l)
{
	rck_json_key(j, "tool");
	rck_json_object(j);
	rck_json_key(j, "driver");
	rck_json_object(j);
	rck_json_kstr(j, "name", "rocmcheck");
	rck_json_kstr(j, "version", RCK_VERSION);
	rck_json_kstr(j, "semanticVersion", RCK_VERSION);
	rck_json_key(j, "rules");
	rck_json_array(j);
	for (size_t i = 0; i < RCK_RULE_COUNT_; i++)
		if (rck_rule_is_of(&rck_rules[i], l->opt.sources))
			put_rule(j, &rck_rules[i], l->opt.policy->severity[i]);
	rck_json_array_end(j);
	rck_json_object_end(j);
	rck_json_object_end(j);
}

static void put_place(struct rck_json *j, const char *path, unsigned line)
{
	rck_json_key(j, "physicalLocation");
	rck_json_object(j);
	rck_json_key(j, "artifactLocation");
	rck_json_object(j);
	put_uri(j, path);
	rck_json_object_end(j);
	if (line) {
		rck_json_key(j, "region");
		rck_json_object(j);
		rck_json_ku64(j, "startLine", line);
		rck_json_object_end(j);
	}
	rck_json_object_end(j);
}

static void put_kernel(struct rck_json *j, const struct rck_group *g)
{
	_cleanup_strbuf_ struct rck_strbuf name = RCK_STRBUF_INIT;

	rck_shorten_name(&name, g->demangled, strlen(g->demangled));
	rck_json_key(j, "logicalLocations");
	rck_json_array(j);
	rck_json_object(j);
	rck_json_kstr(j, "name", name.buf);
	rck_json_kstr(j, "fullyQualifiedName", g->demangled);
	rck_json_kstr(j, "decoratedName", g->name);
	rck_json_kstr(j, "kind", "function");
	rck_json_object_end(j);
	rck_json_array_end(j);
}

/* A source that the repository may hold is a better place than the binary. */
static void put_locations(
	struct rck_json *j, const struct rck_groups *all, const struct rck_group *g)
{
	bool source = g->first->source && g->first->source[0] != '/';

	rck_json_key(j, "locations");
	rck_json_array(j);
	rck_json_object(j);
	put_place(j, source ? g->first->source : rck_group_file(all, g),
		source ? g->first->line : 0);
	if (g->name)
		put_kernel(j, g);
	rck_json_object_end(j);
	rck_json_array_end(j);
}

static void put_fingerprint(
	struct rck_json *j, const struct rck_groups *all, const struct rck_group *g)
{
	_cleanup_strbuf_ struct rck_strbuf key = RCK_STRBUF_INIT;
	char hex[17];

	rck_strbuf_addf(&key, "%s\n%s\n%s\n%s", g->first->rule->id,
		rck_group_file(all, g), g->name ? g->name : "",
		g->name ? "" : g->first->target);
	snprintf(hex, sizeof(hex), "%016" PRIx64, rck_hash_bytes(key.buf, key.len));
	rck_json_key(j, "partialFingerprints");
	rck_json_object(j);
	rck_json_kstr(j, "rocmcheck/v1", hex);
	rck_json_object_end(j);
}

static void put_message(
	struct rck_json *j, const struct rck_groups *all, const struct rck_group *g)
{
	_cleanup_strbuf_ struct rck_strbuf s = RCK_STRBUF_INIT;

	rck_group_sentence(all, g, &s);
	if (g->path)
		rck_strbuf_addf(&s, " Call path: %s.", g->path);
	rck_strbuf_addf(&s, " %s", rck_group_remedy(g));
	put_text(j, "message", s.buf);
}

static void put_result(
	struct rck_json *j, const struct rck_groups *all, const struct rck_group *g)
{
	const struct rck_finding *f = g->first;

	rck_json_object(j);
	rck_json_kstr(j, "ruleId", f->rule->id);
	rck_json_ku64(j, "ruleIndex", rule_index(all->lint, f->rule->number));
	if (f->state == RCK_STATE_MAYBE)
		rck_json_kstr(j, "kind", "review");
	rck_json_kstr(
		j, "level", f->state == RCK_STATE_MAYBE ? "none" : level_of(f->severity));
	put_message(j, all, g);
	put_locations(j, all, g);
	put_fingerprint(j, all, g);
	if (f->status == RCK_STATUS_ALLOWED) {
		rck_json_key(j, "suppressions");
		rck_json_array(j);
		rck_json_object(j);
		rck_json_kstr(j, "kind", "external");
		rck_json_kstr(j, "justification", f->allow ? f->allow->reason : "policy");
		rck_json_object_end(j);
		rck_json_array_end(j);
	} else if (all->lint->opt.baseline) {
		rck_json_kstr(j, "baselineState",
			f->status == RCK_STATUS_BASELINED ? "unchanged" : "new");
	}
	rck_json_key(j, "properties");
	rck_json_object(j);
	rck_json_kstr(j, "file", rck_group_file(all, g));
	rck_json_kstr(j, "targets", g->targets);
	rck_json_ku64(j, "count", g->count);
	rck_json_kstr(j, "cause", rck_cause_name(g->cause));
	rck_json_kstr(j, "confidence", rck_confidence_name(f->confidence));
	rck_json_object_end(j);
	rck_json_object_end(j);
}

static void put_notification(
	struct rck_json *j, const char *level, const char *text, const char *path)
{
	rck_json_object(j);
	rck_json_kstr(j, "level", level);
	put_text(j, "message", text);
	if (path) {
		rck_json_key(j, "locations");
		rck_json_array(j);
		rck_json_object(j);
		put_place(j, path, 0);
		rck_json_object_end(j);
		rck_json_array_end(j);
	}
	rck_json_object_end(j);
}

static void put_invocation(struct rck_json *j, const struct rck_groups *g)
{
	const struct rck_lint *l = g->lint;

	rck_json_key(j, "invocations");
	rck_json_array(j);
	rck_json_object(j);
	rck_json_kbool(j, "executionSuccessful", !l->n_errors);
	rck_json_key(j, "toolExecutionNotifications");
	rck_json_array(j);
	for (size_t i = 0; i < l->n_errors; i++)
		put_notification(j, "error", l->errors[i].diag.msg,
			l->files[l->errors[i].file].relative);
	if (g->n > MAX_RESULTS) {
		_cleanup_strbuf_ struct rck_strbuf s = RCK_STRBUF_INIT;

		rck_strbuf_addf(&s, "%zu of %zu results are left out: a run may have %d.",
			g->n - MAX_RESULTS, g->n, MAX_RESULTS);
		put_notification(j, "warning", s.buf, NULL);
	}
	rck_json_array_end(j);
	rck_json_object_end(j);
	rck_json_array_end(j);
}

void rck_findings_sarif(const struct rck_groups *g, const struct rck_report_options *o,
	struct rck_strbuf *out)
{
	struct rck_json j;

	rck_json_init(&j, out, 1);
	rck_json_object(&j);
	rck_json_kstr(&j, "$schema",
		"https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/"
		"sarif-schema-2.1.0.json");
	rck_json_kstr(&j, "version", "2.1.0");
	rck_json_key(&j, "runs");
	rck_json_array(&j);
	rck_json_object(&j);
	put_driver(&j, g->lint);
	put_invocation(&j, g);
	rck_json_key(&j, "results");
	rck_json_array(&j);
	for (size_t i = 0; i < g->n && i < MAX_RESULTS; i++)
		put_result(&j, g, &g->items[i]);
	rck_json_array_end(&j);
	rck_json_object_end(&j);
	rck_json_array_end(&j);
	rck_json_object_end(&j);
	rck_strbuf_addc(out, '\n');
}
