/* One code object against the rules, on whatever thread has it. */
#include "lint/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static unsigned flags_of(const struct rck_kernel *k)
{
	return (k->declares_hostcall ? RCK_FLAG_HOSTCALL : 0u) |
	       (k->declares_heap ? RCK_FLAG_HEAP : 0u) |
	       (k->dynamic_stack == RCK_YES ? RCK_FLAG_STACK : 0u) |
	       (k->dynamic_stack == RCK_POSSIBLE ? RCK_FLAG_STACK_POSSIBLE : 0u);
}

static uint64_t number(const struct rck_kernel *k, enum rck_fact fact)
{
	struct rck_value v = {0};

	return !rck_kernel_fact(k, fact, &v) && v.known ? v.number : 0;
}

/* SOP2 s_add_u32 or s_addc_u32 with a literal (AMD's ISA documents, "SOP2": bits 31:30
 * are 2, op in 29:23, operand 255 is "literal"): the literal behind it is how far away,
 * by s_getpc, something was placed. */
static bool adds_literal(uint32_t w)
{
	uint32_t op = w >> 23 & 0x7f;

	return w >> 30 == 2 && (op == 0 || op == 4) &&
	       ((w & 0xff) == 0xff || (w >> 8 & 0xff) == 0xff);
}

uint64_t rck_lint_body(const uint8_t *code, uint64_t size)
{
	uint64_t h = 0xcbf29ce484222325 ^ size;
	bool literal = false;

	for (uint64_t i = 0; i + 4 <= size; i += 4) {
		uint32_t w = rck_le32(code + i);

		if (!literal)
			h = (h ^ w) * 0x100000001b3;
		literal = !literal && adds_literal(w);
	}
	return h ? h : 1;
}

static void keep_body(struct rck_lint_kernel *row, const struct rck_kernel *k,
	const struct rck_item *item)
{
	const struct rck_slice *s = &k->object->slice;

	row->code_size = k->kd.code_size;
	if (!k->kd.found || !k->kd.code_size || k->kd.entry == RCK_OFFSET_NONE ||
		!rck_range_ok(k->kd.entry, k->kd.code_size, s->size))
		return;
	/* mapped bytes stay until the file's end and are read only when the name comes
	   again; inflated ones go now */
	if (item && item->offset != RCK_OFFSET_NONE)
		row->code = s->data + k->kd.entry;
	else
		row->body = rck_lint_body(s->data + k->kd.entry, k->kd.code_size);
}

static void fill_row(struct rck_lint_part *part, struct rck_lint_kernel *row,
	const struct rck_kernel *k, const struct rck_item *item)
{
	*row = (struct rck_lint_kernel){
		.name = rck_pool_add(&part->strings, k->name),
		.target = part->target,
		.version = k->object->version,
		.flags = flags_of(k),
		.cause = k->cause,
		.confidence = k->confidence,
		.vgprs = number(k, RCK_FACT_VGPR_COUNT),
		.agprs = number(k, RCK_FACT_AGPR_COUNT),
		.sgprs = number(k, RCK_FACT_SGPR_COUNT),
		.spills =
			number(k, RCK_FACT_SGPR_SPILLS) + number(k, RCK_FACT_VGPR_SPILLS),
		.scratch = number(k, RCK_FACT_SCRATCH),
		.lds = number(k, RCK_FACT_LDS),
	};
	keep_body(row, k, item);
}

static struct rck_finding *add_finding(struct rck_lint_part *part)
{
	part->findings = rck_xrealloc(
		part->findings, (part->n_findings + 1) * sizeof(*part->findings));
	return &part->findings[part->n_findings++];
}

/* The route that a rule is about, or NULL. */
static const struct rck_route *route_of(
	const struct rck_rule *rule, const struct rck_reach *reach)
{
	if (!reach)
		return NULL;
	if (rule->number == RCK_RULE_HOSTCALL_DECLARED ||
		rule->number == RCK_RULE_HOSTCALL_UNREACHED)
		return &reach->hostcall;
	return rule->number == RCK_RULE_HEAP_DECLARED ? &reach->heap : NULL;
}

