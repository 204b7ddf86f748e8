/* Files that other files name. */
#pragma once

#include <stdio.h>

/*
 * Opens a regular file for reading; fclose() it. NULL with errno when it cannot be
 * opened, EINVAL when it is something else: nobody waits for a FIFO that a file names,
 * and no device is touched.
 */
FILE *rck_regular_open(const char *path);
