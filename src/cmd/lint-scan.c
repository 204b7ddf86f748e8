#include "cmd/lint-scan.h"
#include "cmd/cmd.h"
#include "util/msg.h"

static void prepare(void *user, struct rck_scan_leaf *leaf)
{
	if (leaf->co)
		leaf->result = rck_lint_check(user, leaf->item, leaf->co);
}

static void begin(void *user, struct rck_scan_file *file)
{
	rck_lint_begin(user, file->path, file->named);
}

static bool emit(void *user, struct rck_scan_leaf *leaf)
{
	const struct rck_lint *l = user;
	size_t said = l->n_errors;

	switch (leaf->kind) {
	case RCK_ITEM_CODE_OBJECT:
		rck_lint_take(user, leaf->result);
		leaf->result = NULL;
		/* of its findings, not of the object */
		for (; said < l->n_errors; said++)
			rck_error_diag(leaf->file->path, &l->errors[said].diag);
		break;
	case RCK_ITEM_INCOMPLETE:
		rck_lint_incomplete(user, leaf->where, &leaf->diag, leaf->remedy);
		break;
	case RCK_ITEM_ERROR:
		rck_lint_error(user, leaf->where, &leaf->diag);
		rck_scan_say(leaf);
		break;
	default:
		break;
	}
	return true;
}

static void end(void *user, struct rck_scan_file *file)
{
	rck_lint_end(user);
}

int rck_lint_scan(struct rck_lint *l, const struct rck_inputs_spec *inputs,
	const struct rck_scan_spec *scan)
{
	const struct rck_scan_ops ops = {
		.user = l, .begin = begin, .emit = emit, .end = end, .prepare = prepare};
	struct rck_inputs *in;
	struct rck_diag diag;

	if (rck_inputs_open(inputs, &in, &diag)) {
		rck_error("%s", diag.msg);
		return RCK_EXIT_USAGE;
	}
	rck_scan_run(in, scan, &ops);
	rck_inputs_close(in);
	rck_lint_finish(l);
	return RCK_EXIT_CLEAN;
}
