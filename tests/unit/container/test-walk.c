/* What nests in what, and what the walk makes of it. */
#include "make.h"

#include <elf.h>

#define SHT_LLVM_OFFLOADING 0x6fff4c0b

static const struct bundle_entry device[] = {{"hip-amdgcn-amd-amdhsa--gfx942", 100}};

static void put_wrapper(struct rck_strbuf *sb, uint32_t magic)
{
	put_uint(sb, magic, 4);
	put_uint(sb, 1, 4);
	put_uint(sb, 0, 16);
}

#define HIPF 0x48495046u
#define HIPK 0x4b504948u

static void test_nothing(void **state)
{
	_cleanup_strbuf_ struct rck_strbuf sb = RCK_STRBUF_INIT;

	expect_walk(&sb, NULL, "error '' file (-8) an empty file at=-1\n");
	put(&sb, "just some text", 14);
	expect_walk(&sb, NULL,
		"error '' file size=14 at=0 (-8) not a file that can hold device code "
		"(no known "
		"magic) at=-1\n");
}

static void test_bare(void **state)
{
	_cleanup_strbuf_ struct rck_strbuf sb = RCK_STRBUF_INIT;

	put_code_object(&sb, 64);
	expect_walk(&sb, NULL, "code '' file size=64 at=0\n");
}

/* What stands in a bundle's entry that is no code object. */
static void expect_entry(
	const char *id, const char *content, size_t size, const char *expected)
{
	_cleanup_strbuf_ struct rck_strbuf sb = RCK_STRBUF_INIT;

	put(&sb, "__CLANG_OFFLOAD_BUNDLE__", 24);
	put_uint(&sb, 1, 8);
	put_uint(&sb, 32 + 24 + strlen(id), 8);
	put_uint(&sb, size, 8);
	put_uint(&sb, strlen(id), 8);
	put(&sb, id, strlen(id));
	put(&sb, content, size);
	expect_walk(&sb, NULL, expected);
}

static void test_entries(void **state)
{
	static const char bitcode[] = "BC\xc0\xde....", spirv[] = "\x03\x02\x23\x07....";

	expect_entry("hip-amdgcn-amd-amdhsa--gfx942", bitcode, 8,
		"incomplete 'hip-amdgcn-amd-amdhsa--gfx942' bundle target=gfx942 size=8 "
		"at=85 "
		"(-61) LLVM bitcode, not linked into a code object yet: it states no "
		"facts about "
		"kernels at=85\n");
	expect_entry("hip-spirv64-amd-amdhsa--amdgcnspirv", spirv, 8,
		"incomplete 'hip-spirv64-amd-amdhsa--amdgcnspirv' bundle "
		"target=amdgcnspirv "
		"size=8 at=91 (-61) SPIR-V, which becomes a code object at run time "
		"only: it "
		"states no facts about kernels at=91\n");
	expect_entry("hip-amdgcn-amd-amdhsa--gfx942", "hello", 5,
		"error 'hip-amdgcn-amd-amdhsa--gfx942' bundle target=gfx942 size=5 at=85 "
		"(-8) "
		"device code that is of no known kind at=85\n");
	/* a host's entry, and another maker's, are nobody's business */
	expect_entry("host-x86_64-unknown-linux-gnu-", "hello", 5, "");
	expect_entry("openmp-nvptx64-nvidia-cuda--sm_70", bitcode, 8, "");
	/* an id of no known form is taken for AMD's: nothing is passed over in silence */
	expect_entry("whatever", "hello", 5,
		"error 'whatever' bundle size=5 at=64 (-8) device code that is of no "
		"known kind "
		"at=64\n");
	expect_entry("hip-amdgcn-amd-amdhsa--gfx942", "", 0,
		"note 'hip-amdgcn-amd-amdhsa--gfx942' bundle target=gfx942 (0) the "
		"bundle's entry "
		"is empty at=0\n");
}

static void test_bitcode(void **state)
{
	static const struct {
		const char *module;
		bool counts;
	} members[] = {
		{"BC\xc0\xde amdgcn-amd-amdhsa", true},
		{"BC\xc0\xde x86_64-pc-linux-gnu", false},
		{"BC\xc0\xde who knows whose", true},
	};

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		_cleanup_strbuf_ struct rck_strbuf sb = RCK_STRBUF_INIT;
		size_t n = strlen(members[i].module);
		char *got;

		put(&sb, "!<arch>\n", 8);
		rck_strbuf_addf(
			&sb, "%-16s%-12d%-6d%-6d%-8d%-10zu`\n", "m.o/", 0, 0, 0, 0, n);
		put(&sb, members[i].module, n);
		got = walk_mem(&sb, NULL);
		assert_int_equal(
			strncmp(got, "incomplete 'm.o'", 16) == 0, members[i].counts);
		assert_int_equal(got[0] != 0, members[i].counts);
		free(got);
	}
}

