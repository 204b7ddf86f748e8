/*
 * librocmcheck: from any file that holds ROCm device code to the facts of its kernels,
 * and to what there is to say against them.
 *
 * A file is a tree of containers (host ELF or PE, archive, clang offload bundle,
 * compressed bundle, LLVM OffloadBinary, kpack, ...) whose leaves are code objects.
 * rck_file_next() walks it depth first, in file order; each leaf is an item.
 * rck_code_object_open() reads one leaf; rck_judge_path() does all of it and judges. A
 * whole program:
 *
 *	#include <rocmcheck.h>
 *	#include <stdio.h>
 *
 *	static void print(const struct rck_kernel *k)
 *	{
 *		struct rck_value v;
 *
 *		rck_kernel_fact(k, RCK_FACT_DECLARES_HOSTCALL, &v);
 *		if (v.known && v.number)
 *			printf("%s\n", rck_kernel_demangled(k));
 *	}
 *
 *	int main(int argc, char **argv)
 *	{
 *		struct rck_code_object *co;
 *		struct rck_file *file;
 *		struct rck_item item;
 *		struct rck_diag diag;
 *		bool unread = false;
 *		int err;
 *
 *		if (argc != 2 || rck_file_open(argv[1], NULL, &file, &diag))
 *			return 2;
 *		while ((err = rck_file_next(file, &item, &diag)) == 1) {
 *			if (item.kind == RCK_ITEM_NOTE)
 *				continue;
 *			if (item.kind != RCK_ITEM_CODE_OBJECT ||
 *				rck_code_object_open(file, &item, &co, &diag)) {
 *				unread = true;
 *				continue;
 *			}
 *			for (size_t i = 0; i < rck_code_object_kernel_count(co); i++)
 *				print(rck_code_object_kernel(co, i));
 *			rck_code_object_close(co);
 *		}
 *		rck_file_close(file);
 *		return err || unread ? 2 : 0;
 *	}
 *
 * Rules. Functions return 0 (or 1 for "one more") or -errno, and then fill *diag when it
 * is not NULL. Strings and structures that are returned are borrowed: from a file or an
 * item until the next rck_file_next() or rck_file_close(), from a code object until
 * rck_code_object_close(), from a judgement until rck_judgement_close(). The library
 * never prints and never exits, but when memory for its own small things runs out: then
 * it writes one line and ends the process. It keeps no global state but this: the first
 * rck_file_open() puts a SIGBUS handler in front of the program's own, so that a file
 * that shrinks while it is mapped is an error and not the end of the process; faults
 * anywhere else are handed on. Objects may be used from any thread, one at a time, and
 * code objects of one file from several threads at once.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RCK_API __attribute__((visibility("default")))

#define RCK_OFFSET_NONE UINT64_MAX

/* Why something failed. msg is one clause: no capital, no full stop, no file name. */
struct rck_diag {
	/* -errno: -ENOEXEC not what it claims, -EINVAL malformed, -E2BIG over a limit,
	   -EIO changed or unreadable, -ENOTSUP not built in, -ENODATA not there, ... */
	int code;
	/* Bytes from the start of the file (or of the inflated container that msg
	   names), or RCK_OFFSET_NONE. */
	uint64_t offset;
	char msg[232];
};

/* ---- files ---- */

struct rck_options {
	size_t size; /* sizeof(struct rck_options) */
	bool verify; /* check the hash of compressed bundles */
	/* Do not inflate: give RCK_ITEM_COMPRESSED items instead, to be opened with
	   rck_file_open_item(), on another thread perhaps. */
	bool keep_compressed;
	unsigned max_depth;     /* containers inside containers; 0: 32 */
	uint64_t max_inflated;  /* bytes one compressed container may become; 0: 4 GiB */
	uint64_t max_total;     /* bytes all of a file's may become; 0: 64 GiB */
	const char *kpack_path; /* ':'-separated folders searched first; may be NULL */
};

enum rck_item_kind {
	RCK_ITEM_CODE_OBJECT, /* an AMDGPU ELF: data, size */
	RCK_ITEM_COMPRESSED,  /* a compressed bundle, with keep_compressed only */
	/* Device code without readable metadata: bitcode, SPIR-V, a kpack that is not
	   there; diag.msg says which. Never to be counted as clean. */
	RCK_ITEM_INCOMPLETE,
	RCK_ITEM_ERROR, /* could not be read: diag. The walk goes on behind it */
	RCK_ITEM_NOTE,  /* readable, but odd (bytes skipped, ...): diag */
};

