/*
 * Why a kernel is flagged, read from the SET of hidden arguments over the whole object.
 *
 * An optional hidden argument is listed unless the kernel has the attribute that says it
 * is not needed ("amdgpu-no-hostcall-ptr", ...). Those attributes are inferred by LLVM's
 * AMDGPUAttributor, which does not run at -O0, gives all of them up for a kernel with a
 * callee it cannot see, and removes each alone for code that reads the slot. So the set
 * tells which of the three happened (LLVM's AMDGPUAttributor.cpp and
 * AMDGPUHSAMetadataStreamer.cpp; every row seen with LLVM 15 to 22).
 */
#include "codeobj/private.h"

#include <string.h>

#define BIT(h) (1u << RCK_HIDDEN_##h)

/* What is listed together when nothing was inferred; hidden_queue_ptr depends on the
   target. The heap is V5's. The last two came with LLVM 16, both at once. */
#define ALWAYS (BIT(HOSTCALL_BUFFER) | BIT(MULTIGRID_SYNC_ARG))
#define LATER  (BIT(DEFAULT_QUEUE) | BIT(COMPLETION_ACTION))
#define ANY    (ALWAYS | LATER | BIT(HEAP_V1))

static const struct {
	const char *name, *text, *remedy;
} causes[] = {
	[RCK_CAUSE_NONE] = {"none", "nothing is declared", ""},
	[RCK_CAUSE_READS_SLOT] = {"reads-slot",
		"device code reads the hostcall slot: printf, assert or abort",
		"Compile device asserts and printf out of release builds (-DNDEBUG), or "
		"print through a buffer (-mprintf-kind=buffered)."},
	[RCK_CAUSE_DEVICE_MALLOC] = {"device-malloc",
		"device code calls malloc, free, new or delete",
		"Allocate from the host and pass the memory in; or allow the kernel by "
		"name where it must allocate."},
	[RCK_CAUSE_O0] = {"O0",
		"every kernel declares every optional hidden argument: built at -O0",
		"Build device code at -O1 or higher; clang++ without -O is -O0 (hipcc's "
		"default is -O3)."},
	[RCK_CAUSE_UNKNOWN_CALLEE] = {"unknown-callee",
		"it calls what the compiler could not see: a function pointer, a virtual "
		"call or another translation unit",
		"Make the callee visible (inline it, drop the function pointer, link "
		"with "
		"-fgpu-rdc and device LTO), or allow the kernel by name."},
	[RCK_CAUSE_SANITIZER] = {"sanitizer", "built with a sanitizer",
		"Expected of a sanitizer build; do not ship it."},
	[RCK_CAUSE_RECURSION] = {"recursion",
		"recursion, a stack array of variable size or an indirect call",
		"Bound the recursion or the array; else set hipLimitStackSize to what it "
		"needs (the default is 1024 bytes a work-item)."},
	[RCK_CAUSE_UNKNOWN_OFFSET] = {"unknown-offset",
		"implicit arguments read at an offset that the compiler could not settle "
		"(blockDim, with LLVM 15 and code object V5), or printf or assert",
		"Use code object V4 or a newer compiler, and no printf or assert in "
		"device "
		"code; 'rocmcheck lint' tells which it is."},
	[RCK_CAUSE_UNSETTLED] = {"unsettled", "what it declares fits no single reading",
		"Build it again with a current compiler at -O1 or higher and compare."},
};

static const char *const confidences[] = {
	[RCK_CONFIDENCE_LOW] = "low",
	[RCK_CONFIDENCE_MEDIUM] = "medium",
	[RCK_CONFIDENCE_HIGH] = "high",
};

const char *rck_cause_name(enum rck_cause c)
{
	return causes[c].name;
}

const char *rck_cause_text(enum rck_cause c)
{
	return causes[c].text;
}

const char *rck_cause_remedy(enum rck_cause c)
{
	return causes[c].remedy;
}

const char *rck_confidence_name(enum rck_confidence c)
{
	return confidences[c];
}

static bool has_all(const struct rck_kernel *k)
{
	uint32_t need = k->object->version >= 5 ? ALWAYS | BIT(HEAP_V1) : ALWAYS;
	uint32_t later = k->hidden & LATER;

	/* no compiler that knows V6 is older than the last two */
	return (k->hidden & need) == need &&
	       (later == LATER || (!later && k->object->version < 6));
}

/* Sanitizer runtimes leave symbols that begin like this, also in .dynsym. */
static bool find_sanitizer(struct rck_code_object *co)
{
	struct rck_parse *p = rck_parse_of(co);
	const struct rck_symtab *t = rck_symbols_table(&p->symbols, &p->elf);
	struct rck_symbol s;

	for (uint64_t i = 0; t && i < t->n; i++)
		if (rck_symtab_get(t, i, &s) && (!strncmp(s.name, "__asan_", 7) ||
							!strncmp(s.name, "__ubsan_", 8) ||
							!strncmp(s.name, "__tsan_", 7)))
			return true;
	return false;
}

