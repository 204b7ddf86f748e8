/* Where this program's own helpers and data are: in the build tree, or installed. */
#pragma once

/*
 * The path of a helper program or library folder that belongs to this rocmcheck, or NULL
 * when there is none. in_build is relative to the folder of the running program when it
 * runs in its build tree ("launch/rocmcheck-launch", "softgpu"); installed is relative to
 * LIBDIR/rocmcheck, looked for beside the program's own prefix first (a tree that was
 * moved, DESTDIR), then where it was configured. RCK_BUILD_DIR in the environment names
 * the build tree for programs that are not the tool: the tests. free() it.
 */
char *rck_place_find(const char *in_build, const char *installed);
