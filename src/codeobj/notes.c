/*
 * ELF notes (gABI, "Note Section"): u32 namesz, descsz, type, then both, each padded. All
 * of them are read: a linked code object holds one metadata note for each of its inputs.
 */
#include "codeobj/private.h"
#include "util/range.h"

#include <errno.h>

void rck_note_open(struct rck_note_cursor *c, const uint8_t *data, uint64_t size,
	uint64_t base, uint64_t align)
{
	*c = (struct rck_note_cursor){data, size, 0, base, align == 8 ? 8 : 4};
}

int rck_note_next(struct rck_note_cursor *c, struct rck_note *n, struct rck_diag *diag)
{
	uint64_t at = c->at, left = c->size - c->at, desc;
	uint32_t name_size;
	const uint8_t *p = c->data + at;

	/* less than a header: padding behind the last note */
	if (left < 12) {
		for (; left; left--)
			if (*p++)
				return rck_fail(diag, -EINVAL, c->base + at,
					"a note's header is cut short");
		return 0;
	}
	name_size = rck_le32(p);
	n->desc_size = rck_le32(p + 4);
	n->type = rck_le32(p + 8);
	desc = rck_align_up((uint64_t)12 + name_size, c->align);
	if (!rck_range_ok(12, name_size, left) ||
		!rck_range_ok(desc, n->desc_size, left)) {
		c->at = c->size;
		return rck_fail(diag, -EINVAL, c->base + at,
			"a note of %u + %u bytes runs over the end of its %llu",
			name_size, n->desc_size, (unsigned long long)left);
	}
	n->owner = (const char *)p + 12;
	n->owner_len = strnlen(n->owner, name_size);
	n->desc = p + desc;
	n->offset = c->base + at + desc;
	desc = rck_align_up(desc + n->desc_size, c->align);
	c->at = desc > left ? c->size : at + desc;
	return 1;
}

static int each_in(const struct rck_elf *e, uint64_t offset, uint64_t size,
	uint64_t align, rck_note_fn *fn, void *arg, struct rck_diag *diag)
{
	struct rck_note_cursor c;
	struct rck_note n;
	int err;

	rck_note_open(&c, e->slice.data + offset, size, offset, align);
	while ((err = rck_note_next(&c, &n, diag)) == 1) {
		err = fn(arg, &n, diag);
		if (err)
			return err;
	}
	if (err)
		diag->offset = rck_elf_offset(e, diag->offset);
	return err;
}

/* Regions that were read. Real objects have one or two; a file made of thousands that
   overlap would be read thousands of times. */
#define REGIONS_MAX 32

struct regions {
	struct {
		uint64_t begin, end;
	} r[REGIONS_MAX];
	size_t n;
};

/* 1: it is to be read, and is entered; 0: it begins inside one that was; -E2BIG. */
static int enter_region(const struct rck_elf *e, struct regions *all, uint64_t offset,
	uint64_t size, struct rck_diag *diag)
{
	for (size_t i = 0; i < all->n; i++)
		if (offset >= all->r[i].begin && offset < all->r[i].end)
			return 0;
	if (all->n == REGIONS_MAX)
		return rck_fail(diag, -E2BIG, rck_elf_offset(e, offset),
			"more than %d regions of notes", REGIONS_MAX);
	all->r[all->n].begin = offset;
	all->r[all->n++].end = offset + size;
	return 1;
}

int rck_elf_each_note(
	const struct rck_elf *e, rck_note_fn *fn, void *arg, struct rck_diag *diag)
{
	struct regions regions = {.n = 0};
	GElf_Phdr p;
	GElf_Shdr s;
	int err;

	for (size_t i = 0; i < e->n_phdrs; i++) {
		if (!gelf_getphdr(e->elf, (int)i, &p) || p.p_type != PT_NOTE ||
			!p.p_filesz)
			continue;
		err = enter_region(e, &regions, p.p_offset, p.p_filesz, diag);
		if (err == 1)
			err = each_in(
				e, p.p_offset, p.p_filesz, p.p_align, fn, arg, diag);
		if (err)
			return err;
	}
	for (size_t i = 1; i < e->n_shdrs; i++) {
		if (!rck_elf_section(e, i, &s) || s.sh_type != SHT_NOTE || !s.sh_size)
			continue;
		if (!rck_range_ok(s.sh_offset, s.sh_size, e->slice.size))
			return rck_fail(diag, -EINVAL, rck_elf_offset(e, e->ehdr.e_shoff),
				"section %zu, of notes, runs over the end", i);
		err = enter_region(e, &regions, s.sh_offset, s.sh_size, diag);
		if (err == 1)
			err = each_in(
				e, s.sh_offset, s.sh_size, s.sh_addralign, fn, arg, diag);
		if (err)
			return err;
	}
	return 0;
}