static void test_host_sections(void **state)
{
	_cleanup_strbuf_ struct rck_strbuf sb = RCK_STRBUF_INIT, fat = RCK_STRBUF_INIT;
	_cleanup_strbuf_ struct rck_strbuf seg = RCK_STRBUF_INIT, text = RCK_STRBUF_INIT;
	_cleanup_strbuf_ struct rck_strbuf code = RCK_STRBUF_INIT, ccob = RCK_STRBUF_INIT;
	const struct elf_section sections[] = {
		{".text", SHT_PROGBITS, &text},
		{".rodata.kernels", SHT_PROGBITS, &fat},
		{".rodata.bare", SHT_PROGBITS, &code},
		{".rodata.words", SHT_PROGBITS, &ccob},
		{".hip_fatbin", SHT_PROGBITS, &fat},
		{".hipFatBinSegment", SHT_PROGBITS, &seg},
		{".comment", SHT_NOTE, &fat},
	};

	put(&text, "code of the host", 16);
	put(&ccob, "CCOB is a word here", 19);
	put_bundle(&fat, device, 1, 8);
	put_align(&fat, 64);
	put_bundle(&fat, device, 1, 8);
	put_code_object(&code, 70);
	put_wrapper(&seg, HIPF);
	put_wrapper(&seg, HIPF);
	put_host_elf(&sb, sections, sizeof(sections) / sizeof(sections[0]));
	expect_walk(&sb, NULL,
		"code '.rodata.kernels[0]/hip-amdgcn-amd-amdhsa--gfx942' bundle "
		"target=gfx942 "
		"size=100 at=216\n"
		"code '.rodata.kernels[1]/hip-amdgcn-amd-amdhsa--gfx942' bundle "
		"target=gfx942 "
		"size=100 at=408\n"
		"code '.rodata.bare' elf size=70 at=512\n"
		"code '.hip_fatbin[0]/hip-amdgcn-amd-amdhsa--gfx942' bundle "
		"target=gfx942 "
		"size=100 at=792\n"
		"code '.hip_fatbin[1]/hip-amdgcn-amd-amdhsa--gfx942' bundle "
		"target=gfx942 "
		"size=100 at=984\n");
}

/* Wrappers of a host file against its bundles. */
static void expect_wrappers(
	uint32_t magic, unsigned wrappers, unsigned bundles, const char *expected)
{
	_cleanup_strbuf_ struct rck_strbuf sb = RCK_STRBUF_INIT, fat = RCK_STRBUF_INIT;
	_cleanup_strbuf_ struct rck_strbuf seg = RCK_STRBUF_INIT;
	const struct elf_section sections[] = {{".hipFatBinSegment", SHT_PROGBITS, &seg},
		{".hip_fatbin", SHT_PROGBITS, &fat}};
	char *got, *last;

	for (unsigned i = 0; i < wrappers; i++)
		put_wrapper(&seg, magic);
	for (unsigned i = 0; i < bundles; i++) {
		put_bundle(&fat, device, 1, 8);
		put_align(&fat, 64);
	}
	put_host_elf(&sb, sections, bundles ? 2 : 1);
	got = walk_mem(&sb, NULL);
	last = strstr(got, "note");
	if (!last)
		last = strstr(got, "incomplete");
	assert_string_equal(last ? last : "", expected);
	free(got);
}

static void test_wrappers(void **state)
{
	expect_wrappers(HIPF, 2, 2, "");
	expect_wrappers(HIPF, 3, 2,
		"note '' file (0) registers 3 fat binaries with HIP, but holds 2 bundles "
		"at=0\n");
	expect_wrappers(HIPF, 1, 0,
		"incomplete '' file (-61) registers 1 fat binaries with HIP, but holds "
		"none "
		"at=0\n");
	expect_wrappers(HIPK, 1, 0,
		"incomplete '' file (-61) device code is external (kpack), but nothing "
		"says "
		"where: no .rocm_kpack_ref at=0\n");
	expect_wrappers(0x1234, 1, 0,
		"note '.hipFatBinSegment' file (0) fat binary wrapper with magic "
		"0x00001234, "
		"neither HIPF nor HIPK at=64\n");
}

static void test_fatbin_of_nothing(void **state)
{
	_cleanup_strbuf_ struct rck_strbuf sb = RCK_STRBUF_INIT, junk = RCK_STRBUF_INIT;
	const struct elf_section sections[] = {{".hip_fatbin", SHT_PROGBITS, &junk}};

	put(&junk, "no bundle at all", 16);
	put_host_elf(&sb, sections, 1);
	expect_walk(&sb, NULL,
		"error '.hip_fatbin' file (-22) 16 bytes, and none of them starts "
		"a bundle at=64\n");
}

