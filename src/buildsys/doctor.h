/*
 * What this machine's ROCm is and does: one line a fact, each ok, attention, problem or
 * unknown, with what to do. Only looks and, in children, loads: changes nothing.
 */
#pragma once

#include "rocmcheck.h"
#include "util/rocm.h"

enum rck_health {
	RCK_HEALTH_OK,
	RCK_HEALTH_UNKNOWN,   /* could not be told */
	RCK_HEALTH_ATTENTION, /* works, but changes what you will see */
	RCK_HEALTH_PROBLEM,   /* something will not work */
};
const char *rck_health_name(enum rck_health h); /* "ok", ... stable, for JSON */

struct rck_doctor_line {
	enum rck_health health;
	char *topic;  /* "HIP runtime" */
	char *text;   /* one clause */
	char *advice; /* what to do, one sentence; NULL: nothing */
};

struct rck_doctor {
	struct rck_rocm *rocm; /* borrowed; may be NULL: none was found */
	const char *root; /* what /sys, /proc and /dev are below: "" for this machine */
	bool load;        /* load the HIP runtime in a child and ask it for devices */
	struct rck_doctor_line *lines;
	size_t n;
	unsigned hip_version[3]; /* of the runtime, for a later check; 0: not known */
};

/* Runs every check, in a fixed order. */
void rck_doctor_run(struct rck_doctor *d);
void rck_doctor_release(struct rck_doctor *d);

/* Adds a line; topic and texts are copied, advice may be NULL. */
void rck_doctor_say(struct rck_doctor *d, enum rck_health health, const char *topic,
	const char *advice, const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* The checks, a file each. */
void rck_doctor_parts(struct rck_doctor *d); /* libraries, compilers, headers, versions */
void rck_doctor_loading(
	struct rck_doctor *d); /* does the HIP runtime load, and with what */
void rck_doctor_device(
	struct rck_doctor *d); /* driver, /dev/kfd, render nodes, GPU, atomics */
void rck_doctor_teardown(struct rck_doctor *d);    /* has this CLR the race, by version */
void rck_doctor_environment(struct rck_doctor *d); /* variables that change the outcome */
