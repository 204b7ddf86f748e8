/* The headers of an AMDGPU ELF, by libelf over memory. */
#include "codeobj/private.h"
#include "util/range.h"

#include <errno.h>

#ifndef EM_AMDGPU
#define EM_AMDGPU 224
#endif

/* lld writes about ten */
#define PHDRS_MAX 256

uint64_t rck_elf_offset(const struct rck_elf *e, uint64_t offset)
{
	return offset == RCK_OFFSET_NONE || e->slice.file_offset == RCK_OFFSET_NONE
		       ? offset
		       : e->slice.file_offset + offset;
}

static int read_ident(struct rck_elf *e, struct rck_diag *diag)
{
	const uint8_t *d = e->slice.data;
	uint64_t base = rck_elf_offset(e, 0);

	if (e->slice.size < EI_NIDENT || memcmp(d, ELFMAG, SELFMAG))
		return rck_fail(diag, -ENOEXEC, base, "not an ELF file");
	if (d[EI_CLASS] != ELFCLASS64)
		return rck_fail(diag, -ENOEXEC, base + EI_CLASS,
			"not a 64-bit ELF file (class %u)", d[EI_CLASS]);
	if (d[EI_DATA] != ELFDATA2LSB)
		return rck_fail(
			diag, -ENOEXEC, base + EI_DATA, "not a little-endian ELF file");
	if (e->slice.size < sizeof(Elf64_Ehdr))
		return rck_fail(diag, -EINVAL, base,
			"the ELF header is cut short (%llu of %zu bytes)",
			(unsigned long long)e->slice.size, sizeof(Elf64_Ehdr));
	if (rck_le16(d + offsetof(Elf64_Ehdr, e_machine)) != EM_AMDGPU)
		return rck_fail(diag, -ENOEXEC, base + offsetof(Elf64_Ehdr, e_machine),
			"not an AMDGPU ELF file (machine %u)",
			rck_le16(d + offsetof(Elf64_Ehdr, e_machine)));
	return 0;
}

static int read_segments(
	struct rck_elf *e, struct rck_arena *arena, struct rck_diag *diag)
{
	const GElf_Ehdr *h = &e->ehdr;
	uint64_t at = rck_elf_offset(e, offsetof(Elf64_Ehdr, e_phoff));
	GElf_Phdr p;

	if (elf_getphdrnum(e->elf, &e->n_phdrs))
		return rck_fail(diag, -EINVAL, at, "cannot read the program headers: %s",
			elf_errmsg(-1));
	/* libelf lowers the number when the table is not all there; a cut file must not
	   look like a whole one. */
	if (h->e_phnum != PN_XNUM && e->n_phdrs != h->e_phnum)
		return rck_fail(diag, -EINVAL, at,
			"%u program headers at 0x%llx run over the end", h->e_phnum,
			(unsigned long long)h->e_phoff);
	if (e->n_phdrs > PHDRS_MAX)
		return rck_fail(diag, -E2BIG, at,
			"%zu program headers (at most %d are read)", e->n_phdrs,
			PHDRS_MAX);
	if (e->n_phdrs && h->e_phentsize != sizeof(Elf64_Phdr))
		return rck_fail(diag, -EINVAL, at, "program headers of %u bytes each",
			h->e_phentsize);
	if (!rck_range_ok(h->e_phoff, e->n_phdrs * sizeof(Elf64_Phdr), e->slice.size))
		return rck_fail(diag, -EINVAL, at,
			"%zu program headers at 0x%llx run over the end", e->n_phdrs,
			(unsigned long long)h->e_phoff);

