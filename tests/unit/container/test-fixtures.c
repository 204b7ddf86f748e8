/* Every container as real tools write it: what fixtures/build assembled, walked. */
#include "make.h"

#include <unistd.h>

/* Lines of "where target", "?where" for an incomplete part. */
struct fixture {
	const char *name, *expected;
};

#define TWO(in)                                                                          \
	in "hipv4-amdgcn-amd-amdhsa--gfx1100 gfx1100\n" in                               \
	   "hipv4-amdgcn-amd-amdhsa--gfx942 gfx942\n"
#define OFFLOAD3 "gfx942 gfx942\n?gfx1100 gfx1100\ngfx90a:xnack- gfx90a:xnack-\n"
#define KPACK3                                                                           \
	"lib/libfixture.so#0/gfx942 gfx942\nlib/libfixture.so#1/gfx942:xnack- "          \
	"gfx942:xnack-\nlib/libother.so#0/gfx942 gfx942\n"

static const struct fixture fixtures[] = {
	{"bare-v2.co", " -\n"},
	{"bare-v3.co", " -\n"},
	{"bare-v4.co", " -\n"},
	{"bare-v5.co", " -\n"},
	{"bare-v6.co", " -\n"},
	{"stripped.co", " -\n"},
	{"relocatable.o", " -\n"},
	{"bundle.hsaco", TWO("")},
	{"ccob-v1-zlib.hsaco", TWO("")},
	{"ccob-v1-zstd.hsaco", TWO("")},
	{"ccob-v2.hsaco", TWO("")},
	{"ccob-v2-zlib.hsaco", TWO("")},
	{"ccob-v3.hsaco", TWO("")},
	{"ccob-v3-zlib.hsaco", TWO("")},
	{"many.hsaco", TWO("") TWO("[1]/") TWO("[2]/") TWO("[3]/")},
	{"host.o", TWO(".hip_fatbin[0]/")},
	{"compressed-host.o", TWO(".hip_fatbin[0]/")},
	{"new-driver.o", ".hip_fatbin[0]/hip-amdgcn-amd-amdhsa--gfx942 gfx942\n"
			 ".hip_fatbin[0]/hip-amdgcn-amd-amdhsa--gfx1100 gfx1100\n"},
	{"host.so", TWO(".hip_fatbin[0]/") TWO(".hip_fatbin[1]/")},
	{"no-sections.so", TWO("[0]/") TWO("[1]/")},
	{"mixed.so", TWO(".hip_fatbin[0]/") TWO(".hip_fatbin[1]/")},
	{"linked-r.o", TWO(".hip_fatbin[0]/") TWO(".hip_fatbin[1]/")},
	{"host-15.o", ".hip_fatbin[0]/hipv4-amdgcn-amd-amdhsa--gfx1100 gfx1100\n"
		      ".hip_fatbin[0]/hipv4-amdgcn-amd-amdhsa--gfx90a gfx90a\n"},
	{"pie", TWO(".hip_fatbin[0]/") TWO(".hip_fatbin[1]/")},
	{"no-pie", TWO(".hip_fatbin[0]/") TWO(".hip_fatbin[1]/")},
	{"lld.so", TWO(".hip_fatbin[0]/") TWO(".hip_fatbin[1]/")},
	{"packed.so", TWO(".hip_fatbin[0]/") TWO(".hip_fatbin[1]/")},
	{"rdc.so", TWO(".hip_fatbin[0]/")},
	{"rdc.o", "?__CLANG_OFFLOAD_BUNDLE__hip-amdgcn-amd-amdhsa--gfx1100 gfx1100\n"
		  "?__CLANG_OFFLOAD_BUNDLE__hip-amdgcn-amd-amdhsa--gfx942 gfx942\n"},
	{"rdc-new.o", "?.llvm.offloading[0]/gfx1100 gfx1100\n?.llvm.offloading[1]/gfx942 "
		      "gfx942\n"},
	{"device.bc", "? -\n"},
	{"embedded.so", TWO(".mine[0]/") ".other -\n"},
	{"gnu.a", TWO("host.o/.hip_fatbin[0]/") TWO("compressed-host.o/.hip_fatbin[0]/")},
	{"thin.a",
		TWO("host.o/.hip_fatbin[0]/") TWO("compressed-host.o/.hip_fatbin[0]/")},
	{"bsd.a", TWO("host.o/.hip_fatbin[0]/") TWO("compressed-host.o/.hip_fatbin[0]/")},
	{"nested.a", TWO("gnu.a/host.o/.hip_fatbin[0]/") TWO(
			     "gnu.a/compressed-host.o/.hip_fatbin[0]/") "bare-v6.co -\n"},
	{"host.obj", TWO(".hip_fatbin[0]/")},
	{"host.dll", TWO(".hip_fat[0]/")},
	{"host.lib", TWO("host.obj/.hip_fatbin[0]/")},
	{"offload-v1.bin", "gfx942 gfx942\n[1]/gfx942 gfx942\n"},
	{"offload-v2-none.bin", OFFLOAD3},
	{"offload-v3-none.bin", OFFLOAD3},
	{"offload-v3-zlib.bin", OFFLOAD3},
	{"offload-v3-zstd.bin", OFFLOAD3},
	{"none.kpack", KPACK3},
	{"zstd.kpack", KPACK3},
	{"lib/libfixture.so", "fixture_gfx942.kpack/lib/libfixture.so#0/gfx942 gfx942\n"
			      "fixture_gfx942.kpack/lib/libfixture.so#1/gfx942:xnack- "
			      "gfx942:xnack-\n"},
	{"lib/liblost.so", "? -\n"},
#ifdef HAVE_LZMA
	{"pack.aks2", "attn_fwd -\nattn_bwd -\n"},
#endif
#ifdef HAVE_KDB
	{"gfx942.kdb", "naive_conv.o -\n" TWO("gridwise_gemm.o/")},
#endif
};

