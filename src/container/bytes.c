#include "container/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/cleanup.h"

/*
 * One mapped range as the signal handler sees it. Guards are never freed, only taken
 * again, so that the handler can walk the list while another thread maps or unmaps.
 */
struct guard {
	atomic_uintptr_t start, end; /* end 0: nothing is mapped */
	atomic_bool taken, faulted;
	struct guard *next;
};

enum backing { BORROWED, MAPPED_FILE, MAPPED_ANON, HEAP };

struct rck_bytes {
	atomic_uint refs;
	enum backing backing;
	const uint8_t *data;
	uint64_t size;
	struct guard *guard; /* MAPPED_FILE */
	struct stat st;      /* MAPPED_FILE, when it was mapped */
	char *path;          /* MAPPED_FILE */
};

/* From here on anonymous memory is mapped: it goes back to the system when it is freed.
 */
#define MAP_FROM (256u << 10)

static _Atomic(struct guard *) guards;
static struct sigaction previous;
static pthread_once_t installed = PTHREAD_ONCE_INIT;
static uintptr_t page_mask;

static struct guard *guard_of(uintptr_t at)
{
	for (struct guard *g = atomic_load(&guards); g; g = g->next)
		if (at >= atomic_load(&g->start) && at < atomic_load(&g->end))
			return g;
	return NULL;
}

/*
 * Zeros take the place of what the file no longer has, from the fault to the mapping's
 * end, so that whoever was reading goes on (libelf and zstd included, without a jump out
 * of them) and finds out from rck_bytes_check(). A fault of anybody else goes to the
 * handler that was there before.
 */
static void on_sigbus(int sig, siginfo_t *info, void *context)
{
	uintptr_t at = (uintptr_t)info->si_addr;
	struct guard *g = info->si_code > 0 ? guard_of(at) : NULL;
	int saved = errno;

	if (g) {
		uintptr_t page = at & page_mask;
		void *p = mmap((void *)page, atomic_load(&g->end) - page, PROT_READ,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);

		atomic_store(&g->faulted, true);
		errno = saved;
		if (p != MAP_FAILED)
			return;
	}
	if (previous.sa_flags & SA_SIGINFO) {
		previous.sa_sigaction(sig, info, context);
	} else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
		previous.sa_handler(sig);
	} else {
		signal(sig, SIG_DFL);
		if (info->si_code <= 0) /* sent, not met: it will not come again */
			raise(sig);
	}
}

void rck_bytes_guard(void)
{
	struct sigaction sa = {
		.sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	struct sigaction now;

	page_mask = ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
	sigemptyset(&sa.sa_mask);
	if (sigaction(SIGBUS, NULL, &now) || now.sa_sigaction == on_sigbus)
		return;
	previous = now;
	sigaction(SIGBUS, &sa, NULL);
}

static struct guard *guard_take(const void *data, uint64_t size)
{
	struct guard *g;

	pthread_once(&installed, rck_bytes_guard);
	for (g = atomic_load(&guards); g; g = g->next)
		if (!atomic_exchange(&g->taken, true))
			break;
	if (!g) {
		g = calloc(1, sizeof(*g));
		if (!g)
			return NULL;
		atomic_store(&g->taken, true);
		g->next = atomic_load(&guards);
		while (!atomic_compare_exchange_weak(&guards, &g->next, g))
			;
	}
	atomic_store(&g->faulted, false);
	atomic_store(&g->start, (uintptr_t)data);
	/* to the end of the last page: mmap(2) replaces whole pages only */
	atomic_store(&g->end, ((uintptr_t)data + size + ~page_mask) & page_mask);
	return g;
}

static void guard_drop(struct guard *g)
{
	atomic_store(&g->end, 0);
	atomic_store(&g->start, 0);
	atomic_store(&g->taken, false);
}

static struct rck_bytes *bytes_new(enum backing backing, const void *data, uint64_t size)
{
	struct rck_bytes *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	atomic_init(&b->refs, 1);
	b->backing = backing;
	b->data = data;
	b->size = size;
	return b;
}

static const char *file_type(mode_t mode)
{
	return S_ISFIFO(mode)   ? "a FIFO"
	       : S_ISSOCK(mode) ? "a socket"
	       : S_ISCHR(mode)  ? "a character device"
	       : S_ISBLK(mode)  ? "a block device"
				: "something else";
}

static int refuse_irregular(const struct stat *st, struct rck_diag *diag)
{
	if (S_ISREG(st->st_mode))
		return 0;
	if (S_ISDIR(st->st_mode))
		return rck_fail(diag, -EISDIR, RCK_OFFSET_NONE, "is a directory");
	return rck_fail(diag, -EINVAL, RCK_OFFSET_NONE, "not a regular file but %s",
		file_type(st->st_mode));
}

static int fail_errno(struct rck_diag *diag, const char *what)
{
	int err = errno;

	return rck_fail(diag, -err, RCK_OFFSET_NONE, "%s: %s", what, strerror(err));
}

int rck_bytes_map(const char *path, struct rck_bytes **out, struct rck_diag *diag)
{
	_cleanup_close_ int fd = -1;
	struct rck_bytes *b;
	struct stat st;
	void *data;
	int err;

	*out = NULL;
	/* before open(2) too: opening a device can do things */
	if (stat(path, &st))
		return fail_errno(diag, "cannot open");
	err = refuse_irregular(&st, diag);
	if (err)
		return err;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || fstat(fd, &st))
		return fail_errno(diag, "cannot open");
	err = refuse_irregular(&st, diag);
	if (err)
		return err;
	if ((uint64_t)st.st_size > SIZE_MAX)
		return rck_fail(diag, -E2BIG, RCK_OFFSET_NONE, "too long to be mapped");
	if (!st.st_size) {
		b = bytes_new(BORROWED, "", 0);
		if (!b)
			return rck_fail(diag, -ENOMEM, RCK_OFFSET_NONE, "out of memory");
		*out = b;
		return 0;
	}

	data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED)
		return fail_errno(diag, "cannot map");
	b = bytes_new(MAPPED_FILE, data, (uint64_t)st.st_size);
	if (b) {
		b->st = st;
		b->path = strdup(path);
		b->guard = guard_take(data, b->size);
	}
	if (!b || !b->path || !b->guard) {
		if (b) {
			if (b->guard)
				guard_drop(b->guard);
			free(b->path);
			free(b);
		}
		munmap(data, (size_t)st.st_size);
		return rck_fail(diag, -ENOMEM, RCK_OFFSET_NONE, "out of memory");
	}
	*out = b;
	return 0;
}

