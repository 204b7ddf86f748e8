/* build: compiles the bundled kernels (or a file of the user's) at any level, tells what
 * is in them, launches them through the HIP runtime and compares what comes back. */
#include "cmd/build-files.h"
#include "cmd/commands.h"
#include "kernels/table.h"
#include "util/cleanup.h"
#include "util/msg.h"
#include "util/output.h"
#include "util/temporary.h"
#include "util/term.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum format { FORMAT_TEXT, FORMAT_JSON };

static const char *compiler_spec, *rocm_dir, *levels_text = "O0,O1", *output_dir;
static const char *reproducer_dir;
static struct rck_opt_list archs_given, defines, sources_given;
static unsigned long long version, jobs, seed = 1;
static unsigned long long rows, hidden, gemm_m, gemm_n, gemm_k;
static bool launch = true, fatbin, compress, cases;
static int device_kind, format, color;

static const struct rck_opt build_opts[] = {
	{RCK_OPT_STRING, 'c', "compiler", &compiler_spec, "NAME",
		"comgr (the default where it is found), hipcc, clang++, or the path of "
		"any "
		"clang++ or hipcc"},
	{RCK_OPT_STRING, 0, "rocm", &rocm_dir, "DIR",
		"the ROCm to use: a folder that scripts/fetch-rocm made, or a root like "
		"/opt/rocm"},
	{RCK_OPT_STRING, 'O', "opt", &levels_text, "LEVELS",
		"O0, O1, O2, O3, Os, and default (no -O at all), ',' between (default "
		"O0,O1)"},
	{RCK_OPT_LIST, 'a', "arch", &archs_given, "TARGETS",
		"targets, ',' between, with their features: gfx90a:xnack- (default: the "
		"GPU's, else gfx1030)"},
	{RCK_OPT_UINT, 0, "code-object-version", &version, "N",
		"2 to 6 (default: 5, which can show all three flags, or the "
		"compiler's own where it does not know 5)"},
	{RCK_OPT_LIST, 's', "source", &sources_given, "FILE",
		"compile this HIP file instead of the bundled kernels, and do not "
		"launch"},
	{RCK_OPT_LIST, 'D', "define", &defines, "NAME[=VALUE]", "define a macro"},
	{RCK_OPT_STRING, 'o', "output", &output_dir, "DIR",
		"write the code objects and manifest.json into DIR"},
	{RCK_OPT_FLAG, 0, "fatbin", &fatbin, NULL,
		"with -o: a fat binary of all targets for each source and level, too"},
	{RCK_OPT_FLAG, 0, "compress", &compress, NULL,
		"with -o: the fat binaries are compressed bundles"},
	{RCK_OPT_FLAG, 0, "launch", &launch, NULL,
		"launch the kernels and check their results (the default)", true},
	{RCK_OPT_CHOICE, 0, "device", &device_kind, "auto|hip|soft",
		"where: the GPU that HIP finds, the software device, or (auto) the one, "
		"else the other"},
	{RCK_OPT_UINT, 0, "seed", &seed, "N", "of the drawn inputs (default 1)"},
	{RCK_OPT_UINT, 0, "rows", &rows, "N", "RMS norm: rows (default 16)"},
	{RCK_OPT_UINT, 0, "hidden", &hidden, "N", "RMS norm: columns (default 5120)"},
	{RCK_OPT_UINT, 0, "gemm-m", &gemm_m, "N", "GEMM: rows of C (default 96)"},
	{RCK_OPT_UINT, 0, "gemm-n", &gemm_n, "N", "GEMM: columns of C (default 80)"},
	{RCK_OPT_UINT, 0, "gemm-k", &gemm_k, "N", "GEMM: the sum's length (default 112)"},
	{RCK_OPT_FLAG, 0, "cases", &cases, NULL,
		"list every launch: errors, bound, units in the last place"},
	{RCK_OPT_STRING, 0, "emit-reproducer", &reproducer_dir, "DIR",
		"write the standalone program (C, Makefile, kernel) into DIR, and end"},
	{RCK_OPT_UINT, 'j', "jobs", &jobs, "N",
		"compilations at a time (default: one a processor)"},
	{RCK_OPT_CHOICE, 'f', "format", &format, "text|json", "a table, or JSON"},
	{RCK_OPT_CHOICE, 0, "color", &color, "auto|always|never", "colour in text"},
	{RCK_OPT_END},
};

struct run {
	struct rck_rocm *rocm;
	struct rck_compiler *compiler;
	struct rck_strv targets, sources, options;
	enum rck_level levels[RCK_LEVELS];
	size_t n_levels;
	struct rck_build build;
	struct rck_build_device gpu;
	struct rck_build_device *devices; /* one a target: the GPU, or a software one */
	char *temporary;                  /* folder of the launches' files */
	int status;
};

