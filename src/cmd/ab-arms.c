/* ab: the arms, from source, file or command to the rows of the report. */
#include "cmd/ab.h"
#include "cmd/cmd.h"
#include "codeobj/codeobj.h"
#include "kernels/table.h"
#include "report/shorten.h"
#include "util/cleanup.h"
#include "util/msg.h"
#include "util/output.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUNDLED_SOURCE "rmsnorm.hip"
/* What the probe launches unless told: it knows these arguments. */
#define PROBE_KERNEL "_Z8rms_normIfffEvPT0_PKT_S4_PT1_lfi"

/* ---- which arms ---- */

static struct ab_arm *add_arm(struct ab *ab, const char *name)
{
	struct ab_arm *arm = &ab->arms[ab->n_arms++];

	/* names move with the list: they are taken from it when all are there */
	rck_experiment_arm(ab->x, name);
	return arm;
}

static int parse_levels(struct ab *ab)
{
	_cleanup_strv_ struct rck_strv words = {NULL, 0};
	const char *text = ab->o->levels ? ab->o->levels : "O0,O1";

	rck_strv_split(&words, text, ",");
	if (!words.n || words.n > RCK_ARMS_MAX) {
		rck_error("option '--opt': from 1 to %d levels", RCK_ARMS_MAX);
		return RCK_EXIT_USAGE;
	}
	for (size_t i = 0; i < words.n; i++) {
		enum rck_level level;

		if (rck_level_parse(words.items[i], &level)) {
			rck_error("option '--opt': '%s' is none of O0, O1, O2, O3, Os "
				  "and default",
				words.items[i]);
			return RCK_EXIT_USAGE;
		}
		add_arm(ab, words.items[i])->job.level = level;
	}
	return RCK_EXIT_CLEAN;
}

static int parse_pair(struct ab *ab, const char *const pair[2], const char *what)
{
	static const char *const names[] = {"a", "b"};

	if (!pair[0] || !pair[1] || ab->o->levels || ab->o->source || ab->o->self) {
		rck_error("--a%s and --b%s go together, and without --opt, --source and "
			  "--self",
			what, what);
		return RCK_EXIT_USAGE;
	}
	for (int i = 0; i < 2; i++) {
		struct ab_arm *arm = add_arm(ab, names[i]);

		if (ab->kind == AB_FILES)
			arm->path = rck_xstrdup(pair[i]);
		else
			arm->command = pair[i];
	}
	return RCK_EXIT_CLEAN;
}

int ab_arms_parse(struct ab *ab)
{
	const struct ab_options *o = ab->o;
	bool files = o->file[0] || o->file[1];
	bool commands = o->command[0] || o->command[1];
	int status;

	if (files && commands) {
		rck_error("--a, --b and --a-command, --b-command exclude each other");
		return RCK_EXIT_USAGE;
	}
	ab->kind = files ? AB_FILES : commands ? AB_COMMANDS : AB_LEVELS;
	if (ab->kind == AB_LEVELS)
		status = parse_levels(ab);
	else
		status = parse_pair(
			ab, files ? o->file : o->command, files ? "" : "-command");
	for (size_t i = 0; i < ab->n_arms; i++)
		ab->arms[i].name = ab->x->arms[i].name;
	return status;
}

/* ---- building ---- */

static void not_built(struct ab *ab, size_t i, const char *why)
{
	free(ab->x->arms[i].unbuilt);
	ab->x->arms[i].unbuilt = rck_xstrdup(why);
	rck_error("arm '%s': %s", ab->arms[i].name, why);
	ab_trouble(ab);
}

/* A file that was given is named; what was compiled lies in a temporary folder. */
static void not_read(struct ab *ab, size_t i, const char *why)
{
	_cleanup_free_ char *text =
		ab->kind == AB_FILES ? rck_xasprintf("'%s': %s", ab->arms[i].path, why)
				     : rck_xstrdup(why);

	not_built(ab, i, text);
}

