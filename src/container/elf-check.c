#include "container/elf-check.h"

#include <elf.h>
#include <errno.h>

#include "util/range.h"

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

int rck_elf_check(struct rck_slice s, struct rck_diag *diag)
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
