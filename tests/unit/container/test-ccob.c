#include "make.h"

#include <md5.h>
#include <zlib.h>
#include <zstd.h>

static const struct bundle_entry one[] = {{"hip-amdgcn-amd-amdhsa--gfx942", 300}};
static const struct bundle_entry other[] = {{"hip-amdgcn-amd-amdhsa--gfx1100", 200}};

static void put_compressed(
	struct rck_strbuf *sb, const struct rck_strbuf *in, enum rck_ccob_method method)
{
	if (method == RCK_CCOB_ZSTD) {
		size_t room = ZSTD_compressBound(in->len);

		rck_strbuf_grow(sb, room);
		sb->len += ZSTD_compress(sb->buf + sb->len, room, in->buf, in->len, 3);
	} else {
		uLongf room = compressBound(in->len);

		rck_strbuf_grow(sb, room);
		assert_int_equal(compress((Bytef *)sb->buf + sb->len, &room,
					 (const Bytef *)in->buf, in->len),
			0);
		sb->len += room;
	}
}

/* A record; prefix stands in the payload in front of the compressed bytes. */
static void put_ccob(struct rck_strbuf *sb, unsigned version, enum rck_ccob_method method,
	const struct rck_strbuf *in, const struct rck_strbuf *prefix)
{
	size_t start = sb->len, width = version == 3 ? 8 : 4, size_at;
	uint8_t digest[MD5_DIGEST_LENGTH];
	MD5_CTX md5;

	MD5Init(&md5);
	MD5Update(&md5, (const uint8_t *)in->buf, in->len);
	MD5Final(digest, &md5);
	put(sb, "CCOB", 4);
	put_uint(sb, version, 2);
	put_uint(sb, method, 2);
	size_at = sb->len;
	if (version > 1)
		put_uint(sb, 0, width);
	put_uint(sb, in->len, width);
	put(sb, digest, 8);
	if (prefix)
		put(sb, prefix->buf, prefix->len);
	put_compressed(sb, in, method);
	if (version > 1)
		put_at(sb, size_at, sb->len - start, width);
}

#define GFX942                                                                           \
	"code 'hip-amdgcn-amd-amdhsa--gfx942' bundle target=gfx942 size=300 at=-1\n"
#define GFX1100                                                                          \
	"code '[1]/hip-amdgcn-amd-amdhsa--gfx1100' bundle target=gfx1100 size=200 "      \
	"at=-1\n"

static void test_versions(void **state)
{
	struct rck_options verify = {.size = sizeof(verify), .verify = true};
	_cleanup_strbuf_ struct rck_strbuf a = RCK_STRBUF_INIT, b = RCK_STRBUF_INIT;

	put_bundle(&a, one, 1, 8);
	put_bundle(&b, other, 1, 8);
	for (unsigned version = 1; version <= 3; version++) {
		for (unsigned method = 0; method <= 1; method++) {
			_cleanup_strbuf_ struct rck_strbuf sb = RCK_STRBUF_INIT;

			/* padding behind each, and another behind the padding: the end
			 * of version 1 is where its decoder stops */
			put_ccob(&sb, version, method, &a, NULL);
			put_align(&sb, 4096);
			put_ccob(&sb, version, method, &b, NULL);
			put_align(&sb, 4096);
			expect_walk(&sb, NULL, GFX942 GFX1100);
			expect_walk(&sb, &verify, GFX942 GFX1100);
		}
	}
}

/* "CCOB" inside the payload is payload: a zstd skippable frame that holds a whole record.
 */
static void test_magic_in_payload(void **state)
{
	_cleanup_strbuf_ struct rck_strbuf a = RCK_STRBUF_INIT, b = RCK_STRBUF_INIT;
	_cleanup_strbuf_ struct rck_strbuf skippable = RCK_STRBUF_INIT;
	_cleanup_strbuf_ struct rck_strbuf inner = RCK_STRBUF_INIT;

	put_bundle(&a, one, 1, 8);
	put_bundle(&b, other, 1, 8);
	put_ccob(&inner, 3, RCK_CCOB_ZSTD, &b, NULL);
	put_uint(&skippable, ZSTD_MAGIC_SKIPPABLE_START, 4);
	put_uint(&skippable, inner.len + 12, 4);
	put_uint(&skippable, 0, 12);
	put(&skippable, inner.buf, inner.len);
	for (unsigned version = 1; version <= 3; version++) {
		_cleanup_strbuf_ struct rck_strbuf sb = RCK_STRBUF_INIT;

		put_ccob(&sb, version, RCK_CCOB_ZSTD, &a, &skippable);
		expect_walk(&sb, NULL, GFX942);
	}
}

