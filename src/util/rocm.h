/*
 * The ROCm that is there: the machine's own, or the folder of --rocm DIR. Which library,
 * compiler and header, where, which version, and how to start a program so that it meets
 * them.
 *
 * A DIR is either a root such as /opt/rocm (bin, lib, include, llvm) or a folder into
 * which packages of another release were unpacked (usr/lib/..., lib64/...). The second
 * kind brings its own C library, often newer than ours: nothing of it can be opened in
 * this process, and a program that is to use it has to be started by the folder's own
 * dynamic loader.
 */
#pragma once

#include "rocmcheck.h"
#include "util/strv.h"

enum rck_rocm_part {
	RCK_ROCM_COMGR,           /* libamd_comgr.so.3, .so.2 */
	RCK_ROCM_HIP,             /* libamdhip64.so.7, .so.6, .so.5 */
	RCK_ROCM_HSA,             /* libhsa-runtime64.so.1 */
	RCK_ROCM_HIPCC,           /* the compiler driver */
	RCK_ROCM_CLANG,           /* the clang++ that belongs to this ROCm */
	RCK_ROCM_DEVICE_LIBS,     /* the folder of ocml.bc */
	RCK_ROCM_HEADERS,         /* the include folder of hip/hip_runtime.h */
	RCK_ROCM_HIPBLAS,         /* libhipblas.so.3, .so.2, .so.1, .so.0 */
	RCK_ROCM_HIPBLASLT,       /* libhipblaslt.so.1, .so.0 */
	RCK_ROCM_HIPBLAS_HEADERS, /* the include folder of hipblas/hipblas.h */
	RCK_ROCM_PARTS,
};

struct rck_rocm;

/*
 * Looks for every part; what is missing is no error. dir: --rocm's folder, or NULL for
 * the machine's own (LD_LIBRARY_PATH, HIP_CLANG_PATH, ROCM_PATH, PATH, /opt/rocm and the
 * system's folders). Returns 0, or -errno with diag filled when dir is no folder
 * (-ENOENT, -ENOTDIR, ...) or holds none of the parts (-ENOENT).
 */
int rck_rocm_open(const char *dir, struct rck_rocm **out, struct rck_diag *diag);
void rck_rocm_close(struct rck_rocm *r);

/* "comgr", "HIP runtime", ...: for messages. */
const char *rck_rocm_part_name(enum rck_rocm_part part);
/* Absolute path of a part, or NULL when it was not found. Borrowed. */
const char *rck_rocm_path(const struct rck_rocm *r, enum rck_rocm_part part);
/* The first place where a part stands and cannot be opened: a link that leads nowhere, no
 * permission; or NULL. Borrowed. */
const char *rck_rocm_broken(const struct rck_rocm *r, enum rck_rocm_part part);
/*
 * The version of a part, or NULL when it cannot be told: of a library what its file name
 * says behind ".so." (libamdhip64.so.6.4.43484), of a compiler its --version (run once,
 * some 0.1 s), of the headers what they define, of the device libraries the newest code
 * object ABI that they know ("abi 500"). Borrowed.
 */
const char *rck_rocm_version(struct rck_rocm *r, enum rck_rocm_part part);
/* The folder of --rocm, or NULL. Borrowed. */
const char *rck_rocm_dir(const struct rck_rocm *r);

/*
 * True when dir brings a C library and dynamic loader of its own: its libraries must then
 * never be opened in this process, and its programs only run through rck_rocm_command().
 */
bool rck_rocm_is_foreign(const struct rck_rocm *r);
/* The foreign loader's C library, "2.41"; NULL when not foreign. Borrowed. */
const char *rck_rocm_libc_version(const struct rck_rocm *r);

/*
 * Begins a command line that will meet this ROCm's libraries, and, when front is not
 * NULL, those of the folder front before them (the software device). Foreign: argv gets
 * "ld-linux... --inhibit-cache --library-path FRONT:DIRS"; otherwise env gets
 * LD_LIBRARY_PATH where one is needed. The caller appends the program's absolute path and
 * its arguments. A foreign command inherits --library-path to no child of its own.
 * A program started so links nothing beyond the C library.
 */
void rck_rocm_command(const struct rck_rocm *r, const char *front, struct rck_strv *argv,
	struct rck_strv *env);
/*
 * Begins a command line with a compiler, path, which may be one of this ROCm's: a script
 * (hipcc; the wrappers that scripts/fetch-rocm puts into wrap/ of a foreign tree) starts
 * as it is, a program inside a foreign tree by that tree's loader.
 */
void rck_rocm_tool_command(const struct rck_rocm *r, const char *path,
	struct rck_strv *argv, struct rck_strv *env);
