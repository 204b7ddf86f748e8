/* Metadata of V2: a YAML document in a note. */
#include "codeobj/private.h"

#include <errno.h>

int rck_metadata_v2_read(
	struct rck_code_object *co, const struct rck_note *n, struct rck_diag *diag)
{
	return rck_fail(diag, -ENOTSUP, rck_elf_offset(&rck_parse_of(co)->elf, n->offset),
		"metadata of code object V2 is YAML: not built in (libyaml)");
}
