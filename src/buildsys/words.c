#include "buildsys/words.h"
#include "container/container.h"
#include "util/cleanup.h"
#include "util/regular.h"
#include "util/strbuf.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

/* Response files of one command: files that name each other would make words for ever. */
#define MAX_DEPTH 8
#define MAX_FILES 1000
#define MAX_BYTES (16u << 20)

struct budget {
	unsigned files;
	size_t bytes;
};

/* POSIX quoting (XCU 2.2). Returns what is left of text behind one word. */
static const char *posix_word(struct rck_strbuf *w, const char *p, const char *end)
{
	char quote = 0;

	for (; p < end && (quote || !isspace((unsigned char)*p)); p++) {
		if (quote == '\'') {
			if (*p == '\'')
				quote = 0;
			else
				rck_strbuf_addc(w, *p);
		} else if (*p == '\\' && p + 1 < end &&
			   (!quote || strchr("\"\\$`\n", p[1]))) {
			p++;
			if (*p != '\n')
				rck_strbuf_addc(w, *p);
		} else if (*p == '"') {
			quote = quote ? 0 : '"';
		} else if (*p == '\'' && !quote) {
			quote = '\'';
		} else {
			rck_strbuf_addc(w, *p);
		}
	}
	return p;
}

/* CommandLineToArgvW: backslashes are plain unless a quote follows; "" inside quotes is a
 * quote. */
static const char *windows_word(struct rck_strbuf *w, const char *p, const char *end)
{
	bool quoted = false;

	while (p < end && (quoted || !isspace((unsigned char)*p))) {
		size_t slashes = 0;

		while (p < end && *p == '\\') {
			slashes++;
			p++;
		}
		if (p < end && *p == '"') {
			rck_strbuf_pad(w, '\\', slashes / 2);
			if (slashes % 2) {
				rck_strbuf_addc(w, '"');
			} else if (quoted && p + 1 < end && p[1] == '"') {
				rck_strbuf_addc(w, '"');
				p++;
			} else {
				quoted = !quoted;
			}
			p++;
			continue;
		}
		rck_strbuf_pad(w, '\\', slashes);
		if (p < end && (quoted || !isspace((unsigned char)*p)))
			rck_strbuf_addc(w, *p++);
	}
	return p;
}

void rck_words_split(
	struct rck_strv *out, const char *text, size_t len, enum rck_quoting q)
{
	_cleanup_strbuf_ struct rck_strbuf w = RCK_STRBUF_INIT;
	const char *p = text, *end = text + len;

	for (;;) {
		while (p < end && isspace((unsigned char)*p))
			p++;
		if (p == end)
			return;
		rck_strbuf_reset(&w);
		p = q == RCK_QUOTING_WINDOWS ? windows_word(&w, p, end)
					     : posix_word(&w, p, end);
		rck_strv_add(out, w.buf);
	}
}

enum rck_quoting rck_words_guess(const char *text)
{
	if (*text == '"')
		text++;
	return isalpha((unsigned char)text[0]) && text[1] == ':' && text[2] == '\\'
		       ? RCK_QUOTING_WINDOWS
		       : RCK_QUOTING_POSIX;
}

static int read_words(
	struct rck_strv *out, const char *path, struct budget *b, struct rck_diag *diag)
{
	_cleanup_fclose_ FILE *f = rck_regular_open(path);
	_cleanup_strbuf_ struct rck_strbuf text = RCK_STRBUF_INIT;
	char chunk[16384];
	size_t n;

	if (!f)
		return rck_fail(diag, -errno, RCK_OFFSET_NONE,
			"cannot open response file '%s': %s", path,
			errno == EINVAL ? "it is not a regular file" : strerror(errno));
	if (b->files++ == MAX_FILES)
		return rck_fail(diag, -E2BIG, RCK_OFFSET_NONE,
			"more than %d response files, the last '%s'", MAX_FILES, path);
	while ((n = fread(chunk, 1, sizeof(chunk), f))) {
		b->bytes += n;
		if (b->bytes > MAX_BYTES)
			return rck_fail(diag, -E2BIG, RCK_OFFSET_NONE,
				"response files of more than 16 MiB, the last '%s'",
				path);
		rck_strbuf_add(&text, chunk, n);
	}
	if (ferror(f))
		return rck_fail(
			diag, -EIO, text.len, "cannot read response file '%s'", path);
	rck_words_split(out, text.buf, text.len, RCK_QUOTING_RESPONSE);
	return 0;
}

static int expand(struct rck_strv *out, const struct rck_strv *in, const char *directory,
	unsigned depth, struct budget *b, struct rck_diag *diag)
{
	for (size_t i = 0; i < in->n; i++) {
		const char *word = in->items[i];
		_cleanup_free_ char *path = NULL;
		struct rck_strv inner = {0};
		int err;

		if (word[0] != '@' || !word[1]) {
			rck_strv_add(out, word);
			continue;
		}
		if (depth == MAX_DEPTH)
			return rck_fail(diag, -ELOOP, RCK_OFFSET_NONE,
				"response files nested deeper than %d at '%s'", MAX_DEPTH,
				word);
		path = word[1] == '/' ? rck_xstrdup(word + 1)
				      : rck_xasprintf("%s/%s", directory, word + 1);
		err = read_words(&inner, path, b, diag);
		if (err == -ENOENT) {
			rck_strv_add(out, word);
			err = 0;
		} else if (!err) {
			err = expand(out, &inner, directory, depth + 1, b, diag);
		}
		rck_strv_release(&inner);
		if (err)
			return err;
	}
	return 0;
}

int rck_words_expand(struct rck_strv *words, const char *directory, struct rck_diag *diag)
{
	struct rck_strv out = {0};
	struct budget b = {0};
	int err = expand(&out, words, directory, 0, &b, diag);

	if (err) {
		rck_strv_release(&out);
		return err;
	}
	rck_strv_release(words);
	*words = out;
	return 0;
}
