/*
 * Shared virtual memory: the host's own pages, which a range's attributes open to agents
 * (hsa_amd_svm_*, hsa_ext_amd.h of ROCm 5.2.3). Attributes are kept by page and read
 * back; since a device here is the host, none of them moves memory. Rules and defaults
 * are those of ROCr 6.4 over Linux's amdkfd without XNACK: the host has access, memory is
 * fine-grained, an agent has access when an attribute says so.
 */
#include "softgpu/softgpu.h"

#include "util/range.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE            UINT64_C(4096)
#define MAX_GRANULARITY 18 /* 2^18 pages, 1 GiB */

enum { HOST = 0 }; /* the CPU's agent is the first */

/* What a page has; ranges of equal pages. */
struct attributes {
	uint8_t flag[SG_SVM_ATTRIB_GPU_EXEC + 1]; /* those whose type is bool */
	uint8_t granularity;
	uint8_t coarse;
	const struct sg_agent *preferred, *prefetched;
	uint16_t access[SG_MAX_AGENTS]; /* HSA_AMD_SVM_ATTRIB_AGENT_* */
};

struct range {
	uint64_t base, end;
	struct attributes a;
};

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct range *ranges; /* by base, disjoint */
static size_t n, room;

static struct attributes defaults(void)
{
	struct attributes a = {.granularity = 9};

	for (size_t i = 0; i < SG_MAX_AGENTS; i++)
		a.access[i] = i == HOST ? HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE
					: HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS;
	return a;
}

