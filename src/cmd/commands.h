/* The commands' descriptors, one a file of this folder. */
#pragma once

#include "cmd/cmd.h"

extern const struct rck_cmd rck_cmd_flags;
extern const struct rck_cmd rck_cmd_build;
extern const struct rck_cmd rck_cmd_ab;
extern const struct rck_cmd rck_cmd_diff;
extern const struct rck_cmd rck_cmd_doctor;
extern const struct rck_cmd rck_cmd_soft;
extern const struct rck_cmd rck_cmd_stress;
extern const struct rck_cmd rck_cmd_lint;

/* --version: version, what was compiled in, what was found at run time. */
int rck_print_version(void);
extern const struct rck_cmd rck_cmd_inspect;
