#include "make.h"

static const struct bundle_entry device[] = {{"hip-amdgcn-amd-amdhsa--gfx942", 100}};

/* A COFF header and its section table; each section's bytes follow, then the strings. */
struct coff {
	struct rck_strbuf sb;
	size_t table, n;
};

static void coff_section(struct coff *c, const char *name, const struct rck_strbuf *data)
{
	size_t at = c->table + 40 * c->n++;

	memcpy(c->sb.buf + at, name, strnlen(name, 8));
	put_align(&c->sb, 16);
	put_at(&c->sb, at + 16, data->len, 4);
	put_at(&c->sb, at + 20, c->sb.len, 4);
	put(&c->sb, data->buf, data->len);
}

static void coff_begin(struct coff *c, unsigned sections, bool image, bool big)
{
	*c = (struct coff){.sb = RCK_STRBUF_INIT};
	if (image) {
		put(&c->sb, "MZ", 2);
		put_uint(&c->sb, 0, 58);
		put_uint(&c->sb, 128, 4);
		put_uint(&c->sb, 0, 64);
		put(&c->sb, "PE\0\0", 4);
	}
	if (big) {
		put_uint(&c->sb, 0xffff0000, 4);
		put_uint(&c->sb, 2, 2);
		put_uint(&c->sb, 0x8664, 2);
		put_uint(&c->sb, 0, 36);
		put_uint(&c->sb, sections, 4);
		put_uint(&c->sb, 0, 8);
	} else {
		put_uint(&c->sb, 0x8664, 2);
		put_uint(&c->sb, sections, 2);
		put_uint(&c->sb, 0, 12);
		put_uint(&c->sb, image ? 240 : 0, 2);
		put_uint(&c->sb, 0, 2);
		if (image)
			put_uint(&c->sb, 0, 240);
	}
	c->table = c->sb.len;
	put_uint(&c->sb, 0, 40 * sections);
}

/* No symbols, and the string table: "/4" is its first string. */
static void coff_strings(struct coff *c, size_t header, const char *strings, size_t n)
{
	put_at(&c->sb, header, c->sb.len, 4);
	put_uint(&c->sb, n + 4, 4);
	put(&c->sb, strings, n);
}

static void test_object(void **state)
{
	_cleanup_strbuf_ struct rck_strbuf fat = RCK_STRBUF_INIT, seg = RCK_STRBUF_INIT;
	struct coff c;

	put_bundle(&fat, device, 1, 8);
	put_uint(&seg, 0x48495046, 4);
	put_uint(&seg, 1, 20);
	for (int big = 0; big <= 1; big++) {
		coff_begin(&c, 3, false, big);
		coff_section(&c, "/4", &fat);
		coff_section(&c, "//AAAAAQ", &seg); /* base64: 16 */
		coff_section(&c, ".text", &seg);
		coff_strings(&c, big ? 48 : 8, ".hip_fatbin\0.hipFatBinSegment\0", 30);
		expect_walk(&c.sb, NULL,
			big ? "code '.hip_fatbin[0]/hip-amdgcn-amd-amdhsa--gfx942' "
			      "bundle "
			      "target=gfx942 size=100 at=264\n"
			    : "code '.hip_fatbin[0]/hip-amdgcn-amd-amdhsa--gfx942' "
			      "bundle "
			      "target=gfx942 size=100 at=232\n");
		rck_strbuf_release(&c.sb);
	}
}

/* Linkers cut names of images to eight bytes. */
static void test_image(void **state)
{
	_cleanup_strbuf_ struct rck_strbuf fat = RCK_STRBUF_INIT, seg = RCK_STRBUF_INIT;
	struct coff c;

	put_bundle(&fat, device, 1, 8);
	put_uint(&seg, 0x48495046, 4);
	put_uint(&seg, 1, 20);
	put_uint(&seg, 0x48495046, 4);
	put_uint(&seg, 1, 20);
	put_align(&seg, 512);
	coff_begin(&c, 2, true, false);
	coff_section(&c, ".hip_fat", &fat);
	coff_section(&c, ".hipFatB", &seg);
	expect_walk(&c.sb, NULL,
		"code '.hip_fat[0]/hip-amdgcn-amd-amdhsa--gfx942' bundle target=gfx942 "
		"size=100 "
		"at=568\n"
		"note '' file (0) registers 2 fat binaries with HIP, but holds 1 bundles "
		"at=0\n");
	rck_strbuf_release(&c.sb);
}

static void test_damage(void **state)
{
	_cleanup_strbuf_ struct rck_strbuf fat = RCK_STRBUF_INIT;
	struct coff c;
	char *got;

	put_bundle(&fat, device, 1, 8);
	coff_begin(&c, 1, true, false);
	coff_section(&c, ".hip_fat", &fat);
	put_at(&c.sb, 0x3c, 1 << 20, 4);
	expect_walk(&c.sb, NULL,
		"error '' file (-8) an MZ program without a PE header at offset 1048576 "
		"at=60\n");
	put_at(&c.sb, 0x3c, 128, 4);
	put_at(&c.sb, 134, 500, 2);
	got = walk_mem(&c.sb, NULL);
	assert_non_null(
		strstr(got, "(-22) COFF claims 500 section headers at offset 392, "
			    "outside the file's "));
	free(got);
	put_at(&c.sb, 134, 1, 2);
	put_at(&c.sb, c.table + 16, 1 << 20, 4);
	got = walk_mem(&c.sb, NULL);
	assert_non_null(
		strstr(got, "(-22) section 0 '.hip_fat' at offset 432, size 1048576, "
			    "leaves the file's "));
	free(got);
	rck_strbuf_release(&c.sb);

	/* an object whose string table is cut off has lost its sections' names */
	coff_begin(&c, 1, false, false);
	coff_section(&c, "/4", &fat);
	coff_strings(&c, 8, ".hip_fatbin", 12);
	c.sb.len -= 5;
	got = walk_mem(&c.sb, NULL);
	assert_non_null(strstr(got, "(-22) COFF string table at offset "));
	free(got);
	rck_strbuf_release(&c.sb);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_object),
		cmocka_unit_test(test_image),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
