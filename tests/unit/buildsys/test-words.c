#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "buildsys/words.h"
#include "util/strbuf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The words of text, joined by '|'. */
static void check(const char *text, enum rck_quoting q, const char *expected)
{
	_cleanup_strbuf_ struct rck_strbuf joined = RCK_STRBUF_INIT;
	struct rck_strv words = {0};

	rck_words_split(&words, text, strlen(text), q);
	for (size_t i = 0; i < words.n; i++)
		rck_strbuf_addf(&joined, "%s%s", i ? "|" : "", words.items[i]);
	assert_string_equal(joined.buf, expected);
	rck_strv_release(&words);
}

static void posix(void **state)
{
	check("", RCK_QUOTING_POSIX, "");
	check(" a\tb\n c ", RCK_QUOTING_POSIX, "a|b|c");
	check("'a b' \"c \\\"d\\\" \\n\" e\\ f", RCK_QUOTING_POSIX,
		"a b|c \"d\" \\n|e f");
	check("-DX='\"y\"' ''", RCK_QUOTING_POSIX, "-DX=\"y\"|");
	check("a'unended b", RCK_QUOTING_POSIX, "aunended b");
	check("a\\", RCK_QUOTING_POSIX, "a\\");
	check("a\\\nb", RCK_QUOTING_POSIX, "ab");
}

static void windows(void **state)
{
	check("\"C:\\Program Files\\clang++.exe\" -c a\\b.hip", RCK_QUOTING_WINDOWS,
		"C:\\Program Files\\clang++.exe|-c|a\\b.hip");
	check("a\\\\\\\"b \"c\\\\\" d", RCK_QUOTING_WINDOWS, "a\\\"b|c\\|d");
	assert_int_equal(rck_words_guess("\"C:\\x\""), RCK_QUOTING_WINDOWS);
	assert_int_equal(rck_words_guess("/usr/bin/x"), RCK_QUOTING_POSIX);
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void response_files(void **state)
{
	char dir[] = "/tmp/rck-words-XXXXXX";
	struct rck_strv words = {0};
	struct rck_diag diag;
	char path[64];

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/inner", dir);
	write_file(path, "-O2 '-DA=b c'\n");
	snprintf(path, sizeof(path), "%s/outer", dir);
	write_file(path, "-g\n@inner\n");
	snprintf(path, sizeof(path), "%s/loop", dir);
	write_file(path, "@loop");

	rck_strv_add(&words, "cc");
	rck_strv_add(&words, "@outer");
	rck_strv_add(&words, "@absent");
	assert_int_equal(rck_words_expand(&words, dir, &diag), 0);
	assert_int_equal(words.n, 5);
	assert_string_equal(words.items[3], "-DA=b c");
	assert_string_equal(words.items[4], "@absent");
	rck_strv_add(&words, "@loop");
	assert_int_equal(rck_words_expand(&words, dir, &diag), -ELOOP);
	rck_strv_release(&words);

	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir,
			(const char *[]){"inner", "outer", "loop"}[i]);
		unlink(path);
	}
	rmdir(dir);
}

/* Files of a few bytes that become words without end, and one that never ends. */
static void hostile_response_files(void **state)
{
	char dir[] = "/tmp/rck-words-XXXXXX", path[64], many[40 * 10 + 1] = "";
	static const char *const names[] = {"leaf", "wide", "wider", "fifo"};
	struct rck_strv words = {0};
	struct rck_diag diag;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/leaf", dir);
	write_file(path, "-g");
	for (int i = 0; i < 40; i++)
		strcat(many, "@leaf ");
	snprintf(path, sizeof(path), "%s/wide", dir);
	write_file(path, many);
	for (char *p = many; (p = strstr(p, "leaf")); p++)
		memcpy(p, "wide", 4);
	snprintf(path, sizeof(path), "%s/wider", dir);
	write_file(path, many);
	snprintf(path, sizeof(path), "%s/fifo", dir);
	assert_int_equal(mkfifo(path, 0600), 0);

	rck_strv_add(&words, "@wide");
	assert_int_equal(rck_words_expand(&words, dir, &diag), 0);
	assert_int_equal(words.n, 40);
	rck_strv_add(&words, "@wider");
	assert_int_equal(rck_words_expand(&words, dir, &diag), -E2BIG);
	assert_non_null(strstr(diag.msg, "more than 1000 response files"));
	rck_strv_release(&words);
	words = (struct rck_strv){0};
	rck_strv_add(&words, "@fifo");
	assert_int_equal(rck_words_expand(&words, dir, &diag), -EINVAL);
	assert_non_null(strstr(diag.msg, "it is not a regular file"));
	rck_strv_release(&words);

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		unlink(path);
	}
	rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(posix),
		cmocka_unit_test(windows),
		cmocka_unit_test(response_files),
		cmocka_unit_test(hostile_response_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
