#include "make.h"

#ifdef HAVE_LZMA
#include <lzma.h>

/* A pack; what stands in the header is added to. */
static void put_pack(struct rck_strbuf *sb, const struct rck_strbuf *directory,
	const struct rck_strbuf *images, unsigned kernels, long more_inflated,
	long more_directory)
{
	_cleanup_strbuf_ struct rck_strbuf content = RCK_STRBUF_INIT;
	uint8_t packed[4096];
	size_t size = 0;

	put(&content, directory->buf, directory->len);
	put(&content, images->buf, images->len);
	assert_int_equal(
		lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, NULL, (uint8_t *)content.buf,
			content.len, packed, &size, sizeof(packed)),
		LZMA_OK);
	put(sb, "AKS2", 4);
	put_uint(sb, content.len + (size_t)more_inflated, 4);
	put_uint(sb, kernels, 4);
	put_uint(sb, directory->len + (size_t)more_directory, 4);
	put(sb, packed, size);
}

static void put_entry(struct rck_strbuf *sb, const char *name, unsigned offset,
	unsigned size, unsigned name_len)
{
	put_uint(sb, 0, 4);
	put_uint(sb, 256, 4);
	put_uint(sb, offset, 4);
	put_uint(sb, size, 4);
	put_uint(sb, name_len, 4);
	put(sb, name, strlen(name) + 1);
}

static void expect_pack(const struct rck_strbuf *directory, unsigned kernels,
	long more_inflated, long more_directory, const char *expected)
{
	_cleanup_strbuf_ struct rck_strbuf sb = RCK_STRBUF_INIT, images = RCK_STRBUF_INIT;

	put_code_object(&images, 100);
	put_code_object(&images, 80);
	put_pack(&sb, directory, &images, kernels, more_inflated, more_directory);
	expect_walk(&sb, NULL, expected);
}

#define FIRST "code 'fwd' aks2 size=100 at=-1\n"

static void test_kernels(void **state)
{
	_cleanup_strbuf_ struct rck_strbuf d = RCK_STRBUF_INIT;

	put_entry(&d, "fwd", 0, 100, 4);
	put_entry(&d, "none", 100, 0, 5);
	put_entry(&d, "bwd", 100, 80, 4);
	expect_pack(&d, 3, 0, 0,
		FIRST "code 'bwd' aks2 size=80 at=-1\nnote '' file (0) 1 of 3 kernels "
		      "have no image: they were not compiled (in the inflated pack) "
		      "at=0\n");
	/* more than there are: the next one's size is read from the images */
	expect_pack(&d, 2, 0, 0,
		FIRST "note '' file (0) 1 of 2 kernels have no image: they were not "
		      "compiled (in the inflated pack) at=0\n");
}

static void test_damage(void **state)
{
	_cleanup_strbuf_ struct rck_strbuf d = RCK_STRBUF_INIT;

	put_entry(&d, "fwd", 0, 100, 4);
	expect_pack(&d, 1, 0, 0, FIRST);
	expect_pack(&d, 1, 1, 0,
		"error '' file (-74) AOTriton pack's xz stream does not inflate to the "
		"205 bytes claimed at=16\n");
	expect_pack(&d, 1, -1, 0,
		"error '' file (-74) AOTriton pack's xz stream does not inflate to the "
		"203 bytes claimed at=16\n");
	expect_pack(&d, 1, 0, 1000,
		"error '' file (-22) AOTriton pack claims 1 kernels in a directory of "
		"1024 of its 204 bytes at=4\n");
	expect_pack(&d, 2, 0, 0,
		"error '' file (-22) AOTriton pack claims 2 kernels in a directory of 24 "
		"of its 204 bytes at=4\n");

	put_entry(&d, "long", 0, 80, 50);
	expect_pack(&d, 2, 0, 0,
		FIRST "error '' file (-22) AOTriton pack's kernel 1: its name leaves "
		      "the directory (in the inflated pack) at=24\n");
	d.len = 24;
	put_entry(&d, "far", 101, 80, 4);
	expect_pack(&d, 2, 0, 0,
		FIRST "error '' file (-22) AOTriton pack's kernel 1: its image leaves "
		      "the pack (in the inflated pack) at=24\n");
	/* the same bytes twice are longer than the whole */
	d.len = 24;
	put_entry(&d, "again", 0, 180, 6);
	put_entry(&d, "again", 0, 180, 6);
	{
		_cleanup_strbuf_ struct rck_strbuf sb = RCK_STRBUF_INIT;
		_cleanup_strbuf_ struct rck_strbuf images = RCK_STRBUF_INIT;
		char *got;

		put_code_object(&images, 180);
		put_pack(&sb, &d, &images, 3, 0, 0);
		got = walk_mem(&sb, NULL);
		assert_non_null(strstr(got, "they overlap"));
		free(got);
	}
}

static void test_limit(void **state)
{
	_cleanup_strbuf_ struct rck_strbuf d = RCK_STRBUF_INIT, sb = RCK_STRBUF_INIT;
	_cleanup_strbuf_ struct rck_strbuf images = RCK_STRBUF_INIT;
	struct rck_options opt = {.size = sizeof(opt), .max_inflated = 100};

	put_entry(&d, "fwd", 0, 100, 4);
	put_code_object(&images, 100);
	put_pack(&sb, &d, &images, 1, 0, 0);
	expect_walk(&sb, &opt,
		"error '' file (-7) AOTriton pack inflates to 124 bytes, over the limit "
		"of 100 at=0\n");
}
#else
static void test_kernels(void **state)
{
	_cleanup_strbuf_ struct rck_strbuf sb = RCK_STRBUF_INIT;

	put(&sb, "AKS2", 4);
	put_uint(&sb, 0, 12);
	expect_walk(&sb, NULL,
		"incomplete '' file (-95) an AOTriton pack: built without liblzma, so "
		"it cannot be read at=-1\n");
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernels),
#ifdef HAVE_LZMA
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_limit),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
