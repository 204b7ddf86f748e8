#include "cmd/select.h"
#include "codeobj/codeobj.h"
#include "util/regex.h"
#include "util/strbuf.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>

struct rck_select {
	const struct rck_select_spec *spec;
	struct rck_regex *kernel; /* NULL: any */
};

int rck_select_new(const struct rck_select_spec *spec, struct rck_select **out,
	struct rck_diag *diag)
{
	struct rck_select *sel = rck_xcalloc(1, sizeof(*sel));
	char why[128];

	sel->spec = spec;
	if (spec->kernel)
		sel->kernel = rck_regex_new(spec->kernel, why);
	if (spec->kernel && !sel->kernel) {
		free(sel);
		return rck_fail(diag, -EINVAL, RCK_OFFSET_NONE,
			"option '--kernel': '%s': %s", spec->kernel, why);
	}
	*out = sel;
	return 0;
}

void rck_select_free(struct rck_select *sel)
{
	if (!sel)
		return;
	rck_regex_free(sel->kernel);
	free(sel);
}

bool rck_select_object(const struct rck_select *sel, const struct rck_code_object *co)
{
	const struct rck_opt_list *arch = &sel->spec->arch;

	for (size_t i = 0; i < arch->n; i++)
		if (!fnmatch(arch->items[i], co->target, 0) ||
			!fnmatch(arch->items[i], co->processor, 0))
			return true;
	return !arch->n;
}

int rck_select_kernel(const struct rck_select *sel, const struct rck_kernel *k)
{
	int match;

	if (sel->spec->flagged && !rck_kernel_flagged(k))
		return 0;
	if (!sel->kernel)
		return 1;
	match = rck_regex_match(sel->kernel, rck_kernel_demangled(k));
	return match ? match : rck_regex_match(sel->kernel, rck_kernel_name(k));
}
