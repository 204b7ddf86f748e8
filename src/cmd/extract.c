#include "cmd/extract.h"
#include "container/container.h"
#include "util/strbuf.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* How often a stem was used. */
struct stem {
	unsigned n;
	char name[];
};

struct rck_extract {
	char *folder;
	void *stems; /* tsearch(3) tree of struct stem */
	struct rck_strbuf stem;
	struct rck_strbuf path;
	unsigned n; /* code objects of this file */
};

int rck_extract_open(const char *folder, struct rck_extract **out, struct rck_diag *diag)
{
	struct rck_extract *x;
	struct stat st;
	int err = 0;

	if (mkdir(folder, 0777) && errno != EEXIST)
		err = -errno;
	else if (stat(folder, &st))
		err = -errno;
	else if (!S_ISDIR(st.st_mode))
		err = -ENOTDIR;
	if (err)
		return rck_fail(diag, err, RCK_OFFSET_NONE,
			"cannot extract into '%s': %s", folder, strerror(-err));
	x = rck_xcalloc(1, sizeof(*x));
	*x = (struct rck_extract){.folder = rck_xstrdup(folder),
		.stem = RCK_STRBUF_INIT,
		.path = RCK_STRBUF_INIT};
	*out = x;
	return 0;
}

void rck_extract_close(struct rck_extract *x)
{
	if (!x)
		return;
	tdestroy(x->stems, free);
	rck_strbuf_release(&x->stem);
	rck_strbuf_release(&x->path);
	free(x->folder);
	free(x);
}

static int by_stem(const void *a, const void *b)
{
	return strcmp(((const struct stem *)a)->name, ((const struct stem *)b)->name);
}

/* A name's characters that are safe in a file's name everywhere; others become "_". */
static void add_safe(struct rck_strbuf *sb, const char *s)
{
	for (; *s; s++)
		rck_strbuf_addc(
			sb, isalnum((unsigned char)*s) || strchr("._+-", *s) ? *s : '_');
}

void rck_extract_file(struct rck_extract *x, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash && slash[1] ? slash + 1 : path;
	struct stem *s, **found;

	rck_strbuf_reset(&x->stem);
	add_safe(&x->stem, strcmp(name, "-") ? name : "stdin");
	if (x->stem.buf[0] == '.' || x->stem.buf[0] == '-')
		x->stem.buf[0] = '_';
	s = rck_xcalloc(1, sizeof(*s) + x->stem.len + 1);
	memcpy(s->name, x->stem.buf, x->stem.len);
	found = tsearch(s, &x->stems, by_stem);
	if (!found)
		rck_oom();
	if (*found != s)
		free(s);
	if (++(*found)->n > 1)
		rck_strbuf_addf(&x->stem, "~%u", (*found)->n);
	x->n = 0;
}

static int write_all(int fd, const char *data, size_t size)
{
	while (size) {
		ssize_t n = write(fd, data, size);

		if (n < 0 && errno != EINTR)
			return -errno;
		data += n > 0 ? n : 0;
		size -= n > 0 ? (size_t)n : 0;
	}
	return 0;
}

int rck_extract_write(struct rck_extract *x, const void *data, size_t size,
	const char *target, const char **to, struct rck_diag *diag)
{
	int fd, err;

	rck_strbuf_reset(&x->path);
	rck_strbuf_addf(&x->path, "%s/%s.%03u.", x->folder, x->stem.buf, x->n++);
	add_safe(&x->path, target);
	rck_strbuf_adds(&x->path, ".co");
	*to = x->path.buf;
	fd = open(
		x->path.buf, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
	if (fd < 0)
		return rck_fail(diag, -errno, RCK_OFFSET_NONE, "cannot write: %s",
			strerror(errno));
	err = write_all(fd, data, size);
	if (close(fd) && !err)
		err = -errno;
	if (!err)
		return 0;
	unlink(x->path.buf);
	return rck_fail(diag, err, RCK_OFFSET_NONE, "cannot write: %s", strerror(-err));
}
