/* One job, and many side by side. */
#include "compile/private.h"
#include "kernels/table.h"
#include "util/cleanup.h"
#include "util/spawn.h"
#include "util/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sha2.h>
#include <sys/stat.h>
#include <time.h>

#define JOB_TIMEOUT  900.0      /* seconds; -O3 of a large file takes minutes */
#define OUTPUT_LIMIT (1u << 30) /* bytes of one code object */

void rck_sha256(const void *data, size_t size, char hex[65])
{
	SHA256Data(data, size, hex);
}

static int __attribute__((format(printf, 3, 4)))
fail(struct rck_compile_job *job, int code, const char *fmt, ...)
{
	va_list ap;

	job->err = code;
	job->diag = (struct rck_diag){.code = code, .offset = RCK_OFFSET_NONE};
	va_start(ap, fmt);
	vsnprintf(job->diag.msg, sizeof(job->diag.msg), fmt, ap);
	va_end(ap);
	return code;
}

static int write_bundled(struct rck_compile_job *job, const char *dir, const char *name)
{
	const struct rck_embedded *e = rck_embedded_find(name);
	_cleanup_free_ char *path = rck_xasprintf("%s/%s", dir, name);
	FILE *f;

	if (!e)
		return fail(job, -ENOENT, "there is no bundled file '%s'", name);
	f = fopen(path, "we");
	if (!f || fwrite(e->text, 1, e->size, f) != e->size || fclose(f))
		return fail(job, -errno, "cannot write '%s': %s", path, strerror(errno));
	return 0;
}

static int read_output(struct rck_compile_job *job, const char *path)
{
	_cleanup_fclose_ FILE *f = fopen(path, "re");
	struct stat st;

	if (!f || fstat(fileno(f), &st))
		return fail(job, -ENOENT, "the compiler wrote no code object");
	if (st.st_size <= 0 || st.st_size > OUTPUT_LIMIT)
		return fail(job, -EINVAL, "the compiler wrote a file of %lld bytes",
			(long long)st.st_size);
	job->size = (size_t)st.st_size;
	job->bytes = rck_xmalloc(job->size);
	if (fread(job->bytes, 1, job->size, f) != job->size)
		return fail(job, -EIO, "cannot read the code object again");
	rck_sha256(job->bytes, job->size, job->sha256);
	return 0;
}

/* The command line but for the options: what runs, on what, to where. */
static void add_command(const struct rck_compiler *c, const struct rck_compile_job *job,
	const char *input, unsigned version, struct rck_strv *argv, struct rck_strv *env)
{
	if (c->kind != RCK_COMPILER_COMGR) {
		rck_rocm_tool_command(c->rocm, c->path, argv, env);
		rck_strv_add_all(argv, rck_strv_list(&job->flags));
		rck_strv_add(argv, "-o");
		rck_strv_add(argv, "out.co");
		rck_strv_add(argv, input);
		return;
	}
	rck_rocm_command(c->rocm, NULL, argv, env);
	rck_strv_add(argv, c->worker);
	rck_strv_add(argv, "--comgr");
	rck_strv_add(argv, c->path);
	rck_strv_add(argv, "--isa");
	rck_strv_addf(argv, "amdgcn-amd-amdhsa--%s", job->target);
	rck_strv_add(argv, "--input");
	rck_strv_add(argv, input);
	if (job->bundled) {
		rck_strv_add(argv, "--include");
		rck_strv_add(argv, "device.h");
	}
	rck_strv_add(argv, "--output");
	rck_strv_add(argv, "out.co");
	rck_strv_add(argv, "--code-object-version");
	rck_strv_addf(argv, "%u", version);
	rck_strv_add(argv, "--");
	rck_strv_add_all(argv, rck_strv_list(&job->flags));
}

