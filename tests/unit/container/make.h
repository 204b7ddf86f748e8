/* Bytes built in the test, and a walk written down as text. */
#pragma once

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "container/walk.h"

static inline void put(struct rck_strbuf *sb, const void *p, size_t n)
{
	rck_strbuf_add(sb, p, n);
}

static inline void put_uint(struct rck_strbuf *sb, uint64_t v, unsigned width)
{
	for (unsigned i = 0; i < width; i++)
		rck_strbuf_addc(sb, i < 8 ? (char)(v >> 8 * i) : 0);
}

static inline void put_at(struct rck_strbuf *sb, size_t at, uint64_t v, unsigned width)
{
	for (unsigned i = 0; i < width; i++)
		sb->buf[at + i] = (char)(v >> 8 * i);
}

static inline void put_align(struct rck_strbuf *sb, size_t align)
{
	while (sb->len % align)
		rck_strbuf_addc(sb, 0);
}

static inline struct rck_slice slice_of(const struct rck_strbuf *sb)
{
	return (struct rck_slice){(const uint8_t *)sb->buf, sb->len, 0};
}

/* An ELF header of EM_AMDGPU and size bytes: the walk looks no further. */
static inline void put_code_object(struct rck_strbuf *sb, size_t size)
{
	size_t at = sb->len;

	put(sb,
		"\x7f"
		"ELF\2\1\1\x40\4",
		9);
	while (sb->len < at + 16)
		rck_strbuf_addc(sb, 0);
	put_uint(sb, 3, 2);
	put_uint(sb, 224, 2);
	while (sb->len < at + size)
		rck_strbuf_addc(sb, (char)(sb->len * 7 + 1));
}

struct bundle_entry {
	const char *id;
	size_t size; /* of a code object */
};

/* A bundle of code objects, aligned to align from its own start. */
static inline void put_bundle(
	struct rck_strbuf *sb, const struct bundle_entry *e, size_t n, size_t align)
{
	size_t start = sb->len, table;

	put(sb, "__CLANG_OFFLOAD_BUNDLE__", 24);
	put_uint(sb, n, 8);
	table = sb->len;
	for (size_t i = 0; i < n; i++) {
		put_uint(sb, 0, 8);
		put_uint(sb, e[i].size, 8);
		put_uint(sb, strlen(e[i].id), 8);
		put(sb, e[i].id, strlen(e[i].id));
	}
	for (size_t i = 0; i < n; i++) {
		while ((sb->len - start) % align)
			rck_strbuf_addc(sb, 0);
		put_at(sb, table, sb->len - start, 8);
		table += 24 + strlen(e[i].id);
		if (e[i].size)
			put_code_object(sb, e[i].size);
	}
}

struct elf_section {
	const char *name;
	uint32_t type; /* SHT_* */
	const struct rck_strbuf *data;
};

/* A 64-bit x86-64 relocatable of these sections, each 64-aligned. */
static inline void put_host_elf(
	struct rck_strbuf *sb, const struct elf_section *sections, size_t n)
{
	struct rck_strbuf names = RCK_STRBUF_INIT, headers = RCK_STRBUF_INIT;
	size_t start = sb->len;

	put(sb,
		"\x7f"
		"ELF\2\1\1\0",
		8);
	put_uint(sb, 0, 8);
	put_uint(sb, 1, 2);  /* ET_REL */
	put_uint(sb, 62, 2); /* EM_X86_64 */
	put_uint(sb, 1, 4);
	put_uint(sb, 0, 8 * 3 + 4);
	put_uint(sb, 64, 2);
	put_uint(sb, 0, 4);
	put_uint(sb, 64, 2);
	put_uint(sb, n + 2, 2);
	put_uint(sb, n + 1, 2);
	put_uint(&headers, 0, 64);
	rck_strbuf_addc(&names, 0);
	for (size_t i = 0; i <= n; i++) {
		const char *name = i < n ? sections[i].name : ".shstrtab";
		size_t at;

		put_align(sb, 64);
		at = sb->len - start;
		put_uint(&headers, names.len, 4);
		put(&names, name, strlen(name) + 1);
		if (i < n)
			put(sb, sections[i].data->buf, sections[i].data->len);
		else
			put(sb, names.buf, names.len);
		put_uint(&headers, i < n ? sections[i].type : 3, 4);
		put_uint(&headers, 0, 16);
		put_uint(&headers, at, 8);
		put_uint(&headers, sb->len - start - at, 8);
		put_uint(&headers, 0, 16);
		put_uint(&headers, 0, 8);
	}
	put_align(sb, 8);
	put_at(sb, start + 40, sb->len - start, 8);
	put(sb, headers.buf, headers.len);
	rck_strbuf_release(&names);
	rck_strbuf_release(&headers);
}

static inline void describe(
	struct rck_strbuf *out, const struct rck_item *item, bool with_offsets)
{
	static const char *const kinds[] = {
		"code", "compressed", "incomplete", "error", "note"};

	rck_strbuf_addf(
		out, "%s '%s' %s", kinds[item->kind], item->where, item->container);
	if (item->target)
		rck_strbuf_addf(out, " target=%s", item->target);
	if (item->data)
		rck_strbuf_addf(out, " size=%llu", (unsigned long long)item->size);
	if (with_offsets && item->data)
		rck_strbuf_addf(out, " at=%lld", (long long)item->offset);
	if (item->kind > RCK_ITEM_COMPRESSED) {
		rck_strbuf_addf(out, " (%d) %s", item->diag.code, item->diag.msg);
		if (with_offsets)
			rck_strbuf_addf(out, " at=%lld", (long long)item->diag.offset);
	}
	rck_strbuf_addc(out, '\n');
}

/* Walks a file to its end, one line an item. */
static inline void walk_file(struct rck_file *file, struct rck_strbuf *out)
{
	struct rck_item item;

	while (rck_file_next(file, &item, NULL) == 1)
		describe(out, &item, true);
}

static inline char *walk_mem(const struct rck_strbuf *sb, const struct rck_options *opt)
{
	struct rck_strbuf out = RCK_STRBUF_INIT;
	struct rck_file *file;
	/* exactly as long as the bytes, so that a sanitizer sees a read behind them */
	void *data = calloc(1, sb->len ? sb->len : 1);

	memcpy(data, sb->buf, sb->len);
	assert_int_equal(rck_file_open_mem(data, sb->len, NULL, opt, &file, NULL), 0);
	walk_file(file, &out);
	rck_file_close(file);
	free(data);
	return rck_strbuf_detach(&out);
}

/* Holds a walk against lines that must be the same. */
static inline void expect_walk(
	const struct rck_strbuf *sb, const struct rck_options *opt, const char *expected)
{
	char *got = walk_mem(sb, opt);

	assert_string_equal(got, expected);
	free(got);
}