int rck_bytes_borrow(const void *data, uint64_t size, struct rck_bytes **out)
{
	*out = bytes_new(BORROWED, size ? data : "", size);
	return *out ? 0 : -ENOMEM;
}

int rck_bytes_alloc(uint64_t size, struct rck_bytes **out, uint8_t **data)
{
	enum backing backing = size < MAP_FROM ? HEAP : MAPPED_ANON;

	*out = NULL;
	if (size > SIZE_MAX)
		return -ENOMEM;
	if (backing == HEAP) {
		*data = malloc(size ? size : 1);
		if (!*data)
			return -ENOMEM;
	} else {
		*data = mmap(NULL, size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (*data == MAP_FAILED)
			return -ENOMEM;
		/* all of it is about to be written: a fault each 4 KiB would take as long
		 * as inflating */
		madvise(*data, size, MADV_HUGEPAGE);
	}
	*out = bytes_new(backing, *data, size);
	if (*out)
		return 0;
	if (backing == HEAP)
		free(*data);
	else
		munmap(*data, size);
	return -ENOMEM;
}

struct rck_bytes *rck_bytes_ref(struct rck_bytes *b)
{
	atomic_fetch_add(&b->refs, 1);
	return b;
}

void rck_bytes_unref(struct rck_bytes *b)
{
	if (!b || atomic_fetch_sub(&b->refs, 1) != 1)
		return;
	if (b->guard)
		guard_drop(b->guard);
	if (b->backing == MAPPED_FILE || b->backing == MAPPED_ANON)
		munmap((void *)b->data, b->size);
	else if (b->backing == HEAP)
		free((void *)b->data);
	free(b->path);
	free(b);
}

struct rck_slice rck_bytes_slice(const struct rck_bytes *b)
{
	bool file = b->backing == MAPPED_FILE || b->backing == BORROWED;

	return (struct rck_slice){b->data, b->size, file ? 0 : RCK_OFFSET_NONE};
}

int rck_bytes_check(const struct rck_bytes *b, bool settled, struct rck_diag *diag)
{
	struct stat st;

	if (b->backing != MAPPED_FILE)
		return 0;
	if (atomic_load(&b->guard->faulted))
		return rck_fail(diag, -EIO, RCK_OFFSET_NONE,
			"the file shrank or could not be read while it was being read");
	/* another file of that name (one renamed over it) has not touched our mapping */
	if (settled && !stat(b->path, &st) && st.st_dev == b->st.st_dev &&
		st.st_ino == b->st.st_ino &&
		(st.st_size != b->st.st_size ||
			st.st_mtim.tv_sec != b->st.st_mtim.tv_sec ||
			st.st_mtim.tv_nsec != b->st.st_mtim.tv_nsec))
		return rck_fail(diag, -EIO, RCK_OFFSET_NONE,
			"the file was written to while it was being read");
	return 0;
}

const char *rck_bytes_path(const struct rck_bytes *b)
{
	return b->path;
}

bool rck_bytes_same_file(const struct rck_bytes *a, const struct rck_bytes *b)
{
	return a->backing == MAPPED_FILE && b->backing == MAPPED_FILE &&
	       a->st.st_dev == b->st.st_dev && a->st.st_ino == b->st.st_ino;
}
