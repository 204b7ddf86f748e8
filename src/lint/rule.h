/*
 * The rules as data. A rule looks at one kernel, one code object or one file and answers
 * pass, fail, maybe or not checkable: "could not tell" is never a pass. The table drives
 * --list-rules, --explain, the policy's keys, the reports' help texts and the tests.
 */
#pragma once

#include "codeobj/callgraph.h"
#include "codeobj/codeobj.h"
#include "util/strbuf.h"

#include <stdbool.h>
#include <stdint.h>

/* -EINVAL: neither off, note, warning nor error. */
int rck_severity_parse(const char *s, enum rck_severity *out);

enum rck_rule_id {
	RCK_RULE_HOSTCALL_DECLARED,
	RCK_RULE_HOSTCALL_UNREACHED,
	RCK_RULE_HEAP_DECLARED,
	RCK_RULE_DYNAMIC_STACK,
	RCK_RULE_DYNAMIC_STACK_SMALL_SCRATCH,
	RCK_RULE_BUILT_WITHOUT_OPTIMIZATION,
	RCK_RULE_SANITIZER_BUILD,
	RCK_RULE_METADATA_DESCRIPTOR_MISMATCH,
	RCK_RULE_VERSION_MISMATCH,
	RCK_RULE_SCRATCH_OVER,
	RCK_RULE_SPILLS_OVER,
	RCK_RULE_VGPR_OVER,
	RCK_RULE_LDS_OVER,
	RCK_RULE_TARGET_MISSING,
	RCK_RULE_DUPLICATE_KERNEL_DIFFERS,
	RCK_RULE_INCOMPLETE,
	RCK_RULE_NO_DEVICE_CODE,
	RCK_RULE_HIP_UNOPTIMIZED,
	RCK_RULE_HIP_ASSERT_ACTIVE,
	RCK_RULE_HIP_SANITIZED,
	RCK_RULE_HIP_RDC,
	RCK_RULE_COUNT_,
};

/* A limit that a policy sets; each belongs to one rule. */
enum rck_limit {
	RCK_LIMIT_SCRATCH, /* bytes a work-item */
	RCK_LIMIT_SPILLS,  /* SGPR and VGPR spills together */
	RCK_LIMIT_VGPRS,
	RCK_LIMIT_LDS, /* bytes a work-group */
	RCK_LIMIT_COUNT_,
};
const char *rck_limit_name(enum rck_limit l); /* "scratch": the policy's key */

/* What a check is given. */
struct rck_subject {
	const struct rck_code_object *co;
	const struct rck_kernel *kernel; /* NULL for a rule of objects */
	const struct rck_reach *reach;   /* NULL when the kernel was not analysed */
	const uint64_t *limit;           /* the rule's limit, or NULL: none is set */
};

/* What a check answers besides its state. */
struct rck_verdict {
	struct rck_strbuf text; /* one clause; the same words for the same finding on
				   another kernel, so that reports can group */
	bool counted;           /* value (and limit) say how much */
	uint64_t value;
};

/* A rule of sources is about how one is compiled: `flags` answers it. */
enum rck_scope { RCK_SCOPE_KERNEL, RCK_SCOPE_OBJECT, RCK_SCOPE_FILE, RCK_SCOPE_SOURCE };

struct rck_rule {
	enum rck_rule_id number;
	const char *id;
	enum rck_severity severity; /* by default */
	enum rck_scope scope;
	const char *summary;   /* one clause */
	const char *why;       /* why it matters: sentences */
	const char *reference; /* where that can be read: a public URL */
	const char *remedy;    /* what to do: sentences */
	int limit;             /* an enum rck_limit, or -1 */
	const char *unit;      /* of the verdict's value */
	/* NULL for a rule of files or sources: finding.c and buildsys/unit.c answer
	 * those, which alone see them */
	enum rck_state (*check)(const struct rck_subject *s, struct rck_verdict *v);
};

extern const struct rck_rule rck_rules[RCK_RULE_COUNT_];
/* What a run of sources looks at, or one of files. */
static inline bool rck_rule_is_of(const struct rck_rule *rule, bool sources)
{
	return (rule->scope == RCK_SCOPE_SOURCE) == sources ||
	       rule->number == RCK_RULE_INCOMPLETE;
}
const struct rck_rule *rck_rule_find(const char *id); /* NULL: no such rule */

/* What to do about a finding: the remedy of the kernel's cause where the rule is about
 * declarations, else the rule's own. reached: what is declared is used, by a path that
 * was found. */
const char *rck_rule_remedy(
	const struct rck_rule *rule, enum rck_cause cause, bool reached);
