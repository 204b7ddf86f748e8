#include "lint/rule.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static const char *const severity_names[RCK_SEVERITY_COUNT_] = {
	[RCK_SEVERITY_OFF] = "off",
	[RCK_SEVERITY_NOTE] = "note",
	[RCK_SEVERITY_WARNING] = "warning",
	[RCK_SEVERITY_ERROR] = "error",
};

const char *rck_severity_name(enum rck_severity s)
{
	return s < RCK_SEVERITY_COUNT_ ? severity_names[s] : NULL;
}

int rck_severity_parse(const char *s, enum rck_severity *out)
{
	for (int i = 0; i < RCK_SEVERITY_COUNT_; i++) {
		if (!strcmp(s, severity_names[i])) {
			*out = (enum rck_severity)i;
			return 0;
		}
	}
	return -EINVAL;
}

const char *rck_state_name(enum rck_state s)
{
	static const char *const names[RCK_STATE_COUNT_] = {
		[RCK_STATE_PASS] = "pass",
		[RCK_STATE_FAIL] = "fail",
		[RCK_STATE_MAYBE] = "maybe",
		[RCK_STATE_NOT_CHECKABLE] = "not-checkable",
	};

	return s < RCK_STATE_COUNT_ ? names[s] : NULL;
}

const char *rck_limit_name(enum rck_limit l)
{
	static const char *const names[RCK_LIMIT_COUNT_] = {
		[RCK_LIMIT_SCRATCH] = "scratch",
		[RCK_LIMIT_SPILLS] = "spills",
		[RCK_LIMIT_VGPRS] = "vgprs",
		[RCK_LIMIT_LDS] = "lds",
	};

	return names[l];
}

static enum rck_state answer(
	struct rck_verdict *v, enum rck_state state, const char *text)
{
	rck_strbuf_adds(&v->text, text);
	return state;
}

static enum rck_reach_state reach_of_hostcall(const struct rck_subject *s)
{
	return s->reach ? s->reach->hostcall.state : RCK_REACH_UNKNOWN;
}

static enum rck_state check_hostcall_declared(
	const struct rck_subject *s, struct rck_verdict *v)
{
	if (!s->kernel->declares_hostcall)
		return RCK_STATE_PASS;
	switch (reach_of_hostcall(s)) {
	case RCK_REACH_NO: /* hostcall-unreached's finding */
		return RCK_STATE_PASS;
	case RCK_REACH_YES:
		return answer(v, RCK_STATE_FAIL,
			"declares a hostcall buffer, and a hostcall can be reached");
	default:
		return answer(v, RCK_STATE_FAIL,
			"declares a hostcall buffer (whether its code reaches a "
			"hostcall is not settled)");
	}
}

static enum rck_state check_hostcall_unreached(
	const struct rck_subject *s, struct rck_verdict *v)
{
	enum rck_cause cause = s->kernel->cause;

	if (!s->kernel->declares_hostcall)
		return RCK_STATE_PASS;
	switch (reach_of_hostcall(s)) {
	case RCK_REACH_NO:
		return answer(v, RCK_STATE_FAIL,
			"declares a hostcall buffer, though no path to a hostcall "
			"exists");
	case RCK_REACH_YES:
		return RCK_STATE_PASS;
	default:
		break;
	}
	if (cause == RCK_CAUSE_O0 || cause == RCK_CAUSE_UNKNOWN_CALLEE)
		return answer(v, RCK_STATE_MAYBE,
			"declares a hostcall buffer that nothing seems to use, by its "
			"hidden arguments alone");
	return RCK_STATE_NOT_CHECKABLE;
}

static enum rck_state check_heap_declared(
	const struct rck_subject *s, struct rck_verdict *v)
{
	if (!s->kernel->declares_heap)
		return RCK_STATE_PASS;
	switch (s->reach ? s->reach->heap.state : RCK_REACH_UNKNOWN) {
	case RCK_REACH_NO:
		return answer(v, RCK_STATE_FAIL,
			"declares the device heap, though no path to its allocator "
			"exists");
	case RCK_REACH_YES:
		return answer(v, RCK_STATE_FAIL,
			"declares the device heap, and its allocator can be reached");
	default:
		return answer(v, RCK_STATE_FAIL,
			"declares the device heap (whether its code allocates is not "
			"settled)");
	}
}

