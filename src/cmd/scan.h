/*
 * The ordered scan: files -> leaves -> code objects, side by side on several threads,
 * given to the consumer in the order of the files whatever the number of threads.
 *
 * A thread takes the next leaf of the walk (which reads container headers only), inflates
 * or opens it, lets the consumer prepare it, and hands it on in its turn. At most a
 * window of leaves is under way, and what they have rendered is bounded, so memory does
 * not grow with the input.
 */
#pragma once

#include "cmd/inputs.h"
#include "rocmcheck.h"
#include "util/strbuf.h"

struct rck_scan_spec {
	unsigned long long jobs; /* threads; 0: the processors we may run on */
	bool verify;
	unsigned long long max_depth, max_inflated,
		max_total; /* as in struct rck_options */
	const char *kpack_path;
};

/* The rows of a command's option table; s is a struct rck_scan_spec. */
#define RCK_SCAN_OPTIONS(s)                                                              \
	{RCK_OPT_UINT, 'j', "jobs", &(s).jobs, "N",                                      \
		"threads (default: the processors); results do not depend on it"},       \
		{RCK_OPT_FLAG, 0, "verify", &(s).verify, NULL,                           \
			"check the hashes of compressed bundles"},                       \
		{RCK_OPT_UINT, 0, "max-depth", &(s).max_depth, "N",                      \
			"containers inside containers (default 32)"},                    \
		{RCK_OPT_UINT, 0, "max-inflated", &(s).max_inflated, "SIZE",             \
			"bytes that one compressed container may become (default 4G)"},  \
		{RCK_OPT_UINT, 0, "max-total", &(s).max_total, "SIZE",                   \
			"bytes that those of a file may become together (default "       \
			"64G)"},                                                         \
	{                                                                                \
		RCK_OPT_STRING, 0, "kpack-path", &(s).kpack_path, "DIRS",                \
			"folders searched first for .kpack archives, ':' between"        \
	}

struct rck_scan_file {
	const char *path; /* as the user named it or the walk found it */
	bool named;       /* by the user */
	uint64_t size;    /* bytes; 0 when it could not be opened */
	void *user;       /* the consumer's */
	size_t said;      /* by rck_scan_say() */
};

struct rck_scan_leaf {
	struct rck_scan_file *file;
	enum rck_item_kind kind;     /* ERROR too when a code object cannot be opened */
	const char *where;           /* the item's, or "" */
	struct rck_diag diag;        /* of all kinds but CODE_OBJECT */
	const char *remedy;          /* of INCOMPLETE */
	const struct rck_item *item; /* NULL when the file itself cannot be read */
	struct rck_code_object *co;  /* of CODE_OBJECT */
	struct rck_strbuf out;       /* what prepare renders, for emit to write */
	void *result;                /* the consumer's: set by prepare, freed by emit */
	bool partial;                /* emit: more of the same leaf comes */
};

struct rck_scan_ops {
	void *user;
	bool keep; /* emit wants leaf->item and leaf->co too; else prepare alone has them
		    */
	/* In order, one at a time, on any thread. begin and end may be NULL. emit returns
	   false to end the scan early; what is under way is still emitted, and files
	   ended. */
	void (*begin)(void *user, struct rck_scan_file *file);
	bool (*emit)(void *user, struct rck_scan_leaf *leaf);
	void (*end)(void *user, struct rck_scan_file *file);
	/* On any thread, several at once, for each leaf; may be NULL. Everything that
	   takes time belongs here. */
	void (*prepare)(void *user, struct rck_scan_leaf *leaf);
};

/* Runs the scan to its end. Nothing fails here: what cannot be read is a leaf of kind
 * ERROR. A file that a folder holds and that is of no known kind has no leaf. */
void rck_scan_run(struct rck_inputs *in, const struct rck_scan_spec *spec,
	const struct rck_scan_ops *ops);

/*
 * The error line of a leaf that is not a code object: its file, where in it, and why. Of
 * one file so many are told, and at its end how many more there were.
 */
#define RCK_SAID_MAX 20
void rck_scan_say(const struct rck_scan_leaf *leaf);

/* From prepare, between two pieces of output: when leaf->out has become large, waits for
 * its turn, emits it as a part and empties it. Where the cuts fall does not depend on
 * timing. */
void rck_scan_flush(struct rck_scan_leaf *leaf);
