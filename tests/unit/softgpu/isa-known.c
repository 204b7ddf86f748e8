/*
 * Every mnemonic that the disassembler has for a target is either in the interpreter's
 * table or in isa-refused.txt, which says why; and what stands there is refused, and its
 * reason is in the man page.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fnmatch.h>

#include "isa-list.h"

#define LINES_MAX 64

static struct line {
	char pattern[64], why[96];
	unsigned int met;
} lines[LINES_MAX];
static unsigned int n_lines;

static char *read_text(const char *name)
{
	const char *dir = getenv("RCK_SOURCE_DIR");
	char path[512];
	static char buf[1 << 16];
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir ? dir : ".", name);
	f = fopen(path, "r");
	if (!f)
		fail_msg("%s is not there", path);
	n = fread(buf, 1, sizeof(buf) - 1, f);
	buf[n] = '\0';
	fclose(f);
	return buf;
}

static int setup(void **state)
{
	char *save = NULL;

	(void)state;
	for (char *s = strtok_r(
		     read_text("tests/unit/softgpu/isa-refused.txt"), "\n", &save);
		s; s = strtok_r(NULL, "\n", &save)) {
		struct line *l = &lines[n_lines];

		if (*s == '#' || sscanf(s, "%63s %95[^\n]", l->pattern, l->why) != 2)
			continue;
		if (++n_lines == LINES_MAX)
			return -1;
	}
	return 0;
}

static struct line *line_for(const char *name)
{
	for (unsigned int i = 0; i < n_lines; i++)
		if (!fnmatch(lines[i].pattern, name, 0))
			return &lines[i];
	return NULL;
}

static void target(const char *name)
{
	struct sg_list l = {0};
	unsigned int known = 0, refused = 0, bad = 0;

	snprintf(l.target, sizeof(l.target), "%s", name);
	if (!sg_list_enumerate(&l)) {
		print_message("%s: no disassembler\n", name);
		skip();
	}
	for (unsigned int i = 0; i < LIST_HASH; i++) {
		const struct sg_mnemonic *m = &l.by_name[i];
		struct line *line = line_for(m->name);

		if (!m->name[0])
			continue;
		if (m->known && line) {
			print_message("%s: %s is executed, isa-refused.txt has it\n",
				name, m->name);
			bad++;
		}
		if (sg_list_has(m->name, l.gen)) {
			known++;
			continue;
		}
		refused++;
		if (line) {
			line->met++;
		} else {
			print_message("%s: %s is refused, no line says why: %s: %s\n",
				name, m->name, m->text, m->why);
			bad++;
		}
	}
	print_message("%s: %u mnemonics, %u in the table, %u refused\n", name,
		known + refused, known, refused);
	assert_int_equal(bad, 0);
	assert_true(known > 700);
}

static void test_gfx90a(void **state)
{
	(void)state;
	target("gfx90a");
}

static void test_gfx942(void **state)
{
	(void)state;
	target("gfx942");
}

static void test_gfx1030(void **state)
{
	(void)state;
	target("gfx1030");
}

static void test_gfx1100(void **state)
{
	(void)state;
	target("gfx1100");
}

static void test_gfx1201(void **state)
{
	(void)state;
	target("gfx1201");
}

/* After the targets: nothing stands in the list for nothing, and all of it is told. */
static void test_list(void **state)
{
	char *man, *to;

	(void)state;
	man = to = read_text("man/soft.inc");
	for (char *s = man; *s; s++) /* roff's escapes and line ends */
		if (*s != '\\')
			*to++ = *s == '\n' ? ' ' : *s;
	*to = '\0';
	for (unsigned int i = 0; i < n_lines; i++) {
		if (!lines[i].met)
			fail_msg("isa-refused.txt: %s meets nothing", lines[i].pattern);
		if (!strstr(man, lines[i].why))
			fail_msg("man/soft.inc does not say: %s", lines[i].why);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gfx90a),
		cmocka_unit_test(test_gfx942),
		cmocka_unit_test(test_gfx1030),
		cmocka_unit_test(test_gfx1100),
		cmocka_unit_test(test_gfx1201),
		cmocka_unit_test(test_list),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
