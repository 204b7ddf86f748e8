#include "cmd/inputs.h"
#include "container/container.h"
#include "util/strbuf.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A folder on the way: its entries in order, and how far we are. */
struct folder {
	char *path;
	struct name {
		char *name;
		bool link;
	} * names;
	size_t n, at;
};

struct identity {
	dev_t dev;
	ino_t ino;
};

struct rck_inputs {
	const struct rck_inputs_spec *spec;
	int at; /* operand */
	FILE *list;
	char *line;
	size_t line_cap;
	struct folder *folders; /* a stack */
	size_t n_folders, cap_folders;
	void *seen;             /* tsearch(3) tree of struct identity */
	struct rck_strbuf path; /* what was returned last */
};

static int by_identity(const void *a, const void *b)
{
	const struct identity *x = a, *y = b;

	if (x->dev != y->dev)
		return x->dev < y->dev ? -1 : 1;
	return x->ino < y->ino ? -1 : x->ino > y->ino;
}

/* True the first time that st is met. */
static bool is_new(struct rck_inputs *in, const struct stat *st)
{
	struct identity *id = rck_xmalloc(sizeof(*id));
	struct identity **found;

	*id = (struct identity){st->st_dev, st->st_ino};
	found = tsearch(id, &in->seen, by_identity);
	if (!found)
		rck_oom();
	if (*found == id)
		return true;
	free(id);
	return false;
}

static int by_kind_and_name(const void *a, const void *b)
{
	const struct name *x = a, *y = b;

	return x->link != y->link ? x->link - y->link : strcmp(x->name, y->name);
}

static bool is_excluded(const struct rck_inputs *in, const char *path)
{
	const struct rck_opt_list *exclude = &in->spec->exclude;
	const char *slash = strrchr(path, '/');

	for (size_t i = 0; i < exclude->n; i++)
		if (!fnmatch(exclude->items[i], path, 0) ||
			(slash && !fnmatch(exclude->items[i], slash + 1, 0)))
			return true;
	return false;
}

static void drop_folder(struct folder *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->names[i].name);
	free(f->names);
	free(f->path);
}

/* Reads a folder's names and makes it the innermost one. */
static int enter_folder(struct rck_inputs *in, const char *path, struct rck_diag *diag)
{
	struct folder f = {.path = rck_xstrdup(path)};
	struct dirent *d;
	size_t cap = 0;
	DIR *dir = opendir(path);
	int err = 0;

	if (!dir) {
		err = -errno;
		goto out;
	}
	while (errno = 0, (d = readdir(dir))) {
		if (!strcmp(d->d_name, ".") || !strcmp(d->d_name, ".."))
			continue;
		if (f.n == cap) {
			cap = cap ? cap * 2 : 32;
			f.names = rck_xrealloc(f.names, cap * sizeof(*f.names));
		}
		f.names[f.n++] = (struct name){rck_xstrdup(d->d_name), false};
	}
	err = -errno;
	/* d_type is not filled by every file system */
	for (size_t i = 0; !err && i < f.n; i++) {
		struct stat st;

		if (!fstatat(dirfd(dir), f.names[i].name, &st, AT_SYMLINK_NOFOLLOW))
			f.names[i].link = S_ISLNK(st.st_mode);
	}
	closedir(dir);
out:
	if (err) {
		drop_folder(&f);
		return rck_fail(diag, err, RCK_OFFSET_NONE, "cannot read this folder: %s",
			strerror(-err));
	}
	qsort(f.names, f.n, sizeof(*f.names), by_kind_and_name);
	if (in->n_folders == in->cap_folders) {
		in->cap_folders = in->cap_folders ? in->cap_folders * 2 : 16;
		in->folders =
			rck_xrealloc(in->folders, in->cap_folders * sizeof(*in->folders));
	}
	in->folders[in->n_folders++] = f;
	return 0;
}

static bool is_dangling(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && S_ISLNK(st.st_mode);
}

/* What in->path is: 1 a file to read, 0 nothing (any more), -errno. */
static int visit(struct rck_inputs *in, bool named, struct rck_diag *diag)
{
	const char *path = in->path.buf;
	struct stat st;

	if (is_excluded(in, path))
		return 0;
	if (stat(path, &st)) {
		int err = -errno;

		if (!named && err == -ENOENT && is_dangling(path))
			return 0;
		return rck_fail(
			diag, err, RCK_OFFSET_NONE, "cannot open: %s", strerror(-err));
	}
	if (S_ISDIR(st.st_mode)) {
		if (!in->spec->recursive)
			return rck_fail(diag, -EISDIR, RCK_OFFSET_NONE,
				"is a folder (--recursive goes through it)");
		if (!is_new(in, &st) && !named)
			return 0;
		return enter_folder(in, path, diag);
	}
	if (!S_ISREG(st.st_mode))
		return named ? rck_fail(diag, -EINVAL, RCK_OFFSET_NONE,
				       "is not a regular file")
			     : 0;
	return is_new(in, &st) || named;
}

