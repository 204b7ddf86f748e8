/*
 * A streaming JSON writer (RFC 8259) into a strbuf. The caller says what comes; commas,
 * escapes and indentation are kept here. Keys are written in the order of the calls.
 */
#pragma once

#include "util/strbuf.h"

#include <stdbool.h>
#include <stdint.h>

#define RCK_JSON_DEPTH 32

struct rck_json {
	struct rck_strbuf *out;
	int indent; /* blanks a level; 0: one line */
	int depth;
	bool first[RCK_JSON_DEPTH + 1];
	bool after_key;
};

void rck_json_init(struct rck_json *j, struct rck_strbuf *out, int indent);
void rck_json_object(struct rck_json *j);
void rck_json_object_end(struct rck_json *j);
void rck_json_array(struct rck_json *j);
void rck_json_array_end(struct rck_json *j);
void rck_json_key(struct rck_json *j, const char *key);

void rck_json_null(struct rck_json *j);
void rck_json_bool(struct rck_json *j, bool v);
void rck_json_u64(struct rck_json *j, uint64_t v);
void rck_json_i64(struct rck_json *j, int64_t v);
/* A double; NaN and infinities, which JSON lacks, become null. */
void rck_json_double(struct rck_json *j, double v);
/* A string; bytes that are not UTF-8 become U+FFFD. NULL becomes null. */
void rck_json_str(struct rck_json *j, const char *s);
void rck_json_strn(struct rck_json *j, const char *s, size_t len);

/* Key and value at once. */
void rck_json_kstr(struct rck_json *j, const char *key, const char *s);
void rck_json_ku64(struct rck_json *j, const char *key, uint64_t v);
void rck_json_ki64(struct rck_json *j, const char *key, int64_t v);
void rck_json_kbool(struct rck_json *j, const char *key, bool v);
void rck_json_kdouble(struct rck_json *j, const char *key, double v);
