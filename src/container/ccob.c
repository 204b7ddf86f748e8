#include "container/ccob.h"

#include <errno.h>
#include <md5.h>
#include <zlib.h>
#include <zstd.h>

#include "util/range.h"

/* Where each version keeps what; 0: not there. */
static const struct layout {
	uint8_t header, total, inflated, hash, width;
} layouts[] = {
	[1] = {20, 0, 8, 12, 4},
	[2] = {24, 8, 12, 16, 4},
	[3] = {32, 8, 16, 24, 8},
};
#define LAYOUTS (sizeof(layouts) / sizeof(layouts[0]))

static uint64_t read_uint(const uint8_t *p, unsigned width)
{
	return width == 8 ? rck_le64(p) : rck_le32(p);
}

int rck_ccob_parse(struct rck_slice s, struct rck_ccob *out, struct rck_diag *diag)
{
	const struct layout *l;

	*out = (struct rck_ccob){0};
	if (s.size < 8 || memcmp(s.data, "CCOB", 4))
		return rck_fail(
			diag, -EINVAL, 0, "compressed bundle cut short in its header");
	out->version = rck_le16(s.data + 4);
	if (out->version == 0 || out->version >= LAYOUTS)
		return rck_fail(diag, -ENOTSUP, 4,
			"compressed bundle of version %u; 1 to %zu are known",
			out->version, LAYOUTS - 1);
	out->method = rck_le16(s.data + 6);
	if (out->method > RCK_CCOB_ZSTD)
		return rck_fail(diag, -ENOTSUP, 6,
			"compressed bundle by method %u; 0 (zlib) and 1 (zstd) are known",
			out->method);
	l = &layouts[out->version];
	if (s.size < l->header)
		return rck_fail(
			diag, -EINVAL, 0, "compressed bundle cut short in its header");
	out->header_size = l->header;
	out->inflated = read_uint(s.data + l->inflated, l->width);
	out->hash = rck_le64(s.data + l->hash);
	if (l->total) {
		out->size = read_uint(s.data + l->total, l->width);
		if (out->size < l->header || out->size > s.size)
			return rck_fail(diag, -EINVAL, l->total,
				"compressed bundle claims %llu bytes, %llu are there",
				(unsigned long long)out->size,
				(unsigned long long)s.size);
	}
	out->payload =
		rck_subslice(s, l->header, (out->size ? out->size : s.size) - l->header);
	return 0;
}

/* Takes a zlib stream of at most claimed bytes apart, keeps nothing, and says how long it
 * was. */
static int zlib_extent(
	struct rck_slice payload, uint64_t claimed, uint64_t *size, struct rck_diag *diag)
{
	uint8_t scratch[32768];
	z_stream z = {0};
	uint64_t left = payload.size;
	int err;

	if (inflateInit(&z) != Z_OK)
		return rck_fail(diag, -ENOMEM, RCK_OFFSET_NONE, "out of memory");
	z.next_in = (Bytef *)payload.data;
	do {
		if (!z.avail_in) {
			z.avail_in = left < 1u << 30 ? (uInt)left : 1u << 30;
			left -= z.avail_in;
		}
		z.next_out = scratch;
		z.avail_out = sizeof(scratch);
		err = inflate(&z, Z_NO_FLUSH);
	} while (err == Z_OK && z.total_out <= claimed);
	*size = z.total_in;
	inflateEnd(&z);
	if (err == Z_STREAM_END)
		return 0;
	return rck_fail(diag, -EBADMSG, *size, "compressed bundle: zlib stream damaged");
}

static int zstd_extent(struct rck_slice payload, uint64_t *size, struct rck_diag *diag)
{
	uint64_t at = 0;

	do {
		uint32_t magic;
		size_t n = ZSTD_findFrameCompressedSize(
			payload.data + at, payload.size - at);

		if (ZSTD_isError(n))
			return rck_fail(diag, -EBADMSG, at, "compressed bundle: zstd: %s",
				ZSTD_getErrorName(n));
		at += n;
		if (payload.size - at < 4)
			break;
		magic = rck_le32(payload.data + at);
		if (magic != ZSTD_MAGICNUMBER &&
			(magic & ZSTD_MAGIC_SKIPPABLE_MASK) != ZSTD_MAGIC_SKIPPABLE_START)
			break;
	} while (1);
	*size = at;
	return 0;
}

int rck_ccob_extent(const struct rck_ccob *c, uint64_t *size, struct rck_diag *diag)
{
	int err = 0;

	*size = c->size;
	if (c->size)
		return 0;
	if (c->method == RCK_CCOB_ZSTD)
		err = zstd_extent(c->payload, size, diag);
	else
		err = zlib_extent(c->payload, c->inflated, size, diag);
	*size += c->header_size;
	if (err && diag && diag->offset != RCK_OFFSET_NONE)
		diag->offset += c->header_size;
	return err;
}

void rck_inflater_release(struct rck_inflater *f)
{
	ZSTD_freeDCtx(f->zstd);
	f->zstd = NULL;
}

/*
 * The most that so many compressed bytes can hold: deflate codes 258 bytes in two bits at
 * best (RFC 1951), a zstd block of 4 bytes repeats one byte for 128 KiB (RFC 8878).
 */
