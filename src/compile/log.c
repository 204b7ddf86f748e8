#include "compile/private.h"
#include "util/strbuf.h"

#include <string.h>

/* Length of comgr's temporary folder at s ("/tmp/comgr-0a1b2c/input/"), or 0. */
static size_t comgr_folder(const char *s)
{
	static const char *const parts[] = {"/input/", "/include/"};
	size_t path = strcspn(s, " \n\t'\":,<>()");
	const char *mark = memmem(s, path, "/comgr-", 7);

	for (size_t i = 0; mark && i < 2; i++) {
		const char *part = memmem(
			mark, path - (size_t)(mark - s), parts[i], strlen(parts[i]));

		if (part)
			return (size_t)(part - s) + strlen(parts[i]);
	}
	return 0;
}

/* True when a path starts at s: what stands before it cannot belong to one. */
static bool starts_path(const char *text, const char *s)
{
	return *s == '/' && (s == text || strchr(" \n\t'\":,<>(", s[-1]));
}

char *rck_compile_log(const char *text, const char *name, const char *absolute)
{
	const char *slash = strrchr(name, '/');
	const char *base = slash ? slash + 1 : name;
	struct rck_strbuf out = RCK_STRBUF_INIT;

	for (const char *s = text; *s;) {
		const char *full = NULL;
		size_t skip = 0;

		if (starts_path(text, s)) {
			skip = comgr_folder(s);
			if (skip && !strncmp(s + skip, base, strlen(base)))
				full = base;
			else if (!skip && absolute &&
				 !strncmp(s, absolute, strlen(absolute)))
				full = absolute;
		}
		if (full) {
			rck_strbuf_adds(&out, name);
			s += skip + strlen(full);
		} else if (skip) {
			s += skip;
		} else {
			rck_strbuf_addc(&out, *s++);
		}
	}
	return rck_strbuf_detach(&out);
}
