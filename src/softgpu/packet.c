/*
 * AQL packets, one at a time to their end: HSA System Architecture 1.2, 2.9; the vendor's
 * barrier-value packet: hsa_ext_amd.h of 5.2.3. Since a packet ends before the next
 * begins, the barrier bit is always kept.
 */
#include "softgpu/softgpu.h"

#include "util/range.h"

#include <inttypes.h>
#include <string.h>

#define MAX_WORKGROUP 1024
#define N_DEPS        5

_Static_assert(sizeof(struct sg_packet) == 64, "a packet is 64 bytes");
_Static_assert(sizeof(hsa_barrier_and_packet_t) == 64, "a packet is 64 bytes");
_Static_assert(sizeof(hsa_amd_barrier_value_packet_t) == 64, "a packet is 64 bytes");

/* A packet's signal, or NULL with *bad set when the handle is no signal of ours. */
static struct sg_signal *signal_of(uint64_t handle, bool *bad)
{
	struct sg_block b;

	if (!handle)
		return NULL;
	if (handle % 64 || !sg_map_find(handle, &b) || b.kind != SG_BLOCK_INTERNAL ||
		!rck_range_ok(handle - b.base, sizeof(struct sg_signal), b.size)) {
		*bad = true;
		return NULL;
	}
	return sg_signal_of((hsa_signal_t){handle});
}

static hsa_status_t malformed(const struct sg_queue *q, uint64_t index, const char *why)
{
	sg_log(SG_LOG_ERROR, "packet %" PRIu64 " of queue %" PRIu64 ": %s", index,
		q->amd.hsa_queue.id, why);
	return HSA_STATUS_ERROR_INVALID_PACKET_FORMAT;
}

static void complete(struct sg_signal *s, uint64_t start)
{
	if (!s)
		return;
	s->amd.start_ts = start;
	s->amd.end_ts = sg_now();
	sg_signal_add(s, -1);
}

/* ----------------------------------------------------------------- dispatches */

static const char *check_dispatch(const struct sg_packet *p)
{
	unsigned int dimensions = p->setup & 3;
	uint64_t lanes = 1;

	if (dimensions < 1)
		return "a dispatch of no dimensions";
	for (unsigned int i = 0; i < 3; i++) {
		if (!p->workgroup_size[i] || !p->grid_size[i])
			return "a dispatch with an empty workgroup or grid";
		if (i >= dimensions &&
			(p->workgroup_size[i] != 1 || p->grid_size[i] != 1))
			return "a dispatch larger than its dimensions";
		lanes *= p->workgroup_size[i];
	}
	if (lanes > MAX_WORKGROUP)
		return "a workgroup of more than 1024 work-items";
	return NULL;
}

static hsa_status_t status_of(enum sg_fault_kind kind)
{
	switch (kind) {
	case SG_FAULT_MEMORY:
		return (hsa_status_t)HSA_STATUS_ERROR_MEMORY_FAULT;
	case SG_FAULT_TRAP:
		return HSA_STATUS_ERROR_EXCEPTION;
	case SG_FAULT_LAUNCH:
		return HSA_STATUS_ERROR_INVALID_PACKET_FORMAT;
	default:
		return (hsa_status_t)HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION;
	}
}

static hsa_status_t execute(struct sg_queue *q, uint64_t index, const struct sg_packet *p,
	const struct sg_loaded_kernel *k)
{
	const struct sg_launch launch = {
		.packet = *p,
		.packet_address = (uint64_t)(uintptr_t)q->amd.hsa_queue.base_address +
				  (index & (q->amd.hsa_queue.size - 1)) * sizeof *p,
		.queue_address = (uint64_t)(uintptr_t)&q->amd,
		.dispatch_id = index,
		.code = k->code,
		.kernel = k->symbol->kernel,
		.threads = sg_threads(),
		.range = sg_map_range,
		.interrupt = sg_signal_interrupt,
		.cancel = &q->stop,
		.timestamp_hz = 100000000,
	};
	struct sg_fault fault = {0};
	int r;

	sg_memory_use();
	r = sg_exec_run(&launch, &fault);
	sg_memory_unuse();
	if (!r || sg_flag(&q->stop))
		return HSA_STATUS_SUCCESS;
	sg_log(SG_LOG_ERROR, "%s", fault.text);
	return status_of(fault.kind);
}

static hsa_status_t dispatch(
	struct sg_queue *q, uint64_t index, const struct sg_packet *p)
{
	const char *why = check_dispatch(p);
	struct sg_fault fault = {0};
	struct sg_loaded_kernel kernel;
	hsa_status_t s = HSA_STATUS_SUCCESS;
	int r;

	if (why)
		return malformed(q, index, why);
	if (p->group_segment_size > q->agent->card->lds)
		return malformed(q, index, "a dispatch with more LDS than there is");
	r = sg_loaded_kernel_get(p->kernel_object, &kernel, &fault);
	if (r) {
		sg_log(SG_LOG_ERROR,
			"packet %" PRIu64 " of queue %" PRIu64
			": kernel object 0x%" PRIx64 ": %s",
			index, q->amd.hsa_queue.id, p->kernel_object,
			fault.text[0] ? fault.text : "no kernel is loaded there");
		return HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
	}
	sg_log(SG_LOG_DEBUG,
		"queue %" PRIu64 " packet %" PRIu64
		": '%s' grid %u,%u,%u workgroup %u,%u,%u",
		q->amd.hsa_queue.id, index, kernel.symbol->kernel, p->grid_size[0],
		p->grid_size[1], p->grid_size[2], p->workgroup_size[0],
		p->workgroup_size[1], p->workgroup_size[2]);
	if (sg_executes())
		s = execute(q, index, p, &kernel);
	sg_loaded_kernel_put(&kernel);
	return s;
}

