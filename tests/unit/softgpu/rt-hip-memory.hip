// HIP programs for the software device: memory of every kind, and memory of other processes.
#include "rt-hip.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

__global__ void bump(int *p, size_t n)
{
	size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;

	if (i < n)
		p[i]++;
}

static void bump_all(int *p, size_t n, hipStream_t s = 0)
{
	bump<<<(unsigned)((n + 255) / 256), 256, 0, s>>>(p, n);
	OK(hipGetLastError());
}

// ---------------------------------------------------------------------------------- copies

static void large_copies()
{
	hipStream_t s;

	OK(hipStreamCreate(&s));
	for (size_t n : {(size_t)32 << 20, ((size_t)64 << 20) - 1, (size_t)64 << 20}) {
		bytes a = pattern(n, (unsigned)n), back(n);
		uint8_t *d, *e, *pinned;

		OK(hipMalloc((void **)&d, n));
		OK(hipMalloc((void **)&e, n));
		OK(hipHostMalloc((void **)&pinned, n, 0));
		OK(hipMemcpy(d, a.data(), n, hipMemcpyHostToDevice));
		OK(hipMemcpyAsync(e, d, n, hipMemcpyDeviceToDevice, s));
		OK(hipMemcpyAsync(pinned, e, n, hipMemcpyDeviceToHost, s));
		OK(hipMemcpyAsync(back.data(), e, n, hipMemcpyDeviceToHost, s));
		OK(hipStreamSynchronize(s));
		CHECK(!memcmp(pinned, a.data(), n) && back == a);
		OK(hipFree(d));
		OK(hipFree(e));
		OK(hipHostFree(pinned));
	}
	OK(hipStreamDestroy(s));
}

// The driver's interface, streams, kinds, nothing at all.
static void copy_calls()
{
	const size_t n = 54321;
	bytes a = pattern(n, 5), back(n);
	uint8_t *d, *e;

	OK(hipMalloc((void **)&d, n));
	OK(hipMalloc((void **)&e, n));
	OK(hipMemcpyHtoD((hipDeviceptr_t)d, a.data(), n));
	OK(hipMemcpyDtoD((hipDeviceptr_t)e, (hipDeviceptr_t)d, n));
	OK(hipMemcpyDtoH(back.data(), (hipDeviceptr_t)e, n));
	CHECK(back == a);
	std::fill(back.begin(), back.end(), 0);
	OK(hipMemsetAsync(e, 0, n, 0));
	OK(hipMemcpyDtoDAsync((hipDeviceptr_t)e, (hipDeviceptr_t)d, n, 0));
	OK(hipMemcpyDtoHAsync(back.data(), (hipDeviceptr_t)e, n, 0));
	OK(hipStreamSynchronize(0));
	CHECK(back == a);
	OK(hipMemcpyWithStream(back.data(), d, n, hipMemcpyDefault, 0));
	CHECK(back == a);
	OK(hipMemcpy(d, a.data(), 0, hipMemcpyHostToDevice));
	CHECK(hipMemcpy(nullptr, a.data(), 4, hipMemcpyHostToDevice) != hipSuccess);
	CHECK(hipMemcpy(d, nullptr, 4, hipMemcpyHostToDevice) != hipSuccess);
	CHECK(hipMemcpy(d, a.data(), n + 1, hipMemcpyHostToDevice) != hipSuccess);
}

// A box of w x h x depth inside larger ones, by every kind.
static void boxes()
{
	const size_t w = 37, h = 11, depth = 5, sp = 64, sh = 13, dp = 96, dh = 12;
	bytes a = pattern(sp * sh * 7, 4), back(sp * sh * 7, 0xcc);
	uint8_t *d, *e;
	hipMemcpy3DParms p = {};

	OK(hipMalloc((void **)&d, dp * dh * 6));
	OK(hipMalloc((void **)&e, dp * dh * 6));
	p.srcPtr = make_hipPitchedPtr(a.data(), sp, sp, sh);
	p.dstPtr = make_hipPitchedPtr(d, dp, dp, dh);
	p.srcPos = make_hipPos(3, 1, 2);
	p.dstPos = make_hipPos(5, 1, 1);
	p.extent = make_hipExtent(w, h, depth);
	p.kind = hipMemcpyHostToDevice;
	OK(hipMemcpy3D(&p));
	p.srcPtr = p.dstPtr;
	p.dstPtr = make_hipPitchedPtr(e, dp, dp, dh);
	p.srcPos = make_hipPos(5, 1, 1);
	p.dstPos = make_hipPos(2, 0, 0);
	p.kind = hipMemcpyDeviceToDevice;
	OK(hipMemcpy3DAsync(&p, 0));
	p.srcPtr = p.dstPtr;
	p.dstPtr = make_hipPitchedPtr(back.data(), sp, sp, sh);
	p.srcPos = make_hipPos(2, 0, 0);
	p.dstPos = make_hipPos(3, 1, 2);
	p.kind = hipMemcpyDeviceToHost;
	OK(hipMemcpy3D(&p));
	for (size_t z = 0; z < 7; z++)
		for (size_t y = 0; y < sh; y++)
			for (size_t x = 0; x < sp; x++) {
				size_t i = (z * sh + y) * sp + x;
				bool in = x >= 3 && x < 3 + w && y >= 1 && y < 1 + h && z >= 2 &&
					  z < 2 + depth;
				CHECK(back[i] == (in ? a[i] : 0xcc));
			}
}

