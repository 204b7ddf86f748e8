/*
 * Regular expressions as users and policy files write them: PCRE2's, for what glibc's
 * regcomp(3) takes minutes and gigabytes for is bounded there (glibc 2.36: repetitions
 * are copied, an empty loop's closure is exponential).
 */
#pragma once

struct rck_regex;

/* NULL with the reason in why when text is none; else the caller's to free. A match is
 * anywhere in the text; "." matches any character, "$" at the end alone; UTF-8. */
struct rck_regex *rck_regex_new(const char *text, char why[static 128]);
void rck_regex_free(struct rck_regex *re); /* NULL is fine */

/* 1 or 0; -E2BIG when it takes more than a million steps from one place in the text, or
 * PCRE2's limit of memory (20 MB, pcre2api(3) 10.42), to say. May be asked from several
 * threads at once. */
int rck_regex_match(const struct rck_regex *re, const char *text);
