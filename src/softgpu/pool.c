/* Memory pools: all device memory is host memory of this process. */
#include "softgpu/softgpu.h"

#include "util/range.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE    UINT64_C(4096)
#define HUGE    (UINT64_C(2) << 20)
#define GRANULE PAGE
#define LARGE   (UINT64_C(1) << 20)

static bool on_device(const struct sg_pool *p)
{
	return p->kind == SG_POOL_DEVICE_COARSE || p->kind == SG_POOL_DEVICE_FINE;
}

static uint32_t pool_flags(const struct sg_pool *p)
{
	switch (p->kind) {
	case SG_POOL_HOST_KERNARG:
		return HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED |
		       HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT;
	case SG_POOL_HOST_FINE:
	case SG_POOL_DEVICE_FINE:
		return HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED;
	case SG_POOL_HOST_COARSE:
	case SG_POOL_DEVICE_COARSE:
		return HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED;
	default:
		return 0;
	}
}

/*
 * Zeroed pages and after them one that faults, so that an overrun meets no neighbour.
 * Blocks of 2 MiB and more begin at such a border, as those of Linux's amdkfd do: the
 * device libraries' malloc finds its slabs by that.
 */
static void *map_pages(size_t size)
{
	uint64_t whole = rck_align_up(size ? size : 1, PAGE);
	uint64_t slack = whole >= HUGE ? HUGE : 0, before;
	uint8_t *p;

	if (whole >= UINT64_MAX - HUGE - PAGE)
		return NULL;
	p = mmap(NULL, slack + whole + PAGE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	if (slack) {
		before = rck_align_up((uint64_t)(uintptr_t)p, HUGE) -
			 (uint64_t)(uintptr_t)p;
		if (before)
			munmap(p, before);
		p += before;
		if (slack > before)
			munmap(p + whole + PAGE, slack - before);
		madvise(p, whole, MADV_HUGEPAGE);
	}
	mprotect(p + whole, PAGE, PROT_NONE);
	return p;
}

static void unmap_pages(uint64_t base, uint64_t size)
{
	munmap((void *)(uintptr_t)base, rck_align_up(size ? size : 1, PAGE) + PAGE);
}

void *sg_internal_alloc(size_t size)
{
	void *p = map_pages(size);
	struct sg_block b = {(uint64_t)(uintptr_t)p, size, SG_BLOCK_INTERNAL, true};

	if (p && sg_map_add(&b)) {
		unmap_pages(b.base, size);
		p = NULL;
	}
	return p;
}

void sg_internal_free(void *p)
{
	struct sg_block b;

	if (p && !sg_map_remove((uint64_t)(uintptr_t)p, SG_BLOCK_INTERNAL, &b))
		unmap_pages(b.base, b.size);
}

/* What this machine can still give, by /proc/meminfo; UINT64_MAX when it does not say. */
static uint64_t host_available(void)
{
	unsigned long long kib;
	uint64_t r = UINT64_MAX;
	char line[128];
	FILE *f = fopen("/proc/meminfo", "re");

	while (f && fgets(line, sizeof line, f))
		if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1) {
			r = kib * UINT64_C(1024);
			break;
		}
	if (f)
		fclose(f);
	return r;
}

uint64_t sg_agent_available(const struct sg_agent *agent)
{
	uint64_t used = agent->used, host = host_available();
	uint64_t own = agent->card && agent->card->memory > used
			       ? agent->card->memory - used
			       : 0;

	return own < host ? own : host;
}

