#include "launch/hip.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define FUNCTION(name, member)                                                           \
	{                                                                                \
		name, offsetof(struct rck_hip, member)                                   \
	}

static const struct {
	const char *name;
	size_t offset;
} functions[] = {
	FUNCTION("hipInit", init),
	FUNCTION("hipGetDeviceCount", get_device_count),
	FUNCTION("hipSetDevice", set_device),
	FUNCTION("hipDeviceGetName", device_get_name),
	FUNCTION("hipDeviceGetPCIBusId", device_get_pci_bus_id),
	FUNCTION("hipRuntimeGetVersion", runtime_get_version),
	FUNCTION("hipGetErrorName", get_error_name),
	FUNCTION("hipGetErrorString", get_error_string),
	FUNCTION("hipMalloc", malloc),
	FUNCTION("hipFree", free),
	FUNCTION("hipMemcpy", memcpy),
	FUNCTION("hipModuleLoadData", module_load_data),
	FUNCTION("hipModuleUnload", module_unload),
	FUNCTION("hipModuleGetFunction", module_get_function),
	FUNCTION("hipModuleLaunchKernel", module_launch_kernel),
	FUNCTION("hipStreamCreate", stream_create),
	FUNCTION("hipStreamDestroy", stream_destroy),
	FUNCTION("hipStreamSynchronize", stream_synchronize),
	FUNCTION("hipEventCreate", event_create),
	FUNCTION("hipEventRecord", event_record),
	FUNCTION("hipEventSynchronize", event_synchronize),
	FUNCTION("hipEventElapsedTime", event_elapsed_time),
	FUNCTION("hipEventDestroy", event_destroy),
};

int rck_hip_open(struct rck_hip *hip, const char *library, char *text, size_t size)
{
	memset(hip, 0, sizeof(*hip));
	hip->library = dlopen(library, RTLD_NOW | RTLD_GLOBAL);
	if (!hip->library) {
		snprintf(text, size, "cannot load the HIP runtime: %s", dlerror());
		return -ENOENT;
	}
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		void *address = dlsym(hip->library, functions[i].name);

		if (!address) {
			snprintf(text, size, "the HIP runtime '%s' has no function %s",
				library, functions[i].name);
			return -ENOTSUP;
		}
		memcpy((char *)hip + functions[i].offset, &address, sizeof(address));
	}
	return 0;
}
