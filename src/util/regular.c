#include "util/regular.h"

#include <errno.h>
#include <fcntl.h>
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
