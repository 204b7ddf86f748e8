/*
 * Source lines of device code, from the debug information that -g left in the code
 * object. comgr reads it (amd_comgr_symbolize, since 2.4): wherever HIP runs, comgr is in
 * the process already and is what disassembles here, so that a foreign process needs no
 * libdw, under whichever C library it runs. Its text is that of LLVM's symbolizer: a line
 * a frame, innermost first, "FUNCTION at FILE:LINE:COLUMN", the outer ones with
 * " (inlined by) " in front; what is not known is "??" and line 0.
 */
#include "softgpu/code.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DATA_EXECUTABLE 8 /* AMD_COMGR_DATA_KIND_EXECUTABLE */
#define DEPTH_MAX       4 /* frames that are named */

/* The types of amd_comgr.h 2.4, unchanged in 3.0. */
struct handle {
	uint64_t handle;
};

struct sg_source {
	struct handle data, info;
	int (*symbolize)(struct handle, uint64_t address, bool is_code, void *user);
	int (*destroy)(struct handle);
	int (*release)(struct handle);
};

struct answer {
	char *text;
	size_t cap, len;
	unsigned int frames;
};

/* FILE:LINE of one frame; false when it has none. */
static bool add_frame(struct answer *a, char *line)
{
	char *file = NULL, *p = line, *column, *number;

	while ((p = strstr(p, " at ")))
		file = p += 4;
	if (!file || !strncmp(file, "??", 2))
		return false;
	column = strrchr(file, ':');
	if (!column)
		return false;
	*column = '\0';
	number = strrchr(file, ':');
	if (!number || !strtoul(number + 1, NULL, 10) || a->len + 1 >= a->cap)
		return false;
	a->len += (size_t)snprintf(a->text + a->len, a->cap - a->len, "%s%s",
		a->frames ? ", inlined at " : "", file);
	if (a->len >= a->cap)
		a->len = a->cap - 1;
	a->frames++;
	return true;
}

static void on_symbol(const char *symbol, void *user)
{
	struct answer *a = user;
	char *copy = strdup(symbol), *save = NULL;

	for (char *line = copy ? strtok_r(copy, "\n", &save) : NULL;
		line && a->frames < DEPTH_MAX; line = strtok_r(NULL, "\n", &save))
		add_frame(a, line);
	free(copy);
}

/* The comgr that is in the process, else the newest there is. */
static void *library(const char *path)
{
	static const char *const names[] = {"libamd_comgr.so.3", "libamd_comgr.so.2"};
	void *lib = path && *path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;

	for (int present = 1; !path && !lib && present >= 0; present--)
		for (size_t i = 0; !lib && i < sizeof(names) / sizeof(*names); i++)
			lib = dlopen(names[i],
				RTLD_NOW | RTLD_LOCAL | (present ? RTLD_NOLOAD : 0));
	return lib;
}

static struct sg_source *source_open(const struct sg_code *code)
{
	void *lib = library(code->comgr);
	struct sg_source *s = calloc(1, sizeof(*s));
	int (*create_data)(int, struct handle *) = NULL;
	int (*set_data)(struct handle, size_t, const void *) = NULL;
	int (*create)(struct handle, void (*)(const char *, void *), struct handle *) =
		NULL;

	if (!s || !lib)
		goto fail;
	*(void **)&create_data = dlsym(lib, "amd_comgr_create_data");
	*(void **)&set_data = dlsym(lib, "amd_comgr_set_data");
	*(void **)&s->release = dlsym(lib, "amd_comgr_release_data");
	*(void **)&create = dlsym(lib, "amd_comgr_create_symbolizer_info");
	*(void **)&s->destroy = dlsym(lib, "amd_comgr_destroy_symbolizer_info");
	*(void **)&s->symbolize = dlsym(lib, "amd_comgr_symbolize");
	if (!create_data || !set_data || !s->release || !create || !s->destroy ||
		!s->symbolize || create_data(DATA_EXECUTABLE, &s->data))
		goto fail;
	if (!set_data(s->data, code->elf_size, code->elf) &&
		!create(s->data, on_symbol, &s->info))
		return s;
	s->release(s->data);
fail:
	free(s);
	return NULL;
}

bool sg_code_line(struct sg_code *code, uint64_t pc, char *text, size_t cap)
{
	struct answer a = {text, cap, 0, 0};

	*text = '\0';
	if (!code->elf || pc - (uint64_t)code->base >= code->size)
		return false;
	pthread_mutex_lock(&code->lock);
	if (!code->source && !code->no_source) {
		code->source = source_open(code);
		code->no_source = !code->source;
	}
	if (code->source)
		code->source->symbolize(code->source->info, pc - code->bias, true, &a);
	pthread_mutex_unlock(&code->lock);
	return a.frames;
}

void sg_source_close(struct sg_source *s)
{
	if (!s)
		return;
	s->destroy(s->info);
	s->release(s->data);
	free(s);
}
