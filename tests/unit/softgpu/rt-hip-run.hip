// HIP programs for the software device: what runs when, graphs, modules, threads, and what
// kernels ask of their host. RT_HIP_MODULE: this file's device code as an object of its own.
#include "rt-hip.h"

#include <atomic>
#include <thread>

__global__ void bump(int *p, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		p[i]++;
}

__global__ void scale(int *p, int n, int factor)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		p[i] *= factor;
}

// --------------------------------------------------------------------------------- what waits

__global__ void hold(volatile int *flag)
{
	while (!*flag)
		__builtin_amdgcn_s_sleep(8);
}

// Work behind a kernel that waits for the host is pending, and says so.
static void pending()
{
	hipStream_t s, other;
	hipEvent_t e;
	int *flag, *d, r = 0;

	OK(hipHostMalloc((void **)&flag, 4, hipHostMallocCoherent));
	OK(hipMalloc((void **)&d, 4));
	OK(hipMemset(d, 0, 4));
	OK(hipDeviceSynchronize());
	*flag = 0;
	OK(hipStreamCreateWithFlags(&s, hipStreamNonBlocking));
	OK(hipStreamCreateWithFlags(&other, hipStreamNonBlocking));
	OK(hipEventCreate(&e));
	hold<<<1, 1, 0, s>>>(flag);
	bump<<<1, 1, 0, s>>>(d, 1);
	OK(hipEventRecord(e, s));
	FAILS(hipEventQuery(e), hipErrorNotReady);
	FAILS(hipStreamQuery(s), hipErrorNotReady);
	// others go on meanwhile
	OK(hipMemsetAsync(d, 5, 4, other));
	OK(hipStreamSynchronize(other));
	FAILS(hipEventQuery(e), hipErrorNotReady);
	__atomic_store_n(flag, 1, __ATOMIC_RELEASE);
	OK(hipEventSynchronize(e));
	OK(hipStreamQuery(s));
	OK(hipMemcpy(&r, d, 4, hipMemcpyDeviceToHost));
	CHECK(r == 0x05050506);
	(void)hipGetLastError();
}

// The host's functions have their turn in the stream.
static std::atomic<int> turns;
static int *seen_by_host;

static void host_turn(void *data)
{
	// what the kernel before wrote is there
	if (*seen_by_host == turns + 1)
		turns++;
}

