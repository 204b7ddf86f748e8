/* Asks a compiler driver what it would run: -###, which compiles nothing. */
#pragma once

#include "buildsys/hipline.h"

/*
 * Runs the command from its driver on, in directory, with -### and with its outputs
 * turned away
 * (-o /dev/null, no dependency files), 20 s at most, and reads the device's -cc1 lines.
 * Returns 0 and the lowest level among them (-O0 where a line states none), or with diag:
 * -ENOENT the driver cannot be started, -ETIMEDOUT, -ENODATA it shows no device
 * compilation.
 */
int rck_ask_driver(const struct rck_strv *words, size_t driver_at, const char *directory,
	enum rck_olevel *level, struct rck_diag *diag);

/* The same of what -### wrote: for tests, and for logs of it. */
int rck_ask_read(const char *text, enum rck_olevel *level);
