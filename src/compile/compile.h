/*
 * Source -> code object: by AMD's comgr (no driver, no host part) or by a compiler driver
 * of the user's choice, with that driver's own defaults kept. Many jobs side by side,
 * each in a process of its own; the same input gives the same bytes.
 */
#pragma once

#include "util/rocm.h"

#include <stdint.h>

enum rck_level {
	RCK_LEVEL_O0,
	RCK_LEVEL_O1,
	RCK_LEVEL_O2,
	RCK_LEVEL_O3,
	RCK_LEVEL_OS,
	RCK_LEVEL_DEFAULT, /* no -O on the command line: the compiler's own */
	RCK_LEVELS,
};
/* "O0", "default". */
const char *rck_level_name(enum rck_level level);
/* -EINVAL: no such level. */
int rck_level_parse(const char *text, enum rck_level *out);

enum rck_compiler_kind { RCK_COMPILER_COMGR, RCK_COMPILER_HIPCC, RCK_COMPILER_CLANG };

struct rck_compiler;

/*
 * spec: "comgr", "hipcc", "clang++" (this ROCm's), the path or name of any clang++ or
 * hipcc, or NULL for the first that is there, in that order. rocm is borrowed for the
 * compiler's life. -ENOENT with diag: there is none; -ENOTSUP: comgr cannot be loaded or
 * lacks a function.
 */
int rck_compiler_open(struct rck_rocm *rocm, const char *spec, struct rck_compiler **out,
	struct rck_diag *diag);
void rck_compiler_close(struct rck_compiler *c); /* NULL is fine */
enum rck_compiler_kind rck_compiler_kind(const struct rck_compiler *c);
/* Borrowed: "comgr" or the driver's base name; the library or program; its version:
   comgr's interface and file version, a driver's own words. */
const char *rck_compiler_name(const struct rck_compiler *c);
const char *rck_compiler_path(const struct rck_compiler *c);
const char *rck_compiler_version(const struct rck_compiler *c);
/* What this compiler does when no -O is given: one clause for people. */
const char *rck_compiler_default_level(const struct rck_compiler *c);
/*
 * True when the compiler is known to know the target id's processor, or when it cannot be
 * asked (a driver): then the compilation will tell.
 */
bool rck_compiler_knows(const struct rck_compiler *c, const char *target);
/* The processors it knows, "gfx900 gfx906 ..."; NULL when it cannot be asked. */
const char *rck_compiler_targets(const struct rck_compiler *c);

struct rck_compile_job {
	/* in, borrowed */
	const char *source; /* a bundled kernel file ("gemm.hip"), or the user's path */
	bool bundled;
	const char *target; /* "gfx90a", "gfx942:xnack-" */
	enum rck_level level;
	/* 2..6; 0: 5 where the compiler can, else its own, which notice then says */
	unsigned code_object_version;
	const char *const *options; /* more for the compiler, NULL-terminated; or NULL */
	/* out, owned by the job */
	int err; /* 0, -EILSEQ: the compiler reported errors, else -errno; see diag */
	struct rck_diag diag;
	char *log;    /* the compiler's diagnostics, tied to the source's name; "" */
	char *notice; /* what was changed to make it work, one clause a line; "" */
	struct rck_strv flags; /* as given to the compiler, but for temporary paths */
	uint8_t *bytes;        /* the code object */
	size_t size;
	char sha256[65];
	double seconds;
};

/* Runs all jobs, parallel (0: as many as processors) at a time; every job has its result
   or its error. Returns the number of jobs that failed. */
size_t rck_compile_run(const struct rck_compiler *c, struct rck_compile_job *jobs,
	size_t n, unsigned parallel);
void rck_compile_job_release(struct rck_compile_job *job);

/* One code object of a fat binary. */
struct rck_fatbin_entry {
	const char *target;
	const uint8_t *bytes;
	size_t size;
};

/*
 * A clang offload bundle as HIP loads it (an empty host entry, code objects aligned to
 * 4096); compress: as one zstd-compressed bundle, CCOB version 2. -EINVAL with diag when
 * the parts are too large for the format. free() *out.
 */
int rck_fatbin_make(const struct rck_fatbin_entry *entries, size_t n, bool compress,
	uint8_t **out, size_t *size, struct rck_diag *diag);

/* Lower-case hexadecimal SHA-256. */
void rck_sha256(const void *data, size_t size, char hex[65]);
