/* The agents: one CPU and the devices; what they answer when asked. */
#include "softgpu/softgpu.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#define DEFAULT_TARGET "gfx1030"
#define PCI_BUS        0x10

struct sg_agent sg_agents[SG_MAX_AGENTS];
size_t sg_n_agents;

/* HDP flush registers: HIP writes them after it wrote device memory. */
static uint32_t *hdp_registers;

static void add_pool(struct sg_agent *a, enum sg_pool_kind kind, uint64_t size)
{
	a->pools[a->n_pools++] = (struct sg_pool){kind, a, size};
}

static void add_cpu(void)
{
	struct sg_agent *a = &sg_agents[sg_n_agents];
	struct sysinfo si;
	uint64_t memory = UINT64_C(1) << 30;

	if (!sysinfo(&si))
		memory = (uint64_t)si.totalram * si.mem_unit;
	memset(a, 0, sizeof *a);
	a->node = (uint32_t)sg_n_agents++;
	add_pool(a, SG_POOL_HOST_FINE, memory);
	add_pool(a, SG_POOL_HOST_KERNARG, memory);
	add_pool(a, SG_POOL_HOST_COARSE, memory);
}

static void add_device(const struct sg_card *card)
{
	struct sg_agent *a = &sg_agents[sg_n_agents];

	memset(a, 0, sizeof *a);
	a->is_device = true;
	a->card = card;
	a->node = (uint32_t)sg_n_agents++;
	snprintf(a->isa, sizeof a->isa, "amdgcn-amd-amdhsa--%s%s", card->processor,
		card->features);
	add_pool(a, SG_POOL_DEVICE_COARSE, card->memory);
	if (card->fine_grained_memory)
		add_pool(a, SG_POOL_DEVICE_FINE, card->memory);
	add_pool(a, SG_POOL_GROUP, card->lds);
}

int sg_agents_create(void)
{
	const char *list = getenv("RCK_SOFT_TARGET");
	char *copy, *save = NULL;
	int r = 0;

	copy = strdup(list && *list ? list : DEFAULT_TARGET);
	if (!copy)
		return -ENOMEM;
	sg_n_agents = 0;
	add_cpu();
	for (char *t = strtok_r(copy, ",", &save); t; t = strtok_r(NULL, ",", &save)) {
		const struct sg_card *card = sg_card_find(t);
		if (!card) {
			sg_log(SG_LOG_ERROR, "RCK_SOFT_TARGET: no device '%s'", t);
			r = -EINVAL;
		} else if (sg_n_agents == SG_MAX_AGENTS) {
			sg_log(SG_LOG_ERROR, "RCK_SOFT_TARGET: more than %d devices",
				SG_MAX_AGENTS - 1);
			r = -EINVAL;
			break;
		} else {
			add_device(card);
		}
	}
	free(copy);
	if (!hdp_registers)
		hdp_registers = sg_internal_alloc(4096);
	return r ? r : hdp_registers ? 0 : -ENOMEM;
}

struct sg_agent *sg_agent_of(hsa_agent_t agent)
{
	for (size_t i = 0; i < sg_n_agents; i++)
		if (agent.handle == (uint64_t)(uintptr_t)&sg_agents[i])
			return &sg_agents[i];
	return NULL;
}

struct sg_pool *sg_pool_of(hsa_amd_memory_pool_t pool)
{
	for (size_t i = 0; i < sg_n_agents; i++)
		for (size_t p = 0; p < sg_agents[i].n_pools; p++)
			if (pool.handle == (uint64_t)(uintptr_t)&sg_agents[i].pools[p])
				return &sg_agents[i].pools[p];
	return NULL;
}

hsa_status_t hsa_iterate_agents(
	hsa_status_t (*callback)(hsa_agent_t agent, void *data), void *data)
{
	SG_CHECK_OPEN();
	if (!callback)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	for (size_t i = 0; i < sg_n_agents; i++) {
		hsa_status_t s = callback(sg_agent_handle(&sg_agents[i]), data);
		if (s != HSA_STATUS_SUCCESS)
			return s;
	}
	return HSA_STATUS_SUCCESS;
}

/* The two kinds of answer: a value of a size, or a string. */
#define ANSWER(type, v) (*(type *)value = (v))

static void answer_name(void *value, size_t size, const char *name)
{
	memset(value, 0, size);
	snprintf(value, size, "%.*s", (int)size - 1, name);
}

