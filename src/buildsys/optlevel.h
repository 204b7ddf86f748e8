/* Optimisation levels as clang's driver reads them, and where the effective one comes
 * from. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum rck_olevel {
	RCK_OLEVEL_UNKNOWN, /* not stated, and the driver's own default is not known */
	RCK_OLEVEL_0,
	RCK_OLEVEL_1,
	RCK_OLEVEL_G,
	RCK_OLEVEL_2,
	RCK_OLEVEL_S,
	RCK_OLEVEL_Z,
	RCK_OLEVEL_3,
	RCK_OLEVEL_FAST,
};
const char *rck_olevel_name(enum rck_olevel level); /* "-O1"; "unknown" */

/*
 * The level that one word states: -O is 1; -O4 and above are 3 (clang: "-O4 is equivalent
 * to -O3");
 * --optimize and --optimize=N are -O and -ON. UNKNOWN for every other word, also for
 * look-alikes such as -OFF and -Option. Seen with clang 15 and 22 by -###.
 */
enum rck_olevel rck_olevel_of(const char *word);
