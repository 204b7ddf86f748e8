/*
 * A code object -> kernels, the room's inner view. Other rooms inside the tree (lint,
 * report, compile) may read these structures; only this room writes them. Everything is
 * borrowed from the code object and lives until rck_code_object_close().
 */
#pragma once

#include "container/container.h"
#include "rocmcheck.h"

/* Hidden argument kinds, in the order of code object V5's implicit layout (LLVM
 * AMDGPUUsage). */
enum rck_hidden {
	RCK_HIDDEN_BLOCK_COUNT_X,
	RCK_HIDDEN_BLOCK_COUNT_Y,
	RCK_HIDDEN_BLOCK_COUNT_Z,
	RCK_HIDDEN_GROUP_SIZE_X,
	RCK_HIDDEN_GROUP_SIZE_Y,
	RCK_HIDDEN_GROUP_SIZE_Z,
	RCK_HIDDEN_REMAINDER_X,
	RCK_HIDDEN_REMAINDER_Y,
	RCK_HIDDEN_REMAINDER_Z,
	RCK_HIDDEN_GLOBAL_OFFSET_X,
	RCK_HIDDEN_GLOBAL_OFFSET_Y,
	RCK_HIDDEN_GLOBAL_OFFSET_Z,
	RCK_HIDDEN_GRID_DIMS,
	RCK_HIDDEN_NONE,
	RCK_HIDDEN_PRINTF_BUFFER,
	RCK_HIDDEN_HOSTCALL_BUFFER,
	RCK_HIDDEN_MULTIGRID_SYNC_ARG,
	RCK_HIDDEN_HEAP_V1,
	RCK_HIDDEN_DEFAULT_QUEUE,
	RCK_HIDDEN_COMPLETION_ACTION,
	RCK_HIDDEN_DYNAMIC_LDS_SIZE,
	RCK_HIDDEN_PRIVATE_BASE,
	RCK_HIDDEN_SHARED_BASE,
	RCK_HIDDEN_QUEUE_PTR,
	RCK_HIDDEN_UNKNOWN, /* a hidden_* kind that this version does not know: shown, no
			       error */
	RCK_HIDDEN_COUNT_,
};
const char *rck_hidden_name(enum rck_hidden h); /* "hidden_hostcall_buffer" */

/* Why the three flags are there; cause.c says how each is recognised. */
enum rck_cause {
	RCK_CAUSE_NONE,          /* nothing is declared */
	RCK_CAUSE_READS_SLOT,    /* hostcall alone: code reads the slot (printf, assert,
				    abort) */
	RCK_CAUSE_DEVICE_MALLOC, /* heap_v1 without the other optional ones: malloc/free
				  */
	RCK_CAUSE_O0, /* all optional hidden arguments on every kernel: built at -O0 */
	RCK_CAUSE_UNKNOWN_CALLEE, /* the same on some kernels: an indirect or unknown
				     callee */
	RCK_CAUSE_SANITIZER,      /* __asan_* and the like are there */
	RCK_CAUSE_RECURSION, /* dynamic stack alone: recursion, alloca or an indirect call
			      */
	RCK_CAUSE_UNKNOWN_OFFSET, /* LLVM 15: implicit arguments read at an offset not
				     known, or printf and assert */
	RCK_CAUSE_UNSETTLED,      /* flagged, but the evidence fits no single reading */
};
const char *rck_cause_name(enum rck_cause c); /* "O0", stable, for JSON */
const char *rck_cause_text(enum rck_cause c); /* one clause for people */
const char *rck_cause_remedy(
	enum rck_cause c); /* one sentence: what to do; "" for NONE */

enum rck_confidence { RCK_CONFIDENCE_LOW, RCK_CONFIDENCE_MEDIUM, RCK_CONFIDENCE_HIGH };
const char *rck_confidence_name(enum rck_confidence c);

enum rck_tri { RCK_NO, RCK_YES, RCK_POSSIBLE };

/* The fields that metadata and descriptor may each state, and in which set they were
 * stated. */
struct rck_descriptor {
	bool found; /* the .kd symbol (or V2's amd_kernel_code_t) was found and fits */
	uint64_t offset; /* of the descriptor in the code object, bytes */
	uint64_t entry;  /* of the kernel's first instruction: offset in the code object,
			    or  RCK_OFFSET_NONE */
	uint64_t entry_address; /* its virtual address in the ELF */
	uint64_t code_size; /* bytes, from the kernel's function symbol; 0 when not known
			     */
	uint32_t group_segment_fixed_size, private_segment_fixed_size, kernarg_size;
	uint32_t rsrc1, rsrc2, rsrc3;
	uint32_t properties; /* kernel_code_properties (V2: code_properties) */
	bool uses_dynamic_stack;
	bool wavefront32;
};

