/* One compile command -> what it makes of its device code. */
#pragma once

#include "buildsys/optlevel.h"
#include "rocmcheck.h"
#include "util/strv.h"

enum rck_driver {
	RCK_DRIVER_UNKNOWN, /* asked with -###, never guessed */
	RCK_DRIVER_HIPCC,   /* adds -O3 when no word of the line starts with -O */
	RCK_DRIVER_CLANG,   /* clang++, amdclang++: -O0 */
};

/* Where the effective device level was found. */
enum rck_olevel_from {
	RCK_FROM_NOWHERE,
	RCK_FROM_LINE,    /* an -O on the line */
	RCK_FROM_XARCH,   /* -Xarch_device -O..., or -Xarch_<arch> -O... */
	RCK_FROM_XCLANG,  /* -Xclang -O...: the compiler proper reads it last */
	RCK_FROM_DEFAULT, /* the driver's own */
	RCK_FROM_ASKED,   /* what the driver answered to -### */
};

struct rck_hipline {
	bool is_hip;
	const char *why_hip; /* "-x hip", "suffix .hip", "hipcc compiles .cpp as HIP" */
	enum rck_driver driver;
	size_t driver_at; /* index of the driver among the words; words before are
			     launchers */
	enum rck_olevel level;
	enum rck_olevel_from from;
	bool stated;      /* the line states a level for every target */
	const char *word; /* the word that set it, borrowed from the words; or NULL */
	const char
		*arch; /* the target that has this level when targets differ, else NULL */
	bool rule_broken; /* hipcc keeps its -O3 back because of a word that sets no level
			     for the device (-Xarch_host -O3, -mllvm -Option): suspect
			     names it */
	const char *suspect;
	bool ndebug, debug_info, rdc, hipblas_v2, sanitize;
	struct rck_strv archs; /* --offload-arch, in order; "native" as
				  written */
};

/*
 * Reads the words of one command (response files expanded) that compiles file. Fills *h;
 * strings are borrowed from words.
 */
void rck_hipline_read(
	struct rck_hipline *h, const struct rck_strv *words, const char *file);
void rck_hipline_release(struct rck_hipline *h);

const char *rck_driver_name(enum rck_driver d);
/* "last -O on the line", ...: one clause for people. */
const char *rck_olevel_from_text(enum rck_olevel_from from);
