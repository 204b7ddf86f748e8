/*
 * Code object -> numbers: which device is behind HIP, and what the bundled kernels of a
 * code object compute on it. All of it happens in a child, rocmcheck-launch.
 */
#pragma once

#include "launch/problem.h"
#include "util/rocm.h"

enum rck_device_kind { RCK_DEVICE_AUTO, RCK_DEVICE_HIP, RCK_DEVICE_SOFT };

struct rck_device {
	enum rck_device_kind kind; /* hip or soft */
	char *front;       /* soft: the folder of the stand-in HSA runtime; else NULL */
	char *soft_target; /* soft: the processor that it was asked to be, or NULL */
	char *name;        /* the device's own; "software device" in front when soft */
	char *target;      /* "gfx1030", "gfx90a:sramecc+:xnack-" */
	char *hip;         /* path of the HIP runtime that answered */
	int hip_version;   /* hipRuntimeGetVersion: 60443484 is 6.4.43484 */
	char *hip_version_text;
	char *hsa; /* path of the HSA runtime behind it */
};

/*
 * Finds the device by asking HIP in a child. auto: a GPU when HIP finds one, else the
 * software device. soft_target: what the software device is to be. The HSA runtime that
 * the child loaded is looked at, and a wrong one is an error. 0; -ENODEV with diag: there
 * is none (no HIP runtime, no GPU, no software device, as asked); else -errno.
 */
int rck_device_find(const struct rck_rocm *r, enum rck_device_kind kind,
	const char *soft_target, struct rck_device *out, struct rck_diag *diag);
void rck_device_release(struct rck_device *d);

/* True when code for target runs on the device: the same processor, and no feature asked
   for that differs. */
bool rck_device_runs(const struct rck_device *d, const char *target);

struct rck_launch_case {
	const struct rck_bundled *kernel;
	char *name, *bound; /* the case; its bound in words */
	uint64_t outputs;   /* elements that a dump has of it */
	struct rck_check check;
	double rms_rel;
	/* of one launch on the device, after a first: median and quartiles; NaN: not
	 * measured */
	double seconds, seconds_q1, seconds_q3;
};

struct rck_launch {
	/* in */
	const char *code_object; /* path */
	const char *dump;        /* path for every output byte, or NULL */
	struct rck_sizes sizes;
	uint64_t seed;
	bool time;
	double timeout; /* seconds; 0: 600 */
	/* out: cases that ran before an error are there, too */
	struct rck_launch_case *cases;
	size_t n;
	char *output; /* what the child wrote to stderr; "" */
};

/*
 * Launches every bundled kernel in a code object. 0: all cases ran (whatever came out);
 * -EIO with diag: a HIP call failed (diag names it), the child died or did not end.
 */
int rck_launch_run(const struct rck_rocm *r, const struct rck_device *d,
	struct rck_launch *l, struct rck_diag *diag);
void rck_launch_release(struct rck_launch *l);

/* How the outputs of two code objects differ, case by case: both have run with dumps. */
struct rck_bit_difference {
	const struct rck_launch_case *a; /* of the first */
	uint64_t different, outputs;     /* elements */
};
/* Fills one entry a case (out has room for a->n). -EINVAL: the runs are not alike. */
int rck_launch_compare(const struct rck_launch *a, const struct rck_launch *b,
	struct rck_bit_difference *out, struct rck_diag *diag);
