#include "cmd/sigbus.h"

#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

static _Thread_local volatile unsigned long replaced;
static long page_size;

static void on_sigbus(int sig, siginfo_t *info, void *context)
{
	uintptr_t page = (uintptr_t)info->si_addr & ~((uintptr_t)page_size - 1);

	(void)context;
	/* BUS_ADRERR alone is a mapping without a file behind it: anything else is a bug
	 */
	if (info->si_code != BUS_ADRERR ||
		mmap((void *)page, (size_t)page_size, PROT_READ,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) {
		signal(sig, SIG_DFL);
		return;
	}
	replaced++;
}

void rck_sigbus_install(void)
{
	struct sigaction action = {.sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO};

	if (page_size)
		return;
	page_size = sysconf(_SC_PAGESIZE);
	sigemptyset(&action.sa_mask);
	sigaction(SIGBUS, &action, NULL);
}

unsigned long rck_sigbus_count(void)
{
	return replaced;
}