#if HIP_VERSION < 60000000 // declared by 5.2, and not there
static void host_turn_52(hipStream_t, hipError_t, void *data)
{
	host_turn(data);
}
#define hipLaunchHostFunc(stream, function, data) \
	hipStreamAddCallback(stream, function##_52, data, 0)
#endif

static void host_functions()
{
	hipStream_t s;

	OK(hipStreamCreate(&s));
	OK(hipHostMalloc((void **)&seen_by_host, 4, hipHostMallocCoherent));
	*seen_by_host = 0;
	for (int i = 0; i < 10; i++) {
		bump<<<1, 1, 0, s>>>(seen_by_host, 1);
		OK(hipLaunchHostFunc(s, host_turn, nullptr));
	}
	OK(hipStreamSynchronize(s));
	CHECK(turns == 10);
}

static void values()
{
	hipStream_t s, t;
	uint32_t *word;
	int has;

	OK(hipDeviceGetAttribute(&has, hipDeviceAttributeCanUseStreamWaitValue, 0));
	if (!has)
		return;
	OK(hipStreamCreateWithFlags(&s, hipStreamNonBlocking));
	OK(hipStreamCreateWithFlags(&t, hipStreamNonBlocking));
	OK(hipExtMallocWithFlags((void **)&word, 8, hipMallocSignalMemory));
	*word = 0;
	OK(hipStreamWaitValue32(s, word, 3, hipStreamWaitValueGte, 0xffffffff));
	FAILS(hipStreamQuery(s), hipErrorNotReady);
	OK(hipStreamWriteValue32(t, word, 4, 0));
	OK(hipStreamSynchronize(t));
	OK(hipStreamSynchronize(s));
	(void)hipGetLastError();
	OK(hipFree(word));
}

static void priorities()
{
	int least, greatest, p;
	hipStream_t s;

	OK(hipDeviceGetStreamPriorityRange(&least, &greatest));
	CHECK(greatest <= least);
	OK(hipStreamCreateWithPriority(&s, hipStreamNonBlocking, greatest));
	OK(hipStreamGetPriority(s, &p));
	CHECK(p == greatest);
	OK(hipStreamDestroy(s));
}

// ------------------------------------------------------------------------------------ graphs

static std::atomic<int> graph_turns;

static void graph_turn(void *data)
{
	graph_turns += *(int *)data;
}

static void explicit_graph()
{
	const int n = 500;
	static int one = 1;
	int *d, factor = 3, count = n;
	std::vector<int> r(n);
	hipGraph_t graph, child;
	hipGraphExec_t exec;
	hipGraphNode_t clear, add, multiply, back, host, nested;
	hipMemsetParams m = {};
	hipKernelNodeParams k = {};
	hipHostNodeParams h = {};
	hipStream_t s;
	size_t nodes;

	OK(hipMalloc((void **)&d, n * 4));
	OK(hipStreamCreate(&s));
	void *bump_args[] = {&d, &count}, *scale_args[] = {&d, &count, &factor};
	OK(hipGraphCreate(&graph, 0));
	m.dst = d;
	m.elementSize = 4;
	m.width = n;
	m.height = 1;
	m.value = 2;
	OK(hipGraphAddMemsetNode(&clear, graph, nullptr, 0, &m));
	k.func = (void *)bump;
	k.gridDim = dim3(2);
	k.blockDim = dim3(256);
	k.kernelParams = bump_args;
	OK(hipGraphAddKernelNode(&add, graph, &clear, 1, &k));
	OK(hipGraphCreate(&child, 0));
	k.func = (void *)scale;
	k.kernelParams = scale_args;
	OK(hipGraphAddKernelNode(&multiply, child, nullptr, 0, &k));
	OK(hipGraphAddChildGraphNode(&nested, graph, &add, 1, child));
	OK(hipGraphAddMemcpyNode1D(
		&back, graph, &nested, 1, r.data(), d, n * 4, hipMemcpyDeviceToHost));
	h.fn = graph_turn;
	h.userData = &one;
	OK(hipGraphAddHostNode(&host, graph, &back, 1, &h));
	OK(hipGraphGetNodes(graph, nullptr, &nodes));
	CHECK(nodes == 5);
	OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
	for (int i = 0; i < 3; i++) {
		OK(hipGraphLaunch(exec, s));
		OK(hipStreamSynchronize(s));
		for (int v : r)
			CHECK(v == 9);
	}
	CHECK(graph_turns == 3);
	// the kernel of an instance changed
	factor = 5;
	k.func = (void *)scale;
	k.kernelParams = scale_args;
	OK(hipGraphExecKernelNodeSetParams(exec, add, &k));
	OK(hipGraphLaunch(exec, s));
	OK(hipStreamSynchronize(s));
	for (int v : r)
		CHECK(v == 30);
	OK(hipGraphExecDestroy(exec));
	OK(hipGraphDestroy(graph));
}

// Two streams captured into one graph by events.
static void forked_capture()
{
	const int n = 300;
	std::vector<int> r(n), q(n);
	hipStream_t s, t;
	hipEvent_t fork, join;
	hipGraph_t graph;
	hipGraphExec_t exec;
	int *a, *b;

	OK(hipMalloc((void **)&a, n * 4));
	OK(hipMalloc((void **)&b, n * 4));
	OK(hipMemset(a, 0, n * 4));
	OK(hipMemset(b, 0, n * 4));
	OK(hipStreamCreate(&s));
	OK(hipStreamCreate(&t));
	OK(hipEventCreate(&fork));
	OK(hipEventCreate(&join));
	OK(hipStreamBeginCapture(s, hipStreamCaptureModeGlobal));
	bump<<<2, 256, 0, s>>>(a, n);
	OK(hipEventRecord(fork, s));
	OK(hipStreamWaitEvent(t, fork, 0));
	bump<<<2, 256, 0, t>>>(b, n);
	bump<<<2, 256, 0, t>>>(b, n);
	OK(hipEventRecord(join, t));
	bump<<<2, 256, 0, s>>>(a, n);
	OK(hipStreamWaitEvent(s, join, 0));
	OK(hipMemcpyAsync(q.data(), b, n * 4, hipMemcpyDeviceToHost, s));
	OK(hipStreamEndCapture(s, &graph));
	OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
	for (int i = 0; i < 4; i++)
		OK(hipGraphLaunch(exec, s));
	OK(hipStreamSynchronize(s));
	OK(hipMemcpy(r.data(), a, n * 4, hipMemcpyDeviceToHost));
	for (int i = 0; i < n; i++)
		CHECK(r[i] == 8 && q[i] == 8);
}

// -------------------------------------------------------------------- launches and modules

__global__ void dynamic_lds(int *out, int n)
{
	extern __shared__ int lds[];

	for (int i = threadIdx.x; i < n; i += blockDim.x)
		lds[i] = i * 3;
	__syncthreads();
	for (int i = threadIdx.x; i < n; i += blockDim.x)
		out[i] = lds[n - 1 - i];
}

static void lds_sizes()
{
	for (int n : {1, 255, 4096, 16384}) {
		std::vector<int> r((size_t)n);
		int *d;

		OK(hipMalloc((void **)&d, (size_t)n * 4));
		dynamic_lds<<<1, 256, (size_t)n * 4>>>(d, n);
		OK(hipGetLastError());
		OK(hipMemcpy(r.data(), d, (size_t)n * 4, hipMemcpyDeviceToHost));
		for (int i = 0; i < n; i++)
			CHECK(r[i] == (n - 1 - i) * 3);
	}
}

static void refused_launches()
{
	int *d;
	void *args[] = {&d};

	OK(hipMalloc((void **)&d, 4096));
	bump<<<1, 1025>>>(d, 1);
	CHECK(hipGetLastError() != hipSuccess);
	bump<<<0, 64>>>(d, 1);
	CHECK(hipGetLastError() != hipSuccess);
	bump<<<1, 0>>>(d, 1);
	CHECK(hipGetLastError() != hipSuccess);
	dynamic_lds<<<1, 64, 65537>>>(d, 1);
	CHECK(hipGetLastError() != hipSuccess);
	CHECK(hipLaunchKernel((const void *)&d, dim3(1), dim3(1), args, 0, 0) != hipSuccess);
	// and none of it hurts
	bump<<<1, 64>>>(d, 1);
	OK(hipGetLastError());
	OK(hipDeviceSynchronize());
}

static void occupancy()
{
	int blocks, grid, block;

	OK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, bump, 256, 0));
	CHECK(blocks >= 1 && blocks <= 64);
	OK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, bump, 256, 32768));
	CHECK(blocks >= 1 && blocks <= 4);
	OK(hipOccupancyMaxPotentialBlockSize(&grid, &block, bump, 0, 0));
	CHECK(grid >= 1 && block >= 64 && block <= 1024);
}

