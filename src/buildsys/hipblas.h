/*
 * hipBLAS has two generations of its *Ex entry points: the legacy one takes
 * hipblasDatatype_t, the current one hipDataType (and hipblasComputeType_t). In
 * hipBLAS 2.x the header gives the legacy one unless HIPBLAS_V2 is defined before the
 * include, and the current one's symbols end in _v2; in 3.x there is the current one
 * alone, under the plain names. All of that is read from the header and the library that
 * are there, nothing from a list of ours.
 */
#pragma once

#include "buildsys/clang.h"

enum rck_blas_generation {
	RCK_BLAS_NONE, /* takes neither kind of type */
	RCK_BLAS_LEGACY,
	RCK_BLAS_CURRENT,
};
const char *rck_blas_generation_name(enum rck_blas_generation g);

struct rck_blas_entry {
	char *name; /* behind macros: hipblasGemmEx, hipblasGemmEx_v2, hipblasGemmEx_v2_64
		     */
	enum rck_blas_generation generation;
};

struct rck_blas_header {
	struct rck_blas_entry *entries;
	size_t n;
	size_t plain; /* entries without _v2 and _64: what a program writes */
	/* what the plain names mean by default and with HIPBLAS_V2 defined */
	enum rck_blas_generation by_default, with_v2;
};

/*
 * Reads hipblas/hipblas.h through the compiler; args are what it takes to find it
 * (-I...). -ENOENT with diag when it cannot be found or holds no *Ex entry.
 */
int rck_blas_header_read(struct rck_clang *c, const struct rck_strv *args,
	struct rck_blas_header *h, struct rck_diag *diag);
void rck_blas_header_release(struct rck_blas_header *h);

struct rck_blas_site {
	char *file;
	unsigned line, column;
	char *name;
	enum rck_blas_generation
		generation; /* of the function called; NONE with an error */
	char *error;        /* the compiler's; or NULL */
};

enum rck_blas_verdict {
	RCK_BLAS_UNUSED,    /* no *Ex entry is called or imported */
	RCK_BLAS_FITS,      /* will compile, or load, one generation */
	RCK_BLAS_MIXES,     /* will compile, or load, but mixes generations */
	RCK_BLAS_BREAKS,    /* will not compile, or not load */
	RCK_BLAS_UNSETTLED, /* other errors keep the compiler from telling */
};
const char *rck_blas_verdict_text(enum rck_blas_verdict v, bool object);

struct rck_blas_use {
	enum rck_blas_verdict verdict;
	enum rck_blas_generation written_for; /* NONE: cannot be told */
	bool v2_helps; /* breaks as it is, and compiles with HIPBLAS_V2 defined */
	struct rck_blas_site *sites; /* of an object: its imported names, line 0 */
	size_t n;
	char *other_error; /* the first that is at no call of an entry; or NULL */
};

/* How file, compiled with args, uses the entries. Errors in the source are no failure. */
int rck_blas_source_read(struct rck_clang *c, const struct rck_blas_header *h,
	const char *file, const struct rck_strv *args, struct rck_blas_use *use,
	struct rck_diag *diag);

/*
 * How an object, archive, library or program uses them: by its undefined symbols.
 * exports: the names that libhipblas exports, or NULL when there is none to hold them to.
 */
int rck_blas_object_read(const char *file, const struct rck_strv *exports,
	struct rck_blas_use *use, struct rck_diag *diag);
/* The *Ex names that a shared library defines, sorted. */
int rck_blas_exports_read(
	const char *file, struct rck_strv *exports, struct rck_diag *diag);

void rck_blas_use_release(struct rck_blas_use *use);

/* hipblas...Ex, ...Ex_v2, ...Ex_64, ...ExWithFlags and their like. */
bool rck_blas_is_entry(const char *name);
