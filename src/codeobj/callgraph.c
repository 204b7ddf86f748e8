#include "codeobj/callgraph.h"
#include "codeobj/flow.h"
#include "codeobj/image.h"
#include "codeobj/private.h"
#include "codeobj/source-line.h"
#include "util/pool.h"
#include "util/shorten.h"
#include "util/strbuf.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NODES 4096 /* functions that one kernel reaches */

/* ---- the cache: disassemblers to borrow, and what equal code was found to do */

struct handle {
	struct handle *next;
	struct rck_disasm *disasm;
	bool wave64;
	char target[64];
};

/* Bytes, their reading and how they are entered. */
struct key {
	uint64_t hash, second, size, family;
	unsigned pointer;
	bool kernel;
};

struct shared {
	struct shared *next;
	struct key key;
	struct rck_flow flow;
};

#define BUCKETS 4096

struct rck_callgraph_cache {
	pthread_mutex_t lock;
	struct handle *idle;
	struct shared *buckets[BUCKETS];
};

struct rck_callgraph_cache *rck_callgraph_cache_new(void)
{
	struct rck_callgraph_cache *c = rck_xcalloc(1, sizeof(*c));

	pthread_mutex_init(&c->lock, NULL);
	return c;
}

void rck_callgraph_cache_free(struct rck_callgraph_cache *c)
{
	if (!c)
		return;
	for (struct handle *h = c->idle, *next; h; h = next) {
		next = h->next;
		rck_disasm_close(h->disasm);
		free(h);
	}
	for (size_t i = 0; i < BUCKETS; i++) {
		for (struct shared *s = c->buckets[i], *next; s; s = next) {
			next = s->next;
			rck_flow_free(&s->flow);
			free(s);
		}
	}
	pthread_mutex_destroy(&c->lock);
	free(c);
}

static int borrow(struct rck_callgraph_cache *c, const char *target, bool wave64,
	struct handle **out, struct rck_diag *diag)
{
	const struct rck_disasm_options options = {.wave64 = wave64};
	struct handle **at, *h = NULL;
	int err;

	pthread_mutex_lock(&c->lock);
	for (at = &c->idle; *at; at = &(*at)->next) {
		if ((*at)->wave64 == wave64 && !strcmp((*at)->target, target)) {
			h = *at;
			*at = h->next;
			break;
		}
	}
	pthread_mutex_unlock(&c->lock);
	if (!h) {
		h = rck_xcalloc(1, sizeof(*h));
		h->wave64 = wave64;
		snprintf(h->target, sizeof(h->target), "%s", target);
		err = rck_disasm_open(target, &options, &h->disasm, diag);
		if (err) {
			free(h);
			return err;
		}
	}
	*out = h;
	return 0;
}

static void give_back(struct rck_callgraph_cache *c, struct handle *h)
{
	if (!h)
		return;
	pthread_mutex_lock(&c->lock);
	h->next = c->idle;
	c->idle = h;
	pthread_mutex_unlock(&c->lock);
}

static struct shared *find_shared(struct rck_callgraph_cache *c, const struct key *k)
{
	struct shared *s;

	pthread_mutex_lock(&c->lock);
	for (s = c->buckets[k->hash % BUCKETS]; s; s = s->next)
		if (!memcmp(&s->key, k, sizeof(*k)))
			break;
	pthread_mutex_unlock(&c->lock);
	return s;
}

static void add_shared(struct rck_callgraph_cache *c, struct shared *s)
{
	struct shared **bucket = &c->buckets[s->key.hash % BUCKETS];

	pthread_mutex_lock(&c->lock);
	s->next = *bucket;
	*bucket = s;
	pthread_mutex_unlock(&c->lock);
}

/* ---- one code object */

/* What was found about the code at an address of this object. */
struct local {
	uint64_t address;
	const struct rck_flow *flow;
	struct rck_flow *own; /* not in the cache; NULL when it is */
};

struct rck_callgraph {
	struct rck_code_object *co;
	struct rck_callgraph_cache *cache, *own_cache;
	const struct rck_function *functions; /* sorted by address */
	size_t n_functions;
	struct rck_image *image;
	struct handle *handle; /* NULL: why says it */
	char why[256];
	struct local *locals;
	size_t n_locals;
	struct rck_lines *lines;
	bool tried_lines;
	struct rck_arena *names;
};

static const struct rck_function *function_at(
	const struct rck_callgraph *g, uint64_t address)
{
	size_t lo = 0, hi = g->n_functions;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (g->functions[mid].address < address)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < g->n_functions && g->functions[lo].address == address
		       ? &g->functions[lo]
		       : NULL;
}

