/*
 * A clang offload bundle, plain or compressed. Layout: clang's ClangOffloadBundler
 * documentation (LLVM 22); what HIP asks of it, the host entry and the alignment of 4096,
 * as clang's HIP driver calls the bundler.
 */
#include "compile/compile.h"
#include "container/container.h"
#include "util/strbuf.h"

#include <errno.h>
#include <md5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define ALIGN       4096u
#define HEADER_MAX  4096u /* HIP reads the entry table from the first page alone */
#define ZSTD_LEVEL  3     /* clang's own default for bundles */
#define CCOB_HEADER 24u

static void add_le(struct rck_strbuf *sb, uint64_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		rck_strbuf_addc(sb, (char)(v >> (8 * i)));
}

static int too_large(struct rck_diag *diag, const char *what)
{
	return rck_fail(diag, -EINVAL, RCK_OFFSET_NONE, "%s for an offload bundle", what);
}

static uint64_t align_up(uint64_t v)
{
	return (v + ALIGN - 1) & ~(uint64_t)(ALIGN - 1);
}

static void add_entry(
	struct rck_strbuf *sb, uint64_t offset, uint64_t size, const char *id)
{
	add_le(sb, offset, 8);
	add_le(sb, size, 8);
	add_le(sb, strlen(id), 8);
	rck_strbuf_adds(sb, id);
}

static int make_bundle(const struct rck_fatbin_entry *entries, size_t n,
	struct rck_strbuf *sb, struct rck_diag *diag)
{
	uint64_t offset = ALIGN;

	rck_strbuf_adds(sb, "__CLANG_OFFLOAD_BUNDLE__");
	add_le(sb, n + 1, 8);
	add_entry(sb, ALIGN, 0, "host-x86_64-unknown-linux--");
	for (size_t i = 0; i < n; i++) {
		char id[256];

		if (snprintf(id, sizeof(id), "hipv4-amdgcn-amd-amdhsa--%s",
			    entries[i].target) >= (int)sizeof(id))
			return too_large(diag, "a target id too long");
		add_entry(sb, offset, entries[i].size, id);
		offset = align_up(offset + entries[i].size);
		if (sb->len > HEADER_MAX)
			return too_large(diag, "too many targets");
	}
	for (size_t i = 0; i < n; i++) {
		rck_strbuf_pad(sb, '\0', align_up(sb->len) - sb->len);
		rck_strbuf_add(sb, entries[i].bytes, entries[i].size);
	}
	return 0;
}

/* CCOB version 2: magic, version, method (1: zstd), size of the whole, size of what is
   inside, the first 8 bytes of its MD5. */
static int compress_bundle(struct rck_strbuf *sb, struct rck_diag *diag)
{
	size_t bound = ZSTD_compressBound(sb->len);
	uint8_t md5[MD5_DIGEST_LENGTH];
	struct rck_strbuf out = RCK_STRBUF_INIT;
	char *frame = rck_xmalloc(bound);
	size_t size = ZSTD_compress(frame, bound, sb->buf, sb->len, ZSTD_LEVEL);
	MD5_CTX ctx;

	if (ZSTD_isError(size) || sb->len > UINT32_MAX ||
		size > UINT32_MAX - CCOB_HEADER) {
		free(frame);
		return too_large(diag, "too many bytes");
	}
	MD5Init(&ctx);
	MD5Update(&ctx, (const uint8_t *)sb->buf, sb->len);
	MD5Final(md5, &ctx);
	rck_strbuf_adds(&out, "CCOB");
	add_le(&out, 2, 2);
	add_le(&out, 1, 2);
	add_le(&out, CCOB_HEADER + size, 4);
	add_le(&out, sb->len, 4);
	rck_strbuf_add(&out, md5, 8);
	rck_strbuf_add(&out, frame, size);
	free(frame);
	rck_strbuf_release(sb);
	*sb = out;
	return 0;
}

int rck_fatbin_make(const struct rck_fatbin_entry *entries, size_t n, bool compress,
	uint8_t **out, size_t *size, struct rck_diag *diag)
{
	struct rck_strbuf sb = RCK_STRBUF_INIT;
	int err = make_bundle(entries, n, &sb, diag);

	if (!err && compress)
		err = compress_bundle(&sb, diag);
	if (err) {
		rck_strbuf_release(&sb);
		return err;
	}
	*size = sb.len;
	*out = (uint8_t *)rck_strbuf_detach(&sb);
	return 0;
}
