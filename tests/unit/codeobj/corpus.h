/* Files of the shared corpus, which stands beside a clone (RCK_SHARED overrides) or not
 * at all. Include after cmocka.h. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The path of corpus/NAME, or NULL when it is not there. */
static inline const char *corpus_path(const char *name)
{
	const char *shared = getenv("RCK_SHARED"), *top = getenv("RCK_SOURCE_DIR");
	static char path[4096];

	if (shared)
		snprintf(path, sizeof(path), "%s/corpus/%s", shared, name);
	else
		snprintf(path, sizeof(path), "%s/../shared/corpus/%s", top ? top : ".",
			name);
	return access(path, R_OK) ? NULL : path;
}
