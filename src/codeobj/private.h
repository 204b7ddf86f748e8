/* What the files of this room share and no other room needs. */
#pragma once

#include "codeobj/codeobj.h"
#include "util/arena.h"

#include <gelf.h>

#ifndef ELFOSABI_AMDGPU_HSA
#define ELFOSABI_AMDGPU_HSA 64
#endif

/* ---- elf.c ---- */

struct rck_segment {
	uint64_t offset, address, size; /* the part that is in the file */
};

struct rck_elf {
	struct rck_slice slice;
	Elf *elf;
	GElf_Ehdr ehdr;
	size_t n_phdrs, n_shdrs;
	struct rck_segment *loads; /* PT_LOAD with bytes in the file */
	size_t n_loads;
	uint64_t dynamic_offset, dynamic_size; /* PT_DYNAMIC; size 0: none */
};

/*
 * Reads the headers of an AMDGPU ELF (ELF64, little-endian, EM_AMDGPU) that may stand at
 * any alignment. -ENOEXEC: it is none; -EINVAL: a header points out of the slice. Section
 * headers may be missing.
 */
int rck_elf_open(struct rck_elf *e, struct rck_slice s, struct rck_arena *arena,
	struct rck_diag *diag);
void rck_elf_close(struct rck_elf *e);
/* The bytes that a virtual address stands for, and how many follow it in its segment.
   In a relocatable the address is an offset in the file. NULL: none. */
const uint8_t *rck_elf_at(const struct rck_elf *e, uint64_t address, uint64_t *avail);
/* Section header i, its range not checked; false when there is none. */
bool rck_elf_section(const struct rck_elf *e, size_t i, GElf_Shdr *shdr);
/* What a diag's offset is for a byte of the code object. */
uint64_t rck_elf_offset(const struct rck_elf *e, uint64_t offset);

/* ---- notes.c ---- */

struct rck_note {
	const char *owner; /* not NUL-terminated */
	size_t owner_len;  /* without the NUL that the file may hold */
	uint32_t type;
	const uint8_t *desc;
	uint32_t desc_size;
	uint64_t offset; /* of desc in the code object */
};

struct rck_note_cursor {
	const uint8_t *data;
	uint64_t size, at, base, align;
};

/* A region of notes at data[0..size), which is at base in the code object. Padding is to
   align bytes (4, or 8 where the header says 8). */
void rck_note_open(struct rck_note_cursor *c, const uint8_t *data, uint64_t size,
	uint64_t base, uint64_t align);
/* 1 and a note; 0 at the end; -EINVAL: a note runs over the end of its region. */
int rck_note_next(struct rck_note_cursor *c, struct rck_note *n, struct rck_diag *diag);

typedef int rck_note_fn(void *arg, const struct rck_note *n, struct rck_diag *diag);
/* Every note of PT_NOTE segments, then of SHT_NOTE sections outside them. Stops at the
   first error, fn's or its own. */
int rck_elf_each_note(
	const struct rck_elf *e, rck_note_fn *fn, void *arg, struct rck_diag *diag);

/* ---- symbols.c ---- */

#define RCK_STT_KERNEL_V2 10 /* STT_AMDGPU_HSA_KERNEL: points at an amd_kernel_code_t */

struct rck_symbol {
	const char *name; /* NUL-terminated, in the file */
	uint64_t value, size;
	uint8_t type;
	uint16_t shndx;
};

/* One symbol table, in place, and a way to look a name up in it. */
struct rck_symtab {
	const uint8_t *syms;
	uint64_t n; /* symbols */
	const char *strings;
	uint64_t strings_size;
	/* .gnu.hash, when gnu_buckets is not NULL */
	const uint8_t *gnu_bloom, *gnu_buckets, *gnu_chain;
	uint32_t gnu_n_buckets, gnu_first, gnu_n_bloom, gnu_shift;
	uint64_t gnu_n_chain;
	/* .hash, when sysv_buckets is not NULL */
	const uint8_t *sysv_buckets, *sysv_chain;
	uint32_t sysv_n_buckets, sysv_n_chain;
	/* else: an index of our own */
	uint32_t *index;
	uint32_t index_mask;
	uint64_t steps; /* that look-ups may still take, all together */
};

struct rck_symbols {
	struct rck_symtab dynamic, full;
	bool has_dynamic, tried_full, has_full;
};

/* Finds the tables; what is malformed is left out. */
void rck_symbols_open(struct rck_symbols *s, const struct rck_elf *e);
void rck_symbols_close(struct rck_symbols *s);

#define RCK_SYMBOL_HASH 5381u
/* The GNU hash, h = h * 33 + byte, begun at RCK_SYMBOL_HASH; may be taken in parts. */
uint32_t rck_symbol_hash(uint32_t h, const char *s, size_t len);
/* Looks in .dynsym by its hash table, then in .symtab. hash: of name[0..len). */
bool rck_symbols_find(struct rck_symbols *s, const struct rck_elf *e, const char *name,
	size_t len, uint32_t hash, struct rck_symbol *out);
