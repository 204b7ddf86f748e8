/*
 * The stand-in HSA runtime, from the side of its caller. The interpreter is replaced by
 * sg_exec_run() below, which "executes" kernels by what the test says.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "softgpu/softgpu.h"

static hsa_agent_t cpu, gpu;
static hsa_amd_memory_pool_t vram, host;
static hsa_executable_t executable;
static hsa_code_object_reader_t reader;
static uint64_t kernel_object;
static uint8_t *object;
static size_t object_size;

/* ------------------------------------------------------------ the fake interpreter */

static _Atomic unsigned int runs;
static struct sg_launch last;
static enum sg_fault_kind fail_with;
static void (*body)(const struct sg_launch *l);

int sg_exec_run(const struct sg_launch *launch, struct sg_fault *fault)
{
	last = *launch;
	runs++;
	if (body)
		body(launch);
	if (!fail_with)
		return 0;
	fault->kind = fail_with;
	snprintf(fault->text, sizeof fault->text, "on purpose");
	return -5;
}

int sg_code_open(const char *name, const char *target, const void *base, size_t size,
	const struct sg_code_options *options, struct sg_code **out,
	struct sg_fault *fault)
{
	*out = (struct sg_code *)(uintptr_t)base;
	return 0;
}

void sg_code_close(struct sg_code *code)
{
}

/* ---------------------------------------------------------------------- fixtures */

static hsa_status_t find_agents(hsa_agent_t a, void *data)
{
	hsa_device_type_t type;

	assert_int_equal(hsa_agent_get_info(a, HSA_AGENT_INFO_DEVICE, &type), 0);
	if (type == HSA_DEVICE_TYPE_CPU)
		cpu = a;
	else
		gpu = a;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t first_pool(hsa_amd_memory_pool_t p, void *data)
{
	*(hsa_amd_memory_pool_t *)data = p;
	return HSA_STATUS_INFO_BREAK;
}

static void read_object(void)
{
	FILE *f = fopen(getenv("RCK_SOFT_OBJECT"), "rb");

	assert_non_null(f);
	object = malloc(1 << 20);
	object_size = fread(object, 1, 1 << 20, f);
	fclose(f);
}

static int open_runtime(void **state)
{
	hsa_executable_symbol_t symbol;
	static uint64_t outside;

	setenv("RCK_SOFT_TARGET", "gfx1030", 1);
	assert_int_equal(hsa_init(), 0);
	assert_int_equal(hsa_iterate_agents(find_agents, NULL), 0);
	hsa_amd_agent_iterate_memory_pools(gpu, first_pool, &vram);
	hsa_amd_agent_iterate_memory_pools(cpu, first_pool, &host);
	read_object();
	assert_int_equal(
		hsa_code_object_reader_create_from_memory(object, object_size, &reader),
		0);
	assert_int_equal(
		hsa_executable_create_alt(HSA_PROFILE_FULL,
			HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL, &executable),
		0);
	assert_int_equal(hsa_executable_agent_global_variable_define(
				 executable, gpu, "outside", &outside),
		0);
	assert_int_equal(hsa_executable_load_agent_code_object(
				 executable, gpu, reader, NULL, NULL),
		0);
	assert_int_equal(hsa_executable_freeze(executable, NULL), 0);
	assert_int_equal(
		hsa_executable_get_symbol_by_name(executable, "store.kd", &gpu, &symbol),
		0);
	assert_int_equal(
		hsa_executable_symbol_get_info(
			symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &kernel_object),
		0);
	return 0;
}

static int close_runtime(void **state)
{
	assert_int_equal(hsa_executable_destroy(executable), 0);
	assert_int_equal(hsa_code_object_reader_destroy(reader), 0);
	free(object);
	assert_int_equal(hsa_shut_down(), 0);
	assert_int_equal(hsa_shut_down(), HSA_STATUS_ERROR_NOT_INITIALIZED);
	return 0;
}

/* References are counted, and what was shut down opens again. */
static void opens_again(void **state)
{
	assert_int_equal(hsa_init(), 0);
	assert_int_equal(hsa_shut_down(), 0);
	assert_int_equal(close_runtime(state), 0);
	assert_int_equal(open_runtime(state), 0);
}

/* A queue, and what its error callback was told. */
struct queue {
	hsa_queue_t *q;
	_Atomic int status;
};

static void on_error(hsa_status_t status, hsa_queue_t *source, void *data)
{
	((struct queue *)data)->status = (int)status;
}

static void make_queue(struct queue *q)
{
	q->status = 0;
	assert_int_equal(
		hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_MULTI, on_error, q, 0, 0, &q->q),
		0);
}

