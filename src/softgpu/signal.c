/*
 * Signals: the real amd_signal_t, which CLR and device code read and write directly, and
 * waiting by futex on the low word of its value.
 */
#include "softgpu/softgpu.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SLAB_BYTES   (64 * 1024)
#define STRIDE       128 /* bytes a signal: two cache lines, no two share one */
#define SPINS        200
#define MAX_SLEEPERS 256
/* A kernel may change a value with no call of ours: look again after this long. */
#define POLL_NS UINT64_C(20000000)

_Static_assert(sizeof(struct sg_signal) <= STRIDE, "a signal fits its stride");
_Static_assert(sizeof(amd_signal_t) == 64, "amd_signal_t is 64 bytes");

static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sg_signal *free_list;
static uint32_t next_event;
static uint64_t *mailbox; /* device code writes a signal's event number here */

static pthread_mutex_t sleepers_lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t *sleepers[MAX_SLEEPERS]; /* the words slept on */
static size_t n_sleepers;
static uint32_t changes; /* of watched signals */

static int futex(uint32_t *word, int op, uint32_t value, const struct timespec *timeout)
{
	return (int)syscall(
		SYS_futex, word, op | FUTEX_PRIVATE_FLAG, value, timeout, NULL, 0);
}

static uint32_t *low_word(struct sg_signal *s)
{
	return (uint32_t *)(uintptr_t)&s->amd.value; /* little-endian */
}

/* pool_lock held. Slabs are kept to the end: a late kernel may still touch a signal. */
static bool grow(void)
{
	uint8_t *slab = sg_internal_alloc(SLAB_BYTES);

	if (!slab)
		return false;
	if (!mailbox) {
		mailbox = (uint64_t *)(void *)slab;
		slab += STRIDE;
	}
	for (size_t i = 0; i + 1 < SLAB_BYTES / STRIDE; i++) {
		struct sg_signal *s = (void *)(slab + i * STRIDE);
		s->next_free = free_list;
		free_list = s;
	}
	return true;
}

struct sg_signal *sg_signal_new(int64_t value)
{
	struct sg_signal *s = NULL;

	pthread_mutex_lock(&pool_lock);
	if (free_list || grow()) {
		s = free_list;
		free_list = s->next_free;
		memset(&s->amd, 0, sizeof s->amd);
		s->amd.kind = AMD_SIGNAL_KIND_USER;
		s->amd.value = value;
		s->amd.event_mailbox_ptr = (uint64_t)(uintptr_t)mailbox;
		s->amd.event_id = 1 + next_event++ % 255;
		s->live = true;
	}
	pthread_mutex_unlock(&pool_lock);
	return s;
}

void sg_signal_free(struct sg_signal *s)
{
	if (!s)
		return;
	pthread_mutex_lock(&pool_lock);
	if (s->live) {
		s->live = false;
		s->amd.kind = AMD_SIGNAL_KIND_INVALID;
		s->next_free = free_list;
		free_list = s;
	}
	pthread_mutex_unlock(&pool_lock);
}

uint32_t sg_change_count(void)
{
	return __atomic_load_n(&changes, __ATOMIC_SEQ_CST);
}

void sg_change_kick(void)
{
	__atomic_add_fetch(&changes, 1, __ATOMIC_SEQ_CST);
	futex(&changes, FUTEX_WAKE, INT_MAX, NULL);
}

void sg_change_wait(uint32_t seen)
{
	struct timespec t = {0, (long)POLL_NS};

	futex(&changes, FUTEX_WAIT, seen, &t);
}

void sg_watch(struct sg_signal *s)
{
	s->watched++;
}

void sg_unwatch(struct sg_signal *s)
{
	s->watched--;
}

void sg_signal_wake(struct sg_signal *s)
{
	if (s->sleepers)
		futex(low_word(s), FUTEX_WAKE, INT_MAX, NULL);
	if (s->watched)
		sg_change_kick();
}

void sg_signal_wake_all(void)
{
	pthread_mutex_lock(&sleepers_lock);
	for (size_t i = 0; i < n_sleepers; i++)
		futex(sleepers[i], FUTEX_WAKE, INT_MAX, NULL);
	pthread_mutex_unlock(&sleepers_lock);
	sg_change_kick();
}

