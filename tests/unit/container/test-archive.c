#include "make.h"

#include <unistd.h>

static void put_member(struct rck_strbuf *sb, const char *name, size_t size)
{
	rck_strbuf_addf(sb, "%-16s%-12d%-6d%-6d%-8o%-10zu`\n", name, 0, 0, 0, 0644, size);
}

static void put_pad(struct rck_strbuf *sb)
{
	if (sb->len % 2)
		rck_strbuf_addc(sb, '\n');
}

static void test_gnu(void **state)
{
	static const char names[] = "a_name_longer_than_fifteen.o/\nanother/one.o/\n";
	_cleanup_strbuf_ struct rck_strbuf sb = RCK_STRBUF_INIT;

	put(&sb, "!<arch>\n", 8);
	put_member(&sb, "/", 4);
	put(&sb, "\0\0\0\0", 4);
	put_member(&sb, "//", strlen(names));
	put(&sb, names, strlen(names));
	put_pad(&sb);
	put_member(&sb, "short.o/", 101);
	put_code_object(&sb, 101);
	put_pad(&sb);
	put_member(&sb, "/0", 100);
	put_code_object(&sb, 100);
	put_member(&sb, "readme.txt/", 5);
	put(&sb, "hello", 5);
	put_pad(&sb);
	put_member(&sb, "/30", 100);
	put_code_object(&sb, 100);
	expect_walk(&sb, NULL,
		"code 'short.o' archive size=101 at=238\n"
		"code 'a_name_longer_than_fifteen.o' archive size=100 at=400\n"
		"code 'another/one.o' archive size=100 at=626\n");
}

static void test_bsd(void **state)
{
	_cleanup_strbuf_ struct rck_strbuf sb = RCK_STRBUF_INIT;

	put(&sb, "!<arch>\n", 8);
	put_member(&sb, "#1/20", 24);
	put(&sb, "__.SYMDEF SORTED\0\0\0\0\0\0\0\0", 24);
	put_member(&sb, "#1/8", 108);
	put(&sb, "kern.o\0\0", 8);
	put_code_object(&sb, 100);
	put_member(&sb, "plain.o", 100);
	put_code_object(&sb, 100);
	expect_walk(&sb, NULL,
		"code 'kern.o' archive size=100 at=160\n"
		"code 'plain.o' archive size=100 at=320\n");
}

static void expect_damage(struct rck_strbuf *sb, const char *expected)
{
	expect_walk(sb, NULL, expected);
	rck_strbuf_reset(sb);
	put(sb, "!<arch>\n", 8);
	put_member(sb, "whole.o/", 100);
	put_code_object(sb, 100);
}

#define WHOLE "code 'whole.o' archive size=100 at=68\n"

static void test_damage(void **state)
{
	_cleanup_strbuf_ struct rck_strbuf sb = RCK_STRBUF_INIT;

	put(&sb, "!<arch>\n", 8);
	expect_damage(&sb, "");
	put(&sb, "half a header", 13);
	expect_damage(&sb, WHOLE
		"error '' file (-22) archive member 1: its header is cut short at=168\n");
	put_member(&sb, "x", 10);
	sb.buf[sb.len - 1] = 'x';
	expect_damage(&sb,
		WHOLE "error '' file (-22) archive member 1: its header does not "
		      "end in \"`\\n\" at=226\n");
	put_member(&sb, "x", 10);
	sb.buf[sb.len - 12] = '-';
	expect_damage(&sb, WHOLE
		"error '' file (-22) archive member 1: its size is no number at=216\n");
	put_member(&sb, "x", 9999999999);
	expect_damage(&sb,
		WHOLE "error '' file (-22) archive member 1: it is longer than the "
		      "archive at=216\n");
	put_member(&sb, "/77", 0);
	expect_damage(&sb,
		WHOLE "error '' file (-22) archive member 1: its name is not in the "
		      "table of long names at=168\n");
	put_member(&sb, "#1/50", 4);
	put(&sb, "abcd", 4);
	expect_damage(&sb,
		WHOLE "error '' file (-22) archive member 1: its name is longer than "
		      "its data at=168\n");
}