static void rectangle_kinds()
{
	const size_t w = 61, h = 19, hp = 80, dp = 128;
	bytes a = pattern(hp * h, 6), back(hp * h, 0);
	uint8_t *d, *e;

	OK(hipMalloc((void **)&d, dp * h));
	OK(hipMalloc((void **)&e, dp * h));
	OK(hipMemcpy2DAsync(d, dp, a.data(), hp, w, h, hipMemcpyHostToDevice, 0));
	OK(hipMemcpy2DAsync(e, dp, d, dp, w, h, hipMemcpyDeviceToDevice, 0));
	OK(hipMemcpy2DAsync(back.data(), hp, e, dp, w, h, hipMemcpyDeviceToHost, 0));
	OK(hipStreamSynchronize(0));
	for (size_t y = 0; y < h; y++) {
		CHECK(!memcmp(&back[y * hp], &a[y * hp], w));
		CHECK(back[y * hp + w] == 0);
	}
	CHECK(hipMemcpy2D(d, w - 1, a.data(), hp, w, h, hipMemcpyHostToDevice) != hipSuccess);
}

static void memset_calls()
{
	const size_t n = 10000;
	std::vector<uint32_t> back(n);
	uint32_t *d;

	OK(hipMalloc((void **)&d, n * 4));
	OK(hipMemsetD32Async((hipDeviceptr_t)d, 0x12345678, n, 0));
	OK(hipMemsetD16Async((hipDeviceptr_t)(d + 10), 0xabcd, 3, 0));
	OK(hipMemsetD8Async((hipDeviceptr_t)(d + 20), 0x5a, 5, 0));
#if HIP_VERSION >= 50300000
	// 5.2.3 launches its kernel over minus one eighth of a byte there
	OK(hipMemsetAsync((char *)d + 123, 0, 1, 0));
#else
	OK(hipMemsetAsync((char *)d + 120, 0, 1, 0));
#endif
	OK(hipMemset2DAsync(d + 1000, 40, 0xff, 8, 50, 0));
	OK(hipMemcpy(back.data(), d, n * 4, hipMemcpyDeviceToHost));
	CHECK(back[10] == 0xabcdabcd && back[11] == 0x1234abcd && back[12] == 0x12345678);
	CHECK(back[20] == 0x5a5a5a5a && back[21] == 0x1234565a && (back[30] == 0x00345678 || back[30] == 0x12345600));
	for (size_t i = 1000; i < n; i++)
		CHECK(back[i] == (i < 1500 && i % 10 < 2 ? 0xffffffff : 0x12345678));
	hipPitchedPtr box = make_hipPitchedPtr(d, 64, 64, 10);
	OK(hipMemset3D(box, 0x11, make_hipExtent(16, 5, 2)));
	OK(hipMemcpy(back.data(), d, n * 4, hipMemcpyDeviceToHost));
	for (size_t z = 0; z < 2; z++)
		for (size_t y = 0; y < 5; y++)
			for (size_t x = 0; x < 4; x++)
				CHECK(back[(z * 10 + y) * 16 + x] == 0x11111111);
	CHECK(back[4] == 0x12345678 && back[5 * 16] == 0x12345678);
}

