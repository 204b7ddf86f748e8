#include "container/bundle.h"

#include <errno.h>

#include "util/range.h"

#define TABLE_AT   (RCK_BUNDLE_MAGIC_SIZE + 8)
#define ENTRY_HEAD 24 /* offset, size, length of the id */
/* An id longer than this is damage: triples and target ids have some 60 bytes. */
#define ID_MAX 4096

struct head {
	uint64_t off, size, id_len;
	uint64_t end; /* of this head, id included */
};

static bool read_head(struct rck_slice s, uint64_t at, struct head *h)
{
	if (!rck_range_ok(at, ENTRY_HEAD, s.size))
		return false;
	h->off = rck_le64(s.data + at);
	h->size = rck_le64(s.data + at + 8);
	h->id_len = rck_le64(s.data + at + 16);
	if (!h->id_len || h->id_len > ID_MAX ||
		!rck_range_ok(at + ENTRY_HEAD, h->id_len, s.size))
		return false;
	h->end = at + ENTRY_HEAD + h->id_len;
	return true;
}

int rck_bundle_open(struct rck_bundle *b, struct rck_slice s, struct rck_diag *diag)
{
	struct head h;

	*b = (struct rck_bundle){.slice = s, .at = TABLE_AT, .header_end = TABLE_AT};
	if (s.size < TABLE_AT || memcmp(s.data, RCK_BUNDLE_MAGIC, RCK_BUNDLE_MAGIC_SIZE))
		return rck_fail(diag, -EINVAL, 0, "bundle cut short in its header");
	b->claimed = rck_le64(s.data + RCK_BUNDLE_MAGIC_SIZE);
	if (!b->claimed)
		return rck_fail(
			diag, -EINVAL, RCK_BUNDLE_MAGIC_SIZE, "bundle of no entries");
	while (b->n < b->claimed && b->n < RCK_BUNDLE_ENTRIES &&
		read_head(s, b->header_end, &h)) {
		b->header_end = h.end;
		b->n++;
	}
	return 0;
}

/* The first earlier entry that shares bytes with [off, off + size), or -1. Entries in
 * rising order, the only order that is written, never get here. */
static int64_t overlapped(const struct rck_bundle *b, uint64_t off, uint64_t size)
{
	uint64_t at = TABLE_AT;
	struct head h;

	for (uint64_t i = 0; i + 1 < b->i && read_head(b->slice, at, &h); i++) {
		if (h.size && rck_range_ok(h.off, h.size, b->slice.size) &&
			h.off < off + size && off < h.off + h.size)
			return (int64_t)i;
		at = h.end;
	}
	return -1;
}

int rck_bundle_next(struct rck_bundle *b, struct rck_entry *entry, struct rck_diag *diag)
{
	uint64_t at = b->at, index = b->i;
	int64_t other;
	struct head h;

	if (b->i == b->n || !read_head(b->slice, at, &h)) {
		if (b->told || b->n == b->claimed)
			return 0;
		b->told = true;
		if (b->n == RCK_BUNDLE_ENTRIES)
			return rck_fail(diag, -E2BIG, at,
				"bundle claims %llu entries; only the first %d are read",
				(unsigned long long)b->claimed, RCK_BUNDLE_ENTRIES);
		return rck_fail(diag, -EINVAL, at,
			"bundle claims %llu entries, but its table is cut short or "
			"damaged at entry %llu",
			(unsigned long long)b->claimed, (unsigned long long)b->n);
	}
	b->at = h.end;
	b->i++;

	entry->index = index;
	entry->id = (const char *)b->slice.data + at + ENTRY_HEAD;
	entry->id_len = h.id_len;
	entry->slice = rck_subslice(b->slice, 0, 0);
	if (!h.size)
		return 1;
	if (!rck_range_ok(h.off, h.size, b->slice.size))
		return rck_fail(diag, -EINVAL, at,
			"bundle entry %llu at offset %llu, size %llu, leaves the "
			"bundle's "
			"%llu bytes",
			(unsigned long long)index, (unsigned long long)h.off,
			(unsigned long long)h.size, (unsigned long long)b->slice.size);
	if (h.off < b->header_end)
		return rck_fail(diag, -EINVAL, at,
			"bundle entry %llu points at the bundle's own header",
			(unsigned long long)index);
	other = overlapped(b, h.off, h.size);
	if (other >= 0)
		return rck_fail(diag, -EINVAL, at,
			"bundle entry %llu overlaps entry %lld",
			(unsigned long long)index, (long long)other);
	entry->slice = rck_subslice(b->slice, h.off, h.size);
	return 1;
}

bool rck_bundle_extent(struct rck_slice s, uint64_t *end)
{
	uint64_t at = TABLE_AT;
	struct rck_bundle b;
	struct head h;
	bool sound;

	*end = s.size < TABLE_AT ? s.size : TABLE_AT;
	if (rck_bundle_open(&b, s, NULL))
		return false;
	*end = b.header_end;
	sound = b.n == b.claimed;
	for (uint64_t i = 0; i < b.n && read_head(s, at, &h); i++) {
		if (!rck_range_ok(h.off, h.size, s.size))
			sound = false;
		else if (h.size && h.off + h.size > *end)
			*end = h.off + h.size;
		at = h.end;
	}
	return sound;
}

static bool starts(const char *s, size_t len, const char *with)
{
	size_t n = strlen(with);

	return len >= n && !memcmp(s, with, n);
}

bool rck_bundle_id_parse(const char *id, size_t len, struct rck_bundle_id *out)
{
	const char *end = id + len, *p, *field;
	int dashes = 0;

	*out = (struct rck_bundle_id){.kind = id};
	p = memchr(id, '-', len);
	if (!p || p == id)
		return false;
	out->kind_len = (size_t)(p - id);
	out->triple = field = p + 1;
	/* arch-vendor-os-: what follows is the environment, or already the target id */
	for (p = field; p < end && dashes < 3; p++)
		if (*p == '-')
			dashes++;
	if (dashes < 2 || p == out->triple)
		return false;
	if (dashes < 3) { /* arch-vendor-os, nothing behind it */
		out->triple_len = (size_t)(end - out->triple);
		out->target = end;
		return true;
	}
	if (!starts(p, (size_t)(end - p), "gfx") &&
		!starts(p, (size_t)(end - p), "amdgcnspirv")) {
		const char *dash = memchr(p, '-', (size_t)(end - p));

		out->triple_len = (size_t)((dash ? dash : end) - out->triple);
		out->target = dash ? dash + 1 : end;
	} else {
		out->triple_len = (size_t)(p - 1 - out->triple);
		out->target = p;
	}
	out->target_len = (size_t)(end - out->target);
	return true;
}