/* The compiler's own words on stderr, as they are. */
static void show_log(const char *log)
{
	_cleanup_strbuf_ struct rck_strbuf text = RCK_STRBUF_INIT;

	for (const char *s = log; s && *s;) {
		size_t n = strcspn(s, "\n");

		rck_strbuf_add_masked(&text, s, n);
		rck_strbuf_addc(&text, '\n');
		s += n;
		s += *s == '\n';
	}
	fputs(text.buf, stderr);
}

/* The path of the file; NULL after an error line. */
static char *write_object(struct ab *ab, const struct rck_compile_job *job,
	const char *name, const char *suffix)
{
	char *path = rck_xasprintf("%s/%s%s.co", ab->folder, name, suffix);

	if (!rck_output_write(path, job->bytes, job->size))
		return path;
	free(path);
	ab_trouble(ab);
	return NULL;
}

/* HIP 5's runtime loads code objects up to V4. */
static bool is_old(const struct rck_device *d)
{
	return strstr(d->hip, "libamdhip64.so.5") != NULL;
}

const char *ab_object_for(const struct ab_arm *arm, const struct rck_device *d)
{
	return arm->old_path && is_old(d) ? arm->old_path : arm->path;
}

/* V5 shows all three flags, V4 only two: where a runtime needs V4, the facts are still
 * V5's.
 */
static void compile_old(struct ab *ab, struct rck_compiler *compiler)
{
	struct rck_compile_job *jobs;

	if (!(ab->has_device && is_old(&ab->device)) &&
		!(ab->has_teardown_device && is_old(&ab->teardown_device)))
		return;
	jobs = rck_xcalloc(ab->n_arms, sizeof(*jobs));
	for (size_t i = 0; i < ab->n_arms; i++) {
		const struct rck_compile_job *job = &ab->arms[i].job;

		jobs[i] = (struct rck_compile_job){.source = job->source,
			.bundled = job->bundled,
			.target = job->target,
			.level = job->level,
			.code_object_version = 4};
	}
	rck_compile_run(compiler, jobs, ab->n_arms, 0);
	for (size_t i = 0; i < ab->n_arms; i++) {
		struct ab_arm *arm = &ab->arms[i];

		arm->old_job = jobs[i];
		if (jobs[i].err && !arm->job.err)
			not_built(ab, i, jobs[i].diag.msg);
		else if (!jobs[i].err)
			arm->old_path = write_object(ab, &jobs[i], arm->name, "-v4");
	}
	free(jobs);
}

static void compile_rows(struct ab *ab, size_t i, const struct rck_compiler *c)
{
	const struct rck_compile_job *job = &ab->arms[i].job;
	_cleanup_free_ char *flags =
		job->flags.n ? rck_live_quote(rck_strv_list(&job->flags)) : NULL;

	ab_row(ab, "compiler", "compiler", i, "%s %s", rck_compiler_name(c),
		rck_compiler_version(c));
	if (flags)
		ab_row(ab, "flags", "flags", i, "%s", flags);
}

/* Compile for the device that the code is exposed on; the processor alone, so that it
 * runs whatever the device's features are set to. */
static void compile_all(struct ab *ab)
{
	const struct rck_device *d = ab->has_teardown_device ? &ab->teardown_device
				     : ab->has_device        ? &ab->device
							     : NULL;
	const char *target = ab->o->target ? ab->o->target : d ? d->target : "gfx1030";
	_cleanup_free_ char *processor = rck_xstrndup(target, strcspn(target, ":"));
	struct rck_compile_job *jobs = rck_xcalloc(ab->n_arms, sizeof(*jobs));
	struct rck_compiler *compiler;
	struct rck_diag diag;

	if (rck_compiler_open(ab->rocm, ab->o->compiler, &compiler, &diag)) {
		for (size_t i = 0; i < ab->n_arms; i++)
			not_built(ab, i, diag.msg);
		free(jobs);
		return;
	}
	for (size_t i = 0; i < ab->n_arms; i++) {
		jobs[i] = ab->arms[i].job;
		jobs[i].source = ab->o->source ? ab->o->source : BUNDLED_SOURCE;
		jobs[i].bundled = !ab->o->source;
		jobs[i].target = processor;
	}
	rck_compile_run(compiler, jobs, ab->n_arms, 0);
	for (size_t i = 0; i < ab->n_arms; i++) {
		ab->arms[i].job = jobs[i];
		compile_rows(ab, i, compiler);
		show_log(jobs[i].log);
		if (jobs[i].err)
			not_built(ab, i, jobs[i].diag.msg);
		else
			ab->arms[i].path =
				write_object(ab, &jobs[i], ab->arms[i].name, "");
	}
	compile_old(ab, compiler);
	for (size_t i = 0; i < ab->n_arms; i++) /* what they borrowed ends here */
		ab->arms[i].job.target = ab->arms[i].old_job.target = NULL;
	free(jobs);
	rck_compiler_close(compiler);
}

