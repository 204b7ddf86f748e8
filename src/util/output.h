/* Files that a user asked for. */
#pragma once

#include <stddef.h>

/*
 * Writes a file, whole or not at all: what stood at path stays until the new bytes are
 * all there, and keeps its mode. A link is followed. What is no regular file (a pipe,
 * /dev/stdout), and a file in a folder where no other may be made, is written in place.
 * 0, or -errno after an error line.
 */
int rck_output_write(const char *path, const void *data, size_t size);
