/*
 * What hsa.h and hsa_ext_amd.h gained after ROCm 5.2.3, whose headers Debian 12 has:
 * names and values of ROCm 6.4.3's public headers, and of rocm-systems' for 7.x.
 */
#pragma once

#include <hsa/amd_hsa_queue.h>
#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <hsa/hsa_ext_image.h>
#include <hsa/hsa_ven_amd_loader.h>

#include <stdbool.h>

/* hsa.h declares these two without a prototype */
hsa_status_t hsa_init(void);
hsa_status_t hsa_shut_down(void);

#define SG_STATUS_INVALID_POOL ((hsa_status_t)HSA_STATUS_ERROR_INVALID_MEMORY_POOL)

enum {
	SG_STATUS_CU_MASK_REDUCED = 44,
	SG_STATUS_OUT_OF_REGISTERS = 45,
	SG_STATUS_RESOURCE_BUSY = 46,
};

enum {
	SG_SYSTEM_MWAITX_ENABLED = 0x203,
	SG_SYSTEM_DMABUF_SUPPORTED = 0x204,
	SG_SYSTEM_VIRTUAL_MEM_API_SUPPORTED = 0x205,
	SG_SYSTEM_XNACK_ENABLED = 0x206,
	SG_SYSTEM_EXT_VERSION_MAJOR = 0x207,
	SG_SYSTEM_EXT_VERSION_MINOR = 0x208,
};

enum {
	SG_AGENT_MEMORY_AVAIL = 0xA015,
	SG_AGENT_TIMESTAMP_FREQUENCY = 0xA016,
	SG_AGENT_ASIC_FAMILY_ID = 0xA107,
	SG_AGENT_UCODE_VERSION = 0xA108,
	SG_AGENT_SDMA_UCODE_VERSION = 0xA109,
	SG_AGENT_NUM_SDMA_ENG = 0xA10A,
	SG_AGENT_NUM_SDMA_XGMI_ENG = 0xA10B,
	SG_AGENT_IOMMU_SUPPORT = 0xA110,
	SG_AGENT_NUM_XCC = 0xA111,
	SG_AGENT_DRIVER_UID = 0xA112,
	SG_AGENT_NEAREST_CPU = 0xA113,
	SG_AGENT_MEMORY_PROPERTIES = 0xA114,
	SG_AGENT_AQL_EXTENSIONS = 0xA115,
	SG_AGENT_SCRATCH_LIMIT_MAX = 0xA116,
	SG_AGENT_SCRATCH_LIMIT_CURRENT = 0xA117,
	SG_AGENT_CLOCK_COUNTERS = 0xA118,
};

enum {
	SG_POOL_INFO_LOCATION = 17,
	SG_POOL_INFO_RUNTIME_ALLOC_REC_GRANULE = 18,
};

#define SG_SVM_ATTRIB_GPU_EXEC        7
#define SG_POINTER_TYPE_RESERVED_ADDR 5
#define SG_ACCESS_PERMISSION_NONE     0

#if !defined(HSA_AMD_INTERFACE_VERSION_MINOR) || HSA_AMD_INTERFACE_VERSION_MINOR < 4
typedef struct hsa_amd_vmem_alloc_handle_s {
	uint64_t handle;
} hsa_amd_vmem_alloc_handle_t;

typedef enum {
	MEMORY_TYPE_NONE,
	MEMORY_TYPE_PINNED,
} hsa_amd_memory_type_t;

typedef struct hsa_amd_memory_access_desc_s {
	hsa_access_permission_t permissions;
	hsa_agent_t agent_handle;
} hsa_amd_memory_access_desc_t;

typedef enum hsa_amd_sdma_engine_id {
	HSA_AMD_SDMA_ENGINE_0 = 1,
} hsa_amd_sdma_engine_id_t;

typedef enum {
	HSA_AMD_QUEUE_INFO_AGENT,
	HSA_AMD_QUEUE_INFO_DOORBELL_ID,
} hsa_queue_info_attribute_t;

