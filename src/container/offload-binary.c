#include "container/offload-binary.h"

#include <errno.h>

#include "util/range.h"

#define HEADER        32
#define HEADER_V3     40
#define ENTRY         40
#define OIF_METADATA  1u
#define STRINGS_READ  64 /* of an entry; a writer puts "triple" and "arch" first */
#define ZSTD_MAGIC_LE 0xfd2fb528u

static int open_header(
	struct rck_offload *o, struct rck_slice s, bool inflated, struct rck_diag *diag)
{
	*o = (struct rck_offload){.slice = s, .header_size = HEADER};
	if (s.size < HEADER || memcmp(s.data, "\x10\xff\x10\xad", 4))
		return rck_fail(
			diag, -EINVAL, 0, "OffloadBinary cut short in its header");
	o->version = rck_le32(s.data + 4);
	if (o->version < 1 || o->version > 3)
		return rck_fail(diag, -ENOTSUP, 4,
			"OffloadBinary of version %u; 1 to 3 are known", o->version);
	o->size = inflated ? s.size : rck_le64(s.data + 8);
	o->entries_at = rck_le64(s.data + 16);
	o->n = o->version == 1 ? 1 : rck_le64(s.data + 24);
	if (o->size < HEADER || o->size > s.size)
		return rck_fail(diag, -EINVAL, 8,
			"OffloadBinary claims %llu bytes, %llu are there",
			(unsigned long long)o->size, (unsigned long long)s.size);
	o->slice = rck_subslice(s, 0, o->size);
	if (o->version == 3) {
		if (o->size < HEADER_V3)
			return rck_fail(diag, -EINVAL, 0,
				"OffloadBinary cut short in its header");
		o->header_size = HEADER_V3;
		o->inflated = inflated ? 0 : rck_le64(s.data + 32);
	}
	o->last_end = o->header_size;
	if (o->entries_at < o->header_size || o->entries_at > o->size)
		return rck_fail(diag, -EINVAL, 16,
			"OffloadBinary's entries at offset %llu lie outside its %llu "
			"bytes",
			(unsigned long long)o->entries_at, (unsigned long long)o->size);
	if (!o->inflated && o->n > (o->size - o->entries_at) / ENTRY)
		return rck_fail(diag, -EINVAL, 24,
			"OffloadBinary claims %llu entries, its %llu bytes cannot hold "
			"them",
			(unsigned long long)o->n, (unsigned long long)o->size);
	return 0;
}

int rck_offload_open(struct rck_offload *o, struct rck_slice s, struct rck_diag *diag)
{
	return open_header(o, s, false, diag);
}

int rck_offload_open_inflated(
	struct rck_offload *o, struct rck_slice s, struct rck_diag *diag)
{
	return open_header(o, s, true, diag);
}

int rck_offload_inflate(const struct rck_offload *o, struct rck_inflater *f,
	uint64_t limit, struct rck_bytes **out, struct rck_diag *diag)
{
	struct rck_slice head = rck_subslice(o->slice, 0, o->entries_at);
	struct rck_slice body =
		rck_subslice(o->slice, o->entries_at, o->size - o->entries_at);
	bool zstd = body.size >= 4 && rck_le32(body.data) == ZSTD_MAGIC_LE;

	if (o->inflated < o->entries_at)
		return rck_fail(diag, -EINVAL, 32,
			"OffloadBinary claims to inflate to %llu bytes, less than its "
			"header",
			(unsigned long long)o->inflated);
	return rck_inflate(f, "OffloadBinary", zstd ? RCK_CCOB_ZSTD : RCK_CCOB_ZLIB, head,
		body, o->inflated - o->entries_at, limit, out, diag);
}

/* The string at off: up to its NUL in version 1, of a stated size later. */
static bool read_string(const struct rck_offload *o, uint64_t off, const uint8_t *size,
	struct rck_slice *out)
{
	uint64_t n;

	if (off > o->size)
		return false;
	n = size ? rck_le64(size)
		 : strnlen((const char *)o->slice.data + off, o->size - off);
	if (!rck_range_ok(off, n, o->size))
		return false;
	*out = rck_subslice(o->slice, off, n);
	return true;
}

static bool is(struct rck_slice s, const char *text)
{
	return s.size == strlen(text) && !memcmp(s.data, text, s.size);
}

static int read_strings(struct rck_offload *o, uint64_t at, uint64_t n, uint64_t entry,
	struct rck_diag *diag)
{
	unsigned width = o->version == 1 ? 16 : 24;

	o->triple = o->arch = rck_subslice(o->slice, 0, 0);
	if (at > o->size || n > (o->size - at) / width)
		return rck_fail(diag, -EINVAL, entry,
			"OffloadBinary entry %llu: its strings lie outside the record",
			(unsigned long long)o->i - 1);
	for (uint64_t i = 0; i < n && i < STRINGS_READ; i++) {
		const uint8_t *p = o->slice.data + at + i * width;
		struct rck_slice key, value;

		if (!read_string(o, rck_le64(p), NULL, &key) ||
			!read_string(
				o, rck_le64(p + 8), width == 24 ? p + 16 : NULL, &value))
			return rck_fail(diag, -EINVAL, at + i * width,
				"OffloadBinary entry %llu: string %llu lies outside the "
				"record",
				(unsigned long long)o->i - 1, (unsigned long long)i);
		if (is(key, "triple"))
			o->triple = value;
		else if (is(key, "arch"))
			o->arch = value;
	}
	return 0;
}

int rck_offload_next(
	struct rck_offload *o, struct rck_entry *entry, struct rck_diag *diag)
{
	uint64_t at = o->entries_at + o->i * ENTRY, off, size;
	const uint8_t *p = o->slice.data + at;
	int err;

	if (o->i == o->n)
		return 0;
	*entry = (struct rck_entry){.index = o->i++};
	o->image_kind = rck_le16(p);
	o->offload_kind = rck_le16(p + 2);
	o->metadata_only = o->version > 1 && (rck_le32(p + 4) & OIF_METADATA);
	off = rck_le64(p + 24);
	size = rck_le64(p + 32);
	err = read_strings(o, rck_le64(p + 8), rck_le64(p + 16), at, diag);
	if (err)
		return err;
	entry->id = (const char *)o->arch.data;
	entry->id_len = o->arch.size;
	entry->slice = rck_subslice(o->slice, 0, 0);
	if (o->metadata_only || !size)
		return 1;
	if (!rck_range_ok(off, size, o->size))
		return rck_fail(diag, -EINVAL, at,
			"OffloadBinary entry %llu at offset %llu, size %llu, leaves the "
			"record's %llu bytes",
			(unsigned long long)entry->index, (unsigned long long)off,
			(unsigned long long)size, (unsigned long long)o->size);
	if (off < o->last_end)
		return rck_fail(diag, -EINVAL, at,
			"OffloadBinary entry %llu overlaps what stands before it",
			(unsigned long long)entry->index);
	o->last_end = off + size;
	entry->slice = rck_subslice(o->slice, off, size);
	return 1;
}
