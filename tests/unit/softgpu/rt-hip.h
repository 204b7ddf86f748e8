// What the HIP programs for the software device share: 'PROGRAM list' prints "NAME
// NEEDS", 'PROGRAM NAME' runs one and exits 0 when all that it checks is so. NEEDS:
//   none         packets suffice; kernels need not be executed
//   two          the same, on two devices
//   kernels, two-kernels: the interpreter has to execute
//   ends         who runs it checks how it ends
#pragma once

#include <hip/hip_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(x)                                                                         \
	do {                                                                             \
		if (!(x)) {                                                              \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #x);  \
			exit(1);                                                         \
		}                                                                        \
	} while (0)
#define OK(call)                                                                         \
	do {                                                                             \
		hipError_t e_ = (call);                                                  \
		if (e_ != hipSuccess) {                                                  \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,    \
				hipGetErrorString(e_));                                  \
			exit(1);                                                         \
		}                                                                        \
	} while (0)
#define FAILS(call, error)                                                               \
	do {                                                                             \
		hipError_t e_ = (call);                                                  \
		if (e_ != (error)) {                                                     \
			fprintf(stderr, "%s:%d: %s: %s, not %s\n", __FILE__, __LINE__,   \
				#call, hipGetErrorName(e_), hipGetErrorName(error));     \
			exit(1);                                                         \
		}                                                                        \
	} while (0)

typedef std::vector<uint8_t> bytes;

static bytes pattern(size_t n, unsigned seed)
{
	bytes b(n);

	for (size_t i = 0; i < n; i++)
		b[i] = (uint8_t)((i * 2654435761u + seed * 40503u) >> 7);
	return b;
}

/* Of the runtime, which need not be that of the headers: 60443484 for 6.4.43484. */
static inline int hip_version()
{
	int version = 0;

	OK(hipRuntimeGetVersion(&version));
	return version;
}

struct hip_test {
	const char *name, *needs;
	void (*run)();
};

template <size_t n>
static int run_tests(const hip_test (&tests)[n], int argc, char **argv)
{
	bool list = argc == 2 && !strcmp(argv[1], "list");

	for (const auto &t : tests)
		if (list)
			printf("%s %s\n", t.name, t.needs);
		else if (argc == 2 && !strcmp(argv[1], t.name))
			return t.run(), 0;
	return list ? 0 : 3;
}
