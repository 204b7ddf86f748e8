#include "util/glob.h"

#include <string.h>

void rck_glob_add_literal(struct rck_strbuf *pattern, const char *path, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (strchr("*?[\\", path[i]))
			rck_strbuf_addc(pattern, '\\');
		rck_strbuf_addc(pattern, path[i]);
	}
}

int rck_glob_below(const char *folder, const char *pattern, glob_t *found)
{
	_cleanup_strbuf_ struct rck_strbuf whole = RCK_STRBUF_INIT;

	rck_glob_add_literal(&whole, folder, strlen(folder));
	rck_strbuf_addf(&whole, "/%s", pattern);
	return glob(whole.buf, 0, NULL, found);
}
