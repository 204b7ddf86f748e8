/* Where in the source a kernel begins, from the code object's debug information. */
#pragma once

#include "codeobj/codeobj.h"

struct rck_lines;

/* NULL: the object has no debug information, or libdw was not compiled in. */
struct rck_lines *rck_lines_open(const struct rck_code_object *co);
void rck_lines_close(struct rck_lines *l); /* NULL is fine */
/* The file and line of a virtual address; *file is borrowed until close. false: not
 * known. */
bool rck_lines_find(
	struct rck_lines *l, uint64_t address, const char **file, unsigned *line);
