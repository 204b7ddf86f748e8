#include "util/regex.h"
#include "util/strbuf.h"

#include <errno.h>
#include <stdlib.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#define OPTIONS                                                                          \
	(PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C | PCRE2_DOTALL |  \
		PCRE2_DOLLAR_ENDONLY)

/* from one place in the text; PCRE2's own limit is ten times that, a third of a second */
#define MAX_STEPS 1000000

struct rck_regex {
	pcre2_code *code;
	pcre2_match_context *limits;
};

struct rck_regex *rck_regex_new(const char *text, char why[static 128])
{
	int err;
	size_t at;
	pcre2_code *code = pcre2_compile(
		(PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, OPTIONS, &err, &at, NULL);
	struct rck_regex *re;

	if (!code) {
		pcre2_get_error_message(err, (PCRE2_UCHAR *)why, 128);
		return NULL;
	}
	re = rck_xcalloc(1, sizeof(*re));
	re->code = code;
	re->limits = pcre2_match_context_create(NULL);
	if (!re->limits)
		rck_oom();
	pcre2_set_match_limit(re->limits, MAX_STEPS);
	return re;
}

void rck_regex_free(struct rck_regex *re)
{
	if (!re)
		return;
	pcre2_match_context_free(re->limits);
	pcre2_code_free(re->code);
	free(re);
}

int rck_regex_match(const struct rck_regex *re, const char *text)
{
	pcre2_match_data *data = pcre2_match_data_create(1, NULL);
	int n;

	if (!data)
		rck_oom();
	n = pcre2_match(re->code, (PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, 0, 0, data,
		re->limits);
	pcre2_match_data_free(data);
	return n >= 0 ? 1 : n == PCRE2_ERROR_NOMATCH ? 0 : -E2BIG;
}