/* Puts 64 bytes into the ring, the header last, and rings the doorbell. */
static void submit(hsa_queue_t *q, const void *packet)
{
	uint64_t index = hsa_queue_add_write_index_screlease(q, 1);
	uint8_t *slot;

	while (index - hsa_queue_load_read_index_scacquire(q) >= q->size)
		usleep(100);
	slot = (uint8_t *)q->base_address + (index & (q->size - 1)) * 64;
	memcpy(slot + 4, (const uint8_t *)packet + 4, 60);
	__atomic_store_n(
		(uint32_t *)(void *)slot, *(const uint32_t *)packet, __ATOMIC_RELEASE);
	hsa_signal_store_screlease(q->doorbell_signal, (int64_t)index);
}

static struct sg_packet dispatch(hsa_signal_t done)
{
	return (struct sg_packet){
		.header =
			HSA_PACKET_TYPE_KERNEL_DISPATCH | 1 << HSA_PACKET_HEADER_BARRIER,
		.setup = 1,
		.workgroup_size = {64, 1, 1},
		.grid_size = {256, 1, 1},
		.group_segment_size = 128,
		.kernel_object = kernel_object,
		.completion_signal = done.handle,
	};
}

static hsa_signal_t make_signal(int64_t value)
{
	hsa_signal_t s;

	assert_int_equal(hsa_signal_create(value, 0, NULL, &s), 0);
	return s;
}

static int64_t await(hsa_signal_t s, int64_t value)
{
	return hsa_signal_wait_scacquire(
		s, HSA_SIGNAL_CONDITION_EQ, value, 5000000000, HSA_WAIT_STATE_BLOCKED);
}

static int await_error(struct queue *q)
{
	for (int i = 0; i < 5000 && !q->status; i++)
		usleep(1000);
	return q->status;
}

static int reset(void **state)
{
	runs = 0;
	fail_with = SG_FAULT_NONE;
	body = NULL;
	return 0;
}

/* ------------------------------------------------------------------------- signals */

static void signal_layout(void **state)
{
	hsa_signal_t s = make_signal(7);
	const amd_signal_t *a = (const amd_signal_t *)(uintptr_t)s.handle;

	assert_int_equal(s.handle % 64, 0);
	assert_int_equal(a->kind, AMD_SIGNAL_KIND_USER);
	assert_int_equal(a->value, 7);
	assert_true(a->event_mailbox_ptr && a->event_id);
	hsa_signal_destroy(s);
	assert_int_equal(a->kind, AMD_SIGNAL_KIND_INVALID);
}

static void signal_operations(void **state)
{
	hsa_signal_t s = make_signal(5);

	hsa_signal_add_relaxed(s, 3);
	assert_int_equal(hsa_signal_load_relaxed(s), 8);
	hsa_signal_subtract_relaxed(s, 10);
	assert_int_equal(hsa_signal_load_scacquire(s), -2);
	assert_int_equal(hsa_signal_exchange_scacq_screl(s, 12), -2);
	assert_int_equal(hsa_signal_cas_relaxed(s, 11, 1), 12);
	assert_int_equal(hsa_signal_cas_relaxed(s, 12, 6), 12);
	hsa_signal_and_relaxed(s, 3);
	hsa_signal_or_relaxed(s, 8);
	hsa_signal_xor_relaxed(s, 1);
	assert_int_equal(hsa_signal_load_relaxed(s), 11);
	hsa_signal_destroy(s);
}

static void signal_timeout(void **state)
{
	hsa_signal_t s = make_signal(1);
	uint64_t start = sg_now(), spent;

	assert_int_equal(hsa_signal_wait_relaxed(s, HSA_SIGNAL_CONDITION_EQ, 0, 50000000,
				 HSA_WAIT_STATE_BLOCKED),
		1);
	spent = sg_now() - start;
	assert_true(spent >= 50000000);
	assert_int_equal(hsa_signal_wait_relaxed(s, HSA_SIGNAL_CONDITION_EQ, 0, 0,
				 HSA_WAIT_STATE_BLOCKED),
		1);
	hsa_signal_destroy(s);
}

static void *store_later(void *arg)
{
	usleep(20000);
	hsa_signal_store_screlease(*(hsa_signal_t *)arg, 9);
	return NULL;
}

static void signal_wakes_sleeper(void **state)
{
	static const hsa_signal_condition_t conditions[] = {HSA_SIGNAL_CONDITION_EQ,
		HSA_SIGNAL_CONDITION_NE, HSA_SIGNAL_CONDITION_GTE};
	static const int64_t compare[] = {9, 0, 5};

	for (int i = 0; i < 3; i++) {
		hsa_signal_t s = make_signal(0);
		pthread_t t;

		pthread_create(&t, NULL, store_later, &s);
		assert_int_equal(hsa_signal_wait_scacquire(s, conditions[i], compare[i],
					 UINT64_MAX, HSA_WAIT_STATE_BLOCKED),
			9);
		pthread_join(t, NULL);
		hsa_signal_destroy(s);
	}
}

