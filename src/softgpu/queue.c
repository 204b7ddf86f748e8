/*
 * Queues: the real amd_queue_t, and one thread each that takes packets off its ring.
 * Where kernels are not executed, whoever rings the doorbell takes what is ready himself:
 * a real packet processor waits for no host thread's turn, and an exposure of the
 * teardown under load must not either.
 */
#include "softgpu/softgpu.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define PACKET_BYTES   64
#define MIN_SIZE       64
#define MAX_SIZE       131072
#define HEADER_POLL_NS UINT64_C(200000)
/* Apertures of flat addresses: LDS at 1 << 48, scratch at 2 << 48 (their high words). */
#define GROUP_APERTURE_HI   0x00010000
#define PRIVATE_APERTURE_HI 0x00020000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sg_queue *queues;
static uint64_t next_id;

static struct sg_queue *queue_of(const hsa_queue_t *q)
{
	return (struct sg_queue *)(uintptr_t)q;
}

static uint8_t *slot(const struct sg_queue *q, uint64_t index)
{
	return (uint8_t *)q->amd.hsa_queue.base_address +
	       (index & (q->amd.hsa_queue.size - 1)) * PACKET_BYTES;
}

static bool has_packet(const struct sg_queue *q)
{
	uint64_t index = q->amd.read_dispatch_id;
	uint16_t header;

	if (index >= __atomic_load_n(&q->amd.write_dispatch_id, __ATOMIC_ACQUIRE))
		return false;
	header = __atomic_load_n((uint16_t *)(void *)slot(q, index), __ATOMIC_ACQUIRE);
	return (header & 0xff) != HSA_PACKET_TYPE_INVALID;
}

static void fail(struct sg_queue *q, hsa_status_t status)
{
	q->failed = true;
	sg_signal_store(q->inactive, 1);
	if (q->callback)
		q->callback(status, &q->amd.hsa_queue, q->data);
	else
		sg_log(SG_LOG_ERROR, "queue %llu stopped, status 0x%x",
			(unsigned long long)q->amd.hsa_queue.id, (unsigned int)status);
}

static void take(struct sg_queue *q)
{
	uint64_t index = q->amd.read_dispatch_id;
	uint8_t *p = slot(q, index);
	_Alignas(8) uint8_t packet[PACKET_BYTES];
	hsa_status_t s;

	memcpy(packet, p, sizeof packet);
	s = sg_packet_run(q, index, packet);
	if (s != HSA_STATUS_SUCCESS) {
		q->status = s;
		return;
	}
	/* a kernel reads its packet in the ring: the slot is free only now */
	__atomic_store_n(
		(uint16_t *)(void *)p, HSA_PACKET_TYPE_INVALID, __ATOMIC_RELEASE);
	__atomic_store_n(&q->amd.read_dispatch_id, index + 1, __ATOMIC_RELEASE);
}

static bool may_take(const struct sg_queue *q)
{
	return !sg_flag(&q->stop) && !q->failed && q->status == HSA_STATUS_SUCCESS &&
	       has_packet(q);
}

/* Where nothing is executed a packet that waits stays in the ring, looked at again before
 * long: nobody who rings has to wait for it. */
static void take_all(struct sg_queue *q)
{
	pthread_mutex_lock(&q->taking);
	while (may_take(q) &&
		(sg_executes() || sg_packet_ready(slot(q, q->amd.read_dispatch_id))))
		take(q);
	pthread_mutex_unlock(&q->taking);
}

void sg_queue_ring(struct sg_queue *q, int64_t index)
{
	bool done = false;

	q->ringers++;
	__atomic_store_n(&q->doorbell->amd.value, index, __ATOMIC_SEQ_CST);
	if (!sg_executes()) {
		take_all(q);
		done = (int64_t)q->amd.read_dispatch_id > index;
	}
	if (!done)
		sg_signal_wake(q->doorbell);
	q->ringers--;
}

static void free_queue(struct sg_queue *q)
{
	/* the packet just rung for may be what ended the queue; a fork leaves no ringer
	 */
	while (q->ringers && !sg_forked)
		sched_yield();
	sg_signal_free(q->doorbell);
	sg_signal_free(q->inactive);
	pthread_mutex_destroy(&q->taking);
	sg_internal_free(q->amd.hsa_queue.base_address);
	sg_internal_free(q);
}

static void *run(void *arg)
{
	struct sg_queue *q = arg;

	while (!sg_flag(&q->stop)) {
		int64_t rung = sg_signal_load(q->doorbell);
		bool awaited;

		take_all(q);
		/* the callback may destroy the queue, or wait for what another thread
		 * does */
		if (q->status != HSA_STATUS_SUCCESS && !q->failed)
			fail(q, q->status);
		/* rung for a packet whose header is not there yet, or that waits: nobody
		 * rings again */
		awaited = !q->failed && rung >= (int64_t)q->amd.read_dispatch_id;
		sg_signal_wait(q->doorbell, HSA_SIGNAL_CONDITION_NE, rung,
			awaited ? HEADER_POLL_NS : UINT64_MAX, &q->stop);
	}
	if (q->orphaned) {
		pthread_detach(pthread_self());
		free_queue(q);
	}
	return NULL;
}

