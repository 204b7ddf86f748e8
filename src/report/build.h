/* The reports of build: what was compiled, what is in it, what it computed. */
#pragma once

#include "codeobj/codeobj.h"
#include "compile/compile.h"
#include "launch/launch.h"
#include "util/json.h"

/* How a code object was launched, or why not. */
enum rck_build_launch {
	RCK_BUILD_NOT_ASKED,  /* --no-launch, or a source of the user's */
	RCK_BUILD_NO_DEVICE,  /* no device for this target; why is in device_diag */
	RCK_BUILD_OTHER_GPU,  /* the GPU is another one: no fault of the code */
	RCK_BUILD_LAUNCHED,   /* every case ran: see the cases */
	RCK_BUILD_LAUNCH_DIED /* a HIP call failed: launch_diag; some cases may be there
			       */
};

struct rck_build_device {
	const char *target; /* asked for; borrowed */
	int err;            /* 0: device is there */
	struct rck_diag diag;
	struct rck_device device;
};

struct rck_build_object {
	struct rck_compile_job job;
	struct rck_code_object *co; /* NULL: not compiled, or read_diag says why */
	struct rck_diag read_diag;
	char source_sha256[65]; /* of the source file alone, not of what it includes */
	char *file;             /* where it was written; NULL: nowhere */
	enum rck_build_launch launched;
	const struct rck_build_device *device; /* NULL: none was looked for */
	struct rck_diag launch_diag;
	struct rck_launch launch;
	unsigned launch_version; /* code object version of what ran, when not the job's */
};

/* The outputs of one code object against those of the next level of the same source. */
struct rck_build_bits {
	const struct rck_build_object *a, *b;
	int err; /* they could not be compared: diag */
	struct rck_diag diag;
	struct rck_bit_difference *cases; /* a->launch.n */
};

struct rck_build {
	const struct rck_compiler *compiler;
	const char *rocm_dir;             /* --rocm, or NULL */
	struct rck_build_object *objects; /* by source, target, level */
	size_t n_objects;
	struct rck_build_bits *bits;
	size_t n_bits;
	struct rck_build_fatbin {
		char *file;
		size_t size;
		char sha256[65];
	} * fatbins;
	size_t n_fatbins;
	uint64_t seed;
	struct rck_sizes sizes;
};

/* The name of a kernel for people: the bundled table's, or the demangled one. Borrowed.
 */
const char *rck_build_kernel_name(const struct rck_kernel *k);
/* Of one kernel, over its cases: n is 0 when none ran. */
struct rck_build_numbers {
	size_t n, failed; /* cases; those with a wrong or touched element */
	double max_rel, max_ratio;
	double seconds; /* of the case "plain"; NaN: not measured */
};
void rck_build_numbers(const struct rck_build_object *o, const struct rck_kernel *k,
	struct rck_build_numbers *out);
/* One line about a case that went wrong. */
void rck_build_case_text(const struct rck_launch_case *c, struct rck_strbuf *out);

/* For people: kernel by level, then what went wrong, then bit equality. cases: every
   case, with its bound and histogram. */
void rck_build_text(const struct rck_build *b, bool cases, struct rck_strbuf *out,
	unsigned width, bool color);
/* One JSON object, schema 1. */
void rck_build_json(const struct rck_build *b, struct rck_strbuf *out);
/* manifest.json of the written files: the same input gives the same bytes. */
void rck_build_manifest(const struct rck_build *b, struct rck_strbuf *out);