static void walk(struct rck_file *file, struct rck_strbuf *out)
{
	struct rck_item item;

	while (rck_file_next(file, &item, NULL) == 1) {
		struct rck_code_object *co;
		struct rck_file *inner;
		struct rck_diag diag;

		if (item.kind == RCK_ITEM_COMPRESSED) {
			assert_int_equal(
				rck_file_open_item(file, &item, &inner, &diag), 0);
			walk(inner, out);
			rck_file_close(inner);
			continue;
		}
		if (item.kind == RCK_ITEM_ERROR || item.kind == RCK_ITEM_NOTE)
			fail_msg("'%s': %s", item.where, item.diag.msg);
		rck_strbuf_addf(out, "%s%s %s\n",
			item.kind == RCK_ITEM_INCOMPLETE ? "?" : "", item.where,
			item.target ? item.target : "-");
		if (item.kind == RCK_ITEM_INCOMPLETE)
			continue;
		if (rck_code_object_open(file, &item, &co, &diag))
			fail_msg("'%s': %s", item.where, diag.msg);
		assert_true(rck_code_object_kernel_count(co) >= 2);
		rck_code_object_close(co);
	}
}

/* Inline and by items of their own, compressed bundles give the same. */
static void expect_fixture(const char *path, const char *expected)
{
	for (int keep = 0; keep <= 1; keep++) {
		struct rck_options opt = {
			.size = sizeof(opt), .verify = true, .keep_compressed = keep};
		_cleanup_strbuf_ struct rck_strbuf out = RCK_STRBUF_INIT;
		struct rck_file *file;
		struct rck_diag diag;

		if (rck_file_open(path, &opt, &file, &diag))
			fail_msg("%s: %s", path, diag.msg);
		walk(file, &out);
		rck_file_close(file);
		if (strcmp(out.buf, expected))
			fail_msg("%s: '%s' is not '%s'", path, out.buf, expected);
	}
}

static void test_fixtures(void **state)
{
	const char *dir = getenv("RCK_FIXTURES");
	size_t n = sizeof(fixtures) / sizeof(fixtures[0]), missing = 0;

	if (!dir)
		fail_msg("RCK_FIXTURES is not set");
	for (size_t i = 0; i < n; i++) {
		char *path = rck_xasprintf("%s/%s", dir, fixtures[i].name);

		if (access(path, R_OK)) {
			print_message(
				"not made: %s (see %s/skipped)\n", fixtures[i].name, dir);
			missing++;
		} else {
			expect_fixture(path, fixtures[i].expected);
		}
		free(path);
	}
	if (missing == n)
		skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fixtures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
