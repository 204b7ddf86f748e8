/*
 * The bundled kernels: names, argument layouts and launch shapes, in one table for the
 * launcher, the CPU reference, the man page and the tests. And their sources, embedded.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rck_elem { RCK_ELEM_F32, RCK_ELEM_BF16 };

enum rck_bundled_arg_type {
	RCK_BUNDLED_BUFFER, /* a device address, 8 bytes */
	RCK_BUNDLED_I64,
	RCK_BUNDLED_I32,
	RCK_BUNDLED_F32,
};

struct rck_bundled_arg {
	const char *name;
	enum rck_bundled_arg_type type;
};

/* Bytes of an argument in the kernarg segment; it is aligned to its size. */
size_t rck_bundled_arg_size(enum rck_bundled_arg_type type);

enum rck_bundled_family { RCK_BUNDLED_RMSNORM, RCK_BUNDLED_GEMM };

/* What the launch shape is computed from; a family reads only its own fields. */
struct rck_bundled_shape {
	uint32_t rows, hidden;     /* RMS norm */
	uint32_t m, n, k, batches; /* GEMM; batches is 1 for the plain form */
};

struct rck_bundled {
	const char *name;   /* "rms_norm<f32,f32,bf16>": Tin, Tout, Tres */
	const char *symbol; /* mangled, as in the code object and for HIP */
	const char *source; /* the bundled file it is in: "rmsnorm.hip" */
	enum rck_bundled_family family;
	enum rck_elem in, out, res; /* GEMM: all of A, B and C are in == out */
	bool batched;
	const struct rck_bundled_arg *args;
	size_t n_args;
	uint32_t block[3]; /* threads */
	uint32_t lds;      /* bytes, static */
	const char *grid;  /* of blocks, as a formula, for people */
};

extern const struct rck_bundled rck_bundled_kernels[];
extern const size_t rck_bundled_count;

/* The kernel of that mangled symbol, or NULL. */
const struct rck_bundled *rck_bundled_find(const char *symbol);
/* Blocks in x, y and z for a shape; a 0 among them means that nothing is to be launched.
 */
void rck_bundled_grid(const struct rck_bundled *k, const struct rck_bundled_shape *shape,
	uint32_t grid[3]);

/* A file embedded at build time. text is NUL-terminated; size does not count the NUL. */
struct rck_embedded {
	const char *name;
	const char *text;
	size_t size;
};

/* rmsnorm.hip, gemm.hip, device.h, reproducer.c; ends with a NULL name. */
extern const struct rck_embedded rck_embedded_files[];
const struct rck_embedded *rck_embedded_find(const char *name);
