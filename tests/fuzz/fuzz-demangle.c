/* A symbol's name. */
#include "codeobj/private.h"
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rck_arena *arena = rck_arena_new(0);
	char *name = malloc(size + 3);

	if (!arena || !name)
		abort();
	memcpy(name, "_Z", 2);
	memcpy(name + 2, data, size);
	name[size + 2] = '\0';
	for (int skip = 0; skip <= 2; skip += 2) {
		const char *s = rck_demangle(arena, name + skip);

		if (strlen(s) > 32 * 1024 && s != name + skip)
			abort();
	}
	free(name);
	rck_arena_free(arena);
	return 0;
}
