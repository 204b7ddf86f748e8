#include "cmd/build-files.h"
#include "kernels/table.h"
#include "util/cleanup.h"
#include "util/msg.h"
#include "util/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int rck_build_make_folder(const char *dir)
{
	struct stat st;
	int err = 0;

	if (mkdir(dir, 0777) && errno != EEXIST)
		err = -errno;
	else if (stat(dir, &st))
		err = -errno;
	else if (!S_ISDIR(st.st_mode))
		err = -ENOTDIR;
	else if (access(dir, W_OK | X_OK))
		err = -errno;
	if (err)
		rck_error("cannot write into '%s': %s", dir, strerror(-err));
	return err;
}

/* The name of a source without folder and last suffix. */
static char *stem_of(const char *source)
{
	const char *slash = strrchr(source, '/');
	const char *base = slash ? slash + 1 : source;
	const char *dot = strrchr(base, '.');

	return rck_xstrndup(
		base, dot && dot > base ? (size_t)(dot - base) : strlen(base));
}

static int write_object(struct rck_build_object *o, const char *dir)
{
	_cleanup_free_ char *stem = stem_of(o->job.source);
	char *path = rck_xasprintf(
		"%s/%s-%s-%s.co", dir, stem, o->job.target, rck_level_name(o->job.level));
	int err;

	/* target features: gfx90a:xnack- */
	for (char *p = path + strlen(dir) + 1; *p; p++)
		if (*p == ':')
			*p = '_';
	err = rck_output_write(path, o->job.bytes, o->job.size);
	if (err)
		free(path);
	else
		o->file = path;
	return err;
}

/* One fat binary of the code objects of a source at a level; complete or not at all. */
static int write_fatbin(struct rck_build *b, size_t first, const char *dir, bool compress)
{
	const struct rck_build_object *o = &b->objects[first];
	struct rck_fatbin_entry *entries = rck_xcalloc(b->n_objects, sizeof(*entries));
	_cleanup_free_ char *stem = stem_of(o->job.source);
	char *path =
		rck_xasprintf("%s/%s-%s.hipfb", dir, stem, rck_level_name(o->job.level));
	struct rck_build_fatbin *made;
	struct rck_diag diag;
	uint8_t *bytes = NULL;
	size_t n = 0, size = 0;
	int err = 0;

	for (size_t i = first; i < b->n_objects; i++) {
		const struct rck_compile_job *job = &b->objects[i].job;

		if (job->source != o->job.source || job->level != o->job.level)
			continue;
		if (!job->bytes) {
			rck_error("'%s' is not written: %s did not compile", path,
				job->target);
			err = -ENODATA;
		}
		entries[n++] =
			(struct rck_fatbin_entry){job->target, job->bytes, job->size};
	}
	if (!err) {
		err = rck_fatbin_make(entries, n, compress, &bytes, &size, &diag);
		if (err)
			rck_error_diag(path, &diag);
	}
	if (!err)
		err = rck_output_write(path, bytes, size);
	if (!err) {
		b->fatbins = rck_xrealloc(
			b->fatbins, (b->n_fatbins + 1) * sizeof(*b->fatbins));
		made = &b->fatbins[b->n_fatbins++];
		made->file = path;
		made->size = size;
		rck_sha256(bytes, size, made->sha256);
		path = NULL;
	}
	free(path);
	free(bytes);
	free(entries);
	return err;
}

/* True when no object before this one has its source and level. */
static bool is_first(const struct rck_build *b, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (b->objects[k].job.source == b->objects[i].job.source &&
			b->objects[k].job.level == b->objects[i].job.level)
			return false;
	return true;
}

int rck_build_write(struct rck_build *b, const char *dir, bool fatbin, bool compress)
{
	_cleanup_strbuf_ struct rck_strbuf manifest = RCK_STRBUF_INIT;
	_cleanup_free_ char *path = rck_xasprintf("%s/manifest.json", dir);
	int err = 0;

	for (size_t i = 0; i < b->n_objects; i++) {
		int one = b->objects[i].job.bytes ? write_object(&b->objects[i], dir) : 0;

		if (fatbin && is_first(b, i) && !one)
			one = write_fatbin(b, i, dir, compress);
		err = one ? one : err;
	}
	rck_build_manifest(b, &manifest);
	return err ? err : rck_output_write(path, manifest.buf, manifest.len);
}

static const char makefile[] =
	"# make: the program, and its kernel at both levels (HIPCC, ARCH, ROCM_PATH)\n"
	"# make run-O0, make run-O1: each should end by itself; a minute later it is "
	"ended\n"
	"HIPCC ?= hipcc\n"
	"ARCH ?= gfx1100\n"
	"ROCM_PATH ?= /opt/rocm\n"
	"ROUTE ?= exit\n"
	"CPPFLAGS += -D__HIP_PLATFORM_AMD__ -I$(ROCM_PATH)/include\n"
	"LDFLAGS += -L$(ROCM_PATH)/lib -Wl,-rpath,$(ROCM_PATH)/lib\n"
	"\n"
	"all: reproducer rmsnorm-O0.co rmsnorm-O1.co\n"
	"\n"
	"reproducer: reproducer.c\n"
	"\t$(CC) $(CFLAGS) $(CPPFLAGS) -o $@ $< $(LDFLAGS) -lamdhip64 -lm\n"
	"\n"
	"rmsnorm-%.co: rmsnorm.hip device.h\n"
	"\t$(HIPCC) -$* -std=c++17 -ffp-contract=off --genco --offload-arch=$(ARCH) "
	"-o $@ $<\n"
	"\n"
	"run-%: rmsnorm-%.co reproducer\n"
	"\ttimeout 60 ./reproducer --route $(ROUTE) --code-object $<\n"
	"\n"
	"clean:\n"
	"\trm -f reproducer rmsnorm-O0.co rmsnorm-O1.co\n"
	"\n"
	".PHONY: all clean\n"
	".SECONDARY: rmsnorm-O0.co rmsnorm-O1.co\n";

int rck_build_write_reproducer(const char *dir)
{
	static const char *const names[] = {"reproducer.c", "rmsnorm.hip", "device.h"};
	_cleanup_free_ char *make = rck_xasprintf("%s/Makefile", dir);
	int err = rck_build_make_folder(dir);

	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !err; i++) {
		const struct rck_embedded *e = rck_embedded_find(names[i]);
		_cleanup_free_ char *path = rck_xasprintf("%s/%s", dir, names[i]);

		err = e ? rck_output_write(path, e->text, e->size) : -ENOENT;
	}
	return err ? err : rck_output_write(make, makefile, sizeof(makefile) - 1);
}
