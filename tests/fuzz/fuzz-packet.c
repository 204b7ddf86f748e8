/*
 * AQL packets: the input is a row of 64-byte packets for one queue. The first byte
 * chooses the type, bits of the second put real handles where chance would never find
 * them. The queue is being stopped, so that no barrier waits; kernels are "executed" by
 * counting.
 */
#include "fuzz.h"

#include "softgpu/softgpu.h"

#include <stdlib.h>
#include <string.h>

#define PACKET 64

int sg_exec_run(const struct sg_launch *launch, struct sg_fault *fault)
{
	return 0;
}

int sg_code_open(const char *name, const char *target, const void *base, size_t size,
	const struct sg_code_options *options, struct sg_code **out,
	struct sg_fault *fault)
{
	return -2;
}

void sg_code_close(struct sg_code *code)
{
}

static struct sg_queue *make_queue(void)
{
	static struct sg_queue q;

	if (q.agent)
		return &q;
	setenv("RCK_SOFT_TARGET", "gfx1030", 1);
	setenv("RCK_SOFT_LOG", "-1", 1);
	hsa_init();
	q.agent = &sg_agents[1];
	q.amd.hsa_queue.size = 64;
	q.amd.hsa_queue.base_address = sg_internal_alloc(64 * PACKET);
	q.stop = 1;
	return &q;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct sg_signal *signal;
	struct sg_queue *q = make_queue();

	if (!signal)
		signal = sg_signal_new(0);
	for (size_t at = 0; size - at >= PACKET; at += PACKET) {
		_Alignas(8) uint8_t p[PACKET];
		uint64_t handle = sg_signal_handle(signal).handle;

		memcpy(p, data + at, PACKET);
		p[0] %= 7;
		if (p[1] & 1)
			memcpy(p + 56, &handle, 8);
		for (int i = 0; i < 5; i++)
			if (p[1] >> (i + 1) & 1)
				memcpy(p + 8 + i * 8, &handle, 8);
		sg_packet_run(q, at / PACKET, p);
	}
	return 0;
}