/* The next name of the innermost folder, into in->path; false when there is no folder. */
static bool next_in_folders(struct rck_inputs *in)
{
	while (in->n_folders) {
		struct folder *f = &in->folders[in->n_folders - 1];
		size_t len = strlen(f->path);

		if (f->at == f->n) {
			drop_folder(f);
			in->n_folders--;
			continue;
		}
		rck_strbuf_reset(&in->path);
		rck_strbuf_add(&in->path, f->path, len);
		if (len && f->path[len - 1] != '/')
			rck_strbuf_addc(&in->path, '/');
		rck_strbuf_adds(&in->path, f->names[f->at++].name);
		return true;
	}
	return false;
}

/* The next path that the user named, into in->path: 1, 0 at the end, -errno. */
static int next_named(struct rck_inputs *in, bool *standard_input, struct rck_diag *diag)
{
	ssize_t n;

	rck_strbuf_reset(&in->path);
	*standard_input = false;
	if (in->at < in->spec->n) {
		const char *operand = in->spec->operands[in->at++];

		*standard_input = !strcmp(operand, "-");
		rck_strbuf_adds(&in->path, operand);
		return 1;
	}
	if (!in->list)
		return 0;
	do {
		int end = in->spec->nul ? '\0' : '\n';

		errno = 0;
		n = getdelim(&in->line, &in->line_cap, end, in->list);
		if (n > 0 && in->line[n - 1] == end)
			in->line[--n] = '\0';
	} while (n == 0);
	if (n > 0) {
		rck_strbuf_adds(&in->path, in->line);
		/* the list of find -print0: what stands behind would go unread */
		if (in->path.len != (size_t)n)
			return rck_fail(diag, -EINVAL, RCK_OFFSET_NONE,
				"stands before a NUL byte in the list of files "
				"(--null reads such a list)");
		return 1;
	}
	if (ferror(in->list)) {
		int err = errno ? -errno : -EIO;

		clearerr(in->list);
		fclose(in->list);
		in->list = NULL;
		rck_strbuf_adds(&in->path, in->spec->files_from);
		return rck_fail(diag, err, RCK_OFFSET_NONE,
			"cannot read this list of files: %s", strerror(-err));
	}
	return 0;
}

int rck_inputs_next(struct rck_inputs *in, struct rck_input *input, struct rck_diag *diag)
{
	int err = 0;

	while (!err) {
		*input = (struct rck_input){.named = !next_in_folders(in)};
		if (input->named) {
			err = next_named(in, &input->standard_input, diag);
			if (!err)
				return 0;
			if (err < 0 || input->standard_input)
				break;
		}
		err = visit(in, input->named, diag);
	}
	input->path = in->path.buf;
	return err;
}

static int open_list(struct rck_inputs *in, struct rck_diag *diag)
{
	const char *path = in->spec->files_from;
	int err;

	in->list = strcmp(path, "-") ? fopen(path, "re")
				     : fdopen(fcntl(0, F_DUPFD_CLOEXEC, 3), "r");
	if (in->list)
		return 0;
	err = -errno;
	return rck_fail(diag, err, RCK_OFFSET_NONE,
		"cannot open the list of files '%s': %s", path, strerror(-err));
}

int rck_inputs_open(const struct rck_inputs_spec *spec, struct rck_inputs **out,
	struct rck_diag *diag)
{
	struct rck_inputs *in;
	int readers = spec->files_from && !strcmp(spec->files_from, "-");
	int err = 0;

	if (!spec->n && !spec->files_from)
		return rck_fail(diag, -EINVAL, RCK_OFFSET_NONE, "no file given");
	if (spec->nul && !spec->files_from)
		return rck_fail(diag, -EINVAL, RCK_OFFSET_NONE,
			"option '--null' needs '--files-from'");
	for (int i = 0; i < spec->n; i++)
		readers += !strcmp(spec->operands[i], "-");
	if (readers > 1)
		return rck_fail(diag, -EINVAL, RCK_OFFSET_NONE,
			"standard input can be read only once");
	in = rck_xcalloc(1, sizeof(*in));
	*in = (struct rck_inputs){.spec = spec, .path = RCK_STRBUF_INIT};
	if (spec->files_from)
		err = open_list(in, diag);
	if (err) {
		rck_inputs_close(in);
		return err;
	}
	*out = in;
	return 0;
}

void rck_inputs_close(struct rck_inputs *in)
{
	if (!in)
		return;
	for (size_t i = 0; i < in->n_folders; i++)
		drop_folder(&in->folders[i]);
	free(in->folders);
	if (in->list)
		fclose(in->list);
	free(in->line);
	tdestroy(in->seen, free);
	rck_strbuf_release(&in->path);
	free(in);
}
