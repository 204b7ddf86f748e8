// HIP programs for the software device: the runtime's own affairs, launches, copies.
#include "rt-hip.h"

#include <hip/hip_cooperative_groups.h>

static const size_t sizes[] = {1, 2, 3, 4, 7, 16, 63, 64, 255, 256, 1000, 4095, 4096, 4097,
	65535, 65537, 1 << 20, (1 << 20) + 3, (4 << 20) + 1, 20000001};

// ------------------------------------------------------------------------ no kernel runs

static void count()
{
	int n = 0;

	OK(hipGetDeviceCount(&n));
	CHECK(n >= 1);
	OK(hipSetDevice(n - 1));
	FAILS(hipSetDevice(n), hipErrorInvalidDevice);
}

static void properties()
{
	hipDeviceProp_t p;
	int lanes = 0;

	OK(hipGetDeviceProperties(&p, 0));
	CHECK(strstr(p.name, "software"));
	CHECK(!strncmp(p.gcnArchName, "gfx", 3));
	CHECK(p.totalGlobalMem >= (size_t)16 << 30);
	CHECK(p.warpSize == 32 || p.warpSize == 64);
	CHECK(p.maxThreadsPerBlock == 1024 && p.sharedMemPerBlock == 65536);
	CHECK(p.multiProcessorCount > 0 && p.clockRate > 100000);
	OK(hipDeviceGetAttribute(&lanes, hipDeviceAttributeWarpSize, 0));
	CHECK(lanes == p.warpSize);
}

static void allocate()
{
	size_t before, total, after;
	void *p, *q;

	OK(hipMalloc(&p, 100));
	OK(hipMalloc(&q, 64 << 20));
	CHECK(p && q && p != q);
	OK(hipMemGetInfo(&before, &total));
	CHECK(before <= total && total >= (size_t)16 << 30);
	OK(hipFree(q));
	OK(hipMemGetInfo(&after, &total));
	OK(hipFree(p));
	FAILS(hipMalloc(&p, (size_t)1 << 45), hipErrorOutOfMemory);
	FAILS(hipFree((void *)0x1234), hipErrorInvalidValue);
	OK(hipFree(nullptr));
}

static void pointers()
{
	hipPointerAttribute_t a;
	char *d, *h;

	OK(hipMalloc((void **)&d, 4096));
	OK(hipHostMalloc((void **)&h, 4096, 0));
	OK(hipPointerGetAttributes(&a, d));
	CHECK(a.device == 0 && a.devicePointer == d);
	OK(hipPointerGetAttributes(&a, h));
	CHECK(a.hostPointer == h);
	OK(hipHostFree(h));
	OK(hipFree(d));
}

static void streams()
{
	hipStream_t s[6];
	hipEvent_t e;

	OK(hipEventCreate(&e));
	for (auto &x : s)
		OK(hipStreamCreate(&x));
	for (auto &x : s) {
		OK(hipEventRecord(e, x));
		OK(hipEventSynchronize(e));
		OK(hipStreamWaitEvent(x, e, 0));
		OK(hipStreamSynchronize(x));
		OK(hipStreamQuery(x));
	}
	for (auto &x : s)
		OK(hipStreamDestroy(x));
	OK(hipEventDestroy(e));
	OK(hipDeviceSynchronize());
}

static void callback(hipStream_t s, hipError_t e, void *data)
{
	*(int *)data += e == hipSuccess ? 1 : 100;
}

static void callbacks()
{
	hipStream_t s;
	int n = 0;

	OK(hipStreamCreate(&s));
	for (int i = 0; i < 20; i++)
		OK(hipStreamAddCallback(s, callback, &n, 0));
	OK(hipStreamSynchronize(s));
	CHECK(n == 20);
	OK(hipStreamDestroy(s));
}

static void bad_modules()
{
	char junk[4096] = "not a code object";
	hipModule_t m;

	CHECK(hipModuleLoadData(&m, junk) != hipSuccess);
	FAILS(hipModuleLoad(&m, "/nonexistent.co"), hipErrorFileNotFound);
}

static void cumask()
{
	uint32_t mask[4] = {~0u, ~0u, ~0u, ~0u};
	hipStream_t s;

	OK(hipExtStreamCreateWithCUMask(&s, 4, mask));
	OK(hipStreamSynchronize(s));
	OK(hipStreamDestroy(s));
}

