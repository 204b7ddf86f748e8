/*
 * What a kernel can reach: the functions of its own code object that it calls, found by
 * disassembling, and whether one of them makes a hostcall or uses the device heap.
 *
 * Two proofs are known. By name: a call reaches __ockl_hostcall_* (or the allocator). By
 * deed: reachable code loads the implicit argument that holds the hostcall buffer (or the
 * heap), which also finds what was inlined and what was stripped of its names. That
 * nothing is reached is said only when every call was resolved and the pointer to the
 * implicit arguments never left the registers that are followed.
 */
#pragma once

#include "codeobj/codeobj.h"

enum rck_reach_state {
	RCK_REACH_UNKNOWN, /* could not be found out; note says why */
	RCK_REACH_NO,      /* no path exists */
	RCK_REACH_YES,     /* path and proof say how */
};

struct rck_route {
	enum rck_reach_state state;
	enum rck_confidence confidence;
	char *path;  /* YES: "kernel -> f -> __ockl_hostcall_preview", demangled names;
			an inlined use has the kernel alone */
	char *proof; /* YES: one clause. UNKNOWN: why not. NO: what was looked at */
};

struct rck_reach {
	struct rck_route hostcall, heap;
	size_t functions;  /* functions looked at, the kernel included */
	size_t indirect;   /* calls whose target is not known */
	char *indirect_in; /* the function with the first of them, or NULL */
	char *source;      /* file of the kernel by its debug information, or NULL */
	unsigned line;     /* 0: not known */
};

struct rck_callgraph_cache;

/* Results for equal code are shared, across targets and threads. NULL: no memory. */
struct rck_callgraph_cache *rck_callgraph_cache_new(void);
void rck_callgraph_cache_free(struct rck_callgraph_cache *cache);

struct rck_callgraph;

/*
 * Reads the functions of a code object. cache may be NULL and must outlive the graph. One
 * thread at a time. Never fails for want of a disassembler: the routes are then UNKNOWN.
 */
int rck_callgraph_new(struct rck_code_object *co, struct rck_callgraph_cache *cache,
	struct rck_callgraph **out);
void rck_callgraph_free(struct rck_callgraph *g); /* NULL is fine */
/* Fills *out, to be ended by rck_reach_release. Returns 0. */
int rck_callgraph_reach(
	struct rck_callgraph *g, const struct rck_kernel *k, struct rck_reach *out);
void rck_reach_release(struct rck_reach *r);