struct rck_item {
	enum rck_item_kind kind;
	/* Where in the file: ".hip_fatbin[2]/hipv4-amdgcn-amd-amdhsa--gfx90a"; "" for
	   the file itself; unmasked text from the file. */
	const char *where;
	const char *container; /* innermost kind: "bundle", "archive", "elf", ... */
	const char *entry_id; /* what the container calls it (bundle id, arch), or NULL */
	const char *target;   /* the target id the container claims, or NULL */
	const uint8_t *data;  /* the bytes; NULL for items without bytes */
	uint64_t size;
	uint64_t offset;         /* of data in the file; RCK_OFFSET_NONE when inflated */
	uint64_t index;          /* running number of the leaf in this walk */
	struct rck_diag diag;    /* INCOMPLETE, ERROR, NOTE */
	const char *remedy;      /* INCOMPLETE: what to do about it, a sentence */
	struct rck_bytes *bytes; /* private: what keeps data alive */
	unsigned depth;          /* private: containers around it */
};

struct rck_file;

/* Opens a path ("-" is not special). Not a regular file: -EINVAL; a folder: -EISDIR. */
RCK_API int rck_file_open(const char *path, const struct rck_options *options,
	struct rck_file **out, struct rck_diag *diag);
/* The same over memory, borrowed until close; name is what kpack and thin archive paths
   are relative to. */
RCK_API int rck_file_open_mem(const void *data, size_t size, const char *name,
	const struct rck_options *options, struct rck_file **out, struct rck_diag *diag);
/* Opens what an item holds (RCK_ITEM_COMPRESSED, inflated now) as a file of its own,
   whose items' where, index and offset go on from the item's (its first one has the
   item's own index: order by the item, then by these). The item's file must outlive it.
 */
RCK_API int rck_file_open_item(struct rck_file *file, const struct rck_item *item,
	struct rck_file **out, struct rck_diag *diag);
RCK_API void rck_file_close(struct rck_file *file); /* NULL is fine */
RCK_API const char *rck_file_path(const struct rck_file *file);
RCK_API uint64_t rck_file_size(const struct rck_file *file);

/* The next leaf: 1 and *item, 0 at the end, -errno when the walk itself cannot go on. */
RCK_API int rck_file_next(
	struct rck_file *file, struct rck_item *item, struct rck_diag *diag);
/* Keeps an item's bytes and strings beyond the next rck_file_next(): a copy that shares
   the bytes; NULL: no memory. */
RCK_API struct rck_item *rck_item_keep(const struct rck_item *item);
RCK_API void rck_item_drop(struct rck_item *item);

/* ---- code objects ---- */

struct rck_code_object;
struct rck_kernel;

/*
 * Reads headers, notes, symbols and descriptors of an item of kind RCK_ITEM_CODE_OBJECT,
 * in place. -ENOEXEC: not an AMDGPU ELF; -EINVAL: malformed; -ENODATA: kernels without
 * metadata; -ENOTSUP: code object V2 and no libyaml: whatever fails here is incomplete,
 * never clean. What is only odd becomes a note.
 */
RCK_API int rck_code_object_open(struct rck_file *file, const struct rck_item *item,
	struct rck_code_object **out, struct rck_diag *diag);
/* The same for bytes in memory, borrowed until close. */
RCK_API int rck_code_object_open_mem(const void *data, size_t size,
	struct rck_code_object **out, struct rck_diag *diag);
RCK_API void rck_code_object_close(struct rck_code_object *co); /* NULL is fine */

/* Code object version 2 to 6 (EI_ABIVERSION + 2 under ELFOSABI_AMDGPU_HSA), 0 when not
   known. */
RCK_API unsigned rck_code_object_version(const struct rck_code_object *co);
/* Target id from e_flags: "gfx90a:sramecc+:xnack-", "gfx9-4-generic", "gfx?(0x99)". */
RCK_API const char *rck_code_object_target(const struct rck_code_object *co);
RCK_API size_t rck_code_object_kernel_count(const struct rck_code_object *co);
RCK_API const struct rck_kernel *rck_code_object_kernel(
	const struct rck_code_object *co, size_t i);
/* Disagreements and oddities found while reading (metadata version against header, ...).
 */