extern "C" {
__device__ int module_global[8] = {1, 2, 3, 4, 5, 6, 7, 8};
__global__ void module_kernel(int *out, int add)
{
	out[threadIdx.x] = module_global[threadIdx.x] + add;
}
}

static void modules()
{
	const char *path = getenv("RT_HIP_MODULE");
	int r[8], twice[8], add = 100, *d;
	hipModule_t m;
	hipFunction_t f;
	hipDeviceptr_t global;
	size_t size;

	CHECK(path);
	OK(hipModuleLoad(&m, path));
	OK(hipModuleGetGlobal(&global, &size, m, "module_global"));
	CHECK(size == sizeof r);
	OK(hipMemcpyDtoH(r, global, size));
	for (int i = 0; i < 8; i++) {
		CHECK(r[i] == i + 1);
		twice[i] = 2 * r[i];
	}
	OK(hipMemcpyHtoD(global, twice, size));
	OK(hipModuleGetFunction(&f, m, "module_kernel"));
	OK(hipMalloc((void **)&d, sizeof r));
	void *args[] = {&d, &add};
	OK(hipModuleLaunchKernel(f, 1, 1, 1, 8, 1, 1, 0, 0, args, nullptr));
	OK(hipMemcpy(r, d, sizeof r, hipMemcpyDeviceToHost));
	for (int i = 0; i < 8; i++)
		CHECK(r[i] == 2 * (i + 1) + 100);
	// its arguments as one block
	struct {
		int *out;
		int add;
	} packed = {d, 7};
	size_t bytes = sizeof packed;
	void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &packed, HIP_LAUNCH_PARAM_BUFFER_SIZE,
		&bytes, HIP_LAUNCH_PARAM_END};
	OK(hipModuleLaunchKernel(f, 1, 1, 1, 8, 1, 1, 0, 0, nullptr, extra));
	OK(hipMemcpy(r, d, sizeof r, hipMemcpyDeviceToHost));
	CHECK(r[7] == 16 + 7);
	FAILS(hipModuleGetFunction(&f, m, "nothing_there"), hipErrorNotFound);
	CHECK(hipModuleGetGlobal(&global, &size, m, "nothing_there") != hipSuccess);
	OK(hipModuleUnload(m));
	// the program's own is another
	OK(hipMemcpyFromSymbol(r, HIP_SYMBOL(module_global), sizeof r, 0, hipMemcpyDeviceToHost));
	CHECK(r[7] == 8);
}

