/* Uses the planted library: linked, or opened with dlopen when its path is given. */
#include <dlfcn.h>
#include <stdio.h>

#ifdef LINKED
void *planted_start(void);

int main(void)
{
	planted_start();
	return 0;
}
#else
int main(int argc, char **argv)
{
	void *handle = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	void *(*start)(void) =
		handle ? (void *(*)(void))dlsym(handle, "planted_start") : NULL;

	if (!start)
		return 1;
	start();
	return 0;
}
#endif