/* A kernel writes the value itself and only sends an interrupt. */
static void *write_later(void *arg)
{
	amd_signal_t *a = (amd_signal_t *)(uintptr_t)((hsa_signal_t *)arg)->handle;

	usleep(20000);
	__atomic_store_n(&a->value, 4, __ATOMIC_RELEASE);
	sg_signal_interrupt(NULL, 1);
	return NULL;
}

static void signal_sees_device_write(void **state)
{
	hsa_signal_t s = make_signal(0);
	pthread_t t;

	pthread_create(&t, NULL, write_later, &s);
	assert_int_equal(await(s, 4), 4);
	pthread_join(t, NULL);
	hsa_signal_destroy(s);
}

static _Atomic int handled;

static bool handler(hsa_signal_value_t value, void *arg)
{
	handled++;
	/* asked for again once */
	if (handled == 1) {
		hsa_signal_store_relaxed(*(hsa_signal_t *)arg, 1);
		return true;
	}
	return false;
}

static void async_handler(void **state)
{
	hsa_signal_t s = make_signal(1);

	handled = 0;
	assert_int_equal(
		hsa_amd_signal_async_handler(s, HSA_SIGNAL_CONDITION_LT, 1, handler, &s),
		0);
	usleep(30000);
	assert_int_equal(handled, 0);
	hsa_signal_store_relaxed(s, 0);
	for (int i = 0; i < 1000 && handled < 1; i++)
		usleep(1000);
	assert_int_equal(handled, 1);
	hsa_signal_store_relaxed(s, 0);
	for (int i = 0; i < 1000 && handled < 2; i++)
		usleep(1000);
	assert_int_equal(handled, 2);
	hsa_signal_store_relaxed(s, -1);
	usleep(30000);
	assert_int_equal(handled, 2);
	hsa_signal_destroy(s);
}

/* -------------------------------------------------------------------------- queues */

static void dispatches(void **state)
{
	hsa_signal_t done = make_signal(1);
	struct sg_packet p = dispatch(done);
	hsa_amd_profiling_dispatch_time_t time;
	struct queue q;

	make_queue(&q);
	submit(q.q, &p);
	assert_int_equal(await(done, 0), 0);
	assert_int_equal(runs, 1);
	assert_memory_equal(&last.packet, &p, sizeof p);
	assert_int_equal(last.packet_address, (uint64_t)(uintptr_t)q.q->base_address);
	assert_int_equal(last.queue_address, (uint64_t)(uintptr_t)q.q);
	assert_string_equal(last.kernel, "store");
	assert_int_equal(hsa_amd_profiling_get_dispatch_time(gpu, done, &time), 0);
	assert_true(time.start && time.end >= time.start);
	assert_int_equal(((amd_queue_t *)q.q)->group_segment_aperture_base_hi, 0x10000);
	hsa_queue_destroy(q.q);
	hsa_signal_destroy(done);
}

static _Atomic uint64_t order;

static void note(const struct sg_launch *l)
{
	uint64_t expected = l->packet.kernarg_address;

	if (order == expected)
		order++;
}

static void ring_wraps_in_order(void **state)
{
	hsa_signal_t done = make_signal(1000);
	struct queue q;

	order = 0;
	body = note;
	make_queue(&q);
	for (uint64_t i = 0; i < 1000; i++) {
		struct sg_packet p = dispatch(done);
		p.kernarg_address = i;
		submit(q.q, &p);
	}
	assert_int_equal(await(done, 0), 0);
	assert_int_equal(order, 1000);
	for (int i = 0; i < 1000 && hsa_queue_load_read_index_relaxed(q.q) < 1000; i++)
		usleep(100);
	assert_int_equal(hsa_queue_load_read_index_relaxed(q.q), 1000);
	hsa_queue_destroy(q.q);
	hsa_signal_destroy(done);
}

static void invalid_header_is_not_ready(void **state)
{
	hsa_signal_t done = make_signal(1);
	struct sg_packet p = dispatch(done);
	struct queue q;
	uint64_t index;
	uint8_t *slot;

	make_queue(&q);
	index = hsa_queue_add_write_index_screlease(q.q, 1);
	slot = (uint8_t *)q.q->base_address + index * 64;
	memcpy(slot + 4, (uint8_t *)&p + 4, 60);
	hsa_signal_store_screlease(q.q->doorbell_signal, (int64_t)index);
	usleep(50000);
	assert_int_equal(runs, 0);
	__atomic_store_n((uint32_t *)(void *)slot, *(uint32_t *)&p, __ATOMIC_RELEASE);
	hsa_signal_store_screlease(q.q->doorbell_signal, (int64_t)index);
	assert_int_equal(await(done, 0), 0);
	while (!hsa_queue_load_read_index_scacquire(q.q))
		usleep(100);
	assert_int_equal(*(uint16_t *)(void *)slot & 0xff, HSA_PACKET_TYPE_INVALID);
	hsa_queue_destroy(q.q);
	hsa_signal_destroy(done);
}

