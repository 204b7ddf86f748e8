#include "make.h"

#include "util/range.h"

static const struct bundle_entry three[] = {
	{"host-x86_64-unknown-linux-gnu-", 0},
	{"hipv4-amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-", 100},
	{"hip-amdgcn-amd-amdhsa-unknown-gfx9-4-generic", 77},
};

static void test_ids(void **state)
{
	static const struct {
		const char *id, *kind, *triple, *target;
	} ids[] = {
		{"hipv4-amdgcn-amd-amdhsa--gfx942", "hipv4", "amdgcn-amd-amdhsa-",
			"gfx942"},
		{"hipv4-amdgcn-amd-amdhsa-unknown-gfx1100", "hipv4",
			"amdgcn-amd-amdhsa-unknown", "gfx1100"},
		{"hip-amdgcn-amd-amdhsa-gfx906", "hip", "amdgcn-amd-amdhsa", "gfx906"},
		{"hip-amdgcn-amd-amdhsa-gfx9-4-generic", "hip", "amdgcn-amd-amdhsa",
			"gfx9-4-generic"},
		{"hip-amdgcn-amd-amdhsa--gfx10-3-generic", "hip", "amdgcn-amd-amdhsa-",
			"gfx10-3-generic"},
		{"hip-spirv64-amd-amdhsa--amdgcnspirv", "hip", "spirv64-amd-amdhsa-",
			"amdgcnspirv"},
		{"hip-spirv64-amd-amdhsa-unknown-amdgcnspirv", "hip",
			"spirv64-amd-amdhsa-unknown", "amdgcnspirv"},
		{"hipv4-amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-", "hipv4",
			"amdgcn-amd-amdhsa-", "gfx90a:sramecc+:xnack-"},
		{"host-x86_64-unknown-linux-gnu-", "host", "x86_64-unknown-linux-gnu",
			""},
		{"host-x86_64-unknown-linux-gnu", "host", "x86_64-unknown-linux-gnu", ""},
		{"openmp-amdgcn-amd-amdhsa", "openmp", "amdgcn-amd-amdhsa", ""},
		{"hip-amdgcn-amd-amdhsa-", "hip", "amdgcn-amd-amdhsa-", ""},
	};
	static const char *const bad[] = {"", "-", "hip", "hip-",
		"-amdgcn-amd-amdhsa--gfx906", "hip-amdgcn", "hip-amdgcn-amd"};
	struct rck_bundle_id id;

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		char text[64];

		assert_true(rck_bundle_id_parse(ids[i].id, strlen(ids[i].id), &id));
		snprintf(text, sizeof(text), "%.*s", (int)id.kind_len, id.kind);
		assert_string_equal(text, ids[i].kind);
		snprintf(text, sizeof(text), "%.*s", (int)id.triple_len, id.triple);
		assert_string_equal(text, ids[i].triple);
		snprintf(text, sizeof(text), "%.*s", (int)id.target_len, id.target);
		assert_string_equal(text, ids[i].target);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(rck_bundle_id_parse(bad[i], strlen(bad[i]), &id));
}

static void test_walk(void **state)
{
	_cleanup_strbuf_ struct rck_strbuf sb = RCK_STRBUF_INIT;
	uint64_t end;

	put_bundle(&sb, three, 3, 4096);
	expect_walk(&sb, NULL,
		"code 'hipv4-amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-' bundle "
		"target=gfx90a:sramecc+:xnack- size=100 at=4096\n"
		"code 'hip-amdgcn-amd-amdhsa-unknown-gfx9-4-generic' bundle "
		"target=gfx9-4-generic size=77 at=8192\n");
	assert_true(rck_bundle_extent(slice_of(&sb), &end));
	assert_int_equal(end, 8192 + 77);
}

static void test_many_with_padding(void **state)
{
	_cleanup_strbuf_ struct rck_strbuf sb = RCK_STRBUF_INIT;

	put_bundle(&sb, three + 1, 1, 64);
	put_align(&sb, 4096);
	put_bundle(&sb, three + 2, 1, 64);
	put_align(&sb, 8192);
	put_bundle(&sb, three, 1, 64);
	put_align(&sb, 16384);
	expect_walk(&sb, NULL,
		"code 'hipv4-amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-' bundle "
		"target=gfx90a:sramecc+:xnack- size=100 at=128\n"
		"code '[1]/hip-amdgcn-amd-amdhsa-unknown-gfx9-4-generic' bundle "
		"target=gfx9-4-generic size=77 at=4224\n");
}

