#include "make.h"

struct image {
	uint16_t kind;
	uint32_t flags;
	const char *triple, *arch;
	size_t size; /* of a code object */
};

/* A plain record; entries in a table, then the strings, then the images. */
static void put_offload(
	struct rck_strbuf *sb, unsigned version, const struct image *images, size_t n)
{
	size_t start = sb->len, header = version == 3 ? 40 : 32,
	       each = version == 1 ? 16 : 24;
	size_t maps = header + 40 * n, strings = maps + 2 * each * n;

	put(sb, "\x10\xff\x10\xad", 4);
	put_uint(sb, version, 4);
	put_uint(sb, 0, 8);
	put_uint(sb, header, 8);
	put_uint(sb, version == 1 ? 40 : n, 8);
	if (version == 3)
		put_uint(sb, 0, 8);
	put_uint(sb, 0, (unsigned)(strings - header));
	put(sb, "triple\0arch", 12);
	for (size_t i = 0; i < n; i++) {
		size_t entry = start + header + 40 * i, map = start + maps + 2 * each * i;

		put_at(sb, entry, images[i].kind, 2);
		put_at(sb, entry + 2, 4, 2);
		put_at(sb, entry + 4, images[i].flags, 4);
		put_at(sb, entry + 8, map - start, 8);
		put_at(sb, entry + 16, 2, 8);
		for (int k = 0; k < 2; k++) {
			const char *value = k ? images[i].arch : images[i].triple;

			put_at(sb, map + k * each, strings + (k ? 7 : 0), 8);
			put_at(sb, map + k * each + 8, sb->len - start, 8);
			if (version > 1)
				put_at(sb, map + k * each + 16, strlen(value), 8);
			put(sb, value, strlen(value) + 1);
		}
		while ((sb->len - start) % 8)
			rck_strbuf_addc(sb, 0);
		put_at(sb, entry + 24, sb->len - start, 8);
		put_at(sb, entry + 32, images[i].size, 8);
		if (images[i].size)
			put_code_object(sb, images[i].size);
	}
	while ((sb->len - start) % 8)
		rck_strbuf_addc(sb, 0);
	put_at(sb, start + 8, sb->len - start, 8);
}

static const struct image three[] = {
	{1, 0, "amdgcn-amd-amdhsa", "gfx90a:xnack-", 100},
	{1, 1, "amdgcn-amd-amdhsa", "gfx942", 0},
	{5, 0, "nvptx64-nvidia-cuda", "sm_70", 64},
};

static void test_versions(void **state)
{
	for (unsigned version = 1; version <= 3; version++) {
		_cleanup_strbuf_ struct rck_strbuf sb = RCK_STRBUF_INIT;
		char *got;

		put_offload(&sb, version, three, version == 1 ? 1 : 3);
		put_offload(&sb, version, three, 1);
		got = walk_mem(&sb, NULL);
		assert_non_null(strstr(got, "code 'gfx90a:xnack-' offload-binary "
					    "target=gfx90a:xnack- size=100 at="));
		assert_non_null(strstr(got, "code '[1]/gfx90a:xnack-' offload-binary "));
		assert_int_equal(version > 1,
			strstr(got,
				"incomplete 'gfx942' offload-binary target=gfx942 (-61) "
				"only "
				"a description of device code; its image is elsewhere") !=
				NULL);
		free(got);
	}
}

static void expect_damage(
	unsigned version, size_t at, uint64_t value, const char *expected)
{
	_cleanup_strbuf_ struct rck_strbuf sb = RCK_STRBUF_INIT;
	char *got;

	put_offload(&sb, version, three, 2);
	put_at(&sb, at, value, 8);
	got = walk_mem(&sb, NULL);
	if (!strstr(got, expected))
		fail_msg("'%s' is not in '%s'", expected, got);
	free(got);
}

static void test_damage(void **state)
{
	expect_damage(2, 8, 1 << 20, "(-22) OffloadBinary claims 1048576 bytes, ");
	expect_damage(2, 8, 16, "(-22) OffloadBinary claims 16 bytes, ");
	expect_damage(2, 16, UINT64_MAX, "(-22) OffloadBinary's entries at offset ");
	expect_damage(2, 16, 8, "(-22) OffloadBinary's entries at offset 8 lie outside");
	expect_damage(2, 24, UINT64_MAX / 40,
		"(-22) OffloadBinary claims 461168601842738790 "
		"entries, its ");
	/* entry 0: strings, then the image */
	expect_damage(
		2, 32 + 8, UINT64_MAX - 3, "entry 0: its strings lie outside the record");
	expect_damage(
		2, 32 + 16, 1ull << 62, "entry 0: its strings lie outside the record");
	expect_damage(2, 32 + 24, 1 << 20, "entry 0 at offset 1048576, size 100, leaves");
	expect_damage(2, 32 + 24, 8, "entry 0 overlaps what stands before it");
	expect_damage(2, 112 + 8, 1 << 20, "entry 0: string 0 lies outside the record");
	expect_damage(
		2, 112 + 16, UINT64_MAX, "entry 0: string 0 lies outside the record");
	/* said to be compressed, but it is not */
	expect_damage(3, 32, 500, "OffloadBinary: zlib: ");
	expect_damage(3, 32, 10, "claims to inflate to 10 bytes, less than its header");
	expect_damage(3, 32, 1ull << 60, "which ");
}

static void test_version_4(void **state)
{
	_cleanup_strbuf_ struct rck_strbuf sb = RCK_STRBUF_INIT;

	put_offload(&sb, 2, three, 1);
	put_at(&sb, 4, 4, 4);
	expect_walk(&sb, NULL,
		"error '' file (-95) OffloadBinary of version 4; 1 to 3 are known "
		"at=4\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_version_4),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
