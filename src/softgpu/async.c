/* hsa_amd_signal_async_handler: one thread that watches signals and calls back. */
#include "softgpu/softgpu.h"

#include <stdlib.h>

struct handler {
	struct sg_signal *signal;
	hsa_signal_condition_t condition;
	int64_t compare;
	hsa_amd_signal_handler handler;
	void *arg;
	struct handler *next;
};

static struct sg_worker worker = {.lock = PTHREAD_MUTEX_INITIALIZER};
static struct handler *added, **added_end = &added; /* the thread takes them over */

/* Calls those whose condition holds; who answers false is done. */
static void call_ready(struct handler **list)
{
	for (struct handler **p = list; *p;) {
		struct handler *h = *p;
		int64_t v = sg_signal_load(h->signal);

		if (!sg_condition_holds(h->condition, v, h->compare)) {
			p = &h->next;
			continue;
		}
		/* the handler may destroy its signal */
		sg_unwatch(h->signal);
		if (h->handler(v, h->arg)) {
			sg_watch(h->signal);
			p = &h->next;
		} else {
			*p = h->next;
			free(h);
		}
	}
}

static void take_added(struct handler **list)
{
	while (*list)
		list = &(*list)->next;
	pthread_mutex_lock(&worker.lock);
	*list = added;
	added = NULL;
	added_end = &added;
	pthread_mutex_unlock(&worker.lock);
}

static void *run(void *arg)
{
	struct handler *list = NULL;

	while (!sg_flag(&worker.stop)) {
		uint32_t seen = sg_change_count();

		take_added(&list);
		call_ready(&list);
		if (!sg_flag(&worker.stop))
			sg_change_wait(seen);
	}
	while (list) {
		struct handler *h = list;
		list = h->next;
		sg_unwatch(h->signal);
		free(h);
	}
	return NULL;
}

hsa_status_t hsa_amd_signal_async_handler(hsa_signal_t signal,
	hsa_signal_condition_t cond, hsa_signal_value_t value,
	hsa_amd_signal_handler handler, void *arg)
{
	struct handler *h;
	int r;

	SG_CHECK_OPEN();
	if (!handler)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!signal.handle)
		return HSA_STATUS_ERROR_INVALID_SIGNAL;
	h = calloc(1, sizeof *h);
	if (!h)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	*h = (struct handler){sg_signal_of(signal), cond, value, handler, arg};
	sg_watch(h->signal);
	pthread_mutex_lock(&worker.lock);
	*added_end = h;
	added_end = &h->next;
	r = sg_worker_start(&worker, "sg-async", run);
	pthread_mutex_unlock(&worker.lock);
	sg_change_kick();
	return r ? HSA_STATUS_ERROR_OUT_OF_RESOURCES : HSA_STATUS_SUCCESS;
}

void sg_async_stop(void)
{
	sg_worker_stop(&worker);
}
