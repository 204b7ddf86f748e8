#include "container/pe.h"

#include <errno.h>

#include "util/range.h"

#define COFF_HEADER    20
#define BIGOBJ_HEADER  56
#define SECTION_HEADER 40

/*
 * The string table stands behind the symbols and starts with its own size. An object that
 * lost it lost its sections' names; images have none of their own (the field is 0, and
 * old linkers leave rubbish there).
 */
static int find_strings(struct rck_pe *p, bool image, uint64_t symbols, uint64_t n,
	unsigned each, struct rck_diag *diag)
{
	uint64_t at = symbols + n * each, size;

	if (!symbols)
		return 0;
	if (rck_range_ok(at, 4, p->slice.size)) {
		size = rck_le32(p->slice.data + at);
		if (size >= 4 && rck_range_ok(at, size, p->slice.size)) {
			p->strings = rck_subslice(p->slice, at, size);
			return 0;
		}
	}
	return image ? 0
		     : rck_fail(diag, -EINVAL, at,
			       "COFF string table at offset %llu lies outside the file's "
			       "%llu bytes",
			       (unsigned long long)at, (unsigned long long)p->slice.size);
}

int rck_pe_open(struct rck_pe *p, struct rck_slice s, struct rck_diag *diag)
{
	uint64_t at = 0, symbols, n_symbols;
	unsigned each = 18;
	bool image = false;

	*p = (struct rck_pe){.slice = s};
	if (s.size >= 64 && !memcmp(s.data, "MZ", 2)) {
		at = rck_le32(s.data + 0x3c);
		if (!rck_range_ok(at, 4, s.size) || memcmp(s.data + at, "PE\0", 4))
			return rck_fail(diag, -ENOEXEC, 0x3c,
				"an MZ program without a PE header at offset %llu",
				(unsigned long long)at);
		at += 4;
		image = true;
	}
	if (!rck_range_ok(at, COFF_HEADER, s.size))
		return rck_fail(diag, -EINVAL, at, "COFF header cut short");
	if (!rck_le16(s.data + at) && rck_le16(s.data + at + 2) == 0xffff) {
		if (!rck_range_ok(at, BIGOBJ_HEADER, s.size))
			return rck_fail(diag, -EINVAL, at, "COFF header cut short");
		p->n = rck_le32(s.data + at + 44);
		p->table = at + BIGOBJ_HEADER;
		symbols = rck_le32(s.data + at + 48);
		n_symbols = rck_le32(s.data + at + 52);
		each = 20;
	} else {
		p->n = rck_le16(s.data + at + 2);
		p->table = at + COFF_HEADER + rck_le16(s.data + at + 16);
		symbols = rck_le32(s.data + at + 8);
		n_symbols = rck_le32(s.data + at + 12);
	}
	if (p->table > s.size || p->n > (s.size - p->table) / SECTION_HEADER)
		return rck_fail(diag, -EINVAL, at,
			"COFF claims %llu section headers at offset %llu, outside the "
			"file's %llu bytes",
			(unsigned long long)p->n, (unsigned long long)p->table,
			(unsigned long long)s.size);
	return find_strings(p, image, symbols, n_symbols, each, diag);
}

/* "/175": decimal; "//AAAAAA": base64, six digits, for offsets of eight digits and more.
 */
static bool name_offset(const uint8_t *name, uint64_t *off)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	bool base64 = name[1] == '/';

	*off = 0;
	for (int i = base64 ? 2 : 1; i < 8 && name[i]; i++) {
		const char *d = memchr(digits, name[i], 64);

		if (!d || (!base64 && (name[i] < '0' || name[i] > '9')))
			return false;
		*off = base64 ? *off * 64 + (uint64_t)(d - digits)
			      : *off * 10 + (uint64_t)(name[i] - '0');
	}
	return name[1] != 0;
}

static void read_name(struct rck_pe *p, const uint8_t *name, struct rck_entry *entry)
{
	uint64_t off;

	if (name[0] == '/' && name_offset(name, &off) && off < p->strings.size) {
		entry->id = (const char *)p->strings.data + off;
		entry->id_len = strnlen(entry->id, p->strings.size - off);
		return;
	}
	memcpy(p->name, name, 8);
	p->name[8] = 0;
	entry->id = p->name;
	entry->id_len = strlen(p->name);
}

int rck_pe_next(struct rck_pe *p, struct rck_entry *entry, struct rck_diag *diag)
{
	while (p->i < p->n) {
		uint64_t index = p->i++;
		const uint8_t *h = p->slice.data + p->table + index * SECTION_HEADER;
		uint64_t size = rck_le32(h + 16), at = rck_le32(h + 20);

		if (!size || !at)
			continue;
		*entry = (struct rck_entry){.index = index};
		read_name(p, h, entry);
		if (!rck_range_ok(at, size, p->slice.size))
			return rck_fail(diag, -EINVAL, at,
				"section %llu '%.*s' at offset %llu, size %llu, leaves "
				"the file's %llu bytes",
				(unsigned long long)index,
				(int)(entry->id_len < 64 ? entry->id_len : 64), entry->id,
				(unsigned long long)at, (unsigned long long)size,
				(unsigned long long)p->slice.size);
		entry->slice = rck_subslice(p->slice, at, size);
		return 1;
	}
	return 0;
}
