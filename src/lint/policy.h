/*
 * What a project asks of its device code: .rocmcheck.ini. Sections:
 *
 *	[policy]   fail-on, maybe, require-device-code, allow-incomplete, max-findings,
 *	           baseline (relative to the policy's folder)
 *	[rules]    RULE = off|note|warning|error
 *	[limits]   scratch, spills, vgprs, lds = N; [limits gfx9*] for those targets
 *	[targets]  require = gfx90a gfx942
 *	[allow NAME]  rule, kernel (regular expression), file, target (globs): at
 *	           least one; reason: required; expires: YYYY-MM-DD
 *
 * Whatever is not known is an error with its line: a policy that is misread silently is
 * worse than none.
 */
#pragma once

#include "lint/rule.h"
#include "util/regex.h"

#define RCK_POLICY_FILE ".rocmcheck.ini"

struct rck_allow {
	char *name;
	unsigned line;  /* 0: from the command line */
	uint32_t rules; /* bit a rule; 0: any */
	char *kernel;   /* the expression as written, or NULL */
	struct rck_regex *kernel_re;
	char *file, *target; /* globs, or NULL */
	char *reason;
	char expires[11]; /* "" never */
	bool expired;
	bool too_hard; /* kernel_re took too long for a name: it allows nothing more */
	uint64_t hits; /* findings it allowed */
};

struct rck_policy_limit {
	enum rck_limit limit;
	char *target; /* a glob; NULL: all */
	uint64_t value;
};

struct rck_policy {
	char *path; /* of the file read, or NULL */
	char today[11];
	enum rck_severity severity[RCK_RULE_COUNT_];
	enum rck_severity fail_on; /* findings of this severity and above: exit 1 */
	bool maybe_fails;          /* a maybe counts as a fail */
	bool require_device_code;
	bool allow_incomplete;
	uint64_t max_findings; /* findings to print; 0: all */
	char *baseline;        /* as a path that can be opened, or NULL */
	struct rck_policy_limit *limits;
	size_t n_limits;
	char **required; /* targets */
	size_t n_required;
	struct rck_allow *allows;
	size_t n_allows;
};

/* The defaults of the rules; today is "YYYY-MM-DD", what expiry dates are held against.
 */
void rck_policy_init(struct rck_policy *p, const char *today);
void rck_policy_release(struct rck_policy *p);

/* The policy file in dir (absolute) or the nearest folder above; free() it. NULL: none.
 */
char *rck_policy_find(const char *dir);
/* Reads a file on top of *p. Errors: -errno when it cannot be read, -EINVAL with
 * "line N: ..." in diag. */
int rck_policy_load(struct rck_policy *p, const char *path, struct rck_diag *diag);
/* The same from memory; name is what relative paths in it start from. */
int rck_policy_load_mem(struct rck_policy *p, const char *text, size_t len,
	const char *name, struct rck_diag *diag);

/* Adds an allow entry for kernels that match an expression (--allow-kernel). */
int rck_policy_allow_kernel(
	struct rck_policy *p, const char *regex, struct rck_diag *diag);
/* "RULE=LEVEL" (--severity). */
int rck_policy_set_severity(
	struct rck_policy *p, const char *assignment, struct rck_diag *diag);

/* The limit for a target: the last section that names it wins. NULL: none. */
const uint64_t *rck_policy_limit(
	const struct rck_policy *p, enum rck_limit limit, const char *target);
/* A target id fits a glob; a glob without ':' looks at the processor alone. */
bool rck_target_matches(const char *glob, const char *target);
