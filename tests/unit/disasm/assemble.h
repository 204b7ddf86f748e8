/* Assembles AMDGPU text with the clang of the test machine. Include after cmocka.h. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The newest clang found, as a command, or NULL. */
static inline const char *asm_clang(void)
{
	static const char *const names[] = {
		"clang-22", "clang-19", "clang-16", "clang-15"};
	static char found[32];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char cmd[64];

		snprintf(cmd, sizeof(cmd), "command -v %s >/dev/null 2>&1", names[i]);
		if (!system(cmd)) {
			snprintf(found, sizeof(found), "%s", names[i]);
			return found;
		}
	}
	return NULL;
}

/* Assembles for a target id's processor; returns .text (free it) or NULL. */
static inline unsigned char *asm_bytes(
	const char *cpu, const char *extra, const char *source, size_t *size)
{
	char dir[] = "/tmp/rck-asm-XXXXXX", cmd[512];
	const char *clang = asm_clang();
	unsigned char *out = NULL;
	FILE *f;

	if (!clang || !mkdtemp(dir))
		return NULL;
	snprintf(cmd, sizeof(cmd), "%s/a.s", dir);
	f = fopen(cmd, "w");
	if (f) {
		fputs(source, f);
		fclose(f);
	}
	snprintf(cmd, sizeof(cmd),
		"cd %s && %s -target amdgcn-amd-amdhsa -mcpu=%s %s -c a.s -o a.o && "
		"llvm-objcopy%s -O binary --only-section=.text a.o a.bin",
		dir, clang, cpu, extra, clang + 5);
	if (!system(cmd)) {
		snprintf(cmd, sizeof(cmd), "%s/a.bin", dir);
		f = fopen(cmd, "rb");
		if (f) {
			fseek(f, 0, SEEK_END);
			*size = (size_t)ftell(f);
			rewind(f);
			out = malloc(*size + 1);
			if (out && fread(out, 1, *size, f) != *size) {
				free(out);
				out = NULL;
			}
			fclose(f);
		}
	}
	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	if (system(cmd))
		return out;
	return out;
}