static void two_devices()
{
	int n, can;

	OK(hipGetDeviceCount(&n));
	CHECK(n == 2);
	for (int d = 0; d < n; d++) {
		void *p;
		OK(hipSetDevice(d));
		OK(hipMalloc(&p, 1 << 20));
		OK(hipDeviceSynchronize());
		OK(hipFree(p));
	}
	OK(hipDeviceCanAccessPeer(&can, 0, 1));
	CHECK(can == 1);
}

// ----------------------------------------------------------------------------- kernels

__global__ void add(float *a, const float *b, float k, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		a[i] = a[i] * k + b[i];
}

__global__ void bump(int *p, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		p[i]++;
}

__device__ int variable = 5;
__constant__ int table[4];

__global__ void use_variable(int *out)
{
	out[threadIdx.x] = variable + table[threadIdx.x % 4];
}

__global__ void shapes(unsigned *out)
{
	unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
	unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
	unsigned z = blockIdx.z * blockDim.z + threadIdx.z;
	unsigned nx = gridDim.x * blockDim.x, ny = gridDim.y * blockDim.y;

	out[(z * ny + y) * nx + x] = x | y << 10 | z << 20;
}

__global__ void say(int k)
{
	printf("lane %d says %d %s %g\n", (int)threadIdx.x, k * (int)threadIdx.x, "text",
		0.5 * threadIdx.x);
}

#undef NDEBUG
#include <cassert>
__global__ void claim(int n)
{
	assert(threadIdx.x < n && "claimed");
}

__global__ void give_up()
{
	__builtin_trap();
}

__global__ void overrun(int *p, long at)
{
	p[at] = 1;
}

static void launch()
{
	const int n = 10007;
	std::vector<float> a(n), b(n), r(n);
	float *da, *db;

	for (int i = 0; i < n; i++)
		a[i] = (float)i, b[i] = 1.0f / (float)(i + 1);
	OK(hipMalloc((void **)&da, n * 4));
	OK(hipMalloc((void **)&db, n * 4));
	OK(hipMemcpy(da, a.data(), n * 4, hipMemcpyHostToDevice));
	OK(hipMemcpy(db, b.data(), n * 4, hipMemcpyHostToDevice));
	add<<<(n + 255) / 256, 256>>>(da, db, 3.0f, n);
	OK(hipGetLastError());
	OK(hipMemcpy(r.data(), da, n * 4, hipMemcpyDeviceToHost));
	for (int i = 0; i < n; i++)
		CHECK(r[i] == a[i] * 3.0f + b[i] || r[i] == __builtin_fmaf(a[i], 3.0f, b[i]));
}

static void grid_shapes()
{
	const dim3 grid(3, 2, 2), block(8, 4, 2);
	std::vector<unsigned> r(24 * 8 * 4);
	unsigned *d;

	OK(hipMalloc((void **)&d, r.size() * 4));
	shapes<<<grid, block>>>(d);
	OK(hipMemcpy(r.data(), d, r.size() * 4, hipMemcpyDeviceToHost));
	for (unsigned z = 0; z < 4; z++)
		for (unsigned y = 0; y < 8; y++)
			for (unsigned x = 0; x < 24; x++)
				CHECK(r[(z * 8 + y) * 24 + x] == (x | y << 10 | z << 20));
}

static void symbols()
{
	int t[4] = {10, 20, 30, 40}, v = 0, r[64], *d;

	OK(hipMemcpyFromSymbol(&v, HIP_SYMBOL(variable), 4, 0, hipMemcpyDeviceToHost));
	CHECK(v == 5);
	v = 7;
	OK(hipMemcpyToSymbol(HIP_SYMBOL(variable), &v, 4, 0, hipMemcpyHostToDevice));
	OK(hipMemcpyToSymbol(HIP_SYMBOL(table), t, 16, 0, hipMemcpyHostToDevice));
	OK(hipMalloc((void **)&d, sizeof r));
	use_variable<<<1, 64>>>(d);
	OK(hipMemcpy(r, d, sizeof r, hipMemcpyDeviceToHost));
	for (int i = 0; i < 64; i++)
		CHECK(r[i] == 7 + t[i % 4]);
}

