/* The runtime as a whole: its life, its clock, its constants. */
#include "softgpu/report.h"
#include "softgpu/softgpu.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TICKS_PER_SECOND UINT64_C(1000000000)

_Atomic bool sg_is_open;
volatile int sg_forked;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t references;

/* A fork has none of our threads: it must never wait for one. */
static void in_child(void)
{
	sg_forked = 1;
}

bool sg_executes(void)
{
	static _Atomic int known;

	if (!known) {
		const char *e = getenv("RCK_SOFT_EXECUTE");
		known = e && !strcmp(e, "0") ? 1 : 2;
	}
	return known == 2;
}

unsigned int sg_threads(void)
{
	static _Atomic int known = -1;

	if (known < 0) {
		const char *e = getenv("RCK_SOFT_THREADS");
		known = e && atoi(e) > 0 ? atoi(e) : 0;
	}
	return (unsigned int)known;
}

uint64_t sg_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * TICKS_PER_SECOND + (uint64_t)t.tv_nsec;
}

int sg_thread_start(pthread_t *thread, const char *name, void *(*run)(void *), void *arg)
{
	sigset_t all, old;
	int r;

	/* the program's signals are its own threads' */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	r = pthread_create(thread, NULL, run, arg);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!r)
		pthread_setname_np(*thread, name);
	return r;
}

int sg_worker_start(struct sg_worker *w, const char *name, void *(*run)(void *))
{
	int r = 0;

	if (!w->has_thread) {
		w->stop = 0;
		r = sg_thread_start(&w->thread, name, run, NULL);
		w->has_thread = !r;
	}
	return r;
}

void sg_worker_stop(struct sg_worker *w)
{
	pthread_mutex_lock(&w->lock);
	sg_flag_set(&w->stop);
	pthread_mutex_unlock(&w->lock);
	sg_change_kick();
	if (w->has_thread && !sg_forked)
		pthread_join(w->thread, NULL);
	w->has_thread = false;
}

hsa_status_t hsa_init(void)
{
	static bool atfork_done;
	hsa_status_t s = HSA_STATUS_SUCCESS;

	pthread_mutex_lock(&lock);
	if (references == UINT32_MAX) {
		s = HSA_STATUS_ERROR_REFCOUNT_OVERFLOW;
	} else if (!references) {
		if (!atfork_done)
			atfork_done = !pthread_atfork(NULL, NULL, in_child);
		if (sg_agents_create())
			s = HSA_STATUS_ERROR_OUT_OF_RESOURCES;
		else if (!sg_report('+'))
			sg_log(SG_LOG_API, "nobody reads the report");
	}
	if (s == HSA_STATUS_SUCCESS) {
		references++;
		sg_is_open = true;
	}
	pthread_mutex_unlock(&lock);
	return s;
}