/* The first range that ends above addr. */
static size_t at(uint64_t addr)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (ranges[mid].end <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static bool insert(size_t i, const struct range *r)
{
	if (n == room) {
		size_t more = room ? room * 2 : 16;
		void *p = realloc(ranges, more * sizeof *ranges);
		if (!p)
			return false;
		ranges = p;
		room = more;
	}
	memmove(&ranges[i + 1], &ranges[i], (n - i) * sizeof *ranges);
	ranges[i] = *r;
	n++;
	return true;
}

/* Makes addr a border when a range goes across it. */
static bool split(uint64_t addr)
{
	size_t i = at(addr);
	struct range left;

	if (i == n || ranges[i].base >= addr)
		return true;
	left = ranges[i];
	left.end = addr;
	if (!insert(i, &left))
		return false;
	ranges[i + 1].base = addr;
	return true;
}

/* Gives every page of [base, end) a range; the first of them, or -1. */
static ptrdiff_t cover(uint64_t base, uint64_t end)
{
	size_t first;

	if (!split(base) || !split(end))
		return -1;
	first = at(base);
	for (size_t i = first; base < end; i++) {
		struct range r = {base, end, defaults()};

		if (i < n && ranges[i].base < end)
			r.end = ranges[i].base;
		if (r.base < r.end && !insert(i, &r))
			return -1;
		base = ranges[i].end;
	}
	return (ptrdiff_t)first;
}

static bool pages(const void *ptr, size_t size, uint64_t *base, uint64_t *end)
{
	uint64_t p = (uint64_t)(uintptr_t)ptr;

	if (!ptr || !size || !rck_range_ok(p, size, UINT64_C(1) << 48))
		return false;
	*base = p & ~(PAGE - 1);
	*end = rck_align_up(p + size, PAGE);
	return true;
}

/* ------------------------------------------------------------------------- setting */

static bool is_access(uint64_t attribute)
{
	return attribute >= HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE &&
	       attribute <= HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS;
}

static bool is_flag(uint64_t attribute)
{
	return attribute == HSA_AMD_SVM_ATTRIB_READ_ONLY ||
	       attribute == HSA_AMD_SVM_ATTRIB_HIVE_LOCAL ||
	       attribute == HSA_AMD_SVM_ATTRIB_READ_MOSTLY ||
	       attribute == SG_SVM_ATTRIB_GPU_EXEC;
}

static hsa_status_t check(const hsa_amd_svm_attribute_pair_t *p, uint64_t *seen)
{
	const struct sg_agent *agent = sg_agent_of((hsa_agent_t){p->value});
	uint64_t bit;

	if (is_access(p->attribute)) {
		if (!agent)
			return HSA_STATUS_ERROR_INVALID_AGENT;
		bit = UINT64_C(1) << (32 + agent->node);
	} else if (is_flag(p->attribute) ||
		   p->attribute == HSA_AMD_SVM_ATTRIB_MIGRATION_GRANULARITY ||
		   p->attribute == HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION ||
		   (p->attribute == HSA_AMD_SVM_ATTRIB_GLOBAL_FLAG &&
			   p->value <= HSA_AMD_SVM_GLOBAL_FLAG_COARSE_GRAINED)) {
		if (p->attribute == HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION && p->value &&
			!agent)
			return HSA_STATUS_ERROR_INVALID_AGENT;
		bit = UINT64_C(1) << p->attribute;
	} else {
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	}
	if (*seen & bit)
		return HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS;
	*seen |= bit;
	return HSA_STATUS_SUCCESS;
}

static void apply(struct attributes *a, const hsa_amd_svm_attribute_pair_t *p)
{
	const struct sg_agent *agent = sg_agent_of((hsa_agent_t){p->value});

	if (is_access(p->attribute))
		a->access[agent->node] = (uint16_t)p->attribute;
	else if (is_flag(p->attribute))
		a->flag[p->attribute] = p->value != 0;
	else if (p->attribute == HSA_AMD_SVM_ATTRIB_MIGRATION_GRANULARITY)
		a->granularity = (uint8_t)(p->value < MAX_GRANULARITY ? p->value
								      : MAX_GRANULARITY);
	else if (p->attribute == HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION)
		a->preferred = agent;
	else
		a->coarse = p->value == HSA_AMD_SVM_GLOBAL_FLAG_COARSE_GRAINED;
}

hsa_status_t hsa_amd_svm_attributes_set(void *ptr, size_t size,
	hsa_amd_svm_attribute_pair_t *attribute_list, size_t attribute_count)
{
	uint64_t base, end, seen = 0;
	ptrdiff_t first;

	SG_CHECK_OPEN();
	if (!pages(ptr, size, &base, &end) || !attribute_list || !attribute_count)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	for (size_t i = 0; i < attribute_count; i++) {
		hsa_status_t s = check(&attribute_list[i], &seen);
		if (s != HSA_STATUS_SUCCESS)
			return s;
	}
	pthread_rwlock_wrlock(&lock);
	first = cover(base, end);
	for (size_t i = (size_t)first; first >= 0 && i < n && ranges[i].base < end; i++)
		for (size_t k = 0; k < attribute_count; k++)
			apply(&ranges[i].a, &attribute_list[k]);
	pthread_rwlock_unlock(&lock);
	return first >= 0 ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

/* ------------------------------------------------------------------------- reading */

static uint64_t handle_of(const struct sg_agent *a)
{
	return a ? sg_agent_handle(a).handle : 0;
}

/* What all pages of the range have in common, by kind: a flag that one lacks is unset, a
 * location that is not everywhere the same is none, an access the least of all. */
static struct attributes common(uint64_t base, uint64_t end, bool *mixed_grain)
{
	struct attributes r = defaults(), gap = r;
	bool first = true;

	*mixed_grain = false;
	for (size_t i = at(base); base < end; i++) {
		bool there = i < n && ranges[i].base <= base;
		const struct attributes *a = there ? &ranges[i].a : &gap;

		if (there)
			base = ranges[i].end;
		else
			base = i < n ? ranges[i--].base : end;
		if (first) {
			r = *a;
			first = false;
			continue;
		}
		for (size_t k = 0; k < sizeof r.flag; k++)
			r.flag[k] &= a->flag[k];
		*mixed_grain |= r.coarse != a->coarse;
		if (r.granularity > a->granularity)
			r.granularity = a->granularity;
		if (r.preferred != a->preferred)
			r.preferred = NULL;
		if (r.prefetched != a->prefetched)
			r.prefetched = NULL;
		for (size_t k = 0; k < SG_MAX_AGENTS; k++)
			if (a->access[k] == HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS ||
				(a->access[k] == HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE &&
					r.access[k] !=
						HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS))
				r.access[k] = a->access[k];
	}
	return r;
}

static hsa_status_t answer(
	const struct attributes *a, bool mixed_grain, hsa_amd_svm_attribute_pair_t *p)
{
	const struct sg_agent *agent;

	switch (p->attribute) {
	case HSA_AMD_SVM_ATTRIB_GLOBAL_FLAG:
		p->value = mixed_grain ? HSA_AMD_SVM_GLOBAL_FLAG_INDETERMINATE
			   : a->coarse ? HSA_AMD_SVM_GLOBAL_FLAG_COARSE_GRAINED
				       : HSA_AMD_SVM_GLOBAL_FLAG_FINE_GRAINED;
		break;
	case HSA_AMD_SVM_ATTRIB_READ_ONLY:
	case HSA_AMD_SVM_ATTRIB_HIVE_LOCAL:
	case HSA_AMD_SVM_ATTRIB_READ_MOSTLY:
		p->value = a->flag[p->attribute];
		break;
	case HSA_AMD_SVM_ATTRIB_MIGRATION_GRANULARITY:
		p->value = a->granularity;
		break;
	case HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION:
		p->value = handle_of(a->preferred);
		break;
	case HSA_AMD_SVM_ATTRIB_PREFETCH_LOCATION:
		p->value = handle_of(a->prefetched);
		break;
	case HSA_AMD_SVM_ATTRIB_ACCESS_QUERY:
		agent = sg_agent_of((hsa_agent_t){p->value});
		if (!agent)
			return HSA_STATUS_ERROR_INVALID_AGENT;
		p->attribute = a->access[agent->node];
		break;
	default:
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	}
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_svm_attributes_get(void *ptr, size_t size,
	hsa_amd_svm_attribute_pair_t *attribute_list, size_t attribute_count)
{
	struct attributes a;
	uint64_t base, end;
	bool mixed_grain;

	SG_CHECK_OPEN();
	if (!pages(ptr, size, &base, &end) || !attribute_list || !attribute_count)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	pthread_rwlock_rdlock(&lock);
	a = common(base, end, &mixed_grain);
	pthread_rwlock_unlock(&lock);
	for (size_t i = 0; i < attribute_count; i++) {
		hsa_status_t s = answer(&a, mixed_grain, &attribute_list[i]);
		if (s != HSA_STATUS_SUCCESS)
			return s;
	}
	return HSA_STATUS_SUCCESS;
}

/* ------------------------------------------------------------------------ prefetch */

hsa_status_t hsa_amd_svm_prefetch_async(void *ptr, size_t size, hsa_agent_t agent,
	uint32_t num_dep_signals, const hsa_signal_t *dep_signals,
	hsa_signal_t completion_signal)
{
	const struct sg_agent *to = sg_agent_of(agent);
	uint64_t base, end;
	ptrdiff_t first;

	SG_CHECK_OPEN();
	if (!to)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (!pages(ptr, size, &base, &end))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	pthread_rwlock_wrlock(&lock);
	first = cover(base, end);
	for (size_t i = (size_t)first; first >= 0 && i < n && ranges[i].base < end; i++)
		ranges[i].a.prefetched = to;
	pthread_rwlock_unlock(&lock);
	if (first < 0)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	return sg_copy_nothing(num_dep_signals, dep_signals, completion_signal);
}

/* -------------------------------------------------------------------- what kernels may
 */

static bool opened(const struct attributes *a)
{
	for (size_t i = HOST + 1; i < sg_n_agents; i++)
		if (a->access[i] != HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS)
			return true;
	return false;
}

int sg_svm_range(uint64_t addr, uint64_t *lo, uint64_t *hi)
{
	int r = -EFAULT;
	size_t i;

	pthread_rwlock_rdlock(&lock);
	i = at(addr);
	if (i < n && ranges[i].base <= addr && opened(&ranges[i].a)) {
		*lo = ranges[i].base;
		*hi = ranges[i].end;
		r = 0;
	}
	pthread_rwlock_unlock(&lock);
	return r;
}

void sg_svm_forget(void)
{
	pthread_rwlock_wrlock(&lock);
	free(ranges);
	ranges = NULL;
	n = room = 0;
	pthread_rwlock_unlock(&lock);
}