/* Symbol i; false: out of range or its name is not in the string table. */
bool rck_symtab_get(const struct rck_symtab *t, uint64_t i, struct rck_symbol *out);
/* The fullest table (.symtab, else .dynsym), or NULL. */
const struct rck_symtab *rck_symbols_table(
	struct rck_symbols *s, const struct rck_elf *e);
/* Where a symbol's bytes begin: address (as rck_elf_at() takes it), and offset or
   RCK_OFFSET_NONE. */
void rck_symbol_place(const struct rck_elf *e, const struct rck_symbol *sym,
	uint64_t *address, uint64_t *offset);

/* ---- codeobj.c ---- */

struct rck_intern {
	const char *s;
	uint32_t len, hash;
	int hidden; /* enum rck_hidden, -1: not a hidden kind */
};

#define RCK_INTERN_SLOTS 256
#define RCK_KERNELS_MAX  (1u << 18) /* kernels in one code object */
#define RCK_NOTES_MAX    64

/* rck_code_object.priv */
struct rck_parse {
	struct rck_elf elf;
	struct rck_symbols symbols;
	size_t kernels_cap;
	struct rck_function *functions;
	size_t n_functions;
	bool tried_functions;
	void *zone; /* metadata.c: the msgpack_zone that all notes share */
	unsigned isa_version[3], n_isa; /* V2: NT_AMD_HSA_ISA_VERSION */
	const char *isa_name;           /* V2: NT_AMD_HSA_ISA_NAME */
	uint64_t kernels_offset;        /* of the metadata read last, for diags */
	struct rck_intern interned[RCK_INTERN_SLOTS];
};

static inline struct rck_parse *rck_parse_of(const struct rck_code_object *co)
{
	return co->priv;
}

/* A new kernel at the end of the object's list; NULL: -ENOMEM or -E2BIG in diag. */
struct rck_kernel *rck_code_object_add_kernel(
	struct rck_code_object *co, struct rck_diag *diag);
/* Adds an oddity. offset is in the code object, or RCK_OFFSET_NONE. */
void rck_code_object_add_note(struct rck_code_object *co, int code, uint64_t offset,
	const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* A copy of s[0..len), the same one for the same recent strings; hidden, when not NULL,
   becomes the enum rck_hidden of a value kind, or -1. NULL: no memory. */
const char *rck_code_object_intern(
	struct rck_code_object *co, const char *s, size_t len, int *hidden);
int rck_no_memory(struct rck_diag *diag); /* -ENOMEM */

/* A text that stops growing when it is full, and then ends in "...". */
struct rck_text {
	char buf[256];
	size_t len;
	bool full;
};
void rck_text_add(struct rck_text *t, const char *s, size_t len);
void rck_text_addf(struct rck_text *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* ---- metadata.c, metadata-v2.c ---- */

/* Adds the kernels of one NT_AMDGPU_METADATA note (msgpack, V3 and later). */
int rck_metadata_read(
	struct rck_code_object *co, const struct rck_note *n, struct rck_diag *diag);
void rck_metadata_release(struct rck_code_object *co);
/* Adds the kernels of one NT_AMD_HSA_METADATA note (YAML, V2). -ENOTSUP: no libyaml. */
int rck_metadata_v2_read(
	struct rck_code_object *co, const struct rck_note *n, struct rck_diag *diag);

/* ---- descriptor.c ---- */

#define RCK_DESCRIPTOR_SIZE    64  /* V3 and later */
#define RCK_DESCRIPTOR_V2_SIZE 256 /* amd_kernel_code_t */

/* Decode; data holds that many bytes. entry is relative to the descriptor's start. */
void rck_descriptor_decode(struct rck_descriptor *d, const uint8_t *data, int64_t *entry);
void rck_descriptor_decode_v2(
	struct rck_descriptor *d, const uint8_t *data, int64_t *entry);
/* Finds and reads the descriptors of all kernels. */
void rck_descriptor_read_all(struct rck_code_object *co);

/* ---- target.c ---- */

struct rck_target_info {
	uint8_t mach; /* EF_AMDGPU_MACH */
	const char *name;
	uint8_t features; /* RCK_TARGET_* that the processor has */
};
enum { RCK_TARGET_XNACK = 1, RCK_TARGET_SRAMECC = 2, RCK_TARGET_GENERIC = 4 };

const struct rck_target_info *rck_target_find(unsigned mach); /* NULL: unknown */
/* Fills co->target, processor and generic_version from osabi, abiversion, e_flags. */
void rck_target_decode(struct rck_code_object *co);

/* ---- cross.c, cause.c, occupancy.c, demangle.c ---- */

/* Holds metadata against header and descriptors; adds notes. */
void rck_cross_check(struct rck_code_object *co);
/* Holds what a container or a file name says of the target against e_flags. claim is a
   target id or NULL, path a file's path or NULL. */
void rck_cross_check_claim(
	struct rck_code_object *co, const char *claim, const char *path);
/* Sets cause and confidence of every kernel, from all of them. */
void rck_cause_judge(struct rck_code_object *co);
/* Sets occupancy and its limit; both stay unset for targets without known numbers. */
void rck_occupancy_judge(struct rck_code_object *co);