static void peer_calls()
{
	const size_t n = 70001;
	bytes a = pattern(n, 8), back(n);
	uint8_t *d[2];
	hipStream_t s;

	for (int i = 0; i < 2; i++) {
		OK(hipSetDevice(i));
		OK(hipMalloc((void **)&d[i], n));
		hipError_t e = hipDeviceEnablePeerAccess(1 - i, 0);
		CHECK(e == hipSuccess || e == hipErrorPeerAccessAlreadyEnabled);
	}
	OK(hipSetDevice(0));
	OK(hipStreamCreate(&s));
	OK(hipMemcpyAsync(d[0], a.data(), n, hipMemcpyHostToDevice, s));
	OK(hipMemcpyPeerAsync(d[1], 1, d[0], 0, n, s));
	OK(hipMemsetAsync(d[0], 0, n, s));
	OK(hipMemcpyAsync(d[0], d[1], n, hipMemcpyDefault, s));
	OK(hipMemcpyAsync(back.data(), d[0], n, hipMemcpyDeviceToHost, s));
	OK(hipStreamSynchronize(s));
	CHECK(back == a);
	// a kernel of one device over memory of the other
	OK(hipMemset(d[1], 0, n));
	OK(hipSetDevice(0));
	bump_all((int *)d[1], n / 4, s);
	OK(hipStreamSynchronize(s));
	OK(hipMemcpy(back.data(), d[1], n, hipMemcpyDeviceToHost));
	for (size_t i = 0; i < n / 4 * 4; i++)
		CHECK(back[i] == (i % 4 == 0));
}

// ---------------------------------------------------------------------------- the host's own

static void registered()
{
	const size_t n = 5000;
	std::vector<int> v(n + 2000);
	int *host = v.data(), *device;

	for (size_t i = 0; i < n; i++)
		host[i] = (int)i;
	OK(hipHostRegister(host, n * 4, hipHostRegisterMapped));
	OK(hipHostGetDevicePointer((void **)&device, host, 0));
	bump_all(device, n);
	OK(hipDeviceSynchronize());
	for (size_t i = 0; i < n; i++)
		CHECK(host[i] == (int)i + 1);
#if HIP_VERSION >= 60000000
	// 5.2.3 aborts: it takes for granted that the device has an address of its own for it
	OK(hipHostUnregister(host));
	CHECK(hipHostUnregister(host) != hipSuccess);
#endif
}

static void mapped_host()
{
	const size_t n = 3000;
	int *host, *device;

	static const unsigned all[] = {hipHostMallocDefault, hipHostMallocMapped,
		hipHostMallocCoherent, hipHostMallocNonCoherent, hipHostMallocPortable,
		hipHostMallocWriteCombined};

	for (unsigned flags : all) {
		OK(hipHostMalloc((void **)&host, n * 4, flags));
		for (size_t i = 0; i < n; i++)
			host[i] = 7;
		OK(hipHostGetDevicePointer((void **)&device, host, 0));
		bump_all(device, n);
		OK(hipDeviceSynchronize());
		CHECK(host[0] == 8 && host[n - 1] == 8);
		OK(hipHostFree(host));
	}
}

// Managed memory: advice is recorded and read back, prefetches complete in order.
static void advised()
{
	const size_t n = 100000, size = n * 4;
	int *p, read_mostly = -1, location = -2, last = -2, by[3] = {-3, -3, -3}, has;
	hipStream_t s;

	OK(hipDeviceGetAttribute(&has, hipDeviceAttributeManagedMemory, 0));
	CHECK(has);
	OK(hipStreamCreate(&s));
	OK(hipMallocManaged((void **)&p, size, hipMemAttachGlobal));
	for (size_t i = 0; i < n; i++)
		p[i] = (int)i;
	OK(hipMemRangeGetAttribute(
		&read_mostly, 4, hipMemRangeAttributeReadMostly, p, size));
	CHECK(read_mostly == 0);
	OK(hipMemAdvise(p, size, hipMemAdviseSetReadMostly, 0));
	OK(hipMemAdvise(p, size, hipMemAdviseSetPreferredLocation, 0));
	OK(hipMemAdvise(p, size, hipMemAdviseSetAccessedBy, 0));
	OK(hipMemPrefetchAsync(p, size, 0, s));
	bump_all(p, n, s);
	OK(hipMemPrefetchAsync(p, size, hipCpuDeviceId, s));
	OK(hipStreamSynchronize(s));
	for (size_t i = 0; i < n; i++)
		CHECK(p[i] == (int)i + 1);
	OK(hipMemRangeGetAttribute(
		&read_mostly, 4, hipMemRangeAttributeReadMostly, p, size));
	OK(hipMemRangeGetAttribute(
		&location, 4, hipMemRangeAttributePreferredLocation, p, size));
	OK(hipMemRangeGetAttribute(
		&last, 4, hipMemRangeAttributeLastPrefetchLocation, p, size));
	OK(hipMemRangeGetAttribute(by, 12, hipMemRangeAttributeAccessedBy, p, size));
	CHECK(read_mostly == 1 && location == 0 && last == hipCpuDeviceId);
	CHECK(by[0] == 0 && by[1] == hipInvalidDeviceId);
	OK(hipMemAdvise(p, size, hipMemAdviseUnsetReadMostly, 0));
	OK(hipMemAdvise(p, size, hipMemAdviseUnsetPreferredLocation, 0));
	OK(hipMemAdvise(p, 4096, hipMemAdviseSetReadMostly, 0));
	OK(hipMemRangeGetAttribute(
		&read_mostly, 4, hipMemRangeAttributeReadMostly, p, size));
	OK(hipMemRangeGetAttribute(
		&location, 4, hipMemRangeAttributePreferredLocation, p, size));
	CHECK(read_mostly == 0 && location == hipInvalidDeviceId);
	OK(hipMemRangeGetAttribute(&read_mostly, 4, hipMemRangeAttributeReadMostly, p, 4096));
	CHECK(read_mostly == 1);
	OK(hipFree(p));
}

