#include "util/strbuf.h"
#include "util/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char rck_strbuf_empty[1];

void rck_oom(void)
{
	static const char line[] = "rocmcheck: error: out of memory\n";

	if (write(STDERR_FILENO, line, sizeof(line) - 1) < 0)
		_exit(2);
	_exit(2);
}

void *rck_xrealloc(void *p, size_t size)
{
	p = realloc(p, size ? size : 1);
	if (!p)
		rck_oom();
	return p;
}

void *rck_xmalloc(size_t size)
{
	return rck_xrealloc(NULL, size);
}

void *rck_xcalloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size ? size : 1);

	if (!p)
		rck_oom();
	return p;
}

char *rck_xstrndup(const char *s, size_t n)
{
	char *copy = rck_xmalloc(n + 1);

	memcpy(copy, s, n);
	copy[n] = '\0';
	return copy;
}

char *rck_xstrdup(const char *s)
{
	return rck_xstrndup(s, strlen(s));
}

char *rck_xasprintf(const char *fmt, ...)
{
	struct rck_strbuf sb = RCK_STRBUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	rck_strbuf_vaddf(&sb, fmt, ap);
	va_end(ap);
	return rck_strbuf_detach(&sb);
}

void rck_strbuf_grow(struct rck_strbuf *sb, size_t extra)
{
	size_t need, cap;

	if (extra > SIZE_MAX / 2 - sb->len - 1)
		rck_oom();
	need = sb->len + extra + 1;
	if (need <= sb->cap)
		return;
	cap = sb->cap ? sb->cap : 64;
	while (cap < need)
		cap *= 2;
	sb->buf = rck_xrealloc(sb->cap ? sb->buf : NULL, cap);
	sb->cap = cap;
	sb->buf[sb->len] = '\0';
}

void rck_strbuf_release(struct rck_strbuf *sb)
{
	if (sb->cap)
		free(sb->buf);
	*sb = (struct rck_strbuf)RCK_STRBUF_INIT;
}

void rck_strbuf_reset(struct rck_strbuf *sb)
{
	sb->len = 0;
	if (sb->cap)
		sb->buf[0] = '\0';
}

char *rck_strbuf_detach(struct rck_strbuf *sb)
{
	char *s;

	rck_strbuf_grow(sb, 0);
	s = sb->buf;
	*sb = (struct rck_strbuf)RCK_STRBUF_INIT;
	return s;
}

void rck_strbuf_add(struct rck_strbuf *sb, const void *data, size_t len)
{
	if (!len)
		return;
	rck_strbuf_grow(sb, len);
	memcpy(sb->buf + sb->len, data, len);
	sb->len += len;
	sb->buf[sb->len] = '\0';
}

void rck_strbuf_adds(struct rck_strbuf *sb, const char *s)
{
	rck_strbuf_add(sb, s, strlen(s));
}

void rck_strbuf_addu(struct rck_strbuf *sb, uint64_t value)
{
	char digits[20];
	size_t n = sizeof(digits);

	do {
		digits[--n] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	rck_strbuf_add(sb, digits + n, sizeof(digits) - n);
}

void rck_strbuf_pad(struct rck_strbuf *sb, char c, size_t n)
{
	rck_strbuf_grow(sb, n);
	memset(sb->buf + sb->len, c, n);
	sb->len += n;
	sb->buf[sb->len] = '\0';
}

void rck_strbuf_vaddf(struct rck_strbuf *sb, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	va_copy(again, ap);
	rck_strbuf_grow(sb, 64);
	n = vsnprintf(sb->buf + sb->len, sb->cap - sb->len, fmt, ap);
	if (n < 0)
		n = 0;
	if ((size_t)n >= sb->cap - sb->len) {
		rck_strbuf_grow(sb, (size_t)n);
		vsnprintf(sb->buf + sb->len, sb->cap - sb->len, fmt, again);
	}
	va_end(again);
	sb->len += (size_t)n;
}

void rck_strbuf_addf(struct rck_strbuf *sb, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	rck_strbuf_vaddf(sb, fmt, ap);
	va_end(ap);
}

/* What drives a terminal, and what is no character, which XML refuses in any form. */
static bool is_unfit_to_show(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x200e && c <= 0x200f) ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) ||
	       c == 0xfeff || c == 0xfffe || c == 0xffff;
}

void rck_strbuf_add_utf8(struct rck_strbuf *sb, const char *s, size_t len)
{
	for (size_t i = 0; i < len;) {
		uint32_t c;
		size_t n = rck_utf8_decode(s + i, len - i, &c);

		if (n)
			rck_strbuf_add(sb, s + i, n);
		else
			rck_strbuf_adds(sb, "\xef\xbf\xbd");
		i += n ? n : 1;
	}
}

void rck_strbuf_add_masked(struct rck_strbuf *sb, const char *s, size_t len)
{
	for (size_t i = 0; i < len;) {
		uint32_t c;
		size_t n = rck_utf8_decode(s + i, len - i, &c);

		if (n && !is_unfit_to_show(c)) {
			rck_strbuf_add(sb, s + i, n);
		} else {
			if (!n)
				n = 1;
			for (size_t k = 0; k < n; k++)
				rck_strbuf_addf(sb, "\\x%02x", (uint8_t)s[i + k]);
		}
		i += n;
	}
}
