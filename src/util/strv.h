/* A growing list of strings, NULL at the end: the argv or the environment of a child. */
#pragma once

#include <stddef.h>

struct rck_strv {
	char **items; /* items[n] is NULL; NULL itself while the list is empty */
	size_t n;
};

/* The list owns a copy of s. */
void rck_strv_add(struct rck_strv *v, const char *s);
void rck_strv_addf(struct rck_strv *v, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Every string of the NULL-terminated list; NULL adds nothing. */
void rck_strv_add_all(struct rck_strv *v, const char *const *list);
/* The parts of s between the separators; empty parts are left out. */
void rck_strv_split(struct rck_strv *v, const char *s, const char *separators);
void rck_strv_release(struct rck_strv *v);
/* The form that rck_spawn takes. */
static inline const char *const *rck_strv_list(const struct rck_strv *v)
{
	return (const char *const *)v->items;
}

#define _cleanup_strv_ __attribute__((cleanup(rck_strv_release)))