static void trouble(struct run *r)
{
	r->status = rck_exit_worse(r->status, RCK_EXIT_TROUBLE);
}

/* ---- what is asked for */

static int parse_levels(struct run *r)
{
	_cleanup_strv_ struct rck_strv words = {NULL, 0};
	bool seen[RCK_LEVELS] = {false};

	rck_strv_split(&words, levels_text, ",");
	for (size_t i = 0; i < words.n; i++) {
		enum rck_level level;

		if (rck_level_parse(words.items[i], &level)) {
			rck_error(
				"option '--opt': '%s' is none of O0, O1, O2, O3, Os and "
				"default",
				words.items[i]);
			return -EINVAL;
		}
		if (!seen[level])
			r->levels[r->n_levels++] = level;
		seen[level] = true;
	}
	if (!r->n_levels) {
		rck_error("option '--opt': no level given");
		return -EINVAL;
	}
	return 0;
}

static int parse_rest(struct run *r, int n, char **operands)
{
	if (n && operands[0][0] != '-') {
		rck_error("unexpected operand '%s' (the compiler's options go after --)",
			operands[0]);
		return -EINVAL;
	}
	if (version && (version < 2 || version > 6)) {
		rck_error("option '--code-object-version': '%llu' is not a number from 2 "
			  "to 6",
			version);
		return -EINVAL;
	}
	if ((fatbin || compress) && !output_dir) {
		rck_error("--fatbin and --compress write files: they need --output DIR");
		return -EINVAL;
	}
	if (rows > 65536 || hidden > 65536 || gemm_m > 65536 || gemm_n > 65536 ||
		gemm_k > 65536) {
		rck_error("a size is over 65536");
		return -EINVAL;
	}
	for (size_t i = 0; i < archs_given.n; i++)
		rck_strv_split(&r->targets, archs_given.items[i], ",");
	for (size_t i = 0; i < defines.n; i++)
		rck_strv_addf(&r->options, "-D%s", defines.items[i]);
	for (int i = 0; i < n; i++)
		rck_strv_add(&r->options, operands[i]);
	if (sources_given.n)
		launch = false;
	for (size_t i = 0; i < sources_given.n; i++)
		rck_strv_add(&r->sources, sources_given.items[i]);
	for (const struct rck_embedded *e = rck_embedded_files;
		!sources_given.n && e->name; e++)
		if (strstr(e->name, ".hip"))
			rck_strv_add(&r->sources, e->name);
	return parse_levels(r);
}

static int open_tools(struct run *r)
{
	struct rck_diag diag;

	if (rck_rocm_open(rocm_dir, &r->rocm, &diag)) {
		rck_error_diag(rocm_dir ? rocm_dir : "ROCm", &diag);
		return -EINVAL;
	}
	if (rck_compiler_open(r->rocm, compiler_spec, &r->compiler, &diag)) {
		rck_error("cannot compile: %s", diag.msg);
		return -EINVAL;
	}
	return 0;
}

/* ---- devices */

/*
 * A GPU is one device, and code for another target cannot run on it; the software device
 * is asked for again for each target. Without --arch the target is the GPU's.
 */
static void find_devices(struct run *r)
{
	struct rck_build_device *gpu = &r->gpu;
	bool said = false;

	gpu->err = -ENODEV;
	if (launch && device_kind != RCK_DEVICE_SOFT)
		gpu->err = rck_device_find(
			r->rocm, RCK_DEVICE_HIP, NULL, &gpu->device, &gpu->diag);
	if (!r->targets.n)
		rck_strv_add(&r->targets, !gpu->err && *gpu->device.target
						  ? gpu->device.target
						  : "gfx1030");
	r->devices = rck_xcalloc(r->targets.n, sizeof(*r->devices));
	for (size_t i = 0; launch && i < r->targets.n; i++) {
		struct rck_build_device *d = &r->devices[i];

		*d = *gpu;
		d->target = r->targets.items[i];
		if (!gpu->err || device_kind == RCK_DEVICE_HIP)
			continue;
		d->err = rck_device_find(
			r->rocm, RCK_DEVICE_SOFT, d->target, &d->device, &d->diag);
		if (d->err || device_kind == RCK_DEVICE_SOFT)
			continue;
		if (!said)
			rck_notice("%s: launching on the software device", gpu->diag.msg);
		said = true;
	}
}

