#include "util/shorten.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

static bool ends_with(const char *s, size_t len, const char *end)
{
	size_t n = strlen(end);

	return len >= n && !memcmp(s + len - n, end, n);
}

/* The "(" that the ")" at s[close] belongs to, or close when there is none. */
static size_t opening(const char *s, size_t close)
{
	size_t depth = 0;

	for (size_t i = close + 1; i-- > 0;) {
		depth += s[i] == ')';
		depth -= s[i] == '(';
		if (!depth)
			return i;
	}
	return close;
}

/* Length of a name without its parameters. */
static size_t without_parameters(const char *s, size_t len)
{
	size_t end = len, open;

	if (ends_with(s, end, "]")) { /* " [clone .kd]" */
		while (end && s[end - 1] != '[')
			end--;
		end -= end > 1 ? 2 : end;
	}
	if (ends_with(s, end, " const"))
		end -= strlen(" const");
	if (!ends_with(s, end, ")"))
		return len;
	open = opening(s, end - 1);
	if (open == end - 1 || !open || ends_with(s, open, "operator"))
		return len;
	return open;
}

/* Where the name starts behind a return type: behind the last blank outside brackets. */
static size_t behind_type(const char *s, size_t len)
{
	size_t start = 0;
	int depth = 0;

	for (size_t i = 0; i < len; i++) {
		if (ends_with(s, i, "operator") && strchr("<>(-", s[i]))
			break;
		if (strchr("<({[", s[i]))
			depth++;
		else if (strchr(">)}]", s[i]))
			depth--;
		else if (s[i] == ' ' && !depth && !ends_with(s, i, "operator"))
			start = i + 1;
	}
	return depth ? 0 : start;
}

/* HIP's vector types by the names they have in source: "HIP_vector_type<float, 2u>" is
 * float2, "HIP_vector_type<unsigned int, 4u>" is uint4. Bytes that were read, or 0. */
static size_t add_vector_type(struct rck_strbuf *out, const char *s, size_t len)
{
	static const char start[] = "HIP_vector_type<";
	size_t n = sizeof(start) - 1, comma = n;

	if (len < n || memcmp(s, start, n))
		return 0;
	while (comma < len && (isalpha((unsigned char)s[comma]) || s[comma] == ' '))
		comma++;
	/* ", 2u>" */
	if (len - comma < 5 || s[comma] != ',' || s[comma + 1] != ' ' ||
		!isdigit((unsigned char)s[comma + 2]) || s[comma + 3] != 'u' ||
		s[comma + 4] != '>')
		return 0;
	if (comma - n > 9 && !memcmp(s + n, "unsigned ", 9)) {
		rck_strbuf_addc(out, 'u');
		n += 9;
	}
	rck_strbuf_add(out, s + n, comma - n);
	rck_strbuf_addc(out, s[comma + 2]);
	return comma + 5;
}

/* Adds a name with vector types by their short names, and ">>" for "> >". */
static void add_tidy(struct rck_strbuf *out, const char *s, size_t len)
{
	for (size_t i = 0, n; i < len; i += n) {
		n = s[i] == 'H' ? add_vector_type(out, s + i, len - i) : 0;
		if (n)
			continue;
		n = 1;
		if (s[i] != ' ' || !i || s[i - 1] != '>' || i + 1 == len ||
			s[i + 1] != '>')
			rck_strbuf_addc(out, s[i]);
	}
}

void rck_shorten_name(struct rck_strbuf *out, const char *name, size_t len)
{
	size_t end = without_parameters(name, len);
	size_t start = end < len ? behind_type(name, end) : 0;

	if (start == end)
		start = 0;
	add_tidy(out, name + start, end - start);
}
