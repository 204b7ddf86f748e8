/* Files of the shared corpus, which stands beside a clone (RCK_SHARED overrides) or not
 * at all. Include after cmocka.h. */
#pragma once

#include <stdio.h>
#include <stdlib.h>

/* The bytes of corpus/NAME (free them), or NULL when it is not there. */
static inline unsigned char *corpus_read(const char *name, size_t *size)
{
	const char *shared = getenv("RCK_SHARED"), *top = getenv("RCK_SOURCE_DIR");
	unsigned char *data = NULL;
	char path[4096];
	long end;
	FILE *f;

	if (shared)
		snprintf(path, sizeof(path), "%s/corpus/%s", shared, name);
	else
		snprintf(path, sizeof(path), "%s/../shared/corpus/%s", top ? top : ".",
			name);
	f = fopen(path, "rb");
	if (!f)
		return NULL;
	if (!fseek(f, 0, SEEK_END) && (end = ftell(f)) > 0) {
		rewind(f);
		data = malloc((size_t)end);
		*size = data ? fread(data, 1, (size_t)end, f) : 0;
	}
	fclose(f);
	return data;
}