#define RCK_MD(field) (1u << RCK_MD_##field)
enum { /* bits of rck_kernel.stated: which optional keys the metadata holds */
	RCK_MD_SGPR_COUNT,
	RCK_MD_VGPR_COUNT,
	RCK_MD_AGPR_COUNT,
	RCK_MD_SGPR_SPILLS,
	RCK_MD_VGPR_SPILLS,
	RCK_MD_SCRATCH,
	RCK_MD_LDS,
	RCK_MD_KERNARG_SIZE,
	RCK_MD_KERNARG_ALIGN,
	RCK_MD_WAVEFRONT_SIZE,
	RCK_MD_MAX_WORKGROUP,
	RCK_MD_DYNAMIC_STACK,
	RCK_MD_REQD_WORKGROUP,
	RCK_MD_WORKGROUP_HINT,
	RCK_MD_UNIFORM_WORKGROUP,
	RCK_MD_WORKGROUP_PROCESSOR_MODE,
	RCK_MD_LANGUAGE,
	RCK_MD_KIND,
};

struct rck_kernel {
	struct rck_code_object *object;
	size_t unit; /* the metadata note it is from: one for each linked relocatable */
	const char *name, *symbol;
	const char *demangled; /* NULL until rck_kernel_demangled() */
	uint32_t stated;       /* RCK_MD bits */

	/* from metadata, valid where stated */
	uint64_t sgpr_count, vgpr_count, agpr_count, sgpr_spills, vgpr_spills;
	uint64_t scratch, lds, kernarg_size, kernarg_align, wavefront_size, max_workgroup;
	uint64_t reqd_workgroup[3], workgroup_hint[3];
	bool md_dynamic_stack, uniform_workgroup, workgroup_processor_mode;
	const char *language, *kind, *device_enqueue_symbol, *vec_type_hint;

	struct rck_arg *args;
	size_t n_args;
	uint32_t hidden; /* bit a enum rck_hidden that some argument has */
	struct rck_pair {
		const char *key, *value;
	} * extra; /* unknown keys of the kernel's map, value as short text */
	size_t n_extra;

	struct rck_descriptor kd;

	/* judged */
	bool declares_hostcall, declares_heap;
	enum rck_tri dynamic_stack;
	bool dynamic_stack_disagrees; /* metadata states one thing, the descriptor another
				       */
	enum rck_cause cause;
	enum rck_confidence confidence;
	unsigned occupancy; /* waves per SIMD; 0: not known for this target */
	const char *occupancy_limit;
};

/* Any of the three flags, "possible" not included. */
static inline bool rck_kernel_flagged(const struct rck_kernel *k)
{
	return k->declares_hostcall || k->declares_heap || k->dynamic_stack == RCK_YES;
}

/* An ELF function symbol, for call graph and disassembly. */
struct rck_function {
	const char *name;
	uint64_t address; /* virtual; in a relocatable (ET_REL) the same as offset */
	uint64_t offset;  /* in the code object, bytes */
	uint64_t size;    /* bytes; where the symbol says 0, up to what follows it */
};

struct rck_code_object {
	struct rck_slice slice;
	struct rck_bytes *bytes; /* keeps the slice alive; NULL when borrowed */
	unsigned version;        /* 2..6, 0 unknown */
	unsigned osabi, abiversion, e_type, e_flags, machine;
	char target[64];             /* target id from e_flags */
	char processor[32];          /* "gfx90a" */
	unsigned generic_version;    /* V6 generic targets, else 0 */
	const char *md_target;       /* amdhsa.target as written, or NULL */
	unsigned md_version[2];      /* amdhsa.version */
	const char **printf_formats; /* amdhsa.printf */
	size_t n_printf;
	size_t n_metadata_notes;
	bool sanitizer;             /* sanitizer symbols are there */
	struct rck_kernel *kernels; /* in the order of the notes */
	size_t n_kernels;
	struct rck_diag *notes;
	size_t n_notes;
	struct rck_arena *arena; /* private: every string and array above */
	void *priv;              /* private */
};

/* The function symbols, sorted by address; found on the first call (not thread-safe),
   NULL when there are none. From .symtab, or from .dynsym in a stripped object. */
const struct rck_function *rck_code_object_functions(
	struct rck_code_object *co, size_t *n);
/* The size bytes at a virtual address, which the program headers map to the file (in a
   relocatable: at that offset in the file); NULL when they are not all there. */
const uint8_t *rck_code_object_at(
	const struct rck_code_object *co, uint64_t address, uint64_t size);

struct rck_arena;
/* The demangled name in the arena, or name itself. */
const char *rck_demangle(struct rck_arena *arena, const char *name);