int rck_callgraph_new(struct rck_code_object *co, struct rck_callgraph_cache *cache,
	struct rck_callgraph **out)
{
	struct rck_callgraph *g = rck_xcalloc(1, sizeof(*g));
	struct rck_diag diag;
	bool wave64 = co->n_kernels && !co->kernels[0].kd.wavefront32;

	g->co = co;
	g->own_cache = cache ? NULL : rck_callgraph_cache_new();
	g->cache = cache ? cache : g->own_cache;
	g->functions = rck_code_object_functions(co, &g->n_functions);
	g->n_functions = g->functions ? g->n_functions : 0;
	g->names = rck_arena_new(0);
	g->image = rck_image_open(co);
	if (!g->image)
		snprintf(g->why, sizeof(g->why),
			"the code object is not linked: its calls go nowhere yet");
	else if (borrow(g->cache, co->processor, wave64, &g->handle, &diag))
		snprintf(g->why, sizeof(g->why), "cannot disassemble: %s", diag.msg);
	*out = g;
	return 0;
}

void rck_callgraph_free(struct rck_callgraph *g)
{
	if (!g)
		return;
	for (size_t i = 0; i < g->n_locals; i++) {
		if (g->locals[i].own)
			rck_flow_free(g->locals[i].own);
		free(g->locals[i].own);
	}
	free(g->locals);
	give_back(g->cache, g->handle);
	rck_callgraph_cache_free(g->own_cache);
	rck_image_close(g->image);
	rck_lines_close(g->lines);
	rck_arena_free(g->names);
	free(g);
}

static bool load(void *user, uint64_t address, size_t n, uint32_t *out)
{
	return rck_image_load(((struct rck_callgraph *)user)->image, address, n, out);
}

static bool is_function(void *user, uint64_t address)
{
	return function_at(user, address);
}

/* The first of the SGPRs that hold the kernarg segment's address at the kernel's entry
 * (AMDGPUUsage, "Initial Kernel Execution State": user SGPRs in the order of the
 * descriptor's bits). */
static unsigned kernarg_sgpr(const struct rck_kernel *k)
{
	uint32_t p = k->kd.properties;

	if (!(p & 8))
		return UINT_MAX;
	return 4 * (p & 1) + 2 * (p >> 1 & 1) + 2 * (p >> 2 & 1);
}

#define IMPLICIT_ARGUMENTS 8 /* s[8:9] */

/* "gfx1030" and "gfx1031" read the same bytes in the same way: all but the stepping. */
static uint64_t family_of(const struct rck_callgraph *g)
{
	size_t len = strlen(g->co->processor);

	return rck_hash_bytes(g->co->processor, len ? len - 1 : 0) ^
	       (uint64_t)g->handle->wave64;
}

/* The code from address to its function's end; NULL: not in the file. */
static const uint8_t *code_at(
	struct rck_callgraph *g, uint64_t address, uint64_t known, uint64_t *size)
{
	const struct rck_function *f = function_at(g, address);
	uint64_t avail;
	const uint8_t *p = rck_elf_at(&rck_parse_of(g->co)->elf, address, &avail);

	*size = f && f->size ? f->size : known;
	if (!*size || *size > avail)
		*size = avail;
	return p;
}

static const struct rck_flow *flow_of(
	struct rck_callgraph *g, uint64_t address, const struct rck_kernel *k)
{
	struct rck_flow_input in = {
		.address = address,
		.kernel = k,
		.pointer = k ? kernarg_sgpr(k) : IMPLICIT_ARGUMENTS,
		.dwords = !strncmp(g->co->processor, "gfx6", 4) ||
			  !strncmp(g->co->processor, "gfx7", 4),
		.disasm = g->handle->disasm,
		.load = load,
		.is_function = is_function,
		.user = g,
	};
	struct shared *s;
	struct local *l;

	for (size_t i = 0; i < g->n_locals; i++)
		if (g->locals[i].address == address)
			return g->locals[i].flow;
	in.code = code_at(g, address, k ? k->kd.code_size : 0, &in.size);
	if (!in.code)
		return NULL;
	struct key key;

	memset(&key, 0, sizeof(key)); /* compared as bytes */
	key.hash = rck_hash_bytes(in.code, in.size);
	key.second = rck_hash_bytes(in.code, in.size / 2);
	key.size = in.size;
	key.family = family_of(g);
	key.pointer = in.pointer;
	key.kernel = in.kernel;
	g->locals = rck_xrealloc(g->locals, (g->n_locals + 1) * sizeof(*g->locals));
	l = &g->locals[g->n_locals++];
	*l = (struct local){.address = address};
	s = find_shared(g->cache, &key);
	if (!s) {
		s = rck_xcalloc(1, sizeof(*s));
		memcpy(&s->key, &key, sizeof(key));
		rck_flow_run(&in, &s->flow);
		if (s->flow.placed) {
			l->own = rck_xmalloc(sizeof(*l->own));
			*l->own = s->flow;
			free(s);
			return l->flow = l->own;
		}
		add_shared(g->cache, s);
	}
	return l->flow = &s->flow;
}