static enum rck_state check_dynamic_stack(
	const struct rck_subject *s, struct rck_verdict *v)
{
	if (s->kernel->dynamic_stack == RCK_YES)
		return answer(
			v, RCK_STATE_FAIL, "its stack has no size known at compile time");
	if (s->kernel->dynamic_stack == RCK_POSSIBLE)
		return answer(v, RCK_STATE_MAYBE,
			"its scratch is the compiler's assumption for an unknown stack");
	return RCK_STATE_PASS;
}

/* HIP's hipLimitStackSize starts at 1024 bytes a work-item; before V5 the compiler itself
 * assumed 16 KiB for what it could not know (LLVM,
 * -amdgpu-assume-external-call-stack-size). */
#define ASSUMED_STACK 16384

static enum rck_state check_small_scratch(
	const struct rck_subject *s, struct rck_verdict *v)
{
	const struct rck_kernel *k = s->kernel;
	uint64_t scratch = k->kd.found ? k->kd.private_segment_fixed_size : k->scratch;

	if (k->dynamic_stack != RCK_YES)
		return RCK_STATE_PASS;
	if (!s->co->version)
		return RCK_STATE_NOT_CHECKABLE;
	if (s->co->version < 5 || scratch >= ASSUMED_STACK)
		return RCK_STATE_PASS;
	v->counted = true;
	v->value = scratch;
	return answer(v, RCK_STATE_FAIL,
		"its scratch does not cover its unknown stack: the runtime's limit, 1 "
		"KiB by "
		"default, must");
}

static enum rck_state check_optimization(
	const struct rck_subject *s, struct rck_verdict *v)
{
	if (s->kernel->cause != RCK_CAUSE_O0)
		return RCK_STATE_PASS;
	if (s->kernel->confidence == RCK_CONFIDENCE_LOW)
		return answer(v, RCK_STATE_MAYBE,
			"looks compiled at -O0: every kernel declares what optimisation "
			"would have removed");
	return answer(v, RCK_STATE_FAIL,
		"compiled at -O0: every kernel of its code object declares all that "
		"optimisation would have removed");
}

static enum rck_state check_sanitizer(const struct rck_subject *s, struct rck_verdict *v)
{
	return s->co->sanitizer ? answer(v, RCK_STATE_FAIL, "instrumented by a sanitizer")
				: RCK_STATE_PASS;
}

static enum rck_state check_mismatch(const struct rck_subject *s, struct rck_verdict *v)
{
	static const enum rck_fact facts[] = {RCK_FACT_DYNAMIC_STACK, RCK_FACT_SCRATCH,
		RCK_FACT_LDS, RCK_FACT_KERNARG_SIZE, RCK_FACT_WAVEFRONT_SIZE};
	size_t n = 0;

	if (!s->kernel->kd.found)
		return answer(v, RCK_STATE_MAYBE,
			"no kernel descriptor of its name is there: its metadata "
			"alone is what is judged");
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		struct rck_value value;

		if (rck_kernel_fact(s->kernel, facts[i], &value) || !value.disagrees)
			continue;
		rck_strbuf_addf(&v->text, "%s%s",
			n++ ? ", " : "metadata and descriptor disagree about ",
			rck_fact_info(facts[i])->key);
	}
	return n ? RCK_STATE_FAIL : RCK_STATE_PASS;
}

/* "amdgcn-amd-amdhsa--gfx90a:xnack-" -> "gfx90a:xnack-" (LLVM AMDGPUUsage, "Code Object
 * Metadata": amdhsa.target). */
static const char *target_of_triple(const char *s)
{
	const char *gfx = strstr(s, "-gfx");

	return gfx ? gfx + 1 : s;
}

/* amdhsa.version by code object version, LLVM AMDGPUUsage: V3 1.0, V4 1.1, V5 1.2; V6's
 * is 1.2 as well so far, and 1.3 is proposed. */