static void device_name(const struct sg_agent *a, char *out, size_t size)
{
	memset(out, 0, size);
	snprintf(out, size, "%s (rocmcheck software device)", a->card->product);
}

/* Attributes that both kinds of agent have; false: not one of these. */
static bool get_common(const struct sg_agent *a, unsigned int attribute, void *value)
{
	switch (attribute) {
	case HSA_AGENT_INFO_VENDOR_NAME:
		answer_name(value, 64, a->is_device ? "AMD" : "CPU");
		break;
	case HSA_AGENT_INFO_MACHINE_MODEL:
		ANSWER(hsa_machine_model_t, HSA_MACHINE_MODEL_LARGE);
		break;
	case HSA_AGENT_INFO_NODE:
	case HSA_AMD_AGENT_INFO_DRIVER_NODE_ID:
		ANSWER(uint32_t, a->node);
		break;
	case HSA_AGENT_INFO_DEVICE:
		ANSWER(hsa_device_type_t,
			a->is_device ? HSA_DEVICE_TYPE_GPU : HSA_DEVICE_TYPE_CPU);
		break;
	case HSA_AGENT_INFO_DEFAULT_FLOAT_ROUNDING_MODE:
		ANSWER(hsa_default_float_rounding_mode_t,
			HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR);
		break;
	case HSA_AGENT_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES:
		ANSWER(hsa_default_float_rounding_mode_t, 0);
		break;
	case HSA_AGENT_INFO_EXTENSIONS: /* 128 bytes of bits */
		memset(value, 0, 128);
		((uint8_t *)value)[0] |= (uint8_t)(a->is_device << HSA_EXTENSION_IMAGES);
		((uint8_t *)value)[HSA_EXTENSION_AMD_LOADER / 8] |=
			(uint8_t)(1u << HSA_EXTENSION_AMD_LOADER % 8);
		((uint8_t *)value)[HSA_EXTENSION_AMD_PROFILER / 8] |=
			(uint8_t)(1u << HSA_EXTENSION_AMD_PROFILER % 8);
		break;
	case HSA_AGENT_INFO_VERSION_MAJOR:
		ANSWER(uint16_t, 1);
		break;
	case HSA_AGENT_INFO_VERSION_MINOR:
		ANSWER(uint16_t, 1);
		break;
	case HSA_AMD_AGENT_INFO_SVM_DIRECT_HOST_ACCESS:
		ANSWER(bool, !a->is_device);
		break;
	case SG_AGENT_NEAREST_CPU:
		ANSWER(hsa_agent_t, sg_agent_handle(&sg_agents[0]));
		break;
	default:
		return false;
	}
	return true;
}

static bool get_cpu(const struct sg_agent *a, unsigned int attribute, void *value)
{
	switch (attribute) {
	case HSA_AGENT_INFO_NAME:
	case HSA_AMD_AGENT_INFO_PRODUCT_NAME:
		answer_name(value, 64, "CPU");
		break;
	case HSA_AGENT_INFO_FEATURE:
		ANSWER(hsa_agent_feature_t, 0);
		break;
	case HSA_AGENT_INFO_PROFILE:
		ANSWER(hsa_profile_t, HSA_PROFILE_FULL);
		break;
	case HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT:
	case HSA_AMD_AGENT_INFO_COOPERATIVE_COMPUTE_UNIT_COUNT:
		ANSWER(uint32_t, (uint32_t)sysconf(_SC_NPROCESSORS_ONLN));
		break;
	case HSA_AMD_AGENT_INFO_CACHELINE_SIZE:
		ANSWER(uint32_t, 64);
		break;
	case HSA_AMD_AGENT_INFO_UUID:
		answer_name(value, 21, "CPU-XX");
		break;
	case HSA_AGENT_INFO_CACHE_SIZE:
		memset(value, 0, 4 * sizeof(uint32_t));
		break;
	case HSA_AGENT_INFO_WORKGROUP_MAX_DIM:
		memset(value, 0, 3 * sizeof(uint16_t));
		break;
	case HSA_AGENT_INFO_GRID_MAX_DIM:
		memset(value, 0, sizeof(hsa_dim3_t));
		break;
	case SG_AGENT_TIMESTAMP_FREQUENCY:
		ANSWER(uint64_t, 1000000000);
		break;
	case SG_AGENT_MEMORY_PROPERTIES:
		memset(value, 0, 8);
		break;
	case HSA_AGENT_INFO_WAVEFRONT_SIZE:
	case HSA_AGENT_INFO_WORKGROUP_MAX_SIZE:
	case HSA_AGENT_INFO_GRID_MAX_SIZE:
	case HSA_AGENT_INFO_FBARRIER_MAX_SIZE:
	case HSA_AGENT_INFO_QUEUES_MAX:
	case HSA_AGENT_INFO_QUEUE_MIN_SIZE:
	case HSA_AGENT_INFO_QUEUE_MAX_SIZE:
	case HSA_AGENT_INFO_QUEUE_TYPE:
	case HSA_AMD_AGENT_INFO_CHIP_ID:
	case HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY:
	case HSA_AMD_AGENT_INFO_BDFID:
	case HSA_AMD_AGENT_INFO_MEMORY_WIDTH:
	case HSA_AMD_AGENT_INFO_MEMORY_MAX_FREQUENCY:
	case HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU:
	case HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU:
	case HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES:
	case HSA_AMD_AGENT_INFO_NUM_SHADER_ARRAYS_PER_SE:
	case HSA_AMD_AGENT_INFO_DOMAIN:
	case HSA_AMD_AGENT_INFO_ASIC_REVISION:
	case SG_AGENT_ASIC_FAMILY_ID:
		ANSWER(uint32_t, 0);
		break;
	default:
		return false;
	}
	return true;
}

