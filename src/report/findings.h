/*
 * Findings for people and machines. All reports are made from the same groups: what one
 * rule says of one kernel in one file, over all of its targets and code objects.
 */
#pragma once

#include "lint/finding.h"

struct rck_group {
	const struct rck_finding *first; /* speaks for all of them */
	const char *name, *demangled;    /* NULL for a finding of a file */
	enum rck_cause cause;
	const char *path, *proof; /* the first that has one */
	const char *targets;      /* "gfx900 gfx90a:xnack-", in the order of the file */
	size_t n_targets;
	size_t count;      /* findings: targets x code objects */
	uint64_t min, max; /* of their values, when counted */
	bool counts;       /* some of them counts for the exit status */
};

struct rck_groups {
	const struct rck_lint *lint;
	struct rck_group *items; /* in the order of the first finding, files together */
	size_t n;
	struct rck_pool strings;
	/* of the run */
	size_t distinct_kernels;
	const char **targets;
	size_t n_targets;
	size_t n_new, n_allowed, n_baselined, n_maybe; /* groups */
};

void rck_groups_init(struct rck_groups *g, const struct rck_lint *l);
void rck_groups_release(struct rck_groups *g);

/* The remedy that a group's report shows. */
const char *rck_group_remedy(const struct rck_group *g);
/* "1340 to 1356 B of scratch", or "" when nothing was counted. */
void rck_group_amount(const struct rck_group *g, struct rck_strbuf *out);
/* "lib/a.so: kernel 'k<int>' for gfx90a: declares ... (64 B).": for reports without
 * columns. */
void rck_group_sentence(
	const struct rck_groups *all, const struct rck_group *g, struct rck_strbuf *out);
/* The path that reports show for a group's file: relative. */
const char *rck_group_file(const struct rck_groups *g, const struct rck_group *group);

struct rck_report_options {
	bool color;
	bool demangle;
	unsigned width;
	uint64_t max_findings; /* groups; 0: all */
	bool show_accepted;    /* allowed and baselined ones, too (text) */
	const char *title;     /* html */
};

/* Each renders the whole run. */
typedef void rck_findings_writer(const struct rck_groups *g,
	const struct rck_report_options *o, struct rck_strbuf *out);
rck_findings_writer rck_findings_text, rck_findings_json, rck_findings_jsonl,
	rck_findings_sarif, rck_findings_junit, rck_findings_github, rck_findings_html;
/* A table in Markdown, for $GITHUB_STEP_SUMMARY. */
rck_findings_writer rck_findings_summary;