static int compile_in(const struct rck_compiler *c, struct rck_compile_job *job,
	const char *dir, unsigned version)
{
	_cleanup_strbuf_ struct rck_strbuf text = RCK_STRBUF_INIT;
	_cleanup_strv_ struct rck_strv argv = {NULL, 0};
	_cleanup_strv_ struct rck_strv env = {NULL, 0};
	_cleanup_free_ char *absolute = job->bundled ? NULL : realpath(job->source, NULL);
	_cleanup_free_ char *output = rck_xasprintf("%s/out.co", dir);
	struct rck_spawn s = {
		.cwd = dir, .out = &text, .err = &text, .timeout = JOB_TIMEOUT};
	int err;

	rck_strv_release(&job->flags);
	rck_compile_flags(c, job, version, absolute, &job->flags);
	add_command(c, job, job->bundled ? job->source : absolute, version, &argv, &env);
	/* what compilers leave behind goes with the folder */
	rck_strv_addf(&env, "TMPDIR=%s", dir);
	s.argv = rck_strv_list(&argv);
	s.env = rck_strv_list(&env);
	err = rck_spawn_run(&s);
	free(job->log);
	job->log = rck_compile_log(text.buf, job->source, absolute);
	if (err)
		return fail(
			job, err, "cannot start '%s': %s", argv.items[0], strerror(-err));
	if (s.timed_out)
		return fail(job, -ETIMEDOUT, "the compiler was ended after %.0f s",
			JOB_TIMEOUT);
	if (s.signal)
		return fail(job, -EIO, "the compiler died: %s", strsignal(s.signal));
	if (s.status == 2 && c->kind == RCK_COMPILER_COMGR)
		return fail(job, -ENOTSUP, "comgr cannot be used");
	if (s.status)
		return fail(job, -EILSEQ, "%s for %s at %s failed", c->name, job->target,
			rck_level_name(job->level));
	job->err = 0;
	return read_output(job, output);
}

/* True when a compiler's or linker's words say that it does not know the version. */
static bool refuses_version(const char *log)
{
	return strstr(log, "-mcode-object-version") ||
	       strstr(log, "unknown abi version") || strstr(log, "code object version");
}

static int prepare(struct rck_compile_job *job, const char *dir)
{
	if (job->bundled)
		return write_bundled(job, dir, job->source)
			       ? job->err
			       : write_bundled(job, dir, "device.h");
	if (access(job->source, R_OK))
		return fail(job, -errno, "cannot open it: %s", strerror(errno));
	return 0;
}

static void run_job(const struct rck_compiler *c, struct rck_compile_job *job)
{
	char *dir = rck_temporary_make();
	const unsigned asked = job->code_object_version;
	struct timespec from, to;

	job->log = rck_xstrdup("");
	job->notice = rck_xstrdup(c->lld_notice ? c->lld_notice : "");
	if (!dir) {
		fail(job, -errno, "cannot make a temporary folder: %s", strerror(errno));
		return;
	}
	clock_gettime(CLOCK_MONOTONIC, &from);
	if (!prepare(job, dir) && compile_in(c, job, dir, asked ? asked : 5) && !asked &&
		job->err == -EILSEQ && refuses_version(job->log)) {
		free(job->notice);
		job->notice = rck_xasprintf("%s does not know code object V5, the first "
					    "with hidden_heap_v1: its own default taken",
			c->name);
		compile_in(c, job, dir, 0);
	}
	clock_gettime(CLOCK_MONOTONIC, &to);
	job->seconds = (double)(to.tv_sec - from.tv_sec) +
		       (double)(to.tv_nsec - from.tv_nsec) * 1e-9;
	rck_temporary_remove(dir);
}

struct queue {
	const struct rck_compiler *c;
	struct rck_compile_job *jobs;
	size_t n;
	atomic_size_t next;
};

/* The thread that starts a compiler lives until it has ended: its death would end the
   compiler too (PR_SET_PDEATHSIG). */
static void *work(void *arg)
{
	struct queue *q = arg;
	size_t i;

	while ((i = atomic_fetch_add(&q->next, 1)) < q->n)
		run_job(q->c, &q->jobs[i]);
	return NULL;
}

size_t rck_compile_run(const struct rck_compiler *c, struct rck_compile_job *jobs,
	size_t n, unsigned parallel)
{
	struct queue q = {.c = c, .jobs = jobs, .n = n};
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t threads[64];
	unsigned started = 0;
	size_t failed = 0;

	if (!parallel)
		parallel = cpus > 0 ? (unsigned)cpus : 1;
	while (started + 1 < parallel && started + 1 < n && started < 64 &&
		!pthread_create(&threads[started], NULL, work, &q))
		started++;
	work(&q);
	for (unsigned i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	for (size_t i = 0; i < n; i++)
		failed += jobs[i].err != 0;
	return failed;
}

void rck_compile_job_release(struct rck_compile_job *job)
{
	free(job->log);
	free(job->notice);
	free(job->bytes);
	rck_strv_release(&job->flags);
	job->log = job->notice = NULL;
	job->bytes = NULL;
}
