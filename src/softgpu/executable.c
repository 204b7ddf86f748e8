/* Code object readers, executables and their symbols. */
#include "softgpu/softgpu.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define EF_MACH           0xffu
#define EF_V3_XNACK       0x100u
#define EF_V3_SRAMECC     0x200u
#define EF_V4_XNACK_SHIFT 8
#define EF_V4_SRAM_SHIFT  10

struct reader {
	const void *bytes; /* borrowed, or mapped */
	size_t size;
	bool mapped;
};

/* A name that the program gave an address before it loaded code (managed variables). */
struct definition {
	char *name;
	uint64_t address;
	struct definition *next;
};

struct loaded {
	struct sg_image *image;
	struct sg_agent *agent;
	struct sg_code *code; /* made at the first dispatch */
	struct loaded *next;
};

struct executable {
	bool frozen;
	_Atomic int running; /* dispatches that use it */
	struct loaded *objects;
	struct definition *definitions;
	struct executable *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t idle = PTHREAD_COND_INITIALIZER;
static struct executable *executables;

/* -------------------------------------------------------------------- readers */

hsa_status_t hsa_code_object_reader_create_from_memory(const void *code_object,
	size_t size, hsa_code_object_reader_t *code_object_reader)
{
	struct reader *r;

	SG_CHECK_OPEN();
	if (!code_object || !size || !code_object_reader)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	r = calloc(1, sizeof *r);
	if (!r)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	*r = (struct reader){code_object, size, false};
	code_object_reader->handle = (uint64_t)(uintptr_t)r;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_code_object_reader_create_from_file(
	hsa_file_t file, hsa_code_object_reader_t *code_object_reader)
{
	struct reader *r;
	struct stat st;
	void *p;

	SG_CHECK_OPEN();
	if (!code_object_reader)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (fstat(file, &st) || st.st_size <= 0)
		return HSA_STATUS_ERROR_INVALID_FILE;
	p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, file, 0);
	if (p == MAP_FAILED)
		return HSA_STATUS_ERROR_INVALID_FILE;
	r = calloc(1, sizeof *r);
	if (!r) {
		munmap(p, (size_t)st.st_size);
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	}
	*r = (struct reader){p, (size_t)st.st_size, true};
	code_object_reader->handle = (uint64_t)(uintptr_t)r;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_code_object_reader_destroy(hsa_code_object_reader_t code_object_reader)
{
	struct reader *r = (struct reader *)(uintptr_t)code_object_reader.handle;

	SG_CHECK_OPEN();
	if (!r)
		return HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER;
	if (r->mapped)
		munmap((void *)(uintptr_t)r->bytes, r->size);
	free(r);
	return HSA_STATUS_SUCCESS;
}

/* ---------------------------------------------------------------- executables */

static struct executable *executable_of(hsa_executable_t handle)
{
	struct executable *e;

	pthread_mutex_lock(&lock);
	for (e = executables; e && (uint64_t)(uintptr_t)e != handle.handle;)
		e = e->next;
	pthread_mutex_unlock(&lock);
	return e;
}

hsa_status_t hsa_executable_create_alt(hsa_profile_t profile,
	hsa_default_float_rounding_mode_t default_float_rounding_mode,
	const char *options, hsa_executable_t *executable)
{
	struct executable *e;

	SG_CHECK_OPEN();
	if (!executable)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	e = calloc(1, sizeof *e);
	if (!e)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	pthread_mutex_lock(&lock);
	e->next = executables;
	executables = e;
	pthread_mutex_unlock(&lock);
	executable->handle = (uint64_t)(uintptr_t)e;
	return HSA_STATUS_SUCCESS;
}

static void free_executable(struct executable *e)
{
	while (e->objects) {
		struct loaded *l = e->objects;
		e->objects = l->next;
		sg_code_close(l->code);
		sg_map_remove((uint64_t)(uintptr_t)l->image->base, SG_BLOCK_IMAGE, NULL);
		sg_image_unload(l->image);
		free(l);
	}
	while (e->definitions) {
		struct definition *d = e->definitions;
		e->definitions = d->next;
		free(d->name);
		free(d);
	}
	free(e);
}

hsa_status_t hsa_executable_destroy(hsa_executable_t executable)
{
	struct executable *e = NULL;

	SG_CHECK_OPEN();
	pthread_mutex_lock(&lock);
	for (struct executable **p = &executables; *p; p = &(*p)->next)
		if ((uint64_t)(uintptr_t)*p == executable.handle) {
			e = *p;
			*p = e->next;
			break;
		}
	while (e && e->running && !sg_forked)
		pthread_cond_wait(&idle, &lock);
	pthread_mutex_unlock(&lock);
	if (!e)
		return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
	free_executable(e);
	return HSA_STATUS_SUCCESS;
}

void sg_executables_destroy(void)
{
	while (executables) {
		struct executable *e = executables;
		executables = e->next;
		free_executable(e);
	}
}

hsa_status_t hsa_executable_agent_global_variable_define(hsa_executable_t executable,
	hsa_agent_t agent, const char *variable_name, void *address)
{
	struct executable *e = executable_of(executable);
	struct definition *d;

	SG_CHECK_OPEN();
	if (!e)
		return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
	if (!sg_agent_of(agent))
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (!variable_name || !address)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (e->frozen)
		return HSA_STATUS_ERROR_FROZEN_EXECUTABLE;
	for (d = e->definitions; d; d = d->next)
		if (!strcmp(d->name, variable_name))
			return HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED;
	d = calloc(1, sizeof *d);
	if (d)
		d->name = strdup(variable_name);
	if (!d || !d->name) {
		free(d);
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	}
	d->address = (uint64_t)(uintptr_t)address;
	d->next = e->definitions;
	e->definitions = d;
	return HSA_STATUS_SUCCESS;
}

static uint64_t resolve(void *ctx, const char *name)
{
	const struct executable *e = ctx;

	for (const struct definition *d = e->definitions; d; d = d->next)
		if (!strcmp(d->name, name))
			return d->address;
	return 0;
}

/* A feature of a target id: 0 unsupported, 1 any, 2 off, 3 on, as V4's two bits say. */
static unsigned int agent_feature(const struct sg_agent *a, const char *name)
{
	const char *p = strstr(a->card->features, name);

	return p ? (p[strlen(name)] == '+' ? 3 : 2) : 0;
}

static bool feature_fits(unsigned int wanted, unsigned int has)
{
	return wanted <= 1 || wanted == has;
}

static bool runs_on(const struct sg_image *image, const struct sg_agent *a)
{
	uint32_t mach = image->flags & EF_MACH;
	unsigned int xnack, sramecc;

	if (image->abi_version == 1) { /* V3: a set bit is "on", a clear one "off" */
		xnack = agent_feature(a, "xnack") ? 2u + !!(image->flags & EF_V3_XNACK)
						  : 0;
		sramecc = agent_feature(a, "sramecc")
				  ? 2u + !!(image->flags & EF_V3_SRAMECC)
				  : 0;
	} else {
		xnack = image->flags >> EF_V4_XNACK_SHIFT & 3;
		sramecc = image->flags >> EF_V4_SRAM_SHIFT & 3;
	}
	return (mach == a->card->mach ||
		       (a->card->mach_generic && mach == a->card->mach_generic)) &&
	       feature_fits(xnack, agent_feature(a, "xnack")) &&
	       feature_fits(sramecc, agent_feature(a, "sramecc"));
}

static hsa_status_t load_status(int r)
{
	switch (r) {
	case -ENOMEM:
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	case -ENOENT:
		return HSA_STATUS_ERROR_VARIABLE_UNDEFINED;
	default:
		return HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
	}
}

static hsa_status_t load(struct executable *e, struct sg_agent *a, const struct reader *r,
	struct loaded **out)
{
	const struct sg_load_options options = {resolve, e, sg_agent_available(a)};
	struct sg_block b = {
		.kind = SG_BLOCK_IMAGE, .access = true, .pool = &a->pools[0]};
	struct rck_diag diag = {0};
	struct sg_image *image;
	struct loaded *l;
	int error;

	error = sg_image_load(r->bytes, r->size, &options, &image, &diag);
	if (error) {
		sg_log(SG_LOG_ERROR, "code object: %s", diag.msg);
		return load_status(error);
	}
	if (!runs_on(image, a)) {
		sg_log(SG_LOG_API, "code object with flags 0x%x does not run on %s",
			image->flags, a->isa);
		sg_image_unload(image);
		return HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS;
	}
	l = calloc(1, sizeof *l);
	b.base = (uint64_t)(uintptr_t)image->base;
	b.size = image->size;
	if (!l || sg_map_add(&b)) {
		free(l);
		sg_image_unload(image);
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	}
	l->image = image;
	l->agent = a;
	*out = l;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_load_agent_code_object(hsa_executable_t executable,
	hsa_agent_t agent, hsa_code_object_reader_t code_object_reader,
	const char *options, hsa_loaded_code_object_t *loaded_code_object)
{
	const struct reader *r = (struct reader *)(uintptr_t)code_object_reader.handle;
	struct executable *e = executable_of(executable);
	struct sg_agent *a = sg_agent_of(agent);
	struct loaded *l;
	hsa_status_t s;

	SG_CHECK_OPEN();
	if (!e)
		return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
	if (!a || !a->is_device)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (!r)
		return HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER;
	if (e->frozen)
		return HSA_STATUS_ERROR_FROZEN_EXECUTABLE;
	s = load(e, a, r, &l);
	if (s != HSA_STATUS_SUCCESS)
		return s;
	pthread_mutex_lock(&lock);
	l->next = e->objects;
	e->objects = l;
	pthread_mutex_unlock(&lock);
	if (loaded_code_object)
		loaded_code_object->handle = (uint64_t)(uintptr_t)l;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_freeze(hsa_executable_t executable, const char *options)
{
	struct executable *e = executable_of(executable);

	SG_CHECK_OPEN();
	if (!e)
		return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
	if (e->frozen)
		return HSA_STATUS_ERROR_FROZEN_EXECUTABLE;
	e->frozen = true;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_validate(hsa_executable_t executable, uint32_t *result)
{
	SG_CHECK_OPEN();
	if (!executable_of(executable))
		return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
	if (!result)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	*result = 0;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_get_info(
	hsa_executable_t executable, hsa_executable_info_t attribute, void *value)
{
	const struct executable *e = executable_of(executable);

	SG_CHECK_OPEN();
	if (!e)
		return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
	if (!value)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	switch (attribute) {
	case HSA_EXECUTABLE_INFO_PROFILE:
		*(hsa_profile_t *)value = HSA_PROFILE_BASE;
		return HSA_STATUS_SUCCESS;
	case HSA_EXECUTABLE_INFO_STATE:
		*(hsa_executable_state_t *)value =
			e->frozen ? HSA_EXECUTABLE_STATE_FROZEN
				  : HSA_EXECUTABLE_STATE_UNFROZEN;
		return HSA_STATUS_SUCCESS;
	case HSA_EXECUTABLE_INFO_DEFAULT_FLOAT_ROUNDING_MODE:
		*(hsa_default_float_rounding_mode_t *)value =
			HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR;
		return HSA_STATUS_SUCCESS;
	}
	return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

/* -------------------------------------------------------------------- symbols */

static hsa_executable_symbol_t symbol_handle(const struct sg_symbol *s)
{
	return (hsa_executable_symbol_t){(uint64_t)(uintptr_t)s};
}

hsa_status_t hsa_executable_get_symbol_by_name(hsa_executable_t executable,
	const char *symbol_name, const hsa_agent_t *agent,
	hsa_executable_symbol_t *symbol)
{
	struct executable *e = executable_of(executable);

	SG_CHECK_OPEN();
	if (!e)
		return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
	if (!symbol_name || !symbol)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	for (struct loaded *l = e->objects; l; l = l->next) {
		const struct sg_symbol *s;
		if (agent && sg_agent_of(*agent) != l->agent)
			continue;
		s = sg_image_symbol(l->image, symbol_name);
		if (s) {
			*symbol = symbol_handle(s);
			return HSA_STATUS_SUCCESS;
		}
	}
	return HSA_STATUS_ERROR_INVALID_SYMBOL_NAME;
}

hsa_status_t hsa_executable_get_symbol(hsa_executable_t executable,
	const char *module_name, const char *symbol_name, hsa_agent_t agent,
	int32_t call_convention, hsa_executable_symbol_t *symbol)
{
	return hsa_executable_get_symbol_by_name(executable, symbol_name, &agent, symbol);
}

typedef hsa_status_t on_symbol(
	hsa_executable_t exec, hsa_executable_symbol_t symbol, void *data);
typedef hsa_status_t on_agent_symbol(hsa_executable_t exec, hsa_agent_t agent,
	hsa_executable_symbol_t symbol, void *data);

/* Every symbol to any, or those of an agent to its. */
static hsa_status_t iterate(hsa_executable_t executable, on_symbol *any,
	on_agent_symbol *its, hsa_agent_t agent, void *data)
{
	struct executable *e = executable_of(executable);

	SG_CHECK_OPEN();
	if (!e)
		return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
	if (!any && !its)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	for (struct loaded *l = e->objects; l; l = l->next)
		for (size_t i = 0; i < l->image->n_symbols; i++) {
			hsa_executable_symbol_t s = symbol_handle(&l->image->symbols[i]);
			hsa_status_t r;

			if (its && l->agent != sg_agent_of(agent))
				break;
			r = its ? its(executable, agent, s, data)
				: any(executable, s, data);
			if (r != HSA_STATUS_SUCCESS)
				return r;
		}
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_iterate_symbols(
	hsa_executable_t executable, on_symbol *callback, void *data)
{
	return iterate(executable, callback, NULL, (hsa_agent_t){0}, data);
}

hsa_status_t hsa_executable_iterate_agent_symbols(hsa_executable_t executable,
	hsa_agent_t agent, on_agent_symbol *callback, void *data)
{
	return iterate(executable, NULL, callback, agent, data);
}

/* The agent that symbol s was loaded for. */
static struct sg_agent *symbol_agent(const struct sg_symbol *s)
{
	struct sg_agent *a = NULL;

	pthread_mutex_lock(&lock);
	for (struct executable *e = executables; e && !a; e = e->next)
		for (struct loaded *l = e->objects; l && !a; l = l->next)
			if (s >= l->image->symbols &&
				s < l->image->symbols + l->image->n_symbols)
				a = l->agent;
	pthread_mutex_unlock(&lock);
	return a;
}

#define ANSWER(type, v) (*(type *)value = (v))

static bool get_kernel_info(
	const struct sg_symbol *s, unsigned int attribute, void *value)
{
	const struct sg_descriptor *d = &s->descriptor;

	if (s->kind != SG_SYMBOL_KERNEL)
		return false;
	switch (attribute) {
	case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT:
		ANSWER(uint64_t, s->address);
		break;
	case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE:
		ANSWER(uint32_t, d->kernarg_size);
		break;
	case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_ALIGNMENT:
		ANSWER(uint32_t, 16);
		break;
	case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE:
		ANSWER(uint32_t, d->group_segment_size);
		break;
	case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE:
		ANSWER(uint32_t, d->private_segment_size);
		break;
	case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_DYNAMIC_CALLSTACK:
		ANSWER(bool, d->properties &SG_PROPERTY_DYNAMIC_STACK);
		break;
	case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_CALL_CONVENTION:
		ANSWER(uint32_t, 0);
		break;
	default:
		return false;
	}
	return true;
}

static bool get_variable_info(
	const struct sg_symbol *s, unsigned int attribute, void *value)
{
	if (s->kind != SG_SYMBOL_VARIABLE)
		return false;
	switch (attribute) {
	case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS:
		ANSWER(uint64_t, s->address);
		break;
	case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE:
		ANSWER(uint32_t, (uint32_t)s->size);
		break;
	case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALLOCATION:
		ANSWER(hsa_variable_allocation_t, HSA_VARIABLE_ALLOCATION_AGENT);
		break;
	case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SEGMENT:
		ANSWER(hsa_variable_segment_t, HSA_VARIABLE_SEGMENT_GLOBAL);
		break;
	case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALIGNMENT:
		ANSWER(uint32_t, 0);
		break;
	case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_IS_CONST:
		ANSWER(bool, s->is_const);
		break;
	default:
		return false;
	}
	return true;
}

hsa_status_t hsa_executable_symbol_get_info(hsa_executable_symbol_t executable_symbol,
	hsa_executable_symbol_info_t attribute, void *value)
{
	const struct sg_symbol *s =
		(struct sg_symbol *)(uintptr_t)executable_symbol.handle;

	SG_CHECK_OPEN();
	if (!s)
		return HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL;
	if (!value)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	switch (attribute) {
	case HSA_EXECUTABLE_SYMBOL_INFO_TYPE:
		ANSWER(hsa_symbol_kind_t, s->kind == SG_SYMBOL_KERNEL
						  ? HSA_SYMBOL_KIND_KERNEL
						  : HSA_SYMBOL_KIND_VARIABLE);
		break;
	case HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH:
		ANSWER(uint32_t, (uint32_t)strlen(s->name));
		break;
	case HSA_EXECUTABLE_SYMBOL_INFO_NAME: /* no zero at its end, says HSA */
		memcpy(value, s->name, strlen(s->name));
		break;
	case HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME_LENGTH:
		ANSWER(uint32_t, 0);
		break;
	case HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME:
		break;
	case HSA_EXECUTABLE_SYMBOL_INFO_AGENT: {
		const struct sg_agent *a = symbol_agent(s);
		if (!a)
			return HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL;
		ANSWER(hsa_agent_t, sg_agent_handle(a));
		break;
	}
	case HSA_EXECUTABLE_SYMBOL_INFO_LINKAGE:
		ANSWER(hsa_symbol_linkage_t, HSA_SYMBOL_LINKAGE_PROGRAM);
		break;
	case HSA_EXECUTABLE_SYMBOL_INFO_IS_DEFINITION:
		ANSWER(bool, true);
		break;
	default:
		if (!get_kernel_info(s, attribute, value) &&
			!get_variable_info(s, attribute, value))
			return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	}
	return HSA_STATUS_SUCCESS;
}

/* ------------------------------------------------------------------ dispatches */

static int open_code(struct loaded *l, struct sg_fault *fault)
{
	const struct sg_image *i = l->image;
	const struct sg_code_options options = {
		.elf = i->elf, .elf_size = i->elf_size, .bias = i->bias};

	return sg_code_open(
		NULL, l->agent->isa, i->base, i->size, &options, &l->code, fault);
}

int sg_loaded_kernel_get(
	uint64_t address, struct sg_loaded_kernel *out, struct sg_fault *fault)
{
	int r = -ENOENT;

	pthread_mutex_lock(&lock);
	for (struct executable *e = executables; e && r == -ENOENT; e = e->next)
		for (struct loaded *l = e->objects; l; l = l->next) {
			const struct sg_image *i = l->image;
			const struct sg_symbol *s = sg_image_kernel_at(i, address);
			if (!s)
				continue;
			r = 0;
			if (!l->code && sg_executes())
				r = open_code(l, fault);
			if (!r) {
				e->running++;
				*out = (struct sg_loaded_kernel){s, l->code, e};
			}
			break;
		}
	pthread_mutex_unlock(&lock);
	return r;
}

void sg_loaded_kernel_put(struct sg_loaded_kernel *kernel)
{
	struct executable *e = kernel->executable;

	pthread_mutex_lock(&lock);
	if (!--e->running)
		pthread_cond_broadcast(&idle);
	pthread_mutex_unlock(&lock);
}

/* ------------------------------------------------------- the loader's extension */

/* Device memory is host memory: an address is its own. */
static hsa_status_t query_host_address(
	const void *device_address, const void **host_address)
{
	struct sg_block b;

	SG_CHECK_OPEN();
	if (!device_address || !host_address)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!sg_map_find((uint64_t)(uintptr_t)device_address, &b) ||
		b.kind != SG_BLOCK_IMAGE)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	*host_address = device_address;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t query_segment_descriptors(
	hsa_ven_amd_loader_segment_descriptor_t *segment_descriptors,
	size_t *num_segment_descriptors)
{
	return sg_unimplemented("hsa_ven_amd_loader_query_segment_descriptors",
		HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

static hsa_status_t query_executable(
	const void *device_address, hsa_executable_t *executable)
{
	hsa_status_t s = HSA_STATUS_ERROR_INVALID_ARGUMENT;
	uint64_t a = (uint64_t)(uintptr_t)device_address;

	SG_CHECK_OPEN();
	if (!device_address || !executable)
		return s;
	pthread_mutex_lock(&lock);
	for (struct executable *e = executables; e; e = e->next)
		for (struct loaded *l = e->objects; l; l = l->next)
			if (a - (uint64_t)(uintptr_t)l->image->base < l->image->size) {
				executable->handle = (uint64_t)(uintptr_t)e;
				s = HSA_STATUS_SUCCESS;
			}
	pthread_mutex_unlock(&lock);
	return s;
}

const hsa_ven_amd_loader_1_00_pfn_t sg_loader_table = {
	query_host_address,
	query_segment_descriptors,
	query_executable,
};