/* One clear sentence for each reason that nothing can be launched. */
static void report_devices(struct run *r)
{
	const char *last = "";

	for (size_t i = 0; launch && i < r->targets.n; i++) {
		const struct rck_build_device *d = &r->devices[i];
		const char *gpu = r->gpu.diag.msg;
		bool both = *gpu && strcmp(gpu, d->diag.msg);

		if (!d->err)
			continue;
		trouble(r);
		if (strcmp(d->diag.msg, last))
			rck_error("nothing is launched: %s%s%s", both ? gpu : "",
				both ? ", and " : "", d->diag.msg);
		last = d->diag.msg;
	}
}

/* ---- compile */

static void add_job(struct run *r, size_t source, size_t target, enum rck_level level)
{
	struct rck_build *b = &r->build;
	struct rck_build_object *o = &b->objects[b->n_objects++];

	o->job = (struct rck_compile_job){
		.source = r->sources.items[source],
		.bundled = !sources_given.n,
		.target = r->targets.items[target],
		.level = level,
		.code_object_version = (unsigned)version,
		.options = rck_strv_list(&r->options),
	};
	o->device = launch ? &r->devices[target] : NULL;
}

static void hash_source(struct rck_build_object *o)
{
	const struct rck_embedded *e =
		o->job.bundled ? rck_embedded_find(o->job.source) : NULL;
	_cleanup_strbuf_ struct rck_strbuf text = RCK_STRBUF_INIT;
	_cleanup_fclose_ FILE *f = e ? NULL : fopen(o->job.source, "re");
	char chunk[65536];
	size_t n;

	while (f && (n = fread(chunk, 1, sizeof(chunk), f)))
		rck_strbuf_add(&text, chunk, n);
	if (e)
		rck_sha256(e->text, e->size, o->source_sha256);
	else
		rck_sha256(text.buf, text.len, o->source_sha256);
}

/* comgr can be asked first: one line instead of one a source and level. */
static bool targets_known(struct run *r)
{
	bool known = true;

	for (size_t i = 0; i < r->targets.n; i++)
		if (!rck_compiler_knows(r->compiler, r->targets.items[i])) {
			rck_error("%s (%s) does not know the target '%s'; it knows%s",
				rck_compiler_name(r->compiler),
				rck_compiler_version(r->compiler), r->targets.items[i],
				rck_compiler_targets(r->compiler));
			known = false;
		}
	return known;
}

/* The compiler's own words go to stderr as they are, below one line that says whose. */
static void report_job(struct run *r, const struct rck_compile_job *job)
{
	_cleanup_strbuf_ struct rck_strbuf log = RCK_STRBUF_INIT;

	if (job->err) {
		rck_error_diag(job->source, &job->diag);
		trouble(r);
	}
	for (const char *s = job->log; s && *s;) {
		size_t n = strcspn(s, "\n");

		rck_strbuf_add_masked(&log, s, n);
		rck_strbuf_addc(&log, '\n');
		s += n;
		s += *s == '\n';
	}
	fputs(log.buf, stderr);
}

static void report_notices(const struct rck_build *b)
{
	for (size_t i = 0; i < b->n_objects; i++) {
		const char *notice = b->objects[i].job.notice;
		bool said = false;

		for (size_t k = 0; k < i && !said; k++)
			said = !strcmp(notice, b->objects[k].job.notice);
		if (*notice && !said)
			rck_notice("%s", notice);
	}
}

static void compile_all(struct run *r)
{
	struct rck_build *b = &r->build;
	const size_t n = r->sources.n * r->targets.n * r->n_levels;
	struct rck_compile_job *queue = rck_xcalloc(n, sizeof(*queue));

	b->objects = rck_xcalloc(n, sizeof(*b->objects));
	for (size_t s = 0; s < r->sources.n; s++)
		for (size_t t = 0; t < r->targets.n; t++)
			for (size_t l = 0; l < r->n_levels; l++)
				add_job(r, s, t, r->levels[l]);
	for (size_t i = 0; i < n; i++)
		queue[i] = b->objects[i].job;
	rck_compile_run(r->compiler, queue, n, (unsigned)jobs);
	for (size_t i = 0; i < n; i++) {
		b->objects[i].job = queue[i];
		hash_source(&b->objects[i]);
	}
	free(queue);
	report_notices(b);
	for (size_t i = 0; i < n; i++)
		report_job(r, &b->objects[i].job);
}

static void read_objects(struct run *r)
{
	for (size_t i = 0; i < r->build.n_objects; i++) {
		struct rck_build_object *o = &r->build.objects[i];

		if (!o->job.bytes)
			continue;
		if (rck_code_object_open_mem(
			    o->job.bytes, o->job.size, &o->co, &o->read_diag)) {
			rck_error_diag(o->job.source, &o->read_diag);
			trouble(r);
		}
	}
}

