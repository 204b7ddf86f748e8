#include "util/place.h"
#include "util/cleanup.h"
#include "util/strbuf.h"

#include <limits.h>
#include <string.h>

/* The folder of the running program; free() it. */
static char *own_folder(void)
{
	char exe[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	char *slash;

	if (n <= 0)
		return NULL;
	exe[n] = '\0';
	slash = strrchr(exe, '/');
	return slash ? rck_xstrndup(exe, (size_t)(slash - exe)) : NULL;
}

static char *if_there(char *path)
{
	if (!access(path, F_OK))
		return path;
	free(path);
	return NULL;
}

char *rck_place_find(const char *in_build, const char *installed)
{
	_cleanup_free_ char *own = own_folder();
	const char *build = getenv("RCK_BUILD_DIR");
	char *path = NULL;

	if (build)
		path = if_there(rck_xasprintf("%s/src/%s", build, in_build));
	if (!path && own)
		path = if_there(rck_xasprintf("%s/%s", own, in_build));
	if (!path && own)
		path = if_there(rck_xasprintf(
			"%s/../" RCK_LIBDIR_IN_PREFIX "/%s", own, installed));
	if (!path)
		path = if_there(rck_xasprintf(RCK_LIBDIR "/%s", installed));
	return path;
}
