#include "util/table.h"
#include "util/term.h"
#include "util/utf8.h"

#include <stdlib.h>
#include <string.h>

struct rck_table {
	const struct rck_column *columns;
	size_t n_columns;
	char **cells;
	size_t n_cells;
	size_t cap;
};

struct rck_table *rck_table_new(const struct rck_column *columns, size_t n)
{
	struct rck_table *t = rck_xcalloc(1, sizeof(*t));

	t->columns = columns;
	t->n_columns = n;
	return t;
}

void rck_table_free(struct rck_table *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n_cells; i++)
		free(t->cells[i]);
	free(t->cells);
	free(t);
}

static void add_cell(struct rck_table *t, char *text)
{
	if (t->n_cells == t->cap) {
		t->cap = t->cap ? t->cap * 2 : 64;
		t->cells = rck_xrealloc(t->cells, t->cap * sizeof(*t->cells));
	}
	t->cells[t->n_cells++] = text;
}

void rck_table_cell(struct rck_table *t, const char *text)
{
	add_cell(t, rck_xstrdup(text));
}

void rck_table_cellf(struct rck_table *t, const char *fmt, ...)
{
	struct rck_strbuf sb = RCK_STRBUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	rck_strbuf_vaddf(&sb, fmt, ap);
	va_end(ap);
	add_cell(t, rck_strbuf_detach(&sb));
}

size_t rck_table_rows(const struct rck_table *t)
{
	return t->n_cells / t->n_columns;
}

static size_t columns_of(const char *s)
{
	return rck_term_columns(s, strlen(s));
}

/* Bytes of s that fill at most n columns, from the front or from the back. */
static size_t bytes_for(const char *s, size_t len, size_t n, bool back)
{
	size_t used = 0;

	while (used < len) {
		size_t step = 1;

		if (back)
			while (used + step < len && (s[len - used - step] & 0xc0) == 0x80)
				step++;
		else
			while (used + step < len && (s[used + step] & 0xc0) == 0x80)
				step++;
		if (rck_term_columns(back ? s + len - used - step : s, used + step) > n)
			break;
		used += step;
	}
	return used;
}

void rck_table_cut(struct rck_strbuf *out, const char *s, size_t width)
{
	size_t len = strlen(s), front, back;

	if (columns_of(s) <= width || !width) {
		rck_strbuf_add(out, s, width ? len : 0);
		return;
	}
	front = bytes_for(s, len, (width - 1) - (width - 1) / 2, false);
	back = bytes_for(s, len, (width - 1) / 2, true);
	rck_strbuf_add(out, s, front);
	rck_strbuf_adds(out, "…");
	rck_strbuf_add(out, s + len - back, back);
}

/* Takes the excess from the shrinking columns, the widest first. */
static void shrink(const struct rck_table *t, size_t *widths, size_t excess)
{
	while (excess) {
		size_t widest = t->n_columns;

		for (size_t c = 0; c < t->n_columns; c++) {
			size_t least = t->columns[c].least ? t->columns[c].least : 8;

			if (t->columns[c].shrink && widths[c] > least &&
				(widest == t->n_columns || widths[c] > widths[widest]))
				widest = c;
		}
		if (widest == t->n_columns)
			return;
		widths[widest]--;
		excess--;
	}
}

static void add_row(const struct rck_table *t, struct rck_strbuf *out,
	const size_t *widths, unsigned indent, char *const *cells)
{
	rck_strbuf_pad(out, ' ', indent);
	for (size_t c = 0; c < t->n_columns; c++) {
		const char *s = cells ? cells[c] : t->columns[c].title;
		size_t n = columns_of(s);
		size_t pad = n < widths[c] ? widths[c] - n : 0;

		if (c)
			rck_strbuf_adds(out, "  ");
		if (t->columns[c].right)
			rck_strbuf_pad(out, ' ', pad);
		if (n > widths[c])
			(t->columns[c].cut ? t->columns[c].cut : rck_table_cut)(
				out, s, widths[c]);
		else
			rck_strbuf_adds(out, s);
		if (!t->columns[c].right && c + 1 < t->n_columns)
			rck_strbuf_pad(out, ' ', pad);
	}
	while (out->len && out->buf[out->len - 1] == ' ')
		out->buf[--out->len] = '\0';
	rck_strbuf_addc(out, '\n');
}

void rck_table_print(const struct rck_table *t, struct rck_strbuf *out, unsigned width,
	unsigned indent)
{
	size_t *widths = rck_xcalloc(t->n_columns, sizeof(*widths));
	size_t total = indent + 2 * (t->n_columns - 1);

	for (size_t c = 0; c < t->n_columns; c++) {
		widths[c] = columns_of(t->columns[c].title);
		for (size_t r = 0; r < rck_table_rows(t); r++) {
			size_t n = columns_of(t->cells[r * t->n_columns + c]);

			widths[c] = n > widths[c] ? n : widths[c];
		}
		total += widths[c];
	}
	if (total > width)
		shrink(t, widths, total - width);
	add_row(t, out, widths, indent, NULL);
	for (size_t r = 0; r < rck_table_rows(t); r++)
		add_row(t, out, widths, indent, t->cells + r * t->n_columns);
	free(widths);
}