// ------------------------------------------------------------------------------------ pools

static void stream_ordered()
{
	const size_t n = 20000;
	std::vector<int> r(n);
	hipMemPool_t pool;
	hipStream_t s;
	int has = 0;
	uint64_t keep = UINT64_MAX;

	OK(hipDeviceGetAttribute(&has, hipDeviceAttributeMemoryPoolsSupported, 0));
	if (!has) { // HIP 5 has them switched off
		CHECK(hip_version() < 60000000);
		return;
	}
	OK(hipStreamCreate(&s));
	OK(hipDeviceGetDefaultMemPool(&pool, 0));
	OK(hipMemPoolSetAttribute(pool, hipMemPoolAttrReleaseThreshold, &keep));
	for (int round = 0; round < 5; round++) {
		int *a, *b;
		OK(hipMallocAsync((void **)&a, n * 4, s));
		OK(hipMallocFromPoolAsync((void **)&b, n * 4, pool, s));
		CHECK(a != b);
		OK(hipMemsetAsync(a, 0, n * 4, s));
		bump_all(a, n, s);
		OK(hipMemcpyAsync(b, a, n * 4, hipMemcpyDeviceToDevice, s));
		OK(hipFreeAsync(a, s));
		bump_all(b, n, s);
		OK(hipMemcpyAsync(r.data(), b, n * 4, hipMemcpyDeviceToHost, s));
		OK(hipFreeAsync(b, s));
		OK(hipStreamSynchronize(s));
		for (int v : r)
			CHECK(v == 2);
	}
	OK(hipMemPoolTrimTo(pool, 0));
	OK(hipStreamDestroy(s));
}

static void address_ranges()
{
	hipDeviceptr_t base;
	size_t size;
	char *d;

	OK(hipMalloc((void **)&d, 123456));
	OK(hipMemGetAddressRange(&base, &size, (hipDeviceptr_t)(d + 1000)));
	CHECK((char *)base == d && size == 123456);
	CHECK(hipMemGetAddressRange(&base, &size, (hipDeviceptr_t)(d + 123456)) != hipSuccess);
	OK(hipFree(d));
	CHECK(hipMemGetAddressRange(&base, &size, (hipDeviceptr_t)d) != hipSuccess);
}

#if HIP_VERSION >= 60000000
static void virtual_memory()
{
	hipMemAllocationProp prop = {};
	hipMemAccessDesc access = {};
	hipMemGenericAllocationHandle_t h[2];
	size_t grain;
	int *p;

	prop.type = hipMemAllocationTypePinned;
	prop.location.type = access.location.type = hipMemLocationTypeDevice;
	access.flags = hipMemAccessFlagsProtReadWrite;
	OK(hipMemGetAllocationGranularity(&grain, &prop, hipMemAllocationGranularityRecommended));
	OK(hipMemAddressReserve((void **)&p, 2 * grain, 0, nullptr, 0));
	for (int i = 0; i < 2; i++) {
		OK(hipMemCreate(&h[i], grain, &prop, 0));
		OK(hipMemMap((char *)p + i * grain, grain, 0, h[i], 0));
		OK(hipMemSetAccess((char *)p + i * grain, grain, &access, 1));
	}
	size_t n = grain / 2; // ints: both halves
	std::vector<int> r(n);
	OK(hipMemset(p, 0, 2 * grain));
	bump_all(p, n);
	OK(hipMemcpy(r.data(), p, n * 4, hipMemcpyDeviceToHost));
	for (int v : r)
		CHECK(v == 1);
	for (int i = 0; i < 2; i++) {
		OK(hipMemUnmap((char *)p + i * grain, grain));
		OK(hipMemRelease(h[i]));
	}
	OK(hipMemAddressFree(p, 2 * grain));
}
#endif