static void copies()
{
	for (size_t n : sizes) {
		bytes a = pattern(n, 1), back(n, 0), other(n, 0);
		uint8_t *d, *e, *pinned;

		OK(hipMalloc((void **)&d, n));
		OK(hipMalloc((void **)&e, n));
		OK(hipHostMalloc((void **)&pinned, n, 0));
		OK(hipMemcpy(d, a.data(), n, hipMemcpyHostToDevice));
		OK(hipMemcpy(e, d, n, hipMemcpyDeviceToDevice));
		OK(hipMemcpy(back.data(), e, n, hipMemcpyDeviceToHost));
		CHECK(back == a);
		OK(hipMemcpy(pinned, d, n, hipMemcpyDefault));
		CHECK(!memcmp(pinned, a.data(), n));
		OK(hipMemcpy(other.data(), pinned, n, hipMemcpyHostToHost));
		CHECK(other == a);
		for (size_t i = 0; i < n; i++)
			pinned[i] ^= 0x55;
		OK(hipMemcpyAsync(d, pinned, n, hipMemcpyHostToDevice, 0));
		OK(hipMemcpyAsync(back.data(), d, n, hipMemcpyDeviceToHost, 0));
		OK(hipStreamSynchronize(0));
		CHECK(!memcmp(back.data(), pinned, n));
		OK(hipFree(d));
		OK(hipFree(e));
		OK(hipHostFree(pinned));
	}
}

static void unaligned_copies()
{
	const size_t n = 70000;
	bytes a = pattern(n, 2), back(n);
	uint8_t *d;

	OK(hipMalloc((void **)&d, n));
	for (size_t at : {1, 2, 3, 5, 8, 13, 4095})
		for (size_t len : {1, 6, 129, 4096, 50001}) {
			OK(hipMemset(d, 0xee, n));
			OK(hipMemcpy(d + at, a.data() + 7, len, hipMemcpyHostToDevice));
			OK(hipMemcpy(back.data(), d, n, hipMemcpyDeviceToHost));
			CHECK(back[at - 1] == 0xee && back[at + len] == 0xee);
			CHECK(!memcmp(&back[at], &a[7], len));
		}
}

static void rectangles()
{
	const size_t w = 100, h = 37;
	bytes a = pattern(w * h, 3), back(w * h);
	uint8_t *d;
	size_t dp;
	int images;

	OK(hipDeviceGetAttribute(&images, hipDeviceAttributeImageSupport, 0));
	CHECK(!images);
	if (hipMallocPitch((void **)&d, &dp, w, h) != hipSuccess) {
		// HIP 5 gives pitched memory only where there are images
		CHECK(hip_version() < 60000000);
		dp = 128;
		OK(hipMalloc((void **)&d, dp * h));
	}
	CHECK(dp >= w);
	OK(hipMemcpy2D(d, dp, a.data(), w, w, h, hipMemcpyHostToDevice));
	OK(hipMemcpy2D(back.data(), w, d, dp, w, h, hipMemcpyDeviceToHost));
	CHECK(back == a);
	OK(hipMemset2D(d, dp, 0x42, w / 2, h));
	OK(hipMemcpy2D(back.data(), w, d, dp, w, h, hipMemcpyDeviceToHost));
	for (size_t y = 0; y < h; y++)
		for (size_t x = 0; x < w; x++)
			CHECK(back[y * w + x] == (x < w / 2 ? 0x42 : a[y * w + x]));
}

static void memsets()
{
	for (size_t n : sizes) {
		bytes back(n);
		uint8_t *d;

		OK(hipMalloc((void **)&d, n));
		OK(hipMemset(d, 0xa5, n));
		OK(hipMemcpy(back.data(), d, n, hipMemcpyDeviceToHost));
		for (size_t i = 0; i < n; i++)
			CHECK(back[i] == 0xa5);
		if (n >= 4) {
			OK(hipMemsetD32(d, 0x01020304, n / 4));
			OK(hipMemsetD16(d, 0x0506, 1));
			OK(hipMemcpy(back.data(), d, n, hipMemcpyDeviceToHost));
			for (size_t i = 4; i < n / 4 * 4; i++)
				CHECK(back[i] == 4 - i % 4);
			CHECK(back[0] == 6 && back[1] == 5 && back[2] == 2);
		}
		OK(hipFree(d));
	}
}

static void stream_order()
{
	const int n = 1000, rounds = 50;
	std::vector<int> r(n);
	hipStream_t s[4];
	hipEvent_t e;
	int *d;

	OK(hipEventCreate(&e));
	for (auto &x : s)
		OK(hipStreamCreate(&x));
	OK(hipMalloc((void **)&d, n * 4));
	OK(hipMemsetAsync(d, 0, n * 4, s[0]));
	OK(hipEventRecord(e, s[0]));
	for (int i = 0; i < rounds; i++) {
		hipStream_t x = s[i % 4];
		OK(hipStreamWaitEvent(x, e, 0));
		bump<<<(n + 63) / 64, 64, 0, x>>>(d, n);
		OK(hipEventRecord(e, x));
	}
	OK(hipEventSynchronize(e));
	OK(hipMemcpy(r.data(), d, n * 4, hipMemcpyDeviceToHost));
	for (int v : r)
		CHECK(v == rounds);
}

