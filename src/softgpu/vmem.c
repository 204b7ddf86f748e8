/* Virtual memory (hsa_amd_vmem_*, ROCm 6): address ranges, memory handles, mappings. */
#include "softgpu/softgpu.h"

#include "util/range.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE UINT64_C(4096)

/* Memory without an address: a file of no name. */
struct memory {
	int fd;
	size_t size;
	struct sg_pool *pool;
	hsa_amd_memory_type_t type;
	unsigned int references; /* handles and mappings */
	struct memory *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct memory *memories;

static struct memory *memory_of(hsa_amd_vmem_alloc_handle_t h)
{
	struct memory *m = memories;

	while (m && (uint64_t)(uintptr_t)m != h.handle)
		m = m->next;
	return m;
}

/* lock held */
static void put(struct memory *m)
{
	if (--m->references)
		return;
	for (struct memory **p = &memories; *p; p = &(*p)->next)
		if (*p == m) {
			*p = m->next;
			break;
		}
	if (m->pool && m->pool->agent->is_device)
		m->pool->agent->used -= m->size;
	close(m->fd);
	free(m);
}

hsa_status_t hsa_amd_vmem_address_reserve_align(
	void **va, size_t size, uint64_t address, uint64_t alignment, uint64_t flags)
{
	struct sg_block b = {.size = size, .kind = SG_BLOCK_RESERVED};
	uint64_t room, start;
	uint8_t *p;

	SG_CHECK_OPEN();
	if (!va || !size || size % PAGE || alignment & (alignment - 1))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (alignment < PAGE)
		alignment = PAGE;
	if (size > UINT64_MAX - alignment)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	room = alignment == PAGE ? size : size + alignment;
	p = mmap((void *)(uintptr_t)address, room, PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	start = rck_align_up((uint64_t)(uintptr_t)p, alignment);
	if (start > (uint64_t)(uintptr_t)p)
		munmap(p, start - (uint64_t)(uintptr_t)p);
	if (start + size < (uint64_t)(uintptr_t)p + room)
		munmap((void *)(uintptr_t)(start + size),
			(uint64_t)(uintptr_t)p + room - start - size);
	b.base = start;
	if (sg_map_add(&b)) {
		munmap((void *)(uintptr_t)start, size);
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	}
	*va = (void *)(uintptr_t)start;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_vmem_address_reserve(
	void **va, size_t size, uint64_t address, uint64_t flags)
{
	return hsa_amd_vmem_address_reserve_align(va, size, address, 0, flags);
}

hsa_status_t hsa_amd_vmem_address_free(void *va, size_t size)
{
	struct sg_block b;

	SG_CHECK_OPEN();
	if (!va || !size)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (sg_map_remove((uint64_t)(uintptr_t)va, SG_BLOCK_RESERVED, &b))
		return HSA_STATUS_ERROR_INVALID_ALLOCATION;
	if (b.size != size) {
		sg_map_add(&b);
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	}
	munmap(va, size);
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t add_memory(int fd, size_t size, struct sg_pool *pool,
	hsa_amd_memory_type_t type, hsa_amd_vmem_alloc_handle_t *handle)
{
	struct memory *m = calloc(1, sizeof *m);

	if (!m) {
		close(fd);
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	}
	*m = (struct memory){fd, size, pool, type, 1};
	if (pool && pool->agent->is_device)
		pool->agent->used += size;
	pthread_mutex_lock(&lock);
	m->next = memories;
	memories = m;
	pthread_mutex_unlock(&lock);
	handle->handle = (uint64_t)(uintptr_t)m;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_vmem_handle_create(hsa_amd_memory_pool_t pool, size_t size,
	hsa_amd_memory_type_t type, uint64_t flags,
	hsa_amd_vmem_alloc_handle_t *memory_handle)
{
	struct sg_pool *p = sg_pool_of(pool);
	int fd;

	SG_CHECK_OPEN();
	if (!p || p->kind == SG_POOL_GROUP)
		return SG_STATUS_INVALID_POOL;
	if (!memory_handle || !size || size % PAGE)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (size > p->size)
		return HSA_STATUS_ERROR_INVALID_ALLOCATION;
	if (p->agent->is_device && size > sg_agent_available(p->agent))
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	fd = memfd_create("softgpu", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, (off_t)size)) {
		if (fd >= 0)
			close(fd);
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	}
	return add_memory(fd, size, p, type, memory_handle);
}

hsa_status_t hsa_amd_vmem_handle_release(hsa_amd_vmem_alloc_handle_t memory_handle)
{
	struct memory *m;

	SG_CHECK_OPEN();
	pthread_mutex_lock(&lock);
	m = memory_of(memory_handle);
	if (m)
		put(m);
	pthread_mutex_unlock(&lock);
	return m ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ALLOCATION;
}

/*
 * A mapping replaces a part of its reserved block, which stays in the map as up to two
 * blocks around it; unmapping gives the part back. Nothing is accessible until
 * hsa_amd_vmem_set_access says so.
 */
static hsa_status_t map_locked(
	struct memory *m, uint64_t va, size_t size, size_t in_offset)
{
	struct sg_block r, part = {va, size, SG_BLOCK_VMEM, false, m->pool, NULL, m};
	struct sg_block before, after;

	if (!sg_map_find(va, &r) || r.kind != SG_BLOCK_RESERVED ||
		!rck_range_ok(va - r.base, size, r.size))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (mmap((void *)(uintptr_t)va, size, PROT_NONE, MAP_SHARED | MAP_FIXED, m->fd,
		    (off_t)in_offset) == MAP_FAILED)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	before = after = r;
	before.size = va - r.base;
	after.base = va + size;
	after.size = r.base + r.size - after.base;
	sg_map_remove(r.base, SG_BLOCK_RESERVED, NULL);
	if ((before.size && sg_map_add(&before)) || sg_map_add(&part) ||
		(after.size && sg_map_add(&after)))
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	m->references++;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_vmem_map(void *va, size_t size, size_t in_offset,
	hsa_amd_vmem_alloc_handle_t memory_handle, uint64_t flags)
{
	hsa_status_t s = HSA_STATUS_ERROR_INVALID_ALLOCATION;
	struct memory *m;

	SG_CHECK_OPEN();
	if (!va || !size || size % PAGE || in_offset % PAGE || (uintptr_t)va % PAGE)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	pthread_mutex_lock(&lock);
	m = memory_of(memory_handle);
	if (m && rck_range_ok(in_offset, size, m->size))
		s = map_locked(m, (uint64_t)(uintptr_t)va, size, in_offset);
	pthread_mutex_unlock(&lock);
	return s;
}

/* Joins the reserved block at base with its reserved neighbours. */
static void merge(struct sg_block part)
{
	struct sg_block n;

	if (part.base && sg_map_find(part.base - 1, &n) && n.kind == SG_BLOCK_RESERVED) {
		sg_map_remove(n.base, SG_BLOCK_RESERVED, NULL);
		part.base = n.base;
		part.size += n.size;
	}
	if (sg_map_find(part.base + part.size, &n) && n.kind == SG_BLOCK_RESERVED) {
		sg_map_remove(n.base, SG_BLOCK_RESERVED, NULL);
		part.size += n.size;
	}
	sg_map_add(&part);
}

hsa_status_t hsa_amd_vmem_unmap(void *va, size_t size)
{
	uint64_t base = (uint64_t)(uintptr_t)va;
	struct sg_block b;

	SG_CHECK_OPEN();
	if (!va || !size)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	pthread_mutex_lock(&lock);
	if (!sg_map_find(base, &b) || b.kind != SG_BLOCK_VMEM || b.base != base ||
		b.size != size) {
		pthread_mutex_unlock(&lock);
		return HSA_STATUS_ERROR_INVALID_ALLOCATION;
	}
	sg_map_remove(base, SG_BLOCK_VMEM, NULL);
	if (mmap(va, size, PROT_NONE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
		    0) == MAP_FAILED)
		munmap(va, size);
	merge((struct sg_block){base, size, SG_BLOCK_RESERVED});
	put(b.owner);
	pthread_mutex_unlock(&lock);
	return HSA_STATUS_SUCCESS;
}

static int protection(hsa_access_permission_t p)
{
	switch ((int)p) {
	case HSA_ACCESS_PERMISSION_RO:
		return PROT_READ;
	case HSA_ACCESS_PERMISSION_WO:
	case HSA_ACCESS_PERMISSION_RW:
		return PROT_READ | PROT_WRITE;
	default:
		return PROT_NONE;
	}
}

hsa_status_t hsa_amd_vmem_set_access(
	void *va, size_t size, const hsa_amd_memory_access_desc_t *desc, size_t desc_cnt)
{
	uint64_t at = (uint64_t)(uintptr_t)va;
	int prot = PROT_NONE;

	SG_CHECK_OPEN();
	if (!va || !size || !desc || !desc_cnt || !rck_range_ok(at, size, UINT64_MAX))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	for (size_t i = 0; i < desc_cnt; i++) {
		if (!sg_agent_of(desc[i].agent_handle))
			return HSA_STATUS_ERROR_INVALID_AGENT;
		prot |= protection(desc[i].permissions);
	}
	for (uint64_t end = at + size; at < end;) {
		struct sg_block b;
		if (!sg_map_find(at, &b) || b.kind != SG_BLOCK_VMEM)
			return HSA_STATUS_ERROR_INVALID_ALLOCATION;
		/* the host's protection stands for all agents: a device is the host */
		if (mprotect((void *)(uintptr_t)b.base, b.size, prot))
			return HSA_STATUS_ERROR;
		sg_map_set_access(b.base, SG_BLOCK_VMEM, prot & PROT_WRITE);
		at = b.base + b.size;
	}
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_vmem_get_access(
	void *va, hsa_access_permission_t *perms, hsa_agent_t agent_handle)
{
	struct sg_block b;

	SG_CHECK_OPEN();
	if (!perms)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!sg_agent_of(agent_handle))
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (!sg_map_find((uint64_t)(uintptr_t)va, &b) || b.kind != SG_BLOCK_VMEM)
		return HSA_STATUS_ERROR_INVALID_ALLOCATION;
	*perms = b.access ? HSA_ACCESS_PERMISSION_RW
			  : (hsa_access_permission_t)SG_ACCESS_PERMISSION_NONE;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_vmem_export_shareable_handle(
	int *dmabuf_fd, hsa_amd_vmem_alloc_handle_t handle, uint64_t flags)
{
	struct memory *m;
	int fd = -1;

	SG_CHECK_OPEN();
	if (!dmabuf_fd)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	pthread_mutex_lock(&lock);
	m = memory_of(handle);
	if (m)
		fd = dup(m->fd);
	pthread_mutex_unlock(&lock);
	if (fd < 0)
		return m ? HSA_STATUS_ERROR_OUT_OF_RESOURCES
			 : HSA_STATUS_ERROR_INVALID_ALLOCATION;
	*dmabuf_fd = fd;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_vmem_import_shareable_handle(
	int dmabuf_fd, hsa_amd_vmem_alloc_handle_t *handle)
{
	struct stat st;
	int fd;

	SG_CHECK_OPEN();
	if (!handle)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (fstat(dmabuf_fd, &st) || st.st_size <= 0)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	fd = dup(dmabuf_fd);
	if (fd < 0)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	return add_memory(fd, (size_t)st.st_size, NULL, MEMORY_TYPE_PINNED, handle);
}

hsa_status_t hsa_amd_vmem_retain_alloc_handle(
	hsa_amd_vmem_alloc_handle_t *memory_handle, void *addr)
{
	struct sg_block b;
	struct memory *m;

	SG_CHECK_OPEN();
	if (!memory_handle)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	pthread_mutex_lock(&lock);
	m = sg_map_find((uint64_t)(uintptr_t)addr, &b) && b.kind == SG_BLOCK_VMEM
		    ? b.owner
		    : NULL;
	if (m) {
		m->references++;
		memory_handle->handle = (uint64_t)(uintptr_t)m;
	}
	pthread_mutex_unlock(&lock);
	return m ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ALLOCATION;
}

hsa_status_t hsa_amd_vmem_get_alloc_properties_from_handle(
	hsa_amd_vmem_alloc_handle_t memory_handle, hsa_amd_memory_pool_t *pool,
	hsa_amd_memory_type_t *type)
{
	struct memory *m;

	SG_CHECK_OPEN();
	if (!pool || !type)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	pthread_mutex_lock(&lock);
	m = memory_of(memory_handle);
	if (m) {
		*pool = sg_pool_handle(m->pool);
		*type = m->type;
	}
	pthread_mutex_unlock(&lock);
	return m ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ALLOCATION;
}
