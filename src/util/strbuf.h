/*
 * A growing byte string. Invariants: buf is never NULL and buf[len] is NUL, also right
 * after RCK_STRBUF_INIT. A failed allocation ends the process (rck_oom): nothing here
 * returns an error.
 */
#pragma once

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

struct rck_strbuf {
	char *buf;
	size_t len;
	size_t cap; /* 0: buf is not owned (the empty string) */
};

extern char rck_strbuf_empty[];
#define RCK_STRBUF_INIT                                                                  \
	{                                                                                \
		rck_strbuf_empty, 0, 0                                                   \
	}
#define _cleanup_strbuf_ __attribute__((cleanup(rck_strbuf_release)))

/* Makes room for extra more bytes behind len. */
void rck_strbuf_grow(struct rck_strbuf *sb, size_t extra);
/* Frees the bytes and leaves the empty string. */
void rck_strbuf_release(struct rck_strbuf *sb);
/* Keeps the allocation and sets the length to 0. */
void rck_strbuf_reset(struct rck_strbuf *sb);
/* Gives the string away (free() it) and leaves the empty string. */
char *rck_strbuf_detach(struct rck_strbuf *sb);

void rck_strbuf_add(struct rck_strbuf *sb, const void *data, size_t len);
void rck_strbuf_adds(struct rck_strbuf *sb, const char *s);
static inline void rck_strbuf_addc(struct rck_strbuf *sb, char c)
{
	if (sb->len + 1 >= sb->cap)
		rck_strbuf_grow(sb, 1);
	sb->buf[sb->len++] = c;
	sb->buf[sb->len] = '\0';
}
void rck_strbuf_addu(struct rck_strbuf *sb, uint64_t value);
void rck_strbuf_pad(struct rck_strbuf *sb, char c, size_t n);
void rck_strbuf_addf(struct rck_strbuf *sb, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void rck_strbuf_vaddf(struct rck_strbuf *sb, const char *fmt, va_list ap);
/*
 * Adds text from a file so that it cannot drive a terminal: control characters, DEL, and
 * bytes that are not valid UTF-8 (also C1 controls and bidirectional overrides) become
 * "\xNN".
 */
void rck_strbuf_add_masked(struct rck_strbuf *sb, const char *s, size_t len);
/* Adds text with U+FFFD for each byte that is not UTF-8: what a JSON string of it says.
 */
void rck_strbuf_add_utf8(struct rck_strbuf *sb, const char *s, size_t len);

/* Ends the process with exit status 2 and one line: memory is the one thing not handled.
 */
void rck_oom(void) __attribute__((noreturn));
void *rck_xmalloc(size_t size);
void *rck_xcalloc(size_t n, size_t size);
void *rck_xrealloc(void *p, size_t size);
char *rck_xstrdup(const char *s);
char *rck_xstrndup(const char *s, size_t n);
/* A new string by printf's rules; free() it. */
char *rck_xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