static void symbol_addresses()
{
	void *p;
	size_t size;
	int r[8];

	OK(hipGetSymbolAddress(&p, HIP_SYMBOL(module_global)));
	OK(hipGetSymbolSize(&size, HIP_SYMBOL(module_global)));
	CHECK(size == sizeof r);
	bump<<<1, 8>>>((int *)p, 8);
	OK(hipMemcpy(r, p, sizeof r, hipMemcpyDeviceToHost));
	for (int i = 0; i < 8; i++)
		CHECK(r[i] == i + 2);
}

__attribute__((managed)) int managed_variable = 41;

__global__ void bump_managed()
{
	managed_variable++;
}

static void managed_variables()
{
	bump_managed<<<1, 1>>>();
	OK(hipDeviceSynchronize());
	CHECK(managed_variable == 42);
}

// There are no images: whoever asks is told so, and goes on.
static void no_textures()
{
	hipChannelFormatDesc format = hipCreateChannelDesc(32, 0, 0, 0, hipChannelFormatKindFloat);
	hipArray_t array;
	hipResourceDesc res = {};
	hipTextureDesc tex = {};
	hipTextureObject_t t;
	int *d, has;

	OK(hipDeviceGetAttribute(&has, hipDeviceAttributeImageSupport, 0));
	CHECK(!has);
	CHECK(hipMallocArray((hipArray **)&array, &format, 64, 64, 0) != hipSuccess);
	OK(hipMalloc((void **)&d, 4096));
	res.resType = hipResourceTypeLinear;
	res.res.linear.devPtr = d;
	res.res.linear.desc = format;
	res.res.linear.sizeInBytes = 4096;
	CHECK(hipCreateTextureObject(&t, &res, &tex, nullptr) != hipSuccess);
	(void)hipGetLastError();
	bump<<<1, 64>>>(d, 64);
	OK(hipDeviceSynchronize());
}

static void reset()
{
	int *d, r[64];

	for (int round = 0; round < 3; round++) {
		OK(hipMalloc((void **)&d, sizeof r));
		OK(hipMemset(d, 0, sizeof r));
		bump<<<1, 64>>>(d, 64);
		OK(hipMemcpy(r, d, sizeof r, hipMemcpyDeviceToHost));
		CHECK(r[0] == 1 && r[63] == 1);
		OK(hipDeviceReset());
	}
}

// ----------------------------------------------------------------------------------- threads

static void one_thread(int number, int devices, std::atomic<int> *good)
{
	const int n = 2000, rounds = 20;
	std::vector<int> r(n);
	hipStream_t s;
	int *d;

	OK(hipSetDevice(number % devices));
	OK(hipStreamCreate(&s));
	OK(hipMalloc((void **)&d, n * 4));
	OK(hipMemsetAsync(d, 0, n * 4, s));
	for (int i = 0; i < rounds; i++)
		bump<<<(n + 127) / 128, 128, 0, s>>>(d, n);
	OK(hipMemcpyAsync(r.data(), d, n * 4, hipMemcpyDeviceToHost, s));
	OK(hipStreamSynchronize(s));
	for (int v : r)
		CHECK(v == rounds);
	OK(hipFree(d));
	OK(hipStreamDestroy(s));
	++*good;
}

static void threads()
{
	std::vector<std::thread> all;
	std::atomic<int> good{0};
	int devices;

	OK(hipGetDeviceCount(&devices));
	CHECK(devices == 2);
	for (int i = 0; i < 8; i++)
		all.emplace_back(one_thread, i, devices, &good);
	for (auto &t : all)
		t.join();
	CHECK(good == 8);
}

