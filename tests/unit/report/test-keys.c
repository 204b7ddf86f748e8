/* The schema and the man page know every key and every word that the tables hold. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "report/summary.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *read_source(const char *path)
{
	const char *dir = getenv("RCK_SOURCE_DIR");
	struct rck_strbuf text = RCK_STRBUF_INIT;
	char *name = rck_xasprintf("%s/%s", dir ? dir : ".", path);
	FILE *f = fopen(name, "r");
	int c;

	assert_non_null(f);
	while ((c = getc(f)) != EOF)
		if (c != '\\') /* roff's escapes */
			rck_strbuf_addc(&text, (char)c);
	fclose(f);
	free(name);
	return rck_strbuf_detach(&text);
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-';
}

/* Whether text holds word as a whole word. */
static bool has_word(const char *text, const char *word)
{
	size_t len = strlen(word);

	for (const char *p = text; (p = strstr(p, word)); p++)
		if ((p == text || !is_word(p[-1])) && !is_word(p[len]))
			return true;
	return false;
}

static void expect_word(const char *word)
{
	char *schema = read_source("share/schema/inspect.schema.json");
	char *man = read_source("man/inspect.inc");

	if (!has_word(schema, word))
		fail_msg("'%s' is not in the schema", word);
	if (!has_word(man, word))
		fail_msg("'%s' is not in the man page", word);
	free(schema);
	free(man);
}

static void facts(void **state)
{
	for (enum rck_fact f = 0; f < RCK_FACT_COUNT_; f++) {
		assert_int_equal(rck_fact_info(f)->fact, f);
		expect_word(rck_fact_info(f)->key);
	}
}

static void causes(void **state)
{
	for (enum rck_cause c = 0; c < RCK_CAUSE_COUNT_; c++)
		expect_word(rck_cause_name(c));
	for (int i = RCK_CONFIDENCE_LOW; i <= RCK_CONFIDENCE_HIGH; i++)
		expect_word(rck_confidence_name((enum rck_confidence)i));
}

/* A cause of a flagged kernel comes with words and a remedy. */
static void remedies(void **state)
{
	for (enum rck_cause c = RCK_CAUSE_NONE + 1; c < RCK_CAUSE_COUNT_; c++) {
		assert_true(strlen(rck_cause_text(c)) > 0);
		assert_true(strlen(rck_cause_remedy(c)) > 0);
	}
}

static void sums(void **state)
{
	struct rck_kernel k = {.declares_heap = true, .cause = RCK_CAUSE_DEVICE_MALLOC};
	struct rck_summary a = {.kernels = 2, .files = 1},
			   b = {.kernels = 3, .errors = 1};
	struct rck_strbuf text = RCK_STRBUF_INIT;
	struct rck_json j;

	rck_summary_add_kernel(&a, &k);
	k = (struct rck_kernel){.dynamic_stack = RCK_POSSIBLE};
	rck_summary_add_kernel(&b, &k);
	rck_summary_add(&a, &b);
	rck_json_init(&j, &text, 0);
	rck_json_object(&j);
	rck_summary_json(&a, &j);
	rck_json_object_end(&j);
	assert_string_equal(text.buf,
		"{\"code_objects\":0,\"kernels\":5,\"selected\":2,\"flagged\":1,"
		"\"hostcall\":0,\"heap\":1,\"dynamic_stack\":0,"
		"\"possible_dynamic_stack\":1,\"errors\":1,\"incomplete\":0,\"notes\":0,"
		"\"files\":1,\"files_without\":0,\"causes\":{\"device-malloc\":1}}");
	rck_strbuf_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(facts),
		cmocka_unit_test(causes),
		cmocka_unit_test(remedies),
		cmocka_unit_test(sums),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