/* Attributes that are one uint32_t of a card: data, not branches. */
struct field {
	unsigned int attribute;
	size_t offset; /* in struct sg_card; SIZE_MAX: constant */
	uint32_t constant;
};

static const struct field device_fields[] = {
	{HSA_AGENT_INFO_WAVEFRONT_SIZE, offsetof(struct sg_card, wavefront)},
	{HSA_AGENT_INFO_WORKGROUP_MAX_SIZE, SIZE_MAX, 1024},
	{HSA_AGENT_INFO_GRID_MAX_SIZE, SIZE_MAX, UINT32_MAX},
	{HSA_AGENT_INFO_FBARRIER_MAX_SIZE, SIZE_MAX, 32},
	{HSA_AGENT_INFO_QUEUES_MAX, SIZE_MAX, 128},
	{HSA_AGENT_INFO_QUEUE_MIN_SIZE, SIZE_MAX, 64},
	{HSA_AGENT_INFO_QUEUE_MAX_SIZE, SIZE_MAX, 131072},
	{HSA_AMD_AGENT_INFO_CHIP_ID, offsetof(struct sg_card, chip_id)},
	{HSA_AMD_AGENT_INFO_CACHELINE_SIZE, offsetof(struct sg_card, cacheline)},
	{HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT, offsetof(struct sg_card, compute_units)},
	{HSA_AMD_AGENT_INFO_COOPERATIVE_COMPUTE_UNIT_COUNT,
		offsetof(struct sg_card, compute_units)},
	{HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY, offsetof(struct sg_card, clock_mhz)},
	{HSA_AMD_AGENT_INFO_MEMORY_WIDTH, offsetof(struct sg_card, memory_bits)},
	{HSA_AMD_AGENT_INFO_MEMORY_MAX_FREQUENCY, offsetof(struct sg_card, memory_mhz)},
	{HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU, offsetof(struct sg_card, waves_per_cu)},
	{HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU, offsetof(struct sg_card, simds_per_cu)},
	{HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES, offsetof(struct sg_card, shader_engines)},
	{HSA_AMD_AGENT_INFO_NUM_SHADER_ARRAYS_PER_SE,
		offsetof(struct sg_card, arrays_per_engine)},
	{HSA_AMD_AGENT_INFO_ASIC_REVISION, offsetof(struct sg_card, asic_revision)},
	{HSA_AMD_AGENT_INFO_MAX_ADDRESS_WATCH_POINTS, SIZE_MAX, 4},
	{HSA_AMD_AGENT_INFO_DOMAIN, SIZE_MAX, 0},
	{SG_AGENT_ASIC_FAMILY_ID, offsetof(struct sg_card, asic_family)},
	{SG_AGENT_UCODE_VERSION, SIZE_MAX, 1},
	{SG_AGENT_SDMA_UCODE_VERSION, SIZE_MAX, 1},
	{SG_AGENT_NUM_SDMA_ENG, offsetof(struct sg_card, sdma_engines)},
	{SG_AGENT_NUM_SDMA_XGMI_ENG, SIZE_MAX, 0},
	{SG_AGENT_IOMMU_SUPPORT, SIZE_MAX, 0},
	{SG_AGENT_NUM_XCC, offsetof(struct sg_card, xcc)},
};