RCK_API size_t rck_code_object_note_count(const struct rck_code_object *co);
RCK_API const struct rck_diag *rck_code_object_note(
	const struct rck_code_object *co, size_t i);

/* ---- kernels: facts ---- */

/* Where a value comes from. */
enum rck_source {
	RCK_SOURCE_NONE = 0,
	RCK_SOURCE_METADATA = 1,
	RCK_SOURCE_DESCRIPTOR = 2,
	RCK_SOURCE_BOTH = 3, /* both, and they agree unless disagrees is set */
	RCK_SOURCE_DERIVED = 4,
};

enum rck_value_type { RCK_VALUE_NUMBER, RCK_VALUE_BOOL, RCK_VALUE_STRING };

struct rck_value {
	enum rck_value_type type;
	bool known;         /* false: not stated, or it cannot be settled */
	bool disagrees;     /* metadata and descriptor state different values */
	uint64_t number;    /* NUMBER, BOOL */
	const char *string; /* STRING; borrowed from the code object */
	enum rck_source source;
};

enum rck_fact {
	RCK_FACT_DECLARES_HOSTCALL, /* an argument of value_kind hidden_hostcall_buffer */
	RCK_FACT_DECLARES_HEAP,     /* hidden_heap_v1 */
	/* .uses_dynamic_stack or descriptor bit 11 (V2: bit 20). Not known: V3 or V4 with
	   neither, and scratch that only an assumed stack explains ("possible"). */
	RCK_FACT_DYNAMIC_STACK,
	RCK_FACT_CAUSE,      /* string: see enum rck_cause */
	RCK_FACT_CONFIDENCE, /* string: low, medium, high */
	RCK_FACT_SGPR_COUNT,
	RCK_FACT_VGPR_COUNT,
	RCK_FACT_AGPR_COUNT,
	RCK_FACT_SGPR_SPILLS,
	RCK_FACT_VGPR_SPILLS,
	RCK_FACT_SCRATCH,         /* bytes a work-item: private_segment_fixed_size */
	RCK_FACT_LDS,             /* bytes a work-group: group_segment_fixed_size */
	RCK_FACT_KERNARG_SIZE,    /* bytes */
	RCK_FACT_KERNARG_ALIGN,   /* bytes */
	RCK_FACT_WAVEFRONT_SIZE,  /* lanes */
	RCK_FACT_MAX_WORKGROUP,   /* work-items: max_flat_workgroup_size */
	RCK_FACT_CODE_SIZE,       /* bytes, from the symbol table */
	RCK_FACT_OCCUPANCY,       /* waves per SIMD that fit, in theory */
	RCK_FACT_OCCUPANCY_LIMIT, /* string: vgpr, sgpr, lds, workgroup, none */
	RCK_FACT_COUNT_,
};

/* What a fact is called, for whoever prints them all. */
struct rck_fact_info {
	enum rck_fact fact;
	enum rck_value_type type;
	const char *key;   /* JSON key, lower_case */
	const char *title; /* column title */
	const char *unit;  /* "B", "lanes", ... or "" */
	const char *help;
};
/* NULL: no such fact. */
RCK_API const struct rck_fact_info *rck_fact_info(enum rck_fact fact);

/* Mangled, as in the metadata. */
RCK_API const char *rck_kernel_name(const struct rck_kernel *k);
/* "<name>.kd"; V2: the name. */
RCK_API const char *rck_kernel_symbol(const struct rck_kernel *k);
/* Demangled by the Itanium rules, the name itself when it is not mangled. Done on the
   first call, so one thread at a time for the kernels of one code object. */
RCK_API const char *rck_kernel_demangled(const struct rck_kernel *k);
RCK_API int rck_kernel_fact(
	const struct rck_kernel *k, enum rck_fact fact, struct rck_value *out);

/* ---- arguments ---- */

struct rck_arg {
	const char *name;          /* or NULL */
	const char *type_name;     /* or NULL */
	const char *value_kind;    /* "hidden_hostcall_buffer"; V2's in V3's spelling */
	const char *address_space; /* or NULL */
	const char *access;        /* .actual_access, else .access, or NULL */
	uint64_t offset, size;     /* bytes in the kernarg segment */
	bool hidden;               /* value_kind starts with "hidden_" */
};
RCK_API size_t rck_kernel_arg_count(const struct rck_kernel *k);
RCK_API const struct rck_arg *rck_kernel_arg(const struct rck_kernel *k, size_t i);