static char dir[] = "/tmp/rocmcheck-archive-XXXXXX";

static char *write_at(const char *name, const struct rck_strbuf *sb)
{
	char *path = rck_xasprintf("%s/%s", dir, name);
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(sb->buf, 1, sb->len, f), sb->len);
	assert_int_equal(fclose(f), 0);
	return path;
}

static void expect_file(const char *path, const char *expected)
{
	_cleanup_strbuf_ struct rck_strbuf out = RCK_STRBUF_INIT;
	struct rck_file *file;

	assert_int_equal(rck_file_open(path, NULL, &file, NULL), 0);
	walk_file(file, &out);
	rck_file_close(file);
	assert_string_equal(out.buf, expected);
}

static void test_thin(void **state)
{
	_cleanup_strbuf_ struct rck_strbuf sb = RCK_STRBUF_INIT, co = RCK_STRBUF_INIT;
	char *thin, *path;

	put_code_object(&co, 100);
	path = write_at("kernels_with_a_long_name.o", &co);
	free(path);

	/* a member that is there, one that is not, and the archive itself */
	put(&sb, "!<thin>\n", 8);
	put_member(&sb, "//", 60);
	put(&sb, "kernels_with_a_long_name.o/\nlost_with_a_long_name.o/\nthin.a/", 60);
	put_member(&sb, "/0", 100);
	put_member(&sb, "/28", 100);
	put_member(&sb, "thin.a/", 100);
	thin = write_at("thin.a", &sb);
	expect_file(thin, "code 'kernels_with_a_long_name.o' archive size=100 at=-1\n"
			  "error 'lost_with_a_long_name.o' archive (-2) thin archive's "
			  "member: cannot "
			  "open: No such file or directory at=248\n"
			  "error 'thin.a' archive (-40) thin archive's member: contains "
			  "itself at=308\n");
	free(thin);

	/* from memory without a name there is no folder to look in */
	expect_walk(&sb, NULL,
		"error 'kernels_with_a_long_name.o' archive (-2) thin archive's member: "
		"it is "
		"another file, and there is no folder to look in at=188\n"
		"error 'lost_with_a_long_name.o' archive (-2) thin archive's member: it "
		"is "
		"another file, and there is no folder to look in at=248\n"
		"error 'thin.a' archive (-2) thin archive's member: it is another file, "
		"and "
		"there is no folder to look in at=308\n");
}

/* ar T of an archive: "/name:offset of the member's header in it". */
static void test_thin_of_archive(void **state)
{
	_cleanup_strbuf_ struct rck_strbuf sb = RCK_STRBUF_INIT, inner = RCK_STRBUF_INIT;
	size_t second;
	char name[32], *path;

	put(&inner, "!<arch>\n", 8);
	put_member(&inner, "one.o/", 100);
	put_code_object(&inner, 100);
	second = inner.len;
	put_member(&inner, "two.o/", 120);
	put_code_object(&inner, 120);
	free(write_at("inner_with_a_long_name.a", &inner));

	put(&sb, "!<thin>\n", 8);
	put_member(&sb, "//", 26);
	put(&sb, "inner_with_a_long_name.a/\n", 26);
	snprintf(name, sizeof(name), "/0:%zu", second);
	put_member(&sb, name, 120);
	put_member(&sb, "/0:3", 120);
	path = write_at("outer.a", &sb);
	expect_file(path, "code 'inner_with_a_long_name.a' archive size=120 at=-1\n"
			  "error 'inner_with_a_long_name.a' archive (-22) thin archive's "
			  "member: has no member at offset 3 at=214\n");
	free(path);
}

static int make_dir(void **state)
{
	return mkdtemp(dir) ? 0 : -1;
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
		cmocka_unit_test(test_gnu),
		cmocka_unit_test(test_bsd),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_thin),
		cmocka_unit_test(test_thin_of_archive),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
