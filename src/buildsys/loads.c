/*
 * rocmcheck-loads LIBRARY: opens a HIP runtime the way a program would and says what
 * happened, a line a fact. A program of its own, so that a library that crashes or comes
 * with another C library harms nobody; it links the C library alone.
 *
 *	loaded | error TEXT
 *	map PATH            each shared library that is mapped now
 *	runtime N           hipRuntimeGetVersion: major*10000000 + minor*100000 + patch
 *	                    (HIP 5 to 7)
 *	devices N | devices-error N
 *	device NAME         hipDeviceGetName, each
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static void print_maps(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char line[4096], last[4096] = "";

	while (f && fgets(line, sizeof(line), f)) {
		char *path = strchr(line, '/');

		if (!path || !strstr(path, ".so") || !strcmp(path, last))
			continue;
		strcpy(last, path);
		printf("map %s", path);
	}
	if (f)
		fclose(f);
}

static void ask_devices(void *hip)
{
	int (*get_count)(int *);
	int (*get_name)(char *, int, int);
	int n = 0, err;

	*(void **)&get_count = dlsym(hip, "hipGetDeviceCount");
	*(void **)&get_name = dlsym(hip, "hipDeviceGetName");
	if (!get_count)
		return;
	err = get_count(&n);
	if (err)
		printf("devices-error %d\n", err);
	else
		printf("devices %d\n", n);
	for (int i = 0; !err && get_name && i < n; i++) {
		char name[256] = "";

		if (!get_name(name, sizeof(name) - 1, i))
			printf("device %s\n", name);
	}
}

int main(int argc, char **argv)
{
	int (*get_version)(int *);
	void *hip;
	int version;

	if (argc != 2)
		return 3;
	hip = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	if (!hip) {
		printf("error %s\n", dlerror());
		return 1;
	}
	printf("loaded\n");
	print_maps();
	*(void **)&get_version = dlsym(hip, "hipRuntimeGetVersion");
	if (get_version && !get_version(&version))
		printf("runtime %d\n", version);
	fflush(stdout);
	ask_devices(hip);
	return 0;
}