static bool get_device_field(
	const struct sg_agent *a, unsigned int attribute, void *value)
{
	for (size_t i = 0; i < sizeof device_fields / sizeof *device_fields; i++) {
		const struct field *f = &device_fields[i];
		if (f->attribute != attribute)
			continue;
		if (f->offset == SIZE_MAX)
			memcpy(value, &f->constant, 4);
		else
			memcpy(value, (const char *)a->card + f->offset, 4);
		return true;
	}
	return false;
}

/*
 * The images extension is offered with room for no image, as ROCr does for gfx942: HIP
 * takes the pitch of hipMallocPitch from it. Values are uint32_t, as ROCr writes and HIP
 * reads them (hsa_ext_image.h says size_t).
 */
static bool get_image_limit(unsigned int attribute, void *value)
{
	static const struct {
		unsigned int attribute, n;
		uint32_t values[3];
	} limits[] = {
		{HSA_EXT_AGENT_INFO_IMAGE_1D_MAX_ELEMENTS, 1, {16384}},
		{HSA_EXT_AGENT_INFO_IMAGE_1DA_MAX_ELEMENTS, 1, {16384}},
		{HSA_EXT_AGENT_INFO_IMAGE_1DB_MAX_ELEMENTS, 1, {UINT32_MAX}},
		{HSA_EXT_AGENT_INFO_IMAGE_2D_MAX_ELEMENTS, 2, {16384, 16384}},
		{HSA_EXT_AGENT_INFO_IMAGE_2DA_MAX_ELEMENTS, 2, {16384, 16384}},
		{HSA_EXT_AGENT_INFO_IMAGE_2DDEPTH_MAX_ELEMENTS, 2, {16384, 16384}},
		{HSA_EXT_AGENT_INFO_IMAGE_2DADEPTH_MAX_ELEMENTS, 2, {16384, 16384}},
		{HSA_EXT_AGENT_INFO_IMAGE_3D_MAX_ELEMENTS, 3, {16384, 16384, 8192}},
		{HSA_EXT_AGENT_INFO_IMAGE_ARRAY_MAX_LAYERS, 1, {8192}},
		{HSA_EXT_AGENT_INFO_MAX_IMAGE_RD_HANDLES, 1, {0}},
		{HSA_EXT_AGENT_INFO_MAX_IMAGE_RORW_HANDLES, 1, {0}},
		{HSA_EXT_AGENT_INFO_MAX_SAMPLER_HANDLERS, 1, {0}},
	};

	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
		if (limits[i].attribute == attribute) {
			memcpy(value, limits[i].values, limits[i].n * sizeof(uint32_t));
			return true;
		}
	return false;
}

