/*
 * Watching execution, instruction by instruction: RCK_SOFT_TRACE writes each one with its
 * wave, RCK_SOFT_COUNT counts them by kernel and operation, RCK_SOFT_SANITIZE checks
 * them. Each is a file's name, or - (also 1) for stderr. Without them nothing here runs.
 * The first two have the groups run one after another. Launches of several queues write
 * into the same files: whole blocks at once, and the trace's block names its launch when
 * another's lines came before it.
 */
#include "softgpu/report.h"
#include "softgpu/sanitize.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_MAX_BYTES 1024

struct sink {
	const char *path;
	int fd; /* -1: not asked for, or lost */
};

struct tally {
	const struct sg_op *op;
	uint64_t n;
};

struct watch {
	struct sink trace, count;
	FILE *findings;
	struct sg_san *san;
	uint64_t launch; /* its number in this process, from 1 */
	uint64_t total, lanes;
	char line[360];    /* of the source, that the trace named last */
	char block[16384]; /* of the trace: whole lines */
	size_t block_len;
	struct tally op[4096]; /* open addressing by the operation's address */
};

static pthread_mutex_t files = PTHREAD_MUTEX_INITIALIZER;
static uint64_t traced_last; /* the launch whose lines came last; under files */
static uint64_t launches;

/* Once a process: that what was asked for is not there, or not whole. */
static void lost(const char *path, int error)
{
	static atomic_flag told = ATOMIC_FLAG_INIT;

	if (atomic_flag_test_and_set(&told))
		return;
	dprintf(STDERR_FILENO, "rocmcheck softgpu: cannot write '%s': %s\n", path,
		strerror(error));
	sg_report('?');
}

/* What the variable names, to append to. */
static struct sink open_env(const char *name)
{
	struct sink k = {getenv(name), -1};

	if (!k.path || !*k.path)
		return k;
	k.fd = strcmp(k.path, "-") && strcmp(k.path, "1")
		       ? open(k.path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)
		       : fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	if (k.fd < 0)
		lost(k.path, errno);
	return k;
}

static void sink_write(struct sink *k, const char *text, size_t len)
{
	for (size_t done = 0; k->fd >= 0 && done < len;) {
		ssize_t n = write(k->fd, text + done, len - done);

		if (n >= 0) {
			done += (size_t)n;
		} else if (errno != EINTR) {
			lost(k->path, errno);
			close(k->fd);
			k->fd = -1;
		}
	}
}

static void sink_close(struct sink *k)
{
	if (k->fd >= 0)
		close(k->fd);
}

static void print_kernel(FILE *f, const struct sg_run *r)
{
	const char *p = r->k.launch->kernel;

	for (p = p ? p : "?"; *p; p++)
		fputc(sg_masked(*p), f);
}