/* ---- what is in them ---- */

/* Sums and maxima over the kernels of an arm. */
struct totals {
	unsigned kernels, hostcall, heap, dynamic_stack;
	uint64_t code, vgprs, sgprs, spills, scratch;
	enum rck_cause cause; /* of the first kernel that is flagged */
	enum rck_confidence confidence;
};

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void add_kernel(struct totals *t, const struct rck_kernel *k)
{
	t->kernels++;
	t->hostcall += k->declares_hostcall;
	t->heap += k->declares_heap;
	t->dynamic_stack += k->dynamic_stack == RCK_YES;
	t->code += k->kd.code_size;
	t->vgprs = larger(t->vgprs, k->vgpr_count);
	t->sgprs = larger(t->sgprs, k->sgpr_count);
	t->spills += k->vgpr_spills + k->sgpr_spills;
	t->scratch = larger(t->scratch, k->scratch);
	if (rck_kernel_flagged(k) && t->cause == RCK_CAUSE_NONE) {
		t->cause = k->cause;
		t->confidence = k->confidence;
	}
}

static const char *flags_of(const struct rck_kernel *k)
{
	static const char *const names[] = {"none", "hostcall", "heap", "hostcall, heap",
		"dynamic stack", "hostcall, dynamic stack", "heap, dynamic stack", "all"};

	return names[k->declares_hostcall + 2 * k->declares_heap +
		     4 * (k->dynamic_stack == RCK_YES)];
}

static void kernel_row(struct ab *ab, size_t i, const struct rck_kernel *k)
{
	_cleanup_strbuf_ struct rck_strbuf name = RCK_STRBUF_INIT;
	const char *full = rck_kernel_demangled(k);
	_cleanup_free_ char *key = rck_xasprintf("kernel:%s", k->name);

	rck_shorten_name(&name, full, strlen(full));
	ab_row(ab, "kernels", "by kernel, bytes", i, "flags, V/scratch/code");
	ab_row(ab, key, name.buf, i, "%s, %llu/%llu/%llu", flags_of(k),
		(unsigned long long)k->vgpr_count, (unsigned long long)k->scratch,
		(unsigned long long)k->kd.code_size);
}

static void total_rows(struct ab *ab, size_t i, const struct totals *t)
{
	ab_row(ab, "hostcall", "declare hostcall", i, "%u of %u kernels", t->hostcall,
		t->kernels);
	ab_row(ab, "heap", "declare heap", i, "%u of %u", t->heap, t->kernels);
	ab_row(ab, "dynamic_stack", "dynamic stack", i, "%u of %u", t->dynamic_stack,
		t->kernels);
	if (t->cause == RCK_CAUSE_NONE)
		ab_row(ab, "cause", "cause", i, "-");
	else
		ab_row(ab, "cause", "cause", i, "%s (%s)", rck_cause_name(t->cause),
			rck_confidence_name(t->confidence));
	ab_row(ab, "code", "code, bytes", i, "%llu", (unsigned long long)t->code);
	ab_row(ab, "vgprs", "most VGPRs", i, "%llu", (unsigned long long)t->vgprs);
	ab_row(ab, "sgprs", "most SGPRs", i, "%llu", (unsigned long long)t->sgprs);
	ab_row(ab, "spills", "spilled registers", i, "%llu",
		(unsigned long long)t->spills);
	ab_row(ab, "scratch", "most scratch, bytes", i, "%llu",
		(unsigned long long)t->scratch);
}

