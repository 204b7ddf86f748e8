/* What the fuzz targets of the containers share. */
#pragma once

#include "fuzz.h"

#include "container/container.h"

static inline struct rck_slice slice_of(const uint8_t *data, size_t size)
{
	return (struct rck_slice){data, size, 0};
}

/* Reads every byte of a slice that a parser hands out: a wrong one is a crash. */
static inline void touch(struct rck_slice s)
{
	volatile uint8_t sum = 0;

	for (uint64_t i = 0; i < s.size; i++)
		sum ^= s.data[i];
}

static inline void touch_entry(const struct rck_entry *e)
{
	touch(e->slice);
	touch((struct rck_slice){(const uint8_t *)e->id, e->id_len, 0});
}
