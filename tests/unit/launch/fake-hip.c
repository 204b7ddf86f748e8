/*
 * A HIP runtime that runs the bundled kernels on the CPU, in the kernels' own order of
 * operations, for tests of the launcher. FAKE_HIP_FAULT makes it go wrong in one way:
 *
 *	value	one element of the first output is off by one part in 10^3
 *	guard	a store beside the first output
 *	gap	every output element of a GEMM row's padding is stored to
 *	unwritten	the last element of each launch is not stored
 *	nan	NaN inputs count as zero
 *	launch	hipModuleLaunchKernel fails
 *	crash	hipModuleLaunchKernel is killed
 */
#include "launch/number.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#include <elf.h>
#include <signal.h>
#include <stdlib.h>

#define API __attribute__((visibility("default")))

static const char *fault(void)
{
	const char *f = getenv("FAKE_HIP_FAULT");

	return f ? f : "";
}

static bool fault_is(const char *name)
{
	return !strcmp(fault(), name);
}

static float load(enum rck_elem e, const void *p, int64_t i)
{
	float v = rck_elem_load(e, p, (size_t)i);

	return isnan(v) && fault_is("nan") ? 0.0f : v;
}

static void *pointer(void **slots, int i)
{
	return *(void **)slots[i];
}

static int64_t i64(void **slots, int i)
{
	return *(int64_t *)slots[i];
}

static int32_t i32(void **slots, int i)
{
	return *(int32_t *)slots[i];
}

static float f32(void **slots, int i)
{
	return *(float *)slots[i];
}

static void rms_row(const struct rck_bundled *k, void **s, int64_t row)
{
	const int64_t hidden = i64(s, 4), at = row * hidden;
	float lds[256] = {0}, scale;

	for (int64_t i = 0; i < hidden; i++) {
		float v = load(k->in, pointer(s, 1), at + i);

		if (pointer(s, 3)) {
			v += load(k->res, pointer(s, 3), at + i);
			rck_elem_store(k->res, pointer(s, 3), (size_t)(at + i), v);
			v = load(k->res, pointer(s, 3), at + i);
		}
		lds[i % 256] += v * v;
	}
	for (int width = 128; width; width /= 2)
		for (int t = 0; t < width; t++)
			lds[t] += lds[t + width];
	scale = 1.0f / sqrtf(lds[0] / (float)hidden + f32(s, 5));
	for (int64_t i = 0; i < hidden; i++) {
		float w = load(k->in, pointer(s, 2), i);
		float v = pointer(s, 3) ? load(k->res, pointer(s, 3), at + i)
					: load(k->in, pointer(s, 1), at + i);

		rck_elem_store(k->out, pointer(s, 0), (size_t)(at + i),
			v * scale * (i32(s, 6) ? 1.0f + w : w));
	}
}

static float gemm_dot(
	const struct rck_bundled *k, void **s, int64_t z, int row, int column)
{
	const int64_t a0 = k->batched ? z * i64(s, 13) : 0;
	const int64_t b0 = k->batched ? z * i64(s, 14) : 0;
	float sum = 0.0f;

	for (int i = 0; i < i32(s, 5); i++) {
		int64_t a = i32(s, 11) ? i * i64(s, 6) + row : row * i64(s, 6) + i;
		int64_t b = i32(s, 12) ? column * i64(s, 7) + i : i * i64(s, 7) + column;

		sum += load(k->in, pointer(s, 1), a0 + a) *
		       load(k->in, pointer(s, 2), b0 + b);
	}
	return sum;
}

static void gemm_row(const struct rck_bundled *k, void **s, int64_t z, int row)
{
	const int64_t c0 = (k->batched ? z * i64(s, 15) : 0) + row * i64(s, 8);
	const int n = i32(s, 4);

	for (int column = 0; column < n; column++) {
		float v = f32(s, 9) * gemm_dot(k, s, z, row, column);

		if (f32(s, 10) != 0.0f)
			v += f32(s, 10) * load(k->out, pointer(s, 0), c0 + column);
		rck_elem_store(k->out, pointer(s, 0), (size_t)(c0 + column), v);
	}
	if (fault_is("gap"))
		for (int64_t i = n; i < i64(s, 8); i++)
			rck_elem_store(k->out, pointer(s, 0), (size_t)(c0 + i), 1.0f);
}

static void apply_fault(const struct rck_bundled *k, void **s, size_t last)
{
	if (fault_is("value"))
		rck_elem_store(k->out, pointer(s, 0), 0,
			rck_elem_load(k->out, pointer(s, 0), 0) *
				(k->out == RCK_ELEM_F32 ? 1.001f : 1.02f));
	if (fault_is("guard"))
		((uint8_t *)pointer(s, 0))[-1] ^= 0x55;
	if (fault_is("unwritten"))
		rck_elem_store(k->out, pointer(s, 0), last, 0x1p+50f);
}

