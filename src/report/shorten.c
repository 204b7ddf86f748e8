#include "report/shorten.h"
#include "util/table.h"
#include "util/term.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* Template arguments of which less than this is left say nothing: "<…>" then. */
#define LEAST_ARGS 12

/* Length of the part before the template arguments that end the name. */
static size_t head_length(const char *name, size_t len)
{
	int depth = 0;

	if (!len || name[len - 1] != '>')
		return len;
	for (size_t i = len; i-- > 0;) {
		depth += name[i] == '>' && !(i && name[i - 1] == '-');
		depth -= name[i] == '<';
		if (!depth)
			return i ? i : len;
	}
	return len;
}

/* The next shorter form of a head: behind its first "::" outside brackets; NULL: none. */
static const char *drop_namespace(const char *head, size_t len)
{
	int depth = 0;

	for (size_t i = 0; i + 2 < len; i++) {
		if (strchr("<({[", head[i]))
			depth++;
		else if (strchr(">)}]", head[i]))
			depth--;
		else if (!depth && head[i] == ':' && head[i + 1] == ':')
			return head + i + 2;
	}
	return NULL;
}

/* Cuts to width what stands between "<" and ">". */
static void add_args(struct rck_strbuf *out, const char *args, size_t width)
{
	_cleanup_strbuf_ struct rck_strbuf inner = RCK_STRBUF_INIT;

	rck_strbuf_add(&inner, args + 1, strlen(args) - 2);
	rck_strbuf_addc(out, '<');
	rck_table_cut(out, inner.buf, width - 2);
	rck_strbuf_addc(out, '>');
}

void rck_shorten_fit(struct rck_strbuf *out, const char *name, size_t width)
{
	size_t len = strlen(name), head = head_length(name, len);
	size_t args = rck_term_columns(name + head, len - head);
	size_t least = args < LEAST_ARGS ? args : LEAST_ARGS;
	const char *start = name, *end = name + head;
	size_t lead = 0; /* columns of the "…" in place of namespaces */

	if (rck_term_columns(name, len) <= width) {
		rck_strbuf_add(out, name, len);
		return;
	}
	while (lead + rck_term_columns(start, (size_t)(end - start)) + least > width) {
		const char *next = drop_namespace(start, (size_t)(end - start));

		if (!next)
			break;
		start = next;
		lead = 1;
	}
	head = lead + rck_term_columns(start, (size_t)(end - start));
	if (head > width || (args && width - head < strlen("<.>"))) {
		rck_table_cut(out, start, width);
		return;
	}
	if (lead)
		rck_strbuf_adds(out, "…");
	rck_strbuf_add(out, start, (size_t)(end - start));
	if (args <= width - head)
		rck_strbuf_adds(out, end);
	else
		add_args(out, end, width - head);
}