static void event_times()
{
	hipEvent_t a, b;
	float ms = -1;
	int *d;

	OK(hipMalloc((void **)&d, 4096));
	OK(hipEventCreate(&a));
	OK(hipEventCreate(&b));
	FAILS(hipEventElapsedTime(&ms, a, b), hipErrorInvalidHandle);
	OK(hipEventRecord(a, 0));
	bump<<<4, 256>>>(d, 1024);
	OK(hipEventRecord(b, 0));
	OK(hipEventSynchronize(b));
	OK(hipEventElapsedTime(&ms, a, b));
	CHECK(ms >= 0 && ms < 60000);
}

static void graphs()
{
	const int n = 256;
	std::vector<int> r(n);
	hipGraphExec_t exec;
	hipGraph_t graph;
	hipStream_t s;
	int *d;

	OK(hipMalloc((void **)&d, n * 4));
	OK(hipMemset(d, 0, n * 4));
	OK(hipStreamCreate(&s));
	OK(hipStreamBeginCapture(s, hipStreamCaptureModeGlobal));
	for (int i = 0; i < 5; i++)
		bump<<<1, n, 0, s>>>(d, n);
	OK(hipMemcpyAsync(r.data(), d, n * 4, hipMemcpyDeviceToHost, s));
	OK(hipStreamEndCapture(s, &graph));
	OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
	for (int i = 0; i < 3; i++)
		OK(hipGraphLaunch(exec, s));
	OK(hipStreamSynchronize(s));
	for (int v : r)
		CHECK(v == 15);
	OK(hipGraphExecDestroy(exec));
	OK(hipGraphDestroy(graph));
}

static void managed()
{
	const int n = 300;
	int *p;

	OK(hipMallocManaged((void **)&p, n * 4, hipMemAttachGlobal));
	for (int i = 0; i < n; i++)
		p[i] = i;
	bump<<<5, 64>>>(p, n);
	OK(hipDeviceSynchronize());
	for (int i = 0; i < n; i++)
		CHECK(p[i] == i + 1);
	OK(hipFree(p));
}

static void peers()
{
	const size_t n = 100003;
	bytes a = pattern(n, 9), back(n);
	uint8_t *d[2];

	for (int i = 0; i < 2; i++) {
		OK(hipSetDevice(i));
		OK(hipMalloc((void **)&d[i], n));
	}
	OK(hipMemcpy(d[0], a.data(), n, hipMemcpyHostToDevice));
	OK(hipMemcpyPeer(d[1], 1, d[0], 0, n));
	OK(hipMemcpy(back.data(), d[1], n, hipMemcpyDeviceToHost));
	CHECK(back == a);
	for (int i = 0; i < 2; i++) {
		OK(hipSetDevice(i));
		bump<<<(int)(n / 4 + 255) / 256, 256>>>((int *)d[i], (int)(n / 4));
		OK(hipDeviceSynchronize());
	}
}

__global__ void meet(int *p, int *sum)
{
	int s = 0;

	p[blockIdx.x * blockDim.x + threadIdx.x] = blockIdx.x;
#ifndef __GFX12__ // its -O0 code does not compile: the device libraries mean a gfx9 barrier
	cooperative_groups::this_grid().sync();
#endif
	for (unsigned b = 0; b < gridDim.x; b++)
		s += p[b * blockDim.x];
#ifndef __GFX12__
	cooperative_groups::this_grid().sync();
#endif
	sum[blockIdx.x * blockDim.x + threadIdx.x] = s;
}

static void cooperative()
{
	int *p, *sum, r[8 * 64], offered;
	void *args[] = {&p, &sum};
	hipDeviceProp_t prop;

	OK(hipGetDeviceProperties(&prop, 0));
	if (!strncmp(prop.gcnArchName, "gfx12", 5))
		return;
	OK(hipMalloc((void **)&p, sizeof r));
	OK(hipMalloc((void **)&sum, sizeof r));
	OK(hipDeviceGetAttribute(&offered, hipDeviceAttributeCooperativeLaunch, 0));
	CHECK(offered);
	for (int i = 0; i < 3; i++)
		OK(hipLaunchCooperativeKernel((void *)meet, dim3(8), dim3(64), args, 0, 0));
	OK(hipMemcpy(r, sum, sizeof r, hipMemcpyDeviceToHost));
	for (int v : r)
		CHECK(v == 28);
}

static void function_lookup()
{
	hipFuncAttributes a;

	OK(hipFuncGetAttributes(&a, (const void *)add));
	CHECK(a.maxThreadsPerBlock > 0 && a.numRegs > 0);
}

