#include "teardown/known.h"

#include <stddef.h>
#include <stdio.h>

const char *rck_known_race(const char *version, int *present)
{
	unsigned major, minor;

	*present = -1;
	if (!version || sscanf(version, "%u.%u", &major, &minor) != 2)
		return "The HIP runtime's version could not be told, so nothing is known "
		       "of "
		       "its teardown beforehand.";
	*present = major > 6 || (major == 6 && minor >= 2);
	if (!*present)
		return "By its sources this HIP runtime, older than 6.2.0, has no "
		       "teardown "
		       "race: it lets the hostcall listener run until the process ends.";
	return "By its sources this HIP runtime has the teardown race: it is in CLR "
	       "since "
	       "6.2.0 (three threads of control write the listener's state word, and a "
	       "static destructor waits for it without end); the public fix, "
	       "ROCm/rocm-systems pull request 10351, was open when last read (September "
	       "2026).";
}
