#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "util/closest.h"
#include "util/json.h"
#include "util/opt.h"
#include "util/range.h"
#include "util/regex.h"
#include "util/strbuf.h"
#include "util/table.h"
#include "util/term.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void range_ok(void **state)
{
	assert_true(rck_range_ok(0, 0, 0));
	assert_true(rck_range_ok(4, 4, 8));
	assert_false(rck_range_ok(4, 5, 8));
	assert_false(rck_range_ok(9, 0, 8));
	assert_false(rck_range_ok(UINT64_MAX, 2, 8));
	assert_false(rck_range_ok(2, UINT64_MAX, 8));
	assert_int_equal(rck_align_up(9, 8), 16);
	assert_true(rck_align_up(UINT64_MAX - 1, 8) == UINT64_MAX);
}

static void little_endian(void **state)
{
	const uint8_t b[] = {0xff, 1, 2, 3, 4, 5, 6, 7, 0x88};

	assert_int_equal(rck_le16(b + 1), 0x0201);
	assert_int_equal(rck_le32(b + 1), 0x04030201);
	assert_true(rck_le64(b + 1) == 0x8807060504030201ull);
}

static void masked(void **state)
{
	_cleanup_strbuf_ struct rck_strbuf sb = RCK_STRBUF_INIT;
	static const char text[] = "a\033[1m\xc3\xa4\xff\xe2\x80\xae\x7f\xef\xbf\xbf";

	rck_strbuf_add_masked(&sb, text, sizeof(text) - 1);
	assert_string_equal(sb.buf, "a\\x1b[1m\xc3\xa4\\xff\\xe2\\x80\\xae\\x7f"
				    "\\xef\\xbf\\xbf");
}

static void strbuf_grows(void **state)
{
	_cleanup_strbuf_ struct rck_strbuf sb = RCK_STRBUF_INIT;
	char *s;

	assert_string_equal(sb.buf, "");
	for (unsigned i = 0; i < 1000; i++)
		rck_strbuf_addf(&sb, "%u,", i);
	assert_int_equal(sb.len, 10 * 2 + 90 * 3 + 900 * 4);
	rck_strbuf_reset(&sb);
	rck_strbuf_addu(&sb, UINT64_MAX);
	assert_string_equal(sb.buf, "18446744073709551615");
	s = rck_strbuf_detach(&sb);
	assert_string_equal(s, "18446744073709551615");
	assert_int_equal(sb.len, 0);
	free(s);
}

static void json_text(void **state)
{
	_cleanup_strbuf_ struct rck_strbuf sb = RCK_STRBUF_INIT;
	struct rck_json j;

	rck_json_init(&j, &sb, 0);
	rck_json_object(&j);
	rck_json_kstr(&j, "a\"\n", "\x01\xc3\xa4\xc3(\xc2\x85");
	rck_json_key(&j, "b");
	rck_json_array(&j);
	rck_json_u64(&j, UINT64_MAX);
	rck_json_i64(&j, INT64_MIN);
	rck_json_double(&j, NAN);
	rck_json_bool(&j, true);
	rck_json_array_end(&j);
	rck_json_kstr(&j, "c", NULL);
	rck_json_key(&j, "d");
	rck_json_object(&j);
	rck_json_object_end(&j);
	rck_json_object_end(&j);
	assert_string_equal(sb.buf,
		"{\"a\\\"\\n\":\"\\u0001\xc3\xa4\\ufffd(\\u0085\","
		"\"b\":[18446744073709551615,-9223372036854775808,null,true],"
		"\"c\":null,\"d\":{}}");
}

/* Every byte at every place of a string that is read in words of eight. */
static void json_bytes(void **state)
{
	for (int c = 1; c < 256; c++)
		for (size_t at = 0; at < 17; at++) {
			_cleanup_strbuf_ struct rck_strbuf sb = RCK_STRBUF_INIT;
			_cleanup_strbuf_ struct rck_strbuf expect = RCK_STRBUF_INIT;
			char s[] = "abcdefghijklmnopq";
			struct rck_json j;

			s[at] = (char)c;
			rck_json_init(&j, &sb, 0);
			rck_json_str(&j, s);
			rck_strbuf_addf(&expect, "\"%.*s", (int)at, s);
			if (c == '"' || c == '\\')
				rck_strbuf_addf(&expect, "\\%c", c);
			else if (strchr("\n\r\t", c))
				rck_strbuf_addf(&expect, "\\%c",
					c == '\n'   ? 'n'
					: c == '\r' ? 'r'
						    : 't');
			else if (c < 0x20 || c == 0x7f)
				rck_strbuf_addf(&expect, "\\u%04x", c);
			else if (c >= 0x80)
				rck_strbuf_adds(&expect, "\\ufffd");
			else
				rck_strbuf_addc(&expect, (char)c);
			rck_strbuf_addf(&expect, "%s\"", s + at + 1);
			assert_string_equal(sb.buf, expect.buf);
		}
}