static bool metadata_version_fits(const struct rck_code_object *co)
{
	unsigned major = co->md_version[0], minor = co->md_version[1];

	return major == 1 &&
	       (minor == co->version - 3 || (co->version == 6 && minor == 2));
}

static enum rck_state check_version(const struct rck_subject *s, struct rck_verdict *v)
{
	const struct rck_code_object *co = s->co;

	if (co->osabi == 64 /* HSA */ && !co->version) {
		rck_strbuf_addf(&v->text,
			"ABI version %u is newer than what is known here: what "
			"it changes is not seen",
			co->abiversion);
		return RCK_STATE_MAYBE;
	}
	if (co->version < 3 || !co->n_metadata_notes)
		return RCK_STATE_NOT_CHECKABLE;
	if (!metadata_version_fits(co)) {
		rck_strbuf_addf(&v->text,
			"the header says code object V%u, its metadata is of version "
			"%u.%u",
			co->version, co->md_version[0], co->md_version[1]);
		return RCK_STATE_FAIL;
	}
	if (co->md_target && strcmp(target_of_triple(co->md_target), co->target)) {
		rck_strbuf_addf(&v->text, "the header says %s, its metadata is for %s",
			co->target, target_of_triple(co->md_target));
		return RCK_STATE_FAIL;
	}
	return RCK_STATE_PASS;
}

static enum rck_state over(const struct rck_subject *s, struct rck_verdict *v, bool known,
	uint64_t value, const char *what)
{
	if (!s->limit || !known)
		return RCK_STATE_NOT_CHECKABLE;
	if (value <= *s->limit)
		return RCK_STATE_PASS;
	v->counted = true;
	v->value = value;
	rck_strbuf_addf(
		&v->text, "%s over the policy's limit of %" PRIu64, what, *s->limit);
	return RCK_STATE_FAIL;
}

static uint64_t fact(const struct rck_kernel *k, enum rck_fact f, bool *known)
{
	struct rck_value v = {0};

	*known = !rck_kernel_fact(k, f, &v) && v.known;
	return *known ? v.number : 0;
}

static enum rck_state check_scratch(const struct rck_subject *s, struct rck_verdict *v)
{
	bool known;
	uint64_t n = fact(s->kernel, RCK_FACT_SCRATCH, &known);

	return over(s, v, known, n, "scratch memory");
}

static enum rck_state check_spills(const struct rck_subject *s, struct rck_verdict *v)
{
	bool sk, vk;
	uint64_t n = fact(s->kernel, RCK_FACT_SGPR_SPILLS, &sk) +
		     fact(s->kernel, RCK_FACT_VGPR_SPILLS, &vk);

	return over(s, v, sk || vk, n, "spilled registers");
}

static enum rck_state check_vgprs(const struct rck_subject *s, struct rck_verdict *v)
{
	bool known;
	uint64_t n = fact(s->kernel, RCK_FACT_VGPR_COUNT, &known);

	return over(s, v, known, n, "vector registers");
}

static enum rck_state check_lds(const struct rck_subject *s, struct rck_verdict *v)
{
	bool known;
	uint64_t n = fact(s->kernel, RCK_FACT_LDS, &known);

	return over(s, v, known, n, "local memory");
}

