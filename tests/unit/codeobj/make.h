/*
 * Code objects made by hand, for what no compiler would write. Include after cmocka.h.
 *
 * One PT_LOAD at MAKE_BASE holds it all: headers, notes, descriptors, code, .dynsym with
 * .hash or .gnu.hash, .dynamic. Metadata is packed by msgpack-c.
 */
#pragma once

#include "codeobj/private.h"

#include <msgpack.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAKE_BASE    0x10000
#define MAKE_KERNELS 8

enum make_hash { MAKE_GNU, MAKE_SYSV, MAKE_NONE };

struct make {
	/* in; zero is ET_DYN, HSA, V5, gfx90a, .gnu.hash */
	unsigned type, osabi_less_hsa, version, flags;
	enum make_hash hash;
	struct {
		const char *name; /* its .kd and its function are there */
		uint8_t kd[64];
		bool no_kd;
	} kernels[MAKE_KERNELS];
	size_t n_kernels;
	const char *other_symbol; /* one symbol more, a function */
	msgpack_sbuffer notes;    /* ready-made notes, by make_note() */
	/* out */
	uint8_t data[1 << 16];
	size_t size;
};

static inline void make_note(
	struct make *m, const char *owner, uint32_t type, const void *desc, size_t size)
{
	static const char zero[8];
	uint32_t head[3] = {(uint32_t)strlen(owner) + 1, (uint32_t)size, type};

	msgpack_sbuffer_write(&m->notes, (const char *)head, sizeof(head));
	msgpack_sbuffer_write(&m->notes, owner, head[0]);
	msgpack_sbuffer_write(&m->notes, zero, -(12 + head[0]) & 3);
	msgpack_sbuffer_write(&m->notes, desc, size);
	msgpack_sbuffer_write(&m->notes, zero, -size & 3);
}

static inline void make_str(msgpack_packer *p, const char *s)
{
	msgpack_pack_str(p, strlen(s));
	msgpack_pack_str_body(p, s, strlen(s));
}

static inline void make_pair(msgpack_packer *p, const char *key, uint64_t value)
{
	make_str(p, key);
	msgpack_pack_uint64(p, value);
}

/* A metadata note of one kernel with arguments of the kinds given, and pairs ".key",
   value up to a NULL. */
static inline void make_metadata(struct make *m, unsigned minor, const char *name,
	const char *const *kinds, size_t n_pairs, const char *const *keys,
	const uint64_t *values)
{
	msgpack_sbuffer b;
	msgpack_packer p;
	char symbol[256];
	size_t n = 0;

	while (kinds && kinds[n])
		n++;
	msgpack_sbuffer_init(&b);
	msgpack_packer_init(&p, &b, msgpack_sbuffer_write);
	msgpack_pack_map(&p, 2);
	make_str(&p, "amdhsa.kernels");
	msgpack_pack_array(&p, 1);
	msgpack_pack_map(&p, 3 + n_pairs);
	make_str(&p, ".args");
	msgpack_pack_array(&p, n);
	for (size_t i = 0; i < n; i++) {
		msgpack_pack_map(&p, 3);
		make_pair(&p, ".offset", i * 8);
		make_pair(&p, ".size", 8);
		make_str(&p, ".value_kind");
		make_str(&p, kinds[i]);
	}
	make_str(&p, ".name");
	make_str(&p, name);
	snprintf(symbol, sizeof(symbol), "%s.kd", name);
	make_str(&p, ".symbol");
	make_str(&p, symbol);
	for (size_t i = 0; i < n_pairs; i++)
		make_pair(&p, keys[i], values[i]);
	make_str(&p, "amdhsa.version");
	msgpack_pack_array(&p, 2);
	msgpack_pack_uint32(&p, 1);
	msgpack_pack_uint32(&p, minor);
	make_note(m, "AMDGPU", 32, b.data, b.size);
	msgpack_sbuffer_destroy(&b);
}

/* The kernel number i as it is in the symbol table; its descriptor is for the caller. */
static inline uint8_t *make_kernel(struct make *m, const char *name)
{
	m->kernels[m->n_kernels].name = name;
	return m->kernels[m->n_kernels++].kd;
}

static inline void make_sym(
	Elf64_Sym *s, uint32_t name, unsigned type, uint64_t value, uint64_t size)
{
	*s = (Elf64_Sym){.st_name = name,
		.st_info = ELF64_ST_INFO(STB_GLOBAL, type),
		.st_shndx = 1,
		.st_value = value,
		.st_size = size};
}

static inline uint32_t make_sysv_hash(const char *s)
{
	uint32_t h = 0, g;

	for (; *s; s++) {
		h = (h << 4) + (uint8_t)*s;
		g = h & 0xf0000000;
		h ^= g >> 24;
		h &= ~g;
	}
	return h;
}

