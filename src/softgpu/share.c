/*
 * Memory for other processes (hsa_amd_ipc_memory_*) and as a file
 * (hsa_amd_portable_*_dmabuf). Device memory is anonymous until somebody asks for it;
 * then its pages become a file without a name, in place. A handle names that file by
 * process and descriptor, so nothing is left behind when the owner dies, and who maps it
 * needs to be the same user.
 */
#include "softgpu/softgpu.h"

#include "util/range.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PAGE UINT64_C(4096)
#define WAIT 10 /* seconds for kernels to end */

/* ------------------------------------------------------------- kernels at rest */

/* Held for reading while a kernel or a copy uses memory, for writing while pages change.
 */
static pthread_rwlock_t use;
static pthread_once_t use_once = PTHREAD_ONCE_INIT;

static void make_use(void)
{
	pthread_rwlockattr_t a;

	/* kernels follow one another without a gap: without this nobody would ever get in
	 */
	pthread_rwlockattr_init(&a);
	pthread_rwlockattr_setkind_np(&a, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(&use, &a);
	pthread_rwlockattr_destroy(&a);
}

void sg_memory_use(void)
{
	pthread_once(&use_once, make_use);
	pthread_rwlock_rdlock(&use);
}

void sg_memory_unuse(void)
{
	pthread_rwlock_unlock(&use);
}

static bool stop_use(void)
{
	struct timespec until;

	pthread_once(&use_once, make_use);
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += WAIT;
	return !pthread_rwlock_clockwrlock(&use, CLOCK_MONOTONIC, &until);
}

/* --------------------------------------------------------------- pages as a file */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int fd_of(const struct sg_block *b)
{
	return (int)(intptr_t)b->owner - 1;
}

/* Copies what is not zero, so that a large block that nobody has filled stays small. */
static void copy_pages(uint8_t *to, const uint8_t *from, uint64_t size)
{
	static const uint8_t zeros[4096];

	for (uint64_t at = 0; at < size; at += PAGE)
		if (memcmp(from + at, zeros, PAGE) != 0)
			memcpy(to + at, from + at, PAGE);
}

static hsa_status_t make_file(const struct sg_block *b, int *out)
{
	uint64_t whole = rck_align_up(b->size, PAGE);
	hsa_status_t s = HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	void *p = MAP_FAILED;
	int fd = memfd_create("rocmcheck device memory", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, (off_t)whole))
		goto out;
	p = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		goto out;
	if (!stop_use()) {
		sg_log(SG_LOG_ERROR,
			"memory at 0x%" PRIx64
			" cannot be shared: kernels still run after %d s",
			b->base, WAIT);
		goto out;
	}
	copy_pages(p, (void *)(uintptr_t)b->base, whole);
	if (mmap((void *)(uintptr_t)b->base, whole, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED) {
		sg_map_set_owner(b->base, SG_BLOCK_POOL, (void *)(intptr_t)(fd + 1));
		*out = fd;
		s = HSA_STATUS_SUCCESS;
	}
	sg_memory_unuse();
out:
	if (p != MAP_FAILED)
		munmap(p, whole);
	if (fd >= 0 && s != HSA_STATUS_SUCCESS)
		close(fd);
	return s;
}

/* The file of the block of device memory that holds all of [ptr, ptr + size). */
static hsa_status_t file_of(const void *ptr, size_t size, struct sg_block *b, int *fd)
{
	uint64_t p = (uint64_t)(uintptr_t)ptr;
	hsa_status_t s = HSA_STATUS_SUCCESS;

	pthread_mutex_lock(&lock);
	if (!sg_map_find(p, b) || b->kind != SG_BLOCK_POOL ||
		!rck_range_ok(p - b->base, size, b->size))
		s = HSA_STATUS_ERROR_INVALID_ALLOCATION;
	else if (!b->pool->agent->is_device)
		s = HSA_STATUS_ERROR_INVALID_AGENT;
	else if (b->owner)
		*fd = fd_of(b);
	else
		s = make_file(b, fd);
	pthread_mutex_unlock(&lock);
	return s;
}

void sg_share_free(const struct sg_block *b)
{
	if (b->owner)
		close(fd_of(b));
}

/* ------------------------------------------------------------------- processes */

/* What is in the 32 bytes that one process hands to another. */
struct handle {
	char magic[4];
	uint32_t pid, fd, node;
	uint64_t size, inode;
};

_Static_assert(sizeof(struct handle) == sizeof(hsa_amd_ipc_memory_t), "a handle is full");

static const char magic[4] = "rck";

hsa_status_t hsa_amd_ipc_memory_create(
	void *ptr, size_t len, hsa_amd_ipc_memory_t *handle)
{
	struct handle h = {.pid = (uint32_t)getpid()};
	struct sg_block b;
	struct stat st;
	int fd;

	SG_CHECK_OPEN();
	if (!ptr || !len || !handle)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	/* whole allocations only: ROCr's rule */
	if (file_of(ptr, len, &b, &fd) || b.base != (uint64_t)(uintptr_t)ptr ||
		b.size != len || fstat(fd, &st))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	memcpy(h.magic, magic, sizeof h.magic);
	h.fd = (uint32_t)fd;
	h.node = b.pool->agent->node;
	h.size = b.size;
	h.inode = st.st_ino;
	memcpy(handle, &h, sizeof h);
	return HSA_STATUS_SUCCESS;
}

/* The file that a handle names, opened here; -1: it is not there, or is another's. */
static int open_handle(const struct handle *h)
{
	char path[64];
	struct stat st;
	int fd;

	if (memcmp(h->magic, magic, sizeof magic) != 0 || !h->size)
		return -1;
	snprintf(path, sizeof path, "/proc/%" PRIu32 "/fd/%" PRIu32, h->pid, h->fd);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd >= 0 && (fstat(fd, &st) || st.st_ino != h->inode ||
			       (uint64_t)st.st_size != rck_align_up(h->size, PAGE))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static struct sg_pool *device_pool(struct sg_agent *a)
{
	for (size_t i = 0; i < a->n_pools; i++)
		if (a->pools[i].kind == SG_POOL_DEVICE_COARSE)
			return &a->pools[i];
	return NULL;
}

/* As pool memory is: a page that faults behind it. */
static void *map_file(int fd, uint64_t whole)
{
	uint8_t *p = mmap(NULL, whole + PAGE, PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	if (mmap(p, whole, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) ==
		MAP_FAILED) {
		munmap(p, whole + PAGE);
		return NULL;
	}
	return p;
}

hsa_status_t hsa_amd_ipc_memory_attach(const hsa_amd_ipc_memory_t *handle, size_t len,
	uint32_t num_agents, const hsa_agent_t *mapping_agents, void **mapped_ptr)
{
	struct sg_block b = {.kind = SG_BLOCK_IPC, .access = true};
	struct sg_agent *agent = NULL;
	struct handle h;
	uint64_t whole;
	int fd;

	SG_CHECK_OPEN();
	if (!handle || !mapped_ptr || (num_agents && !mapping_agents))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	memcpy(&h, handle, sizeof h);
	for (uint32_t i = 0; i < num_agents; i++) {
		struct sg_agent *a = sg_agent_of(mapping_agents[i]);
		if (!a)
			return HSA_STATUS_ERROR_INVALID_AGENT;
		if (!agent && a->is_device)
			agent = a;
	}
	if (h.node < sg_n_agents && sg_agents[h.node].is_device)
		agent = &sg_agents[h.node];
	if (!agent || len > h.size || h.size > UINT64_C(1) << 47)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	fd = open_handle(&h);
	if (fd < 0) {
		sg_log(SG_LOG_API, "a memory handle whose process or memory is gone");
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	}
	whole = rck_align_up(h.size, PAGE);
	b.base = (uint64_t)(uintptr_t)map_file(fd, whole);
	close(fd);
	b.size = h.size;
	b.pool = device_pool(agent);
	if (!b.base)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	if (sg_map_add(&b)) {
		munmap((void *)(uintptr_t)b.base, whole + PAGE);
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	}
	*mapped_ptr = (void *)(uintptr_t)b.base;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_ipc_memory_detach(void *mapped_ptr)
{
	struct sg_block b;

	SG_CHECK_OPEN();
	if (!mapped_ptr)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (sg_map_remove((uint64_t)(uintptr_t)mapped_ptr, SG_BLOCK_IPC, &b))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	munmap(mapped_ptr, rck_align_up(b.size, PAGE) + PAGE);
	return HSA_STATUS_SUCCESS;
}

/* ----------------------------------------------------------------------- files */

hsa_status_t hsa_amd_portable_export_dmabuf_v2(
	const void *ptr, size_t size, int *dmabuf, uint64_t *offset, uint64_t flags)
{
	struct sg_block b;
	hsa_status_t s;
	int fd;

	SG_CHECK_OPEN();
	if (!ptr || !size || !dmabuf || !offset)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	s = file_of(ptr, size, &b, &fd);
	if (s != HSA_STATUS_SUCCESS)
		return s;
	fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	*dmabuf = fd;
	*offset = (uint64_t)(uintptr_t)ptr - b.base;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_portable_export_dmabuf(
	const void *ptr, size_t size, int *dmabuf, uint64_t *offset)
{
	return hsa_amd_portable_export_dmabuf_v2(ptr, size, dmabuf, offset, 0);
}

hsa_status_t hsa_amd_portable_close_dmabuf(int dmabuf)
{
	SG_CHECK_OPEN();
	return close(dmabuf) ? HSA_STATUS_ERROR_RESOURCE_FREE : HSA_STATUS_SUCCESS;
}
