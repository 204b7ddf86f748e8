/* Which kernels of what was read the user wants to see: by name, by target, flagged ones.
 */
#pragma once

#include "rocmcheck.h"
#include "util/opt.h"

struct rck_select_spec {
	const char *kernel; /* a regular expression, or NULL */
	struct rck_opt_list arch;
	bool flagged;
};

/* The rows of a command's option table; s is a struct rck_select_spec. */
#define RCK_SELECT_OPTIONS(s)                                                            \
	{RCK_OPT_STRING, 'k', "kernel", &(s).kernel, "REGEX",                            \
		"only kernels whose name, demangled or not, matches"},                   \
		{RCK_OPT_LIST, 'a', "arch", &(s).arch, "GLOB",                           \
			"only targets that match: 'gfx9*', 'gfx90a:*:xnack-'"},          \
	{                                                                                \
		RCK_OPT_FLAG, 0, "flagged", &(s).flagged, NULL,                          \
			"only kernels with a flag: hostcall, heap or dynamic stack"      \
	}

struct rck_select;

/* Borrows spec until free. -EINVAL with a message for the user: a bad expression. */
int rck_select_new(const struct rck_select_spec *spec, struct rck_select **out,
	struct rck_diag *diag);
void rck_select_free(struct rck_select *sel); /* NULL is fine */
/* May be asked from several threads at once. */
bool rck_select_object(const struct rck_select *sel, const struct rck_code_object *co);
/* Of an object that is selected: 1, 0, or -E2BIG when --kernel takes too long to match
 * its name. */
int rck_select_kernel(const struct rck_select *sel, const struct rck_kernel *k);
