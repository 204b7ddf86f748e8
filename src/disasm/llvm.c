/*
 * Disassembly by libLLVM's C interface (llvm-c/Disassembler.h and llvm-c/Target.h, stable
 * since LLVM 3.3). For a processor that it does not know LLVM prints a warning and goes
 * on with a generic one, or ends the process, so the processor is held to a table first.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "disasm/backend.h"

struct llvm {
	size_t (*next)(void *, uint8_t *, uint64_t size, uint64_t pc, char *, size_t);
	void (*dispose)(void *);
	void *context;
};

/* The LLVM releases whose AMDGPU backend has the processor: the first, and the last where
 * it was taken out again (LLVM's release notes). */
static const struct {
	const char *processor;
	unsigned int since, until;
} llvm_releases[] = {
	{"gfx1250", 21},
	{"gfx1251", 22},
	{"gfx1200", 18},
	{"gfx1201", 18},
	{"gfx12-generic", 19},
	{"gfx1150", 17},
	{"gfx1151", 17},
	{"gfx1152", 19},
	{"gfx1153", 20},
	{"gfx1100", 15},
	{"gfx1101", 15},
	{"gfx1102", 15},
	{"gfx1103", 15},
	{"gfx11-generic", 19},
	{"gfx1036", 15},
	{"gfx1035", 14},
	{"gfx1034", 13},
	{"gfx1030", 11},
	{"gfx1031", 11},
	{"gfx1032", 12},
	{"gfx1033", 12},
	{"gfx10-3-generic", 19},
	{"gfx1010", 9},
	{"gfx1011", 9},
	{"gfx1012", 9},
	{"gfx1013", 13},
	{"gfx10-1-generic", 19},
	{"gfx950", 20},
	{"gfx9-4-generic", 20},
	{"gfx942", 17},
	{"gfx941", 17, 20},
	{"gfx940", 15, 20},
	{"gfx90a", 12},
	{"gfx90c", 12},
	{"gfx908", 9},
	{"gfx909", 8},
	{"gfx906", 7},
	{"gfx904", 7},
	{"gfx902", 6},
	{"gfx900", 6},
	{"gfx9-generic", 19},
	{"gfx810", 4},
	{"gfx805", 12},
	{"gfx803", 4},
	{"gfx802", 4},
	{"gfx801", 4},
};

static unsigned int llvm_version(void *lib, const char *path, unsigned int *minor)
{
	void (*version)(unsigned int *, unsigned int *, unsigned int *) = NULL;
	unsigned int major = 0, patch = 0;
	const char *p = strstr(path, "libLLVM");

	*minor = 0;
	/* LLVMGetVersion came with LLVM 16; before it the file's name must do. */
	*(void **)&version = dlsym(lib, "LLVMGetVersion");
	if (version)
		version(&major, minor, &patch);
	else if (p)
		major = (unsigned int)strtoul(p + strcspn(p, "0123456789"), NULL, 10);
	return major;
}

static bool llvm_knows(unsigned int major, const char *processor)
{
	for (size_t i = 0; i < sizeof(llvm_releases) / sizeof(*llvm_releases); i++)
		if (!strcmp(llvm_releases[i].processor, processor))
			return major >= llvm_releases[i].since &&
			       (!llvm_releases[i].until ||
				       major <= llvm_releases[i].until);
	return false;
}

static int llvm_open(void *lib, const char *path, const struct rck_disasm_target *t,
	char name[32], void **state)
{
	static const char *const init[] = {"LLVMInitializeAMDGPUTargetInfo",
		"LLVMInitializeAMDGPUTargetMC", "LLVMInitializeAMDGPUDisassembler"};
	void *(*create)(const char *, const char *, const char *, void *, int, void *,
		void *) = NULL;
	unsigned int minor, major = llvm_version(lib, path, &minor);
	struct llvm *l = NULL;

	if (!llvm_knows(major, t->processor))
		return -ENOTSUP;
	for (size_t i = 0; i < sizeof(init) / sizeof(*init); i++) {
		void (*fn)(void) = NULL;

		*(void **)&fn = dlsym(lib, init[i]);
		if (!fn)
			return -ENOTSUP;
		fn();
	}
	l = calloc(1, sizeof(*l));
	if (!l)
		return -ENOMEM;
	*(void **)&create = dlsym(lib, "LLVMCreateDisasmCPUFeatures");
	*(void **)&l->next = dlsym(lib, "LLVMDisasmInstruction");
	*(void **)&l->dispose = dlsym(lib, "LLVMDisasmDispose");
	if (create && l->next && l->dispose)
		l->context = create("amdgcn-amd-amdhsa", t->processor, t->features, NULL,
			0, NULL, NULL);
	if (!l->context) {
		free(l);
		return -ENOTSUP;
	}
	snprintf(name, 32, "libLLVM %u.%u", major, minor);
	*state = l;
	return 0;
}

static int llvm_next(void *state, const void *code, size_t avail, uint64_t pc, char *text)
{
	struct llvm *l = state;
	uint8_t bytes[32];
	size_t n = avail < sizeof(bytes) ? avail : sizeof(bytes), size;

	memcpy(bytes, code, n);
	size = l->next(l->context, bytes, n, pc, text, RCK_DISASM_TEXT_MAX);
	return size && size <= n ? (int)size : -EILSEQ;
}

static void llvm_close(void *state)
{
	struct llvm *l = state;

	l->dispose(l->context);
	free(l);
}

static const char *const llvm_names[] = {"libLLVM.so.22.1", "libLLVM.so.21.1",
	"libLLVM.so.20.1", "libLLVM.so.19.1", "libLLVM-22.so", "libLLVM-21.so",
	"libLLVM-20.so", "libLLVM-19.so", "libLLVM-18.so.18.1", "libLLVM-18.so.1",
	"libLLVM-17.so.1", "libLLVM-16.so.1", "libLLVM-15.so.1", "libLLVM-14.so.1", NULL};

const struct rck_disasm_backend rck_disasm_llvm = {
	llvm_names, llvm_open, llvm_next, llvm_close};