const struct rck_rule rck_rules[RCK_RULE_COUNT_] = {
	[RCK_RULE_HOSTCALL_DECLARED] = {.number = RCK_RULE_HOSTCALL_DECLARED,
		.id = "hostcall-declared",
		.severity = RCK_SEVERITY_WARNING,
		.scope = RCK_SCOPE_KERNEL,
		.summary = "the kernel declares a hostcall buffer",
		.why = "At the first launch of a kernel that declares "
		       "hidden_hostcall_buffer, called or not, the HIP runtime "
		       "allocates the buffer and starts a listener thread; its "
		       "termination at exit is a race that can hang the process. On a "
		       "device without PCIe atomics the launch fails instead.",
		.reference = "https://github.com/ROCm/rocm-systems/pull/10351",
		.remedy = "Take printf, assert and abort out of release device code "
			  "(build with -DNDEBUG), or compile with "
			  "-mprintf-kind=buffered. Allow the kernels that print on "
			  "purpose in the policy.",
		.limit = -1,
		.check = check_hostcall_declared},
	[RCK_RULE_HOSTCALL_UNREACHED] = {.number = RCK_RULE_HOSTCALL_UNREACHED,
		.id = "hostcall-unreached",
		.severity = RCK_SEVERITY_ERROR,
		.scope = RCK_SCOPE_KERNEL,
		.summary = "a hostcall buffer is declared, but no path to a hostcall "
			   "exists",
		.why = "The runtime acts on the declaration, not on the call: listener "
		       "thread, a buffer of megabytes (4 KiB for each wave that the "
		       "device holds), the race at exit and the need for PCIe atomics "
		       "come for nothing. It is the mark of -O0 or of a callee that the "
		       "compiler could not see.",
		.reference = "https://github.com/ROCm/clr/issues/126",
		.remedy = "Compile device code at -O1 or higher, so that the compiler "
			  "can prove that nothing needs the buffer.",
		.limit = -1,
		.check = check_hostcall_unreached},
	[RCK_RULE_HEAP_DECLARED] = {.number = RCK_RULE_HEAP_DECLARED,
		.id = "heap-declared",
		.severity = RCK_SEVERITY_WARNING,
		.scope = RCK_SCOPE_KERNEL,
		.summary = "the kernel declares the device heap",
		.why = "For the first kernel that declares hidden_heap_v1 the runtime "
		       "runs a kernel of its own on every device to initialise the "
		       "heap, before the user's; that has raced with user kernels, and "
		       "costs the first launch.",
		.reference = "https://github.com/ROCm/rocm-systems/pull/5702",
		.remedy = "Avoid malloc, free and new in device code, or compile at -O1 "
			  "or higher when nothing allocates.",
		.limit = -1,
		.check = check_heap_declared},
	[RCK_RULE_DYNAMIC_STACK] = {.number = RCK_RULE_DYNAMIC_STACK,
		.id = "dynamic-stack",
		.severity = RCK_SEVERITY_WARNING,
		.scope = RCK_SCOPE_KERNEL,
		.summary = "the kernel's stack has no size known at compile time",
		.why = "Recursion, an indirect call or a variable-length array leaves "
		       "the stack's size to the runtime, which reserves scratch for "
		       "the worst case and cannot know it.",
		.reference = "https://github.com/llvm/llvm-project/pull/74080",
		.remedy = "Turn recursion into a loop and indirect calls into direct "
			  "ones; at -O0 raise the optimisation level.",
		.limit = -1,
		.check = check_dynamic_stack},
	[RCK_RULE_DYNAMIC_STACK_SMALL_SCRATCH] =
		{.number = RCK_RULE_DYNAMIC_STACK_SMALL_SCRATCH,
			.id = "dynamic-stack-small-scratch",
			.severity = RCK_SEVERITY_WARNING,
			.scope = RCK_SCOPE_KERNEL,
			.summary = "a dynamic stack that only the runtime's default "
				   "limit covers",
			.why = "Since code object V5 the compiler no longer assumes 16 "
			       "KiB for "
			       "a stack it cannot size: the runtime's hipLimitStackSize, "
			       "1 KiB "
			       "a work-item by default, applies. Past it memory is "
			       "corrupted "
			       "or the kernel hangs, without a message.",
			.reference =
				"https://github.com/ROCm/rocm-libraries/issues/12473",
			.remedy =
				"Remove the cause of the dynamic stack, or have the "
				"program "
				"call hipDeviceSetLimit(hipLimitStackSize, N) before its "
				"first launch.",
			.limit = -1,
			.unit = "B of scratch",
			.check = check_small_scratch},
	[RCK_RULE_BUILT_WITHOUT_OPTIMIZATION] =
		{.number = RCK_RULE_BUILT_WITHOUT_OPTIMIZATION,
			.id = "built-without-optimization",
			.severity = RCK_SEVERITY_ERROR,
			.scope = RCK_SCOPE_KERNEL,
			.summary = "device code compiled at -O0",
			.why = "At -O0 the pass that drops unused hidden arguments does "
			       "not run: "
			       "every kernel declares hostcall and heap, the process may "
			       "hang "
			       "at exit, and code is many times slower. CMake's HIP "
			       "language "
			       "with an empty or unknown build type passes no -O at all.",
			.reference = "https://github.com/mudler/vllm.cpp/issues/132",
			.remedy = "Give device code -O1 or more in every configuration: "
				  "CMAKE_BUILD_TYPE=Release, or -O1 in CMAKE_HIP_FLAGS.",
			.limit = -1,
			.check = check_optimization},
	[RCK_RULE_SANITIZER_BUILD] = {.number = RCK_RULE_SANITIZER_BUILD,
		.id = "sanitizer-build",
		.severity = RCK_SEVERITY_WARNING,
		.scope = RCK_SCOPE_OBJECT,
		.summary = "device code instrumented by a sanitizer",
		.why = "Instrumented code declares hostcall and heap on every kernel, "
		       "is slow, and needs the sanitizer's runtime: it is for tests, "
		       "not for release.",
		.reference = "https://github.com/ROCm/rocm-systems/pull/5702",
		.remedy = "Build the release without -fsanitize for device code.",
		.limit = -1,
		.check = check_sanitizer},
	[RCK_RULE_METADATA_DESCRIPTOR_MISMATCH] =
		{.number = RCK_RULE_METADATA_DESCRIPTOR_MISMATCH,
			.id = "metadata-descriptor-mismatch",
			.severity = RCK_SEVERITY_ERROR,
			.scope = RCK_SCOPE_KERNEL,
			.summary = "metadata and kernel descriptor contradict each other",
			.why = "The runtime reads some values from the metadata and the "
			       "hardware "
			       "others from the descriptor; where they differ, one of "
			       "the two "
			       "is launched wrongly.",
			.reference = "https://llvm.org/docs/"
				     "AMDGPUUsage.html#kernel-descriptor",
			.remedy =
				"Rebuild the object with one compiler; hand-written "
				"assembly "
				"must keep .amdhsa_kernel and .amdgpu_metadata in step.",
			.limit = -1,
			.check = check_mismatch},
	[RCK_RULE_VERSION_MISMATCH] = {.number = RCK_RULE_VERSION_MISMATCH,
		.id = "version-mismatch",
		.severity = RCK_SEVERITY_WARNING,
		.scope = RCK_SCOPE_OBJECT,
		.summary = "header and metadata name different versions or targets",
		.why = "Loaders choose by the header and lay out arguments by the "
		       "metadata; objects linked from parts of different compilers are "
		       "rejected, or launched with the wrong layout.",
		.reference = "https://github.com/ROCm/ROCR-Runtime/issues/321",
		.remedy = "Build all parts of a code object with one "
			  "-mcode-object-version and one --offload-arch.",
		.limit = -1,
		.check = check_version},
	[RCK_RULE_SCRATCH_OVER] = {.number = RCK_RULE_SCRATCH_OVER,
		.id = "scratch-over",
		.severity = RCK_SEVERITY_WARNING,
		.scope = RCK_SCOPE_KERNEL,
		.summary = "more scratch memory than the policy allows",
		.why = "Scratch is memory off the chip, paid by every work-item; a lost "
		       "-O shows here first.",
		.reference = "https://github.com/pytorch/pytorch/issues/183853",
		.remedy = "Check the optimisation level, keep arrays in registers "
			  "(unroll, constant indices), or raise the limit.",
		.limit = RCK_LIMIT_SCRATCH,
		.unit = "B",
		.check = check_scratch},
	[RCK_RULE_SPILLS_OVER] = {.number = RCK_RULE_SPILLS_OVER,
		.id = "spills-over",
		.severity = RCK_SEVERITY_WARNING,
		.scope = RCK_SCOPE_KERNEL,
		.summary = "more spilled registers than the policy allows",
		.why = "A spilled register is written to and read from memory on the "
		       "kernel's own path.",
		.reference = "https://llvm.org/docs/AMDGPUUsage.html"
			     "#code-object-v3-metadata",
		.remedy = "Use __launch_bounds__, split the kernel, or raise the limit.",
		.limit = RCK_LIMIT_SPILLS,
		.unit = "registers",
		.check = check_spills},
	[RCK_RULE_VGPR_OVER] = {.number = RCK_RULE_VGPR_OVER,
		.id = "vgpr-over",
		.severity = RCK_SEVERITY_WARNING,
		.scope = RCK_SCOPE_KERNEL,
		.summary = "more vector registers than the policy allows",
		.why = "Vector registers decide how many waves fit on a SIMD, and so "
		       "how much memory latency is hidden.",
		.reference = "https://llvm.org/docs/AMDGPUUsage.html"
			     "#code-object-v3-metadata",
		.remedy = "Use __launch_bounds__ or amdgpu_waves_per_eu, or raise the "
			  "limit.",
		.limit = RCK_LIMIT_VGPRS,
		.unit = "registers",
		.check = check_vgprs},
	[RCK_RULE_LDS_OVER] = {.number = RCK_RULE_LDS_OVER,
		.id = "lds-over",
		.severity = RCK_SEVERITY_WARNING,
		.scope = RCK_SCOPE_KERNEL,
		.summary = "more local memory than the policy allows",
		.why = "LDS decides how many work-groups fit on a compute unit.",
		.reference = "https://llvm.org/docs/AMDGPUUsage.html"
			     "#code-object-v3-metadata",
		.remedy = "Use smaller tiles, or raise the limit.",
		.limit = RCK_LIMIT_LDS,
		.unit = "B",
		.check = check_lds},
	[RCK_RULE_TARGET_MISSING] = {.number = RCK_RULE_TARGET_MISSING,
		.id = "target-missing",
		.severity = RCK_SEVERITY_ERROR,
		.scope = RCK_SCOPE_FILE,
		.summary = "a target that the policy requires is not in the file",
		.why = "On a GPU without code for it HIP fails at the first launch with "
		       "hipErrorNoBinaryForGpu.",
		.reference = "https://github.com/ROCm/hip/issues/2799",
		.remedy = "Add the target to --offload-arch or "
			  "CMAKE_HIP_ARCHITECTURES.",
		.limit = -1},
	[RCK_RULE_DUPLICATE_KERNEL_DIFFERS] = {.number =
						       RCK_RULE_DUPLICATE_KERNEL_DIFFERS,
		.id = "duplicate-kernel-differs",
		.severity = RCK_SEVERITY_WARNING,
		.scope = RCK_SCOPE_FILE,
		.summary = "one kernel, two different bodies in one file",
		.why = "Translation units compiled a kernel of one name for one target "
		       "differently (other flags, other -O, other source). The host's "
		       "linker keeps one of the stubs: which body runs is an accident "
		       "of link order.",
		.reference = "https://en.cppreference.com/w/cpp/language/definition",
		.remedy = "Compile all translation units that use the kernel with the "
			  "same flags and definitions, or give the kernels internal "
			  "linkage.",
		.limit = -1},
	[RCK_RULE_INCOMPLETE] = {.number = RCK_RULE_INCOMPLETE,
		.id = "incomplete",
		.severity = RCK_SEVERITY_ERROR,
		.scope = RCK_SCOPE_FILE,
		.summary = "device code that cannot be judged: its metadata or its "
			   "compile line cannot be read",
		.why = "Bitcode of -fgpu-rdc, SPIR-V and a kpack archive that is not "
		       "there become kernels later, and a compile line whose driver "
		       "does not answer has a level that nobody states: nothing can be "
		       "said of them here, and nothing found is not the same as "
		       "clean.",
		.reference = "https://clang.llvm.org/docs/ClangOffloadBundler.html",
		.remedy = "Check the file that the device code ends up in, or allow "
			  "this one in the policy.",
		.limit = -1},
	[RCK_RULE_NO_DEVICE_CODE] = {.number = RCK_RULE_NO_DEVICE_CODE,
		.id = "no-device-code",
		.severity = RCK_SEVERITY_NOTE,
		.scope = RCK_SCOPE_FILE,
		.summary = "the file holds no device code",
		.why = "A check of a file without device code passes whatever is wrong: "
		       "a renamed artefact or a build without HIP goes unseen.",
		.reference = "https://llvm.org/docs/AMDGPUUsage.html#code-object",
		.remedy = "Give the file that holds the kernels; with "
			  "--require-device-code this is an error.",
		.limit = -1},
	[RCK_RULE_HIP_UNOPTIMIZED] = {.number = RCK_RULE_HIP_UNOPTIMIZED,
		.id = "hip-unoptimized",
		.severity = RCK_SEVERITY_ERROR,
		.scope = RCK_SCOPE_SOURCE,
		.summary = "a HIP source whose device code is compiled at -O0",
		.why = "At -O0 every kernel declares a hostcall buffer, a device heap "
		       "and a "
		       "dynamic stack that it never uses; the HIP runtime starts a "
		       "listener "
		       "thread for it, whose shutdown races in HIP 6.2 and later. "
		       "clang++ "
		       "and CMake's HIP language pass no -O by themselves, hipcc adds "
		       "-O3 "
		       "unless any word of the line starts with -O.",
		.reference = "https://github.com/ROCm/clr/issues/126",
		.remedy = "Compile device code at -O1 or above: put -O1 in front of the "
			  "other "
			  "flags, or use share/cmake/RocmcheckFloor.cmake.",
		.limit = -1},
	[RCK_RULE_HIP_ASSERT_ACTIVE] = {.number = RCK_RULE_HIP_ASSERT_ACTIVE,
		.id = "hip-assert-active",
		.severity = RCK_SEVERITY_NOTE,
		.scope = RCK_SCOPE_SOURCE,
		.summary = "a HIP source that asserts, compiled without -DNDEBUG",
		.why = "A live assert() in device code prints through the hostcall "
		       "buffer: its "
		       "kernels declare one for a reason, also in a release.",
		.reference = "https://github.com/ROCm/rocm-systems/pull/9643",
		.remedy = "Define NDEBUG where the result is shipped.",
		.limit = -1},
	[RCK_RULE_HIP_SANITIZED] = {.number = RCK_RULE_HIP_SANITIZED,
		.id = "hip-sanitized",
		.severity = RCK_SEVERITY_NOTE,
		.scope = RCK_SCOPE_SOURCE,
		.summary = "a HIP source compiled with a sanitizer",
		.why = "Sanitized device code reports through the hostcall buffer, so "
		       "that every "
		       "kernel of it declares one.",
		.reference = "https://clang.llvm.org/docs/AddressSanitizer.html",
		.remedy = "Keep it to test builds, or switch it off for the device: "
			  "-fno-gpu-sanitize.",
		.limit = -1},
	[RCK_RULE_HIP_RDC] = {.number = RCK_RULE_HIP_RDC,
		.id = "hip-rdc",
		.severity = RCK_SEVERITY_NOTE,
		.scope = RCK_SCOPE_SOURCE,
		.summary = "a HIP source compiled with -fgpu-rdc",
		.why = "Its object holds bitcode: what its kernels declare is decided "
		       "when the "
		       "device code is linked, by the level of that step as well.",
		.reference = "https://clang.llvm.org/docs/HIPSupport.html",
		.remedy = "Check the linked program with rocmcheck lint.",
		.limit = -1},
};

const struct rck_rule *rck_rule_find(const char *id)
{
	for (size_t i = 0; i < RCK_RULE_COUNT_; i++)
		if (!strcmp(rck_rules[i].id, id))
			return &rck_rules[i];
	return NULL;
}

const char *rck_rule_remedy(
	const struct rck_rule *rule, enum rck_cause cause, bool reached)
{
	switch (rule->number) {
	case RCK_RULE_HOSTCALL_DECLARED:
		/* a hostcall that is really made outlives a better -O */
		if (reached)
			return rule->remedy;
		/* fall through */
	case RCK_RULE_HOSTCALL_UNREACHED:
	case RCK_RULE_HEAP_DECLARED:
	case RCK_RULE_DYNAMIC_STACK:
		if (cause != RCK_CAUSE_NONE && cause != RCK_CAUSE_UNSETTLED)
			return rck_cause_remedy(cause);
		return rule->remedy;
	default:
		return rule->remedy;
	}
}
