/*
 * The HIP runtime by dlopen: libamdhip64.so.5, .so.6 or .so.7. Only functions whose
 * parameters are the same in all of them, and no structure: hipDeviceProp_t changed
 * between 5 and 6. Prototypes and numbers: hip_runtime_api.h of 5.2.3 and 6.4.3.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef int rck_hip_error; /* hipError_t: 0 is hipSuccess */
enum { RCK_HIP_TO_DEVICE = 1, RCK_HIP_TO_HOST = 2 };

struct rck_hip {
	void *library;
	rck_hip_error (*init)(unsigned flags);
	rck_hip_error (*get_device_count)(int *count);
	rck_hip_error (*set_device)(int device);
	rck_hip_error (*device_get_name)(char *name, int size, int device);
	rck_hip_error (*device_get_pci_bus_id)(char *id, int size, int device);
	rck_hip_error (*runtime_get_version)(int *version);
	const char *(*get_error_name)(rck_hip_error error);
	const char *(*get_error_string)(rck_hip_error error);
	rck_hip_error (*malloc)(void **p, size_t size);
	rck_hip_error (*free)(void *p);
	rck_hip_error (*memcpy)(void *to, const void *from, size_t size, int kind);
	rck_hip_error (*module_load_data)(void **module, const void *image);
	rck_hip_error (*module_unload)(void *module);
	rck_hip_error (*module_get_function)(
		void **function, void *module, const char *name);
	rck_hip_error (*module_launch_kernel)(void *function, unsigned grid_x,
		unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
		unsigned block_z, unsigned lds, void *stream, void **params,
		void **extra);
	rck_hip_error (*stream_create)(void **stream);
	rck_hip_error (*stream_destroy)(void *stream);
	rck_hip_error (*stream_synchronize)(void *stream);
	rck_hip_error (*event_create)(void **event);
	rck_hip_error (*event_record)(void *event, void *stream);
	rck_hip_error (*event_synchronize)(void *event);
	rck_hip_error (*event_elapsed_time)(float *ms, void *from, void *to);
	rck_hip_error (*event_destroy)(void *event);
};

/*
 * Opens the library (a path or a soname). 0, or -ENOENT (it cannot be loaded) or -ENOTSUP
 * (a function is missing), with the reason in text.
 */
int rck_hip_open(struct rck_hip *hip, const char *library, char *text, size_t size);
