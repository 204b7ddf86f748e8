#include "container/elf-pointers.h"

#include <gelf.h>

#include "util/range.h"

#define RELA     24 /* bytes of an Elf64_Rela */
#define SYM      24 /* of an Elf64_Sym */
#define NOT_SEEN (UINT64_MAX - 1)

static const struct machine {
	uint16_t machine;
	uint32_t absolute, relative; /* 64-bit S + A, and B + A */
} machines[] = {
	{EM_X86_64, R_X86_64_64, R_X86_64_RELATIVE},
	{EM_AARCH64, R_AARCH64_ABS64, R_AARCH64_RELATIVE},
	{EM_PPC64, R_PPC64_ADDR64, R_PPC64_RELATIVE},
	{EM_RISCV, R_RISCV_64, R_RISCV_RELATIVE},
	{258, 2, 3}, /* LoongArch: R_LARCH_64, R_LARCH_RELATIVE */
};

struct pointers {
	struct rck_host_elf *e;
	const struct machine *machine;
	bool relocatable; /* .o: offsets count in the section, else they are addresses */
	GElf_Shdr section, last; /* last: where an address was found last */
	size_t index;
	uint64_t first, stride, n, *targets;
};

static bool spend(struct pointers *p, uint64_t bytes)
{
	bool enough = p->e->work >= bytes;

	p->e->work -= enough ? bytes : p->e->work;
	return enough;
}

static bool header_of(struct pointers *p, size_t index, GElf_Shdr *sh)
{
	Elf_Scn *scn = spend(p, sizeof(Elf64_Shdr)) ? elf_getscn(p->e->elf, index) : NULL;

	return scn && gelf_getshdr(scn, sh);
}

/* The bytes of a section, or none. */
static struct rck_slice bytes_of(const struct pointers *p, const GElf_Shdr *sh)
{
	if (sh->sh_type == SHT_NOBITS || (sh->sh_flags & SHF_COMPRESSED) ||
		!rck_range_ok(sh->sh_offset, sh->sh_size, p->e->slice.size))
		return (struct rck_slice){0};
	return rck_subslice(p->e->slice, sh->sh_offset, sh->sh_size);
}

static uint64_t offset_in(const struct pointers *p, const GElf_Shdr *sh, uint64_t at)
{
	return at < bytes_of(p, sh).size ? sh->sh_offset + at : RCK_OFFSET_NONE;
}

static uint64_t offset_of_address(struct pointers *p, uint64_t address)
{
	GElf_Shdr sh;

	if (address - p->last.sh_addr < p->last.sh_size)
		return offset_in(p, &p->last, address - p->last.sh_addr);
	for (size_t i = 1; i < p->e->n && header_of(p, i, &sh); i++) {
		if (!(sh.sh_flags & SHF_ALLOC) || sh.sh_type == SHT_NOBITS ||
			address - sh.sh_addr >= sh.sh_size)
			continue;
		p->last = sh;
		return offset_in(p, &sh, address - sh.sh_addr);
	}
	return RCK_OFFSET_NONE;
}

/* What symbol plus addend leads to: a symbol counts in its section in a .o, else it is an
 * address. */
static uint64_t offset_of_symbol(
	struct pointers *p, size_t table, uint64_t symbol, uint64_t addend)
{
	struct rck_slice syms;
	const uint8_t *sym;
	GElf_Shdr sh;
	uint16_t index;

	if (!header_of(p, table, &sh))
		return RCK_OFFSET_NONE;
	syms = bytes_of(p, &sh);
	if (symbol >= syms.size / SYM)
		return RCK_OFFSET_NONE;
	sym = syms.data + symbol * SYM;
	index = rck_le16(sym + 6);
	if (index == SHN_UNDEF || index >= SHN_LORESERVE)
		return RCK_OFFSET_NONE;
	if (!p->relocatable)
		return offset_of_address(p, rck_le64(sym + 8) + addend);
	if (!header_of(p, index, &sh))
		return RCK_OFFSET_NONE;
	return offset_in(p, &sh, rck_le64(sym + 8) + addend);
}

/* The pointer that a relocation is for, or NULL. */
static uint64_t *target_of(const struct pointers *p, uint64_t r_offset)
{
	uint64_t at = r_offset - (p->relocatable ? 0 : p->section.sh_addr);

	if (at < p->first || (at - p->first) % p->stride ||
		(at - p->first) / p->stride >= p->n)
		return NULL;
	return &p->targets[(at - p->first) / p->stride];
}

static void read_relocations(struct pointers *p, const GElf_Shdr *sh)
{
	struct rck_slice s = bytes_of(p, sh);

	for (uint64_t at = 0; rck_range_ok(at, RELA, s.size); at += RELA) {
		const uint8_t *r = s.data + at;
		uint64_t *target;
		uint32_t type;

		if (!spend(p, RELA))
			return;
		target = target_of(p, rck_le64(r));
		if (!target)
			continue;
		type = rck_le32(r + 8);
		if (type == p->machine->relative)
			*target = offset_of_address(p, rck_le64(r + 16));
		else if (type == p->machine->absolute)
			*target = offset_of_symbol(
				p, sh->sh_link, rck_le32(r + 12), rck_le64(r + 16));
		else
			*target = RCK_OFFSET_NONE;
	}
}

static const struct machine *find_machine(uint16_t machine)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++)
		if (machines[i].machine == machine)
			return &machines[i];
	return NULL;
}

static bool start(struct pointers *p)
{
	const uint8_t *ident = p->e->slice.data;
	GElf_Ehdr eh;

	if (ident[EI_CLASS] != ELFCLASS64 || ident[EI_DATA] != ELFDATA2LSB ||
		!gelf_getehdr(p->e->elf, &eh) || !header_of(p, p->index, &p->section))
		return false;
	p->machine = find_machine(eh.e_machine);
	p->relocatable = eh.e_type == ET_REL;
	return p->machine;
}

void rck_elf_pointers(struct rck_host_elf *e, size_t index, uint64_t first,
	uint64_t stride, uint64_t *targets, size_t n)
{
	struct pointers p = {
		.e = e,
		.index = index,
		.first = first,
		.stride = stride,
		.n = n,
		.targets = targets,
	};
	struct rck_slice s;
	GElf_Shdr sh;

	for (size_t i = 0; i < n; i++)
		targets[i] = NOT_SEEN;
	if (start(&p))
		for (size_t i = 1; i < e->n && header_of(&p, i, &sh); i++)
			if (sh.sh_type == SHT_RELA &&
				(!p.relocatable || sh.sh_info == index))
				read_relocations(&p, &sh);
	s = p.machine && !p.relocatable ? bytes_of(&p, &p.section)
					: (struct rck_slice){0};
	for (size_t i = 0; i < n; i++) {
		uint64_t at = first + i * stride;

		if (targets[i] != NOT_SEEN)
			continue;
		targets[i] = rck_range_ok(at, 8, s.size) && rck_le64(s.data + at)
				     ? offset_of_address(&p, rck_le64(s.data + at))
				     : RCK_OFFSET_NONE;
	}
}
