/* Asynchronous copies, the work of a real card's DMA engines: one thread, in order of
 * readiness. */
#include "softgpu/softgpu.h"

#include "util/range.h"

#include <stdlib.h>
#include <string.h>

struct copy {
	uint8_t *dst;
	const uint8_t *src;
	/* bytes a row, rows, slices; pitches in bytes; a plain copy is one row */
	size_t width, height, depth;
	size_t dst_pitch, dst_slice, src_pitch, src_slice;
	struct sg_signal **deps;
	uint32_t n_deps;
	struct sg_signal *completion;
	struct copy *next;
};

static struct sg_worker worker = {.lock = PTHREAD_MUTEX_INITIALIZER};
static struct copy *added, **added_end = &added;

static void free_copy(struct copy *c)
{
	free(c->deps);
	free(c);
}

static void carry_out(const struct copy *c)
{
	sg_memory_use();
	for (size_t z = 0; z < c->depth; z++)
		for (size_t y = 0; y < c->height; y++)
			memmove(c->dst + z * c->dst_slice + y * c->dst_pitch,
				c->src + z * c->src_slice + y * c->src_pitch, c->width);
	sg_memory_unuse();
}

static bool is_ready(const struct copy *c)
{
	for (uint32_t i = 0; i < c->n_deps; i++)
		if (sg_signal_load(c->deps[i]) != 0)
			return false;
	return true;
}

static void complete(struct copy *c)
{
	if (!c->completion)
		return;
	c->completion->amd.start_ts = sg_now();
	carry_out(c);
	c->completion->amd.end_ts = sg_now();
	sg_signal_add(c->completion, -1);
}

static void do_ready(struct copy **list)
{
	for (struct copy **p = list; *p;) {
		struct copy *c = *p;

		if (!is_ready(c)) {
			p = &c->next;
			continue;
		}
		for (uint32_t i = 0; i < c->n_deps; i++)
			sg_unwatch(c->deps[i]);
		*p = c->next;
		complete(c);
		free_copy(c);
	}
}

static void *run(void *arg)
{
	struct copy *list = NULL;

	while (!sg_flag(&worker.stop)) {
		uint32_t seen = sg_change_count();
		struct copy **end = &list;

		while (*end)
			end = &(*end)->next;
		pthread_mutex_lock(&worker.lock);
		*end = added;
		added = NULL;
		added_end = &added;
		pthread_mutex_unlock(&worker.lock);
		do_ready(&list);
		if (!sg_flag(&worker.stop))
			sg_change_wait(seen);
	}
	while (list) {
		struct copy *c = list;
		list = c->next;
		free_copy(c);
	}
	return NULL;
}

static hsa_status_t submit(const struct copy *what, uint32_t n_deps,
	const hsa_signal_t *deps, hsa_signal_t completion)
{
	struct copy *c;
	int r;

	if (!completion.handle)
		return HSA_STATUS_ERROR_INVALID_SIGNAL;
	if (n_deps && !deps)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	c = malloc(sizeof *c);
	if (!c)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	*c = *what;
	c->completion = sg_signal_of(completion);
	c->deps = n_deps ? calloc(n_deps, sizeof *c->deps) : NULL;
	if (n_deps && !c->deps) {
		free(c);
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	}
	for (uint32_t i = 0; i < n_deps; i++)
		if (deps[i].handle) {
			c->deps[c->n_deps] = sg_signal_of(deps[i]);
			sg_watch(c->deps[c->n_deps++]);
		}
	if (!sg_executes() &&
		is_ready(c)) { /* as the queues: nobody's turn is waited for */
		do_ready(&c);
		return HSA_STATUS_SUCCESS;
	}
	pthread_mutex_lock(&worker.lock);
	*added_end = c;
	added_end = &c->next;
	r = sg_worker_start(&worker, "sg-copy", run);
	pthread_mutex_unlock(&worker.lock);
	sg_change_kick();
	return r ? HSA_STATUS_ERROR_OUT_OF_RESOURCES : HSA_STATUS_SUCCESS;
}

hsa_status_t sg_copy_nothing(
	uint32_t n_deps, const hsa_signal_t *deps, hsa_signal_t completion)
{
	const struct copy c = {0};

	return submit(&c, n_deps, deps, completion);
}

void sg_copy_stop(void)
{
	sg_worker_stop(&worker);
}

/* When p lies in memory that is ours, all of [p, p + size) must. */
static bool fits(const void *p, size_t size)
{
	struct sg_block b;
	uint64_t a = (uint64_t)(uintptr_t)p;

	return !sg_map_find(a, &b) || rck_range_ok(a - b.base, size, b.size);
}

