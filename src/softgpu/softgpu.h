/*
 * The stand-in HSA runtime, inside: what its files share. The public interface is HSA's
 * own (hsa.h, hsa_ext_amd.h of ROCm 5.2.3) and newer.h. Handles are addresses of these
 * objects.
 */
#pragma once

#include "softgpu/exec.h"
#include "softgpu/loader.h"
#include "softgpu/newer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ------------------------------------------------------------------ log.c */

enum sg_log_level {
	SG_LOG_ERROR = 1, /* always: a kernel that stopped, a packet refused */
	SG_LOG_API = 2,   /* RCK_SOFT_LOG=1: what was asked for that is not implemented */
	SG_LOG_DEBUG = 3, /* RCK_SOFT_LOG=2: queues, packets, copies */
};

/* One line on stderr in one write: "rocmcheck softgpu: ...". errno is kept. */
void sg_log(enum sg_log_level level, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* An entry point that is not implemented: named once, then silent; returns status. */
hsa_status_t sg_unimplemented(const char *name, hsa_status_t status);

/* Flags that one thread raises for others, or for the interpreter (launch.cancel). */
static inline bool sg_flag(const volatile int *flag)
{
	return __atomic_load_n(flag, __ATOMIC_ACQUIRE);
}

static inline void sg_flag_set(volatile int *flag)
{
	__atomic_store_n(flag, 1, __ATOMIC_RELEASE);
}

/* ------------------------------------------------------------------ map.c */

enum sg_block_kind {
	SG_BLOCK_POOL,     /* hsa_amd_memory_pool_allocate */
	SG_BLOCK_INTERNAL, /* signals, queues: kernels may use it, pointer_info does not
			    */
	SG_BLOCK_IMAGE,    /* a loaded code object */
	SG_BLOCK_VMEM,     /* a mapped part of a reserved address range */
	SG_BLOCK_RESERVED, /* a reserved address range: no memory */
	SG_BLOCK_IPC,      /* another process's, hsa_amd_ipc_memory_attach */
	SG_BLOCK_LOCKED,   /* the host's own, hsa_amd_memory_lock */
};

struct sg_pool;

struct sg_block {
	uint64_t base, size; /* bytes */
	enum sg_block_kind kind;
	bool access; /* kernels may read and write */
	struct sg_pool *pool;
	void *user;  /* hsa_amd_pointer_info_set_userdata */
	void *owner; /* of kind POOL: share.c's, NULL while the memory is not shared */
};

/* Adds a block; blocks but those of kind LOCKED must not overlap. 0, -EEXIST, -ENOMEM. */
int sg_map_add(const struct sg_block *block);
/* Removes the block that starts at base (of a kind); fills *old when not NULL. -ENOENT.
 */
int sg_map_remove(uint64_t base, enum sg_block_kind kind, struct sg_block *old);
/* The block that holds addr: blocks of memory before locked ones. False: none. */
bool sg_map_find(uint64_t addr, struct sg_block *out);
/* Changes the user pointer of, or kernels' access to, the block at base. False: none. */
bool sg_map_set_user(uint64_t addr, void *user);
bool sg_map_set_access(uint64_t base, enum sg_block_kind kind, bool access);
bool sg_map_set_owner(uint64_t base, enum sg_block_kind kind, void *owner);
/* sg_range_fn of exec.h: blocks, and pages of the host that attributes opened. */
int sg_map_range(void *ctx, uint64_t addr, uint64_t *lo, uint64_t *hi);

/* ------------------------------------------------------- cards.c, agent.c */

#define SG_MAX_AGENTS 17 /* the CPU and up to 16 devices */
#define SG_MAX_POOLS  4

/* A real card's published figures; the one place where they are. */
struct sg_card {
	const char *processor; /* gfx1030 */
	const char *features;  /* of its target id: ":sramecc+:xnack-" */
	const char *product;
	uint32_t mach;         /* EF_AMDGPU_MACH of its code objects */
	uint32_t mach_generic; /* of the generic target it also runs, 0: none */
	uint32_t chip_id;      /* PCI device */
	uint32_t compute_units, simds_per_cu, waves_per_cu;
	uint32_t shader_engines, arrays_per_engine;
	uint32_t clock_mhz, memory_mhz, memory_bits;
	uint64_t memory;    /* bytes */
	uint32_t cache[4];  /* L1, L2, L3: bytes */
	uint32_t cacheline; /* bytes */
	uint32_t wavefront; /* lanes */
	uint32_t lds;       /* bytes a workgroup */
	uint32_t xcc;
	uint32_t sdma_engines;
	uint32_t asic_revision, asic_family;
	bool fine_grained_memory; /* of the device itself */
};

extern const struct sg_card sg_cards[];
extern const size_t sg_n_cards;
const struct sg_card *sg_card_find(const char *processor);

enum sg_pool_kind {
	SG_POOL_HOST_FINE,
	SG_POOL_HOST_KERNARG,
	SG_POOL_HOST_COARSE,
	SG_POOL_DEVICE_COARSE,
	SG_POOL_DEVICE_FINE,
	SG_POOL_GROUP,
};

struct sg_agent;

struct sg_pool {
	enum sg_pool_kind kind;
	struct sg_agent *agent;
	uint64_t size; /* bytes */
};

struct sg_agent {
	bool is_device;
	uint32_t node;              /* number among all agents */
	const struct sg_card *card; /* NULL of the CPU */
	char isa[64];               /* "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-" */
	struct sg_pool pools[SG_MAX_POOLS];
	size_t n_pools;
	_Atomic uint64_t used; /* bytes allocated of the device's memory */
};

extern struct sg_agent sg_agents[SG_MAX_AGENTS];
extern size_t sg_n_agents;

/* Makes the agents that RCK_SOFT_TARGET names ("gfx1030,gfx1030"); its default is
 * gfx1030. -EINVAL after an error line when it names an unknown processor. */
int sg_agents_create(void);
/* NULL when the handle is none of ours. */
struct sg_agent *sg_agent_of(hsa_agent_t agent);
struct sg_pool *sg_pool_of(hsa_amd_memory_pool_t pool);

static inline hsa_agent_t sg_agent_handle(const struct sg_agent *a)
{
	return (hsa_agent_t){(uint64_t)(uintptr_t)a};
}

static inline hsa_amd_memory_pool_t sg_pool_handle(const struct sg_pool *p)
{
	return (hsa_amd_memory_pool_t){(uint64_t)(uintptr_t)p};
}

/* ------------------------------------------------------------- describe.c */

/*
 * The device of that index as one line, fields by tabs: target id, product, compute
 * units, memory, wavefront. 1; 0: no such device; -1: RCK_SOFT_TARGET is wrong.
 */
int sg_describe(unsigned int index, char *out, size_t size);

/* ----------------------------------------------------------------- pool.c */

/* Page-aligned zeroed memory, kernels may use it; NULL when there is none. */
void *sg_internal_alloc(size_t size);
void sg_internal_free(void *p);
/* Bytes that the device has left: of its own figure and of this machine's memory. */
uint64_t sg_agent_available(const struct sg_agent *agent);

/* ------------------------------------------------------------------ svm.c */

/* The pages around addr that shared virtual memory's attributes open to a device, as
 * sg_map_range; -EFAULT: none. */
int sg_svm_range(uint64_t addr, uint64_t *lo, uint64_t *hi);
/* Drops all attributes, as at shutdown. */
void sg_svm_forget(void);

/* ---------------------------------------------------------------- share.c */

/* Around all that kernels and copies do to memory: pages stay where they are meanwhile.
 * Not recursive. */
void sg_memory_use(void);
void sg_memory_unuse(void);
/* What a block of kind POOL that is being freed holds besides its pages. */
void sg_share_free(const struct sg_block *b);

/* --------------------------------------------------------------- signal.c */

/* A signal of ours: the head is what CLR and device code read and write. */
struct sg_signal {
	amd_signal_t amd;
	/* these two outlive the signal: who sleeps on a freed one still leaves in order
	 */
	_Atomic int sleepers;
	_Atomic int watched;
	_Atomic bool live;
	struct sg_signal *next_free;
};

static inline struct sg_signal *sg_signal_of(hsa_signal_t s)
{
	return (struct sg_signal *)(uintptr_t)s.handle;
}

static inline hsa_signal_t sg_signal_handle(struct sg_signal *s)
{
	return (hsa_signal_t){(uint64_t)(uintptr_t)s};
}

static inline int64_t sg_signal_load(struct sg_signal *s)
{
	return __atomic_load_n(&s->amd.value, __ATOMIC_ACQUIRE);
}

struct sg_signal *sg_signal_new(int64_t value);
void sg_signal_free(struct sg_signal *s);
/* Wakes who waits on s: after each change of its value. */
void sg_signal_wake(struct sg_signal *s);
void sg_signal_store(struct sg_signal *s, int64_t value);
void sg_signal_add(struct sg_signal *s, int64_t value);
bool sg_condition_holds(hsa_signal_condition_t c, int64_t value, int64_t compare);
/*
 * Sleeps until the condition holds or *cancel is non-zero (NULL: never) or timeout
 * nanoseconds have passed (UINT64_MAX: never); returns the value last read.
 */
int64_t sg_signal_wait(struct sg_signal *s, hsa_signal_condition_t c, int64_t compare,
	uint64_t timeout, const volatile int *cancel);
/* What a kernel's s_sendmsg MSG_INTERRUPT does: everybody looks at his signal again. */
void sg_signal_interrupt(void *ctx, uint32_t m0);
/* All sleepers return to their conditions, as at shutdown. */
void sg_signal_wake_all(void);

/*
 * Waiting for any of several: every change of a watched signal counts. Read the count,
 * look at the signals, and sleep while the count is still the same.
 */
void sg_watch(struct sg_signal *s);
void sg_unwatch(struct sg_signal *s);
uint32_t sg_change_count(void);
void sg_change_kick(void);
/* At most the time after which a kernel's own writes would be noticed (20 ms). */
void sg_change_wait(uint32_t seen);

/* ---------------------------------------------------------------- async.c */

/* Ends the thread of asynchronous handlers. */
void sg_async_stop(void);

/* ----------------------------------------------------------------- copy.c */

void sg_copy_stop(void);
/* Completes a signal when the others are 0, as a copy of no bytes does. */
hsa_status_t sg_copy_nothing(
	uint32_t n_deps, const hsa_signal_t *deps, hsa_signal_t completion);

/* ---------------------------------------------------------------- queue.c */

struct sg_queue {
	amd_queue_t amd; /* first: an hsa_queue_t's address is its queue's */
	struct sg_agent *agent;
	struct sg_signal *doorbell;
	struct sg_signal *inactive;
	void (*callback)(hsa_status_t status, hsa_queue_t *source, void *data);
	void *data;
	pthread_t thread;
	pthread_mutex_t taking; /* held by who takes packets off the ring */
	bool has_thread, orphaned;
	_Atomic unsigned int ringers; /* threads in sg_queue_ring */
	volatile int stop;
	_Atomic hsa_status_t status; /* of the packet that could not be carried out */
	_Atomic bool failed;
	struct sg_queue *next;
};

/*
 * Stores index in the queue's doorbell. Where kernels are not executed, takes in the
 * caller's thread every packet that waits for nothing; wakes the queue's own thread when
 * any up to index is left. The queue may be destroyed meanwhile.
 */
void sg_queue_ring(struct sg_queue *queue, int64_t index);

/* Stops and frees every queue that the program left. */
void sg_queues_destroy(void);

/* --------------------------------------------------------------- packet.c */

/*
 * Carries out the packet of queue at index, a copy of the ring's 64 bytes. Returns
 * HSA_STATUS_SUCCESS, or the status that ends the queue.
 */
hsa_status_t sg_packet_run(struct sg_queue *queue, uint64_t index, void *packet);

/* Whether sg_packet_run would not wait for another's signal; packet: 64 bytes, from which
 * the dependencies that are met are taken. */
bool sg_packet_ready(void *packet);

/* ----------------------------------------------------------- executable.c */

/* The kernel whose descriptor is at address, and the code object it is in; the caller
 * holds it until sg_loaded_kernel_put. */
struct sg_loaded_kernel {
	const struct sg_symbol *symbol;
	struct sg_code *code;
	void *executable;
};

/* 0; -ENOENT no kernel there; -EIO and *fault: its code cannot be executed. */
int sg_loaded_kernel_get(
	uint64_t address, struct sg_loaded_kernel *out, struct sg_fault *fault);
void sg_loaded_kernel_put(struct sg_loaded_kernel *kernel);
void sg_executables_destroy(void);

/* --------------------------------------------------------------- system.c */

extern _Atomic bool sg_is_open; /* between hsa_init and the last hsa_shut_down */
extern volatile int sg_forked;  /* this process is a fork of the one that has threads */
bool sg_executes(void);         /* false: RCK_SOFT_EXECUTE=0 */
unsigned int sg_threads(void);  /* RCK_SOFT_THREADS; 0: one a processor */
/* Nanoseconds of the system's clock, the unit of all times here. */
uint64_t sg_now(void);
/* A thread with all signals blocked, named for debuggers; 0 or an errno. */
int sg_thread_start(pthread_t *thread, const char *name, void *(*run)(void *), void *arg);

/* A thread of the runtime's own, made for its first work and ended with the runtime. */
struct sg_worker {
	pthread_mutex_t lock; /* of the list of its work, too */
	pthread_t thread;
	bool has_thread;
	volatile int stop;
};

/* With lock held: makes the thread unless there is one; 0 or an errno. */
int sg_worker_start(struct sg_worker *w, const char *name, void *(*run)(void *));
/* Has it end and waits for it; a forked child has none to wait for. */
void sg_worker_stop(struct sg_worker *w);

#define SG_CHECK_OPEN()                                                                  \
	do {                                                                             \
		if (!sg_is_open)                                                         \
			return HSA_STATUS_ERROR_NOT_INITIALIZED;                         \
	} while (0)