static void test_keep_compressed(void **state)
{
	struct rck_options keep = {.size = sizeof(keep), .keep_compressed = true};
	_cleanup_strbuf_ struct rck_strbuf a = RCK_STRBUF_INIT, sb = RCK_STRBUF_INIT;
	_cleanup_strbuf_ struct rck_strbuf out = RCK_STRBUF_INIT;
	struct rck_file *file, *inner;
	struct rck_item item, *kept;
	size_t second;

	put_bundle(&a, one, 1, 8);
	put_ccob(&sb, 3, RCK_CCOB_ZSTD, &a, NULL);
	put_align(&sb, 4096);
	second = sb.len;
	put_ccob(&sb, 1, RCK_CCOB_ZLIB, &a, NULL);
	put_align(&sb, 4096);
	assert_int_equal(rck_file_open_mem(sb.buf, sb.len, NULL, &keep, &file, NULL), 0);
	assert_int_equal(rck_file_next(file, &item, NULL), 1);
	assert_int_equal(item.kind, RCK_ITEM_COMPRESSED);
	assert_int_equal(item.offset, 0);
	assert_int_equal(rck_file_next(file, &item, NULL), 1);
	assert_int_equal(item.kind, RCK_ITEM_COMPRESSED);
	assert_int_equal(item.offset, second);
	assert_string_equal(item.where, "[1]");
	kept = rck_item_keep(&item);
	assert_int_equal(rck_file_next(file, &item, NULL), 0);

	assert_int_equal(rck_file_open_item(file, kept, &inner, NULL), 0);
	walk_file(inner, &out);
	assert_string_equal(out.buf, "code '[1]/hip-amdgcn-amd-amdhsa--gfx942' bundle "
				     "target=gfx942 size=300 at=-1\n");
	rck_file_close(inner);
	rck_item_drop(kept);
	rck_file_close(file);
}

/* Walks and keeps only what the errors say. */
static void expect_error(
	const struct rck_strbuf *sb, const struct rck_options *opt, const char *expected)
{
	_cleanup_strbuf_ struct rck_strbuf out = RCK_STRBUF_INIT;
	struct rck_file *file;
	struct rck_item item;

	assert_int_equal(rck_file_open_mem(sb->buf, sb->len, NULL, opt, &file, NULL), 0);
	while (rck_file_next(file, &item, NULL))
		if (item.kind == RCK_ITEM_ERROR)
			rck_strbuf_addf(&out, "(%d) %s at=%lld\n", item.diag.code,
				item.diag.msg, (long long)item.diag.offset);
	rck_file_close(file);
	assert_string_equal(out.buf, expected);
}

static void test_limits(void **state)
{
	struct rck_options one_each = {.size = sizeof(one_each), .max_inflated = 200};
	struct rck_options together = {.size = sizeof(together), .max_total = 500};
	_cleanup_strbuf_ struct rck_strbuf a = RCK_STRBUF_INIT, sb = RCK_STRBUF_INIT;
	size_t second;

	put_bundle(&a, one, 1, 8);
	assert_int_equal(a.len, 388);
	put_ccob(&sb, 3, RCK_CCOB_ZSTD, &a, NULL);
	expect_error(&sb, &one_each,
		"(-7) compressed bundle inflates to 388 bytes, over the limit of 200 "
		"at=32\n");
	put_align(&sb, 4096);
	second = sb.len;
	put_ccob(&sb, 3, RCK_CCOB_ZSTD, &a, NULL);
	assert_int_equal(second, 4096);
	expect_error(&sb, &together,
		"(-7) compressed bundle inflates to 388 bytes, over the limit of 112 "
		"at=4128\n");
}

