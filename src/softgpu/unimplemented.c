/*
 * What the HIP runtime imports and this device does not have: images and samplers (its
 * agents have room for none), signals of other processes, graphics interoperation, a
 * fabric of several machines, storage that a device reads by itself. Each gives the error
 * that its specification names for "cannot", and is named once on stderr.
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

/*
 * Of ROCm 7: names that its HIP runtime imports and no header here declares. Their
 * arguments are not looked at, so that their exact types do not matter.
 */
#define CANNOT_WHATEVER(name, status)                                                    \
	hsa_status_t name(void);                                                         \
	hsa_status_t name(void)                                                          \
	{                                                                                \
		CANNOT(status);                                                          \
	}

CANNOT_WHATEVER(
	hsa_ext_image_data_get_info_v2, HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED)
CANNOT_WHATEVER(hsa_ext_image_create_v2, HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED)
CANNOT_WHATEVER(hsa_ext_image_destroy_v2, HSA_STATUS_ERROR_INVALID_ARGUMENT)
CANNOT_WHATEVER(hsa_ext_image_mipmap_array_get_level, HSA_STATUS_ERROR_INVALID_ARGUMENT)
CANNOT_WHATEVER(
	hsa_ext_sampler_create_v2, HSA_EXT_STATUS_ERROR_SAMPLER_DESCRIPTOR_UNSUPPORTED)
CANNOT_WHATEVER(hsa_amd_image_create_v2, HSA_STATUS_ERROR_INVALID_ARGUMENT)
CANNOT_WHATEVER(hsa_amd_interop_map_buffer_with_size, HSA_STATUS_ERROR_INVALID_ARGUMENT)
CANNOT_WHATEVER(hsa_amd_memory_async_batch_copy, HSA_STATUS_ERROR_INVALID_ARGUMENT)
CANNOT_WHATEVER(hsa_amd_vmem_export_fabric_handle, HSA_STATUS_ERROR_INVALID_ARGUMENT)
CANNOT_WHATEVER(hsa_amd_vmem_import_fabric_handle, HSA_STATUS_ERROR_INVALID_ARGUMENT)
CANNOT_WHATEVER(hsa_amd_ais_file_read, HSA_STATUS_ERROR_INVALID_ARGUMENT)
CANNOT_WHATEVER(hsa_amd_ais_file_write, HSA_STATUS_ERROR_INVALID_ARGUMENT)

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