// --------------------------------------- how a program ends is checked by who runs it

static void says()
{
	say<<<1, 4>>>(3);
	OK(hipDeviceSynchronize());
}

static void asserts()
{
	claim<<<1, 8>>>(8);
	OK(hipDeviceSynchronize());
	printf("held\n");
	fflush(stdout);
	claim<<<1, 8>>>(5);
	printf("sync: %s\n", hipGetErrorName(hipDeviceSynchronize()));
}

static void traps()
{
	give_up<<<1, 1>>>();
	printf("sync: %s\n", hipGetErrorName(hipDeviceSynchronize()));
}

static void overruns()
{
	int *d;

	OK(hipMalloc((void **)&d, 4096));
	overrun<<<1, 1>>>(d, 1 << 20);
	printf("sync: %s\n", hipGetErrorName(hipDeviceSynchronize()));
}

__global__ void racing(int *p)
{
	__shared__ int cell[256];

	cell[threadIdx.x] = 0;
	__syncthreads();
	cell[threadIdx.x] = p[threadIdx.x];
	p[threadIdx.x] = cell[255 - threadIdx.x];
}

static void races()
{
	int *d;

	OK(hipMalloc((void **)&d, 1024));
	racing<<<1, 256>>>(d);
	OK(hipDeviceSynchronize());
}

/* The first group touches p, the second keeps the launch from ending. */
__global__ void hold(int *p, int how, const volatile int *go)
{
	if (blockIdx.x)
		while (!*go)
			;
	else if (how)
		atomicAdd(p + threadIdx.x, how);
	else
		p[threadIdx.x] = 1;
}

__global__ void store_over(int *p, int how)
{
	if (how)
		atomicAdd(p + threadIdx.x, how);
	else
		p[threadIdx.x] = 2;
}

/* Two launches at once that touch the same (apart by so many) integers. */
static void two_at_once(int how, int apart)
{
	int *p, *go;
	hipStream_t s[2];

	OK(hipHostMalloc((void **)&p, 4096, 0));
	OK(hipHostMalloc((void **)&go, 4096, 0));
	memset(p, 0, 4096);
	*go = 0;
	for (auto &x : s)
		OK(hipStreamCreate(&x));
	hold<<<2, 32, 0, s[0]>>>(p, how, go);
	while (!*(volatile int *)p)
		;
	store_over<<<1, 32, 0, s[1]>>>(p + apart, how);
	OK(hipStreamSynchronize(s[1]));
	*(volatile int *)go = 1;
	OK(hipStreamSynchronize(s[0]));
	store_over<<<1, 32, 0, s[1]>>>(p, 0); /* in order: the host waited */
	OK(hipStreamSynchronize(s[1]));
	CHECK(p[0] == 2 && (!apart || p[apart] == 2));
	for (auto &x : s)
		OK(hipStreamDestroy(x));
}

static void overlaps()
{
	two_at_once(0, 0);
}

static void apart()
{
	two_at_once(0, 64);
	two_at_once(3, 0);
}

static void launches()
{
	give_up<<<1, 1>>>();
	OK(hipDeviceSynchronize());
}

static const hip_test tests[] = {
	{"count", "none", count},
	{"properties", "none", properties},
	{"allocate", "none", allocate},
	{"pointers", "none", pointers},
	{"streams", "none", streams},
	{"callbacks", "none", callbacks},
	{"bad_modules", "none", bad_modules},
	{"cumask", "none", cumask},
	{"function_lookup", "none", function_lookup},
	{"two_devices", "two", two_devices},
	{"launch", "kernels", launch},
	{"grid_shapes", "kernels", grid_shapes},
	{"symbols", "kernels", symbols},
	{"copies", "kernels", copies},
	{"unaligned_copies", "kernels", unaligned_copies},
	{"rectangles", "kernels", rectangles},
	{"memsets", "kernels", memsets},
	{"stream_order", "kernels", stream_order},
	{"event_times", "kernels", event_times},
	{"graphs", "kernels", graphs},
	{"managed", "kernels", managed},
	{"cooperative", "kernels", cooperative},
	{"peers", "two-kernels", peers},
	{"says", "ends", says},
	{"asserts", "ends", asserts},
	{"traps", "ends", traps},
	{"overruns", "ends", overruns},
	{"races", "ends", races},
	{"overlaps", "ends", overlaps},
	{"apart", "ends", apart},
	{"launches", "ends", launches},
};

int main(int argc, char **argv)
{
	return run_tests(tests, argc, argv);
}