static void json_indented(void **state)
{
	_cleanup_strbuf_ struct rck_strbuf sb = RCK_STRBUF_INIT;
	struct rck_json j;

	rck_json_init(&j, &sb, 2);
	rck_json_object(&j);
	rck_json_ku64(&j, "a", 1);
	rck_json_key(&j, "b");
	rck_json_array(&j);
	rck_json_str(&j, "x");
	rck_json_array_end(&j);
	rck_json_object_end(&j);
	assert_string_equal(sb.buf, "{\n  \"a\": 1,\n  \"b\": [\n    \"x\"\n  ]\n}");
}

static void options(void **state)
{
	bool flag = false, color = true;
	const char *str = NULL;
	unsigned long long n = 0;
	int choice = -1, operands;
	struct rck_opt_list list = {0};
	double seconds = 0;
	const struct rck_opt opts[] = {
		{RCK_OPT_FLAG, 'f', "flag", &flag, NULL, ""},
		{RCK_OPT_FLAG, 0, "color", &color, NULL, "", true},
		{RCK_OPT_STRING, 's', "string", &str, "S", ""},
		{RCK_OPT_UINT, 'j', "jobs", &n, "N", ""},
		{RCK_OPT_CHOICE, 0, "format", &choice, "text|json", ""},
		{RCK_OPT_LIST, 'x', "exclude", &list, "GLOB", ""},
		{RCK_OPT_DOUBLE, 't', "timeout", &seconds, "SECONDS", ""},
		{RCK_OPT_END},
	};
	char *argv[] = {"cmd", "one", "-fj4", "--no-color", "-x", "a", "--exclude=b",
		"-s", "v", "--format=json", "--", "-two", NULL};
	char *bad[] = {"cmd", "--jobs=4x", NULL};
	char *unknown[] = {"cmd", "-fz", NULL};
	/* asked for behind an option's value, too, and not where it is one */
	char *help[] = {"cmd", "-j", "3", "--help", NULL};
	char *short_help[] = {"cmd", "-fh", NULL};
	char *value[] = {"cmd", "-s", "--help", NULL};
	char *of_command[] = {"cmd", "command", "-h", NULL};
	char *times[] = {"1.5", "nan", "inf", "-inf", "", "1s"};

	assert_int_equal(rck_opt_parse(opts, 12, argv, false, &operands), 0);
	assert_true(flag);
	assert_false(color);
	assert_string_equal(str, "v");
	assert_int_equal(n, 4);
	assert_int_equal(choice, 1);
	assert_int_equal(list.n, 2);
	assert_string_equal(list.items[1], "b");
	assert_int_equal(operands, 2);
	assert_string_equal(argv[1], "one");
	assert_string_equal(argv[2], "-two");
	assert_true(rck_opt_parse(opts, 2, bad, false, &operands) < 0);
	assert_true(rck_opt_parse(opts, 2, unknown, false, &operands) < 0);
	assert_ptr_equal(list.by[0], &opts[5]);
	assert_int_equal(rck_opt_parse(opts, 4, help, true, &operands), RCK_OPT_HELP);
	assert_int_equal(
		rck_opt_parse(opts, 2, short_help, false, &operands), RCK_OPT_HELP);
	assert_int_equal(rck_opt_parse(opts, 3, value, false, &operands), 0);
	assert_string_equal(str, "--help");
	assert_int_equal(rck_opt_parse(opts, 3, of_command, true, &operands), 0);
	assert_int_equal(operands, 2);
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		char *given[] = {"cmd", "--timeout", times[i], NULL};

		assert_int_equal(
			rck_opt_parse(opts, 3, given, false, &operands) < 0, i > 0);
	}
	free(list.items);
	free(list.by);
}

static void table_fits(void **state)
{
	static const struct rck_column columns[] = {
		{"name", .shrink = true, .least = 5}, {"n", .right = true}};
	_cleanup_strbuf_ struct rck_strbuf sb = RCK_STRBUF_INIT;
	struct rck_table *t = rck_table_new(columns, 2);

	rck_table_cell(t, "abcdefghijklmnop");
	rck_table_cell(t, "1");
	rck_table_cell(t, "\xc3\xa4");
	rck_table_cell(t, "200");
	rck_table_print(t, &sb, 14, 0);
	assert_string_equal(sb.buf, "name         n\nabcd\xe2\x80\xa6mnop    1\n"
				    "\xc3\xa4          200\n");
	rck_table_free(t);
	assert_int_equal(rck_term_columns("\033[1mx\xc3\xa4\033[0m", 11), 2);
}

static void cut_by_x(struct rck_strbuf *out, const char *text, size_t width)
{
	rck_strbuf_addf(out, "%.*sx", (int)width - 1, text);
}

static void table_cuts_as_told(void **state)
{
	static const struct rck_column columns[] = {{"n", .right = true},
		{"name", .shrink = true, .least = 5, .cut = cut_by_x}};
	_cleanup_strbuf_ struct rck_strbuf sb = RCK_STRBUF_INIT;
	struct rck_table *t = rck_table_new(columns, 2);

	rck_table_cell(t, "1");
	rck_table_cell(t, "abcdefghijklmnop");
	rck_table_print(t, &sb, 9, 0);
	assert_string_equal(sb.buf, "n  name\n1  abcdex\n");
	rck_table_free(t);
	rck_strbuf_reset(&sb);
	rck_table_cut(&sb, "fits", 4);
	rck_table_cut(&sb, "fits not", 1);
	rck_table_cut(&sb, "fits not", 0);
	assert_string_equal(sb.buf, "fits\xe2\x80\xa6");
}

