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

struct query {
	uint64_t address;
	const char *file;
	int line;
};

/* A function that begins there says where it was declared: its first instruction may be
 * of something inlined. */
static int match_function(Dwarf_Die *die, void *arg)
{
	struct query *q = arg;
	Dwarf_Addr first;

	if (dwarf_lowpc(die, &first) || first != q->address)
		return DWARF_CB_OK;
	q->file = dwarf_decl_file(die);
	if (dwarf_decl_line(die, &q->line))
		q->line = 0;
	return DWARF_CB_ABORT;
}

/* In DWARF 5 file 0 is the unit's own; libdw 0.188 takes that for none. */
static const char *own_file(Dwarf_Die *unit)
{
	Dwarf_Files *files;
	size_t n;

	return !dwarf_getsrcfiles(unit, &files, &n) && n
		       ? dwarf_filesrc(files, 0, NULL, NULL)
		       : NULL;
}

/* The line table's word on it, where there is no such function (-gline-tables-only). */
static void match_line(Dwarf_Die *unit, struct query *q)
{
	Dwarf_Line *at = dwarf_getsrc_die(unit, q->address);

	q->file = at ? dwarf_linesrc(at, NULL, NULL) : NULL;
	if (!q->file || dwarf_lineno(at, &q->line))
		q->line = 0;
}

bool rck_lines_find(
	struct rck_lines *l, uint64_t address, const char **file, unsigned *line)
{
	struct query q = {.address = address};
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;

	/* clang writes no .debug_aranges for devices: the units are asked one by one */
	while (!dwarf_get_units(l->dwarf, cu, &cu, NULL, NULL, &die, NULL)) {
		if (dwarf_haspc(&die, address) <= 0)
			continue;
		dwarf_getfuncs(&die, match_function, &q, 0);
		if (q.line > 0 && !q.file)
			q.file = own_file(&die);
		if (q.line <= 0 || !q.file)
			match_line(&die, &q);
		*file = q.file;
		*line = q.line > 0 ? (unsigned)q.line : 0;
		return q.line > 0;
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
