/*
 * Disassembly by AMD's comgr. The types are those of amd_comgr.h 2.4 (unchanged in 3.0):
 * a handle is a struct of one 64-bit word, a status is an int of which 0 is success.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "disasm/backend.h"

struct comgr_info {
	uint64_t handle;
};

typedef uint64_t (*comgr_read_fn)(uint64_t from, char *to, uint64_t size, void *data);
typedef void (*comgr_print_fn)(const char *text, void *data);
typedef void (*comgr_address_fn)(uint64_t address, void *data);

struct comgr {
	int (*disassemble)(struct comgr_info, uint64_t pc, void *data, uint64_t *size);
	int (*destroy)(struct comgr_info);
	struct comgr_info info;
	const char *code;
	uint64_t pc, avail;
	char *text;
};

static uint64_t comgr_read(uint64_t from, char *to, uint64_t size, void *data)
{
	struct comgr *c = data;
	uint64_t off = from - c->pc;

	if (off >= c->avail)
		return 0;
	if (size > c->avail - off)
		size = c->avail - off;
	memcpy(to, c->code + off, size);
	return size;
}

static void comgr_print(const char *text, void *data)
{
	struct comgr *c = data;

	snprintf(c->text, RCK_DISASM_TEXT_MAX, "%s", text);
}

static void comgr_address(uint64_t address, void *data)
{
	(void)address;
	(void)data;
}

static int comgr_open(void *lib, const char *path, const struct rck_disasm_target *t,
	char name[32], void **state)
{
	void (*version)(size_t *, size_t *) = NULL;
	int (*create)(const char *, comgr_read_fn, comgr_print_fn, comgr_address_fn,
		struct comgr_info *) = NULL;
	struct comgr *c = calloc(1, sizeof(*c));
	size_t major = 0, minor = 0;

	(void)path;
	if (!c)
		return -ENOMEM;
	*(void **)&version = dlsym(lib, "amd_comgr_get_version");
	*(void **)&create = dlsym(lib, "amd_comgr_create_disassembly_info");
	*(void **)&c->disassemble = dlsym(lib, "amd_comgr_disassemble_instruction");
	*(void **)&c->destroy = dlsym(lib, "amd_comgr_destroy_disassembly_info");
	if (!version || !create || !c->disassemble || !c->destroy ||
		create(t->isa, comgr_read, comgr_print, comgr_address, &c->info)) {
		free(c);
		return -ENOTSUP;
	}
	version(&major, &minor);
	snprintf(name, 32, "comgr %zu.%zu", major, minor);
	*state = c;
	return 0;
}

static int comgr_next(
	void *state, const void *code, size_t avail, uint64_t pc, char *text)
{
	struct comgr *c = state;
	uint64_t size = 0;

	c->code = code;
	c->avail = avail;
	c->pc = pc;
	c->text = text;
	text[0] = '\0';
	if (c->disassemble(c->info, pc, c, &size) || !size || size > avail)
		return -EILSEQ;
	return (int)size;
}

static void comgr_close(void *state)
{
	struct comgr *c = state;

	c->destroy(c->info);
	free(c);
}

static const char *const comgr_names[] = {"libamd_comgr.so.3", "libamd_comgr.so.2", NULL};

const struct rck_disasm_backend rck_disasm_comgr = {
	comgr_names, comgr_open, comgr_next, comgr_close};