/* ---- launch */

static int launch_job(struct run *r, struct rck_build_object *o,
	const struct rck_compile_job *job, size_t i)
{
	const struct rck_device *d = &o->device->device;
	char *path = rck_xasprintf("%s/%zu.co", r->temporary, i);
	int err = rck_output_write(path, job->bytes, job->size);

	if (err) {
		free(path);
		return err;
	}
	o->launch = (struct rck_launch){
		.code_object = path,
		.dump = rck_xasprintf("%s/%zu.out", r->temporary, i),
		.sizes = r->build.sizes,
		.seed = seed,
		.time = d->kind == RCK_DEVICE_HIP,
	};
	return rck_launch_run(r->rocm, d, &o->launch, &o->launch_diag);
}

static void release_launch(struct rck_launch *l)
{
	free((char *)l->code_object);
	free((char *)l->dump);
	rck_launch_release(l);
}

/*
 * An old HIP runtime does not load code object V5 (5.2.3: its comgr cannot name the ISA).
 * Where the version was ours to choose the same source is compiled once more as V4.
 */
static int launch_as_v4(struct run *r, struct rck_build_object *o, size_t i)
{
	struct rck_compile_job job = o->job;
	int err = -EIO;

	job.code_object_version = 4;
	job.bytes = NULL;
	job.flags = (struct rck_strv){NULL, 0};
	if (!rck_compile_run(r->compiler, &job, 1, 1)) {
		release_launch(&o->launch);
		err = launch_job(r, o, &job, i);
		o->launch_version = 4;
	}
	rck_compile_job_release(&job);
	return err;
}

static void launch_object(struct run *r, struct rck_build_object *o, size_t i)
{
	int err;

	if (o->device->err || !o->co) {
		o->launched = RCK_BUILD_NO_DEVICE;
		return;
	}
	if (!rck_device_runs(&o->device->device, o->job.target)) {
		o->launched = RCK_BUILD_OTHER_GPU;
		return;
	}
	err = launch_job(r, o, &o->job, i);
	if (err && !version && rck_code_object_version(o->co) == 5 &&
		!strncmp(o->launch_diag.msg, "hipModuleLoadData:", 18))
		err = launch_as_v4(r, o, i);
	o->launched = err ? RCK_BUILD_LAUNCH_DIED : RCK_BUILD_LAUNCHED;
}

/* What a launch has to say beside its numbers. */
static void report_launch(struct run *r, const struct rck_build_object *o)
{
	if (o->launched == RCK_BUILD_LAUNCH_DIED) {
		rck_error("'%s': %s at %s: %s", o->job.source, o->job.target,
			rck_level_name(o->job.level), o->launch_diag.msg);
		trouble(r);
	}
	for (size_t c = 0; c < o->launch.n; c++)
		if (o->launch.cases[c].check.bad || o->launch.cases[c].check.touched)
			r->status = rck_exit_worse(r->status, RCK_EXIT_FINDINGS);
}

static bool is_first_of_target(const struct rck_build *b, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (b->objects[k].job.target == b->objects[i].job.target)
			return false;
	return true;
}

static void report_not_launched(struct run *r)
{
	const struct rck_build *b = &r->build;
	size_t launched = 0, other = 0;
	bool as_v4 = false;

	for (size_t i = 0; i < b->n_objects; i++) {
		const struct rck_build_object *o = &b->objects[i];

		launched += o->launched == RCK_BUILD_LAUNCHED;
		other += o->launched == RCK_BUILD_OTHER_GPU;
		if (o->launched == RCK_BUILD_OTHER_GPU && is_first_of_target(b, i))
			rck_notice("%s: not launched, the GPU is %s", o->job.target,
				o->device->device.target);
		if (o->launch_version && !as_v4) {
			rck_notice("HIP %s does not load code object V5: launched as V4, "
				   "compiled the same way otherwise",
				o->device->device.hip_version_text);
			as_v4 = true;
		}
	}
	if (other && !launched) {
		rck_error("nothing is launched: no target given is the GPU's");
		trouble(r);
	}
}

