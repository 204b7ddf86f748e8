/*
 * Workgroups over the cores. A worker keeps the groups that it has begun in a list; one
 * that spins or sleeps goes to the end of it and another is begun, so that groups that
 * wait on one another make progress on any number of threads.
 */
#include "softgpu/sanitize.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define QUANTUM      20000 /* taken branches of a wave's turn */
#define TURNS        10    /* turns of each wave before other groups get theirs */
#define SHORT        2000  /* a quantum of a group that had all its turns once */
#define SLEEPS       16    /* of all of a group's waves before others get their turn */
#define SPINS        100   /* of groups that sleep, before their thread does */
#define RESIDENT_MAX 4096
#define RESIDENT_MEM (1ull << 30)
#define SPARE_MAX    (64ull << 20)

enum group_end { GROUP_DONE, GROUP_BUSY, GROUP_IDLE, GROUP_STOP };

/*
 * Memory of groups that ended, kept for the next: a fresh mapping would cost more than a
 * small kernel. Scratch is not cleared in between, as on hardware.
 */
struct block {
	struct block *next;
	size_t size;
};

static struct {
	pthread_mutex_t lock;
	struct block *first;
	size_t total;
} spare_blocks = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void block_put(void *mem, size_t size)
{
	struct block *b = mem;

	pthread_mutex_lock(&spare_blocks.lock);
	if (spare_blocks.total + size <= SPARE_MAX) {
		b->size = size;
		b->next = spare_blocks.first;
		spare_blocks.first = b;
		spare_blocks.total += size;
		mem = NULL;
	}
	pthread_mutex_unlock(&spare_blocks.lock);
	if (mem)
		munmap(mem, size);
}

