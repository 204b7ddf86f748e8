/* _cleanup_(fn): runs fn(&variable) when the variable leaves its scope. For locals only.
 */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define _cleanup_(fn) __attribute__((cleanup(fn)))

static inline void rck_cleanup_free(void *p)
{
	free(*(void **)p);
}

static inline void rck_cleanup_fclose(FILE **f)
{
	if (*f)
		fclose(*f);
}

static inline void rck_cleanup_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

#define _cleanup_free_   _cleanup_(rck_cleanup_free)
#define _cleanup_fclose_ _cleanup_(rck_cleanup_fclose)
#define _cleanup_close_  _cleanup_(rck_cleanup_close)
