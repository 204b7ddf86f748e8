#include "softgpu/softgpu.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_NAMES 256

static int threshold(void)
{
	static _Atomic int level;

	if (!level) {
		const char *e = getenv("RCK_SOFT_LOG");
		level = e ? SG_LOG_ERROR + atoi(e) : SG_LOG_ERROR;
	}
	return level;
}

/* Names of kernels come from files: nothing of them may drive a terminal. */
static void mask(char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < 0x20 || *s == 0x7f)
			*s = '?';
}

void sg_log(enum sg_log_level level, const char *fmt, ...)
{
	char line[1200];
	int e = errno, n;
	va_list ap;

	if ((int)level > threshold())
		return;
	n = snprintf(line, sizeof line, "rocmcheck softgpu: ");
	va_start(ap, fmt);
	vsnprintf(line + n, sizeof line - (size_t)n - 1, fmt, ap);
	va_end(ap);
	mask(line);
	strcat(line, "\n");
	if (write(STDERR_FILENO, line, strlen(line)) < 0) {
		/* a closed stderr: there is nobody to tell */
	}
	errno = e;
}

hsa_status_t sg_unimplemented(const char *name, hsa_status_t status)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static const char *names[MAX_NAMES];
	static size_t n;
	bool known = false;

	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < n && !known; i++)
		known = !strcmp(names[i], name);
	if (!known && n < MAX_NAMES)
		names[n++] = name;
	pthread_mutex_unlock(&lock);
	if (!known)
		sg_log(SG_LOG_ERROR, "%s is not implemented", name);
	return status;
}
