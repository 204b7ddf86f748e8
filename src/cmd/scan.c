#include "cmd/scan.h"
#include "container/container.h"
#include "util/msg.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_THREADS     256
#define JOBS_PER_THREAD 4
/* Rendered bytes that a job may hold while it waits for its turn. */
#define MAX_HELD  (1u << 20)
#define MAX_STDIN (UINT64_C(4) << 30)

/* A file on its way: opened and walked under the walk lock, closed when its end is
 * emitted. */
struct source {
	struct rck_scan_file pub;
	struct rck_file *file;
	void *memory; /* of standard input */
	bool walked;  /* to its end */
	int error;    /* with diag: told as a leaf, once */
	bool told;
	struct rck_diag diag;
};

struct leaf {
	struct rck_scan_leaf pub;
	struct job *job;
	struct rck_item *kept;
	char *where;
	struct leaf *next;
};

enum job_kind { JOB_BEGIN, JOB_LEAF, JOB_END };

struct job {
	struct scan *scan;
	struct source *source;
	enum job_kind kind;
	struct rck_item *item;     /* JOB_LEAF; NULL: source->error */
	struct rck_file *inflated; /* of a compressed item; outlives its leaves */
	struct leaf *first, **last;
	size_t held;
	uint64_t seq;
	bool done, has_turn;
};

struct scan {
	struct rck_inputs *in;
	const struct rck_scan_spec *spec;
	const struct rck_scan_ops *ops;
	struct rck_options options;
	atomic_bool stop;

	pthread_mutex_t walk;
	struct source *source; /* being walked */
	bool ended;
	uint64_t next_seq;

	/* order guards what follows; moved says that next_emit did */
	pthread_mutex_t order;
	pthread_cond_t moved;
	uint64_t next_emit;
	bool emitting;
	struct job **ring;
	uint64_t window;
};

/* ---- standard input */

static int read_all(int from, int to, uint64_t limit, struct rck_diag *diag)
{
	uint64_t total = 0;
	char buf[1 << 16];
	ssize_t n;

	while ((n = read(from, buf, sizeof(buf))) > 0 || (n < 0 && errno == EINTR)) {
		total += n > 0 ? (uint64_t)n : 0;
		if (total > limit)
			return rck_fail(diag, -E2BIG, limit,
				"standard input is larger than %llu bytes",
				(unsigned long long)limit);
		for (char *p = buf; n > 0;) {
			ssize_t done = write(to, p, (size_t)n);

			if (done < 0 && errno != EINTR)
				goto fail;
			p += done > 0 ? done : 0;
			n -= done > 0 ? done : 0;
		}
	}
	if (!n)
		return 0;
fail:
	return rck_fail(diag, -errno, RCK_OFFSET_NONE, "cannot read standard input: %s",
		strerror(errno));
}

