#include "container/host-elf.h"

#include <errno.h>
#include <gelf.h>

#include "util/range.h"

/* Pointers may cost this and some passes over the file: sections and relocations that
 * overlap must not make it more. */
#define WORK 65536

/* llvm/BinaryFormat/ELF.h */
#define SHT_LLVM_OFFLOADING 0x6fff4c0b

/* Where the header keeps what, for ELFCLASS32 and ELFCLASS64 (ELF gABI). */
static const struct layout {
	uint8_t ehdr, phoff, shoff, word; /* word: bytes of an offset */
	uint8_t phentsize, phnum, shentsize, shnum;
	uint8_t phdr, shdr, sh_size;
} layouts[2] = {
	{52, 28, 32, 4, 42, 44, 46, 48, 32, 40, 20},
	{64, 32, 40, 8, 54, 56, 58, 60, 56, 64, 32},
};

static uint64_t read_uint(const uint8_t *p, unsigned width, bool big)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < width; i++)
		v |= (uint64_t)p[i] << 8 * (big ? width - 1 - i : i);
	return v;
}

/*
 * Holds a header against its bytes: both tables must lie inside, the number of sections
 * also where section 0 states it (ELF gABI, "Extended section numbering"). libelf takes a
 * table that does not fit for an empty one, and a file that was cut for a clean one.
 */
static int check_header(struct rck_slice s, struct rck_diag *diag)
{
	const struct layout *l;
	uint64_t phoff, phnum, shoff, shnum;
	bool big;

	if (s.size < EI_NIDENT || memcmp(s.data, ELFMAG, SELFMAG))
		return rck_fail(diag, -EINVAL, 0, "ELF header cut short");
	if (s.data[EI_CLASS] != ELFCLASS32 && s.data[EI_CLASS] != ELFCLASS64)
		return rck_fail(diag, -EINVAL, EI_CLASS, "ELF class %u is not known",
			s.data[EI_CLASS]);
	if (s.data[EI_DATA] != ELFDATA2LSB && s.data[EI_DATA] != ELFDATA2MSB)
		return rck_fail(diag, -EINVAL, EI_DATA, "ELF byte order %u is not known",
			s.data[EI_DATA]);
	if (s.data[EI_VERSION] != EV_CURRENT)
		return rck_fail(diag, -EINVAL, EI_VERSION, "ELF version %u is not known",
			s.data[EI_VERSION]);
	l = &layouts[s.data[EI_CLASS] == ELFCLASS64];
	big = s.data[EI_DATA] == ELFDATA2MSB;
	if (s.size < l->ehdr)
		return rck_fail(diag, -EINVAL, 0, "ELF header cut short");

	phoff = read_uint(s.data + l->phoff, l->word, big);
	phnum = read_uint(s.data + l->phnum, 2, big);
	shoff = read_uint(s.data + l->shoff, l->word, big);
	shnum = read_uint(s.data + l->shnum, 2, big);
	if (shoff) {
		if (read_uint(s.data + l->shentsize, 2, big) != l->shdr)
			return rck_fail(diag, -EINVAL, l->shentsize,
				"ELF section headers of a size that is not %u", l->shdr);
		if (!rck_range_ok(shoff, l->shdr, s.size))
			return rck_fail(diag, -EINVAL, shoff,
				"ELF section headers at offset %llu lie outside the "
				"file's %llu bytes",
				(unsigned long long)shoff, (unsigned long long)s.size);
		if (!shnum)
			shnum = read_uint(s.data + shoff + l->sh_size, l->word, big);
		if (shnum > (s.size - shoff) / l->shdr)
			return rck_fail(diag, -EINVAL, shoff,
				"ELF claims %llu section headers at offset %llu, outside "
				"the file's %llu bytes",
				(unsigned long long)shnum, (unsigned long long)shoff,
				(unsigned long long)s.size);
	}
	if (phoff && phnum) {
		if (read_uint(s.data + l->phentsize, 2, big) != l->phdr)
			return rck_fail(diag, -EINVAL, l->phentsize,
				"ELF program headers of a size that is not %u", l->phdr);
		/* PN_XNUM: the count is sh_info of section 0, which libelf checks */
		if (phnum != PN_XNUM && !rck_range_ok(phoff, phnum * l->phdr, s.size))
			return rck_fail(diag, -EINVAL, phoff,
				"ELF program headers lie outside the file's %llu bytes",
				(unsigned long long)s.size);
	}
	return 0;
}

int rck_host_elf_open(struct rck_host_elf *e, struct rck_slice s, struct rck_diag *diag)
{
	size_t strndx;
	Elf_Scn *scn;
	GElf_Shdr sh;
	int err;

	*e = (struct rck_host_elf){.slice = s,
		.i = 1,
		.work = s.size < UINT64_MAX / 8 ? 4 * s.size + WORK : 0};
	err = check_header(s, diag);
	if (err)
		return err;
	elf_version(EV_CURRENT);
	e->elf = elf_memory((char *)s.data, s.size);
	if (!e->elf || elf_getshdrnum(e->elf, &e->n))
		return rck_fail(diag, -EINVAL, 0, "libelf: %s", elf_errmsg(-1));
	/* not elf_strptr(): it would inflate a compressed string table by its own claim
	 */
	if (elf_getshdrstrndx(e->elf, &strndx) || strndx == SHN_UNDEF)
		return 0;
	scn = elf_getscn(e->elf, strndx);
	if (scn && gelf_getshdr(scn, &sh) && sh.sh_type != SHT_NOBITS &&
		!(sh.sh_flags & SHF_COMPRESSED) &&
		rck_range_ok(sh.sh_offset, sh.sh_size, s.size))
		e->names = rck_subslice(s, sh.sh_offset, sh.sh_size);
	return 0;
}

int rck_host_elf_next(
	struct rck_host_elf *e, struct rck_entry *entry, struct rck_diag *diag)
{
	while (e->i < e->n) {
		size_t index = e->i++;
		Elf_Scn *scn = elf_getscn(e->elf, index);
		GElf_Shdr sh;

		if (!scn || !gelf_getshdr(scn, &sh))
			return rck_fail(diag, -EINVAL, RCK_OFFSET_NONE,
				"section %zu: libelf: %s", index, elf_errmsg(-1));
		if ((sh.sh_type != SHT_PROGBITS && sh.sh_type != SHT_LLVM_OFFLOADING) ||
			(sh.sh_flags & SHF_COMPRESSED) || !sh.sh_size)
			continue;
		*entry = (struct rck_entry){.id = "", .index = index};
		if (sh.sh_name < e->names.size) {
			entry->id = (const char *)e->names.data + sh.sh_name;
			entry->id_len = strnlen(entry->id, e->names.size - sh.sh_name);
		}
		e->type = sh.sh_type;
		if (!rck_range_ok(sh.sh_offset, sh.sh_size, e->slice.size))
			return rck_fail(diag, -EINVAL, sh.sh_offset,
				"section %zu '%.*s' at offset %llu, size %llu, leaves "
				"the file's %llu bytes",
				index, (int)(entry->id_len < 64 ? entry->id_len : 64),
				entry->id, (unsigned long long)sh.sh_offset,
				(unsigned long long)sh.sh_size,
				(unsigned long long)e->slice.size);
		entry->slice = rck_subslice(e->slice, sh.sh_offset, sh.sh_size);
		return 1;
	}
	return 0;
}

void rck_host_elf_close(struct rck_host_elf *e)
{
	elf_end(e->elf);
	e->elf = NULL;
}
