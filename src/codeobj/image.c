#include "codeobj/image.h"
#include "codeobj/private.h"
#include "util/range.h"
#include "util/strbuf.h"

#include <stdlib.h>
#include <string.h>

#define R_AMDGPU_ABS64      3
#define R_AMDGPU_RELATIVE64 13

struct fixed {
	uint64_t address, value;
	bool known;
};

struct range {
	uint64_t first, size;
};

struct rck_image {
	const struct rck_code_object *co;
	struct range *constant; /* segments without PF_W, and RELRO */
	size_t n_constant;
	struct fixed *fixed; /* sorted by address */
	size_t n_fixed;
};

static int by_address(const void *a, const void *b)
{
	const struct fixed *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

static void read_segments(struct rck_image *m, const struct rck_elf *e)
{
	GElf_Phdr ph;

	m->constant = rck_xcalloc(e->n_phdrs + 1, sizeof(*m->constant));
	for (size_t i = 0; i < e->n_phdrs; i++) {
		if (!gelf_getphdr(e->elf, (int)i, &ph))
			continue;
		if ((ph.p_type == PT_LOAD && !(ph.p_flags & PF_W)) ||
			ph.p_type == PT_GNU_RELRO)
			m->constant[m->n_constant++] =
				(struct range){ph.p_vaddr, ph.p_memsz};
	}
}

/* The value of a symbol by its number in .dynsym; the table's end is not stated, so each
 * is asked of the file. */
static bool symbol_value(
	const struct rck_elf *e, uint64_t symtab, uint64_t number, uint64_t *value)
{
	uint64_t avail;
	const uint8_t *p =
		number < UINT32_MAX
			? rck_elf_at(e, symtab + number * sizeof(Elf64_Sym), &avail)
			: NULL;

	if (!p || avail < sizeof(Elf64_Sym) || !rck_le16(p + 6)) /* st_shndx */
		return false;
	*value = rck_le64(p + 8);
	return true;
}

static void read_relocations(struct rck_image *m, const struct rck_elf *e)
{
	uint64_t rela = 0, size = 0, symtab = 0, avail;
	const uint8_t *p;

	for (uint64_t at = 0; at + 16 <= e->dynamic_size; at += 16) {
		if (!rck_range_ok(e->dynamic_offset + at, 16, e->slice.size))
			return;
		p = e->slice.data + e->dynamic_offset + at;
		uint64_t tag = rck_le64(p), value = rck_le64(p + 8);

		rela = tag == DT_RELA ? value : rela;
		size = tag == DT_RELASZ ? value : size;
		symtab = tag == DT_SYMTAB ? value : symtab;
		if (tag == DT_NULL)
			break;
	}
	p = rela ? rck_elf_at(e, rela, &avail) : NULL;
	if (!p)
		return;
	size = size < avail ? size : avail;
	m->fixed = rck_xcalloc(size / 24 + 1, sizeof(*m->fixed));
	for (uint64_t at = 0; at + 24 <= size; at += 24) {
		struct fixed *f = &m->fixed[m->n_fixed++];
		uint64_t info = rck_le64(p + at + 8), addend = rck_le64(p + at + 16);
		uint64_t base = 0;
		uint32_t type = (uint32_t)info;

		f->address = rck_le64(p + at);
		f->known = type == R_AMDGPU_RELATIVE64 ||
			   (type == R_AMDGPU_ABS64 &&
				   symbol_value(e, symtab, info >> 32, &base));
		f->value = base + addend;
	}
	qsort(m->fixed, m->n_fixed, sizeof(*m->fixed), by_address);
}

struct rck_image *rck_image_open(const struct rck_code_object *co)
{
	const struct rck_elf *e = &rck_parse_of(co)->elf;
	struct rck_image *m;

	if (co->e_type == ET_REL)
		return NULL;
	m = rck_xcalloc(1, sizeof(*m));
	m->co = co;
	read_segments(m, e);
	read_relocations(m, e);
	return m;
}

void rck_image_close(struct rck_image *m)
{
	if (!m)
		return;
	free(m->constant);
	free(m->fixed);
	free(m);
}

static bool is_constant(const struct rck_image *m, uint64_t address, uint64_t size)
{
	for (size_t i = 0; i < m->n_constant; i++)
		if (address >= m->constant[i].first &&
			rck_range_ok(address - m->constant[i].first, size,
				m->constant[i].size))
			return true;
	return false;
}

/* What dynamic linking writes over the dword at address; NULL: nothing. */
static const struct fixed *fixed_at(const struct rck_image *m, uint64_t address)
{
	struct fixed key = {.address = address};
	const struct fixed *f;

	if (!m->n_fixed)
		return NULL;
	f = bsearch(&key, m->fixed, m->n_fixed, sizeof(*m->fixed), by_address);
	if (f || address < 4)
		return f;
	key.address = address - 4; /* its upper half */
	return bsearch(&key, m->fixed, m->n_fixed, sizeof(*m->fixed), by_address);
}

bool rck_image_load(struct rck_image *m, uint64_t address, size_t n, uint32_t *out)
{
	if (!is_constant(m, address, n * 4))
		return false;
	for (size_t i = 0; i < n; i++) {
		uint64_t at = address + 4 * i;
		const struct fixed *f = fixed_at(m, at);
		const uint8_t *p;

		if (f) {
			if (!f->known)
				return false;
			out[i] = (uint32_t)(f->value >> (at == f->address ? 0 : 32));
			continue;
		}
		p = rck_code_object_at(m->co, at, 4);
		if (!p)
			return false;
		out[i] = rck_le32(p);
	}
	return true;
}