/* The kernel that the probe is to launch: as asked, else the one it knows, else the
 * first. */
static void choose_kernel(
	struct ab_arm *arm, const struct rck_code_object *co, const char *asked)
{
	const char *want = asked ? asked : PROBE_KERNEL;

	for (size_t i = 0; i < co->n_kernels; i++)
		if (!strcmp(co->kernels[i].name, want)) {
			free(arm->kernel);
			arm->kernel = rck_xstrdup(want);
		}
	if (!arm->kernel && !asked && co->n_kernels)
		arm->kernel = rck_xstrdup(co->kernels[0].name);
	arm->bundled = arm->kernel && !strcmp(arm->kernel, PROBE_KERNEL);
}

static void read_code_object(
	struct ab *ab, size_t i, struct rck_code_object *co, struct totals *t)
{
	ab_row(ab, "target", "code object", i, "V%u for %s", rck_code_object_version(co),
		rck_code_object_target(co));
	for (size_t k = 0; k < co->n_kernels; k++)
		add_kernel(t, &co->kernels[k]);
	choose_kernel(&ab->arms[i], co, ab->o->kernel);
}

static void kernel_rows(struct ab *ab, size_t i, struct rck_code_object *co)
{
	for (size_t k = 0; k < co->n_kernels; k++)
		kernel_row(ab, i, &co->kernels[k]);
}

static void read_arm(struct ab *ab, size_t i)
{
	struct rck_options options = {.size = sizeof(options)};
	struct totals totals = {0};
	struct rck_file *file;
	struct rck_item item;
	struct rck_diag diag;
	bool any = false;
	int err;

	if (rck_file_open(ab->arms[i].path, &options, &file, &diag)) {
		not_read(ab, i, diag.msg);
		return;
	}
	while ((err = rck_file_next(file, &item, &diag)) == 1) {
		struct rck_code_object *co;

		if (item.kind == RCK_ITEM_ERROR || item.kind == RCK_ITEM_INCOMPLETE) {
			diag = item.diag;
			err = diag.code ? diag.code : -EINVAL;
			break;
		}
		if (item.kind != RCK_ITEM_CODE_OBJECT)
			continue;
		err = rck_code_object_open(file, &item, &co, &diag);
		if (err)
			break;
		read_code_object(ab, i, co, &totals);
		/* the totals stand above the single kernels */
		total_rows(ab, i, &totals);
		kernel_rows(ab, i, co);
		any = true;
		rck_code_object_close(co);
	}
	if (err < 0)
		not_read(ab, i, diag.msg);
	else if (!any)
		not_read(ab, i, "there is no device code in it");
	else if (!ab->arms[i].kernel)
		not_read(ab, i, "the kernel to launch is not in it");
	rck_file_close(file);
}

/* Facts in which arms may differ without a finding: where they come from. */
static bool counts(const char *key)
{
	return strcmp(key, "compiler") && strcmp(key, "flags") && strcmp(key, "file") &&
	       strcmp(key, "command") && strcmp(key, "time");
}

static void compare_rows(struct ab *ab)
{
	const struct rck_experiment *x = ab->x;

	for (size_t i = 0; i < x->n_rows; i++)
		for (size_t k = 1; counts(x->rows[i].key) && k < x->n_arms; k++) {
			const char *a = x->rows[i].values[0], *b = x->rows[i].values[k];

			if (x->arms[0].unbuilt || x->arms[k].unbuilt)
				continue;
			ab->differ |= strcmp(a ? a : "", b ? b : "") != 0;
		}
}

void ab_arms_build(struct ab *ab)
{
	if (ab->kind == AB_LEVELS)
		compile_all(ab);
	for (size_t i = 0; i < ab->n_arms; i++) {
		struct ab_arm *arm = &ab->arms[i];

		if (ab->kind == AB_FILES)
			ab_row(ab, "file", "file", i, "%s", arm->path);
		if (ab->kind == AB_COMMANDS) {
			ab_row(ab, "command", "command", i, "%s", arm->command);
			ab->x->arms[i].command = rck_xstrdup(arm->command);
		} else if (arm->path) {
			read_arm(ab, i);
		}
	}
	compare_rows(ab);
}

