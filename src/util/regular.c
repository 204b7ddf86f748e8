#include "util/regular.h"
#include "util/strbuf.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

FILE *rck_regular_open(const char *path)
{
	struct stat st;
	FILE *f = NULL;
	int fd, error;

	/* before open(2) too: opening a device can do things */
	if (stat(path, &st))
		return NULL;
	errno = EINVAL;
	if (!S_ISREG(st.st_mode))
		return NULL;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return NULL;
	errno = EINVAL;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		f = fdopen(fd, "r");
	if (!f) {
		error = errno;
		close(fd);
		errno = error;
	}
	return f;
}

bool rck_regular_beside(
	const char *from, const char *path, size_t len, struct rck_strbuf *full)
{
	const char *slash = strrchr(from, '/');

	if (!len || memchr(path, 0, len))
		return false;
	if (path[0] != '/' && slash)
		rck_strbuf_add(full, from, (size_t)(slash - from) + 1);
	rck_strbuf_add(full, path, len);
	return true;
}