/* ---- names */

/* Without return type and parameters: a path is read, not linked. */
static char *short_name(struct rck_callgraph *g, const char *mangled)
{
	const char *name = rck_demangle(g->names, mangled);
	struct rck_strbuf out = RCK_STRBUF_INIT;

	rck_shorten_name(&out, name, strlen(name));
	return rck_strbuf_detach(&out);
}

static char *name_of(struct rck_callgraph *g, uint64_t address)
{
	const struct rck_function *f = function_at(g, address);

	return f ? short_name(g, f->name)
		 : rck_xasprintf("function at 0x%llx", (unsigned long long)address);
}

/* ---- reaching */

enum goal { HOSTCALL, HEAP, GOALS };

static const struct {
	const char *prefix;   /* of the functions that are it */
	const char *argument; /* that the deed loads */
	const char *calls, *reads, *none;
} goals[GOALS] = {
	[HOSTCALL] = {"__ockl_hostcall", "hidden_hostcall_buffer", "calls it by name",
		"loads the hostcall buffer's address and uses it",
		"no function it can call makes a hostcall or loads the buffer's address"},
	[HEAP] = {"__ockl_dm_", "hidden_heap_v1", "calls it by name",
		"loads the heap's address and uses it",
		"no function it can call allocates or loads the heap's address"},
};

struct node {
	uint64_t address;
	bool pointer;  /* what it is given in s[8:9] is the kernarg segment + delta */
	int64_t delta; /* bytes */
	size_t parent;
};

struct walk {
	struct rck_callgraph *g;
	const struct rck_kernel *k;
	struct rck_reach *out;
	struct node *nodes;
	size_t n;
	int64_t slots[GOALS]; /* of the argument in the kernarg segment; -1: none */
	bool by_name[GOALS], loose;
	bool nameless; /* a function without a symbol was met */
	const char *gave_up;
	char *gave_up_in;
};

static struct rck_route *route(struct walk *w, enum goal goal)
{
	return goal == HOSTCALL ? &w->out->hostcall : &w->out->heap;
}

static void found(struct walk *w, enum goal goal, size_t node, const char *proof)
{
	struct rck_route *r = route(w, goal);
	size_t chain[64], n = 0;
	struct rck_strbuf path = RCK_STRBUF_INIT;

	if (r->state == RCK_REACH_YES)
		return;
	for (; node && n < 64; node = w->nodes[node].parent)
		chain[n++] = node;
	char *name = short_name(w->g, w->k->name);

	rck_strbuf_adds(&path, name);
	free(name);
	while (n--) {
		name = name_of(w->g, w->nodes[chain[n]].address);
		rck_strbuf_addf(&path, " -> %s", name);
		free(name);
	}
	r->state = RCK_REACH_YES;
	r->confidence = RCK_CONFIDENCE_HIGH;
	r->path = rck_strbuf_detach(&path);
	r->proof = rck_xstrdup(proof);
}

static void add_node(struct walk *w, const struct node *n)
{
	for (size_t i = 0; i < w->n; i++)
		if (w->nodes[i].address == n->address &&
			w->nodes[i].pointer == n->pointer &&
			w->nodes[i].delta == n->delta)
			return;
	if (w->n == MAX_NODES) {
		w->gave_up = "more functions than are looked at";
		return;
	}
	if (!(w->n & (w->n - 1)))
		w->nodes =
			rck_xrealloc(w->nodes, (w->n ? w->n * 2 : 1) * sizeof(*w->nodes));
	w->nodes[w->n++] = *n;
}

/* What the function itself does with the followed pointer. */
static void look_at_uses(struct walk *w, size_t i, const struct rck_flow *flow)
{
	const struct node *n = &w->nodes[i];

	for (size_t u = 0; u < flow->n_used; u++) {
		int64_t offset = n->delta + flow->used[u];

		if (!n->pointer) {
			w->loose = true;
			continue;
		}
		for (int goal = 0; goal < GOALS; goal++)
			if (w->slots[goal] >= 0 && (offset == w->slots[goal] ||
							   offset == w->slots[goal] + 4))
				found(w, (enum goal)goal, i, goals[goal].reads);
	}
	w->loose |= flow->escapes;
}

