/*
 * A compilation database: compile_commands.json as CMake, Ninja (-t compdb), Bear and
 * Meson write it (Clang's JSON Compilation Database Format Specification: directory,
 * file, command or arguments, output).
 */
#pragma once

#include "rocmcheck.h"
#include "util/strv.h"

struct rck_compdb_entry {
	char *directory;       /* absolute or as written; "" when not stated */
	char *file;            /* as written */
	char *path;            /* file, made absolute by directory */
	char *output;          /* or NULL */
	struct rck_strv words; /* the command, split; response files not yet expanded;
				  none for Ninja's phony rules */
};

struct rck_compdb {
	struct rck_compdb_entry *entries;
	size_t n;
	/* entries that were not usable: one line each, with the entry's index */
	struct rck_strv bad;
};

/*
 * Reads text (UTF-8 JSON, at most 256 MiB). Returns 0, or -errno with diag: -EINVAL when
 * it is no JSON (offset of the fault, in bytes) or no array. An entry of the wrong shape
 * goes to bad and the others are read. rck_compdb_release() frees all of it.
 */
int rck_compdb_read(
	const char *text, size_t len, struct rck_compdb *db, struct rck_diag *diag);
/* The same from a file; "-" is standard input; of a folder its compile_commands.json. */
int rck_compdb_load(const char *path, struct rck_compdb *db, struct rck_diag *diag);
void rck_compdb_release(struct rck_compdb *db);
