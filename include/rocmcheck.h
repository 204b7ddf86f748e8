/* rocmcheck.h */
#pragma once
#include <stdint.h>
#include <stdbool.h>
#include <stddef.h>

#define RCK_OFFSET_NONE UINT64_MAX

struct rck_diag {
	int code;
	uint64_t offset;
	char msg[256];
};