static bool set_up(struct sg_queue *q, uint32_t size, hsa_queue_type32_t type)
{
	uint8_t *ring = sg_internal_alloc((size_t)size * PACKET_BYTES);

	q->amd.hsa_queue.base_address = ring;
	q->doorbell = sg_signal_new(-1); /* the index of the last packet; none */
	q->inactive = sg_signal_new(0);
	if (!ring || !q->doorbell || !q->inactive)
		return false;
	q->doorbell->amd.kind = AMD_SIGNAL_KIND_DOORBELL;
	q->doorbell->amd.queue_ptr = &q->amd;
	for (uint32_t i = 0; i < size; i++)
		*(uint16_t *)(void *)(ring + (size_t)i * PACKET_BYTES) =
			HSA_PACKET_TYPE_INVALID;
	q->amd.hsa_queue.type = type;
	q->amd.hsa_queue.features = HSA_QUEUE_FEATURE_KERNEL_DISPATCH;
	q->amd.hsa_queue.doorbell_signal = sg_signal_handle(q->doorbell);
	q->amd.hsa_queue.size = size;
	q->amd.group_segment_aperture_base_hi = GROUP_APERTURE_HI;
	q->amd.private_segment_aperture_base_hi = PRIVATE_APERTURE_HI;
	q->amd.max_cu_id = q->agent->card->compute_units - 1;
	q->amd.max_wave_id = q->agent->card->waves_per_cu - 1;
	q->amd.read_dispatch_id_field_base_byte_offset =
		offsetof(amd_queue_t, read_dispatch_id);
	q->amd.queue_properties = AMD_QUEUE_PROPERTIES_IS_PTR64;
	q->amd.queue_inactive_signal = sg_signal_handle(q->inactive);
	return true;
}

hsa_status_t hsa_queue_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
	void (*callback)(hsa_status_t status, hsa_queue_t *source, void *data),
	void *data, uint32_t private_segment_size, uint32_t group_segment_size,
	hsa_queue_t **queue)
{
	struct sg_agent *a = sg_agent_of(agent);
	struct sg_queue *q;

	SG_CHECK_OPEN();
	if (!a)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (!queue || !size || size & (size - 1) || type > HSA_QUEUE_TYPE_COOPERATIVE)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!a->is_device || size > MAX_SIZE)
		return HSA_STATUS_ERROR_INVALID_QUEUE_CREATION;
	if (size < MIN_SIZE)
		size = MIN_SIZE;
	q = sg_internal_alloc(sizeof *q);
	if (!q)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	pthread_mutex_init(&q->taking, NULL);
	q->agent = a;
	q->callback = callback;
	q->data = data;
	if (!set_up(q, size, type) || sg_thread_start(&q->thread, "sg-queue", run, q)) {
		free_queue(q);
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	}
	q->has_thread = true;
	pthread_mutex_lock(&lock);
	q->amd.hsa_queue.id = next_id++;
	q->next = queues;
	queues = q;
	pthread_mutex_unlock(&lock);
	*queue = &q->amd.hsa_queue;
	return HSA_STATUS_SUCCESS;
}

static void destroy(struct sg_queue *q)
{
	sg_flag_set(&q->stop);
	sg_signal_wake(q->doorbell);
	sg_signal_wake_all();
	if (q->has_thread && !sg_forked && pthread_equal(q->thread, pthread_self())) {
		q->orphaned = true; /* by its own callback: its thread frees it */
		return;
	}
	if (q->has_thread && !sg_forked)
		pthread_join(q->thread, NULL);
	free_queue(q);
}

/* Takes q off the list; false when it is not there. */
static bool forget(struct sg_queue *q)
{
	bool found = false;

	pthread_mutex_lock(&lock);
	for (struct sg_queue **p = &queues; *p && !found; p = &(*p)->next)
		if (*p == q) {
			*p = q->next;
			found = true;
			break;
		}
	pthread_mutex_unlock(&lock);
	return found;
}

hsa_status_t hsa_queue_destroy(hsa_queue_t *queue)
{
	SG_CHECK_OPEN();
	if (!queue || !forget(queue_of(queue)))
		return HSA_STATUS_ERROR_INVALID_QUEUE;
	destroy(queue_of(queue));
	return HSA_STATUS_SUCCESS;
}

void sg_queues_destroy(void)
{
	while (queues) {
		struct sg_queue *q = queues;
		queues = q->next;
		destroy(q);
	}
}

hsa_status_t hsa_queue_inactivate(hsa_queue_t *queue)
{
	SG_CHECK_OPEN();
	if (!queue)
		return HSA_STATUS_ERROR_INVALID_QUEUE;
	queue_of(queue)->failed = true;
	sg_signal_store(queue_of(queue)->inactive, 1);
	return HSA_STATUS_SUCCESS;
}