static void *block_get(size_t *size)
{
	struct block **at, *b = NULL;
	void *mem;

	*size = (*size + 65535) & ~(size_t)65535;
	pthread_mutex_lock(&spare_blocks.lock);
	for (at = &spare_blocks.first; *at; at = &(*at)->next)
		if ((*at)->size >= *size && (*at)->size <= 4 * *size) {
			b = *at;
			*at = b->next;
			spare_blocks.total -= b->size;
			break;
		}
	pthread_mutex_unlock(&spare_blocks.lock);
	if (b) {
		*size = b->size;
		return b;
	}
	mem = mmap(
		NULL, *size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return mem == MAP_FAILED ? NULL : mem;
}

static void group_free(struct sg_group *g)
{
	if (!g)
		return;
	sg_watch_group_end(g);
	if (g->memory)
		block_put(g->memory, g->memory_size);
	free(g);
}

static size_t pages(size_t n)
{
	return (n + 4095) & ~(size_t)4095;
}

static struct sg_group *group_new(struct sg_run *r)
{
	const struct sg_kernel *k = &r->k;
	struct sg_group *g = calloc(1, sizeof(*g));
	uint32_t lds = (k->launch->packet.group_segment_size + 3) & ~3u;
	size_t waves = pages(k->nwaves * sizeof(struct sg_wave));
	size_t vgprs = pages(k->nwaves * sg_kernel_vgpr_bytes(k));
	size_t scratch = pages((size_t)k->scratch_lane * k->lanes * k->nwaves + 64);
	uint8_t *m;

	if (!g)
		return NULL;
	g->run = r;
	g->memory_size = waves + vgprs + scratch + pages(lds + 64);
	g->memory = m = block_get(&g->memory_size);
	if (!m) {
		free(g);
		return NULL;
	}
	g->waves = (struct sg_wave *)(void *)m;
	g->vgprs = (uint32_t *)(void *)(m + waves);
	g->scratch = m + waves + vgprs;
	g->lds = m + waves + vgprs + scratch;
	g->lds_size = lds;
	return g;
}

static void group_start(struct sg_group *g, uint64_t index)
{
	const struct sg_kernel *k = &g->run->k;

	g->index = index;
	g->id[0] = (uint32_t)(index % k->groups[0]);
	g->id[1] = (uint32_t)(index / k->groups[0] % k->groups[1]);
	g->id[2] = (uint32_t)(index / k->groups[0] / k->groups[1]);
	g->nwaves = k->nwaves;
	g->live = 0;
	g->arrived = g->phase = 0;
	g->put_aside = false;
	/* Nothing clears LDS: a value that is easily seen when it leaks into results. */
	memset(g->lds, 0xa5, g->lds_size);
	for (uint32_t i = 0; i < g->nwaves; i++) {
		sg_wave_init(&g->waves[i], g, i);
		g->live += g->waves[i].state != SG_DONE;
	}
	sg_watch_group_begin(g);
}

static void release_barrier(struct sg_group *g)
{
	if (!g->live || g->arrived < g->live)
		return;
	g->arrived = 0;
	g->phase++;
	for (uint32_t i = 0; i < g->nwaves; i++)
		if (g->waves[i].state == SG_BARRIER) {
			g->waves[i].state = SG_RUN;
			g->waves[i].released = true;
		}
}

/*
 * What a group may do before others get their turn is counted in taken branches, not in
 * rounds: one that meets at barriers goes on. If it were put aside, thousands would be
 * begun, and their registers would not be in any cache. One that came to the end of it
 * may spin for a result of another, which may sleep a little at each of its own turns:
 * from then on its turns are short, and sleeps in a row are one turn.
 */
static enum group_end group_run(struct sg_group *g)
{
	struct sg_run *r = g->run;
	const struct sg_launch *l = r->k.launch;
	int64_t quantum = g->put_aside ? SHORT : QUANTUM;
	int64_t left = (g->put_aside ? 1 : TURNS) * quantum * g->nwaves;
	unsigned int sleeps = 0;

	while (left > 0) {
		bool busy = false;

		if (l->cancel && *l->cancel && !r->stop) {
			pthread_mutex_lock(&r->lock);
			if (!r->stop) {
				r->fault->kind = SG_FAULT_ABORTED;
				r->stop = 1;
			}
			pthread_mutex_unlock(&r->lock);
		}
		for (uint32_t i = 0; i < g->nwaves; i++) {
			struct sg_wave *w = &g->waves[i];

			if (r->stop)
				return GROUP_STOP;
			if (w->state == SG_DONE || w->state == SG_BARRIER)
				continue;
			sg_wave_run(w, quantum);
			left -= quantum - w->quantum + 1;
			if (w->state == SG_DONE)
				g->live--;
			busy |= w->state != SG_SLEEP;
			release_barrier(g);
		}
		if (!g->live)
			return GROUP_DONE;
		if (!busy && ++sleeps >= SLEEPS)
			return GROUP_IDLE;
	}
	g->put_aside = true;
	return GROUP_BUSY;
}

/* The groups that one worker may have begun at once. */
static unsigned int resident_max(const struct sg_kernel *k)
{
	uint64_t bytes = (sg_kernel_vgpr_bytes(k) + sizeof(struct sg_wave) +
				 (uint64_t)k->scratch_lane * k->lanes) *
				 k->nwaves +
			 k->launch->packet.group_segment_size + 1;
	uint64_t n = RESIDENT_MEM / bytes;

	return n < 4 ? 4 : n > RESIDENT_MAX ? RESIDENT_MAX : (unsigned int)n;
}

static void no_memory(struct sg_run *r)
{
	pthread_mutex_lock(&r->lock);
	if (!r->stop) {
		r->fault->kind = SG_FAULT_LAUNCH;
		snprintf(r->fault->text, sizeof(r->fault->text),
			"kernel '%.128s' stopped: out of memory for a workgroup",
			r->k.launch->kernel ? r->k.launch->kernel : "?");
		r->stop = 1;
	}
	pthread_mutex_unlock(&r->lock);
}

/*
 * Everybody sleeps, for the idle-th time: let the host, or other workers, do something.
 * Not at once and seldom: an s_sleep is a microsecond or two on hardware at most, a nap
 * of this thread a hundred or thousands, and kernels make delays of many.
 */
static void nap(unsigned int idle)
{
	struct timespec ts = {0, 50000};

	if (idle >= SPINS && !(idle % 8))
		nanosleep(&ts, NULL);
}

static void work(struct sg_run *r)
{
	struct sg_group *first = NULL, **last = &first, *spare = NULL, *g;
	unsigned int resident = 0, max = resident_max(&r->k), idle = 0;
	bool more = true, want_new = true;

	while (!r->stop) {
		if (more && (want_new || !first) && resident < max) {
			uint64_t index =
				__atomic_fetch_add(&r->next, 1, __ATOMIC_RELAXED);

			more = index < r->k.ngroups;
			if (more) {
				g = spare ? spare : group_new(r);
				spare = NULL;
				if (!g) {
					no_memory(r);
					break;
				}
				group_start(g, index);
				resident++;
				g->next = first;
				if (!first)
					last = &g->next;
				first = g;
				idle = 0;
			}
		}
		g = first;
		if (!g)
			break;
		first = g->next;
		if (!first)
			last = &first;
		want_new = true;
		switch (group_run(g)) {
		case GROUP_DONE:
			resident--;
			sg_watch_group_end(g);
			group_free(spare);
			spare = g;
			idle = 0;
			want_new = !first; /* those that wait first */
			continue;
		case GROUP_IDLE:
			if (++idle > resident && !more)
				nap(idle);
			break;
		case GROUP_BUSY:
			idle = 0;
			break;
		case GROUP_STOP:
			break;
		}
		g->next = NULL;
		*last = g;
		last = &g->next;
	}
	while (first) {
		g = first->next;
		group_free(first);
		first = g;
	}
	group_free(spare);
}

/* ---- threads: made once, kept; a forked child has none of them ---- */

static struct {
	pthread_mutex_t lock;
	pthread_cond_t wake, idle;
	struct sg_run *runs;
	unsigned int threads, waiting;
	bool forked;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER,
	.wake = PTHREAD_COND_INITIALIZER,
	.idle = PTHREAD_COND_INITIALIZER};

static void pool_child(void)
{
	pthread_mutex_init(&pool.lock, NULL);
	pthread_cond_init(&pool.wake, NULL);
	pthread_cond_init(&pool.idle, NULL);
	pthread_mutex_init(&spare_blocks.lock, NULL);
	pool.runs = NULL;
	pool.threads = pool.waiting = 0;
	sg_san_forked();
}

static struct sg_run *pool_pick(void)
{
	for (struct sg_run *r = pool.runs; r; r = r->link)
		if (r->helpers < r->helpers_max && !r->stop && r->next < r->k.ngroups)
			return r;
	return NULL;
}

static void *pool_thread(void *arg)
{
	struct sg_run *r;

	(void)arg;
	pthread_mutex_lock(&pool.lock);
	for (;;) {
		r = pool_pick();
		if (!r) {
			pool.waiting++;
			pthread_cond_wait(&pool.wake, &pool.lock);
			pool.waiting--;
			continue;
		}
		r->helpers++;
		pthread_mutex_unlock(&pool.lock);
		work(r);
		pthread_mutex_lock(&pool.lock);
		r->helpers--;
		pthread_cond_broadcast(&pool.idle);
	}
	return NULL;
}

static void pool_grow(unsigned int want)
{
	sigset_t all, before;
	pthread_attr_t attr;
	pthread_t t;

	if (!pool.forked)
		pthread_atfork(NULL, NULL, pool_child);
	pool.forked = true;
	/* The program's signals are for its own threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	while (pool.threads < want && !pthread_create(&t, &attr, pool_thread, NULL))
		pool.threads++;
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void run_groups(struct sg_run *r, unsigned int threads)
{
	struct sg_run **at;

	if (!threads) {
		long n = sysconf(_SC_NPROCESSORS_ONLN);

		threads = n > 0 ? (unsigned int)n : 1;
	}
	if (threads > r->k.ngroups)
		threads = (unsigned int)r->k.ngroups;
	if (threads > 1) {
		pthread_mutex_lock(&pool.lock);
		r->helpers_max = threads - 1;
		pool_grow(threads - 1);
		r->link = pool.runs;
		pool.runs = r;
		pthread_cond_broadcast(&pool.wake);
		pthread_mutex_unlock(&pool.lock);
	}
	work(r);
	if (threads > 1) {
		pthread_mutex_lock(&pool.lock);
		for (at = &pool.runs; *at != r; at = &(*at)->link)
			;
		*at = r->link;
		while (r->helpers)
			pthread_cond_wait(&pool.idle, &pool.lock);
		pthread_mutex_unlock(&pool.lock);
	}
}

int sg_exec_run(const struct sg_launch *launch, struct sg_fault *fault)
{
	struct sg_run r = {.lock = PTHREAD_MUTEX_INITIALIZER, .fault = fault};
	int ret;

	memset(fault, 0, sizeof(*fault));
	sg_watch_open(&r);
	ret = sg_kernel_init(&r.k, launch, r.watch, fault);
	if (!ret)
		run_groups(&r, r.serial ? 1 : launch->threads);
	sg_watch_close(&r);
	pthread_mutex_destroy(&r.lock);
	if (ret)
		return ret;
	if (r.stop && fault->kind == SG_FAULT_NONE)
		fault->kind = SG_FAULT_ABORTED;
	return fault->kind == SG_FAULT_NONE ? 0 : -EIO;
}
