#include "container/kpack.h"

#include <errno.h>
#include <stdlib.h>

#include "container/msgpack-scan.h"
#include "util/range.h"

/* Scans, then unpacks one msgpack object, which must be a map. Strings point into s. */
static int unpack(struct rck_slice s, msgpack_unpacked *out, struct rck_diag *diag)
{
	size_t off = 0;
	int err = rck_msgpack_scan(s.data, s.size, diag);

	if (err)
		return err;
	if (msgpack_unpack_next(out, (const char *)s.data, s.size, &off) <= 0)
		return rck_fail(diag, -EINVAL, 0, "msgpack that cannot be read");
	if (out->data.type != MSGPACK_OBJECT_MAP)
		return rck_fail(diag, -EINVAL, 0, "msgpack that is no map");
	return 0;
}

static bool text(const msgpack_object *o, const char **s, size_t *len)
{
	if (o->type == MSGPACK_OBJECT_STR) {
		*s = o->via.str.ptr;
		*len = o->via.str.size;
		return true;
	}
	if (o->type == MSGPACK_OBJECT_BIN) {
		*s = o->via.bin.ptr;
		*len = o->via.bin.size;
		return true;
	}
	return false;
}

static const msgpack_object *find(
	const msgpack_object *map, const char *key, msgpack_object_type type)
{
	for (uint32_t i = 0; i < map->via.map.size; i++) {
		const msgpack_object_kv *kv = &map->via.map.ptr[i];
		const char *s;
		size_t len;

		if (text(&kv->key, &s, &len) && len == strlen(key) &&
			!memcmp(s, key, len))
			return kv->val.type == type ? &kv->val : NULL;
	}
	return NULL;
}

static bool number(const msgpack_object *map, const char *key, uint64_t *out)
{
	const msgpack_object *o = find(map, key, MSGPACK_OBJECT_POSITIVE_INTEGER);

	if (o)
		*out = o->via.u64;
	return o;
}

/* Sizes stand in front of the frames they belong to, so ordinals are found by walking. */
static int index_frames(
	struct rck_kpack *k, const msgpack_object *map, struct rck_diag *diag)
{
	uint64_t off, size, at;

	if (!number(map, "zstd_offset", &off) || !number(map, "zstd_size", &size))
		return rck_fail(diag, -EINVAL, RCK_OFFSET_NONE,
			"kpack's table of contents lacks zstd_offset or zstd_size");
	if (!rck_range_ok(off, size, k->slice.size) || size < 4)
		return rck_fail(diag, -EINVAL, off,
			"kpack's kernels at offset %llu, size %llu, leave the file",
			(unsigned long long)off, (unsigned long long)size);
	k->n_frames = rck_le32(k->slice.data + off);
	k->frames_end = off + size;
	if (k->n_frames > (size - 4) / 4 || k->n_frames > RCK_KPACK_KERNELS)
		return rck_fail(diag, -EINVAL, off,
			"kpack claims %llu kernels in %llu bytes",
			(unsigned long long)k->n_frames, (unsigned long long)size);
	k->frames = calloc(k->n_frames ? k->n_frames : 1, sizeof(*k->frames));
	if (!k->frames)
		return rck_fail(diag, -ENOMEM, RCK_OFFSET_NONE, "out of memory");
	at = off + 4;
	for (uint64_t i = 0; i < k->n_frames; i++) {
		uint32_t n;

		if (!rck_range_ok(at, 4, k->frames_end))
			return rck_fail(diag, -EINVAL, at,
				"kpack's kernel %llu is cut short",
				(unsigned long long)i);
		n = rck_le32(k->slice.data + at);
		if (!rck_range_ok(at + 4, n, k->frames_end))
			return rck_fail(diag, -EINVAL, at,
				"kpack's kernel %llu claims %u bytes, %llu are left",
				(unsigned long long)i, n,
				(unsigned long long)(k->frames_end - at - 4));
		k->frames[i] = at;
		at += 4 + n;
	}
	return 0;
}

int rck_kpack_open(struct rck_kpack *k, struct rck_slice s, struct rck_diag *diag)
{
	const msgpack_object *map, *scheme;
	struct rck_slice toc;
	uint64_t at;
	int err;

	*k = (struct rck_kpack){.slice = s};
	msgpack_unpacked_init(&k->toc);
	if (s.size < 16 || memcmp(s.data, "KPAK", 4))
		return rck_fail(diag, -EINVAL, 0, "kpack cut short in its header");
	if (rck_le32(s.data + 4) != 1)
		return rck_fail(diag, -ENOTSUP, 4, "kpack of version %u; 1 is known",
			rck_le32(s.data + 4));
	at = rck_le64(s.data + 8);
	if (at < 16 || at >= s.size)
		return rck_fail(diag, -EINVAL, 8,
			"kpack's table of contents at offset %llu lies outside its %llu "
			"bytes",
			(unsigned long long)at, (unsigned long long)s.size);
	toc = rck_subslice(s, at, s.size - at);
	if (toc.size > RCK_KPACK_TOC)
		return rck_fail(diag, -E2BIG, at,
			"kpack's table of contents has %llu bytes; %u are read",
			(unsigned long long)toc.size, RCK_KPACK_TOC);
	err = unpack(toc, &k->toc, diag);
	if (err) {
		if (diag && diag->offset != RCK_OFFSET_NONE)
			diag->offset += at;
		return err;
	}
	map = &k->toc.data;
	k->binaries = find(map, "toc", MSGPACK_OBJECT_MAP);
	if (!k->binaries)
		return rck_fail(diag, -EINVAL, at, "kpack without a map 'toc'");
	scheme = find(map, "compression_scheme", MSGPACK_OBJECT_STR);
	if (scheme && scheme->via.str.size == 4 &&
		!memcmp(scheme->via.str.ptr, "none", 4)) {
		k->blobs = find(map, "blobs", MSGPACK_OBJECT_ARRAY);
		return k->blobs ? 0
				: rck_fail(diag, -EINVAL, at,
					  "kpack without an array 'blobs'");
	}
	if (scheme && scheme->via.str.size == 15 &&
		!memcmp(scheme->via.str.ptr, "zstd-per-kernel", 15))
		return index_frames(k, map, diag);
	return rck_fail(diag, -ENOTSUP, at,
		"kpack's compression scheme is neither 'none' nor 'zstd-per-kernel'");
}

