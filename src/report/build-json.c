#include "kernels/table.h"
#include "report/build.h"

#include <math.h>
#include <string.h>

static const char *const launch_states[] = {
	[RCK_BUILD_NOT_ASKED] = "not asked",
	[RCK_BUILD_NO_DEVICE] = "no device",
	[RCK_BUILD_OTHER_GPU] = "other gpu",
	[RCK_BUILD_LAUNCHED] = "launched",
	[RCK_BUILD_LAUNCH_DIED] = "failed",
};

static void add_compiler(const struct rck_compiler *c, struct rck_json *j)
{
	rck_json_key(j, "compiler");
	rck_json_object(j);
	rck_json_kstr(j, "name", rck_compiler_name(c));
	rck_json_kstr(j, "path", rck_compiler_path(c));
	rck_json_kstr(j, "version", rck_compiler_version(c));
	rck_json_kstr(j, "without_opt", rck_compiler_default_level(c));
	rck_json_object_end(j);
}

static void add_flags(const struct rck_compile_job *job, struct rck_json *j)
{
	rck_json_key(j, "flags");
	rck_json_array(j);
	for (size_t i = 0; i < job->flags.n; i++)
		rck_json_str(j, job->flags.items[i]);
	rck_json_array_end(j);
}

static void add_fact(const struct rck_kernel *k, enum rck_fact fact, struct rck_json *j)
{
	struct rck_value v;

	rck_json_key(j, rck_fact_info(fact)->key);
	if (rck_kernel_fact(k, fact, &v) || !v.known)
		rck_json_null(j);
	else if (v.type == RCK_VALUE_BOOL)
		rck_json_bool(j, v.number);
	else if (v.type == RCK_VALUE_NUMBER)
		rck_json_u64(j, v.number);
	else
		rck_json_str(j, v.string);
}

static void add_case(const struct rck_launch_case *c, struct rck_json *j)
{
	const struct rck_check *k = &c->check;

	rck_json_object(j);
	rck_json_kstr(j, "case", c->name);
	rck_json_kbool(j, "ok", !k->bad && !k->touched);
	rck_json_ku64(j, "checked", k->checked);
	rck_json_ku64(j, "bad", k->bad);
	rck_json_ku64(j, "touched", k->touched);
	rck_json_kdouble(j, "max_rel", k->max_rel);
	rck_json_kdouble(j, "rms_rel", c->rms_rel);
	rck_json_kdouble(j, "bound_rel", k->bound_rel);
	rck_json_kdouble(j, "of_bound", k->max_ratio);
	rck_json_kstr(j, "bound", c->bound);
	rck_json_key(j, "ulp");
	rck_json_array(j);
	for (int i = 0; i < RCK_ULP_BUCKETS; i++)
		rck_json_u64(j, k->ulp[i]);
	rck_json_array_end(j);
	rck_json_kdouble(j, "seconds", c->seconds);
	rck_json_kdouble(j, "seconds_q1", c->seconds_q1);
	rck_json_kdouble(j, "seconds_q3", c->seconds_q3);
	rck_json_object_end(j);
}

static void add_kernel(
	const struct rck_build_object *o, const struct rck_kernel *k, struct rck_json *j)
{
	const struct rck_bundled *b = rck_bundled_find(rck_kernel_name(k));

	rck_json_object(j);
	rck_json_kstr(j, "name", rck_kernel_name(k));
	rck_json_kstr(j, "demangled", rck_kernel_demangled(k));
	rck_json_kstr(j, "bundled", b ? b->name : NULL);
	rck_json_kbool(j, "flagged", rck_kernel_flagged(k));
	for (int f = 0; f < RCK_FACT_COUNT_; f++)
		add_fact(k, f, j);
	rck_json_key(j, "cases");
	rck_json_array(j);
	for (size_t i = 0; i < o->launch.n; i++)
		if (o->launch.cases[i].kernel == b)
			add_case(&o->launch.cases[i], j);
	rck_json_array_end(j);
	rck_json_object_end(j);
}

static void add_device(const struct rck_device *d, struct rck_json *j)
{
	rck_json_object(j);
	rck_json_kstr(j, "kind", d->kind == RCK_DEVICE_SOFT ? "soft" : "hip");
	rck_json_kstr(j, "name", d->name);
	rck_json_kstr(j, "target", d->target);
	rck_json_kstr(j, "hip", d->hip);
	rck_json_kstr(j, "hip_version", d->hip_version_text);
	rck_json_kstr(j, "hsa", d->hsa);
	rck_json_object_end(j);
}

static void add_launch(const struct rck_build_object *o, struct rck_json *j)
{
	const char *error = NULL;

	if (o->launched == RCK_BUILD_LAUNCH_DIED)
		error = o->launch_diag.msg;
	else if (o->launched == RCK_BUILD_NO_DEVICE && o->device)
		error = o->device->diag.msg;
	rck_json_key(j, "launch");
	rck_json_object(j);
	rck_json_kstr(j, "state", launch_states[o->launched]);
	rck_json_kstr(j, "error", error);
	rck_json_ku64(j, "code_object_version",
		o->launch_version ? o->launch_version : rck_code_object_version(o->co));
	rck_json_key(j, "device");
	if (o->device && !o->device->err)
		add_device(&o->device->device, j);
	else
		rck_json_null(j);
	rck_json_object_end(j);
}

