/* What build writes: code objects, fat binaries, the manifest, the reproducer. */
#pragma once

#include "report/build.h"

/*
 * Makes a folder (its parent has to be there) or takes an existing one. 0, or -errno
 * after an error line.
 */
int rck_build_make_folder(const char *dir);
/* Writes every compiled code object as STEM-TARGET-LEVEL.co, with fatbin one
   STEM-LEVEL.hipfb for all targets besides, and manifest.json. 0, or -errno after an
   error line for each file that could not be written. */
int rck_build_write(struct rck_build *b, const char *dir, bool fatbin, bool compress);
/* The standalone program, its kernel and a Makefile. 0, or -errno after an error line. */
int rck_build_write_reproducer(const char *dir);