static uint64_t most_inflated(enum rck_ccob_method method, uint64_t size)
{
	uint64_t factor = method == RCK_CCOB_ZLIB ? 1032 : (128u << 10) / 4;

	return size > (UINT64_MAX >> 16) ? UINT64_MAX : (size + 8) * factor;
}

static int inflate_zlib(const char *what, struct rck_slice payload, uint8_t *data,
	uint64_t size, struct rck_diag *diag)
{
	uint64_t in_left = payload.size, out_left = size;
	z_stream z = {0};
	int err;

	if (inflateInit(&z) != Z_OK)
		return rck_fail(diag, -ENOMEM, RCK_OFFSET_NONE, "out of memory");
	z.next_in = (Bytef *)payload.data;
	z.next_out = data;
	do {
		if (!z.avail_in) {
			z.avail_in = in_left < 1u << 30 ? (uInt)in_left : 1u << 30;
			in_left -= z.avail_in;
		}
		if (!z.avail_out) {
			z.avail_out = out_left < 1u << 30 ? (uInt)out_left : 1u << 30;
			out_left -= z.avail_out;
		}
		err = inflate(&z, Z_NO_FLUSH);
	} while (err == Z_OK);
	if (err == Z_STREAM_END && z.total_out == size)
		err = 0;
	else if (err == Z_STREAM_END || err == Z_BUF_ERROR)
		err = rck_fail(diag, -EINVAL, 0,
			"%s claims to inflate to %llu bytes, which its zlib stream does "
			"not",
			what, (unsigned long long)size);
	else
		err = rck_fail(diag, -EBADMSG, z.total_in, "%s: zlib: %s", what,
			z.msg ? z.msg : "damaged");
	inflateEnd(&z);
	return err;
}

static int inflate_zstd(struct rck_inflater *f, const char *what,
	struct rck_slice payload, uint8_t *data, uint64_t size, struct rck_diag *diag)
{
	size_t n;

	if (!f->zstd)
		f->zstd = ZSTD_createDCtx();
	if (!f->zstd)
		return rck_fail(diag, -ENOMEM, RCK_OFFSET_NONE, "out of memory");
	n = ZSTD_decompressDCtx(f->zstd, data, size, payload.data, payload.size);
	if (ZSTD_isError(n))
		return rck_fail(
			diag, -EBADMSG, 0, "%s: zstd: %s", what, ZSTD_getErrorName(n));
	if (n != size)
		return rck_fail(diag, -EINVAL, 0,
			"%s claims to inflate to %llu bytes, but makes %zu", what,
			(unsigned long long)size, n);
	return 0;
}

int rck_inflate(struct rck_inflater *f, const char *what, enum rck_ccob_method method,
	struct rck_slice prefix, struct rck_slice payload, uint64_t inflated,
	uint64_t limit, struct rck_bytes **out, struct rck_diag *diag)
{
	uint8_t *data;
	int err;

	*out = NULL;
	if (inflated > most_inflated(method, payload.size))
		return rck_fail(diag, -EINVAL, 0,
			"%s claims to inflate to %llu bytes, which %llu bytes cannot",
			what, (unsigned long long)inflated,
			(unsigned long long)payload.size);
	if (inflated > limit || prefix.size > limit - inflated)
		return rck_fail(diag, -E2BIG, 0,
			"%s inflates to %llu bytes, over the limit of %llu", what,
			(unsigned long long)inflated, (unsigned long long)limit);
	err = rck_bytes_alloc(prefix.size + inflated, out, &data);
	if (err)
		return rck_fail(diag, err, 0, "no memory for %llu inflated bytes",
			(unsigned long long)inflated);
	if (prefix.size)
		memcpy(data, prefix.data, prefix.size);
	data += prefix.size;
	err = method == RCK_CCOB_ZSTD
		      ? inflate_zstd(f, what, payload, data, inflated, diag)
		      : inflate_zlib(what, payload, data, inflated, diag);
	if (err) {
		rck_bytes_unref(*out);
		*out = NULL;
	}
	return err;
}

int rck_ccob_inflate(struct rck_inflater *f, const struct rck_ccob *c, uint64_t limit,
	bool verify, struct rck_bytes **out, struct rck_diag *diag)
{
	uint8_t digest[MD5_DIGEST_LENGTH];
	struct rck_slice s;
	MD5_CTX md5;
	int err = rck_inflate(f, "compressed bundle", c->method, (struct rck_slice){0},
		c->payload, c->inflated, limit, out, diag);

	if (err) {
		if (diag && diag->offset != RCK_OFFSET_NONE)
			diag->offset += c->header_size;
		return err;
	}
	if (!verify)
		return 0;
	s = rck_bytes_slice(*out);
	MD5Init(&md5);
	MD5Update(&md5, s.data, s.size);
	MD5Final(digest, &md5);
	if (rck_le64(digest) == c->hash)
		return 0;
	rck_bytes_unref(*out);
	*out = NULL;
	return rck_fail(diag, -EBADMSG, 0,
		"compressed bundle's hash is %016llx, its bytes have %016llx",
		(unsigned long long)c->hash, (unsigned long long)rck_le64(digest));
}