struct count { /* of one metadata note, or of the object */
	size_t all, kernels;
	size_t marked; /* of all: with what comes of -O0 or a call besides */
};

static bool spills(const struct rck_kernel *k)
{
	return k->scratch && (k->sgpr_spills || k->vgpr_spills);
}

static bool has_marks(const struct rck_kernel *k)
{
	return k->dynamic_stack == RCK_YES || spills(k);
}

static void add_to(struct count *c, const struct rck_kernel *k)
{
	c->kernels++;
	if (has_all(k)) {
		c->all++;
		c->marked += has_marks(k);
	}
}

static void judge_all(
	struct rck_kernel *k, const struct count *object, const struct count *unit)
{
	bool everywhere = object->all == object->kernels;

	if (!(k->hidden & LATER) && !(everywhere ? object->marked : has_marks(k))) {
		/* With LLVM 15 a kernel that prints, asserts, or in V5 reads blockDim
		   lists them all as well (seen with hipcc 5.2.3), but it has no call
		   that is not known. */
		k->cause = k->object->version >= 5 ? RCK_CAUSE_UNKNOWN_OFFSET
						   : RCK_CAUSE_READS_SLOT;
		k->confidence =
			object->kernels > 1 ? RCK_CONFIDENCE_MEDIUM : RCK_CONFIDENCE_LOW;
	} else if (everywhere) {
		/* one kernel alone may as well have an unknown callee */
		k->cause = RCK_CAUSE_O0;
		k->confidence = object->kernels > 1 ? RCK_CONFIDENCE_HIGH
				: spills(k)         ? RCK_CONFIDENCE_MEDIUM
						    : RCK_CONFIDENCE_LOW;
	} else if (unit->kernels > 1 && unit->all == unit->kernels) {
		k->cause = RCK_CAUSE_O0; /* this translation unit was */
		k->confidence = RCK_CONFIDENCE_MEDIUM;
	} else {
		k->cause = RCK_CAUSE_UNKNOWN_CALLEE;
		k->confidence = k->dynamic_stack == RCK_YES ? RCK_CONFIDENCE_HIGH
							    : RCK_CONFIDENCE_MEDIUM;
	}
}

static void judge(
	struct rck_kernel *k, const struct count *object, const struct count *unit)
{
	uint32_t declared = k->hidden & ANY;

	if (!rck_kernel_flagged(k)) {
		if (k->dynamic_stack == RCK_POSSIBLE) {
			k->cause = RCK_CAUSE_RECURSION;
			k->confidence = RCK_CONFIDENCE_LOW;
		}
	} else if (k->object->sanitizer && k->declares_hostcall) {
		k->cause = RCK_CAUSE_SANITIZER;
		k->confidence = RCK_CONFIDENCE_HIGH;
	} else if (has_all(k)) {
		judge_all(k, object, unit);
	} else if (declared == BIT(HEAP_V1) ||
		   declared == (BIT(HEAP_V1) | BIT(HOSTCALL_BUFFER))) {
		k->cause = RCK_CAUSE_DEVICE_MALLOC;
		k->confidence = RCK_CONFIDENCE_HIGH;
	} else if (declared == BIT(HOSTCALL_BUFFER)) {
		/* before V5 some compilers listed it for a whole module */
		k->cause = RCK_CAUSE_READS_SLOT;
		k->confidence = k->object->version >= 5 ? RCK_CONFIDENCE_HIGH
							: RCK_CONFIDENCE_MEDIUM;
	} else if (!k->declares_hostcall && !k->declares_heap) {
		k->cause = RCK_CAUSE_RECURSION;
		k->confidence = RCK_CONFIDENCE_HIGH;
	} else {
		k->cause = RCK_CAUSE_UNSETTLED;
		k->confidence = RCK_CONFIDENCE_LOW;
	}
}

void rck_cause_judge(struct rck_code_object *co)
{
	struct count object = {0}, unit;
	size_t from, to;
	bool hostcall = false;

	for (size_t i = 0; i < co->n_kernels; i++) {
		add_to(&object, &co->kernels[i]);
		hostcall |= co->kernels[i].declares_hostcall;
	}
	co->sanitizer = hostcall && find_sanitizer(co);
	for (from = 0; from < co->n_kernels; from = to) {
		unit = (struct count){0};
		for (to = from; to < co->n_kernels &&
				co->kernels[to].unit == co->kernels[from].unit;
			to++)
			add_to(&unit, &co->kernels[to]);
		for (size_t i = from; i < to; i++)
			judge(&co->kernels[i], &object, &unit);
	}
}
