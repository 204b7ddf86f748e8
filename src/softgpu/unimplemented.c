/*
 * What the HIP runtime imports and this device does not have: images and samplers (its
 * agents have room for none), memory and signals of other processes, graphics
 * interoperation, shared virtual memory attributes (its system does not offer them). Each
 * gives the error that its specification names for "cannot", and is named once on stderr.
 */
#include "softgpu/softgpu.h"

#define CANNOT(status)                                                                   \
	do {                                                                             \
		SG_CHECK_OPEN();                                                         \
		return sg_unimplemented(__func__, (hsa_status_t)(status));               \
	} while (0)

hsa_status_t hsa_ext_image_data_get_info(hsa_agent_t agent,
	const hsa_ext_image_descriptor_t *image_descriptor,
	hsa_access_permission_t access_permission,
	hsa_ext_image_data_info_t *image_data_info)
{
	CANNOT(HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED);
}

hsa_status_t hsa_ext_image_create(hsa_agent_t agent,
	const hsa_ext_image_descriptor_t *image_descriptor, const void *image_data,
	hsa_access_permission_t access_permission, hsa_ext_image_t *image)
{
	CANNOT(HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED);
}

hsa_status_t hsa_ext_image_create_with_layout(hsa_agent_t agent,
	const hsa_ext_image_descriptor_t *image_descriptor, const void *image_data,
	hsa_access_permission_t access_permission,
	hsa_ext_image_data_layout_t image_data_layout, size_t image_data_row_pitch,
	size_t image_data_slice_pitch, hsa_ext_image_t *image)
{
	CANNOT(HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED);
}

hsa_status_t hsa_amd_image_create(hsa_agent_t agent,
	const hsa_ext_image_descriptor_t *image_descriptor,
	const hsa_amd_image_descriptor_t *image_layout, const void *image_data,
	hsa_access_permission_t access_permission, hsa_ext_image_t *image)
{
	CANNOT(HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

hsa_status_t hsa_ext_image_destroy(hsa_agent_t agent, hsa_ext_image_t image)
{
	CANNOT(HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

hsa_status_t hsa_ext_image_import(hsa_agent_t agent, const void *src_memory,
	size_t src_row_pitch, size_t src_slice_pitch, hsa_ext_image_t dst_image,
	const hsa_ext_image_region_t *image_region)
{
	CANNOT(HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

hsa_status_t hsa_ext_image_export(hsa_agent_t agent, hsa_ext_image_t src_image,
	void *dst_memory, size_t dst_row_pitch, size_t dst_slice_pitch,
	const hsa_ext_image_region_t *image_region)
{
	CANNOT(HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

hsa_status_t hsa_ext_sampler_create(hsa_agent_t agent,
	const hsa_ext_sampler_descriptor_t *sampler_descriptor,
	hsa_ext_sampler_t *sampler)
{
	CANNOT(HSA_EXT_STATUS_ERROR_SAMPLER_DESCRIPTOR_UNSUPPORTED);
}

hsa_status_t hsa_ext_sampler_destroy(hsa_agent_t agent, hsa_ext_sampler_t sampler)
{
	CANNOT(HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

hsa_status_t hsa_amd_ipc_memory_create(
	void *ptr, size_t len, hsa_amd_ipc_memory_t *handle)
{
	CANNOT(HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

hsa_status_t hsa_amd_ipc_memory_attach(const hsa_amd_ipc_memory_t *handle, size_t len,
	uint32_t num_agents, const hsa_agent_t *mapping_agents, void **mapped_ptr)
{
	CANNOT(HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

hsa_status_t hsa_amd_ipc_memory_detach(void *mapped_ptr)
{
	CANNOT(HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

hsa_status_t hsa_amd_ipc_signal_create(hsa_signal_t signal, hsa_amd_ipc_signal_t *handle)
{
	CANNOT(HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

hsa_status_t hsa_amd_ipc_signal_attach(
	const hsa_amd_ipc_signal_t *handle, hsa_signal_t *signal)
{
	CANNOT(HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

hsa_status_t hsa_amd_interop_map_buffer(uint32_t num_agents, hsa_agent_t *agents,
	int interop_handle, uint32_t flags, size_t *size, void **ptr,
	size_t *metadata_size, const void **metadata)
{
	CANNOT(HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

hsa_status_t hsa_amd_interop_unmap_buffer(void *ptr)
{
	CANNOT(HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

hsa_status_t hsa_amd_svm_attributes_set(void *ptr, size_t size,
	hsa_amd_svm_attribute_pair_t *attribute_list, size_t attribute_count)
{
	CANNOT(HSA_STATUS_ERROR);
}

hsa_status_t hsa_amd_svm_attributes_get(void *ptr, size_t size,
	hsa_amd_svm_attribute_pair_t *attribute_list, size_t attribute_count)
{
	CANNOT(HSA_STATUS_ERROR);
}

hsa_status_t hsa_amd_svm_prefetch_async(void *ptr, size_t size, hsa_agent_t agent,
	uint32_t num_dep_signals, const hsa_signal_t *dep_signals,
	hsa_signal_t completion_signal)
{
	CANNOT(HSA_STATUS_ERROR);
}

hsa_status_t hsa_amd_portable_export_dmabuf(
	const void *ptr, size_t size, int *dmabuf, uint64_t *offset)
{
	CANNOT(HSA_STATUS_ERROR_INVALID_ALLOCATION);
}

hsa_status_t hsa_amd_portable_close_dmabuf(int dmabuf)
{
	CANNOT(HSA_STATUS_ERROR_RESOURCE_FREE);
}

/* -------------------------------- what an ideal device takes and has nothing to do for
 */

hsa_status_t hsa_amd_coherency_set_type(hsa_agent_t agent, hsa_amd_coherency_type_t type)
{
	SG_CHECK_OPEN();
	return sg_agent_of(agent) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_AGENT;
}

hsa_status_t hsa_amd_register_system_event_handler(
	hsa_amd_system_event_callback_t callback, void *data)
{
	SG_CHECK_OPEN();
	/* faults are reported to the queue that met them, by its own callback */
	return callback ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_amd_enable_logging(uint8_t *flags, void *file)
{
	SG_CHECK_OPEN();
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_agent_set_async_scratch_limit(hsa_agent_t agent, size_t threshold)
{
	SG_CHECK_OPEN();
	return sg_agent_of(agent) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_AGENT;
}
