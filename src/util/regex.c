#include "util/regex.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ITEMS 10000 /* after the copying */
#define MAX_DEPTH 100

/* Behind the "]" that ends the bracket expression whose inside begins at p. */
static const char *bracket_end(const char *p)
{
	p += *p == '^';
	p += *p == ']';
	while (*p && *p != ']') {
		const char kind = p[1];

		if (*p == '[' && kind && strchr(".=:", kind)) {
			const char close[] = {kind, ']', '\0'},
				   *end = strstr(p + 2, close);

			p = end ? end + 2 : p + 1;
		} else {
			p++;
		}
	}
	return *p ? p + 1 : p;
}

/* How many items the interval behind a "{" makes of one; 1 when it is none. *p is set
 * behind it. */
static unsigned long interval(const char **p)
{
	char *end;
	unsigned long low, high;

	if (!isdigit((unsigned char)**p) && **p != ',')
		return 1;
	low = high = strtoul(*p, &end, 10);
	if (*end == ',') {
		const char *from = end + 1;

		high = strtoul(from, &end, 10);
		if (end == from)
			high = low + 1;
	}
	if (*end != '}')
		return 1;
	*p = end + 1;
	return high > MAX_ITEMS ? MAX_ITEMS + 1 : high > 1 ? high : 1;
}

/* Counts the items that text becomes; NULL, or why it is refused. */
static const char *check(const char *text)
{
	/* of the whole and of each group around; of the item that a repetition repeats */
	unsigned long items[MAX_DEPTH] = {0}, item = 0;
	size_t depth = 0;

	for (const char *p = text; *p;) {
		unsigned long times = 1;

		switch (*p++) {
		case '(':
			if (++depth == MAX_DEPTH)
				return "parentheses nested too deep";
			items[depth] = 0;
			item = 0;
			continue;
		case ')':
			item = 1;
			if (depth) {
				item += items[depth--];
				items[depth] += item;
			}
			break;
		case '|':
			item = 0;
			continue;
		case '*':
		case '?':
			continue;
		case '+':
			times = 2;
			break;
		case '{':
			times = interval(&p);
			break;
		case '[':
			p = bracket_end(p);
			item = 1;
			items[depth]++;
			break;
		case '\\':
			p += *p != '\0';
			/* fallthrough */
		default:
			item = 1;
			items[depth]++;
		}
		items[depth] += item * (times - 1);
		item *= times;
		if (items[depth] > MAX_ITEMS)
			return "too many repetitions";
	}
	return NULL;
}

int rck_regex_compile(regex_t *regex, const char *text, char why[static 100])
{
	const char *refused = check(text);
	int err;

	if (refused) {
		snprintf(why, 100, "%s", refused);
		return -EINVAL;
	}
	err = regcomp(regex, text, REG_EXTENDED | REG_NOSUB);
	if (!err)
		return 0;
	regerror(err, regex, why, 100);
	return -EINVAL;
}
