/* --extract: code objects into files of a folder, never over one that is there. */
#pragma once

#include "rocmcheck.h"

#include <stddef.h>

struct rck_extract;

/* Makes the folder when it is not there; -errno with a message for the user. */
int rck_extract_open(const char *folder, struct rck_extract **out, struct rck_diag *diag);
void rck_extract_close(struct rck_extract *x); /* NULL is fine */
/* The next input file: its names start with path's last part, or that and "~2" when an
 * earlier file had the same. */
void rck_extract_file(struct rck_extract *x, const char *path);
/*
 * Writes STEM.NNN.TARGET.co, NNN counting the code objects of the file. *to is the path
 * in any case and lives until the next call. -errno: not written, and nothing is left
 * behind; -EEXIST: there is such a file.
 */
int rck_extract_write(struct rck_extract *x, const void *data, size_t size,
	const char *target, const char **to, struct rck_diag *diag);
