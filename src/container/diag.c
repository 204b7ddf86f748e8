#include "container/container.h"

#include <stdarg.h>
#include <stdio.h>

int rck_fail(struct rck_diag *diag, int code, uint64_t offset, const char *fmt, ...)
{
	va_list ap;

	if (!diag)
		return code;
	diag->code = code;
	diag->offset = offset;
	va_start(ap, fmt);
	vsnprintf(diag->msg, sizeof(diag->msg), fmt, ap);
	va_end(ap);
	return code;
}
