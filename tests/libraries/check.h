// What the programs over AMD's libraries share: the library and the HIP runtime by dlopen
// (one program then runs over every version that is there), memory of the device, TAP.
#pragma once

#include <hip/hip_runtime_api.h>

#include <dlfcn.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

static void *library_handle, *hip_handle;

// f(CALL): the function of the library of that name, typed by its header.
#define LIB(name) (reinterpret_cast<decltype(&name)>(symbol(library_handle, #name)))
#define HIP(name) (reinterpret_cast<decltype(&name)>(symbol(hip_handle, #name)))

[[noreturn]] static inline void give_up(const char *what, const char *why)
{
	printf("Bail out! %s: %s\n", what, why);
	exit(1);
}

static inline void *symbol(void *handle, const char *name)
{
	void *p = dlsym(handle, name);

	if (!p)
		give_up(name, dlerror());
	return p;
}

static inline void open_libraries(const char *library)
{
	library_handle = dlopen(library, RTLD_NOW | RTLD_GLOBAL);
	if (!library_handle)
		give_up(library, dlerror());
	// the one that the library brought
	for (const char *name :
		{"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"})
		if (!hip_handle)
			hip_handle = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
	if (!hip_handle)
		give_up("libamdhip64", "not loaded by the library");
}

#define OK(call)                                                                         \
	do {                                                                             \
		int status_ = (int)(call);                                               \
		if (status_) {                                                           \
			printf("# %s:%d: %s: status %d\n", __FILE__, __LINE__, #call,    \
				status_);                                                \
			throw status_;                                                   \
		}                                                                        \
	} while (0)

template <class T> struct device {
	T *p = nullptr;
	size_t n;

	explicit device(size_t count) : n(count)
	{
		OK(reinterpret_cast<hipError_t (*)(void **, size_t)>(symbol(
			hip_handle, "hipMalloc"))((void **)&p, n ? n * sizeof(T) : 1));
		// what a kernel does not write is seen as such
		OK(HIP(hipMemset)(p, 0xa5, n * sizeof(T)));
	}
	explicit device(const std::vector<T> &v) : device(v.size())
	{
		OK(HIP(hipMemcpy)(p, v.data(), n * sizeof(T), hipMemcpyHostToDevice));
	}
	device(const device &) = delete;
	~device()
	{
		(void)HIP(hipFree)(p);
	}
	operator T *()
	{
		return p;
	}
	std::vector<T> get() const
	{
		std::vector<T> v(n);

		OK(HIP(hipMemcpy)(v.data(), p, n * sizeof(T), hipMemcpyDeviceToHost));
		return v;
	}
};

static int n_tests, n_failed;

// The first place where two vectors differ, as a comment; true: none.
template <class T> static bool same(const std::vector<T> &got, const std::vector<T> &want)
{
	if (got.size() != want.size())
		return printf("# %zu elements, not %zu\n", got.size(), want.size()),
		       false;
	for (size_t i = 0; i < got.size(); i++)
		if (got[i] != want[i])
			return printf("# [%zu] is %.17g, not %.17g\n", i, (double)got[i],
				       (double)want[i]),
			       false;
	return true;
}

// |got - want| <= bound, element by element; NaN is never within.
template <class T>
static bool within(const std::vector<T> &got, const std::vector<double> &want,
	const std::vector<double> &bound)
{
	double worst = 0;

	if (got.size() != want.size())
		return printf("# %zu elements, not %zu\n", got.size(), want.size()),
		       false;
	for (size_t i = 0; i < got.size(); i++) {
		double d = fabs((double)got[i] - want[i]);

		if (!(d <= bound[i]))
			return printf("# [%zu] is %.17g, not %.17g +- %g\n", i,
				       (double)got[i], want[i], bound[i]),
			       false;
		if (bound[i] > 0 && d / bound[i] > worst)
			worst = d / bound[i];
	}
	printf("# %.2g of the bound\n", worst);
	return true;
}

static inline void test(const char *name, const std::function<bool()> &run)
{
	bool ok = false;

	try {
		ok = run();
	} catch (int) {
	}
	n_tests++;
	n_failed += !ok;
	printf("%sok %d - %s\n", ok ? "" : "not ", n_tests, name);
	fflush(stdout);
}

static inline int finish()
{
	printf("1..%d\n", n_tests);
	return n_failed > 0;
}
