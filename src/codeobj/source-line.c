#include "codeobj/source-line.h"

#ifdef HAVE_LIBDW

#include "codeobj/private.h"

#include <elfutils/libdw.h>
#include <stdlib.h>

struct rck_lines {
	Elf *elf;
	Dwarf *dwarf;
};

struct rck_lines *rck_lines_open(const struct rck_code_object *co)
{
	struct rck_lines *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	elf_version(EV_CURRENT);
	/* a handle of its own: libdw keeps state in it; the bytes are only read */
	l->elf = elf_memory((char *)co->slice.data, co->slice.size);
	l->dwarf = l->elf ? dwarf_begin_elf(l->elf, DWARF_C_READ, NULL) : NULL;
	if (l->dwarf)
		return l;
	rck_lines_close(l);
	return NULL;
}

void rck_lines_close(struct rck_lines *l)
{
	if (!l)
		return;
	dwarf_end(l->dwarf);
	elf_end(l->elf);
	free(l);
}

bool rck_lines_find(
	struct rck_lines *l, uint64_t address, const char **file, unsigned *line)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;

	/* clang writes no .debug_aranges for devices: the units are asked one by one */
	while (!dwarf_get_units(l->dwarf, cu, &cu, NULL, NULL, &die, NULL)) {
		Dwarf_Line *at;
		int n;

		if (dwarf_haspc(&die, address) <= 0)
			continue;
		at = dwarf_getsrc_die(&die, address);
		*file = at ? dwarf_linesrc(at, NULL, NULL) : NULL;
		if (!*file || dwarf_lineno(at, &n) || n <= 0)
			return false;
		*line = (unsigned)n;
		return true;
	}
	return false;
}

#else

struct rck_lines *rck_lines_open(const struct rck_code_object *co)
{
	return NULL;
}

void rck_lines_close(struct rck_lines *l)
{
}

bool rck_lines_find(
	struct rck_lines *l, uint64_t address, const char **file, unsigned *line)
{
	return false;
}

#endif
