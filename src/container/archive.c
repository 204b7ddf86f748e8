#include "container/archive.h"

#include <errno.h>

#include "util/range.h"

#define MAGIC  8
#define HEADER 60

int rck_archive_open(struct rck_archive *a, struct rck_slice s, struct rck_diag *diag)
{
	*a = (struct rck_archive){.slice = s, .at = MAGIC};
	if (s.size < MAGIC)
		return rck_fail(diag, -EINVAL, 0, "archive cut short in its magic");
	a->thin = !memcmp(s.data, "!<thin>\n", MAGIC);
	return 0;
}

/* A number in a field of blanks behind it; false when something else is there. */
static bool read_decimal(const uint8_t *p, size_t width, uint64_t *out)
{
	size_t i = 0;

	*out = 0;
	for (; i < width && p[i] >= '0' && p[i] <= '9'; i++)
		*out = *out * 10 + (uint64_t)(p[i] - '0');
	if (!i)
		return false;
	while (i < width && p[i] == ' ')
		i++;
	return i == width;
}

static bool is(const uint8_t *name, const char *text)
{
	size_t n = strlen(text);

	for (size_t i = n; i < 16; i++)
		if (name[i] != ' ')
			return false;
	return !memcmp(name, text, n);
}

/* A name in "//": GNU ends it in "/\n", COFF in NUL; thin ones are paths and hold "/". */
static bool long_name(struct rck_archive *a, uint64_t off, struct rck_entry *e)
{
	const uint8_t *from, *end, *p;

	if (off >= a->long_names.size)
		return false;
	from = a->long_names.data + off;
	end = a->long_names.data + a->long_names.size;
	for (p = from; p < end && *p && *p != '\n'; p++)
		;
	e->id = (const char *)from;
	e->id_len = (size_t)(p - from);
	if (e->id_len && from[e->id_len - 1] == '/')
		e->id_len--;
	return true;
}

/* "/123", and in thin archives "/123:456": 456 is where the member's header is in the
 * archive that 123 names. */
static bool read_long_name(
	struct rck_archive *a, const uint8_t *name, struct rck_entry *e)
{
	const uint8_t *colon = memchr(name, ':', 16);
	size_t n = colon ? (size_t)(colon - name) : 16;
	uint64_t off;

	a->nested_origin = RCK_OFFSET_NONE;
	if (!read_decimal(name + 1, n - 1, &off))
		return false;
	if (colon && !read_decimal(colon + 1, 15 - n, &a->nested_origin))
		return false;
	return long_name(a, off, e);
}

static void short_name(const uint8_t *name, struct rck_entry *e)
{
	e->id = (const char *)name;
	e->id_len = 16;
	while (e->id_len && name[e->id_len - 1] == ' ')
		e->id_len--;
	if (e->id_len > 1 && name[e->id_len - 1] == '/')
		e->id_len--;
}

static int damaged(
	struct rck_archive *a, uint64_t at, struct rck_diag *diag, const char *what)
{
	a->at = a->slice.size;
	return rck_fail(diag, -EINVAL, at, "archive member %llu: %s",
		(unsigned long long)a->i, what);
}

/* Tables of the archive itself: not members. */
static bool is_table(struct rck_archive *a, const uint8_t *name, struct rck_slice data)
{
	if (is(name, "//")) {
		a->long_names = data;
		return true;
	}
	return is(name, "/") || is(name, "/SYM64/") || is(name, "/<ECSYMBOLS>/") ||
	       is(name, "/<XFGHASHMAP>/") || is(name, "/<HYBRIDMAP>/");
}

int rck_archive_next(
	struct rck_archive *a, struct rck_entry *entry, struct rck_diag *diag)
{
	while (a->at < a->slice.size) {
		uint64_t at = a->at, size, bsd = 0;
		const uint8_t *h = a->slice.data + at;
		struct rck_slice data;
		bool elsewhere;

		if (*h == '\n' && a->slice.size - at == 1) /* padding of the last one */
			break;
		if (!rck_range_ok(at, HEADER, a->slice.size))
			return damaged(a, at, diag, "its header is cut short");
		if (h[58] != '`' || h[59] != '\n')
			return damaged(
				a, at + 58, diag, "its header does not end in \"`\\n\"");
		if (!read_decimal(h + 48, 10, &size))
			return damaged(a, at + 48, diag, "its size is no number");
		elsewhere = a->thin && !(h[0] == '/' && !(h[1] >= '0' && h[1] <= '9'));
		if (elsewhere) {
			a->at = at + HEADER;
			data = rck_subslice(a->slice, at + HEADER, 0);
		} else {
			if (!rck_range_ok(at + HEADER, size, a->slice.size))
				return damaged(a, at + 48, diag,
					"it is longer than the archive");
			a->at = rck_align_up(at + HEADER + size, 2);
			data = rck_subslice(a->slice, at + HEADER, size);
		}
		if (is_table(a, h, data))
			continue;

		a->elsewhere = elsewhere;
		a->nested_origin = RCK_OFFSET_NONE;
		*entry = (struct rck_entry){.slice = data, .index = a->i};
		if (!memcmp(h, "#1/", 3) && read_decimal(h + 3, 13, &bsd) && !elsewhere) {
			if (bsd > size)
				return damaged(
					a, at, diag, "its name is longer than its data");
			entry->id = (const char *)data.data;
			entry->id_len = strnlen(entry->id, bsd);
			entry->slice = rck_subslice(data, bsd, size - bsd);
			if (entry->id_len >= 9 && !memcmp(entry->id, "__.SYMDEF", 9))
				continue;
		} else if (h[0] == '/' && h[1] >= '0' && h[1] <= '9') {
			if (!read_long_name(a, h, entry))
				return damaged(a, at, diag,
					"its name is not in the table of long names");
		} else {
			short_name(h, entry);
			if (is(h, "__.SYMDEF") || is(h, "__.SYMDEF SORTED"))
				continue;
		}
		a->i++;
		return 1;
	}
	return 0;
}
