#include "util/temporary.h"
#include "util/strbuf.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

char *rck_temporary_make(void)
{
	const char *tmp = getenv("TMPDIR");
	char *dir = rck_xasprintf("%s/rocmcheck-XXXXXX", tmp && *tmp ? tmp : "/tmp");

	if (mkdtemp(dir))
		return dir;
	free(dir);
	return NULL;
}

static int remove_entry(
	const char *path, const struct stat *st, int type, struct FTW *level)
{
	return remove(path);
}

void rck_temporary_remove(char *dir)
{
	int error = errno;

	if (dir)
		nftw(dir, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	free(dir);
	errno = error;
}