/* A claim that the payload cannot keep is refused before memory is asked for. */
static void test_bombs(void **state)
{
	_cleanup_strbuf_ struct rck_strbuf a = RCK_STRBUF_INIT;

	put_bundle(&a, one, 1, 8);
	for (unsigned method = 0; method <= 1; method++) {
		_cleanup_strbuf_ struct rck_strbuf sb = RCK_STRBUF_INIT;
		struct rck_file *file;
		struct rck_item item;

		put_ccob(&sb, 3, method, &a, NULL);
		put_at(&sb, 16, 1ull << 62, 8);
		assert_int_equal(
			rck_file_open_mem(sb.buf, sb.len, NULL, NULL, &file, NULL), 0);
		assert_int_equal(rck_file_next(file, &item, NULL), 1);
		assert_int_equal(item.kind, RCK_ITEM_ERROR);
		assert_int_equal(item.diag.code, -EINVAL);
		assert_non_null(strstr(item.diag.msg,
			"claims to inflate to 4611686018427387904 bytes, which "));
		rck_file_close(file);
		/* a little too much, and a little too little */
		put_at(&sb, 16, a.len + 1, 8);
		expect_error(&sb, NULL,
			method ? "(-22) compressed bundle claims to inflate to 389 "
				 "bytes, but "
				 "makes 388 at=32\n"
			       : "(-22) compressed bundle claims to inflate to 389 "
				 "bytes, which "
				 "its zlib stream does not at=32\n");
		put_at(&sb, 16, a.len - 1, 8);
		expect_error(&sb, NULL,
			method ? "(-74) compressed bundle: zstd: Destination buffer is "
				 "too "
				 "small at=32\n"
			       : "(-22) compressed bundle claims to inflate to 387 "
				 "bytes, which "
				 "its zlib stream does not at=32\n");
	}
}

static void test_hash(void **state)
{
	struct rck_options verify = {.size = sizeof(verify), .verify = true};
	_cleanup_strbuf_ struct rck_strbuf a = RCK_STRBUF_INIT, sb = RCK_STRBUF_INIT;

	put_bundle(&a, one, 1, 8);
	put_ccob(&sb, 3, RCK_CCOB_ZSTD, &a, NULL);
	put_at(&sb, 24, 0x1122334455667788, 8);
	expect_walk(&sb, NULL, GFX942);
	expect_error(&sb, &verify,
		"(-74) compressed bundle's hash is 1122334455667788, its bytes have "
		"65de41e3227ed375 at=0\n");
}

static void test_headers(void **state)
{
	_cleanup_strbuf_ struct rck_strbuf a = RCK_STRBUF_INIT, sb = RCK_STRBUF_INIT;

	put_bundle(&a, one, 1, 8);
	put_ccob(&sb, 2, RCK_CCOB_ZSTD, &a, NULL);
	put_at(&sb, 4, 4, 2);
	expect_error(&sb, NULL,
		"(-95) compressed bundle of version 4; 1 to 3 are known at=4\n");
	put_at(&sb, 4, 0, 2);
	expect_error(&sb, NULL,
		"(-95) compressed bundle of version 0; 1 to 3 are known at=4\n");
	put_at(&sb, 4, 2, 2);
	put_at(&sb, 6, 2, 2);
	expect_error(&sb, NULL,
		"(-95) compressed bundle by method 2; 0 (zlib) and 1 (zstd) are known "
		"at=6\n");
	put_at(&sb, 6, 1, 2);
	put_at(&sb, 8, 1 << 20, 4);
	sb.len = 30;
	expect_error(&sb, NULL,
		"(-22) compressed bundle claims 1048576 bytes, 30 are there at=8\n");
	put_at(&sb, 8, 23, 4);
	expect_error(&sb, NULL,
		"(-22) compressed bundle claims 23 bytes, 30 are there at=8\n");
	sb.len = 15;
	expect_error(&sb, NULL, "(-22) compressed bundle cut short in its header at=0\n");
}

/* Behind a damaged record the next one is found, and only it is searched for. */
static void test_behind_damage(void **state)
{
	char expected[128], *got;
	_cleanup_strbuf_ struct rck_strbuf a = RCK_STRBUF_INIT, b = RCK_STRBUF_INIT;
	_cleanup_strbuf_ struct rck_strbuf sb = RCK_STRBUF_INIT;

	put_bundle(&a, one, 1, 8);
	put_bundle(&b, other, 1, 8);
	put_ccob(&sb, 3, RCK_CCOB_ZSTD, &a, NULL);
	put_at(&sb, 8, 1ull << 40, 8);
	put_align(&sb, 4096);
	put_ccob(&sb, 3, RCK_CCOB_ZSTD, &b, NULL);
	snprintf(expected, sizeof(expected),
		"(-22) compressed bundle claims 1099511627776 bytes, %zu are there "
		"at=8\n",
		sb.len);
	expect_error(&sb, NULL, expected);
	got = walk_mem(&sb, NULL);
	assert_non_null(strstr(got, GFX1100));
	free(got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_magic_in_payload),
		cmocka_unit_test(test_keep_compressed),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_bombs),
		cmocka_unit_test(test_hash),
		cmocka_unit_test(test_headers),
		cmocka_unit_test(test_behind_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
