#include "util/strv.h"
#include "util/strbuf.h"

#include <stdlib.h>
#include <string.h>

/* The list owns s itself. */
static void take(struct rck_strv *v, char *s)
{
	v->items = rck_xrealloc(v->items, (v->n + 2) * sizeof(*v->items));
	v->items[v->n++] = s;
	v->items[v->n] = NULL;
}

void rck_strv_add(struct rck_strv *v, const char *s)
{
	take(v, rck_xstrdup(s));
}

void rck_strv_addf(struct rck_strv *v, const char *fmt, ...)
{
	struct rck_strbuf sb = RCK_STRBUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	rck_strbuf_vaddf(&sb, fmt, ap);
	va_end(ap);
	take(v, rck_strbuf_detach(&sb));
}

void rck_strv_add_all(struct rck_strv *v, const char *const *list)
{
	for (; list && *list; list++)
		rck_strv_add(v, *list);
}

void rck_strv_split(struct rck_strv *v, const char *s, const char *separators)
{
	while (*s) {
		size_t n = strcspn(s, separators);

		if (n)
			take(v, rck_xstrndup(s, n));
		s += n;
		s += *s != '\0';
	}
}

void rck_strv_release(struct rck_strv *v)
{
	for (size_t i = 0; i < v->n; i++)
		free(v->items[i]);
	free(v->items);
	*v = (struct rck_strv){NULL, 0};
}