hsa_status_t hsa_amd_agent_iterate_memory_pools(hsa_agent_t agent,
	hsa_status_t (*callback)(hsa_amd_memory_pool_t memory_pool, void *data),
	void *data)
{
	struct sg_agent *a = sg_agent_of(agent);

	SG_CHECK_OPEN();
	if (!a)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (!callback)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	for (size_t i = 0; i < a->n_pools; i++) {
		hsa_status_t s = callback(sg_pool_handle(&a->pools[i]), data);
		if (s != HSA_STATUS_SUCCESS)
			return s;
	}
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_memory_pool_get_info(hsa_amd_memory_pool_t memory_pool,
	hsa_amd_memory_pool_info_t attribute, void *value)
{
	const struct sg_pool *p = sg_pool_of(memory_pool);

	SG_CHECK_OPEN();
	if (!p)
		return SG_STATUS_INVALID_POOL;
	if (!value)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	switch ((unsigned int)attribute) {
	case HSA_AMD_MEMORY_POOL_INFO_SEGMENT:
		*(hsa_amd_segment_t *)value = p->kind == SG_POOL_GROUP
						      ? HSA_AMD_SEGMENT_GROUP
						      : HSA_AMD_SEGMENT_GLOBAL;
		break;
	case HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS:
		*(uint32_t *)value = pool_flags(p);
		break;
	case HSA_AMD_MEMORY_POOL_INFO_SIZE:
	case HSA_AMD_MEMORY_POOL_INFO_ALLOC_MAX_SIZE:
		*(size_t *)value = p->size;
		break;
	case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED:
		*(bool *)value = p->kind != SG_POOL_GROUP;
		break;
	case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE:
	case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALIGNMENT:
		*(size_t *)value = p->kind == SG_POOL_GROUP ? 0 : GRANULE;
		break;
	case SG_POOL_INFO_RUNTIME_ALLOC_REC_GRANULE:
		*(size_t *)value = p->kind == SG_POOL_GROUP ? 0
				   : on_device(p)           ? HUGE
							    : GRANULE;
		break;
	case HSA_AMD_MEMORY_POOL_INFO_ACCESSIBLE_BY_ALL:
		*(bool *)value = !on_device(p) && p->kind != SG_POOL_GROUP;
		break;
	case SG_POOL_INFO_LOCATION:
		*(int *)value = p->agent->is_device;
		break;
	default:
		sg_log(SG_LOG_API, "pool attribute %u is not known",
			(unsigned int)attribute);
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	}
	return HSA_STATUS_SUCCESS;
}

static hsa_amd_memory_pool_access_t access_of(
	const struct sg_agent *a, const struct sg_pool *p)
{
	if (p->kind == SG_POOL_GROUP)
		return HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED;
	if (a == p->agent)
		return HSA_AMD_MEMORY_POOL_ACCESS_ALLOWED_BY_DEFAULT;
	return HSA_AMD_MEMORY_POOL_ACCESS_DISALLOWED_BY_DEFAULT;
}

/* One hop over PCIe 4.0 x16: hostcall needs its atomics. */
static const hsa_amd_memory_pool_link_info_t pcie = {
	.min_latency = 0,
	.max_latency = 0,
	.min_bandwidth = 0,
	.max_bandwidth = 31500,
	.atomic_support_32bit = true,
	.atomic_support_64bit = true,
	.coherent_support = true,
	.link_type = HSA_AMD_LINK_INFO_TYPE_PCIE,
	.numa_distance = 20,
};

hsa_status_t hsa_amd_agent_memory_pool_get_info(hsa_agent_t agent,
	hsa_amd_memory_pool_t memory_pool, hsa_amd_agent_memory_pool_info_t attribute,
	void *value)
{
	const struct sg_agent *a = sg_agent_of(agent);
	const struct sg_pool *p = sg_pool_of(memory_pool);

	SG_CHECK_OPEN();
	if (!a)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (!p)
		return SG_STATUS_INVALID_POOL;
	if (!value)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	switch (attribute) {
	case HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS:
		*(hsa_amd_memory_pool_access_t *)value = access_of(a, p);
		break;
	case HSA_AMD_AGENT_MEMORY_POOL_INFO_NUM_LINK_HOPS:
		*(uint32_t *)value = a == p->agent ? 0 : 1;
		break;
	case HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO:
		if (a != p->agent)
			*(hsa_amd_memory_pool_link_info_t *)value = pcie;
		break;
	default:
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	}
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_memory_pool_allocate(
	hsa_amd_memory_pool_t memory_pool, size_t size, uint32_t flags, void **ptr)
{
	struct sg_pool *p = sg_pool_of(memory_pool);
	struct sg_block b = {.size = size, .kind = SG_BLOCK_POOL, .access = true};

	SG_CHECK_OPEN();
	if (!p || p->kind == SG_POOL_GROUP)
		return SG_STATUS_INVALID_POOL;
	if (!ptr || !size)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (size > p->size)
		return HSA_STATUS_ERROR_INVALID_ALLOCATION;
	/* asking the machine costs more than a small allocation */
	if (size >= LARGE &&
		size > (on_device(p) ? sg_agent_available(p->agent) : host_available()))
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	b.base = (uint64_t)(uintptr_t)map_pages(size);
	b.pool = p;
	if (!b.base)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	if (sg_map_add(&b)) {
		unmap_pages(b.base, size);
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	}
	if (on_device(p))
		p->agent->used += size;
	*ptr = (void *)(uintptr_t)b.base;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_memory_pool_free(void *ptr)
{
	struct sg_block b;

	SG_CHECK_OPEN();
	if (!ptr)
		return HSA_STATUS_SUCCESS;
	if (sg_map_remove((uint64_t)(uintptr_t)ptr, SG_BLOCK_POOL, &b))
		return HSA_STATUS_ERROR_INVALID_ALLOCATION;
	if (on_device(b.pool))
		b.pool->agent->used -= b.size;
	unmap_pages(b.base, b.size);
	sg_share_free(&b);
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_agents_allow_access(uint32_t num_agents, const hsa_agent_t *agents,
	const uint32_t *flags, const void *ptr)
{
	struct sg_block b;

	SG_CHECK_OPEN();
	if (!num_agents || !agents || flags || !ptr)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	for (uint32_t i = 0; i < num_agents; i++)
		if (!sg_agent_of(agents[i]))
			return HSA_STATUS_ERROR_INVALID_AGENT;
	/* every device reaches all memory of this process */
	return sg_map_find((uint64_t)(uintptr_t)ptr, &b) ? HSA_STATUS_SUCCESS
							 : HSA_STATUS_ERROR;
}

hsa_status_t hsa_amd_memory_pool_can_migrate(
	hsa_amd_memory_pool_t src, hsa_amd_memory_pool_t dst, bool *result)
{
	SG_CHECK_OPEN();
	if (!sg_pool_of(src) || !sg_pool_of(dst))
		return SG_STATUS_INVALID_POOL;
	if (!result)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	*result = false;
	return HSA_STATUS_SUCCESS;
}

/* --------------------------------------------------------------- host's memory */

static hsa_status_t lock_host(void *host_ptr, size_t size, void **agent_ptr)
{
	struct sg_block b = {(uint64_t)(uintptr_t)host_ptr, size, SG_BLOCK_LOCKED, true};

	if (!host_ptr || !size || !agent_ptr ||
		!rck_range_ok(b.base, size, UINT64_C(1) << 48))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	b.pool = &sg_agents[0].pools[0];
	if (sg_map_add(&b))
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	*agent_ptr = host_ptr;
	return HSA_STATUS_SUCCESS;
}

static bool agents_ok(int n, const hsa_agent_t *agents)
{
	for (int i = 0; agents && i < n; i++)
		if (!sg_agent_of(agents[i]))
			return false;
	return true;
}

hsa_status_t hsa_amd_memory_lock(
	void *host_ptr, size_t size, hsa_agent_t *agents, int num_agent, void **agent_ptr)
{
	SG_CHECK_OPEN();
	if (!agents_ok(num_agent, agents))
		return HSA_STATUS_ERROR_INVALID_AGENT;
	return lock_host(host_ptr, size, agent_ptr);
}

hsa_status_t hsa_amd_memory_lock_to_pool(void *host_ptr, size_t size, hsa_agent_t *agents,
	int num_agent, hsa_amd_memory_pool_t pool, uint32_t flags, void **agent_ptr)
{
	const struct sg_pool *p = sg_pool_of(pool);

	SG_CHECK_OPEN();
	if (!p || p->agent->is_device)
		return SG_STATUS_INVALID_POOL;
	if (!agents_ok(num_agent, agents))
		return HSA_STATUS_ERROR_INVALID_AGENT;
	return lock_host(host_ptr, size, agent_ptr);
}

hsa_status_t hsa_amd_memory_unlock(void *host_ptr)
{
	SG_CHECK_OPEN();
	if (!host_ptr)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	sg_map_remove((uint64_t)(uintptr_t)host_ptr, SG_BLOCK_LOCKED, NULL);
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_memory_register(void *ptr, size_t size)
{
	SG_CHECK_OPEN();
	return ptr || !size ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_memory_deregister(void *ptr, size_t size)
{
	SG_CHECK_OPEN();
	return HSA_STATUS_SUCCESS;
}

/* -------------------------------------------------------------------- queries */

static hsa_amd_pointer_type_t pointer_type(enum sg_block_kind kind)
{
	switch (kind) {
	case SG_BLOCK_POOL:
	case SG_BLOCK_VMEM:
		return HSA_EXT_POINTER_TYPE_HSA;
	case SG_BLOCK_LOCKED:
		return HSA_EXT_POINTER_TYPE_LOCKED;
	case SG_BLOCK_IPC:
		return HSA_EXT_POINTER_TYPE_IPC;
	case SG_BLOCK_RESERVED:
		return (hsa_amd_pointer_type_t)SG_POINTER_TYPE_RESERVED_ADDR;
	default:
		return HSA_EXT_POINTER_TYPE_UNKNOWN;
	}
}

static hsa_status_t list_accessible(
	void *(*alloc)(size_t), uint32_t *n, hsa_agent_t **accessible)
{
	*n = (uint32_t)sg_n_agents;
	*accessible = alloc(sg_n_agents * sizeof **accessible);
	if (!*accessible)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	for (size_t i = 0; i < sg_n_agents; i++)
		(*accessible)[i] = sg_agent_handle(&sg_agents[i]);
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_pointer_info(const void *ptr, hsa_amd_pointer_info_t *info,
	void *(*alloc)(size_t), uint32_t *num_agents_accessible, hsa_agent_t **accessible)
{
	struct sg_block b = {0};
	hsa_amd_pointer_info_t full = {.type = HSA_EXT_POINTER_TYPE_UNKNOWN};
	uint32_t size;

	SG_CHECK_OPEN();
	if (!ptr || !info ||
		info->size < offsetof(hsa_amd_pointer_info_t, agentBaseAddress))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	size = info->size < sizeof full ? info->size : (uint32_t)sizeof full;
	if (sg_map_find((uint64_t)(uintptr_t)ptr, &b))
		full.type = pointer_type(b.kind);
	if (full.type != HSA_EXT_POINTER_TYPE_UNKNOWN) {
		full.agentBaseAddress = full.hostBaseAddress = (void *)(uintptr_t)b.base;
		full.sizeInBytes = b.size;
		full.userData = b.user;
		if (b.pool) {
			full.agentOwner = sg_agent_handle(b.pool->agent);
			full.global_flags = pool_flags(b.pool);
		}
	}
	full.size = size;
	memcpy(info, &full, size);
	if (full.type == HSA_EXT_POINTER_TYPE_UNKNOWN) {
		if (num_agents_accessible)
			*num_agents_accessible = 0;
		return HSA_STATUS_SUCCESS;
	}
	if (alloc && num_agents_accessible && accessible)
		return list_accessible(alloc, num_agents_accessible, accessible);
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_pointer_info_set_userdata(const void *ptr, void *userdata)
{
	SG_CHECK_OPEN();
	return sg_map_set_user((uint64_t)(uintptr_t)ptr, userdata)
		       ? HSA_STATUS_SUCCESS
		       : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}