static void test_junk_between(void **state)
{
	_cleanup_strbuf_ struct rck_strbuf sb = RCK_STRBUF_INIT;

	put_bundle(&sb, three + 1, 1, 64);
	put_align(&sb, 256);
	put(&sb, "what is this doing here", 23);
	put_align(&sb, 512);
	put_bundle(&sb, three + 2, 1, 64);
	put(&sb, "tail", 4);
	expect_walk(&sb, NULL,
		"code 'hipv4-amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-' bundle "
		"target=gfx90a:sramecc+:xnack- size=100 at=128\n"
		"note '' file (0) 256 bytes in front of a bundle are no bundle at=256\n"
		"code '[1]/hip-amdgcn-amd-amdhsa-unknown-gfx9-4-generic' bundle "
		"target=gfx9-4-generic size=77 at=640\n"
		"note '' file (0) 4 bytes behind the last bundle are no bundle at=717\n");
}

/* One thing wrong with the bundle of three, and what the walk then says. */
static void expect_damage(
	size_t at, uint64_t value, unsigned width, size_t cut, const char *expected)
{
	_cleanup_strbuf_ struct rck_strbuf sb = RCK_STRBUF_INIT;

	put_bundle(&sb, three, 3, 256);
	if (width)
		put_at(&sb, at, value, width);
	if (cut)
		sb.len = cut;
	expect_walk(&sb, NULL, expected);
}

#define CODE_90A                                                                         \
	"code 'hipv4-amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-' bundle "                 \
	"target=gfx90a:sramecc+:xnack- size=100 at=256\n"
#define CODE_94                                                                          \
	"code 'hip-amdgcn-amd-amdhsa-unknown-gfx9-4-generic' bundle "                    \
	"target=gfx9-4-generic size=77 at=512\n"

static void test_damage(void **state)
{
	const size_t entry1 = 32 + 24 + strlen(three[0].id);
	const size_t entry2 = entry1 + 24 + strlen(three[1].id);

	/* the header alone, cut */
	expect_damage(
		0, 0, 0, 26, "error '' file (-22) bundle cut short in its header at=0\n");
	expect_damage(0, 0, 0, entry1 + 5,
		"error '' file (-22) bundle claims 3 entries, but its table is cut short "
		"or "
		"damaged at entry 1 at=86\n");
	/* counts */
	expect_damage(24, 0, 8, 0, "error '' file (-22) bundle of no entries at=24\n");
	expect_damage(24, 1ull << 60, 8, 0,
		CODE_90A CODE_94
		"error '' file (-22) bundle claims 1152921504606846976 entries, but its "
		"table is cut short or damaged at entry 3 at=225\n");
	/* an entry past the end, and the one behind it */
	expect_damage(entry1 + 8, 1u << 20, 8, 0,
		"error '' file (-22) bundle entry 1 at offset 256, size 1048576, leaves "
		"the "
		"bundle's 589 bytes at=86\n" CODE_94);
	expect_damage(entry1, UINT64_MAX - 10, 8, 0,
		"error '' file (-22) bundle entry 1 at offset 18446744073709551605, size "
		"100, leaves the bundle's 589 bytes at=86\n" CODE_94);
	/* at itself */
	expect_damage(entry1, 0, 8, 0,
		"error '' file (-22) bundle entry 1 points at the bundle's own header "
		"at=86\n" CODE_94);
	/* over another */
	expect_damage(entry2, 300, 8, 0,
		CODE_90A "error '' file (-22) bundle entry 2 overlaps entry 1 at=157\n"
			 "note '' file (0) 77 bytes behind the last bundle are no bundle "
			 "at=512\n");
	/* an id as long as the file */
	expect_damage(entry1 + 16, 400, 8, 0,
		"error '' file (-22) bundle entry 1 points at the bundle's own header "
		"at=86\n"
		"error '' file (-22) bundle claims 3 entries, but its table is cut short "
		"or "
		"damaged at entry 2 at=510\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ids),
		cmocka_unit_test(test_walk),
		cmocka_unit_test(test_many_with_padding),
		cmocka_unit_test(test_junk_between),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