static void add_object(const struct rck_build_object *o, struct rck_json *j)
{
	const char *error =
		o->job.err ? o->job.diag.msg : (o->co ? NULL : o->read_diag.msg);

	rck_json_object(j);
	rck_json_kstr(j, "source", o->job.source);
	rck_json_kstr(j, "target", o->job.target);
	rck_json_kstr(j, "opt", rck_level_name(o->job.level));
	rck_json_kstr(j, "error", error);
	rck_json_kstr(j, "log", o->job.log);
	rck_json_kstr(
		j, "notice", o->job.notice && *o->job.notice ? o->job.notice : NULL);
	add_flags(&o->job, j);
	rck_json_kdouble(j, "seconds", o->job.seconds);
	rck_json_kstr(j, "file", o->file);
	if (o->co) {
		rck_json_ku64(j, "size", o->job.size);
		rck_json_kstr(j, "sha256", o->job.sha256);
		rck_json_ku64(j, "code_object_version", rck_code_object_version(o->co));
		add_launch(o, j);
		rck_json_key(j, "kernels");
		rck_json_array(j);
		for (size_t k = 0; k < o->co->n_kernels; k++)
			add_kernel(o, &o->co->kernels[k], j);
		rck_json_array_end(j);
	}
	rck_json_object_end(j);
}

static void add_bits(const struct rck_build_bits *b, struct rck_json *j)
{
	rck_json_object(j);
	rck_json_kstr(j, "source", b->a->job.source);
	rck_json_kstr(j, "target", b->a->job.target);
	rck_json_kstr(j, "a", rck_level_name(b->a->job.level));
	rck_json_kstr(j, "b", rck_level_name(b->b->job.level));
	rck_json_kstr(j, "error", b->err ? b->diag.msg : NULL);
	rck_json_key(j, "cases");
	rck_json_array(j);
	for (size_t i = 0; !b->err && i < b->a->launch.n; i++) {
		rck_json_object(j);
		rck_json_kstr(j, "kernel", b->cases[i].a->kernel->name);
		rck_json_kstr(j, "case", b->cases[i].a->name);
		rck_json_ku64(j, "results", b->cases[i].outputs);
		rck_json_ku64(j, "different", b->cases[i].different);
		rck_json_object_end(j);
	}
	rck_json_array_end(j);
	rck_json_object_end(j);
}

void rck_build_json(const struct rck_build *b, struct rck_strbuf *out)
{
	struct rck_json j;

	rck_json_init(&j, out, 2);
	rck_json_object(&j);
	rck_json_ku64(&j, "schema", 1);
	rck_json_kstr(&j, "tool", "rocmcheck");
	rck_json_kstr(&j, "version", RCK_VERSION);
	rck_json_kstr(&j, "command", "build");
	add_compiler(b->compiler, &j);
	rck_json_ku64(&j, "seed", b->seed);
	rck_json_key(&j, "objects");
	rck_json_array(&j);
	for (size_t i = 0; i < b->n_objects; i++)
		add_object(&b->objects[i], &j);
	rck_json_array_end(&j);
	rck_json_key(&j, "bits");
	rck_json_array(&j);
	for (size_t i = 0; i < b->n_bits; i++)
		add_bits(&b->bits[i], &j);
	rck_json_array_end(&j);
	rck_json_object_end(&j);
	rck_strbuf_addc(out, '\n');
}

static const char *base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* No times and no folder of the output: they would make two equal builds differ. */
void rck_build_manifest(const struct rck_build *b, struct rck_strbuf *out)
{
	struct rck_json j;

	rck_json_init(&j, out, 2);
	rck_json_object(&j);
	rck_json_ku64(&j, "schema", 1);
	rck_json_kstr(&j, "tool", "rocmcheck");
	rck_json_kstr(&j, "version", RCK_VERSION);
	add_compiler(b->compiler, &j);
	rck_json_key(&j, "files");
	rck_json_array(&j);
	for (size_t i = 0; i < b->n_objects; i++) {
		const struct rck_build_object *o = &b->objects[i];

		if (!o->file)
			continue;
		rck_json_object(&j);
		rck_json_kstr(&j, "file", base(o->file));
		rck_json_kstr(&j, "source", base(o->job.source));
		rck_json_kstr(&j, "source_sha256", o->source_sha256);
		rck_json_kstr(&j, "target", o->job.target);
		rck_json_kstr(&j, "opt", rck_level_name(o->job.level));
		rck_json_ku64(&j, "code_object_version",
			o->co ? rck_code_object_version(o->co) : 0);
		add_flags(&o->job, &j);
		rck_json_ku64(&j, "size", o->job.size);
		rck_json_kstr(&j, "sha256", o->job.sha256);
		rck_json_object_end(&j);
	}
	rck_json_array_end(&j);
	rck_json_key(&j, "fatbins");
	rck_json_array(&j);
	for (size_t i = 0; i < b->n_fatbins; i++) {
		rck_json_object(&j);
		rck_json_kstr(&j, "file", base(b->fatbins[i].file));
		rck_json_ku64(&j, "size", b->fatbins[i].size);
		rck_json_kstr(&j, "sha256", b->fatbins[i].sha256);
		rck_json_object_end(&j);
	}
	rck_json_array_end(&j);
	rck_json_object_end(&j);
	rck_strbuf_addc(out, '\n');
}
