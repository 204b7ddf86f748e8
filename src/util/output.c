#include "util/output.h"
#include "util/cleanup.h"
#include "util/msg.h"
#include "util/strbuf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Writes all of it and closes fd. */
static int finish(int fd, const char *data, size_t size)
{
	int err = 0;

	while (size && !err) {
		ssize_t n = write(fd, data, size);

		if (n < 0 && errno != EINTR)
			err = -errno;
		data += n > 0 ? n : 0;
		size -= n > 0 ? (size_t)n : 0;
	}
	if (close(fd) && !err)
		err = -errno;
	return err;
}

static int write_in_place(const char *path, const void *data, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);

	return fd < 0 ? -errno : finish(fd, data, size);
}

/* old is what stands at path; NULL: nothing. */
static int replace(
	const char *path, const struct stat *old, const void *data, size_t size)
{
	_cleanup_free_ char *beside = rck_xasprintf("%s.%ld", path, (long)getpid());
	int fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	int err;

	if (fd < 0)
		return write_in_place(path, data, size);
	/* a file that is another's stays his */
	if (old && ((old->st_uid != geteuid() && fchown(fd, old->st_uid, old->st_gid)) ||
			   fchmod(fd, old->st_mode & 07777))) {
		close(fd);
		unlink(beside);
		return write_in_place(path, data, size);
	}
	err = finish(fd, data, size);
	if (!err && rename(beside, path))
		err = -errno;
	if (err)
		unlink(beside);
	return err;
}

static int write_or_replace(const char *path, const void *data, size_t size)
{
	_cleanup_free_ char *real = realpath(path, NULL);
	struct stat st;

	if (!real)
		return lstat(path, &st) ? replace(path, NULL, data, size)
					: write_in_place(path, data, size);
	if (stat(real, &st) || !S_ISREG(st.st_mode))
		return write_in_place(path, data, size);
	if (access(real, W_OK))
		return -errno;
	return replace(real, &st, data, size);
}

int rck_output_write(const char *path, const void *data, size_t size)
{
	int err = write_or_replace(path, data, size);

	if (err)
		rck_error("cannot write '%s': %s", path, strerror(-err));
	return err;
}