/* Pipes cannot be mapped: their bytes go into an anonymous file first. */
static int open_stdin(struct scan *s, struct source *src)
{
	struct stat st;
	int fd, err;

	if (!fstat(0, &st) && S_ISREG(st.st_mode))
		return rck_file_open("/dev/stdin", &s->options, &src->file, &src->diag);
	fd = memfd_create("stdin", MFD_CLOEXEC);
	if (fd < 0)
		return rck_fail(&src->diag, -errno, RCK_OFFSET_NONE,
			"cannot keep standard input: %s", strerror(errno));
	err = read_all(0, fd, s->spec->max_inflated ? s->spec->max_inflated : MAX_STDIN,
		&src->diag);
	if (!err && !fstat(fd, &st)) {
		src->pub.size = (uint64_t)st.st_size;
		if (src->pub.size)
			src->memory =
				mmap(NULL, src->pub.size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (src->memory == MAP_FAILED) {
			src->memory = NULL;
			err = rck_fail(&src->diag, -errno, RCK_OFFSET_NONE,
				"cannot map standard input: %s", strerror(errno));
		}
	}
	close(fd);
	return err ? err
		   : rck_file_open_mem(src->memory ? src->memory : "", src->pub.size, "-",
			     &s->options, &src->file, &src->diag);
}

/* ---- the walk: what comes next, under the walk lock */

static struct source *open_source(struct scan *s, const struct rck_input *input, int err,
	const struct rck_diag *diag)
{
	struct source *src = rck_xcalloc(1, sizeof(*src));

	src->pub.path = rck_xstrdup(input->path);
	src->pub.named = input->named;
	src->error = err;
	if (err)
		src->diag = *diag;
	else if (input->standard_input)
		src->error = open_stdin(s, src);
	else
		src->error =
			rck_file_open(input->path, &s->options, &src->file, &src->diag);
	if (src->file)
		src->pub.size = rck_file_size(src->file);
	return src;
}

static struct job *new_job(struct scan *s, enum job_kind kind, struct rck_item *item)
{
	struct job *j = rck_xcalloc(1, sizeof(*j));

	*j = (struct job){.scan = s,
		.source = s->source,
		.kind = kind,
		.item = item,
		.last = &j->first,
		.seq = s->next_seq++};
	return j;
}

/* In a folder most files are none of ours. */
static bool is_foreign(const struct source *src, const struct rck_item *item)
{
	return !src->pub.named && item->kind == RCK_ITEM_ERROR && !*item->where &&
	       item->diag.code == -ENOEXEC;
}

/* The next job of the current file or, between files, the next file; NULL at the end. */
static struct job *next_job(struct scan *s)
{
	struct source *src = s->source;
	struct rck_diag diag;
	struct rck_item item;
	struct job *end;

	if (!src) {
		struct rck_input input;
		int err = s->ended || s->stop ? 0 : rck_inputs_next(s->in, &input, &diag);

		s->ended = !err;
		if (!err)
			return NULL;
		s->source = open_source(s, &input, err < 0 ? err : 0, &diag);
		return new_job(s, JOB_BEGIN, NULL);
	}
	if (!src->error && !src->walked && !s->stop) {
		int err;

		do
			err = rck_file_next(src->file, &item, &src->diag);
		while (err > 0 && is_foreign(src, &item));
		if (err > 0) {
			struct rck_item *kept = rck_item_keep(&item);

			if (!kept)
				rck_oom();
			return new_job(s, JOB_LEAF, kept);
		}
		src->error = err;
		src->walked = !err;
	}
	if (src->error && !src->told) {
		src->told = true;
		return new_job(s, JOB_LEAF, NULL);
	}
	end = new_job(s, JOB_END, NULL);
	s->source = NULL;
	return end;
}

static struct job *take_job(struct scan *s)
{
	struct job *j;

	pthread_mutex_lock(&s->walk);
	pthread_mutex_lock(&s->order);
	while (s->next_seq - s->next_emit >= s->window)
		pthread_cond_wait(&s->moved, &s->order);
	pthread_mutex_unlock(&s->order);
	j = next_job(s);
	if (j) {
		pthread_mutex_lock(&s->order);
		s->ring[j->seq % s->window] = j;
		pthread_mutex_unlock(&s->order);
	}
	pthread_mutex_unlock(&s->walk);
	return j;
}

/* ---- emitting: one thread at a time, in the order of seq */

static void free_leaf(struct leaf *l)
{
	rck_code_object_close(l->pub.co);
	rck_strbuf_release(&l->pub.out);
	rck_item_drop(l->kept);
	free(l->where);
	free(l);
}

static void emit_leaf(struct scan *s, struct rck_scan_leaf *leaf)
{
	if (!s->ops->emit(s->ops->user, leaf))
		s->stop = true;
}

static void emit_leaves(struct job *j)
{
	while (j->first) {
		struct leaf *l = j->first;

		j->first = l->next;
		emit_leaf(j->scan, &l->pub);
		free_leaf(l);
	}
	j->last = &j->first;
	j->held = 0;
}

static void emit_end(struct scan *s, struct source *src)
{
	struct rck_diag diag;
	struct rck_item item;

	/* the walk ended before the last leaf was read: the file may have changed since
	 */
	if (src->walked && rck_file_next(src->file, &item, &diag) > 0) {
		struct rck_scan_leaf leaf = {.file = &src->pub,
			.kind = item.kind,
			.where = item.where,
			.item = &item,
			.diag = item.diag,
			.remedy = item.remedy,
			.out = RCK_STRBUF_INIT};

		emit_leaf(s, &leaf);
		rck_strbuf_release(&leaf.out);
	}
	if (s->ops->end)
		s->ops->end(s->ops->user, &src->pub);
	if (src->pub.said > RCK_SAID_MAX)
		rck_error("'%s': %zu more errors (in JSON all are told)", src->pub.path,
			src->pub.said - RCK_SAID_MAX);
	rck_file_close(src->file);
	if (src->memory)
		munmap(src->memory, src->pub.size);
	free((char *)src->pub.path);
	free(src);
}

static void emit_job(struct job *j)
{
	struct scan *s = j->scan;

	if (j->kind == JOB_BEGIN && s->ops->begin)
		s->ops->begin(s->ops->user, &j->source->pub);
	emit_leaves(j);
	rck_file_close(j->inflated);
	rck_item_drop(j->item);
	if (j->kind == JOB_END)
		emit_end(s, j->source);
	free(j);
}

static void wait_turn(struct job *j)
{
	struct scan *s = j->scan;

	if (j->has_turn)
		return;
	pthread_mutex_lock(&s->order);
	while (s->next_emit != j->seq || s->emitting)
		pthread_cond_wait(&s->moved, &s->order);
	pthread_mutex_unlock(&s->order);
	/* nobody else emits before this job is done */
	j->has_turn = true;
}

static void finish_job(struct job *j)
{
	struct scan *s = j->scan;

	pthread_mutex_lock(&s->order);
	j->done = true;
	while (!s->emitting) {
		struct job *head = s->ring[s->next_emit % s->window];

		if (!head || !head->done)
			break;
		s->emitting = true;
		pthread_mutex_unlock(&s->order);
		emit_job(head);
		pthread_mutex_lock(&s->order);
		s->ring[s->next_emit++ % s->window] = NULL;
		s->emitting = false;
		pthread_cond_broadcast(&s->moved);
	}
	pthread_mutex_unlock(&s->order);
}

/* ---- a leaf's work */

static struct leaf *new_leaf(struct job *j, const struct rck_item *item)
{
	struct leaf *l = rck_xcalloc(1, sizeof(*l));

	l->job = j;
	l->pub = (struct rck_scan_leaf){.file = &j->source->pub,
		.kind = item ? item->kind : RCK_ITEM_ERROR,
		.item = item,
		.where = item ? item->where : "",
		.diag = item ? item->diag : j->source->diag,
		.remedy = item ? item->remedy : NULL,
		.out = RCK_STRBUF_INIT};
	return l;
}

/* What was inflated need not wait for the leaf's turn. */
static void forget_bytes(struct leaf *l)
{
	l->where = rck_xstrdup(l->pub.where);
	l->pub.where = l->where;
	rck_code_object_close(l->pub.co);
	rck_item_drop(l->kept);
	l->pub.co = NULL;
	l->pub.item = NULL;
	l->kept = NULL;
}

static void add_leaf(struct leaf *l)
{
	struct job *j = l->job;
	struct scan *s = j->scan;

	if (s->ops->prepare)
		s->ops->prepare(s->ops->user, &l->pub);
	if (!s->ops->keep)
		forget_bytes(l);
	*j->last = l;
	j->last = &l->next;
	j->held += l->pub.out.len;
	if (j->held > MAX_HELD)
		wait_turn(j);
	if (j->has_turn)
		emit_leaves(j);
}

static void read_leaf(
	struct job *j, struct rck_file *file, const struct rck_item *item, bool keep)
{
	struct leaf *l;

	if (keep) {
		struct rck_item *kept = rck_item_keep(item);

		if (!kept)
			rck_oom();
		l = new_leaf(j, kept);
		l->kept = kept;
	} else {
		l = new_leaf(j, item);
	}
	if (l->pub.kind == RCK_ITEM_CODE_OBJECT &&
		rck_code_object_open(file, l->pub.item, &l->pub.co, &l->pub.diag))
		l->pub.kind = RCK_ITEM_ERROR;
	add_leaf(l);
}

static void fail_leaf(struct job *j, const struct rck_diag *diag)
{
	struct leaf *l = new_leaf(j, j->item);

	l->pub.kind = RCK_ITEM_ERROR;
	l->pub.diag = *diag;
	add_leaf(l);
}

static void read_compressed(struct job *j)
{
	struct rck_diag diag;
	struct rck_item item;
	int err = rck_file_open_item(j->source->file, j->item, &j->inflated, &diag);

	while (!err && (err = rck_file_next(j->inflated, &item, &diag)) > 0) {
		read_leaf(j, j->inflated, &item, true);
		err = 0;
		if (j->scan->stop)
			return;
	}
	if (err)
		fail_leaf(j, &diag);
	if (!j->scan->ops->keep) {
		rck_file_close(j->inflated);
		j->inflated = NULL;
	}
}

static void *work(void *arg)
{
	struct scan *s = arg;
	struct job *j;

	while ((j = take_job(s))) {
		if (j->kind == JOB_LEAF && j->item &&
			j->item->kind == RCK_ITEM_COMPRESSED)
			read_compressed(j);
		else if (j->kind == JOB_LEAF)
			read_leaf(j, j->source->file, j->item, false);
		finish_job(j);
	}
	return NULL;
}

void rck_scan_flush(struct rck_scan_leaf *leaf)
{
	struct job *j = ((struct leaf *)leaf)->job;

	if (leaf->out.len < MAX_HELD)
		return;
	wait_turn(j);
	emit_leaves(j);
	leaf->partial = true;
	emit_leaf(j->scan, leaf);
	leaf->partial = false;
	rck_strbuf_reset(&leaf->out);
}

/* ---- the whole */

static unsigned thread_count(unsigned long long wanted)
{
	cpu_set_t set;

	if (!wanted && !sched_getaffinity(0, sizeof(set), &set))
		wanted = (unsigned)CPU_COUNT(&set);
	return wanted < 1 ? 1 : wanted > MAX_THREADS ? MAX_THREADS : (unsigned)wanted;
}

void rck_scan_run(struct rck_inputs *in, const struct rck_scan_spec *spec,
	const struct rck_scan_ops *ops)
{
	unsigned n = thread_count(spec->jobs), started = 0;
	struct scan s = {.in = in,
		.spec = spec,
		.ops = ops,
		.options = {.size = sizeof(struct rck_options),
			.verify = spec->verify,
			.keep_compressed = true,
			.max_depth = (unsigned)spec->max_depth,
			.max_inflated = spec->max_inflated,
			.max_total = spec->max_total,
			.kpack_path = spec->kpack_path},
		.walk = PTHREAD_MUTEX_INITIALIZER,
		.order = PTHREAD_MUTEX_INITIALIZER,
		.moved = PTHREAD_COND_INITIALIZER,
		.window = n * JOBS_PER_THREAD};
	pthread_t threads[MAX_THREADS];

	s.ring = rck_xcalloc(s.window, sizeof(*s.ring));
	/* fewer threads than asked for do the same work */
	while (started + 1 < n && !pthread_create(&threads[started], NULL, work, &s))
		started++;
	work(&s);
	while (started)
		pthread_join(threads[--started], NULL);
	free(s.ring);
}

void rck_scan_say(const struct rck_scan_leaf *leaf)
{
	_cleanup_strbuf_ struct rck_strbuf subject = RCK_STRBUF_INIT;

	if (leaf->file->said++ >= RCK_SAID_MAX)
		return;
	rck_strbuf_adds(&subject, leaf->file->path);
	if (*leaf->where)
		rck_strbuf_addf(&subject, ": %s", leaf->where);
	rck_error_diag(subject.buf, &leaf->diag);
}
