/* Policy, baseline and report around a run of the rules: what `lint` and `flags` share.
 */
#pragma once

#include "lint/finding.h"
#include "util/opt.h"
#include "util/strbuf.h"

/* What the command line says of it. */
struct rck_gate {
	int format, color, fail_on; /* fail_on -1: the policy's */
	const char *config, *baseline, *write_baseline, *output, *root, *title;
	bool no_config, exit_zero, strict, show_all, mangled;
	bool sources; /* the run is of sources: flags */
	bool require_device_code, allow_incomplete, no_disassembly;
	unsigned long long max_findings; /* UINT64_MAX: the policy's */
	struct rck_opt_list rules;       /* of --enable, --disable and --severity */
	struct rck_opt_list allow_kernel;
	struct rck_strbuf *preface; /* ahead of a report in text; may be NULL */
};

#define RCK_GATE_INIT                                                                    \
	{                                                                                \
		.fail_on = -1, .max_findings = UINT64_MAX                                \
	}

#define RCK_GATE_OPTIONS(g)                                                              \
	{RCK_OPT_CHOICE, 'f', "format", &(g).format,                                     \
		"text|json|jsonl|sarif|junit|github|html",                               \
		"what to write (default text)"},                                         \
		{RCK_OPT_STRING, 'o', "output", &(g).output, "FILE",                     \
			"write to FILE, not to stdout"},                                 \
		{RCK_OPT_STRING, 'c', "config", &(g).config, "FILE",                     \
			"the policy (default: .rocmcheck.ini here or in a folder "       \
			"above)"},                                                       \
		{RCK_OPT_FLAG, 0, "no-config", &(g).no_config, NULL,                     \
			"look for no policy file"},                                      \
		{RCK_OPT_STRING, 'b', "baseline", &(g).baseline, "FILE",                 \
			"accept the findings that FILE lists"},                          \
		{RCK_OPT_STRING, 0, "write-baseline", &(g).write_baseline, "FILE",       \
			"write the findings to FILE as a baseline, no report, and exit " \
			"0 where it would be 1"},                                        \
		{RCK_OPT_CHOICE, 0, "fail-on", &(g).fail_on, "note|warning|error",       \
			"the least severity that makes the exit status 1 (default "      \
			"warning)"},                                                     \
		{RCK_OPT_FLAG, 0, "strict", &(g).strict, NULL,                           \
			"a rule that answers maybe fails as well"},                      \
		{RCK_OPT_FLAG, 0, "exit-zero", &(g).exit_zero, NULL,                     \
			"exit 0 where it would be 1"},                                   \
		{RCK_OPT_UINT, 0, "max-findings", &(g).max_findings, "N",                \
			"tell at most N findings (text, github); all count"},            \
		{RCK_OPT_LIST, 0, "enable", &(g).rules, "RULE", "switch a rule on"},     \
		{RCK_OPT_LIST, 0, "disable", &(g).rules, "RULE", "switch a rule off"},   \
		{RCK_OPT_LIST, 0, "severity", &(g).rules, "RULE=LEVEL",                  \
			"off, note, warning or error"},                                  \
		{RCK_OPT_FLAG, 'a', "all", &(g).show_all, NULL,                          \
			"tell allowed and baselined findings, too (text)"},              \
		{RCK_OPT_STRING, 0, "root", &(g).root, "DIR",                            \
			"paths in reports and baselines are relative to DIR (default: "  \
			"here)"},                                                        \
		{RCK_OPT_STRING, 0, "title", &(g).title, "TEXT",                         \
			"the title of an html report"},                                  \
	{                                                                                \
		RCK_OPT_CHOICE, 0, "color", &(g).color, "auto|always|never",             \
			"colour text"                                                    \
	}

/* Writes text to --output, or to stdout without one or where it is "-"; an enum
 * rck_exit. */
int rck_gate_write(const struct rck_gate *g, const struct rck_strbuf *text);

/* Says that there is no such rule, and which may be meant. RCK_EXIT_USAGE. */
int rck_gate_no_rule(const char *id);

/*
 * Reads the policy and the baseline, lets fill() bring the findings into the run, writes
 * the report or the baseline and answers with an enum rck_exit. fill() returns one too:
 * RCK_EXIT_USAGE ends it without a report.
 */
int rck_gate_run(const struct rck_gate *g, int (*fill)(struct rck_lint *l, void *user),
	void *user);
