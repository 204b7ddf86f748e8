#include "buildsys/optlevel.h"

#include <string.h>

static const char *const names[] = {
	[RCK_OLEVEL_UNKNOWN] = "unknown",
	[RCK_OLEVEL_0] = "-O0",
	[RCK_OLEVEL_1] = "-O1",
	[RCK_OLEVEL_G] = "-Og",
	[RCK_OLEVEL_2] = "-O2",
	[RCK_OLEVEL_S] = "-Os",
	[RCK_OLEVEL_Z] = "-Oz",
	[RCK_OLEVEL_3] = "-O3",
	[RCK_OLEVEL_FAST] = "-Ofast",
};

const char *rck_olevel_name(enum rck_olevel level)
{
	return names[level];
}

static bool all_digits(const char *s)
{
	return *s && strspn(s, "0123456789") == strlen(s);
}

enum rck_olevel rck_olevel_of(const char *word)
{
	static const char optimize[] = "--optimize";

	if (!strncmp(word, optimize, sizeof(optimize) - 1)) {
		word += sizeof(optimize) - 1;
		if (*word == '=')
			word++;
		else if (*word)
			return RCK_OLEVEL_UNKNOWN;
	} else if (!strncmp(word, "-O", 2)) {
		word += 2;
	} else {
		return RCK_OLEVEL_UNKNOWN;
	}
	if (!*word)
		return RCK_OLEVEL_1;
	for (int i = RCK_OLEVEL_0; i <= RCK_OLEVEL_FAST; i++)
		if (!strcmp(word, names[i] + 2))
			return (enum rck_olevel)i;
	return all_digits(word) ? RCK_OLEVEL_3 : RCK_OLEVEL_UNKNOWN;
}
