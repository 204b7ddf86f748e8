/*
 * Replays a fuzz target without libFuzzer: every file of the folders and files named,
 * whole, cut at every length and with every byte flipped. Large seeds are cut and flipped
 * at evenly spread places, so that one file costs at most some thousand runs.
 */
#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_RUNS 2000
#define MAX_SEED (8u << 20)

static unsigned long runs, seeds;

/* A copy of exactly the size, so that a sanitizer sees the first byte read behind it. */
static void run(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	if (!copy)
		abort();
	memcpy(copy, data, size);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
	runs++;
}

static void replay(const char *path)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data = malloc(MAX_SEED);
	size_t size, step;

	if (!f || !data) {
		perror(path);
		exit(1);
	}
	size = fread(data, 1, MAX_SEED, f);
	fclose(f);
	seeds++;
	run(data, size);
	step = size / MAX_RUNS + 1;
	/* a large seed costs more a run: fewer of them */
	if (size > 65536)
		step *= 1 + size / 65536;
	for (size_t i = 0; i < size; i += step)
		run(data, i);
	for (size_t i = 0; i < size; i += step) {
		static const uint8_t masks[] = {0xff, 0x01, 0x80};

		data[i] ^= masks[i / step % 3];
		run(data, size);
		data[i] ^= masks[i / step % 3];
	}
	free(data);
}

static void replay_all(const char *path)
{
	struct dirent **list;
	struct stat st;
	int n;

	if (stat(path, &st) || !S_ISDIR(st.st_mode)) {
		replay(path);
		return;
	}
	n = scandir(path, &list, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		char full[4096];

		snprintf(full, sizeof(full), "%s/%s", path, list[i]->d_name);
		if (list[i]->d_name[0] != '.' && !stat(full, &st) && S_ISREG(st.st_mode))
			replay(full);
		free(list[i]);
	}
	if (n >= 0)
		free(list);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		replay_all(argv[i]);
	printf("%lu seeds, %lu runs\n", seeds, runs);
	if (!seeds)
		fprintf(stderr, "no seed was found\n");
	return seeds ? 0 : 1;
}