	for (size_t i = 0; i < e->n_phdrs; i++) {
		if (!gelf_getphdr(e->elf, (int)i, &p))
			return rck_fail(diag, -EINVAL, at, "program header %zu: %s", i,
				elf_errmsg(-1));
		if (p.p_type != PT_LOAD && p.p_type != PT_NOTE && p.p_type != PT_DYNAMIC)
			continue;
		if (!rck_range_ok(p.p_offset, p.p_filesz, e->slice.size))
			return rck_fail(diag, -EINVAL,
				rck_elf_offset(e, h->e_phoff + i * sizeof(Elf64_Phdr)),
				"program header %zu: 0x%llx bytes at 0x%llx run over the "
				"end of the code object (0x%llx bytes)",
				i, (unsigned long long)p.p_filesz,
				(unsigned long long)p.p_offset,
				(unsigned long long)e->slice.size);
		if (p.p_type == PT_DYNAMIC && !e->dynamic_size) {
			e->dynamic_offset = p.p_offset;
			e->dynamic_size = p.p_filesz;
		}
		e->n_loads += p.p_type == PT_LOAD && p.p_filesz;
	}

	e->loads = rck_arena_alloc(arena, e->n_loads * sizeof(*e->loads));
	if (!e->loads)
		return rck_no_memory(diag);
	e->n_loads = 0;
	for (size_t i = 0; i < e->n_phdrs; i++) {
		if (!gelf_getphdr(e->elf, (int)i, &p))
			continue;
		if (p.p_type == PT_LOAD && p.p_filesz)
			e->loads[e->n_loads++] =
				(struct rck_segment){p.p_offset, p.p_vaddr, p.p_filesz};
	}
	return 0;
}

int rck_elf_open(struct rck_elf *e, struct rck_slice s, struct rck_arena *arena,
	struct rck_diag *diag)
{
	int err;

	*e = (struct rck_elf){.slice = s};
	err = read_ident(e, diag);
	if (err)
		return err;
	elf_version(EV_CURRENT);
	/* libelf takes char *, but writes nothing to memory that is opened like this */
	e->elf = elf_memory((char *)(uintptr_t)s.data, s.size);
	if (!e->elf || elf_kind(e->elf) != ELF_K_ELF || !gelf_getehdr(e->elf, &e->ehdr))
		return rck_fail(diag, -EINVAL, rck_elf_offset(e, 0),
			"cannot read the ELF header: %s", elf_errmsg(-1));
	err = read_segments(e, arena, diag);
	if (err)
		return err;
	if (elf_getshdrnum(e->elf, &e->n_shdrs))
		e->n_shdrs = 0;
	/* libelf takes a table that does not fit for an empty one; a cut file must not
	   look like one that was stripped of it */
	if (e->ehdr.e_shoff && !e->n_shdrs)
		return rck_fail(diag, -EINVAL,
			rck_elf_offset(e, offsetof(Elf64_Ehdr, e_shoff)),
			"section headers at 0x%llx run over the end",
			(unsigned long long)e->ehdr.e_shoff);
	if (e->ehdr.e_type == ET_REL && !e->n_shdrs)
		return rck_fail(diag, -EINVAL,
			rck_elf_offset(e, offsetof(Elf64_Ehdr, e_shoff)),
			"a relocatable without section headers");
	return 0;
}

void rck_elf_close(struct rck_elf *e)
{
	elf_end(e->elf);
	e->elf = NULL;
}

const uint8_t *rck_elf_at(const struct rck_elf *e, uint64_t address, uint64_t *avail)
{
	if (e->ehdr.e_type == ET_REL) {
		if (address >= e->slice.size)
			return NULL;
		*avail = e->slice.size - address;
		return e->slice.data + address;
	}
	for (size_t i = 0; i < e->n_loads; i++) {
		const struct rck_segment *l = &e->loads[i];

		if (address >= l->address && address - l->address < l->size) {
			*avail = l->size - (address - l->address);
			return e->slice.data + l->offset + (address - l->address);
		}
	}
	return NULL;
}

bool rck_elf_section(const struct rck_elf *e, size_t i, GElf_Shdr *shdr)
{
	Elf_Scn *scn = i < e->n_shdrs ? elf_getscn(e->elf, i) : NULL;

	return scn && gelf_getshdr(scn, shdr);
}
