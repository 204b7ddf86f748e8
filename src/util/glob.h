/* Paths and glob(3). */
#pragma once

#include "util/strbuf.h"

#include <glob.h>

/* Adds a path as the pattern that matches it alone. */
void rck_glob_add_literal(struct rck_strbuf *pattern, const char *path, size_t len);
/* What matches pattern below folder, whose name is no pattern. As glob(3): 0, and found
 * is to be given to globfree(3), or what it says. */
int rck_glob_below(const char *folder, const char *pattern, glob_t *found);