void sg_signal_interrupt(void *ctx, uint32_t m0)
{
	sg_signal_wake_all();
}

void sg_signal_store(struct sg_signal *s, int64_t value)
{
	if (s->amd.kind == AMD_SIGNAL_KIND_DOORBELL) {
		/* the queue begins with its amd_queue_t */
		sg_queue_ring((struct sg_queue *)(uintptr_t)s->amd.queue_ptr, value);
		return;
	}
	__atomic_store_n(&s->amd.value, value, __ATOMIC_SEQ_CST);
	sg_signal_wake(s);
}

void sg_signal_add(struct sg_signal *s, int64_t value)
{
	__atomic_add_fetch(&s->amd.value, value, __ATOMIC_SEQ_CST);
	sg_signal_wake(s);
}

bool sg_condition_holds(hsa_signal_condition_t c, int64_t value, int64_t compare)
{
	switch (c) {
	case HSA_SIGNAL_CONDITION_EQ:
		return value == compare;
	case HSA_SIGNAL_CONDITION_NE:
		return value != compare;
	case HSA_SIGNAL_CONDITION_LT:
		return value < compare;
	case HSA_SIGNAL_CONDITION_GTE:
		return value >= compare;
	}
	return false;
}

static void sleeper_add(uint32_t *word)
{
	pthread_mutex_lock(&sleepers_lock);
	if (n_sleepers < MAX_SLEEPERS)
		sleepers[n_sleepers++] = word;
	pthread_mutex_unlock(&sleepers_lock);
}

static void sleeper_remove(uint32_t *word)
{
	pthread_mutex_lock(&sleepers_lock);
	for (size_t i = 0; i < n_sleepers; i++)
		if (sleepers[i] == word) {
			sleepers[i] = sleepers[--n_sleepers];
			break;
		}
	pthread_mutex_unlock(&sleepers_lock);
}

/* Sleeps for at most ns while the value is still `value`. */
static void sleep_on(struct sg_signal *s, int64_t value, uint64_t ns)
{
	struct timespec t = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
	uint32_t *word = low_word(s);

	s->sleepers++;
	sleeper_add(word);
	if (sg_signal_load(s) == value)
		futex(word, FUTEX_WAIT, (uint32_t)value, &t);
	sleeper_remove(word);
	s->sleepers--;
}

int64_t sg_signal_wait(struct sg_signal *s, hsa_signal_condition_t c, int64_t compare,
	uint64_t timeout, const volatile int *cancel)
{
	uint64_t start = 0, spent = 0;
	int64_t value;

	for (unsigned int spins = 0;; spins++) {
		value = sg_signal_load(s);
		if (sg_condition_holds(c, value, compare) || (cancel && sg_flag(cancel)))
			return value;
		if (spins < SPINS && timeout) {
			if (spins > SPINS / 2)
				sched_yield();
			continue;
		}
		if (timeout != UINT64_MAX) {
			if (!start)
				start = sg_now();
			spent = sg_now() - start;
			if (spent >= timeout)
				return value;
		}
		sleep_on(s, value, timeout - spent < POLL_NS ? timeout - spent : POLL_NS);
	}
}

/* ------------------------------------------------------------------------ API */