/* ---- what they compute ---- */

static void launch_rows(struct ab *ab, size_t i)
{
	const struct rck_launch *l = &ab->arms[i].launch;
	double worst = 0, ratio = 0, seconds = 0, q1 = 0, q3 = 0;
	uint64_t bad = 0, touched = 0;
	size_t timed = 0;

	for (size_t k = 0; k < l->n; k++) {
		worst = fmax(worst, l->cases[k].check.max_rel);
		ratio = fmax(ratio, l->cases[k].check.max_ratio);
		bad += l->cases[k].check.bad;
		touched += l->cases[k].check.touched;
		if (isfinite(l->cases[k].seconds)) {
			seconds += l->cases[k].seconds;
			q1 += l->cases[k].seconds_q1;
			q3 += l->cases[k].seconds_q3;
			timed++;
		}
	}
	ab_row(ab, "numerics", "against the reference", i, "%s in %zu launches",
		bad || touched ? "WRONG" : "right", l->n);
	ab_row(ab, "error", "worst relative error", i, "%.1e, %.0f %% of bound", worst,
		100 * ratio);
	if (bad || touched)
		ab_trouble(ab);
	if (timed) {
		ab_row(ab, "time", "time, sum of medians", i, "%.1f us", seconds * 1e6);
		ab_row(ab, "spread", "between quartiles", i, "%.1f to %.1f us", q1 * 1e6,
			q3 * 1e6);
	}
}

static void compare_bits(struct ab *ab, size_t i)
{
	struct rck_launch *a = &ab->arms[0].launch, *b = &ab->arms[i].launch;
	struct rck_bit_difference *bits;
	uint64_t different = 0, outputs = 0;
	struct rck_diag diag;

	if (!i) {
		ab_row(ab, "bits", "bits, against first arm", i, "-");
		return;
	}
	bits = rck_xcalloc(a->n + 1, sizeof(*bits));
	if (!ab->arms[0].launched || rck_launch_compare(a, b, bits, &diag)) {
		ab_row(ab, "bits", "bits, against first arm", i, "not comparable");
	} else {
		for (size_t k = 0; k < a->n; k++) {
			different += bits[k].different;
			outputs += bits[k].outputs;
		}
		ab_row(ab, "bits", "bits, against first arm", i, "%llu of %llu differ",
			(unsigned long long)different, (unsigned long long)outputs);
	}
	free(bits);
}

void ab_arms_launch(struct ab *ab)
{
	if (ab->kind == AB_COMMANDS || ab->o->source)
		return;
	for (size_t i = 0; i < ab->n_arms && !rck_live_stop; i++) {
		struct ab_arm *arm = &ab->arms[i];
		struct rck_diag diag;

		if (!arm->path || !arm->bundled || ab->x->arms[i].unbuilt)
			continue;
		arm->launch = (struct rck_launch){
			.code_object = ab_object_for(arm, &ab->device),
			.dump = rck_xasprintf("%s/%zu.out", ab->folder, i),
			.sizes = rck_sizes_default,
			.seed = 1,
			.time = ab->device.kind == RCK_DEVICE_HIP};
		if (rck_launch_run(ab->rocm, &ab->device, &arm->launch, &diag)) {
			ab_row(ab, "numerics", "against the reference", i,
				"not launched: %s", diag.msg);
			rck_error("arm '%s': not launched: %s", arm->name, diag.msg);
			ab_trouble(ab);
			continue;
		}
		arm->launched = true;
		launch_rows(ab, i);
		compare_bits(ab, i);
	}
}

void ab_arms_release(struct ab *ab)
{
	for (size_t i = 0; i < ab->n_arms; i++) {
		struct ab_arm *arm = &ab->arms[i];

		free((char *)arm->launch.dump);
		rck_launch_release(&arm->launch);
		rck_compile_job_release(&arm->job);
		rck_compile_job_release(&arm->old_job);
		free(arm->path);
		free(arm->old_path);
		free(arm->kernel);
	}
}