__global__ void add_up(int *sum)
{
	__hip_atomic_fetch_add(sum, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

// Many groups, many launches: the sum says that each ran once.
static void each_once()
{
	int *d, r;

	OK(hipMalloc((void **)&d, 4));
	OK(hipMemset(d, 0, 4));
	for (int i = 0; i < 200; i++)
		add_up<<<i + 1, 64>>>(d);
	OK(hipMemcpy(&r, d, 4, hipMemcpyDeviceToHost));
	CHECK(r == 200 * 201 / 2 * 64);
}

// ---------------------------------------------------------------- what kernels ask the host for

#if HIP_VERSION >= 60000000 // 5.2 has no malloc on the device
__global__ void allocate(int **out, int n)
{
	int i = threadIdx.x;
	int *p = (int *)malloc((size_t)n * 4);

	if (p)
		for (int k = 0; k < n; k++)
			p[k] = i * 1000 + k;
	out[i] = p;
}

__global__ void release(int **in, int *sum, int n)
{
	int i = threadIdx.x, s = 0;

	for (int k = 0; in[i] && k < n; k++)
		s += in[i][k];
	sum[i] = s;
	free(in[i]);
}

static void device_malloc()
{
	const int lanes = 64, n = 50;
	int **p, *sum, r[lanes];
	int *got[lanes];

	OK(hipMalloc((void **)&p, sizeof got));
	OK(hipMalloc((void **)&sum, sizeof r));
	for (int round = 0; round < 3; round++) {
		allocate<<<1, lanes>>>(p, n);
		OK(hipDeviceSynchronize());
		OK(hipMemcpy(got, p, sizeof got, hipMemcpyDeviceToHost));
		for (int i = 0; i < lanes; i++) {
			CHECK(got[i]);
			for (int k = 0; k < i; k++)
				CHECK(got[i] != got[k]);
		}
		release<<<1, lanes>>>(p, sum, n);
		OK(hipMemcpy(r, sum, sizeof r, hipMemcpyDeviceToHost));
		for (int i = 0; i < lanes; i++)
			CHECK(r[i] == i * 1000 * n + n * (n - 1) / 2);
	}
}

#endif

__global__ void talk(const char *name)
{
	printf("%s %d.%d %lld %08x %c %p %.3f %5.1e %%\n", name, (int)blockIdx.x, (int)threadIdx.x,
		-1234567890123ll, 0xbeefu, 'a' + (int)threadIdx.x % 26, (void *)0x1234abcd,
		1.0 / (1 + threadIdx.x), 12345.678);
}

__global__ void talk_long()
{
	printf("0123456789012345678901234567890123456789012345678901234567890123456789"
	       "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqr"
	       "ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKLMNOPQR %s %s end\n",
		"a string that is an argument and not short at all, to take more than one packet",
		"");
}

// 4 groups of 96 lanes; who runs it compares the lines with what host's printf makes.
static void talks()
{
	char *name;

	OK(hipMalloc((void **)&name, 16));
	OK(hipMemcpy(name, "by pointer", 11, hipMemcpyHostToDevice));
	talk<<<4, 96>>>(name);
	talk_long<<<1, 2>>>();
	OK(hipDeviceSynchronize());
}

__global__ void give_up_late(int *p, int n)
{
	if (blockIdx.x == (unsigned)n)
		abort();
	p[blockIdx.x] = 1;
}

static void aborts()
{
	int *d;

	OK(hipMalloc((void **)&d, 4096));
	give_up_late<<<64, 1>>>(d, 33);
	printf("sync: %s\n", hipGetErrorName(hipDeviceSynchronize()));
}

__global__ void read_freed(const int *p, int *out)
{
	*out = *p;
}

static void freed()
{
	int *d, *out;

	OK(hipMalloc((void **)&d, 1 << 22));
	OK(hipMalloc((void **)&out, 4));
	OK(hipFree(d));
	read_freed<<<1, 1>>>(d, out);
	printf("sync: %s\n", hipGetErrorName(hipDeviceSynchronize()));
}

static const hip_test tests[] = {
	{"pending", "kernels", pending},
	{"host_functions", "kernels", host_functions},
	{"values", "kernels", values},
	{"priorities", "none", priorities},
	{"explicit_graph", "kernels", explicit_graph},
	{"forked_capture", "kernels", forked_capture},
	{"lds_sizes", "kernels", lds_sizes},
	{"refused_launches", "kernels", refused_launches},
	{"occupancy", "none", occupancy},
	{"modules", "kernels", modules},
	{"symbol_addresses", "kernels", symbol_addresses},
	{"managed_variables", "kernels", managed_variables},
	{"no_textures", "kernels", no_textures},
	{"reset", "kernels", reset},
	{"threads", "two-kernels", threads},
	{"each_once", "kernels", each_once},
#if HIP_VERSION >= 60000000
	{"device_malloc", "kernels", device_malloc},
#endif
	{"talks", "ends", talks},
	{"aborts", "ends", aborts},
	{"freed", "ends", freed},
};

int main(int argc, char **argv)
{
	return run_tests(tests, argc, argv);
}
