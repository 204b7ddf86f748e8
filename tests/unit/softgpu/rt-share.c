/*
 * Memory that other processes and files see, and the attributes of the host's own pages,
 * from the side of HSA's caller. No kernel runs.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "softgpu/softgpu.h"

#define PAGE 4096

static hsa_agent_t cpu, gpu[2];
static hsa_amd_memory_pool_t vram, host;

/* ------------------------------------------------------------ the fake interpreter */

int sg_exec_run(const struct sg_launch *launch, struct sg_fault *fault)
{
	return 0;
}

int sg_code_open(const char *name, const char *target, const void *base, size_t size,
	const struct sg_code_options *options, struct sg_code **out,
	struct sg_fault *fault)
{
	return -1;
}

void sg_code_close(struct sg_code *code)
{
}

/* ---------------------------------------------------------------------- fixtures */

static hsa_status_t find_agents(hsa_agent_t a, void *data)
{
	hsa_device_type_t type;

	assert_int_equal(hsa_agent_get_info(a, HSA_AGENT_INFO_DEVICE, &type), 0);
	if (type == HSA_DEVICE_TYPE_CPU)
		cpu = a;
	else
		gpu[gpu[0].handle != 0] = a;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t first_pool(hsa_amd_memory_pool_t p, void *data)
{
	*(hsa_amd_memory_pool_t *)data = p;
	return HSA_STATUS_INFO_BREAK;
}

static int open_runtime(void **state)
{
	setenv("RCK_SOFT_TARGET", "gfx1030,gfx1030", 1);
	assert_int_equal(hsa_init(), 0);
	assert_int_equal(hsa_iterate_agents(find_agents, NULL), 0);
	hsa_amd_agent_iterate_memory_pools(gpu[0], first_pool, &vram);
	hsa_amd_agent_iterate_memory_pools(cpu, first_pool, &host);
	return 0;
}

static int close_runtime(void **state)
{
	return hsa_shut_down();
}

static uint8_t *allocate(hsa_amd_memory_pool_t pool, size_t size)
{
	void *p;

	assert_int_equal(hsa_amd_memory_pool_allocate(pool, size, 0, &p), 0);
	return p;
}

/* --------------------------------------------------------------- other processes */

/* In a child without a runtime of ours, as another process would: by the handle alone. */
static int in_child(const hsa_amd_ipc_memory_t *handle, int (*f)(uint8_t *p))
{
	pid_t child = fork();
	int status;

	if (!child) {
		void *p;
		if (hsa_amd_ipc_memory_attach(handle, 0, 1, &gpu[0], &p))
			_exit(99);
		status = f(p);
		if (hsa_amd_ipc_memory_detach(p))
			_exit(98);
		_exit(status);
	}
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int double_it(uint8_t *p)
{
	for (int i = 0; i < 5000; i++)
		p[i] = (uint8_t)(p[i] * 2);
	return p[4999] == (uint8_t)(4999 * 2) ? 0 : 1;
}

static void processes_share(void **state)
{
	uint8_t *p = allocate(vram, 5000);
	hsa_amd_ipc_memory_t h, again;

	for (int i = 0; i < 5000; i++)
		p[i] = (uint8_t)i;
	assert_int_equal(hsa_amd_ipc_memory_create(p, 5000, &h), 0);
	for (int i = 0; i < 5000; i++)
		assert_int_equal(p[i], (uint8_t)i);
	assert_int_equal(hsa_amd_ipc_memory_create(p, 5000, &again), 0);
	assert_memory_equal(&h, &again, sizeof h);
	assert_int_equal(in_child(&h, double_it), 0);
	for (int i = 0; i < 5000; i++)
		assert_int_equal(p[i], (uint8_t)(i * 2));
	hsa_amd_memory_pool_free(p);
}

static void handles_are_checked(void **state)
{
	uint8_t *p = allocate(vram, 3 * PAGE), *h = allocate(host, PAGE);
	hsa_amd_ipc_memory_t good, bad;
	hsa_amd_pointer_info_t info = {.size = sizeof info};
	void *q;

	/* whole allocations of a device, nothing else */
	assert_int_not_equal(hsa_amd_ipc_memory_create(p + PAGE, PAGE, &bad), 0);
	assert_int_not_equal(hsa_amd_ipc_memory_create(p, PAGE, &bad), 0);
	assert_int_not_equal(hsa_amd_ipc_memory_create(p, 4 * PAGE, &bad), 0);
	assert_int_not_equal(hsa_amd_ipc_memory_create(h, PAGE, &bad), 0);
	assert_int_not_equal(hsa_amd_ipc_memory_create(&bad, sizeof bad, &bad), 0);
	assert_int_equal(hsa_amd_ipc_memory_create(p, 3 * PAGE, &good), 0);
	/* every single bit of a handle counts, but for the device's number */
	for (unsigned int i = 0; i < sizeof good * 8; i++) {
		if (i / 32 == 3)
			continue;
		bad = good;
		((uint8_t *)&bad)[i / 8] ^= (uint8_t)(1u << i % 8);
		assert_int_not_equal(
			hsa_amd_ipc_memory_attach(&bad, 0, 1, &gpu[0], &q), 0);
	}
	assert_int_not_equal(
		hsa_amd_ipc_memory_attach(&good, 3 * PAGE + 1, 1, &gpu[0], &q), 0);
	assert_int_equal(hsa_amd_ipc_memory_attach(&good, 3 * PAGE, 1, &gpu[0], &q), 0);
	assert_int_equal(hsa_amd_pointer_info(q, &info, NULL, NULL, NULL), 0);
	assert_int_equal(info.type, HSA_EXT_POINTER_TYPE_IPC);
	assert_int_equal(info.sizeInBytes, 3 * PAGE);
	assert_int_equal(info.agentOwner.handle, gpu[0].handle);
	assert_int_not_equal(hsa_amd_memory_pool_free(q), 0);
	/* it outlives its owner's */
	p[7] = 77;
	hsa_amd_memory_pool_free(p);
	assert_int_equal(((uint8_t *)q)[7], 77);
	assert_int_equal(hsa_amd_ipc_memory_detach(q), 0);
	assert_int_not_equal(hsa_amd_ipc_memory_detach(q), 0);
	assert_int_not_equal(
		hsa_amd_ipc_memory_attach(&good, 3 * PAGE, 1, &gpu[0], &q), 0);
	hsa_amd_memory_pool_free(h);
}

static void *copy_always(void *stop)
{
	uint8_t *a = allocate(vram, 1 << 20), *b = allocate(vram, 1 << 20);

	while (!__atomic_load_n((int *)stop, __ATOMIC_RELAXED))
		hsa_memory_copy(a, b, 1 << 20);
	hsa_amd_memory_pool_free(a);
	hsa_amd_memory_pool_free(b);
	return NULL;
}

/* Blocks become shared while others work without a pause. */
static void shared_under_load(void **state)
{
	pthread_t t[3];
	int stop = 0;

	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, copy_always, &stop);
	for (int i = 0; i < 50; i++) {
		uint8_t *p = allocate(vram, 100000);
		hsa_amd_ipc_memory_t h;

		p[99999] = 9;
		assert_int_equal(hsa_amd_ipc_memory_create(p, 100000, &h), 0);
		assert_int_equal(p[99999], 9);
		hsa_amd_memory_pool_free(p);
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
}

static void as_a_file(void **state)
{
	uint8_t *p = allocate(vram, 4 * PAGE), *h = allocate(host, PAGE), *m;
	uint64_t offset;
	int fd;

	p[PAGE + 3] = 42;
	assert_int_equal(
		hsa_amd_portable_export_dmabuf(p + PAGE, 2 * PAGE, &fd, &offset), 0);
	assert_int_equal(offset, PAGE);
	m = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);
	assert_ptr_not_equal(m, MAP_FAILED);
	assert_int_equal(m[3], 42);
	m[4] = 43;
	assert_int_equal(p[PAGE + 4], 43);
	munmap(m, PAGE);
	assert_int_equal(hsa_amd_portable_close_dmabuf(fd), 0);
	assert_int_not_equal(hsa_amd_portable_close_dmabuf(fd), 0);
	assert_int_not_equal(
		hsa_amd_portable_export_dmabuf(p, 5 * PAGE, &fd, &offset), 0);
	assert_int_equal(hsa_amd_portable_export_dmabuf(h, PAGE, &fd, &offset),
		HSA_STATUS_ERROR_INVALID_AGENT);
	hsa_amd_memory_pool_free(p);
	hsa_amd_memory_pool_free(h);
}

/* -------------------------------------------------------------------- attributes */

typedef hsa_amd_svm_attribute_pair_t pair;

static hsa_status_t set(void *p, size_t size, uint64_t attribute, uint64_t value)
{
	pair a = {attribute, value};

	return hsa_amd_svm_attributes_set(p, size, &a, 1);
}

static uint64_t get(void *p, size_t size, uint64_t attribute)
{
	pair a = {attribute, 0};

	assert_int_equal(hsa_amd_svm_attributes_get(p, size, &a, 1), 0);
	return a.value;
}

static uint64_t access_of(void *p, size_t size, hsa_agent_t agent)
{
	pair a = {HSA_AMD_SVM_ATTRIB_ACCESS_QUERY, agent.handle};

	assert_int_equal(hsa_amd_svm_attributes_get(p, size, &a, 1), 0);
	return a.attribute;
}

static uint8_t *host_pages(size_t n)
{
	void *p = mmap(NULL, n * PAGE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	return p;
}

static bool kernels_may(const uint8_t *p)
{
	uint64_t lo = 0, hi = 0;

	return !sg_map_range(NULL, (uint64_t)(uintptr_t)p, &lo, &hi) &&
	       lo <= (uint64_t)(uintptr_t)p && (uint64_t)(uintptr_t)p < hi;
}

static void attributes_by_page(void **state)
{
	uint8_t *p = host_pages(16);

	assert_int_equal(get(p, 16 * PAGE, HSA_AMD_SVM_ATTRIB_READ_MOSTLY), 0);
	assert_int_equal(get(p, 16 * PAGE, HSA_AMD_SVM_ATTRIB_GLOBAL_FLAG),
		HSA_AMD_SVM_GLOBAL_FLAG_FINE_GRAINED);
	/* a byte is its page */
	assert_int_equal(set(p + 4 * PAGE + 9, 1, HSA_AMD_SVM_ATTRIB_READ_MOSTLY, 1), 0);
	assert_int_equal(get(p + 4 * PAGE, PAGE, HSA_AMD_SVM_ATTRIB_READ_MOSTLY), 1);
	assert_int_equal(get(p + 3 * PAGE, PAGE, HSA_AMD_SVM_ATTRIB_READ_MOSTLY), 0);
	assert_int_equal(get(p + 4 * PAGE, 2 * PAGE, HSA_AMD_SVM_ATTRIB_READ_MOSTLY), 0);
	/* around it, across it */
	assert_int_equal(set(p + 2 * PAGE, 8 * PAGE,
				 HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION, gpu[1].handle),
		0);
	assert_int_equal(
		get(p + 2 * PAGE, 8 * PAGE, HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION),
		gpu[1].handle);
	assert_int_equal(
		get(p + PAGE, 8 * PAGE, HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION), 0);
	assert_int_equal(
		get(p + 3 * PAGE, 8 * PAGE, HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION), 0);
	assert_int_equal(get(p + 4 * PAGE, PAGE, HSA_AMD_SVM_ATTRIB_READ_MOSTLY), 1);
	assert_int_equal(set(p + 3 * PAGE, PAGE, HSA_AMD_SVM_ATTRIB_GLOBAL_FLAG,
				 HSA_AMD_SVM_GLOBAL_FLAG_COARSE_GRAINED),
		0);
	assert_int_equal(get(p, 16 * PAGE, HSA_AMD_SVM_ATTRIB_GLOBAL_FLAG),
		HSA_AMD_SVM_GLOBAL_FLAG_INDETERMINATE);
	assert_int_equal(get(p + 3 * PAGE, PAGE, HSA_AMD_SVM_ATTRIB_GLOBAL_FLAG),
		HSA_AMD_SVM_GLOBAL_FLAG_COARSE_GRAINED);
	assert_int_equal(set(p, PAGE, HSA_AMD_SVM_ATTRIB_MIGRATION_GRANULARITY, 99), 0);
	assert_int_equal(get(p, PAGE, HSA_AMD_SVM_ATTRIB_MIGRATION_GRANULARITY), 18);
	munmap(p, 16 * PAGE);
}

static void wrong_attributes(void **state)
{
	uint8_t *p = host_pages(1);
	pair twice[] = {
		{HSA_AMD_SVM_ATTRIB_READ_MOSTLY, 0}, {HSA_AMD_SVM_ATTRIB_READ_MOSTLY, 1}};

	assert_int_equal(set(p, PAGE, HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE, (uintptr_t)p),
		HSA_STATUS_ERROR_INVALID_AGENT);
	assert_int_equal(set(p, PAGE, HSA_AMD_SVM_ATTRIB_PREFETCH_LOCATION, 0),
		HSA_STATUS_ERROR_INVALID_ARGUMENT);
	assert_int_equal(set(p, PAGE, HSA_AMD_SVM_ATTRIB_GLOBAL_FLAG, 2),
		HSA_STATUS_ERROR_INVALID_ARGUMENT);
	assert_int_equal(set(p, PAGE, 4711, 0), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	assert_int_equal(set(p, 0, HSA_AMD_SVM_ATTRIB_READ_MOSTLY, 1),
		HSA_STATUS_ERROR_INVALID_ARGUMENT);
	assert_int_equal(set(p, SIZE_MAX, HSA_AMD_SVM_ATTRIB_READ_MOSTLY, 1),
		HSA_STATUS_ERROR_INVALID_ARGUMENT);
	assert_int_equal(hsa_amd_svm_attributes_set(p, PAGE, twice, 2),
		HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS);
	assert_int_equal(get(p, PAGE, HSA_AMD_SVM_ATTRIB_READ_MOSTLY), 0);
	munmap(p, PAGE);
}

static void access_opens_pages(void **state)
{
	uint8_t *p = host_pages(4);

	assert_false(kernels_may(p));
	assert_int_equal(access_of(p, PAGE, gpu[0]), HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS);
	assert_int_equal(access_of(p, PAGE, cpu), HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE);
	assert_int_equal(set(p + PAGE, 2 * PAGE, HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE,
				 gpu[0].handle),
		0);
	assert_true(kernels_may(p + PAGE) && kernels_may(p + 3 * PAGE - 1));
	assert_false(kernels_may(p) || kernels_may(p + 3 * PAGE));
	assert_int_equal(set(p + PAGE, PAGE, HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE_IN_PLACE,
				 gpu[0].handle),
		0);
	assert_int_equal(access_of(p + PAGE, PAGE, gpu[0]),
		HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE_IN_PLACE);
	assert_int_equal(access_of(p + PAGE, 2 * PAGE, gpu[0]),
		HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE);
	assert_int_equal(access_of(p + PAGE, 3 * PAGE, gpu[0]),
		HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS);
	assert_int_equal(
		set(p + PAGE, PAGE, HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS, gpu[0].handle),
		0);
	assert_false(kernels_may(p + PAGE));
	/* what the host has unmapped is gone, whatever its attributes */
	munmap(p, 4 * PAGE);
	assert_false(kernels_may(p + 2 * PAGE));
}

static void prefetch(void **state)
{
	uint8_t *p = host_pages(4);
	hsa_signal_t dep, done;

	assert_int_equal(hsa_signal_create(1, 0, NULL, &dep), 0);
	assert_int_equal(hsa_signal_create(1, 0, NULL, &done), 0);
	assert_int_equal(
		hsa_amd_svm_prefetch_async(p, 3 * PAGE, gpu[0], 1, &dep, done), 0);
	usleep(20000);
	assert_int_equal(hsa_signal_load_relaxed(done), 1);
	hsa_signal_store_relaxed(dep, 0);
	assert_int_equal(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_EQ, 0,
				 5000000000, HSA_WAIT_STATE_BLOCKED),
		0);
	assert_int_equal(
		get(p, 3 * PAGE, HSA_AMD_SVM_ATTRIB_PREFETCH_LOCATION), gpu[0].handle);
	assert_int_equal(get(p, 4 * PAGE, HSA_AMD_SVM_ATTRIB_PREFETCH_LOCATION), 0);
	hsa_signal_destroy(dep);
	hsa_signal_destroy(done);
	munmap(p, 4 * PAGE);
}

/* Blocks of 2 MiB begin at such a border, and an overrun of any faults. */
static void large_blocks_are_aligned(void **state)
{
	for (size_t size = 1 << 20; size <= 5 << 20; size += 1 << 20) {
		uint8_t *p = allocate(vram, size + 1);

		if (size >= 2 << 20)
			assert_int_equal((uintptr_t)p % (2 << 20), 0);
		p[0] = p[size] = 1;
		assert_false(kernels_may(p + size + 1));
		hsa_amd_memory_pool_free(p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(processes_share),
		cmocka_unit_test(handles_are_checked),
		cmocka_unit_test(shared_under_load),
		cmocka_unit_test(as_a_file),
		cmocka_unit_test(attributes_by_page),
		cmocka_unit_test(wrong_attributes),
		cmocka_unit_test(access_opens_pages),
		cmocka_unit_test(prefetch),
		cmocka_unit_test(large_blocks_are_aligned),
	};

	return cmocka_run_group_tests(tests, open_runtime, close_runtime);
}
