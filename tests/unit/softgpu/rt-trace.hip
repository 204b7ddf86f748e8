// What rt-trace has traced and counted: MODE GROUPS N.
//   one      straight and turns, one after another
//   streams  the same, ten times each on a stream of its own, all at once
//   fault    a kernel that stops at its first store
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#define OK(call)                                                                         \
	do {                                                                             \
		if ((call) != hipSuccess) {                                              \
			fprintf(stderr, "%s failed\n", #call);                           \
			exit(9);                                                         \
		}                                                                        \
	} while (0)

__global__ void straight(int *a, const int *b)
{
	int i = blockIdx.x * 64 + threadIdx.x;

	a[i] = b[i] * 3 + (b[i] >> 4);
}

/* Every wave meets n * (its group's number + 1) barriers, and half of its lanes branch. */
__global__ void turns(int *a, int n)
{
	__shared__ int s[64];
	int sum = 0;

	for (unsigned int i = 0; i < n * (blockIdx.x + 1); i++) {
		s[threadIdx.x] = sum + i;
		__syncthreads();
		if (threadIdx.x & 1)
			sum += s[threadIdx.x ^ 63] * 5;
	}
	a[blockIdx.x * 64 + threadIdx.x] = sum;
}

__global__ void faulty(int *a)
{
	a[(size_t)threadIdx.x << 40] = 1;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 3 ? argv[1] : "";
	unsigned int groups = argc > 3 ? atoi(argv[2]) : 1;
	int n = argc > 3 ? atoi(argv[3]) : 1, *a, *b, *c;
	hipStream_t one = nullptr, two = nullptr;

	OK(hipMalloc(&a, groups * 256));
	OK(hipMalloc(&b, groups * 256));
	OK(hipMalloc(&c, groups * 256));
	if (!strcmp(mode, "fault")) {
		faulty<<<1, 64>>>(a);
		return hipDeviceSynchronize() == hipSuccess ? 8 : 7;
	}
	if (!strcmp(mode, "streams")) {
		OK(hipStreamCreate(&one));
		OK(hipStreamCreate(&two));
	}
	for (int i = 0; i < (one ? 10 : 1); i++) {
		straight<<<groups, 64, 0, one>>>(a, b);
		turns<<<groups, 64, 0, two>>>(c, n);
	}
	OK(hipDeviceSynchronize());
	return 0;
}
