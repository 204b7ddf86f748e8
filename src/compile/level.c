#include "compile/compile.h"

#include <errno.h>
#include <string.h>

static const char *const names[RCK_LEVELS] = {"O0", "O1", "O2", "O3", "Os", "default"};

const char *rck_level_name(enum rck_level level)
{
	return names[level];
}

int rck_level_parse(const char *text, enum rck_level *out)
{
	for (int i = 0; i < RCK_LEVELS; i++)
		if (!strcmp(names[i], text)) {
			*out = i;
			return 0;
		}
	return -EINVAL;
}