static int find_code(struct rck_kpack *k, uint64_t ordinal, struct rck_entry *entry,
	struct rck_diag *diag)
{
	uint64_t off = 0, size = 0;

	if (k->blobs) {
		const msgpack_object *blob = ordinal < k->blobs->via.array.size
						     ? &k->blobs->via.array.ptr[ordinal]
						     : NULL;

		if (!blob || blob->type != MSGPACK_OBJECT_MAP ||
			!number(blob, "offset", &off) || !number(blob, "size", &size))
			return rck_fail(diag, -EINVAL, RCK_OFFSET_NONE,
				"kpack has no blob %llu", (unsigned long long)ordinal);
	} else {
		if (ordinal >= k->n_frames)
			return rck_fail(diag, -EINVAL, RCK_OFFSET_NONE,
				"kpack has no kernel %llu", (unsigned long long)ordinal);
		off = k->frames[ordinal] + 4;
		size = rck_le32(k->slice.data + off - 4);
	}
	if (!rck_range_ok(off, size, k->slice.size))
		return rck_fail(diag, -EINVAL, RCK_OFFSET_NONE,
			"kpack's blob %llu at offset %llu, size %llu, leaves the file",
			(unsigned long long)ordinal, (unsigned long long)off,
			(unsigned long long)size);
	entry->slice = rck_subslice(k->slice, off, size);
	k->compressed = !k->blobs;
	return 0;
}

int rck_kpack_next(struct rck_kpack *k, struct rck_entry *entry, struct rck_diag *diag)
{
	while (k->binary < k->binaries->via.map.size) {
		const msgpack_object_kv *b = &k->binaries->via.map.ptr[k->binary];
		const msgpack_object_kv *a;
		uint64_t ordinal;

		if (b->val.type != MSGPACK_OBJECT_MAP || k->arch >= b->val.via.map.size) {
			k->binary++;
			k->arch = 0;
			continue;
		}
		a = &b->val.via.map.ptr[k->arch++];
		*entry = (struct rck_entry){
			.slice = {k->slice.data, 0, k->slice.file_offset},
			.index = k->index++};
		if (!text(&b->key, &entry->id, &entry->id_len) ||
			!text(&a->key, &k->arch_name, &k->arch_len) ||
			a->val.type != MSGPACK_OBJECT_MAP ||
			!number(&a->val, "ordinal", &ordinal) ||
			!number(&a->val, "original_size", &k->original))
			return rck_fail(diag, -EINVAL, RCK_OFFSET_NONE,
				"kpack's entry %llu lacks a name, an ordinal or a size",
				(unsigned long long)entry->index);
		if (find_code(k, ordinal, entry, diag))
			return diag ? diag->code : -EINVAL;
		return 1;
	}
	return 0;
}

void rck_kpack_close(struct rck_kpack *k)
{
	msgpack_unpacked_destroy(&k->toc);
	free(k->frames);
	k->frames = NULL;
}

int rck_kpack_ref_open(struct rck_kpack_ref *r, struct rck_slice s, struct rck_diag *diag)
{
	const msgpack_object *name;
	int err;

	*r = (struct rck_kpack_ref){0};
	msgpack_unpacked_init(&r->map);
	err = unpack(s, &r->map, diag);
	if (err)
		return err;
	name = find(&r->map.data, "kernel_name", MSGPACK_OBJECT_STR);
	r->paths = find(&r->map.data, "kpack_search_paths", MSGPACK_OBJECT_ARRAY);
	if (!name || !r->paths || !r->paths->via.array.size)
		return rck_fail(diag, -EINVAL, 0,
			"kpack reference without kernel_name or kpack_search_paths");
	return text(name, &r->name, &r->name_len) ? 0 : -EINVAL;
}

bool rck_kpack_ref_path(
	const struct rck_kpack_ref *r, uint32_t i, const char **path, size_t *len)
{
	if (i >= r->paths->via.array.size)
		return false;
	if (!text(&r->paths->via.array.ptr[i], path, len))
		*path = NULL;
	return true;
}

bool rck_kpack_ref_is(const struct rck_kpack_ref *r, const char *key, size_t len)
{
	return len >= r->name_len && !memcmp(key, r->name, r->name_len) &&
	       (len == r->name_len || key[r->name_len] == '#');
}

void rck_kpack_ref_close(struct rck_kpack_ref *r)
{
	msgpack_unpacked_destroy(&r->map);
}