static void run_rule(struct rck_lint_part *part, const struct rck_rule *rule,
	const struct rck_subject *s, size_t row)
{
	struct rck_verdict v = {.text = RCK_STRBUF_INIT};
	enum rck_state state = rule->check(s, &v);
	const struct rck_route *route = route_of(rule, s->reach);

	part->states[rule->number][state]++;
	if (state == RCK_STATE_FAIL || state == RCK_STATE_MAYBE) {
		struct rck_finding *f = add_finding(part);

		*f = (struct rck_finding){
			.rule = rule,
			.state = state,
			.kernel = row,
			.target = part->target,
			.where = part->where,
			.text = rck_pool_add(&part->strings, v.text.buf),
			.counted = v.counted,
			.value = v.value,
			.confidence = RCK_CONFIDENCE_HIGH,
		};
		if (s->kernel && rule->number == RCK_RULE_BUILT_WITHOUT_OPTIMIZATION)
			f->confidence = s->kernel->confidence;
		if (route) {
			f->confidence = route->confidence;
			f->path = rck_pool_add(&part->strings, route->path);
			f->proof = rck_pool_add(&part->strings, route->proof);
		}
		if (s->reach && s->reach->source) {
			f->source = rck_pool_add(&part->strings, s->reach->source);
			f->line = s->reach->line;
		}
	}
	rck_strbuf_release(&v.text);
}

static void run_rules(struct rck_lint_part *part, const struct rck_policy *policy,
	struct rck_subject *s, enum rck_scope scope, size_t row)
{
	for (size_t i = 0; i < RCK_RULE_COUNT_; i++) {
		const struct rck_rule *rule = &rck_rules[i];

		if (rule->scope != scope || policy->severity[i] == RCK_SEVERITY_OFF)
			continue;
		s->limit = rule->limit < 0
				   ? NULL
				   : rck_policy_limit(policy, (enum rck_limit)rule->limit,
					     part->target);
		run_rule(part, rule, s, row);
	}
}

struct rck_lint_part *rck_lint_check(
	struct rck_lint *l, const struct rck_item *item, struct rck_code_object *co)
{
	struct rck_lint_part *part = rck_xcalloc(1, sizeof(*part));
	struct rck_subject s = {.co = co};
	struct rck_callgraph *graph = NULL;
	bool tried = l->opt.no_reach;

	part->target = rck_pool_add(&part->strings, co->target);
	part->where = rck_pool_add(&part->strings, item ? item->where : "");
	part->n_kernels = co->n_kernels;
	part->kernels = rck_xcalloc(co->n_kernels + 1, sizeof(*part->kernels));
	run_rules(part, l->opt.policy, &s, RCK_SCOPE_OBJECT, RCK_NO_KERNEL);
	for (size_t i = 0; i < co->n_kernels; i++) {
		const struct rck_kernel *k = &co->kernels[i];
		struct rck_lint_kernel *row = &part->kernels[i];
		size_t before = part->n_findings;
		struct rck_reach reach;

		fill_row(part, row, k, item);
		s.kernel = k;
		s.reach = NULL;
		if (k->declares_hostcall || k->declares_heap) {
			if (!tried && rck_callgraph_new(co, l->cache, &graph))
				graph = NULL;
			tried = true;
			if (graph && !rck_callgraph_reach(graph, k, &reach))
				s.reach = &reach;
		}
		run_rules(part, l->opt.policy, &s, RCK_SCOPE_KERNEL, i);
		if (s.reach)
			rck_reach_release(&reach);
		if (l->opt.all_names || part->n_findings > before)
			row->demangled =
				rck_pool_add(&part->strings, rck_kernel_demangled(k));
	}
	rck_callgraph_free(graph);
	return part;
}