static void barrier_and(void **state)
{
	hsa_signal_t a = make_signal(1), b = make_signal(1), done = make_signal(1);
	hsa_barrier_and_packet_t p = {
		.header = HSA_PACKET_TYPE_BARRIER_AND,
		.dep_signal = {a, {0}, b},
		.completion_signal = done,
	};
	struct queue q;

	make_queue(&q);
	submit(q.q, &p);
	hsa_signal_store_relaxed(b, 0);
	usleep(30000);
	assert_int_equal(hsa_signal_load_relaxed(done), 1);
	hsa_signal_store_relaxed(a, 0);
	assert_int_equal(await(done, 0), 0);
	hsa_queue_destroy(q.q);
}

/* Signals are used again: what was seen at 0 is met, in whichever order. */
static void barrier_keeps_what_was_met(void **state)
{
	for (int first = 0; first < 2; first++) {
		hsa_signal_t dep[2] = {make_signal(1), make_signal(1)},
			     done = make_signal(1);
		hsa_barrier_and_packet_t p = {
			.header = HSA_PACKET_TYPE_BARRIER_AND,
			.dep_signal = {dep[0], dep[1]},
			.completion_signal = done,
		};
		struct queue q;

		make_queue(&q);
		submit(q.q, &p);
		hsa_signal_store_relaxed(dep[first], 0);
		usleep(50000);
		hsa_signal_store_relaxed(dep[first], 1);
		usleep(20000);
		assert_int_equal(hsa_signal_load_relaxed(done), 1);
		hsa_signal_store_relaxed(dep[!first], 0);
		assert_int_equal(await(done, 0), 0);
		hsa_queue_destroy(q.q);
	}
}

static void barrier_or(void **state)
{
	hsa_signal_t a = make_signal(1), b = make_signal(1), done = make_signal(2);
	hsa_barrier_or_packet_t p = {
		.header = HSA_PACKET_TYPE_BARRIER_OR,
		.dep_signal = {a, b},
		.completion_signal = done,
	};
	struct queue q;

	make_queue(&q);
	submit(q.q, &p);
	usleep(30000);
	assert_int_equal(hsa_signal_load_relaxed(done), 2);
	hsa_signal_store_relaxed(b, 0);
	assert_int_equal(await(done, 1), 1);
	/* with no signal at all it is satisfied */
	p.dep_signal[0].handle = p.dep_signal[1].handle = 0;
	submit(q.q, &p);
	assert_int_equal(await(done, 0), 0);
	hsa_queue_destroy(q.q);
}

static void barrier_value(void **state)
{
	hsa_signal_t s = make_signal(0x10), done = make_signal(1);
	hsa_amd_barrier_value_packet_t p = {
		.header = {HSA_PACKET_TYPE_VENDOR_SPECIFIC,
			HSA_AMD_PACKET_TYPE_BARRIER_VALUE},
		.signal = s,
		.value = 2,
		.mask = 0xf,
		.cond = HSA_SIGNAL_CONDITION_GTE,
		.completion_signal = done,
	};
	struct queue q;

	make_queue(&q);
	submit(q.q, &p);
	usleep(30000);
	assert_int_equal(hsa_signal_load_relaxed(done), 1);
	hsa_signal_store_relaxed(s, 0x13);
	assert_int_equal(await(done, 0), 0);
	hsa_queue_destroy(q.q);
}

/* Queues that wait for one another: only several threads get through. */
static void queues_side_by_side(void **state)
{
	enum { N = 8 };
	hsa_signal_t step[N + 1];
	struct queue q[N];

	for (int i = 0; i <= N; i++)
		step[i] = make_signal(1);
	for (int i = 0; i < N; i++) {
		hsa_barrier_and_packet_t p = {
			.header = HSA_PACKET_TYPE_BARRIER_AND,
			.dep_signal = {step[i + 1]},
			.completion_signal = step[i],
		};
		make_queue(&q[i]);
		submit(q[i].q, &p);
	}
	hsa_signal_store_relaxed(step[N], 0);
	assert_int_equal(await(step[0], 0), 0);
	for (int i = 0; i < N; i++)
		hsa_queue_destroy(q[i].q);
}

static void destroy_while_waiting(void **state)
{
	hsa_signal_t never = make_signal(1), done = make_signal(1);
	hsa_barrier_and_packet_t p = {
		.header = HSA_PACKET_TYPE_BARRIER_AND,
		.dep_signal = {never},
		.completion_signal = done,
	};
	struct queue q;

	make_queue(&q);
	submit(q.q, &p);
	usleep(10000);
	assert_int_equal(hsa_queue_destroy(q.q), 0);
	assert_int_equal(hsa_signal_load_relaxed(done), 1);
	assert_int_equal(hsa_queue_destroy(q.q), HSA_STATUS_ERROR_INVALID_QUEUE);
}

