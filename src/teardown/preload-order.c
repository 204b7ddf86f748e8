/*
 * Preloaded to imitate the order of destructors that AMD's builds of libamdhip64 have and
 * Debian's have not: there the listener's static object is made first, so its destructor
 * runs last, behind the teardown that lost its race. No library is modified: its
 * registrations with __cxa_atexit are held back while its constructors run, and given on
 * with that one in front. When it cannot be told which one that is, the order stays and
 * the event says so.
 */
#include "teardown/preload-say.h"

#include <stdint.h>

#define MAX_HELD 256

typedef int atexit_fn(void (*)(void *), void *, void *);
typedef void *dlopen_fn(const char *, int);

int __cxa_atexit(void (*)(void *), void *, void *);

static struct held {
	void (*fn)(void *);
	void *arg, *dso;
} held[MAX_HELD];
static size_t n_held;
/* Above 0 while constructors run: before main, and inside dlopen. */
static int loading = 1;

static int real_atexit(const struct held *h)
{
	static atexit_fn *real;

	if (!real)
		real = (atexit_fn *)next("__cxa_atexit");
	return real(h->fn, h->arg, h->dso);
}

/*
 * The listener's static destructor, by its code (CLR 6.2 to 6.4, gcc and clang at -O2):
 * it loads the state word through its argument, compares it with 1 (kInit) and stores 2
 * (kDestroy).
 */
static bool is_listener_destructor(const struct held *h)
{
	static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
	static const uint8_t load_compare[] = {0x8b, 0x07, 0x83, 0xf8, 0x01};
	static const uint8_t compare[] = {0x83, 0x3f, 0x01};
	static const uint8_t store[] = {0xc7, 0x07, 0x02, 0, 0, 0};
	const uint8_t *code = (const uint8_t *)(uintptr_t)h->fn;
	size_t at = memcmp(code, endbr, sizeof(endbr)) ? 0 : sizeof(endbr);

	if (memcmp(code + at, load_compare, sizeof(load_compare)) &&
		memcmp(code + at, compare, sizeof(compare)))
		return false;
	return memmem(code + at, 40, store, sizeof(store)) != NULL;
}

/* What is registered first is destroyed last. */
static void release_held(void)
{
	size_t last = 0, found = 0;

	if (!n_held)
		return;
	for (size_t i = 0; i < n_held; i++)
		if (is_listener_destructor(&held[i])) {
			last = i;
			found++;
		}
	if (found == 1)
		real_atexit(&held[last]);
	for (size_t i = 0; i < n_held; i++)
		if (found != 1 || i != last)
			real_atexit(&held[i]);
	if (found == 1)
		say(RCK_SAYS_REORDERED, (long)n_held, (long)last);
	else
		say(RCK_SAYS_NOT_REORDERED, (long)n_held, (long)found);
	n_held = 0;
}

EXPORT int __cxa_atexit(void (*fn)(void *), void *arg, void *dso)
{
	struct held h = {fn, arg, dso};

	if (!loading || n_held == MAX_HELD || !is_hip(dso))
		return real_atexit(&h);
	held[n_held++] = h;
	return 0;
}

EXPORT void *dlopen(const char *file, int flags)
{
	dlopen_fn *real = (dlopen_fn *)next("dlopen");
	void *handle;

	loading++;
	handle = real(file, flags);
	loading--;
	release_held();
	return handle;
}

EXPORT int __libc_start_main(main_fn *program_main, int argc, char **argv,
	void (*init)(void), void (*fini)(void), void (*rtld_fini)(void), void *stack_end)
{
	start_fn *real = (start_fn *)next("__libc_start_main");

	/* The libraries' constructors have run, the loader's own handler is not
	 * registered yet: here these registrations belong. */
	release_held();
	loading = 0;
	return real(program_main, argc, argv, init, fini, rtld_fini, stack_end);
}
