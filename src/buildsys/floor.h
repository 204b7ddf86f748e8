/*
 * The floor: device code never below -O1 unless the user says so. One decision, here
 * without CMake and in share/cmake/RocmcheckFloor.cmake with it; a test holds the two to
 * each other.
 */
#pragma once

#include "buildsys/optlevel.h"

#include <stdbool.h>

struct rck_floor_flags {
	const char *config; /* "Debug"; compared without case, as CMake does */
	const char *flags;  /* CMAKE_HIP_FLAGS_<CONFIG> */
};

struct rck_floor_in {
	const char *flags;                          /* CMAKE_HIP_FLAGS */
	const struct rck_floor_flags *config_flags; /* what the user set */
	size_t n_config_flags;
	unsigned cmake_major,
		cmake_minor; /* its defaults for a configuration that is not set */
};

struct rck_floor_out {
	bool floor;            /* true: -O1 goes in front of the configuration's flags */
	enum rck_olevel level; /* what the final compile line says without the floor;
				  UNKNOWN: nothing */
	const char *why;       /* one clause */
	bool warn;             /* an explicit -O0: the user's choice, kept */
};

/* The decision for one configuration ("" for an empty build type). */
void rck_floor_decide(
	const struct rck_floor_in *in, const char *config, struct rck_floor_out *out);

/* CMAKE_HIP_FLAGS_<CONFIG> as CMake of that version sets it
   (Modules/Compiler/Clang*.cmake): Debug is
   "-g -O" before 4.1 and "-g" from 4.1 on. "" for None and for custom types. */
const char *rck_floor_default_flags(const char *config, unsigned major, unsigned minor);

/* "Ninja Multi-Config", "Xcode", "Visual Studio 17 2022". */
bool rck_floor_is_multi_config(const char *generator);