/* ------------------------------------------------------------------- barriers */

static bool is_barrier_value(const hsa_amd_vendor_packet_header_t *p)
{
	return (p->header & 0xff) == HSA_PACKET_TYPE_VENDOR_SPECIFIC &&
	       p->AmdFormat == HSA_AMD_PACKET_TYPE_BARRIER_VALUE;
}

/* The signals that a packet waits for, NULL where there is none; says why it cannot. */
static const char *dependencies(const void *packet, struct sg_signal **deps)
{
	const hsa_barrier_and_packet_t *b = packet;
	const hsa_amd_barrier_value_packet_t *v = packet;
	uint16_t type = b->header & 0xff;
	bool bad = false;

	memset(deps, 0, N_DEPS * sizeof(*deps));
	if (is_barrier_value(packet)) {
		deps[0] = signal_of(v->signal.handle, &bad);
		if (!bad && v->cond > HSA_SIGNAL_CONDITION_GTE)
			return "a barrier with an unknown condition";
	} else if (type == HSA_PACKET_TYPE_BARRIER_AND ||
		   type == HSA_PACKET_TYPE_BARRIER_OR) {
		for (int i = 0; i < N_DEPS; i++)
			deps[i] = signal_of(b->dep_signal[i].handle, &bad);
	}
	return bad ? "a barrier on what is no signal" : NULL;
}

/* A dependency is met once its signal was seen at 0, whatever it says later: it is taken
 * off the packet. */
static bool all_met(hsa_barrier_and_packet_t *p, struct sg_signal *const *deps)
{
	bool all = true;

	for (int i = 0; i < N_DEPS; i++)
		if (!deps[i] || !sg_signal_load(deps[i]))
			p->dep_signal[i].handle = 0;
		else
			all = false;
	return all;
}

static bool any_met(struct sg_signal *const *deps)
{
	bool none = true;

	for (int i = 0; i < N_DEPS; i++) {
		if (!deps[i])
			continue;
		none = false;
		if (!sg_signal_load(deps[i]))
			return true;
	}
	return none;
}

/* What is malformed is ready: running it says so. */
bool sg_packet_ready(void *packet)
{
	const hsa_amd_barrier_value_packet_t *v = packet;
	struct sg_signal *deps[N_DEPS];

	if (dependencies(packet, deps))
		return true;
	if (is_barrier_value(packet))
		return !deps[0] || sg_condition_holds(v->cond,
					   sg_signal_load(deps[0]) & v->mask, v->value);
	switch (v->header.header & 0xff) {
	case HSA_PACKET_TYPE_BARRIER_AND:
		return all_met(packet, deps);
	case HSA_PACKET_TYPE_BARRIER_OR:
		return any_met(deps);
	}
	return true;
}

static hsa_status_t barrier(struct sg_queue *q, uint64_t index, void *packet)
{
	struct sg_signal *deps[N_DEPS];
	const char *why = dependencies(packet, deps);

	if (why)
		return malformed(q, index, why);
	for (int i = 0; i < N_DEPS; i++)
		if (deps[i])
			sg_watch(deps[i]);
	while (!sg_flag(&q->stop)) {
		uint32_t seen = sg_change_count();

		if (sg_packet_ready(packet))
			break;
		sg_change_wait(seen);
	}
	for (int i = 0; i < N_DEPS; i++)
		if (deps[i])
			sg_unwatch(deps[i]);
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t vendor(
	struct sg_queue *q, uint64_t index, hsa_amd_vendor_packet_header_t *p)
{
	if (is_barrier_value(p))
		return barrier(q, index, p);
	return malformed(q, index, "a vendor packet whose format is not implemented");
}

/* The completion signal is the last word of every kind of packet. */
hsa_status_t sg_packet_run(struct sg_queue *queue, uint64_t index, void *packet)
{
	const struct sg_packet *p = packet;
	uint64_t start = sg_now();
	bool bad = false;
	struct sg_signal *done = signal_of(p->completion_signal, &bad);
	hsa_status_t s;

	if (bad)
		return malformed(queue, index, "the completion signal is no signal");
	switch (p->header & 0xff) {
	case HSA_PACKET_TYPE_KERNEL_DISPATCH:
		s = dispatch(queue, index, p);
		break;
	case HSA_PACKET_TYPE_BARRIER_AND:
	case HSA_PACKET_TYPE_BARRIER_OR:
		s = barrier(queue, index, packet);
		break;
	case HSA_PACKET_TYPE_VENDOR_SPECIFIC:
		s = vendor(queue, index, packet);
		break;
	default:
		return malformed(queue, index, "a packet of unknown type");
	}
	/* a queue that is being destroyed completes nothing more */
	if (s == HSA_STATUS_SUCCESS && !sg_flag(&queue->stop))
		complete(done, start);
	return s;
}
