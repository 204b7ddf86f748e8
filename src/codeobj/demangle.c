/*
 * Names demangled by the Itanium rules, by libiberty's parser with its own callback: it
 * allocates nothing, so a name made to grow without end (substitutions of substitutions)
 * is left by a jump as soon as it is longer than anybody would read.
 */
#include "codeobj/private.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <string.h>

#define MANGLED_MAX (8u << 10)  /* bytes; its parser takes stack in proportion */
#define TEXT_MAX    (32u << 10) /* bytes of demangled name */

struct sink {
	char *buf;
	size_t len;
	jmp_buf full;
};

static void add(const char *s, size_t len, void *arg)
{
	struct sink *sink = arg;

	if (len > TEXT_MAX - sink->len)
		longjmp(sink->full, 1);
	memcpy(sink->buf + sink->len, s, len);
	sink->len += len;
}

const char *rck_demangle(struct rck_arena *arena, const char *name)
{
	char buf[TEXT_MAX];
	struct sink sink = {.buf = buf};
	const char *out = NULL;

	if (strncmp(name, "_Z", 2) || strlen(name) > MANGLED_MAX || setjmp(sink.full))
		return name;
	if (cplus_demangle_v3_callback(
		    name, DMGL_PARAMS | DMGL_ANSI | DMGL_NO_RECURSE_LIMIT, add, &sink))
		out = rck_arena_strndup(arena, sink.buf, sink.len);
	return out ? out : name;
}
