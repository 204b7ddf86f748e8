#include "cmd/commands.h"

#include <stdio.h>

#ifdef HAVE_LIBDW
#define WITH_LIBDW "+libdw"
#else
#define WITH_LIBDW "-libdw"
#endif
#ifdef HAVE_LIBYAML
#define WITH_LIBYAML "+libyaml"
#else
#define WITH_LIBYAML "-libyaml"
#endif
#ifdef HAVE_KDB
#define WITH_KDB "+kdb"
#else
#define WITH_KDB "-kdb"
#endif
#ifdef HAVE_COMGR_HEADERS
#define WITH_COMGR "+comgr"
#else
#define WITH_COMGR "-comgr"
#endif
#ifdef HAVE_HIP_HEADERS
#define WITH_HIP "+hip"
#else
#define WITH_HIP "-hip"
#endif

int rck_print_version(void)
{
	printf("rocmcheck %s\nfeatures: %s %s %s %s %s\n", RCK_VERSION, WITH_LIBDW,
		WITH_LIBYAML, WITH_KDB, WITH_COMGR, WITH_HIP);
	return RCK_EXIT_CLEAN;
}