/* Nothing to schedule by: every compute unit and priority is the same host thread. */
hsa_status_t hsa_amd_queue_set_priority(
	hsa_queue_t *queue, hsa_amd_queue_priority_t priority)
{
	SG_CHECK_OPEN();
	if (!queue)
		return HSA_STATUS_ERROR_INVALID_QUEUE;
	return (unsigned int)priority <= HSA_AMD_QUEUE_PRIORITY_HIGH
		       ? HSA_STATUS_SUCCESS
		       : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_amd_queue_cu_set_mask(
	const hsa_queue_t *queue, uint32_t num_cu_mask_count, const uint32_t *cu_mask)
{
	SG_CHECK_OPEN();
	if (!queue)
		return HSA_STATUS_ERROR_INVALID_QUEUE;
	if (num_cu_mask_count % 32 || (num_cu_mask_count && !cu_mask))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_queue_get_info(
	hsa_queue_t *queue, hsa_queue_info_attribute_t attribute, void *value)
{
	SG_CHECK_OPEN();
	if (!queue)
		return HSA_STATUS_ERROR_INVALID_QUEUE;
	if (!value)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	switch (attribute) {
	case HSA_AMD_QUEUE_INFO_AGENT:
		*(hsa_agent_t *)value = sg_agent_handle(queue_of(queue)->agent);
		return HSA_STATUS_SUCCESS;
	case HSA_AMD_QUEUE_INFO_DOORBELL_ID:
		*(uint64_t *)value = (uint64_t)(uintptr_t)queue_of(queue)->doorbell;
		return HSA_STATUS_SUCCESS;
	}
	return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_amd_profiling_set_profiler_enabled(hsa_queue_t *queue, int enable)
{
	SG_CHECK_OPEN();
	if (!queue)
		return HSA_STATUS_ERROR_INVALID_QUEUE;
	if (enable)
		queue_of(queue)->amd.queue_properties |=
			AMD_QUEUE_PROPERTIES_ENABLE_PROFILING;
	else
		queue_of(queue)->amd.queue_properties &=
			~(uint32_t)AMD_QUEUE_PROPERTIES_ENABLE_PROFILING;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_profiling_get_dispatch_time(
	hsa_agent_t agent, hsa_signal_t signal, hsa_amd_profiling_dispatch_time_t *time)
{
	SG_CHECK_OPEN();
	if (!sg_agent_of(agent))
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (!signal.handle)
		return HSA_STATUS_ERROR_INVALID_SIGNAL;
	if (!time)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	time->start = sg_signal_of(signal)->amd.start_ts;
	time->end = sg_signal_of(signal)->amd.end_ts;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_profiling_convert_tick_to_system_domain(
	hsa_agent_t agent, uint64_t agent_tick, uint64_t *system_tick)
{
	SG_CHECK_OPEN();
	if (!sg_agent_of(agent))
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (!system_tick)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	*system_tick = agent_tick; /* signals are stamped in the system's own ticks */
	return HSA_STATUS_SUCCESS;
}

/* The indices, in the orders that HSA names; all are carried out in the strongest. */
#define LOAD_INDEX(name, field, order)                                                   \
	uint64_t hsa_queue_load_##name##_index_##order(const hsa_queue_t *q)             \
	{                                                                                \
		return __atomic_load_n(&queue_of(q)->amd.field, __ATOMIC_SEQ_CST);       \
	}
LOAD_INDEX(read, read_dispatch_id, relaxed)
LOAD_INDEX(read, read_dispatch_id, scacquire)
LOAD_INDEX(write, write_dispatch_id, relaxed)
LOAD_INDEX(write, write_dispatch_id, scacquire)

#define STORE_INDEX(name, field, order)                                                  \
	void hsa_queue_store_##name##_index_##order(const hsa_queue_t *q, uint64_t v)    \
	{                                                                                \
		__atomic_store_n(&queue_of(q)->amd.field, v, __ATOMIC_SEQ_CST);          \
	}
STORE_INDEX(write, write_dispatch_id, relaxed)
STORE_INDEX(write, write_dispatch_id, screlease)
STORE_INDEX(read, read_dispatch_id, relaxed)
STORE_INDEX(read, read_dispatch_id, screlease)

#define ADD_WRITE_INDEX(order)                                                           \
	uint64_t hsa_queue_add_write_index_##order(const hsa_queue_t *q, uint64_t v)     \
	{                                                                                \
		return __atomic_fetch_add(                                               \
			&queue_of(q)->amd.write_dispatch_id, v, __ATOMIC_SEQ_CST);       \
	}
ADD_WRITE_INDEX(relaxed)
ADD_WRITE_INDEX(scacquire)
ADD_WRITE_INDEX(screlease)
ADD_WRITE_INDEX(scacq_screl)

#define CAS_WRITE_INDEX(order)                                                           \
	uint64_t hsa_queue_cas_write_index_##order(                                      \
		const hsa_queue_t *q, uint64_t expected, uint64_t v)                     \
	{                                                                                \
		__atomic_compare_exchange_n(&queue_of(q)->amd.write_dispatch_id,         \
			&expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);        \
		return expected;                                                         \
	}
CAS_WRITE_INDEX(relaxed)
CAS_WRITE_INDEX(scacquire)
CAS_WRITE_INDEX(screlease)
CAS_WRITE_INDEX(scacq_screl)
