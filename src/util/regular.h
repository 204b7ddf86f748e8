/* Files that other files name. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

struct rck_strbuf;

/*
 * Opens a regular file for reading; fclose() it. NULL with errno when it cannot be
 * opened, EINVAL when it is something else: nobody waits for a FIFO that a file names,
 * and no device is touched.
 */
FILE *rck_regular_open(const char *path);

/*
 * Appends to full where a path of len bytes leads that the file `from` names: beside
 * from, unless it is absolute. false, and nothing appended, when it is empty or holds a
 * NUL byte.
 */
bool rck_regular_beside(
	const char *from, const char *path, size_t len, struct rck_strbuf *full);