API int hipModuleLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
	unsigned by, unsigned bz, unsigned lds, void *stream, void **s, void **extra)
{
	const struct rck_bundled *k = f;
	size_t last;

	if (fault_is("launch"))
		return 719;
	if (fault_is("crash"))
		raise(SIGKILL);
	if (bx != k->block[0] || by != k->block[1] || bz != 1 || !gx || !gy || !gz)
		return 1;
	if (k->family == RCK_BUNDLED_RMSNORM) {
		for (unsigned row = 0; row < gx; row++)
			rms_row(k, s, row);
		last = (size_t)(gx * i64(s, 4) - 1);
	} else {
		const int m = i32(s, 3), n = i32(s, 4);

		if (gx != (unsigned)(n + 15) / 16 || gy != (unsigned)(m + 15) / 16)
			return 1;
		for (unsigned z = 0; z < gz; z++)
			for (int row = 0; row < m; row++)
				gemm_row(k, s, z, row);
		last = (size_t)((m - 1) * i64(s, 8) + n - 1);
	}
	apply_fault(k, s, last);
	return 0;
}

/* Bytes of an image: up to the end of an ELF's section headers, or of the text. */
static size_t image_size(const char *image)
{
	const Elf64_Ehdr *e = (const Elf64_Ehdr *)image;

	if (memcmp(image, ELFMAG, SELFMAG))
		return strlen(image);
	return e->e_shoff + (size_t)e->e_shnum * e->e_shentsize;
}

/* A module is its image: kernels are told apart by the names in it. */
API int hipModuleLoadData(void **module, const void *image)
{
	*module = (void *)(uintptr_t)image;
	return memcmp(image, "FAKE", 4) && memcmp(image, ELFMAG, SELFMAG) ? 209 : 0;
}

API int hipModuleGetFunction(void **f, void *module, const char *name)
{
	*f = (void *)(uintptr_t)rck_bundled_find(name);
	return *f && memmem(module, image_size(module), name, strlen(name)) ? 0 : 500;
}

API int hipMalloc(void **p, size_t n)
{
	*p = malloc(n);
	return *p ? 0 : 2;
}

API int hipFree(void *p)
{
	free(p);
	return 0;
}

API int hipMemcpy(void *to, const void *from, size_t n, int kind)
{
	memcpy(to, from, n);
	return 0;
}

API int hipGetDeviceCount(int *n)
{
	*n = 1;
	return 0;
}

API int hipDeviceGetName(char *name, int size, int device)
{
	strncpy(name, "a fake device", (size_t)size);
	return 0;
}

API int hipDeviceGetPCIBusId(char *id, int size, int device)
{
	strncpy(id, "0000:01:00.0", (size_t)size);
	return 0;
}

API int hipRuntimeGetVersion(int *version)
{
	*version = 60443484;
	return 0;
}

API const char *hipGetErrorName(int error)
{
	return error == 719 ? "hipErrorLaunchFailure" : "hipErrorFake";
}

API const char *hipGetErrorString(int error)
{
	return error == 719 ? "unspecified launch failure" : "a fake error";
}

API int hipEventElapsedTime(float *ms, void *from, void *to)
{
	static unsigned int n;

	*ms = (float)(1 + n++ * 8 % 21); /* 1 to 21, each once, in no order */
	return 0;
}

/* The HSA runtime below: one CPU, and one GPU at HIP's PCI address. */
typedef int (*agent_fn)(uint64_t agent, void *data);

API int hsa_iterate_agents(agent_fn fn, void *data)
{
	int stop = fn(1, data);

	return stop ? stop : fn(2, data);
}

API int hsa_agent_get_info(uint64_t agent, int what, void *value)
{
	if (what == 17)
		*(uint32_t *)value = agent == 2;
	else
		*(uint32_t *)value = what == 0xa006 ? 1 << 8 : 0;
	return 0;
}

API int hsa_agent_iterate_isas(uint64_t agent, agent_fn fn, void *data)
{
	return fn(7, data);
}

API int hsa_isa_get_info_alt(uint64_t isa, int what, void *value)
{
	strcpy(value, "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-");
	return what != 1 || isa != 7;
}

#define NOTHING(name)                                                                    \
	API int name(void)                                                               \
	{                                                                                \
		return 0;                                                                \
	}
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
NOTHING(hipInit)
NOTHING(hipSetDevice)
NOTHING(hipModuleUnload)
NOTHING(hipStreamCreate)
NOTHING(hipStreamDestroy)
NOTHING(hipStreamSynchronize)
NOTHING(hipEventCreate)
NOTHING(hipEventRecord)
NOTHING(hipEventSynchronize)
#ifndef FAKE_HIP_INCOMPLETE
NOTHING(hipEventDestroy)
#endif
