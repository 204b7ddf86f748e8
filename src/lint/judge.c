/* The library's judgement: one file, the default rules, findings as they are. */
#include "lint/finding.h"

#include <stdlib.h>
#include <string.h>

struct rck_judgement {
	struct rck_policy policy;
	struct rck_lint lint;
	struct rck_finding_info *findings;
};

static void look_at(
	struct rck_judgement *j, struct rck_file *file, const struct rck_item *item)
{
	struct rck_code_object *co;
	struct rck_diag diag;

	switch (item->kind) {
	case RCK_ITEM_CODE_OBJECT:
		if (rck_code_object_open(file, item, &co, &diag)) {
			rck_lint_error(&j->lint, item->where, &diag);
			break;
		}
		rck_lint_take(&j->lint, rck_lint_check(&j->lint, item, co));
		rck_code_object_close(co);
		break;
	case RCK_ITEM_INCOMPLETE:
		rck_lint_incomplete(&j->lint, item->where, &item->diag, item->remedy);
		break;
	case RCK_ITEM_ERROR:
		rck_lint_error(&j->lint, item->where, &item->diag);
		break;
	default:
		break;
	}
}

static struct rck_finding_info info_of(
	const struct rck_lint *l, const struct rck_finding *f)
{
	const struct rck_lint_kernel *k =
		f->kernel == RCK_NO_KERNEL ? NULL : &l->kernels[f->kernel];

	return (struct rck_finding_info){
		.rule = f->rule->id,
		.severity = f->severity,
		.state = f->state,
		.kernel = k ? k->name : NULL,
		.demangled = k ? (k->demangled ? k->demangled : k->name) : NULL,
		.target = f->target,
		.where = f->where,
		.message = f->text,
		.remedy = f->remedy ? f->remedy
				    : rck_rule_remedy(f->rule,
					      k ? k->cause : RCK_CAUSE_NONE, f->path),
		.call_path = f->path,
		.source = f->source,
		.line = f->line,
	};
}

static struct rck_judgement *judge(struct rck_file *file)
{
	struct rck_judgement *j = rck_xcalloc(1, sizeof(*j));
	struct rck_lint_options options = {.policy = &j->policy, .cwd = "/", .root = "/"};
	const char *path = rck_file_path(file);
	struct rck_item item;
	struct rck_diag diag;
	int err;

	rck_policy_init(&j->policy, "");
	rck_lint_init(&j->lint, &options);
	rck_lint_begin(&j->lint, path ? path : "", true);
	while ((err = rck_file_next(file, &item, &diag)) == 1)
		look_at(j, file, &item);
	if (err < 0)
		rck_lint_error(&j->lint, "", &diag);
	rck_lint_end(&j->lint);
	rck_lint_finish(&j->lint);
	j->findings = rck_xcalloc(j->lint.n_findings + 1, sizeof(*j->findings));
	for (size_t i = 0; i < j->lint.n_findings; i++)
		j->findings[i] = info_of(&j->lint, &j->lint.findings[i]);
	rck_file_close(file);
	return j;
}

/* The caller's options, of whatever size his header had, with everything inflated in
 * place. */
static struct rck_options all_of(const struct rck_options *options)
{
	struct rck_options all = {0};

	if (options)
		memcpy(&all, options,
			options->size < sizeof(all) ? options->size : sizeof(all));
	all.size = sizeof(all);
	all.keep_compressed = false;
	return all;
}

int rck_judge_path(const char *path, const struct rck_options *options,
	struct rck_judgement **out, struct rck_diag *diag)
{
	const struct rck_options all = all_of(options);
	struct rck_file *file;
	int err = rck_file_open(path, &all, &file, diag);

	if (!err)
		*out = judge(file);
	return err;
}

int rck_judge_mem(const void *data, size_t size, const char *name,
	const struct rck_options *options, struct rck_judgement **out,
	struct rck_diag *diag)
{
	const struct rck_options all = all_of(options);
	struct rck_file *file;
	int err = rck_file_open_mem(data, size, name, &all, &file, diag);

	if (!err)
		*out = judge(file);
	return err;
}

void rck_judgement_close(struct rck_judgement *j)
{
	if (!j)
		return;
	rck_lint_release(&j->lint);
	rck_policy_release(&j->policy);
	free(j->findings);
	free(j);
}

size_t rck_judgement_finding_count(const struct rck_judgement *j)
{
	return j->lint.n_findings;
}

const struct rck_finding_info *rck_judgement_finding(
	const struct rck_judgement *j, size_t i)
{
	return i < j->lint.n_findings ? &j->findings[i] : NULL;
}

size_t rck_judgement_error_count(const struct rck_judgement *j)
{
	return j->lint.n_errors;
}

const struct rck_diag *rck_judgement_error(const struct rck_judgement *j, size_t i)
{
	return i < j->lint.n_errors ? &j->lint.errors[i].diag : NULL;
}

int rck_judgement_verdict(const struct rck_judgement *j)
{
	return rck_lint_verdict(&j->lint);
}