/* Each level against the next one of the same source and target. */
static void compare_bits(struct run *r)
{
	struct rck_build *b = &r->build;

	b->bits = rck_xcalloc(b->n_objects, sizeof(*b->bits));
	for (size_t i = 0; i + 1 < b->n_objects; i++) {
		const struct rck_build_object *o = &b->objects[i], *next = o + 1;
		struct rck_build_bits *bits;

		if (o->job.source != next->job.source ||
			o->job.target != next->job.target ||
			o->launched != RCK_BUILD_LAUNCHED ||
			next->launched != RCK_BUILD_LAUNCHED)
			continue;
		bits = &b->bits[b->n_bits++];
		bits->a = o;
		bits->b = next;
		bits->cases = rck_xcalloc(o->launch.n, sizeof(*bits->cases));
		bits->err = rck_launch_compare(
			&o->launch, &next->launch, bits->cases, &bits->diag);
	}
}

static void launch_all(struct run *r)
{
	r->temporary = rck_temporary_make();
	if (!r->temporary) {
		rck_error("cannot make a temporary folder: %s", strerror(errno));
		trouble(r);
		return;
	}
	for (size_t i = 0; i < r->build.n_objects; i++) {
		launch_object(r, &r->build.objects[i], i);
		report_launch(r, &r->build.objects[i]);
	}
	report_not_launched(r);
	compare_bits(r);
}

/* ---- the whole */

static void report(const struct rck_build *b)
{
	_cleanup_strbuf_ struct rck_strbuf out = RCK_STRBUF_INIT;

	if (format == FORMAT_JSON)
		rck_build_json(b, &out);
	else
		rck_build_text(b, cases, &out, rck_term_width(),
			rck_term_color(color, STDOUT_FILENO));
	fwrite(out.buf, 1, out.len, stdout);
}

static void set_sizes(struct rck_sizes *s)
{
	*s = rck_sizes_default;
	s->rows = rows ? (uint32_t)rows : s->rows;
	s->hidden = hidden ? (uint32_t)hidden : s->hidden;
	s->m = gemm_m ? (uint32_t)gemm_m : s->m;
	s->n = gemm_n ? (uint32_t)gemm_n : s->n;
	s->k = gemm_k ? (uint32_t)gemm_k : s->k;
}

static void release(struct run *r)
{
	struct rck_build *b = &r->build;

	for (size_t i = 0; i < b->n_objects; i++) {
		rck_code_object_close(b->objects[i].co);
		rck_compile_job_release(&b->objects[i].job);
		release_launch(&b->objects[i].launch);
		free(b->objects[i].file);
	}
	for (size_t i = 0; i < b->n_bits; i++)
		free(b->bits[i].cases);
	for (size_t i = 0; i < b->n_fatbins; i++)
		free(b->fatbins[i].file);
	free(b->objects);
	free(b->bits);
	free(b->fatbins);
	for (size_t i = 0; r->devices && i < r->targets.n; i++)
		if (r->devices[i].device.kind == RCK_DEVICE_SOFT)
			rck_device_release(&r->devices[i].device);
	rck_device_release(&r->gpu.device); /* the targets share it */
	free(r->devices);
	rck_temporary_remove(r->temporary);
	rck_strv_release(&r->targets);
	rck_strv_release(&r->sources);
	rck_strv_release(&r->options);
	rck_compiler_close(r->compiler);
	rck_rocm_close(r->rocm);
}

static void build(struct run *r)
{
	if (output_dir && rck_build_make_folder(output_dir)) {
		trouble(r);
		return;
	}
	if (open_tools(r)) {
		trouble(r);
		return;
	}
	r->build.compiler = r->compiler;
	r->build.rocm_dir = rocm_dir;
	r->build.seed = seed;
	set_sizes(&r->build.sizes);
	find_devices(r);
	if (!targets_known(r)) {
		trouble(r);
		return;
	}
	compile_all(r);
	read_objects(r);
	if (output_dir &&
		rck_build_write(&r->build, output_dir, fatbin || compress, compress))
		trouble(r);
	report_devices(r);
	if (launch)
		launch_all(r);
	report(&r->build);
}

static int run(int n, char **operands)
{
	struct run r = {.status = RCK_EXIT_CLEAN};

	if (reproducer_dir)
		return rck_build_write_reproducer(reproducer_dir) ? RCK_EXIT_TROUBLE
								  : RCK_EXIT_CLEAN;
	if (parse_rest(&r, n, operands))
		r.status = RCK_EXIT_USAGE;
	else
		build(&r);
	release(&r);
	return r.status;
}

const struct rck_cmd rck_cmd_build = {
	.name = "build",
	.summary = "compile the bundled kernels at any level, inspect and launch them",
	.operands = "[-- COMPILER-OPTION...]",
	.opts = build_opts,
	.run = run,
	.details = "Exit status: 0 all compiled and every launch was within its bound, 1 "
		   "one was\nnot, 2 something could not be compiled, read or launched. "
		   "Flagged metadata is\na fact here, not a failure.",
};
