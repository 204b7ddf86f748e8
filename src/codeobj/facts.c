/* The facts of a kernel as one table: what each is called and where each comes from. */
#include "codeobj/private.h"

#include <errno.h>

enum how { FLAG, DYNAMIC_STACK, CAUSE, CONFIDENCE, STATED, CODE_SIZE, OCCUPANCY, LIMIT };

static const struct entry {
	struct rck_fact_info info;
	uint8_t how;
	uint16_t at; /* STATED: the metadata's uint64_t in the kernel; FLAG: the bool */
	int8_t bit;  /* STATED: RCK_MD bit */
	int16_t kd;  /* STATED: the descriptor's uint32_t in the kernel, or -1 */
} entries[RCK_FACT_COUNT_] = {
#define AT(member) offsetof(struct rck_kernel, member)
#define ENTRY(id, type, key, title, unit, help, ...)                                     \
	[RCK_FACT_##id] = {                                                              \
		{RCK_FACT_##id, RCK_VALUE_##type, key, title, unit, help}, __VA_ARGS__}
	ENTRY(DECLARES_HOSTCALL, BOOL, "declares_hostcall", "hostcall", "",
		"declares the hostcall buffer: the runtime starts its listener thread",
		FLAG, AT(declares_hostcall)),
	ENTRY(DECLARES_HEAP, BOOL, "declares_heap", "heap", "",
		"declares the device heap: the runtime initialises it once a device",
		FLAG, AT(declares_heap)),
	ENTRY(DYNAMIC_STACK, BOOL, "dynamic_stack", "dynstack", "",
		"its stack has no size known when it was compiled", DYNAMIC_STACK),
	ENTRY(CAUSE, STRING, "cause", "cause", "", "why the flags are there", CAUSE),
	ENTRY(CONFIDENCE, STRING, "confidence", "confidence", "", "how sure the cause is",
		CONFIDENCE),
	ENTRY(SGPR_COUNT, NUMBER, "sgpr_count", "SGPR", "", "scalar registers a wave",
		STATED, AT(sgpr_count), RCK_MD_SGPR_COUNT, -1),
	ENTRY(VGPR_COUNT, NUMBER, "vgpr_count", "VGPR", "",
		"vector registers a work-item, on gfx90a and gfx94x with the "
		"accumulation registers",
		STATED, AT(vgpr_count), RCK_MD_VGPR_COUNT, -1),
	ENTRY(AGPR_COUNT, NUMBER, "agpr_count", "AGPR", "",
		"accumulation registers a work-item", STATED, AT(agpr_count),
		RCK_MD_AGPR_COUNT, -1),
	ENTRY(SGPR_SPILLS, NUMBER, "sgpr_spills", "SGPR spills", "",
		"scalar registers spilled", STATED, AT(sgpr_spills), RCK_MD_SGPR_SPILLS,
		-1),
	ENTRY(VGPR_SPILLS, NUMBER, "vgpr_spills", "VGPR spills", "",
		"vector registers spilled", STATED, AT(vgpr_spills), RCK_MD_VGPR_SPILLS,
		-1),
	ENTRY(SCRATCH, NUMBER, "scratch", "scratch", "B", "private memory a work-item",
		STATED, AT(scratch), RCK_MD_SCRATCH, AT(kd.private_segment_fixed_size)),
	ENTRY(LDS, NUMBER, "lds", "LDS", "B", "static shared memory a work-group", STATED,
		AT(lds), RCK_MD_LDS, AT(kd.group_segment_fixed_size)),
	ENTRY(KERNARG_SIZE, NUMBER, "kernarg_size", "kernarg", "B",
		"size of the argument segment", STATED, AT(kernarg_size),
		RCK_MD_KERNARG_SIZE, AT(kd.kernarg_size)),
	ENTRY(KERNARG_ALIGN, NUMBER, "kernarg_align", "kernarg align", "B",
		"alignment of the argument segment", STATED, AT(kernarg_align),
		RCK_MD_KERNARG_ALIGN, -1),
	ENTRY(WAVEFRONT_SIZE, NUMBER, "wavefront_size", "wave", "lanes",
		"work-items a wave", STATED, AT(wavefront_size), RCK_MD_WAVEFRONT_SIZE,
		-1),
	ENTRY(MAX_WORKGROUP, NUMBER, "max_workgroup", "max workgroup", "work-items",
		"the largest work-group it was compiled for", STATED, AT(max_workgroup),
		RCK_MD_MAX_WORKGROUP, -1),
	ENTRY(CODE_SIZE, NUMBER, "code_size", "code", "B", "size of its machine code",
		CODE_SIZE),
	ENTRY(OCCUPANCY, NUMBER, "occupancy", "occupancy", "waves",
		"waves a SIMD that fit, in theory", OCCUPANCY),
	ENTRY(OCCUPANCY_LIMIT, STRING, "occupancy_limit", "limited by", "",
		"what keeps more waves from fitting: vgpr, sgpr, lds, workgroup or none",
		LIMIT),
};

const struct rck_fact_info *rck_fact_info(enum rck_fact fact)
{
	return (unsigned)fact < RCK_FACT_COUNT_ ? &entries[fact].info : NULL;
}

/* A number that the metadata states, the descriptor, or both; the metadata's counts. */
static void stated(const struct rck_kernel *k, const struct entry *e, struct rck_value *v)
{
	const char *base = (const char *)k;
	bool md = k->stated >> e->bit & 1, kd = e->kd >= 0 && k->kd.found;
	uint32_t d = kd ? *(const uint32_t *)(base + e->kd) : 0;

	/* older assemblers leave the descriptor's kernarg size at 0: not stated */
	if (e->info.fact == RCK_FACT_KERNARG_SIZE && !d)
		kd = false;
	if (e->info.fact == RCK_FACT_WAVEFRONT_SIZE && k->kd.found) {
		kd = true;
		d = k->kd.wavefront32 ? 32 : 64;
	}
	v->number = md ? *(const uint64_t *)(base + e->at) : d;
	v->source = (md ? RCK_SOURCE_METADATA : 0) | (kd ? RCK_SOURCE_DESCRIPTOR : 0);
	v->known = md || kd;
	v->disagrees = md && kd && v->number != d;
}

static void dynamic_stack(const struct rck_kernel *k, struct rck_value *v)
{
	v->number = k->dynamic_stack == RCK_YES;
	v->known = k->dynamic_stack != RCK_POSSIBLE;
	v->source = (k->stated & RCK_MD(DYNAMIC_STACK) ? RCK_SOURCE_METADATA : 0) |
		    (k->kd.found ? RCK_SOURCE_DESCRIPTOR : 0);
	v->disagrees = k->dynamic_stack_disagrees;
	/* no key and no descriptor: nobody has said anything */
	if (!v->source)
		v->known = false;
}

int rck_kernel_fact(const struct rck_kernel *k, enum rck_fact fact, struct rck_value *v)
{
	const struct entry *e;

	if ((unsigned)fact >= RCK_FACT_COUNT_)
		return -EINVAL;
	e = &entries[fact];
	*v = (struct rck_value){.type = e->info.type, .known = true};
	switch ((enum how)e->how) {
	case FLAG:
		v->number = *(const bool *)((const char *)k + e->at);
		v->source = RCK_SOURCE_METADATA;
		break;
	case DYNAMIC_STACK:
		dynamic_stack(k, v);
		break;
	case STATED:
		stated(k, e, v);
		break;
	case CAUSE:
		v->string = rck_cause_name(k->cause);
		v->source = RCK_SOURCE_DERIVED;
		break;
	case CONFIDENCE:
		v->known = k->cause != RCK_CAUSE_NONE;
		v->string = v->known ? rck_confidence_name(k->confidence) : NULL;
		v->source = RCK_SOURCE_DERIVED;
		break;
	case CODE_SIZE:
		v->number = k->kd.code_size;
		v->known = k->kd.code_size;
		v->source = RCK_SOURCE_DERIVED;
		break;
	case OCCUPANCY:
		v->number = k->occupancy;
		v->known = k->occupancy;
		v->source = RCK_SOURCE_DERIVED;
		break;
	case LIMIT:
		v->string = k->occupancy_limit;
		v->known = k->occupancy_limit;
		v->source = RCK_SOURCE_DERIVED;
		break;
	}
	if (!v->known)
		v->source = v->source == RCK_SOURCE_DERIVED ? RCK_SOURCE_NONE : v->source;
	return 0;
}

const char *rck_kernel_name(const struct rck_kernel *k)
{
	return k->name;
}

const char *rck_kernel_symbol(const struct rck_kernel *k)
{
	return k->symbol;
}

const char *rck_kernel_demangled(const struct rck_kernel *k)
{
	struct rck_kernel *own = &k->object->kernels[k - k->object->kernels];

	if (!own->demangled)
		own->demangled = rck_demangle(k->object->arena, k->name);
	return own->demangled;
}

size_t rck_kernel_arg_count(const struct rck_kernel *k)
{
	return k->n_args;
}

const struct rck_arg *rck_kernel_arg(const struct rck_kernel *k, size_t i)
{
	return i < k->n_args ? &k->args[i] : NULL;
}
