/* ab: what its files share. */
#pragma once

#include "cmd/live.h"
#include "compile/compile.h"
#include "launch/launch.h"
#include "util/strv.h"

enum ab_kind { AB_LEVELS, AB_FILES, AB_COMMANDS };

struct ab_options {
	/* the arms */
	const char *levels, *source, *kernel, *file[2], *command[2];
	const char *compiler, *rocm, *teardown_rocm, *target;
	int device; /* enum rck_device_kind */
	bool launch, self;
	/* the exposures */
	const char *loads, *routes;
	bool teardown, amd_order, until_confident;
	unsigned long long exposures, workers, concurrent, seed;
	double timeout, grace;
	const char *done_regex, *core_folder;
	/* the report */
	int format;
	const char *output, *append;
};

/* One arm on its way. */
struct ab_arm {
	const char *name; /* of the experiment's arm */
	char *path;       /* the code object; NULL when it was not built */
	char *old_path;   /* the same as V4, for HIP runtimes that know no V5; or NULL */
	char *kernel;     /* mangled: what the probe launches */
	bool bundled;     /* that kernel is one of ours, its arguments are known */
	struct rck_compile_job job, old_job;
	struct rck_launch launch;
	bool launched;
	const char *command; /* AB_COMMANDS */
};

struct ab {
	const struct ab_options *o;
	enum ab_kind kind;
	struct rck_experiment *x;
	struct rck_rocm *rocm, *teardown_rocm; /* may be the same */
	struct rck_device device, teardown_device;
	bool has_device, has_teardown_device;
	struct ab_arm arms[RCK_ARMS_MAX];
	size_t n_arms;
	char *folder;           /* temporary */
	unsigned loads, routes; /* a bit each */
	bool differ;            /* the arms do, in a fact that counts */
	bool explained;         /* the order of destructors */
	int status;
};

/* Parse the arms, the loads and routes; an exit status. */
int ab_arms_parse(struct ab *ab);
int ab_expose_parse(struct ab *ab);
/* Compile or read them, and fill the rows; trouble goes to ab->status. */
void ab_arms_build(struct ab *ab);
/* The arm's code object as this device's HIP runtime can load it. Borrowed. */
const char *ab_object_for(const struct ab_arm *arm, const struct rck_device *d);
/* Launch the bundled kernels and compare what comes back. */
void ab_arms_launch(struct ab *ab);
/* Look once at each, then expose them: a cell a load and route. */
void ab_expose(struct ab *ab);
/* The closing sentences. */
void ab_conclude(struct ab *ab);
void ab_arms_release(struct ab *ab);

/* rck_experiment_row() by printf's rules. */
void ab_row(struct ab *ab, const char *key, const char *title, size_t arm,
	const char *fmt, ...) __attribute__((format(printf, 5, 6)));
void ab_trouble(struct ab *ab);

/* ab --merge FILE...: the exit status. */
int ab_merge(const struct ab_options *o, int n, char **files);
