/* The HIP translation units of a build: a compilation database read, each command judged.
 */
#pragma once

#include "buildsys/compdb.h"
#include "buildsys/hipline.h"

struct rck_hip_unit {
	const struct rck_compdb_entry *entry; /* borrowed from the database */
	struct rck_strv words; /* the command with its response files expanded */
	struct rck_hipline line;
	enum rck_olevel_from from; /* line's, or RCK_FROM_ASKED */
	enum rck_olevel level;
	char *trouble; /* why the level could not be told; NULL: it was */
	/* what the source itself says; without the source: 0 and false */
	unsigned first_kernel; /* line of the first __global__ */
	unsigned first_assert; /* line of the first use of assert() */
	bool readable;
};

struct rck_hip_units {
	struct rck_hip_unit *units;
	size_t n;
	size_t others; /* commands that are not HIP */
};

/*
 * Judges every command of db. ask: a driver that is not known is run with -### (ask.h). A
 * response file that cannot be read, or a driver that does not answer, is the unit's
 * trouble.
 */
void rck_hip_units_read(const struct rck_compdb *db, bool ask, struct rck_hip_units *u);
void rck_hip_units_release(struct rck_hip_units *u);

/*
 * Looks through a source for the lines of the first __global__ and of the first
 * assert(...) outside comments and literals; at most 16 MiB are read. -errno when it
 * cannot be opened.
 */
int rck_hip_source_scan(const char *path, unsigned *first_kernel, unsigned *first_assert);
