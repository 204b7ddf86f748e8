/*
 * Watching execution, instruction by instruction: RCK_SOFT_TRACE writes each one with its
 * wave, RCK_SOFT_COUNT counts them by kernel and operation, RCK_SOFT_SANITIZE checks
 * them. Each is a file's name, or - (also 1) for stderr. Without them nothing here runs.
 * The first two have the groups run one after another.
 */
#include "softgpu/sanitize.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct watch {
	FILE *trace, *count, *findings;
	struct sg_san *san;
	uint64_t total, lanes;
	char line[360]; /* of the source, that the trace named last */
	bool named;     /* the launch, by the trace */
	struct {
		const struct sg_op *op;
		uint64_t n;
	} op[4096]; /* open addressing by the operation's address */
};

/* The kernel's name, of which nothing may drive a terminal: it comes from a file. */
static void print_kernel(FILE *f, const struct sg_run *r)
{
	const char *p = r->k.launch->kernel;

	for (p = p ? p : "?"; *p; p++)
		fputc((unsigned char)*p < 0x20 || *p == 0x7f ? '?' : *p, f);
}

static FILE *open_env(const char *name)
{
	const char *path = getenv(name);

	if (!path || !*path)
		return NULL;
	return strcmp(path, "-") && strcmp(path, "1") ? fopen(path, "ae")
						      : fdopen(dup(2), "a");
}

static void trace_launch(const struct watch *x, const struct sg_run *r)
{
	const struct sg_packet *p = &r->k.launch->packet;

	print_kernel(x->trace, r);
	fprintf(x->trace, ": %llu workgroups of %u,%u,%u, waves of %u\n",
		(unsigned long long)r->k.ngroups, p->workgroup_size[0],
		p->workgroup_size[1], p->workgroup_size[2], r->k.lanes);
}

bool sg_watch_open(struct sg_run *r)
{
	struct watch *x;
	FILE *trace = open_env("RCK_SOFT_TRACE"), *count = open_env("RCK_SOFT_COUNT");
	FILE *findings = open_env("RCK_SOFT_SANITIZE");

	if (!trace && !count && !findings)
		return true;
	x = calloc(1, sizeof(*x));
	if (!x)
		return false;
	x->trace = trace;
	x->count = count;
	x->findings = findings;
	x->san = findings ? sg_san_new(findings) : NULL;
	r->watch = x;
	r->serial = trace || count;
	return true;
}

static void count(struct watch *x, const struct sg_wave *w, const struct sg_op *op)
{
	size_t h = ((uintptr_t)op >> 6) % 4096;

	while (x->op[h].op && x->op[h].op != op)
		h = (h + 1) % 4096;
	x->op[h].op = op;
	x->op[h].n++;
	x->total++;
	if (op->name[0] != 's') /* a scalar operation is the wave's, not its lanes' */
		x->lanes += (uint64_t)__builtin_popcountll(sg_exec(w));
}

static void trace_line(struct watch *x, struct sg_wave *w, const struct sg_inst *in)
{
	int64_t off = (int64_t)(in->pc - w->g->run->k.entry->pc);
	char text[256] = "", place[24], line[sizeof(x->line)];
	bool moved;

	if (!x->named)
		trace_launch(x, w->g->run);
	x->named = true;
	sg_program_text_locked((struct sg_program *)w->p, in->pc, text, sizeof(text));
	snprintf(place, sizeof(place), "%c%llx", off < 0 ? '-' : '+',
		(unsigned long long)(off < 0 ? -off : off));
	moved = sg_code_line(w->p->code, in->pc, line, sizeof(line)) &&
		strcmp(line, x->line) != 0;
	if (moved)
		strcpy(x->line, line);
	fprintf(x->trace, "%u,%u,%u:%u %6s exec %016llx scc %u  %s%s%s\n", w->g->id[0],
		w->g->id[1], w->g->id[2], w->index, place, (unsigned long long)sg_exec(w),
		w->s[SG_S_SCC], text, moved ? "  ; " : "", moved ? line : "");
}

void sg_watch_group_begin(struct sg_group *g)
{
	struct watch *x = g->run->watch;

	if (x && x->san)
		sg_san_group_begin(g);
}

void sg_watch_group_end(struct sg_group *g)
{
	sg_san_group_end(g);
}

void sg_watch_run(struct sg_wave *w)
{
	struct watch *x = w->g->run->watch;
	const struct sg_inst *in = w->ip;

	while (in) {
		if (in->op != &sg_op_link) {
			if (x->trace)
				trace_line(x, w, in);
			if (x->san)
				sg_san_step(x->san, w, in);
			if (x->count)
				count(x, w, in->op);
		}
		in = in->exec(w, in);
	}
}

static int by_count(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)((const char *)a + sizeof(void *));
	uint64_t y = *(const uint64_t *)((const char *)b + sizeof(void *));

	return x < y ? 1 : x > y ? -1 : 0;
}

void sg_watch_close(struct sg_run *r)
{
	struct watch *x = r->watch;

	if (!x)
		return;
	if (x->count && r->k.entry) {
		qsort(x->op, 4096, sizeof(x->op[0]), by_count);
		print_kernel(x->count, r);
		fprintf(x->count,
			": %llu wave instructions, %llu lane instructions, %llu "
			"workgroups\n",
			(unsigned long long)x->total, (unsigned long long)x->lanes,
			(unsigned long long)r->k.ngroups);
		for (size_t i = 0; i < 4096 && x->op[i].n; i++)
			fprintf(x->count, "  %12llu %s\n", (unsigned long long)x->op[i].n,
				x->op[i].op->name);
	}
	if (x->count)
		fclose(x->count);
	if (x->trace)
		fclose(x->trace);
	sg_san_free(x->san);
	if (x->findings)
		fclose(x->findings);
	free(x);
	r->watch = NULL;
}