hsa_status_t hsa_signal_create(hsa_signal_value_t initial_value, uint32_t num_consumers,
	const hsa_agent_t *consumers, hsa_signal_t *signal)
{
	struct sg_signal *s;

	SG_CHECK_OPEN();
	if (!signal || (num_consumers && !consumers))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	s = sg_signal_new(initial_value);
	if (!s)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	*signal = sg_signal_handle(s);
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_signal_create(hsa_signal_value_t initial_value,
	uint32_t num_consumers, const hsa_agent_t *consumers, uint64_t attributes,
	hsa_signal_t *signal)
{
	/* HSA_AMD_SIGNAL_AMD_GPU_ONLY is a hint; HSA_AMD_SIGNAL_IPC needs another process
	 */
	return hsa_signal_create(initial_value, num_consumers, consumers, signal);
}

hsa_status_t hsa_signal_destroy(hsa_signal_t signal)
{
	SG_CHECK_OPEN();
	if (!signal.handle)
		return HSA_STATUS_ERROR_INVALID_SIGNAL;
	sg_signal_free(sg_signal_of(signal));
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_signal_value_pointer(
	hsa_signal_t signal, volatile hsa_signal_value_t **value_ptr)
{
	SG_CHECK_OPEN();
	if (!signal.handle)
		return HSA_STATUS_ERROR_INVALID_SIGNAL;
	if (!value_ptr)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	*value_ptr = &sg_signal_of(signal)->amd.value;
	return HSA_STATUS_SUCCESS;
}

/* Each operation in the orders that HSA names; all are carried out in the strongest. */
#define LOAD(order)                                                                      \
	hsa_signal_value_t hsa_signal_load_##order(hsa_signal_t s)                       \
	{                                                                                \
		return sg_signal_load(sg_signal_of(s));                                  \
	}
LOAD(relaxed)
LOAD(scacquire)

#define STORE(order)                                                                     \
	void hsa_signal_store_##order(hsa_signal_t s, hsa_signal_value_t v)              \
	{                                                                                \
		sg_signal_store(sg_signal_of(s), v);                                     \
	}
STORE(relaxed)
STORE(screlease)

#define SILENT_STORE(order)                                                              \
	void hsa_signal_silent_store_##order(hsa_signal_t s, hsa_signal_value_t v)       \
	{                                                                                \
		__atomic_store_n(&sg_signal_of(s)->amd.value, v, __ATOMIC_SEQ_CST);      \
	}
SILENT_STORE(relaxed)
SILENT_STORE(screlease)

#define MODIFY(name, op, order)                                                          \
	void hsa_signal_##name##_##order(hsa_signal_t s, hsa_signal_value_t v)           \
	{                                                                                \
		__atomic_fetch_##op(&sg_signal_of(s)->amd.value, v, __ATOMIC_SEQ_CST);   \
		sg_signal_wake(sg_signal_of(s));                                         \
	}
#define MODIFY_ALL(name, op)                                                             \
	MODIFY(name, op, relaxed)                                                        \
	MODIFY(name, op, scacquire)                                                      \
	MODIFY(name, op, screlease)                                                      \
	MODIFY(name, op, scacq_screl)
MODIFY_ALL(add, add)
MODIFY_ALL(subtract, sub)
MODIFY_ALL(and, and)
MODIFY_ALL(or, or)
MODIFY_ALL(xor, xor)

#define EXCHANGE(order)                                                                  \
	hsa_signal_value_t hsa_signal_exchange_##order(                                  \
		hsa_signal_t s, hsa_signal_value_t v)                                    \
	{                                                                                \
		hsa_signal_value_t old = __atomic_exchange_n(                            \
			&sg_signal_of(s)->amd.value, v, __ATOMIC_SEQ_CST);               \
		sg_signal_wake(sg_signal_of(s));                                         \
		return old;                                                              \
	}
EXCHANGE(relaxed)
EXCHANGE(scacquire)
EXCHANGE(screlease)
EXCHANGE(scacq_screl)

#define CAS(order)                                                                       \
	hsa_signal_value_t hsa_signal_cas_##order(                                       \
		hsa_signal_t s, hsa_signal_value_t expected, hsa_signal_value_t v)       \
	{                                                                                \
		__atomic_compare_exchange_n(&sg_signal_of(s)->amd.value, &expected, v,   \
			false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                      \
		sg_signal_wake(sg_signal_of(s));                                         \
		return expected;                                                         \
	}
CAS(relaxed)
CAS(scacquire)
CAS(screlease)
CAS(scacq_screl)

#define WAIT(order)                                                                      \
	hsa_signal_value_t hsa_signal_wait_##order(hsa_signal_t s,                       \
		hsa_signal_condition_t c, hsa_signal_value_t compare, uint64_t timeout,  \
		hsa_wait_state_t state)                                                  \
	{                                                                                \
		return sg_signal_wait(sg_signal_of(s), c, compare, timeout, NULL);       \
	}
WAIT(relaxed)
WAIT(scacquire)
