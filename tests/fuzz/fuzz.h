/* What a fuzz target defines: one input in, 0 out, and nothing that outlives it. */
#pragma once

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