hsa_status_t hsa_amd_memory_async_copy(void *dst, hsa_agent_t dst_agent, const void *src,
	hsa_agent_t src_agent, size_t size, uint32_t num_dep_signals,
	const hsa_signal_t *dep_signals, hsa_signal_t completion_signal)
{
	const struct copy c = {
		.dst = dst, .src = src, .width = size, .height = 1, .depth = 1};

	SG_CHECK_OPEN();
	if (!dst || !src || !fits(dst, size) || !fits(src, size))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!sg_agent_of(dst_agent) || !sg_agent_of(src_agent))
		return HSA_STATUS_ERROR_INVALID_AGENT;
	return submit(&c, num_dep_signals, dep_signals, completion_signal);
}

hsa_status_t hsa_amd_memory_async_copy_on_engine(void *dst, hsa_agent_t dst_agent,
	const void *src, hsa_agent_t src_agent, size_t size, uint32_t num_dep_signals,
	const hsa_signal_t *dep_signals, hsa_signal_t completion_signal,
	hsa_amd_sdma_engine_id_t engine_id, bool force_copy_on_sdma)
{
	return hsa_amd_memory_async_copy(dst, dst_agent, src, src_agent, size,
		num_dep_signals, dep_signals, completion_signal);
}

/* Where a rectangle begins, and whether it stays inside its pitches. */
static uint8_t *corner(
	const hsa_pitched_ptr_t *p, const hsa_dim3_t *offset, const hsa_dim3_t *range)
{
	if ((range->y > 1 || range->z > 1) &&
		!rck_range_ok(offset->x, range->x, p->pitch))
		return NULL;
	return (uint8_t *)p->base + offset->z * p->slice + offset->y * p->pitch +
	       offset->x;
}

hsa_status_t hsa_amd_memory_async_copy_rect(const hsa_pitched_ptr_t *dst,
	const hsa_dim3_t *dst_offset, const hsa_pitched_ptr_t *src,
	const hsa_dim3_t *src_offset, const hsa_dim3_t *range, hsa_agent_t copy_agent,
	hsa_amd_copy_direction_t dir, uint32_t num_dep_signals,
	const hsa_signal_t *dep_signals, hsa_signal_t completion_signal)
{
	struct copy c;

	SG_CHECK_OPEN();
	if (!dst || !dst_offset || !src || !src_offset || !range || !dst->base ||
		!src->base)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!sg_agent_of(copy_agent))
		return HSA_STATUS_ERROR_INVALID_AGENT;
	c = (struct copy){
		.dst = corner(dst, dst_offset, range),
		.src = corner(src, src_offset, range),
		.width = range->x,
		.height = range->y,
		.depth = range->z,
		.dst_pitch = dst->pitch,
		.dst_slice = dst->slice,
		.src_pitch = src->pitch,
		.src_slice = src->slice,
	};
	if (!c.dst || !c.src)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	return submit(&c, num_dep_signals, dep_signals, completion_signal);
}

hsa_status_t hsa_amd_memory_copy_engine_status(
	hsa_agent_t dst_agent, hsa_agent_t src_agent, uint32_t *engine_ids_mask)
{
	const struct sg_agent *d = sg_agent_of(dst_agent), *s = sg_agent_of(src_agent);

	SG_CHECK_OPEN();
	if (!d || !s || d == s)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (!engine_ids_mask)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!d->is_device && !s->is_device)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	*engine_ids_mask = (1u << (d->is_device ? d : s)->card->sdma_engines) - 1;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_memory_get_preferred_copy_engine(
	hsa_agent_t dst_agent, hsa_agent_t src_agent, uint32_t *engine_ids_mask)
{
	return hsa_amd_memory_copy_engine_status(dst_agent, src_agent, engine_ids_mask);
}

hsa_status_t hsa_memory_copy(void *dst, const void *src, size_t size)
{
	SG_CHECK_OPEN();
	if (!size)
		return HSA_STATUS_SUCCESS;
	if (!dst || !src || !fits(dst, size) || !fits(src, size))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	sg_memory_use();
	memmove(dst, src, size);
	sg_memory_unuse();
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_memory_fill(void *ptr, uint32_t value, size_t count)
{
	uint32_t *p = ptr;

	SG_CHECK_OPEN();
	if (!count)
		return HSA_STATUS_SUCCESS;
	if (!ptr || (uintptr_t)ptr % 4 || count > SIZE_MAX / 4 || !fits(ptr, count * 4))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	sg_memory_use();
	for (size_t i = 0; i < count; i++)
		p[i] = value;
	sg_memory_unuse();
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_profiling_async_copy_enable(bool enable)
{
	SG_CHECK_OPEN();

	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_profiling_get_async_copy_time(
	hsa_signal_t signal, hsa_amd_profiling_async_copy_time_t *time)
{
	SG_CHECK_OPEN();
	if (!signal.handle)
		return HSA_STATUS_ERROR_INVALID_SIGNAL;
	if (!time)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	time->start = sg_signal_of(signal)->amd.start_ts;
	time->end = sg_signal_of(signal)->amd.end_ts;
	return HSA_STATUS_SUCCESS;
}
