/* A look through a HIP source, without a compiler: where its kernels begin, whether it
 * asserts. */
#include "buildsys/unit.h"

#include "util/cleanup.h"
#include "util/regular.h"
#include "util/strbuf.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define MAX_SOURCE (16u << 20)

/* Skips a comment or a literal at p; p itself when there is none. Counts its lines. */
static const char *skip_text(const char *p, const char *end, unsigned *line)
{
	const char *close = NULL;
	char quote = *p;

	if (end - p >= 2 && p[0] == '/' && (p[1] == '/' || p[1] == '*')) {
		close = p[1] == '/' ? "\n" : "*/";
		for (p += 2; p < end && strncmp(p, close, strlen(close)) != 0; p++)
			*line += *p == '\n';
		return p < end && *close == '*' ? p + 2 : p;
	}
	if (quote != '"' && quote != '\'')
		return p;
	for (p++; p < end && *p != quote && *p != '\n'; p++)
		if (*p == '\\' && p + 1 < end)
			*line += *++p == '\n';
	return p < end && *p == quote ? p + 1 : p;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static void scan(
	const char *text, size_t len, unsigned *first_kernel, unsigned *first_assert)
{
	const char *p = text, *end = text + len;
	unsigned line = 1;

	while (p < end) {
		const char *next = skip_text(p, end, &line);
		size_t n = 0;

		if (next != p) {
			p = next;
			continue;
		}
		while (p + n < end && is_word(p[n]))
			n++;
		if (n == 10 && !memcmp(p, "__global__", n) && !*first_kernel)
			*first_kernel = line;
		if (n == 6 && !memcmp(p, "assert", n) && !*first_assert) {
			const char *q = p + n;

			while (q < end && (*q == ' ' || *q == '\t'))
				q++;
			if (q < end && *q == '(')
				*first_assert = line;
		}
		line += *p == '\n';
		p += n ? n : 1;
	}
}

int rck_hip_source_scan(const char *path, unsigned *first_kernel, unsigned *first_assert)
{
	_cleanup_strbuf_ struct rck_strbuf text = RCK_STRBUF_INIT;
	_cleanup_fclose_ FILE *f = rck_regular_open(path);
	char chunk[16384];
	size_t n;

	*first_kernel = *first_assert = 0;
	if (!f)
		return -errno;
	while (text.len < MAX_SOURCE && (n = fread(chunk, 1, sizeof(chunk), f)))
		rck_strbuf_add(&text, chunk, n);
	scan(text.buf, text.len, first_kernel, first_assert);
	return 0;
}