hsa_status_t hsa_shut_down(void)
{
	SG_CHECK_OPEN();
	pthread_mutex_lock(&lock);
	if (references && !--references) {
		sg_copy_stop();
		sg_queues_destroy();
		sg_async_stop();
		sg_executables_destroy();
		sg_svm_forget();
		sg_is_open = false;
	}
	pthread_mutex_unlock(&lock);
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_system_get_info(hsa_system_info_t attribute, void *value)
{
	SG_CHECK_OPEN();
	if (!value)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	switch ((unsigned int)attribute) {
	case HSA_SYSTEM_INFO_VERSION_MAJOR:
	case HSA_SYSTEM_INFO_VERSION_MINOR:
	case SG_SYSTEM_EXT_VERSION_MAJOR:
		*(uint16_t *)value = 1;
		break;
	case SG_SYSTEM_EXT_VERSION_MINOR:
		*(uint16_t *)value = 6;
		break;
	case HSA_SYSTEM_INFO_TIMESTAMP:
		*(uint64_t *)value = sg_now();
		break;
	case HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY:
		*(uint64_t *)value = TICKS_PER_SECOND;
		break;
	case HSA_SYSTEM_INFO_SIGNAL_MAX_WAIT:
		*(uint64_t *)value = UINT64_MAX;
		break;
	case HSA_SYSTEM_INFO_ENDIANNESS:
		*(hsa_endianness_t *)value = HSA_ENDIANNESS_LITTLE;
		break;
	case HSA_SYSTEM_INFO_MACHINE_MODEL:
		*(hsa_machine_model_t *)value = HSA_MACHINE_MODEL_LARGE;
		break;
	case HSA_SYSTEM_INFO_EXTENSIONS:
		memset(value, 0, 128);
		((uint8_t *)value)[HSA_EXTENSION_AMD_LOADER / 8] |=
			(uint8_t)(1u << HSA_EXTENSION_AMD_LOADER % 8);
		break;
	case HSA_AMD_SYSTEM_INFO_BUILD_VERSION:
		*(const char **)value = "rocmcheck software device " RCK_VERSION;
		break;
	case SG_SYSTEM_VIRTUAL_MEM_API_SUPPORTED:
	case SG_SYSTEM_DMABUF_SUPPORTED:
	case HSA_AMD_SYSTEM_INFO_SVM_SUPPORTED:
		*(bool *)value = true;
		break;
	case HSA_AMD_SYSTEM_INFO_SVM_ACCESSIBLE_BY_DEFAULT:
	case SG_SYSTEM_MWAITX_ENABLED:
	case SG_SYSTEM_XNACK_ENABLED:
		*(bool *)value = false;
		break;
	default:
		sg_log(SG_LOG_API, "system attribute 0x%x is not known",
			(unsigned int)attribute);
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	}
	return HSA_STATUS_SUCCESS;
}

extern const hsa_ven_amd_loader_1_00_pfn_t sg_loader_table;

hsa_status_t hsa_system_extension_supported(
	uint16_t extension, uint16_t version_major, uint16_t version_minor, bool *result)
{
	SG_CHECK_OPEN();
	if (!result)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	*result = extension == HSA_EXTENSION_AMD_LOADER && version_major == 1 &&
		  !version_minor;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_system_major_extension_supported(
	uint16_t extension, uint16_t version_major, uint16_t *version_minor, bool *result)
{
	SG_CHECK_OPEN();
	if (!result || !version_minor)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	*version_minor = 0;
	*result = extension == HSA_EXTENSION_AMD_LOADER && version_major == 1;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_system_get_major_extension_table(
	uint16_t extension, uint16_t version_major, size_t table_length, void *table)
{
	SG_CHECK_OPEN();
	if (!table || !table_length || extension != HSA_EXTENSION_AMD_LOADER ||
		version_major != 1)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	memset(table, 0, table_length);
	memcpy(table, &sg_loader_table,
		table_length < sizeof sg_loader_table ? table_length
						      : sizeof sg_loader_table);
	return HSA_STATUS_SUCCESS;
}

#define STATUS(name)                                                                     \
	{                                                                                \
		HSA_STATUS_##name, "HSA_STATUS_" #name                                   \
	}
#define STATUS_TEXT(name, text)                                                          \
	{                                                                                \
		HSA_STATUS_##name, "HSA_STATUS_" #name ": " text                         \
	}

static const struct {
	unsigned int status;
	const char *text;
} status_texts[] = {
	STATUS(SUCCESS),
	STATUS(INFO_BREAK),
	STATUS(ERROR),
	STATUS(ERROR_INVALID_ARGUMENT),
	STATUS(ERROR_INVALID_QUEUE_CREATION),
	STATUS(ERROR_INVALID_ALLOCATION),
	STATUS(ERROR_INVALID_AGENT),
	STATUS(ERROR_INVALID_REGION),
	STATUS(ERROR_INVALID_SIGNAL),
	STATUS(ERROR_INVALID_QUEUE),
	STATUS(ERROR_OUT_OF_RESOURCES),
	STATUS_TEXT(ERROR_INVALID_PACKET_FORMAT, "the queue met a packet it cannot run"),
	STATUS(ERROR_RESOURCE_FREE),
	STATUS(ERROR_NOT_INITIALIZED),
	STATUS(ERROR_REFCOUNT_OVERFLOW),
	STATUS(ERROR_INCOMPATIBLE_ARGUMENTS),
	STATUS(ERROR_INVALID_INDEX),
	STATUS(ERROR_INVALID_ISA),
	STATUS(ERROR_INVALID_ISA_NAME),
	STATUS(ERROR_INVALID_CODE_OBJECT),
	STATUS(ERROR_INVALID_EXECUTABLE),
	STATUS(ERROR_FROZEN_EXECUTABLE),
	STATUS(ERROR_INVALID_SYMBOL_NAME),
	STATUS(ERROR_VARIABLE_ALREADY_DEFINED),
	STATUS(ERROR_VARIABLE_UNDEFINED),
	STATUS_TEXT(ERROR_EXCEPTION, "a kernel trapped"),
	STATUS(ERROR_INVALID_CODE_SYMBOL),
	STATUS(ERROR_INVALID_EXECUTABLE_SYMBOL),
	STATUS(ERROR_INVALID_FILE),
	STATUS(ERROR_INVALID_CODE_OBJECT_READER),
	STATUS(ERROR_INVALID_CACHE),
	STATUS(ERROR_INVALID_WAVEFRONT),
	STATUS(ERROR_INVALID_SIGNAL_GROUP),
	STATUS(ERROR_INVALID_RUNTIME_STATE),
	STATUS(ERROR_FATAL),
	STATUS(ERROR_INVALID_MEMORY_POOL),
	STATUS_TEXT(ERROR_MEMORY_APERTURE_VIOLATION, "a kernel left its aperture"),
	STATUS_TEXT(
		ERROR_ILLEGAL_INSTRUCTION, "a kernel met an instruction that is unknown"),
	STATUS_TEXT(ERROR_MEMORY_FAULT, "a kernel used an address that is not its own"),
	{SG_STATUS_CU_MASK_REDUCED, "HSA_STATUS_CU_MASK_REDUCED"},
	{SG_STATUS_OUT_OF_REGISTERS, "HSA_STATUS_ERROR_OUT_OF_REGISTERS"},
	{SG_STATUS_RESOURCE_BUSY, "HSA_STATUS_ERROR_RESOURCE_BUSY"},
};

hsa_status_t hsa_status_string(hsa_status_t status, const char **status_string)
{
	if (!status_string)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	for (size_t i = 0; i < sizeof status_texts / sizeof *status_texts; i++)
		if (status_texts[i].status == (unsigned int)status) {
			*status_string = status_texts[i].text;
			return HSA_STATUS_SUCCESS;
		}
	return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}