/* Lays it all out. The buffer lives in m. */
static inline void make_finish(struct make *m)
{
	Elf64_Ehdr *h = (Elf64_Ehdr *)m->data;
	Elf64_Phdr *ph = (Elf64_Phdr *)(m->data + 64);
	size_t at = 64 + 3 * sizeof(*ph), notes, kds, code, syms, strings, hash, dyn;
	size_t n = 1, n_str = 1;
	Elf64_Sym *sym;
	char *str;
	uint32_t *u;

	notes = at;
	if (m->notes.size)
		memcpy(m->data + at, m->notes.data, m->notes.size);
	at = (at + m->notes.size + 63) & ~(size_t)63;
	kds = at;
	for (size_t i = 0; i < m->n_kernels; i++)
		memcpy(m->data + kds + 64 * i, m->kernels[i].kd, 64);
	at += 64 * m->n_kernels;
	code = at;
	at += 256 * m->n_kernels;
	for (size_t i = 0; i < m->n_kernels; i++) {
		int64_t entry = (int64_t)(code + 256 * i) - (int64_t)(kds + 64 * i);

		memcpy(m->data + kds + 64 * i + 16, &entry, 8);
	}
	syms = at;
	sym = (Elf64_Sym *)(m->data + syms);
	at += sizeof(*sym) * (2 + 2 * MAKE_KERNELS);
	strings = at;
	str = (char *)m->data + strings;
	for (size_t i = 0; i < m->n_kernels; i++) {
		make_sym(&sym[n++], (uint32_t)n_str, STT_FUNC, MAKE_BASE + code + 256 * i,
			100);
		n_str += (size_t)sprintf(str + n_str, "%s", m->kernels[i].name) + 1;
		if (m->kernels[i].no_kd)
			continue;
		make_sym(&sym[n++], (uint32_t)n_str, STT_OBJECT, MAKE_BASE + kds + 64 * i,
			64);
		n_str += (size_t)sprintf(str + n_str, "%s.kd", m->kernels[i].name) + 1;
	}
	if (m->other_symbol) {
		make_sym(&sym[n++], (uint32_t)n_str, STT_FUNC, MAKE_BASE + code, 4);
		n_str += (size_t)sprintf(str + n_str, "%s", m->other_symbol) + 1;
	}
	at = (at + n_str + 7) & ~(size_t)7;
	hash = at;
	u = (uint32_t *)(m->data + hash);
	if (m->hash == MAKE_GNU) {
		/* one bucket: a chain of all, in order */
		u[0] = 1;
		u[1] = 1;
		u[2] = 1;
		u[3] = 6;
		u[4] = u[5] = UINT32_MAX;
		u[6] = n > 1 ? 1 : 0;
		for (size_t i = 1; i < n; i++) {
			const char *s = str + sym[i].st_name;

			u[6 + i] = rck_symbol_hash(RCK_SYMBOL_HASH, s, strlen(s)) & ~1u;
			u[6 + i] |= i + 1 == n;
		}
		at += 4 * (7 + n);
	} else {
		/* two buckets */
		u[0] = 2;
		u[1] = (uint32_t)n;
		for (size_t i = n - 1; i; i--) {
			uint32_t *bucket =
				&u[2 + make_sysv_hash(str + sym[i].st_name) % 2];

			u[4 + i] = *bucket;
			*bucket = (uint32_t)i;
		}
		at += 4 * (4 + n);
	}
	at = (at + 7) & ~(size_t)7;
	dyn = at;
	{
		Elf64_Dyn d[] = {
			{DT_SYMTAB, {MAKE_BASE + syms}},
			{DT_STRTAB, {MAKE_BASE + strings}},
			{DT_STRSZ, {n_str}},
			{m->hash == MAKE_GNU ? DT_GNU_HASH : DT_HASH, {MAKE_BASE + hash}},
			{DT_NULL, {0}},
		};

		memcpy(m->data + dyn, d, sizeof(d));
		at += sizeof(d);
	}
	m->size = at;

	memcpy(h->e_ident, ELFMAG, SELFMAG);
	h->e_ident[EI_CLASS] = ELFCLASS64;
	h->e_ident[EI_DATA] = ELFDATA2LSB;
	h->e_ident[EI_VERSION] = EV_CURRENT;
	h->e_ident[EI_OSABI] = (uint8_t)(64 + m->osabi_less_hsa);
	h->e_ident[EI_ABIVERSION] = (uint8_t)((m->version ? m->version : 5) - 2);
	h->e_type = (uint16_t)(m->type ? m->type : ET_DYN);
	h->e_machine = 224;
	h->e_version = EV_CURRENT;
	h->e_phoff = 64;
	h->e_flags = m->flags ? m->flags : 0x3f;
	h->e_ehsize = 64;
	h->e_phentsize = sizeof(*ph);
	h->e_phnum = 3;
	ph[0] = (Elf64_Phdr){PT_LOAD, PF_R | PF_X, 0, MAKE_BASE, MAKE_BASE, at, at, 4096};
	ph[1] = (Elf64_Phdr){PT_NOTE, PF_R, notes, MAKE_BASE + notes, MAKE_BASE + notes,
		m->notes.size, m->notes.size, 4};
	ph[2] = (Elf64_Phdr){PT_DYNAMIC, PF_R, dyn, MAKE_BASE + dyn, MAKE_BASE + dyn,
		m->hash == MAKE_NONE ? 0 : at - dyn, at - dyn, 8};
}

static inline void make_release(struct make *m)
{
	msgpack_sbuffer_destroy(&m->notes);
	free(m);
}

static inline struct make *make_new(void)
{
	struct make *m = calloc(1, sizeof(*m));

	if (!m)
		abort();
	return m;
}

/* Lays out and opens. */
static inline int make_open(
	struct make *m, struct rck_code_object **co, struct rck_diag *diag)
{
	make_finish(m);
	return rck_code_object_open_mem(m->data, m->size, co, diag);
}

/* Whether some note holds the text. */
static inline bool make_noted(const struct rck_code_object *co, const char *text)
{
	for (size_t i = 0; i < rck_code_object_note_count(co); i++)
		if (strstr(rck_code_object_note(co, i)->msg, text))
			return true;
	return false;
}