static void test_rdc(void **state)
{
	_cleanup_strbuf_ struct rck_strbuf sb = RCK_STRBUF_INIT, bc = RCK_STRBUF_INIT;
	_cleanup_strbuf_ struct rck_strbuf one = RCK_STRBUF_INIT, seg = RCK_STRBUF_INIT;
	const struct elf_section sections[] = {
		{"__CLANG_OFFLOAD_BUNDLE__host-x86_64-pc-linux-gnu-", SHT_PROGBITS, &one},
		{"__CLANG_OFFLOAD_BUNDLE__hip-amdgcn-amd-amdhsa--gfx1100", SHT_PROGBITS,
			&bc},
		{".hipFatBinSegment", SHT_PROGBITS, &seg}};

	put(&one, "", 1);
	put(&bc, "BC\xc0\xde....", 8);
	put_wrapper(&seg, HIPF);
	put_host_elf(&sb, sections, 3);
	expect_walk(&sb, NULL,
		"incomplete '__CLANG_OFFLOAD_BUNDLE__hip-amdgcn-amd-amdhsa--gfx1100' elf "
		"target=gfx1100 size=8 at=128 (-61) LLVM bitcode, not linked into a code "
		"object "
		"yet: it states no facts about kernels at=128\n");
}

/* A bundle in a bundle in a bundle ...: to the cap and no further. */
static void test_depth(void **state)
{
	static const char id[] = "hip-amdgcn-amd-amdhsa--gfx942";
	struct rck_options four = {.size = sizeof(four), .max_depth = 4};
	struct rck_strbuf sb = RCK_STRBUF_INIT;
	char *got, *line;
	int lines = 0;

	put_code_object(&sb, 64);
	for (int depth = 1; depth <= 40; depth++) {
		struct rck_strbuf outer = RCK_STRBUF_INIT;
		size_t table = 32 + 24 + strlen(id);

		put(&outer, "__CLANG_OFFLOAD_BUNDLE__", 24);
		put_uint(&outer, 1, 8);
		put_uint(&outer, table, 8);
		put_uint(&outer, sb.len, 8);
		put_uint(&outer, strlen(id), 8);
		put(&outer, id, strlen(id));
		put(&outer, sb.buf, sb.len);
		rck_strbuf_release(&sb);
		sb = outer;
		got = walk_mem(&sb, depth > 4 ? NULL : &four);
		assert_int_equal(strncmp(got, "code", 4) == 0, depth <= 32);
		if (depth > 32)
			assert_non_null(
				strstr(got, "(-7) containers nested deeper than 32 at="));
		free(got);
		if (depth > 4) {
			got = walk_mem(&sb, &four);
			assert_non_null(
				strstr(got, "containers nested deeper than 4 at="));
			free(got);
		}
	}
	got = walk_mem(&sb, NULL);
	for (line = got; (line = strchr(line, '\n')); line++)
		lines++;
	assert_int_equal(lines, 1);
	free(got);
	rck_strbuf_release(&sb);
}

/*
 * Sections that all are the same range, in which such a file stands again: a walk of 2^30
 * steps in a few KB, were parts not held against the length of the whole.
 */
static void test_overlapping_sections(void **state)
{
	_cleanup_strbuf_ struct rck_strbuf sb = RCK_STRBUF_INIT, fat = RCK_STRBUF_INIT;
	const struct elf_section sections[] = {{".a", SHT_PROGBITS, &fat},
		{".b", SHT_PROGBITS, &fat}, {".c", SHT_PROGBITS, &fat}};
	uint64_t at, shoff;
	char *got;

	put_bundle(&fat, device, 1, 8);
	while (fat.len < 4096)
		rck_strbuf_addc(&fat, 0);
	put_host_elf(&sb, sections, 3);
	memcpy(&shoff, sb.buf + 40, 8);
	memcpy(&at, sb.buf + shoff + 64 + 24, 8);
	/* each as long as the file from the first one's start */
	for (int i = 1; i <= 3; i++) {
		put_at(&sb, shoff + 64 * (unsigned)i + 24, at, 8);
		put_at(&sb, shoff + 64 * (unsigned)i + 32, sb.len - at, 8);
	}
	got = walk_mem(&sb, NULL);
	assert_non_null(strstr(got, "code '.a[0]/"));
	assert_non_null(
		strstr(got, "error '.b' file (-22) this section and those before it are "
			    "longer than the file: they overlap"));
	assert_null(strstr(got, "code '.b"));
	free(got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_bare),
		cmocka_unit_test(test_entries),
		cmocka_unit_test(test_bitcode),
		cmocka_unit_test(test_host_sections),
		cmocka_unit_test(test_wrappers),
		cmocka_unit_test(test_fatbin_of_nothing),
		cmocka_unit_test(test_rdc),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_overlapping_sections),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