// --------------------------------------------------------------------------- other processes

static void send(int fd, const void *p, size_t n)
{
	CHECK(write(fd, p, n) == (ssize_t)n);
}

static void receive(int fd, void *p, size_t n)
{
	CHECK(read(fd, p, n) == (ssize_t)n);
}

static const size_t shared_ints = 3 << 20;

// The importer: adds one to all of it by a kernel, twice, opened anew each time.
static void importer(int from, int to)
{
	for (int round = 0; round < 2; round++) {
		hipIpcMemHandle_t h;
		int *p;

		receive(from, &h, sizeof h);
		OK(hipIpcOpenMemHandle((void **)&p, h, hipIpcMemLazyEnablePeerAccess));
		bump_all(p, shared_ints);
		OK(hipDeviceSynchronize());
		OK(hipIpcCloseMemHandle(p));
		send(to, "+", 1);
	}
	// what is no handle is an error; 5.7.1 aborts
	if (hip_version() < 50300000 || hip_version() >= 60000000) {
		hipIpcMemHandle_t bad;
		int *p;
		memset(&bad, 0x5a, sizeof bad);
		CHECK(hipIpcOpenMemHandle((void **)&p, bad, hipIpcMemLazyEnablePeerAccess) !=
		      hipSuccess);
	}
	send(to, "+", 1);
}

static void two_processes()
{
	int down[2], up[2], status;
	hipIpcMemHandle_t h;
	std::vector<int> r(shared_ints);
	char c;
	int *d;

	// HIP is started on both sides after the fork: it does not survive one
	CHECK(!pipe(down) && !pipe(up));
	pid_t child = fork();
	CHECK(child >= 0);
	if (!child) {
		close(down[1]);
		close(up[0]);
		importer(down[0], up[1]);
		exit(0);
	}
	close(down[0]);
	close(up[1]);
	OK(hipMalloc((void **)&d, shared_ints * 4));
	for (size_t i = 0; i < shared_ints; i++)
		r[i] = (int)i;
	OK(hipMemcpy(d, r.data(), shared_ints * 4, hipMemcpyHostToDevice));
	// asked for while kernels of ours use it
	for (int i = 0; i < 10; i++)
		bump_all(d, shared_ints);
	OK(hipIpcGetMemHandle(&h, d));
	OK(hipDeviceSynchronize());
	send(down[1], &h, sizeof h);
	receive(up[0], &c, 1);
	bump_all(d, shared_ints);
	OK(hipDeviceSynchronize());
	OK(hipIpcGetMemHandle(&h, d));
	send(down[1], &h, sizeof h);
	receive(up[0], &c, 1);
	receive(up[0], &c, 1);
	OK(hipMemcpy(r.data(), d, shared_ints * 4, hipMemcpyDeviceToHost));
	for (size_t i = 0; i < shared_ints; i++)
		CHECK(r[i] == (int)i + 13);
	OK(hipFree(d));
	CHECK(waitpid(child, &status, 0) == child && !status);
}

static const hip_test tests[] = {
	{"large_copies", "kernels", large_copies},
	{"copy_calls", "kernels", copy_calls},
	{"boxes", "kernels", boxes},
	{"rectangle_kinds", "kernels", rectangle_kinds},
	{"memset_calls", "kernels", memset_calls},
	{"peer_calls", "two-kernels", peer_calls},
	{"registered", "kernels", registered},
	{"mapped_host", "kernels", mapped_host},
	{"advised", "kernels", advised},
	{"stream_ordered", "kernels", stream_ordered},
	{"address_ranges", "none", address_ranges},
#if HIP_VERSION >= 60000000
	{"virtual_memory", "kernels", virtual_memory},
#endif
	{"two_processes", "kernels", two_processes},
};

int main(int argc, char **argv)
{
	return run_tests(tests, argc, argv);
}
