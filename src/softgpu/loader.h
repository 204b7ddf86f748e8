/*
 * The loader of the software device: an AMDGPU code object (ELF, ABI V3 to V6) becomes a
 * relocated image in this process's memory, with its kernels and variables. Needs no HSA
 * header. Facts: LLVM's AMDGPUUsage, "ELF Code Object", "Kernel Descriptor".
 */
#pragma once

#include "rocmcheck.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sg_symbol_kind {
	SG_SYMBOL_KERNEL,
	SG_SYMBOL_VARIABLE,
};

/* The 64 bytes at a NAME.kd symbol, as used (bytes 4..63 stay as the file has them). */
struct sg_descriptor {
	uint32_t group_segment_size;   /* bytes, static */
	uint32_t private_segment_size; /* bytes a lane */
	uint32_t kernarg_size;         /* bytes; 0 in V3 objects made before it existed */
	int64_t entry_offset;          /* from the descriptor to the first instruction */
	uint32_t rsrc1, rsrc2, rsrc3;
	uint16_t properties; /* kernel_code_properties: bit 10 wave32, 11 dynamic stack */
	uint16_t preload;
};

#define SG_DESCRIPTOR_SIZE        64
#define SG_PROPERTY_WAVE32        (1u << 10)
#define SG_PROPERTY_DYNAMIC_STACK (1u << 11)

struct sg_symbol {
	const char *name;   /* of a kernel with its ".kd" */
	const char *kernel; /* a kernel's name without it, or NULL */
	enum sg_symbol_kind kind;
	uint64_t address; /* in this process: of a kernel its descriptor's */
	uint64_t size;    /* bytes */
	bool is_const;    /* a variable in memory that no segment lets write */
	bool is_weak;
	struct sg_descriptor descriptor; /* of a kernel */
};

struct sg_load_options {
	/* Address of a symbol that the object leaves undefined, 0: none. May be NULL. */
	uint64_t (*resolve)(void *ctx, const char *name);
	void *resolve_ctx;
	uint64_t limit; /* largest image in bytes; 0: 16 GiB */
};

struct sg_image {
	uint8_t *base;             /* mmap'ed */
	size_t size;               /* bytes, whole pages */
	uint64_t bias;             /* address minus the file's virtual address */
	unsigned int abi_version;  /* 1: V3, 2: V4, 3: V5, 4: V6 */
	uint32_t flags;            /* e_flags: processor and features */
	struct sg_symbol *symbols; /* by name */
	size_t n_symbols;
	struct sg_symbol **kernels; /* by address */
	size_t n_kernels;
	char *names;
	void *elf; /* a copy of the file when it has debug information, else NULL */
	size_t elf_size;
};

/*
 * Loads elf[0..size); of a file with line tables a copy is kept. *out is given away:
 * sg_image_unload. Fails with diag filled, its offset that of the fault in the file:
 * -ENOEXEC not an AMDGPU code object, -EINVAL malformed, -ENOTSUP a version or relocation
 * that is not implemented, -ENOENT an undefined symbol, -ENOMEM.
 */
int sg_image_load(const void *elf, size_t size, const struct sg_load_options *options,
	struct sg_image **out, struct rck_diag *diag);
/* NULL is allowed. */
void sg_image_unload(struct sg_image *image);

/* NULL when there is none; a kernel is found with and without its ".kd". */
const struct sg_symbol *sg_image_symbol(const struct sg_image *image, const char *name);
/* The kernel whose descriptor is at this address, or NULL. */
const struct sg_symbol *sg_image_kernel_at(
	const struct sg_image *image, uint64_t address);

/* Reads the 64 bytes of a kernel descriptor. */
void sg_descriptor_read(const void *bytes, struct sg_descriptor *out);

/* Size in bytes of the ELF that starts at p, by its headers: for a reader that was given
 * no size; 0 when it is none. Bounded by limit. */
size_t sg_elf_size(const void *p, size_t limit);
