/* What the two preloaded libraries share. Neither links anything but the C library. */
#pragma once

#include "teardown/preload.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

typedef int main_fn(int, char **, char **);
typedef int start_fn(
	main_fn *, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);

/* glibc declares neither. */
int __libc_start_main(
	main_fn *, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);

/* What the program would have met without us. */
static inline void *next(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

static inline int number_in_env(const char *name, int otherwise)
{
	const char *s = getenv(name);

	return s && *s ? atoi(s) : otherwise;
}

static inline void say_line(const char *line, int n)
{
	int fd = number_in_env(RCK_PRELOAD_FD, -1);

	/* a program that closed it has no more to say */
	if (fd < 0 || write(fd, line, (size_t)n) < 0)
		return;
}

/* One event; a negative number is left out. */
static inline void say(const char *event, long a, long b)
{
	char line[128];
	int n = snprintf(line, sizeof(line), "%d %s", getpid(), event);

	if (a >= 0)
		n += snprintf(line + n, sizeof(line) - (size_t)n, " %ld", a);
	if (b >= 0)
		n += snprintf(line + n, sizeof(line) - (size_t)n, " %ld", b);
	line[n++] = '\n';
	say_line(line, n);
}

static inline void say_text(const char *event, const char *text)
{
	char line[4096]; /* PIPE_BUF: in one piece */
	int n = snprintf(line, sizeof(line), "%d %s %s\n", getpid(), event, text);

	if (n < (int)sizeof(line))
		say_line(line, n);
}

/* Does this address belong to the HIP runtime? */
static inline bool is_hip(const void *address)
{
	Dl_info info;
	const char *slash;

	if (!dladdr(address, &info) || !info.dli_fname)
		return false;
	slash = strrchr(info.dli_fname, '/');
	return !strncmp(slash ? slash + 1 : info.dli_fname, "libamdhip64.so", 14);
}