/* ---- judgements ----
 *
 * The rules of `rocmcheck lint` (its --list-rules, --explain), at their own severities:
 * no policy, no baseline. A whole program, whose exit status is lint's:
 *
 *	#include <rocmcheck.h>
 *	#include <stdio.h>
 *
 *	int main(int argc, char **argv)
 *	{
 *		struct rck_judgement *j;
 *		struct rck_diag diag;
 *		int verdict;
 *
 *		if (argc != 2 || rck_judge_path(argv[1], NULL, &j, &diag))
 *			return 2;
 *		for (size_t i = 0; i < rck_judgement_finding_count(j); i++) {
 *			const struct rck_finding_info *f = rck_judgement_finding(j, i);
 *
 *			printf("%s: [%s] %s\n", rck_severity_name(f->severity), f->rule,
 *				f->demangled ? f->demangled : f->where);
 *			printf("\t%s. %s\n", f->message, f->remedy);
 *		}
 *		verdict = rck_judgement_verdict(j);
 *		rck_judgement_close(j);
 *		return verdict;
 *	}
 */

struct rck_judgement;

enum rck_severity {
	RCK_SEVERITY_OFF,
	RCK_SEVERITY_NOTE,
	RCK_SEVERITY_WARNING,
	RCK_SEVERITY_ERROR,
	RCK_SEVERITY_COUNT_,
};
/* "warning"; NULL: no such severity. */
RCK_API const char *rck_severity_name(enum rck_severity s);

enum rck_state {
	RCK_STATE_PASS,
	RCK_STATE_FAIL,
	RCK_STATE_MAYBE,         /* the evidence is there, the proof is not */
	RCK_STATE_NOT_CHECKABLE, /* could not tell: never a pass */
	RCK_STATE_COUNT_,
};
/* "fail"; NULL: no such state. */
RCK_API const char *rck_state_name(enum rck_state s);

/* What one rule says of one kernel of one code object, or of the file. */
struct rck_finding_info {
	const char *rule; /* "hostcall-unreached": stable */
	enum rck_severity severity;
	enum rck_state state; /* FAIL or MAYBE */
	const char *kernel;   /* mangled; NULL: of the file or a code object as a whole */
	const char *demangled; /* or NULL with kernel */
	const char *target;    /* "gfx90a:xnack-"; "": of none */
	const char *where;     /* the code object's item in the file, "": the file */
	const char *message;   /* one clause */
	const char *remedy;    /* what to do: sentences */
	const char *call_path; /* "kernel -> f -> __ockl_...", or NULL */
	const char *source;    /* of the kernel, by debug information, or NULL */
	unsigned line;         /* 0: not known */
};

/*
 * Judges a file; -errno only when it cannot be opened (see rck_file_open()): what cannot
 * be read in it is an error of the judgement. options may be NULL; keep_compressed is
 * not looked at. Kernels that declare hostcall or heap are disassembled for the path to
 * it, by the comgr or libLLVM of this machine, opened by dlopen(), where there is one.
 */
RCK_API int rck_judge_path(const char *path, const struct rck_options *options,
	struct rck_judgement **out, struct rck_diag *diag);
/* The same over memory, borrowed during the call; name as in rck_file_open_mem(). */
RCK_API int rck_judge_mem(const void *data, size_t size, const char *name,
	const struct rck_options *options, struct rck_judgement **out,
	struct rck_diag *diag);
RCK_API void rck_judgement_close(struct rck_judgement *j); /* NULL is fine */

/* In the order of the file. */
RCK_API size_t rck_judgement_finding_count(const struct rck_judgement *j);
RCK_API const struct rck_finding_info *rck_judgement_finding(
	const struct rck_judgement *j, size_t i);
/* What could not be read. */
RCK_API size_t rck_judgement_error_count(const struct rck_judgement *j);
RCK_API const struct rck_diag *rck_judgement_error(
	const struct rck_judgement *j, size_t i);
/* 0 clean; 1 a rule of severity warning or error failed; 2 errors, or device code whose
   metadata cannot be read (a finding of rule "incomplete"). */
RCK_API int rck_judgement_verdict(const struct rck_judgement *j);

/* The library's version, "0.1.0". */
RCK_API const char *rck_version(void);

#ifdef __cplusplus
}
#endif
