#include "make.h"

#include <elf.h>

static void expect(const struct rck_strbuf *sb, const char *expected)
{
	struct rck_strbuf out = RCK_STRBUF_INIT;
	struct rck_host_elf elf;
	struct rck_entry e;
	struct rck_diag diag;
	int err = rck_host_elf_open(&elf, slice_of(sb), &diag);

	while (!err && (err = rck_host_elf_next(&elf, &e, &diag)) > 0) {
		rck_strbuf_addf(&out, "%llu %.*s %llu\n", (unsigned long long)e.index,
			(int)e.id_len, e.id, (unsigned long long)e.slice.size);
		err = 0;
	}
	if (err < 0)
		rck_strbuf_addf(
			&out, "(%d) %s at=%lld\n", err, diag.msg, (long long)diag.offset);
	rck_host_elf_close(&elf);
	assert_string_equal(out.buf, expected);
	rck_strbuf_release(&out);
}

static void make(struct rck_strbuf *sb)
{
	static struct rck_strbuf text = {(char *)"0123456789", 10, 0};
	const struct elf_section sections[] = {{".text", SHT_PROGBITS, &text},
		{".symtab", SHT_SYMTAB, &text}, {".llvm.offloading", 0x6fff4c0b, &text},
		{".bss", SHT_NOBITS, &text}, {".data", SHT_PROGBITS, &text}};

	put_host_elf(sb, sections, 5);
}

static void test_sections(void **state)
{
	_cleanup_strbuf_ struct rck_strbuf sb = RCK_STRBUF_INIT;

	make(&sb);
	expect(&sb, "1 .text 10\n3 .llvm.offloading 10\n5 .data 10\n");
}

/* Any class and byte order: a section header table of none is enough to be read. */
static void test_classes(void **state)
{
	for (int class = 1; class <= 2; class ++) {
		for (int data = 1; data <= 2; data++) {
			_cleanup_strbuf_ struct rck_strbuf sb = RCK_STRBUF_INIT;

			put(&sb,
				"\x7f"
				"ELF",
				4);
			put_uint(&sb, (unsigned)class, 1);
			put_uint(&sb, (unsigned)data, 1);
			put_uint(&sb, 1, 1);
			put_uint(&sb, 0, 57);
			expect(&sb, "");
		}
	}
}

static void test_damage(void **state)
{
	_cleanup_strbuf_ struct rck_strbuf sb = RCK_STRBUF_INIT;
	uint64_t shoff;
	char expected[160];

	make(&sb);
	memcpy(&shoff, sb.buf + 40, 8);

	put_at(&sb, 60, 0xff00, 2);
	snprintf(expected, sizeof(expected),
		"(-22) ELF claims 65280 section headers at offset %llu, outside the "
		"file's %zu "
		"bytes at=%llu\n",
		(unsigned long long)shoff, sb.len, (unsigned long long)shoff);
	expect(&sb, expected);

	/* the count in section 0 */
	put_at(&sb, 60, 0, 2);
	put_at(&sb, shoff + 32, 1ull << 40, 8);
	snprintf(expected, sizeof(expected),
		"(-22) ELF claims 1099511627776 section headers at offset %llu, outside "
		"the "
		"file's %zu bytes at=%llu\n",
		(unsigned long long)shoff, sb.len, (unsigned long long)shoff);
	expect(&sb, expected);
	put_at(&sb, shoff + 32, 7, 8);
	expect(&sb, "1 .text 10\n3 .llvm.offloading 10\n5 .data 10\n");
	put_at(&sb, shoff + 32, 0, 8);
	put_at(&sb, 60, 7, 2);

	put_at(&sb, 40, UINT64_MAX, 8);
	snprintf(expected, sizeof(expected),
		"(-22) ELF section headers at offset 18446744073709551615 lie outside "
		"the "
		"file's %zu bytes at=-1\n",
		sb.len);
	expect(&sb, expected);
	put_at(&sb, 40, shoff, 8);

	put_at(&sb, 58, 40, 2);
	expect(&sb, "(-22) ELF section headers of a size that is not 64 at=58\n");
	put_at(&sb, 58, 64, 2);

	/* one section outside; those in front of it are given */
	put_at(&sb, shoff + 64 * 3 + 32, 1 << 20, 8);
	snprintf(expected, sizeof(expected),
		"1 .text 10\n(-22) section 3 '.llvm.offloading' at offset 192, size "
		"1048576, "
		"leaves the file's %zu bytes at=192\n",
		sb.len);
	expect(&sb, expected);

	put_at(&sb, 4, 3, 1);
	expect(&sb, "(-22) ELF class 3 is not known at=4\n");
	put_at(&sb, 4, 2, 1);
	put_at(&sb, 5, 0, 1);
	expect(&sb, "(-22) ELF byte order 0 is not known at=5\n");
	put_at(&sb, 5, 1, 1);
	sb.len = 50;
	expect(&sb, "(-22) ELF header cut short at=0\n");
}

/* A string table that claims to be compressed is not inflated for its names. */
static void test_compressed_names(void **state)
{
	_cleanup_strbuf_ struct rck_strbuf sb = RCK_STRBUF_INIT;
	uint64_t shoff;

	make(&sb);
	memcpy(&shoff, sb.buf + 40, 8);
	put_at(&sb, shoff + 64 * 6 + 8, SHF_COMPRESSED, 8);
	expect(&sb, "1  10\n3  10\n5  10\n");
	put_at(&sb, shoff + 64 * 6 + 8, 0, 8);
	put_at(&sb, shoff + 64 * 1, 1 << 30, 4);
	expect(&sb, "1  10\n3 .llvm.offloading 10\n5 .data 10\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sections),
		cmocka_unit_test(test_classes),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_compressed_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
