/* For the tests that nothing is left alive. */
#pragma once

#include "teardown/proc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How many processes have this word in their command line, but for us. */
static inline size_t alive_with(const char *word)
{
	struct rck_pids all = rck_proc_descendants(1);
	size_t n = 0;

	for (size_t i = 0; i < all.n; i++) {
		char path[64], line[512];
		size_t len;
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%d/cmdline", all.ids[i]);
		f = fopen(path, "r");
		if (!f)
			continue;
		len = fread(line, 1, sizeof(line) - 1, f);
		fclose(f);
		line[len] = 0;
		for (size_t k = 0; k < len; k++)
			if (!line[k])
				line[k] = ' ';
		if (all.ids[i] != getpid() && strstr(line, word))
			n++;
	}
	free(all.ids);
	return n;
}

/* Waits until there are none, or for a generous time. */
static inline size_t alive_at_last(const char *word)
{
	double end = rck_proc_now() + 30;
	size_t n;

	while ((n = alive_with(word)) && rck_proc_now() < end)
		usleep(20000);
	return n;
}