hsa_status_t hsa_amd_memory_async_copy_on_engine(void *dst, hsa_agent_t dst_agent,
	const void *src, hsa_agent_t src_agent, size_t size, uint32_t num_dep_signals,
	const hsa_signal_t *dep_signals, hsa_signal_t completion_signal,
	hsa_amd_sdma_engine_id_t engine_id, bool force_copy_on_sdma);
hsa_status_t hsa_amd_memory_copy_engine_status(
	hsa_agent_t dst_agent, hsa_agent_t src_agent, uint32_t *engine_ids_mask);
hsa_status_t hsa_amd_enable_logging(uint8_t *flags, void *file);
hsa_status_t hsa_amd_agent_set_async_scratch_limit(hsa_agent_t agent, size_t threshold);
hsa_status_t hsa_amd_queue_get_info(
	hsa_queue_t *queue, hsa_queue_info_attribute_t attribute, void *value);
hsa_status_t hsa_amd_portable_export_dmabuf(
	const void *ptr, size_t size, int *dmabuf, uint64_t *offset);
hsa_status_t hsa_amd_portable_close_dmabuf(int dmabuf);
hsa_status_t hsa_amd_vmem_address_reserve(
	void **va, size_t size, uint64_t address, uint64_t flags);
hsa_status_t hsa_amd_vmem_address_free(void *va, size_t size);
hsa_status_t hsa_amd_vmem_handle_create(hsa_amd_memory_pool_t pool, size_t size,
	hsa_amd_memory_type_t type, uint64_t flags,
	hsa_amd_vmem_alloc_handle_t *memory_handle);
hsa_status_t hsa_amd_vmem_handle_release(hsa_amd_vmem_alloc_handle_t memory_handle);
hsa_status_t hsa_amd_vmem_map(void *va, size_t size, size_t in_offset,
	hsa_amd_vmem_alloc_handle_t memory_handle, uint64_t flags);
hsa_status_t hsa_amd_vmem_unmap(void *va, size_t size);
hsa_status_t hsa_amd_vmem_set_access(
	void *va, size_t size, const hsa_amd_memory_access_desc_t *desc, size_t desc_cnt);
hsa_status_t hsa_amd_vmem_get_access(
	void *va, hsa_access_permission_t *perms, hsa_agent_t agent_handle);
hsa_status_t hsa_amd_vmem_export_shareable_handle(
	int *dmabuf_fd, hsa_amd_vmem_alloc_handle_t handle, uint64_t flags);
hsa_status_t hsa_amd_vmem_import_shareable_handle(
	int dmabuf_fd, hsa_amd_vmem_alloc_handle_t *handle);
hsa_status_t hsa_amd_vmem_retain_alloc_handle(
	hsa_amd_vmem_alloc_handle_t *memory_handle, void *addr);
hsa_status_t hsa_amd_vmem_get_alloc_properties_from_handle(
	hsa_amd_vmem_alloc_handle_t memory_handle, hsa_amd_memory_pool_t *pool,
	hsa_amd_memory_type_t *type);
#endif

#if !defined(HSA_AMD_INTERFACE_VERSION_MINOR) || HSA_AMD_INTERFACE_VERSION_MINOR < 6
hsa_status_t hsa_amd_vmem_address_reserve_align(
	void **va, size_t size, uint64_t address, uint64_t alignment, uint64_t flags);
#endif

#if !defined(HSA_AMD_INTERFACE_VERSION_MINOR) || HSA_AMD_INTERFACE_VERSION_MINOR < 9
hsa_status_t hsa_amd_portable_export_dmabuf_v2(
	const void *ptr, size_t size, int *dmabuf, uint64_t *offset, uint64_t flags);
#endif

/* of 7.x; -1: any engine */
hsa_status_t hsa_amd_memory_get_preferred_copy_engine(
	hsa_agent_t dst_agent, hsa_agent_t src_agent, uint32_t *engine_ids_mask);
