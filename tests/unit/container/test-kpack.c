#include "make.h"

#include <msgpack.h>
#include <sys/stat.h>

static void pack_str(msgpack_packer *p, const char *s)
{
	msgpack_pack_str_with_body(p, s, strlen(s));
}

static void pack_kv(msgpack_packer *p, const char *key, uint64_t value)
{
	pack_str(p, key);
	msgpack_pack_uint64(p, value);
}

/* An archive of scheme "none": two code objects of one binary. */
static void put_kpack(struct rck_strbuf *sb, uint64_t ordinal, uint64_t offset)
{
	msgpack_sbuffer m;
	msgpack_packer p;

	put(sb, "KPAK", 4);
	put_uint(sb, 1, 4);
	put_uint(sb, 0, 56);
	put_code_object(sb, 100);
	put_align(sb, 64);
	put_code_object(sb, 64);
	put_at(sb, 8, sb->len, 8);

	msgpack_sbuffer_init(&m);
	msgpack_packer_init(&p, &m, msgpack_sbuffer_write);
	msgpack_pack_map(&p, 3);
	pack_str(&p, "compression_scheme");
	pack_str(&p, "none");
	pack_str(&p, "blobs");
	msgpack_pack_array(&p, 2);
	msgpack_pack_map(&p, 2);
	pack_kv(&p, "offset", offset);
	pack_kv(&p, "size", 100);
	msgpack_pack_map(&p, 2);
	pack_kv(&p, "offset", 192);
	pack_kv(&p, "size", 64);
	pack_str(&p, "toc");
	msgpack_pack_map(&p, 2);
	for (uint64_t i = 0; i < 2; i++) {
		pack_str(&p, i ? "lib/b.so#0" : "lib/a.so#0");
		msgpack_pack_map(&p, 1);
		pack_str(&p, i ? "gfx942" : "gfx90a:xnack-");
		msgpack_pack_map(&p, 3);
		pack_str(&p, "type");
		pack_str(&p, "hsaco");
		pack_kv(&p, "ordinal", i ? ordinal : 0);
		pack_kv(&p, "original_size", i ? 64 : 100);
	}
	put(sb, m.data, m.size);
	msgpack_sbuffer_destroy(&m);
}

#define A "code 'lib/a.so#0/gfx90a:xnack-' kpack target=gfx90a:xnack- size=100 at=64\n"
#define B "code 'lib/b.so#0/gfx942' kpack target=gfx942 size=64 at=192\n"

static void test_archive(void **state)
{
	_cleanup_strbuf_ struct rck_strbuf sb = RCK_STRBUF_INIT;

	put_kpack(&sb, 1, 64);
	expect_walk(&sb, NULL, A B);
}

static void test_damage(void **state)
{
	_cleanup_strbuf_ struct rck_strbuf sb = RCK_STRBUF_INIT;
	uint64_t toc;

	put_kpack(&sb, 7, 64);
	expect_walk(&sb, NULL, A "error '' file (-22) kpack has no blob 7 at=-1\n");
	rck_strbuf_reset(&sb);
	put_kpack(&sb, 1, UINT64_MAX - 5);
	expect_walk(&sb, NULL,
		"error '' file (-22) kpack's blob 0 at offset 18446744073709551610, size "
		"100, "
		"leaves the file at=-1\n" B);

	rck_strbuf_reset(&sb);
	put_kpack(&sb, 1, 64);
	memcpy(&toc, sb.buf + 8, 8);
	put_at(&sb, 4, 2, 4);
	expect_walk(
		&sb, NULL, "error '' file (-95) kpack of version 2; 1 is known at=4\n");
	put_at(&sb, 4, 1, 4);
	put_at(&sb, 8, 1 << 20, 8);
	expect_walk(&sb, NULL,
		"error '' file (-22) kpack's table of contents at offset 1048576 "
		"lies outside its 441 bytes at=8\n");
	put_at(&sb, 8, toc, 8);
	/* the trap: five bytes that make msgpack-c ask for 256 GiB */
	sb.len = toc;
	put(&sb, "\xdf\xff\xff\xff\xff", 5);
	expect_walk(&sb, NULL,
		"error '' file (-22) msgpack map claims 8589934590 elements, but "
		"0 bytes are left at=256\n");
	sb.len = toc;
	put(&sb, "\x93\1\2\3", 4);
	expect_walk(&sb, NULL, "error '' file (-22) msgpack that is no map at=256\n");
	sb.len = toc;
	put(&sb, "\x80", 1);
	expect_walk(&sb, NULL, "error '' file (-22) kpack without a map 'toc' at=256\n");
}

static char dir[] = "/tmp/rocmcheck-kpack-XXXXXX";