static void visit(struct walk *w, size_t i)
{
	const struct node n = w->nodes[i];
	const struct rck_function *f = i ? function_at(w->g, n.address) : NULL;
	const struct rck_flow *flow;

	for (int goal = 0; f && goal < GOALS; goal++)
		if (!strncmp(f->name, goals[goal].prefix, strlen(goals[goal].prefix)))
			found(w, (enum goal)goal, i, goals[goal].calls);
	if (f &&
		!strncmp(f->name, goals[HOSTCALL].prefix, strlen(goals[HOSTCALL].prefix)))
		return;
	w->nameless |= i && !f;
	flow = flow_of(w->g, n.address, i ? NULL : w->k);
	if (!flow || flow->gave_up) {
		if (!w->gave_up) {
			w->gave_up =
				flow ? flow->gave_up : "code that is not in the file";
			w->gave_up_in = name_of(w->g, n.address);
		}
		if (!flow)
			return;
	}
	if (flow->indirect && !w->out->indirect)
		w->out->indirect_in = name_of(w->g, n.address);
	w->out->indirect += flow->indirect;
	look_at_uses(w, i, flow);
	for (size_t c = 0; c < flow->n_calls; c++) {
		const struct rck_flow_call *call = &flow->calls[c];

		add_node(w, &(struct node){.address = n.address + call->target,
				    .pointer = n.pointer && call->pointer,
				    .delta = call->pointer ? n.delta + call->delta : 0,
				    .parent = i});
	}
}

/* The kernel's own hidden arguments. */
static void find_slots(struct walk *w)
{
	for (int goal = 0; goal < GOALS; goal++) {
		w->slots[goal] = -1;
		for (size_t i = 0; i < w->k->n_args; i++)
			if (!strcmp(w->k->args[i].value_kind, goals[goal].argument))
				w->slots[goal] = (int64_t)w->k->args[i].offset;
	}
}

static void conclude(struct walk *w, enum goal goal)
{
	struct rck_route *r = route(w, goal);

	if (r->state == RCK_REACH_YES)
		return;
	r->confidence = RCK_CONFIDENCE_LOW;
	if (w->gave_up) {
		r->proof = rck_xasprintf("not followed to its end: %s%s%s", w->gave_up,
			w->gave_up_in ? " in " : "", w->gave_up_in ? w->gave_up_in : "");
	} else if (w->out->indirect) {
		r->proof = rck_xasprintf("%zu indirect call%s, the first in %s",
			w->out->indirect, w->out->indirect == 1 ? "" : "s",
			w->out->indirect_in);
	} else if (w->loose && (w->nameless || !w->g->n_functions)) {
		r->proof = rck_xstrdup("functions have no names, and the pointer to the "
				       "hidden arguments is not followed everywhere");
	} else {
		r->state = RCK_REACH_NO;
		r->confidence = w->loose ? RCK_CONFIDENCE_MEDIUM : RCK_CONFIDENCE_HIGH;
		r->proof =
			rck_xasprintf("%s (%zu function%s looked at)", goals[goal].none,
				w->out->functions, w->out->functions == 1 ? "" : "s");
	}
}

static void find_source(
	struct rck_callgraph *g, const struct rck_kernel *k, struct rck_reach *out)
{
	const char *file;

	if (!g->tried_lines)
		g->lines = rck_lines_open(g->co);
	g->tried_lines = true;
	if (g->lines && k->kd.found &&
		rck_lines_find(g->lines, k->kd.entry_address, &file, &out->line))
		out->source = rck_xstrdup(file);
}

int rck_callgraph_reach(
	struct rck_callgraph *g, const struct rck_kernel *k, struct rck_reach *out)
{
	struct walk w = {.g = g, .k = k, .out = out};
	const char *why = g->handle ? "its code was not found" : g->why;

	*out = (struct rck_reach){0};
	find_source(g, k, out);
	if (!g->handle || !k->kd.found) {
		out->hostcall.proof = rck_xstrdup(why);
		out->heap.proof = rck_xstrdup(why);
		return 0;
	}
	find_slots(&w);
	add_node(&w, &(struct node){.address = k->kd.entry_address, .pointer = true});
	for (size_t i = 0; i < w.n; i++)
		visit(&w, i);
	out->functions = w.n;
	conclude(&w, HOSTCALL);
	conclude(&w, HEAP);
	free(w.nodes);
	free(w.gave_up_in);
	return 0;
}

void rck_reach_release(struct rck_reach *r)
{
	free(r->hostcall.path);
	free(r->hostcall.proof);
	free(r->heap.path);
	free(r->heap.proof);
	free(r->indirect_in);
	free(r->source);
	*r = (struct rck_reach){0};
}