static void wraps(void **state)
{
	static const struct {
		const char *text;
		unsigned at, indent, width;
		const char *expect;
	} cases[] = {
		{"", 0, 2, 10, "\n"},
		{"one two three", 0, 2, 9, "one two\n  three\n"},
		{"one two three", 4, 0, 8, "one\ntwo\nthree\n"},
		{"much-too-long a", 0, 1, 4, "much-too-long\n a\n"},
		{"\xc3\xa4\xc3\xa4 \xc3\xb6", 0, 0, 4, "\xc3\xa4\xc3\xa4 \xc3\xb6\n"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		_cleanup_strbuf_ struct rck_strbuf sb = RCK_STRBUF_INIT;

		rck_term_wrap(
			&sb, cases[i].text, cases[i].at, cases[i].indent, cases[i].width);
		assert_string_equal(sb.buf, cases[i].expect);
	}
}

static const char *closest_of(const char *word)
{
	static const char *const known[] = {
		"format", "fail-on", "root", "rocm", "color", "jobs"};
	struct rck_closest c;

	rck_closest_init(&c, word, strlen(word));
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		rck_closest_try(&c, known[i]);
	return c.best ? c.best : "";
}

static void test_closest(void **state)
{
	assert_string_equal(closest_of("format"), "format");
	assert_string_equal(closest_of("formats"), "format"); /* one more */
	assert_string_equal(closest_of("frmat"), "format");   /* one less */
	assert_string_equal(closest_of("formta"), "format");  /* two swapped */
	assert_string_equal(closest_of("faolon"), "fail-on"); /* two of seven */
	assert_string_equal(closest_of("colour"), "color");
	assert_string_equal(closest_of("r00t"), "");
	assert_string_equal(closest_of("anything"), "");
	assert_string_equal(closest_of(""), "");
	assert_string_equal(
		closest_of("a-word-that-is-longer-than-any-option-can-be-here"), "");
}

/* What a person writes compiles, and what would take for ever ends at once. */
static void regexes(void **state)
{
	static const struct {
		const char *text, *subject;
		int expected; /* of the match; -EINVAL: it does not compile */
	} cases[] = {
		{"^rms_norm<.*(float|bf16)>$", "rms_norm<float, bf16>", 1},
		{"[]+]+[^]{}]{2,}", "]+ab", 1},
		{"a{3}(b{1,2}c?)+", "aaabb", 1},
		{"[[:digit:]]x\\++", "7x+", 1},
		{"a.b", "a\nb", 1},
		{"a.b",
			"a\xc3\xa4"
			"b",
			1},
		{"a.*c",
			"\xff\xfe"
			"abc",
			1},
		{"b$", "ab\n", 0},
		{"debug_+", "debug", 0},
		{"(((x*)*)*|((y?)*z?)*)*$", "", 1},
		{"((((a+)+b)+c{100})+){100}", "", 0},
		{"((a{9,}){9,}){999}", "", -EINVAL},
		{"a{18446744073709551615}", "", -EINVAL},
		{"(", "", -EINVAL},
		{"[", "", -EINVAL},
		{"\\", "", -EINVAL},
		{"a\\Cb", "", -EINVAL},
		{"\xff", "", -EINVAL},
		{"^(a|a|ab?)*[cd]$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac+",
			-E2BIG},
	};
	char deep[2001], empty[301] = "", why[128];
	struct rck_regex *re;

	memset(deep, '(', 1000);
	memset(deep + 1000, ')', 1000);
	deep[2000] = '\0';
	assert_null(rck_regex_new(deep, why));
	/* glibc 2.36's regcomp takes minutes for 20 of them */
	for (size_t i = 0; i + 6 < sizeof(empty); i += 6)
		memcpy(empty + i, "(^|a)*", 6);
	re = rck_regex_new(empty, why);
	assert_non_null(re);
	rck_regex_free(re);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int got;

		re = rck_regex_new(cases[i].text, why);
		got = re ? rck_regex_match(re, cases[i].subject) : -EINVAL;
		if (got != cases[i].expected)
			fail_msg("%s: %d %s", cases[i].text, got, re ? "" : why);
		rck_regex_free(re);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_closest),
		cmocka_unit_test(range_ok),
		cmocka_unit_test(little_endian),
		cmocka_unit_test(masked),
		cmocka_unit_test(strbuf_grows),
		cmocka_unit_test(json_text),
		cmocka_unit_test(json_bytes),
		cmocka_unit_test(json_indented),
		cmocka_unit_test(options),
		cmocka_unit_test(table_fits),
		cmocka_unit_test(table_cuts_as_told),
		cmocka_unit_test(wraps),
		cmocka_unit_test(regexes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
