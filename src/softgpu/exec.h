/*
 * The contract between the two halves of the software device: the runtime (queues,
 * loader, signals) calls, the interpreter executes. Nothing here needs an HSA header.
 *
 * Addresses are addresses of this process: device memory is host memory. The layouts of
 * the AQL packet, amd_queue_t and the kernel descriptor are those of the HSA
 * specification 1.2 and of LLVM's AMDGPUUsage ("Code Object", "Kernel Descriptor").
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The AQL kernel dispatch packet, 64 bytes (HSA System Architecture 1.2, 2.9.6). */
struct sg_packet {
	uint16_t header, setup;
	uint16_t workgroup_size[3];
	uint16_t reserved0;
	uint32_t grid_size[3];
	uint32_t private_segment_size; /* bytes a lane */
	uint32_t group_segment_size;   /* bytes of LDS, static and dynamic */
	uint64_t kernel_object;        /* address of the kernel descriptor */
	uint64_t kernarg_address;
	uint64_t reserved2;
	uint64_t completion_signal;
};

enum sg_fault_kind {
	SG_FAULT_NONE,
	SG_FAULT_ILLEGAL, /* unknown instruction, refused modifier, undecodable bytes */
	SG_FAULT_MEMORY,  /* an address outside every range, or misaligned */
	SG_FAULT_TRAP,    /* s_trap: the kernel itself gave up (abort, assert) */
	SG_FAULT_LAUNCH,  /* the packet or the descriptor asks for what cannot be */
	SG_FAULT_ABORTED, /* *launch.cancel became non-zero */
};

/* What stopped a kernel. text is one line without a newline, for a log. */
struct sg_fault {
	enum sg_fault_kind kind;
	uint64_t pc;      /* address of the instruction */
	uint64_t address; /* the bad memory address, or 0 */
	uint32_t group[3], wave;
	char text[1024];
};

struct sg_code;

struct sg_code_options {
	const char *comgr,
		*llvm; /* as in struct rck_disasm_options; NULL: the defaults */
	/* The file that was loaded, for source lines; valid until sg_code_close. NULL: no
	 * lines. bias is an address in memory minus the file's virtual address. */
	const void *elf;
	size_t elf_size;
	uint64_t bias;
};

/*
 * Describes one loaded code object: [base, base + size) is its image in memory,
 * relocated, and stays valid and unchanged until sg_code_close. target is its target id
 * ("gfx1030", "gfx90a:xnack-"; the "amdgcn-amd-amdhsa--" in front is allowed).
 * Instructions are decoded when first executed and kept; kernels of one code object may
 * run on several threads at once. name (may be NULL) is for messages. fault->text has the
 * reason of an error: -ENOENT no disassembler, -ENOTSUP the target is not known, -ENOMEM.
 */
int sg_code_open(const char *name, const char *target, const void *base, size_t size,
	const struct sg_code_options *options, struct sg_code **out,
	struct sg_fault *fault);
/* NULL is allowed. No kernel of it may be running. */
void sg_code_close(struct sg_code *code);

/* The processors that the interpreter executes ("gfx1030", ...); ends with NULL. */
extern const char *const sg_exec_targets[];

/*
 * Allocation lookup: fills [*lo, *hi), the block of memory that holds addr and that
 * kernels may read and write, and returns 0, or -EFAULT. Called from several threads at
 * once, and rarely: the answer is kept for the duration of a launch.
 */
typedef int (*sg_range_fn)(void *ctx, uint64_t addr, uint64_t *lo, uint64_t *hi);

struct sg_launch {
	struct sg_packet packet;   /* by value: the ring's slot may be reused */
	uint64_t packet_address;   /* where it was in the ring: kernels read it there */
	uint64_t queue_address;    /* of the amd_queue_t */
	uint64_t dispatch_id;      /* its index in the queue */
	struct sg_code *code;      /* the code object that holds packet.kernel_object */
	const char *kernel;        /* its name, for messages; may be NULL */
	uint32_t scratch_per_lane; /* bytes; 0: packet.private_segment_size */
	unsigned int threads;      /* host threads; 0: one a processor */
	sg_range_fn range;         /* NULL: no checks but the CPU's own */
	void *range_ctx;
	/*
	 * s_sendmsg MSG_INTERRUPT: called with the value of m0 so that the runtime can
	 * wake the host's waiters at once; NULL: nothing happens. Any thread.
	 */
	void (*interrupt)(void *ctx, uint32_t m0);
	void *interrupt_ctx;
	const volatile int *cancel; /* may be NULL; polled a few times a millisecond */
	uint64_t timestamp_hz;      /* of s_memrealtime; 0: 100 MHz */
};

/*
 * Runs one dispatch to its end: every workgroup over launch->threads threads, the
 * caller's own included. Returns 0, or -EIO with *fault filled: the kernel stopped early
 * and what it wrote up to then stays written. The caller does the packet's fences and
 * completion signal. Groups that wait on one another make progress, since a group that
 * only spins is set aside for the next.
 *
 * Environment: RCK_SOFT_TRACE, RCK_SOFT_COUNT and RCK_SOFT_SANITIZE, each a file to
 * append to or "-" (also "1") for stderr: every instruction, counts a kernel, findings.
 * They make execution slow, and the first two make it serial. RCK_SOFT_FALSIFY=operation
 * makes that vector or matrix operation wrong on purpose, the negative control of numeric
 * tests. RCK_SOFT_SIMD=plain or avx2 takes a lower build of the lane loops than the CPU
 * allows.
 */
int sg_exec_run(const struct sg_launch *launch, struct sg_fault *fault);
