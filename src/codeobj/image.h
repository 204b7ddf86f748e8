/*
 * The memory that a code object has once it is loaded, as far as its file settles it:
 * bytes of segments that nobody writes, with the dynamic relocations applied
 * (AMDGPUUsage, "Relocation Records").
 */
#pragma once

#include "codeobj/codeobj.h"

struct rck_image;

/* NULL: no memory, or the object is not linked (ET_REL). */
struct rck_image *rck_image_open(const struct rck_code_object *co);
void rck_image_close(struct rck_image *m); /* NULL is fine */
/* n dwords at a virtual address; false: not in the file, writable, or resolved elsewhere.
 */
bool rck_image_load(struct rck_image *m, uint64_t address, size_t n, uint32_t *out);
