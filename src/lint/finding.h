/*
 * Kernels -> findings: one run of the rules over any number of files.
 *
 * rck_lint_check() does the work for one code object and may run on several threads at
 * once; everything else is called by one thread at a time, in the order of the files, and
 * so the result does not depend on the number of threads. Strings in the result belong to
 * the run.
 */
#pragma once

#include "lint/baseline.h"
#include "lint/policy.h"
#include "lint/rule.h"
#include "util/pool.h"

struct rck_lint_options {
	const struct rck_policy *policy; /* borrowed; allow entries' hits are counted */
	struct rck_baseline *baseline;   /* or NULL; its entries' seen are counted */
	const char *cwd;                 /* what relative paths start from */
	const char *root;                /* what the paths of results are relative to */
	bool all_names; /* demangle the names of kernels without findings, too */
	bool no_reach;  /* do not disassemble */
	bool sources;   /* a run of rules of sources */
};

enum rck_kernel_flag {
	RCK_FLAG_HOSTCALL = 1,
	RCK_FLAG_HEAP = 2,
	RCK_FLAG_STACK = 4,
	RCK_FLAG_STACK_POSSIBLE = 8,
};

/* One kernel of one code object. */
struct rck_lint_kernel {
	const char *name, *demangled; /* the same name has the same pointer */
	const char *target;
	uint32_t file;
	unsigned version; /* of its code object */
	unsigned flags;   /* enum rck_kernel_flag */
	enum rck_cause cause;
	enum rck_confidence confidence;
	uint64_t vgprs, agprs, sgprs, spills, scratch, lds; /* 0 when not stated */
	uint64_t code_size;
	uint64_t body; /* a hash of its code without what linking moves; 0: not known */
	const uint8_t *code; /* until the end of its file; NULL: not kept */
	uint8_t worst;       /* enum rck_severity of its worst new finding */
};

enum rck_status {
	RCK_STATUS_NEW,
	RCK_STATUS_ALLOWED, /* by allow */
	RCK_STATUS_BASELINED,
};
const char *rck_status_name(enum rck_status s);

#define RCK_NO_KERNEL SIZE_MAX

struct rck_finding {
	const struct rck_rule *rule;
	enum rck_state state; /* fail or maybe */
	enum rck_severity severity;
	enum rck_status status;
	const struct rck_allow *allow;
	uint32_t file;
	size_t kernel;      /* index into kernels, or RCK_NO_KERNEL */
	const char *target; /* the kernel's or the rule's; "" when it is of none */
	const char *where;  /* of the leaf in the file */
	const char *text;
	const char *remedy; /* instead of the rule's own, or NULL */
	bool counted;
	uint64_t value;
	/* about the hostcall or the heap, where the rule is */
	const char *path;  /* "kernel -> f -> __ockl_..." or NULL */
	const char *proof; /* one clause, or NULL */
	enum rck_confidence confidence;
	const char *source; /* of the kernel, by debug information; NULL: not known */
	unsigned line;
};

struct rck_lint_file {
	const char *path; /* as it was given */
	const char *relative;
	const char *key; /* relative, as a baseline can hold it */
	bool named;
	size_t objects, kernels; /* counts */
	size_t incomplete, errors;
	size_t flagged; /* kernels that declare anything */
};

struct rck_lint_error {
	uint32_t file;
	const char *where;
	struct rck_diag diag;
};

struct rck_lint {
	struct rck_lint_options opt;
	struct rck_pool strings;
	struct rck_lint_file *files;
	size_t n_files;
	struct rck_lint_kernel *kernels;
	size_t n_kernels;
	struct rck_finding *findings; /* in the order of files, code objects, kernels */
	size_t n_findings;
	struct rck_lint_error *errors;
	size_t n_errors;
	uint64_t states[RCK_RULE_COUNT_][RCK_STATE_COUNT_];
	size_t objects, sources, incomplete_allowed;
	struct rck_callgraph_cache *cache; /* private from here */
	struct rck_lint_seen *seen;
	size_t n_seen, cap_seen;
	size_t file_kernels; /* the first of the current file */
};

/* What one code object has to say, on its way from the thread that checked it. */
struct rck_lint_part;

/* *opt is copied, what it points to is borrowed until the release. */
void rck_lint_init(struct rck_lint *l, const struct rck_lint_options *opt);
void rck_lint_release(struct rck_lint *l);

/* Checks one code object; free with rck_lint_take. Thread-safe. */
struct rck_lint_part *rck_lint_check(
	struct rck_lint *l, const struct rck_item *item, struct rck_code_object *co);

void rck_lint_begin(struct rck_lint *l, const char *path, bool named);
void rck_lint_take(struct rck_lint *l, struct rck_lint_part *part);
/* remedy: what to do about it, a literal; NULL: the rule's own. */
void rck_lint_incomplete(struct rck_lint *l, const char *where, const struct rck_diag *d,
	const char *remedy);
void rck_lint_error(struct rck_lint *l, const char *where, const struct rck_diag *d);
/* The next file is a source, about which rules of sources speak. */
void rck_lint_begin_source(struct rck_lint *l, const char *path);
/* A finding of a rule of sources, at a line of the current file (0: none). */
void rck_lint_source(struct rck_lint *l, enum rck_rule_id id, const char *target,
	unsigned line, const char *text);
/* The same rule looked at the current file and found nothing, or could not tell. */
void rck_lint_source_state(struct rck_lint *l, enum rck_rule_id id, enum rck_state state);
void rck_lint_end(struct rck_lint *l);
/* After the last file: what only the whole run can tell. */
void rck_lint_finish(struct rck_lint *l);

/* A finding that decides: new, a fail (or a maybe where the policy says so), and of the
 * policy's severity or above. */
bool rck_finding_counts(const struct rck_lint *l, const struct rck_finding *f);
/* 0 nothing, 1 findings that count, 2 errors or incomplete code that is not allowed. */
int rck_lint_verdict(const struct rck_lint *l);
/* A baseline's entry for a file of this run that was found less often than it says. */
bool rck_baseline_is_stale(const struct rck_lint *l, const struct rck_baseline_entry *e);
/* The key under which a baseline knows a finding. */
struct rck_baseline_key rck_finding_key(struct rck_lint *l, const struct rck_finding *f);
/* A path below root becomes relative to it; others stay. free() it. */
char *rck_lint_relative(const char *root, const char *cwd, const char *path);