static bool get_device(const struct sg_agent *a, unsigned int attribute, void *value)
{
	char name[64];

	switch (attribute) {
	case HSA_AGENT_INFO_NAME:
		answer_name(value, 64, a->card->processor);
		break;
	case HSA_AMD_AGENT_INFO_PRODUCT_NAME:
		device_name(a, name, sizeof name);
		memcpy(value, name, sizeof name);
		break;
	case HSA_AGENT_INFO_FEATURE:
		ANSWER(hsa_agent_feature_t, HSA_AGENT_FEATURE_KERNEL_DISPATCH);
		break;
	case HSA_AGENT_INFO_PROFILE:
		ANSWER(hsa_profile_t, HSA_PROFILE_BASE);
		break;
	case HSA_AGENT_INFO_WORKGROUP_MAX_DIM:
		for (int i = 0; i < 3; i++)
			((uint16_t *)value)[i] = 1024;
		break;
	case HSA_AGENT_INFO_GRID_MAX_DIM:
		ANSWER(hsa_dim3_t, ((hsa_dim3_t){UINT32_MAX, UINT32_MAX, UINT32_MAX}));
		break;
	case HSA_AGENT_INFO_QUEUE_TYPE:
		ANSWER(hsa_queue_type32_t, HSA_QUEUE_TYPE_MULTI);
		break;
	case HSA_AGENT_INFO_CACHE_SIZE:
		memcpy(value, a->card->cache, sizeof a->card->cache);
		break;
	case HSA_AGENT_INFO_ISA:
		ANSWER(hsa_isa_t, ((hsa_isa_t){(uint64_t)(uintptr_t)a}));
		break;
	case HSA_AMD_AGENT_INFO_BDFID:
		ANSWER(uint32_t, (PCI_BUS + a->node) << 8);
		break;
	case HSA_AMD_AGENT_INFO_HDP_FLUSH:
		ANSWER(hsa_amd_hdp_flush_t,
			((hsa_amd_hdp_flush_t){hdp_registers, hdp_registers + 1}));
		break;
	case HSA_AMD_AGENT_INFO_COOPERATIVE_QUEUES:
		ANSWER(bool, true);
		break;
	case HSA_AMD_AGENT_INFO_UUID:
		snprintf(
			name, sizeof name, "GPU-50f7%04x%08x", a->card->chip_id, a->node);
		answer_name(value, 21, name);
		break;
	case SG_AGENT_MEMORY_AVAIL:
		ANSWER(uint64_t, sg_agent_available(a));
		break;
	case SG_AGENT_TIMESTAMP_FREQUENCY:
		ANSWER(uint64_t, 100000000);
		break;
	case SG_AGENT_DRIVER_UID:
		ANSWER(uint64_t, a->node);
		break;
	case SG_AGENT_MEMORY_PROPERTIES: /* not an APU */
	case SG_AGENT_AQL_EXTENSIONS:
		memset(value, 0, 8);
		break;
	case SG_AGENT_SCRATCH_LIMIT_MAX:
	case SG_AGENT_SCRATCH_LIMIT_CURRENT:
		ANSWER(uint64_t, UINT64_C(1) << 32);
		break;
	default:
		return get_device_field(a, attribute, value) ||
		       get_image_limit(attribute, value);
	}
	return true;
}

hsa_status_t hsa_agent_get_info(
	hsa_agent_t agent, hsa_agent_info_t attribute, void *value)
{
	const struct sg_agent *a = sg_agent_of(agent);

	SG_CHECK_OPEN();
	if (!a)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (!value)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (get_common(a, attribute, value) ||
		(a->is_device ? get_device(a, attribute, value)
			      : get_cpu(a, attribute, value)))
		return HSA_STATUS_SUCCESS;
	sg_log(SG_LOG_API, "agent attribute 0x%x is not known", (unsigned int)attribute);
	return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_agent_iterate_isas(hsa_agent_t agent,
	hsa_status_t (*callback)(hsa_isa_t isa, void *data), void *data)
{
	const struct sg_agent *a = sg_agent_of(agent);

	SG_CHECK_OPEN();
	if (!a)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (!callback)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!a->is_device)
		return HSA_STATUS_SUCCESS;
	return callback((hsa_isa_t){agent.handle}, data);
}

hsa_status_t hsa_isa_get_info_alt(hsa_isa_t isa, hsa_isa_info_t attribute, void *value)
{
	const struct sg_agent *a = sg_agent_of((hsa_agent_t){isa.handle});

	SG_CHECK_OPEN();
	if (!a || !a->is_device)
		return HSA_STATUS_ERROR_INVALID_ISA;
	if (!value)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	switch (attribute) {
	case HSA_ISA_INFO_NAME_LENGTH: /* with its zero, as ROCr counts */
		ANSWER(uint32_t, (uint32_t)strlen(a->isa) + 1);
		break;
	case HSA_ISA_INFO_NAME:
		memcpy(value, a->isa, strlen(a->isa) + 1);
		break;
	case HSA_ISA_INFO_WORKGROUP_MAX_DIM:
		for (int i = 0; i < 3; i++)
			((uint16_t *)value)[i] = 1024;
		break;
	case HSA_ISA_INFO_WORKGROUP_MAX_SIZE:
		ANSWER(uint32_t, 1024);
		break;
	default:
		sg_log(SG_LOG_API, "ISA attribute %u is not known",
			(unsigned int)attribute);
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	}
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_agent_extension_supported(uint16_t extension, hsa_agent_t agent,
	uint16_t version_major, uint16_t version_minor, bool *result)
{
	SG_CHECK_OPEN();
	if (!sg_agent_of(agent))
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (!result)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	*result = extension == HSA_EXTENSION_AMD_LOADER && version_major == 1 &&
		  version_minor <= 1;
	return HSA_STATUS_SUCCESS;
}
