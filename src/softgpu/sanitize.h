/*
 * RCK_SOFT_SANITIZE: what a correct kernel never does, found while it runs. Called by
 * trace.c before each instruction, one wave at a time.
 */
#pragma once

#include <stdio.h>

#include "softgpu/wave.h"

struct sg_san;

/* NULL when out of memory. Findings are lines in out, each place and kind once a launch.
 */
struct sg_san *sg_san_new(FILE *out);
void sg_san_free(struct sg_san *s);
void sg_san_step(struct sg_san *s, struct sg_wave *w, const struct sg_inst *in);
