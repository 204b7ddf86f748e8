#include "container/host-elf.h"

#include <errno.h>
#include <gelf.h>

#include "container/elf-check.h"
#include "util/range.h"

/* llvm/BinaryFormat/ELF.h */
#define SHT_LLVM_OFFLOADING 0x6fff4c0b

int rck_host_elf_open(struct rck_host_elf *e, struct rck_slice s, struct rck_diag *diag)
{
	size_t strndx;
	Elf_Scn *scn;
	GElf_Shdr sh;
	int err;

	*e = (struct rck_host_elf){.slice = s, .i = 1};
	err = rck_elf_check(s, diag);
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
