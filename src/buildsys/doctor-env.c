/* Variables that change what the runtime does or which code runs. */
#include "buildsys/doctor.h"

#include <stdlib.h>
#include <string.h>

extern char **environ;

static const struct {
	const char *name;
	const char *effect;
} known[] = {
	{"AMD_DIRECT_DISPATCH",
		"moves packets from a worker thread to the caller's, or back"},
	{"AMD_LOG_LEVEL", "the runtime logs to stderr and is slower"},
	{"AMD_SERIALIZE_KERNEL", "launches wait for one another: races hide"},
	{"AMD_SERIALIZE_COPY", "copies wait for one another: races hide"},
	{"GPU_MAX_HW_QUEUES", "changes how many hardware queues streams share"},
	{"HIP_FORCE_SPIRV_CODEOBJECT",
		"SPIR-V is compiled instead of the code object that fits"},
	{"HIP_LAUNCH_BLOCKING", "launches wait for their end: races hide"},
	{"HIP_VISIBLE_DEVICES", "hides devices from HIP"},
	{"CUDA_VISIBLE_DEVICES", "hides devices from HIP as well"},
	{"ROCR_VISIBLE_DEVICES", "hides devices from the HSA runtime"},
	{"GPU_DEVICE_ORDINAL", "hides devices"},
	{"HSA_OVERRIDE_GFX_VERSION",
		"makes one target pass for another: code objects may not fit"},
	{"HSA_ENABLE_SDMA", "changes which engine copies"},
	{"HSA_XNACK", "selects code objects by xnack"},
	{"HSA_TOOLS_LIB", "a tool is loaded into the HSA runtime"},
	{"HSA_MODEL_LIB", "a software model stands in for the driver"},
	{"HSA_MODEL_TOPOLOGY", "a software model stands in for the driver"},
	{"HIPCC_COMPILE_FLAGS_APPEND",
		"hipcc adds flags that no compile_commands.json shows"},
	{"HIPCC_LINK_FLAGS_APPEND", "hipcc adds link flags"},
	{"HIP_PLATFORM", "decides between AMD's and NVIDIA's back end"},
	{"HIP_CLANG_PATH", "selects the compiler behind hipcc"},
	{"HIP_DEVICE_LIB_PATH", "selects the device libraries"},
	{"HIP_PATH", "selects the HIP that hipcc uses"},
	{"ROCM_PATH", "selects the ROCm that tools use"},
	{"ROCM_KPACK_PATH", "replaces where kernels in kpack archives are looked for"},
	{"ROCM_KPACK_PATH_PREFIX",
		"adds to where kernels in kpack archives are looked for"},
	{"ROCM_KPACK_DISABLE", "kernels in kpack archives are not found"},
	{"LD_PRELOAD", "a library is put in front of every program's"},
	{"LD_LIBRARY_PATH", "decides which ROCm libraries are loaded"},
};

static const char *effect_of(const char *variable, size_t n)
{
	static const char *const families[] = {
		"HIP_", "HSA_", "AMD_", "ROCM_", "ROCR_", "ROCCLR_", "GPU_", "HIPCC_"};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (strlen(known[i].name) == n && !memcmp(known[i].name, variable, n))
			return known[i].effect;
	for (size_t i = 0; i < sizeof(families) / sizeof(*families); i++)
		if (!strncmp(variable, families[i], strlen(families[i])))
			return "of a family that ROCm reads; its effect is not known "
			       "here";
	return NULL;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void rck_doctor_environment(struct rck_doctor *d)
{
	size_t n = 0, said = 0;
	char **sorted;

	while (environ[n])
		n++;
	sorted = calloc(n + 1, sizeof(*sorted));
	for (size_t i = 0; sorted && i < n; i++)
		sorted[i] = environ[i];
	if (sorted)
		qsort(sorted, n, sizeof(*sorted), by_name);
	for (size_t i = 0; sorted && i < n; i++) {
		const char *effect = effect_of(sorted[i], strcspn(sorted[i], "="));

		if (!effect)
			continue;
		rck_doctor_say(d, RCK_HEALTH_ATTENTION, "environment", NULL, "%.200s: %s",
			sorted[i], effect);
		said++;
	}
	free(sorted);
	if (!said)
		rck_doctor_say(d, RCK_HEALTH_OK, "environment", NULL,
			"no variable is set that changes the runtime's behaviour");
}
