#include "buildsys/compdb.h"
#include "buildsys/words.h"
#include "container/container.h"
#include "util/cleanup.h"
#include "util/strbuf.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_TEXT (256u << 20)
#define MAX_BAD  20 /* entries that are told of one by one */

/* A string member: NULL with *bad set when it is there and no string. */
static const char *member(const json_t *entry, const char *key, const char **bad)
{
	const json_t *v = json_object_get(entry, key);

	if (v && !json_is_string(v))
		*bad = key;
	return json_string_value(v);
}

static const char *read_words(const json_t *entry, struct rck_strv *words)
{
	const json_t *arguments = json_object_get(entry, "arguments");
	const char *bad = NULL;
	const char *command = member(entry, "command", &bad);

	if (arguments) {
		if (!json_is_array(arguments))
			return "'arguments' is no array";
		for (size_t i = 0; i < json_array_size(arguments); i++) {
			const char *s = json_string_value(json_array_get(arguments, i));

			if (!s)
				return "'arguments' holds something that is no string";
			rck_strv_add(words, s);
		}
	} else if (command) {
		rck_words_split(
			words, command, strlen(command), rck_words_guess(command));
	} else {
		return bad ? "'command' is no string"
			   : "neither 'command' nor 'arguments'";
	}
	return NULL;
}

/* Reads one entry; returns what is wrong with it, or NULL. */
static const char *read_entry(const json_t *entry, struct rck_compdb_entry *e)
{
	const char *bad = NULL, *directory, *file, *output, *why;

	if (!json_is_object(entry))
		return "no object";
	directory = member(entry, "directory", &bad);
	file = member(entry, "file", &bad);
	output = member(entry, "output", &bad);
	if (bad)
		return !strcmp(bad, "file")     ? "'file' is no string"
		       : !strcmp(bad, "output") ? "'output' is no string"
						: "'directory' is no string";
	if (!file || !*file)
		return "no 'file'";
	why = read_words(entry, &e->words);
	if (why)
		return why;
	e->directory = rck_xstrdup(directory ? directory : "");
	e->file = rck_xstrdup(file);
	e->path = *file == '/' || !*e->directory
			  ? rck_xstrdup(file)
			  : rck_xasprintf("%s/%s", e->directory, file);
	e->output = output ? rck_xstrdup(output) : NULL;
	return NULL;
}

static void release_entry(struct rck_compdb_entry *e)
{
	free(e->directory);
	free(e->file);
	free(e->path);
	free(e->output);
	rck_strv_release(&e->words);
}

int rck_compdb_read(
	const char *text, size_t len, struct rck_compdb *db, struct rck_diag *diag)
{
	json_error_t error;
	json_t *root;
	size_t n_bad = 0;

	*db = (struct rck_compdb){0};
	root = json_loadb(text, len, JSON_ALLOW_NUL, &error);
	if (!root)
		return rck_fail(diag, -EINVAL,
			error.position >= 0 ? (uint64_t)error.position : 0, "line %d: %s",
			error.line, error.text);
	if (!json_is_array(root)) {
		json_decref(root);
		return rck_fail(diag, -EINVAL, 0, "not an array of compile commands");
	}
	db->entries = rck_xcalloc(json_array_size(root), sizeof(*db->entries));
	for (size_t i = 0; i < json_array_size(root); i++) {
		struct rck_compdb_entry e = {0};
		const char *why = read_entry(json_array_get(root, i), &e);

		if (!why) {
			db->entries[db->n++] = e;
			continue;
		}
		release_entry(&e);
		if (n_bad++ < MAX_BAD)
			rck_strv_addf(&db->bad, "entry %zu: %s", i, why);
	}
	if (n_bad > MAX_BAD)
		rck_strv_addf(&db->bad, "%zu more entries like these", n_bad - MAX_BAD);
	json_decref(root);
	return 0;
}

static int read_all(FILE *f, struct rck_strbuf *text, struct rck_diag *diag)
{
	char chunk[65536];
	size_t n;

	while ((n = fread(chunk, 1, sizeof(chunk), f))) {
		if (text->len + n > MAX_TEXT)
			return rck_fail(diag, -E2BIG, MAX_TEXT, "larger than 256 MiB");
		rck_strbuf_add(text, chunk, n);
	}
	if (ferror(f))
		return rck_fail(
			diag, -EIO, text->len, "cannot read: %s", strerror(errno));
	return 0;
}

int rck_compdb_load(const char *path, struct rck_compdb *db, struct rck_diag *diag)
{
	_cleanup_strbuf_ struct rck_strbuf text = RCK_STRBUF_INIT;
	_cleanup_fclose_ FILE *f = NULL;
	_cleanup_free_ char *inside = NULL;
	struct stat st;
	int err;

	*db = (struct rck_compdb){0};
	if (!strcmp(path, "-")) {
		err = read_all(stdin, &text, diag);
		return err ? err : rck_compdb_read(text.buf, text.len, db, diag);
	}
	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		path = inside = rck_xasprintf("%s/compile_commands.json", path);
	f = fopen(path, "re");
	if (!f)
		return rck_fail(diag, -errno, RCK_OFFSET_NONE, "cannot open%s: %s",
			inside ? " its compile_commands.json" : "", strerror(errno));
	if (!fstat(fileno(f), &st) && !S_ISREG(st.st_mode) && !S_ISFIFO(st.st_mode))
		return rck_fail(diag, -EINVAL, RCK_OFFSET_NONE, "%sis not a regular file",
			inside ? "its compile_commands.json " : "");
	err = read_all(f, &text, diag);
	return err ? err : rck_compdb_read(text.buf, text.len, db, diag);
}

void rck_compdb_release(struct rck_compdb *db)
{
	for (size_t i = 0; i < db->n; i++)
		release_entry(&db->entries[i]);
	free(db->entries);
	rck_strv_release(&db->bad);
	*db = (struct rck_compdb){0};
}