static void write_at(const char *name, const struct rck_strbuf *sb)
{
	char *path = rck_xasprintf("%s/%s", dir, name);
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(sb->buf, 1, sb->len, f), sb->len);
	assert_int_equal(fclose(f), 0);
	free(path);
}

/* A host file whose device code is in a kpack named by search. */
static void put_host(struct rck_strbuf *sb, const char *name, const char *search)
{
	struct rck_strbuf seg = RCK_STRBUF_INIT, ref = RCK_STRBUF_INIT;
	const struct elf_section sections[] = {
		{".hipFatBinSegment", 1, &seg}, {".rocm_kpack_ref", 1, &ref}};
	msgpack_sbuffer m;
	msgpack_packer p;

	put_uint(&seg, 0x4b504948, 4);
	put_uint(&seg, 1, 20);
	msgpack_sbuffer_init(&m);
	msgpack_packer_init(&p, &m, msgpack_sbuffer_write);
	msgpack_pack_map(&p, 2);
	pack_str(&p, "kernel_name");
	pack_str(&p, name);
	pack_str(&p, "kpack_search_paths");
	msgpack_pack_array(&p, 1);
	pack_str(&p, search);
	put(&ref, m.data, m.size);
	put_host_elf(sb, sections, 2);
	msgpack_sbuffer_destroy(&m);
	rck_strbuf_release(&seg);
	rck_strbuf_release(&ref);
}

static void expect_host(const char *name, const char *search, const char *kpack_path,
	const char *expected)
{
	struct rck_options opt = {.size = sizeof(opt), .kpack_path = kpack_path};
	_cleanup_strbuf_ struct rck_strbuf sb = RCK_STRBUF_INIT, out = RCK_STRBUF_INIT;
	char *path = rck_xasprintf("%s/lib/host.so", dir);
	struct rck_file *file;

	put_host(&sb, name, search);
	write_at("lib/host.so", &sb);
	assert_int_equal(rck_file_open(path, &opt, &file, NULL), 0);
	walk_file(file, &out);
	rck_file_close(file);
	free(path);
	assert_string_equal(out.buf, expected);
}

static void test_reference(void **state)
{
	_cleanup_strbuf_ struct rck_strbuf sb = RCK_STRBUF_INIT;
	char *elsewhere = rck_xasprintf("%s/elsewhere:%s/nothing", dir, dir);

	put_kpack(&sb, 1, 64);
	write_at(".kpack/x_gfx90a.kpack", &sb);
	write_at(".kpack/[literal].kpack", &sb);
	write_at("elsewhere/moved_gfx942.kpack", &sb);

	/* only this binary's kernels, of every archive that @GFXARCH@ may stand for */
	expect_host("lib/a.so", "../.kpack/x_@GFXARCH@.kpack", NULL,
		"code 'x_gfx90a.kpack/lib/a.so#0/gfx90a:xnack-' kpack "
		"target=gfx90a:xnack- "
		"size=100 at=-1\n");
	/* nothing else in a path matches anything but itself */
	expect_host("lib/b.so", "../.kpack/[literal].kpack", NULL,
		"code '[literal].kpack/lib/b.so#0/gfx942' kpack target=gfx942 size=64 "
		"at=-1\n");
	expect_host("lib/a.so", "../.kpack/*.kpack", NULL,
		"incomplete '' file (-2) device code is external (kpack), and no "
		"'../.kpack/*.kpack' is there at=128\n");
	expect_host("lib/a.so", "../gone/moved_@GFXARCH@.kpack", NULL,
		"incomplete '' file (-2) device code is external (kpack), and no "
		"'../gone/moved_@GFXARCH@.kpack' is there at=128\n");
	expect_host("lib/a.so", "../gone/moved_@GFXARCH@.kpack", elsewhere,
		"code 'moved_gfx942.kpack/lib/a.so#0/gfx90a:xnack-' kpack "
		"target=gfx90a:xnack- size=100 at=-1\n");
	expect_host("lib/c.so", "../.kpack/x_@GFXARCH@.kpack", NULL,
		"incomplete '' file (-2) device code is external (kpack), and the kpacks "
		"that "
		"were found have none for 'lib/c.so' at=128\n");
	free(elsewhere);
}

static int make_dir(void **state)
{
	static const char *const names[] = {"lib", ".kpack", "elsewhere"};

	if (!mkdtemp(dir))
		return -1;
	for (size_t i = 0; i < 3; i++) {
		char *path = rck_xasprintf("%s/%s", dir, names[i]);
		int err = mkdir(path, 0700);

		free(path);
		if (err)
			return err;
	}
	return 0;
}

static int remove_dir(void **state)
{
	char *command = rck_xasprintf("rm -rf '%s'", dir);
	int status = system(command);

	free(command);
	return status;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_archive),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_reference),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
