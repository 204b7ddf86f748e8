#include "util/json.h"
#include "util/utf8.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void rck_json_init(struct rck_json *j, struct rck_strbuf *out, int indent)
{
	*j = (struct rck_json){.out = out, .indent = indent, .first = {true}};
}

static void new_line(struct rck_json *j)
{
	if (!j->indent)
		return;
	rck_strbuf_addc(j->out, '\n');
	rck_strbuf_pad(j->out, ' ', (size_t)(j->indent * j->depth));
}

/* What stands before a value or a key: a comma and a new line, unless it is the first. */
static void lead(struct rck_json *j)
{
	if (j->after_key) {
		j->after_key = false;
		return;
	}
	if (!j->first[j->depth])
		rck_strbuf_addc(j->out, ',');
	j->first[j->depth] = false;
	if (j->depth)
		new_line(j);
}

static void open_level(struct rck_json *j, char c)
{
	lead(j);
	rck_strbuf_addc(j->out, c);
	assert(j->depth < RCK_JSON_DEPTH);
	j->first[++j->depth] = true;
}

static void close_level(struct rck_json *j, char c)
{
	bool empty = j->first[j->depth--];

	if (!empty)
		new_line(j);
	rck_strbuf_addc(j->out, c);
}

void rck_json_object(struct rck_json *j)
{
	open_level(j, '{');
}

void rck_json_object_end(struct rck_json *j)
{
	close_level(j, '}');
}

void rck_json_array(struct rck_json *j)
{
	open_level(j, '[');
}

void rck_json_array_end(struct rck_json *j)
{
	close_level(j, ']');
}

static const char *escape_of(uint8_t c)
{
	switch (c) {
	case '"':
		return "\\\"";
	case '\\':
		return "\\\\";
	case '\n':
		return "\\n";
	case '\r':
		return "\\r";
	case '\t':
		return "\\t";
	}
	return NULL;
}

static bool is_plain(uint8_t c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/* Whether some byte of eight is not plain; it may also say so of eight plain ones. */
static bool may_have_special(uint64_t v)
{
	const uint64_t ones = ~UINT64_C(0) / 255, highs = ones << 7;
	uint64_t quote = v ^ ones * '"', backslash = v ^ ones * '\\',
		 del = v ^ ones * 0x7f;

	/* (x - 1) & ~x has a byte's high bit where x has a zero byte (and below it) */
	return (v | (v - ones * 0x20) | ((quote - ones) & ~quote) |
		       ((backslash - ones) & ~backslash) | ((del - ones) & ~del)) &
	       highs;
}

/* Bytes at the start of s that stand in a string as they are. */
static size_t plain_length(const char *s, size_t len)
{
	size_t n = 0;
	uint64_t v;

	while (len - n >= sizeof(v)) {
		memcpy(&v, s + n, sizeof(v));
		if (may_have_special(v))
			break;
		n += sizeof(v);
	}
	while (n < len && is_plain((uint8_t)s[n]))
		n++;
	return n;
}

/* The rest of a string from its first byte that is not plain. */
static void add_escaped(struct rck_json *j, const char *s, size_t len)
{
	size_t plain = 0;

	for (size_t i = 0; i < len;) {
		uint8_t c = (uint8_t)s[i];
		uint32_t wide;
		size_t n = plain_length(s + i, len - i);
		bool bad = false;

		if (n) {
			i += n;
			continue;
		}
		n = 1;
		if (c >= 0x80) {
			n = rck_utf8_decode(s + i, len - i, &wide);
			bad = !n;
			if (n && wide >= 0xa0) {
				i += n;
				continue;
			}
			n = n ? n : 1;
		} else {
			wide = c;
		}
		rck_strbuf_add(j->out, s + plain, i - plain);
		if (bad)
			rck_strbuf_adds(j->out, "\\ufffd");
		else if (escape_of((uint8_t)wide) && wide < 0x80)
			rck_strbuf_adds(j->out, escape_of((uint8_t)wide));
		else
			rck_strbuf_addf(j->out, "\\u%04x", (unsigned)wide);
		i += n;
		plain = i;
	}
	rck_strbuf_add(j->out, s + plain, len - plain);
}

/* Adds a string, quoted, and end; most are plain, and copied at once. */
static void quoted(struct rck_json *j, const char *s, size_t len, const char *end)
{
	size_t plain = plain_length(s, len), n_end = strlen(end);
	char *p;

	rck_strbuf_grow(j->out, plain + 2 + n_end);
	p = j->out->buf + j->out->len;
	*p++ = '"';
	memcpy(p, s, plain);
	j->out->len += 1 + plain;
	if (plain < len)
		add_escaped(j, s + plain, len - plain);
	rck_strbuf_addc(j->out, '"');
	rck_strbuf_add(j->out, end, n_end);
}

void rck_json_key(struct rck_json *j, const char *key)
{
	lead(j);
	quoted(j, key, strlen(key), j->indent ? ": " : ":");
	j->after_key = true;
}

static void word(struct rck_json *j, const char *s)
{
	lead(j);
	rck_strbuf_adds(j->out, s);
}

void rck_json_null(struct rck_json *j)
{
	word(j, "null");
}

void rck_json_bool(struct rck_json *j, bool v)
{
	word(j, v ? "true" : "false");
}

void rck_json_u64(struct rck_json *j, uint64_t v)
{
	lead(j);
	rck_strbuf_addu(j->out, v);
}

void rck_json_i64(struct rck_json *j, int64_t v)
{
	lead(j);
	rck_strbuf_addf(j->out, "%lld", (long long)v);
}

void rck_json_double(struct rck_json *j, double v)
{
	if (!isfinite(v)) {
		rck_json_null(j);
		return;
	}
	lead(j);
	rck_strbuf_addf(j->out, "%.17g", v);
}

void rck_json_strn(struct rck_json *j, const char *s, size_t len)
{
	lead(j);
	quoted(j, s, len, "");
}

void rck_json_str(struct rck_json *j, const char *s)
{
	if (s)
		rck_json_strn(j, s, strlen(s));
	else
		rck_json_null(j);
}

void rck_json_kstr(struct rck_json *j, const char *key, const char *s)
{
	rck_json_key(j, key);
	rck_json_str(j, s);
}

void rck_json_ku64(struct rck_json *j, const char *key, uint64_t v)
{
	rck_json_key(j, key);
	rck_json_u64(j, v);
}

void rck_json_ki64(struct rck_json *j, const char *key, int64_t v)
{
	rck_json_key(j, key);
	rck_json_i64(j, v);
}

void rck_json_kbool(struct rck_json *j, const char *key, bool v)
{
	rck_json_key(j, key);
	rck_json_bool(j, v);
}

void rck_json_kdouble(struct rck_json *j, const char *key, double v)
{
	rck_json_key(j, key);
	rck_json_double(j, v);
}