/* A stopped kernel ends its queue: an error, no completion, nothing after it runs. */
static void fault_ends_the_queue(void **state)
{
	static const struct {
		enum sg_fault_kind kind;
		int status;
	} cases[] = {
		{SG_FAULT_ILLEGAL, HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION},
		{SG_FAULT_MEMORY, HSA_STATUS_ERROR_MEMORY_FAULT},
		{SG_FAULT_TRAP, HSA_STATUS_ERROR_EXCEPTION},
		{SG_FAULT_LAUNCH, HSA_STATUS_ERROR_INVALID_PACKET_FORMAT},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		hsa_signal_t done = make_signal(2);
		struct sg_packet p = dispatch(done);
		struct queue q;

		runs = 0;
		fail_with = cases[i].kind;
		make_queue(&q);
		submit(q.q, &p);
		assert_int_equal(await_error(&q), cases[i].status);
		submit(q.q, &p);
		usleep(20000);
		assert_int_equal(runs, 1);
		assert_int_equal(hsa_signal_load_relaxed(done), 2);
		hsa_queue_destroy(q.q);
		hsa_signal_destroy(done);
	}
}

static void hostile_packets(void **state)
{
	hsa_signal_t done = make_signal(1);
	const struct sg_packet good = dispatch(done);
	const hsa_amd_barrier_value_packet_t odd = {
		.header = {HSA_PACKET_TYPE_VENDOR_SPECIFIC,
			HSA_AMD_PACKET_TYPE_BARRIER_VALUE},
		.signal = done,
		.cond = 77,
	};
	struct sg_packet bad[17];
	size_t n = 0;

	bad[n] = good, bad[n++].header = 4; /* agent dispatch */
	bad[n] = good, bad[n++].header = 77;
	bad[n] = good, bad[n++].header = 0; /* vendor, format 1 */
	bad[n] = good, bad[n++].setup = 0;
	bad[n] = good, bad[n++].workgroup_size[1] = 2;
	bad[n] = good, bad[n++].workgroup_size[0] = 0;
	bad[n] = good, bad[n++].workgroup_size[0] = 1025;
	bad[n] = good, bad[n++].grid_size[0] = 0;
	bad[n] = good, bad[n++].group_segment_size = 65537;
	bad[n] = good, bad[n++].kernel_object = 0;
	bad[n] = good, bad[n++].kernel_object += 8;
	bad[n] = good, bad[n++].kernel_object = UINT64_MAX;
	bad[n] = good, bad[n++].completion_signal = 0x1000;
	bad[n] = good, bad[n++].completion_signal = UINT64_MAX & ~UINT64_C(63);
	bad[n] = good, bad[n++].completion_signal = kernel_object & ~UINT64_C(63);
	memcpy(&bad[n++], &odd, sizeof(odd));
	for (size_t i = 0; i < n; i++) {
		struct queue q;

		make_queue(&q);
		submit(q.q, &bad[i]);
		assert_int_not_equal(await_error(&q), 0);
		hsa_queue_destroy(q.q);
	}
	assert_int_equal(runs, 0);
	assert_int_equal(hsa_signal_load_relaxed(done), 1);
}

static void destroy_own(hsa_status_t status, hsa_queue_t *source, void *data)
{
	assert_int_equal(hsa_queue_destroy(source), 0);
	*(_Atomic int *)data = (int)status;
}

/* By its own callback, and so in its own thread. */
static void callback_destroys_the_queue(void **state)
{
	struct sg_packet p = dispatch(make_signal(1));

	p.header = 77;
	/* again and again: whoever rings may still be ringing */
	for (int i = 0; i < 300; i++) {
		struct queue q = {0};

		assert_int_equal(hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_MULTI,
					 destroy_own, &q.status, 0, 0, &q.q),
			0);
		submit(q.q, &p);
		assert_int_equal(await_error(&q), HSA_STATUS_ERROR_INVALID_PACKET_FORMAT);
		assert_int_equal(hsa_queue_destroy(q.q), HSA_STATUS_ERROR_INVALID_QUEUE);
	}
}

/* Where nothing is executed no other thread's turn is waited for: not once in many. */
static void done_at_the_bell(void **state)
{
	hsa_signal_t done = make_signal(1), ready = make_signal(0);
	char src[4] = "abc", dst[4] = "";
	hsa_barrier_and_packet_t barrier = {
		.header = HSA_PACKET_TYPE_BARRIER_AND,
		.dep_signal = {ready},
		.completion_signal = done,
	};
	struct sg_packet p = dispatch(done);
	struct queue q;

	make_queue(&q);
	for (int i = 0; i < 1000; i++) {
		hsa_signal_store_relaxed(done, 2);
		submit(q.q, &p);
		assert_int_equal(hsa_signal_load_relaxed(done), 1);
		submit(q.q, &barrier);
		assert_int_equal(hsa_signal_load_relaxed(done), 0);
		assert_int_equal(
			hsa_amd_memory_async_copy(dst, cpu, src, cpu, 4, 0, NULL, done),
			0);
		assert_int_equal(hsa_signal_load_relaxed(done), -1);
	}
	assert_int_equal(runs, 0);
	assert_string_equal(dst, "abc");
	hsa_queue_destroy(q.q);
}