bool sg_watch_open(struct sg_run *r)
{
	struct sink trace = open_env("RCK_SOFT_TRACE");
	struct sink count = open_env("RCK_SOFT_COUNT");
	struct sink findings = open_env("RCK_SOFT_SANITIZE");
	struct watch *x;

	if (trace.fd < 0 && count.fd < 0 && findings.fd < 0)
		return true;
	x = calloc(1, sizeof(*x));
	if (!x) {
		sink_close(&trace);
		sink_close(&count);
		sink_close(&findings);
		return false;
	}
	x->trace = trace;
	x->count = count;
	x->findings = findings.fd < 0 ? NULL : fdopen(findings.fd, "a");
	x->san = x->findings ? sg_san_new(x->findings, r) : NULL;
	x->launch = __atomic_add_fetch(&launches, 1, __ATOMIC_RELAXED);
	r->watch = x;
	r->serial = trace.fd >= 0 || count.fd >= 0;
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

/* The line that names a launch; free() it; NULL: out of memory. */
static char *launch_line(const struct sg_run *r, size_t *len)
{
	const struct sg_packet *p = &r->k.launch->packet;
	char *text = NULL;
	FILE *f = open_memstream(&text, len);

	if (!f)
		return NULL;
	print_kernel(f, r);
	fprintf(f, ": %llu workgroups of %u,%u,%u, waves of %u\n",
		(unsigned long long)r->k.ngroups, p->workgroup_size[0],
		p->workgroup_size[1], p->workgroup_size[2], r->k.lanes);
	fclose(f);
	return text;
}

static void trace_flush(struct watch *x, const struct sg_run *r)
{
	char *named = NULL;
	size_t len = 0;

	if (!x->block_len)
		return;
	pthread_mutex_lock(&files);
	if (traced_last != x->launch)
		named = launch_line(r, &len);
	if (named)
		sink_write(&x->trace, named, len);
	traced_last = x->launch;
	sink_write(&x->trace, x->block, x->block_len);
	pthread_mutex_unlock(&files);
	free(named);
	x->block_len = 0;
}

static void trace_line(struct watch *x, struct sg_wave *w, const struct sg_inst *in)
{
	int64_t off = (int64_t)(in->pc - w->g->run->k.entry->pc);
	char text[256] = "", place[24], line[sizeof(x->line)];
	bool moved;
	int n;

	sg_program_text_locked((struct sg_program *)w->p, in->pc, text, sizeof(text));
	snprintf(place, sizeof(place), "%c%llx", off < 0 ? '-' : '+',
		(unsigned long long)(off < 0 ? -off : off));
	moved = sg_code_line(w->p->code, in->pc, line, sizeof(line));
	for (char *p = line; moved && *p; p++)
		*p = sg_masked(*p);
	moved = moved && strcmp(line, x->line) != 0;
	if (moved)
		strcpy(x->line, line);
	if (sizeof(x->block) - x->block_len < LINE_MAX_BYTES)
		trace_flush(x, w->g->run);
	n = snprintf(x->block + x->block_len, LINE_MAX_BYTES,
		"%u,%u,%u:%u %6s exec %016llx scc %u  %s%s%s\n", w->g->id[0], w->g->id[1],
		w->g->id[2], w->index, place, (unsigned long long)sg_exec(w),
		w->s[SG_S_SCC], text, moved ? "  ; " : "", moved ? line : "");
	x->block_len += (size_t)n; /* text and line are shorter than a line may be */
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
			if (x->trace.fd >= 0)
				trace_line(x, w, in);
			if (x->san)
				sg_san_step(x->san, w, in);
			if (x->count.fd >= 0)
				count(x, w, in->op);
		}
		in = in->exec(w, in);
	}
}

/* Most first; of as many, by name, so that equal counts are equal files. */
static int by_count(const void *a, const void *b)
{
	const struct tally *x = a, *y = b;

	if (x->n != y->n)
		return x->n < y->n ? 1 : -1;
	return x->n ? strcmp(x->op->name, y->op->name) : 0;
}

static void write_counts(struct watch *x, const struct sg_run *r)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	if (!f) {
		lost(x->count.path, ENOMEM);
		return;
	}
	qsort(x->op, 4096, sizeof(x->op[0]), by_count);
	print_kernel(f, r);
	fprintf(f,
		": %llu wave instructions, %llu lane instructions, %llu "
		"workgroups\n",
		(unsigned long long)x->total, (unsigned long long)x->lanes,
		(unsigned long long)r->k.ngroups);
	for (size_t i = 0; i < 4096 && x->op[i].n; i++)
		fprintf(f, "  %12llu %s\n", (unsigned long long)x->op[i].n,
			x->op[i].op->name);
	fclose(f);
	pthread_mutex_lock(&files);
	sink_write(&x->count, text, len);
	pthread_mutex_unlock(&files);
	free(text);
}

void sg_watch_close(struct sg_run *r)
{
	struct watch *x = r->watch;

	if (!x)
		return;
	trace_flush(x, r);
	if (x->count.fd >= 0 && r->k.entry)
		write_counts(x, r);
	sink_close(&x->count);
	sink_close(&x->trace);
	sg_san_free(x->san);
	if (x->findings)
		fclose(x->findings);
	free(x);
	r->watch = NULL;
}