static void queue_errors(void **state)
{
	hsa_queue_t *q;

	assert_int_equal(hsa_queue_create(cpu, 64, 0, NULL, NULL, 0, 0, &q),
		HSA_STATUS_ERROR_INVALID_QUEUE_CREATION);
	assert_int_equal(hsa_queue_create(gpu, 65, 0, NULL, NULL, 0, 0, &q),
		HSA_STATUS_ERROR_INVALID_ARGUMENT);
	assert_int_equal(hsa_queue_create(gpu, 1 << 18, 0, NULL, NULL, 0, 0, &q),
		HSA_STATUS_ERROR_INVALID_QUEUE_CREATION);
	assert_int_equal(hsa_queue_create((hsa_agent_t){1}, 64, 0, NULL, NULL, 0, 0, &q),
		HSA_STATUS_ERROR_INVALID_AGENT);
}

/* -------------------------------------------------------------------------- memory */

static void pool_memory(void **state)
{
	hsa_amd_pointer_info_t info = {.size = sizeof info};
	uint8_t *p;

	assert_int_equal(hsa_amd_memory_pool_allocate(vram, 10000, 0, (void **)&p), 0);
	for (int i = 0; i < 10000; i++)
		assert_int_equal(p[i], 0);
	assert_int_equal(hsa_amd_pointer_info(p + 9999, &info, NULL, NULL, NULL), 0);
	assert_int_equal(info.type, HSA_EXT_POINTER_TYPE_HSA);
	assert_ptr_equal(info.agentBaseAddress, p);
	assert_int_equal(info.sizeInBytes, 10000);
	assert_int_equal(info.agentOwner.handle, gpu.handle);
	assert_int_equal(hsa_amd_memory_fill(p, 0x01020304, 2500), 0);
	assert_int_equal(p[9999], 1);
	assert_int_equal(
		hsa_amd_memory_fill(p, 0, 2501), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	assert_int_equal(
		hsa_amd_memory_pool_free(p + 8), HSA_STATUS_ERROR_INVALID_ALLOCATION);
	assert_int_equal(hsa_amd_memory_pool_free(p), 0);
	assert_int_equal(
		hsa_amd_memory_pool_free(p), HSA_STATUS_ERROR_INVALID_ALLOCATION);
	assert_int_equal(hsa_amd_pointer_info(p, &info, NULL, NULL, NULL), 0);
	assert_int_equal(info.type, HSA_EXT_POINTER_TYPE_UNKNOWN);
	assert_int_equal(
		hsa_amd_memory_pool_allocate(vram, UINT64_C(1) << 40, 0, (void **)&p),
		HSA_STATUS_ERROR_INVALID_ALLOCATION);
}

static void locked_memory(void **state)
{
	hsa_amd_pointer_info_t info = {.size = sizeof info};
	char *p = malloc(5000);
	void *agent_ptr;

	assert_int_equal(hsa_amd_memory_lock(p, 5000, NULL, 0, &agent_ptr), 0);
	assert_int_equal(hsa_amd_memory_lock(p, 3000, NULL, 0, &agent_ptr), 0);
	assert_int_equal(hsa_amd_memory_unlock(p), 0);
	assert_int_equal(hsa_amd_pointer_info(p + 1, &info, NULL, NULL, NULL), 0);
	assert_int_equal(info.type, HSA_EXT_POINTER_TYPE_LOCKED);
	assert_int_equal(hsa_amd_memory_unlock(p), 0);
	assert_int_equal(hsa_amd_pointer_info(p + 1, &info, NULL, NULL, NULL), 0);
	assert_int_equal(info.type, HSA_EXT_POINTER_TYPE_UNKNOWN);
	free(p);
}

static void ranges_for_kernels(void **state)
{
	uint64_t lo, hi;
	char *p;

	assert_int_equal(hsa_amd_memory_pool_allocate(vram, 4096, 0, (void **)&p), 0);
	assert_int_equal(sg_map_range(NULL, (uint64_t)(uintptr_t)p + 4095, &lo, &hi), 0);
	assert_int_equal(lo, (uint64_t)(uintptr_t)p);
	assert_int_equal(hi, lo + 4096);
	assert_int_not_equal(sg_map_range(NULL, lo + 4096, &lo, &hi), 0);
	assert_int_not_equal(sg_map_range(NULL, 0, &lo, &hi), 0);
	assert_int_not_equal(sg_map_range(NULL, (uint64_t)(uintptr_t)&lo, &lo, &hi), 0);
	hsa_amd_memory_pool_free(p);
}

static void async_copy(void **state)
{
	hsa_signal_t dep = make_signal(1), done = make_signal(1);
	hsa_amd_profiling_async_copy_time_t time;
	char *d, src[300];

	for (int i = 0; i < 300; i++)
		src[i] = (char)i;
	assert_int_equal(hsa_amd_memory_pool_allocate(vram, 300, 0, (void **)&d), 0);
	assert_int_equal(
		hsa_amd_memory_async_copy(d, gpu, src, cpu, 300, 1, &dep, done), 0);
	usleep(20000);
	assert_int_equal(hsa_signal_load_relaxed(done), 1);
	hsa_signal_store_relaxed(dep, 0);
	assert_int_equal(await(done, 0), 0);
	assert_memory_equal(d, src, 300);
	assert_int_equal(hsa_amd_profiling_get_async_copy_time(done, &time), 0);
	assert_true(time.end >= time.start && time.start);
	assert_int_equal(hsa_amd_memory_async_copy(d, gpu, src, cpu, 301, 0, NULL, done),
		HSA_STATUS_ERROR_INVALID_ARGUMENT);
	hsa_amd_memory_pool_free(d);
}

static void rect_copy(void **state)
{
	uint8_t src[4 * 8 * 2], dst[3 * 10 * 2];
	hsa_pitched_ptr_t s = {src, 8, 32}, d = {dst, 10, 30};
	hsa_dim3_t from = {1, 1, 0}, to = {2, 0, 0}, range = {5, 3, 2};
	hsa_signal_t done = make_signal(1);

	for (size_t i = 0; i < sizeof src; i++)
		src[i] = (uint8_t)i;
	memset(dst, 0xee, sizeof dst);
	assert_int_equal(hsa_amd_memory_async_copy_rect(&d, &to, &s, &from, &range, gpu,
				 hsaHostToDevice, 0, NULL, done),
		0);
	assert_int_equal(await(done, 0), 0);
	for (unsigned int z = 0; z < 2; z++)
		for (unsigned int y = 0; y < 3; y++)
			for (unsigned int x = 0; x < 10; x++)
				assert_int_equal(dst[z * 30 + y * 10 + x],
					x >= 2 && x < 7 ? z * 32 + (y + 1) * 8 + x - 1
							: 0xee);
}

static void virtual_memory(void **state)
{
	enum { CHUNK = 1 << 16 };
	hsa_amd_memory_access_desc_t rw = {HSA_ACCESS_PERMISSION_RW, gpu};
	hsa_amd_vmem_alloc_handle_t m[2], again;
	hsa_access_permission_t perms;
	uint64_t lo, hi;
	uint8_t *va;

	assert_int_equal(hsa_amd_vmem_address_reserve_align(
				 (void **)&va, 4 * CHUNK, 0, 1 << 21, 0),
		0);
	assert_int_equal((uintptr_t)va % (1 << 21), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(hsa_amd_vmem_handle_create(
					 vram, CHUNK, MEMORY_TYPE_NONE, 0, &m[i]),
			0);
		assert_int_equal(
			hsa_amd_vmem_map(va + (1 + i) * CHUNK, CHUNK, 0, m[i], 0), 0);
	}
	assert_int_not_equal(hsa_amd_vmem_map(va + CHUNK, CHUNK, 0, m[0], 0), 0);
	assert_int_not_equal(
		sg_map_range(NULL, (uint64_t)(uintptr_t)va + CHUNK, &lo, &hi), 0);
	assert_int_equal(hsa_amd_vmem_set_access(va + CHUNK, 2 * CHUNK, &rw, 1), 0);
	assert_int_equal(hsa_amd_vmem_get_access(va + CHUNK, &perms, gpu), 0);
	assert_int_equal(perms, HSA_ACCESS_PERMISSION_RW);
	assert_int_equal(
		sg_map_range(NULL, (uint64_t)(uintptr_t)va + CHUNK, &lo, &hi), 0);
	memset(va + CHUNK, 0x5a, 2 * CHUNK);
	assert_int_equal(hsa_amd_vmem_retain_alloc_handle(&again, va + CHUNK), 0);
	assert_int_equal(again.handle, m[0].handle);
	assert_int_equal(hsa_amd_vmem_handle_release(again), 0);
	/* the same memory, seen elsewhere */
	assert_int_equal(hsa_amd_vmem_map(va + 3 * CHUNK, CHUNK, 0, m[0], 0), 0);
	assert_int_equal(hsa_amd_vmem_set_access(va + 3 * CHUNK, CHUNK, &rw, 1), 0);
	va[CHUNK + 5] = 77;
	assert_int_equal(va[3 * CHUNK + 5], 77);
	for (int i = 0; i < 2; i++)
		assert_int_equal(hsa_amd_vmem_handle_release(m[i]), 0);
	assert_int_not_equal(hsa_amd_vmem_address_free(va, 4 * CHUNK), 0);
	for (int i = 1; i < 4; i++)
		assert_int_equal(hsa_amd_vmem_unmap(va + i * CHUNK, CHUNK), 0);
	assert_int_not_equal(hsa_amd_vmem_unmap(va + CHUNK, CHUNK), 0);
	assert_int_equal(hsa_amd_vmem_address_free(va, 4 * CHUNK), 0);
}

/* --------------------------------------------------------------------------- agents */

/* Every card answers everything that a HIP runtime asks. */
static void every_card_answers(void **state)
{
	static const unsigned int asked[] = {0, 4, 6, 7, 8, 0xe, 0x11, 0x12, 0x14, 0x15,
		0x16, 0xa000, 0xa001, 0xa002, 0xa003, 0xa004, 0xa006, 0xa007, 0xa008,
		0xa009, 0xa00a, 0xa00b, 0xa00e, 0xa00f, 0xa010, 0xa011, 0xa012, 0xa013,
		0xa014, 0xa015, 0xa016, 0xa10a, 0xa111, 0xa114};
	uint8_t value[256];

	for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
		assert_int_equal(
			hsa_agent_get_info(gpu, (hsa_agent_info_t)asked[i], value), 0);
	assert_int_equal(hsa_agent_get_info(gpu, (hsa_agent_info_t)0xffff, value),
		HSA_STATUS_ERROR_INVALID_ARGUMENT);
	for (size_t i = 0; i < sg_n_cards; i++) {
		const struct sg_card *c = &sg_cards[i];
		assert_true(c->compute_units && c->memory && c->mach && c->chip_id &&
			    c->clock_mhz && c->memory_mhz && c->memory_bits &&
			    c->simds_per_cu && c->waves_per_cu && c->cacheline &&
			    c->lds && c->xcc && c->sdma_engines && c->cache[0] &&
			    c->cache[1]);
		assert_true(c->wavefront == 32 || c->wavefront == 64);
		assert_ptr_equal(sg_card_find(c->processor), c);
	}
}

static void unimplemented_says_so(void **state)
{
	hsa_ext_sampler_t sampler;

	assert_int_equal(hsa_ext_sampler_create(gpu, NULL, &sampler),
		HSA_EXT_STATUS_ERROR_SAMPLER_DESCRIPTOR_UNSUPPORTED);
}

static void wrong_target_is_refused(void **state)
{
	hsa_code_object_reader_t r;
	hsa_executable_t e;
	uint8_t *other = malloc(object_size);

	memcpy(other, object, object_size);
	other[48] = 0x41; /* e_flags: gfx1100 */
	assert_int_equal(
		hsa_code_object_reader_create_from_memory(other, object_size, &r), 0);
	assert_int_equal(hsa_executable_create_alt(HSA_PROFILE_FULL, 0, NULL, &e), 0);
	assert_int_not_equal(
		hsa_executable_load_agent_code_object(e, gpu, r, NULL, NULL), 0);
	other[48] = 0x36;
	/* a symbol that nobody defined */
	assert_int_equal(hsa_executable_load_agent_code_object(e, gpu, r, NULL, NULL),
		HSA_STATUS_ERROR_VARIABLE_UNDEFINED);
	assert_int_equal(hsa_executable_destroy(e), 0);
	assert_int_equal(hsa_executable_destroy(e), HSA_STATUS_ERROR_INVALID_EXECUTABLE);
	hsa_code_object_reader_destroy(r);
	free(other);
}

#define T(f) cmocka_unit_test_setup(f, reset)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(opens_again),
		T(signal_layout),
		T(signal_operations),
		T(signal_timeout),
		T(signal_wakes_sleeper),
		T(signal_sees_device_write),
		T(async_handler),
		T(dispatches),
		T(ring_wraps_in_order),
		T(invalid_header_is_not_ready),
		T(barrier_and),
		T(barrier_keeps_what_was_met),
		T(barrier_or),
		T(barrier_value),
		T(queues_side_by_side),
		T(destroy_while_waiting),
		T(fault_ends_the_queue),
		T(hostile_packets),
		T(callback_destroys_the_queue),
		T(queue_errors),
		T(pool_memory),
		T(locked_memory),
		T(ranges_for_kernels),
		T(async_copy),
		T(rect_copy),
		T(virtual_memory),
		T(every_card_answers),
		T(unimplemented_says_so),
		T(wrong_target_is_refused),
		T(opens_again),
		T(dispatches),
	};

	const struct CMUnitTest unexecuted[] = {
		T(done_at_the_bell),
		T(invalid_header_is_not_ready),
		T(barrier_and),
		T(barrier_keeps_what_was_met),
		T(barrier_or),
		T(barrier_value),
		T(queues_side_by_side),
		T(destroy_while_waiting),
		T(hostile_packets),
		T(callback_destroys_the_queue),
		T(async_copy),
		T(rect_copy),
	};

	return sg_executes()
		       ? cmocka_run_group_tests(tests, open_runtime, close_runtime)
		       : cmocka_run_group_tests(unexecuted, open_runtime, close_runtime);
}
