#include "teardown/stack.h"
#include "util/spawn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifdef HAVE_LIBDW
#include <elfutils/libdwfl.h>
#endif

#define MAX_THREADS 64
#define MAX_FRAMES  48

static void sleep_for(double seconds)
{
	struct timespec t = {(time_t)seconds, (long)((seconds - (time_t)seconds) * 1e9)};

	while (nanosleep(&t, &t))
		;
}

static void list_threads(const struct rck_pids *pids, struct rck_exposure *e)
{
	e->threads = rck_xcalloc(MAX_THREADS, sizeof(*e->threads));
	for (size_t i = 0; i < pids->n; i++) {
		struct rck_pids tids = rck_proc_threads(pids->ids[i]);

		for (size_t k = 0; k < tids.n && e->n_threads < MAX_THREADS; k++) {
			struct rck_thread *t = &e->threads[e->n_threads];
			struct rck_proc_stat s;

			if (rck_proc_stat(pids->ids[i], tids.ids[k], &s))
				continue;
			t->pid = pids->ids[i];
			t->tid = tids.ids[k];
			t->name = rck_xstrdup(s.name);
			t->cpu = (double)s.ticks;
			e->n_threads++;
		}
		free(tids.ids);
	}
}

/* From ticks at the start to a share of one CPU; state as it is now. */
static void watch_threads(double seconds, struct rck_exposure *e)
{
	double hz = (double)sysconf(_SC_CLK_TCK);

	sleep_for(seconds);
	for (size_t i = 0; i < e->n_threads; i++) {
		struct rck_thread *t = &e->threads[i];
		struct rck_proc_stat s;

		if (rck_proc_stat(t->pid, t->tid, &s)) {
			t->state = 'X';
			t->cpu = 0;
			t->note = rck_xstrdup("ended while it was watched");
			continue;
		}
		t->state = s.state;
		t->cpu = ((double)s.ticks - t->cpu) / hz / seconds;
		if (t->cpu > 1)
			t->cpu = 1;
	}
}

#ifdef HAVE_LIBDW
static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/*
 * A symbol counts only where its size covers the address: in a stripped library the
 * nearest exported name before it belongs to something else.
 */
static char *describe(Dwfl_Module *mod, Dwarf_Addr pc, char **module)
{
	const char *path = NULL, *symbol;
	GElf_Addr bias = 0;
	GElf_Off off = 0;
	GElf_Sym sym;

	if (!mod)
		return rck_xasprintf("0x%llx", (unsigned long long)pc);
	path = dwfl_module_info(mod, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
	path = base_name(path ? path : "?");
	if (module)
		*module = rck_xstrdup(path);
	symbol = dwfl_module_addrinfo(mod, pc, &off, &sym, NULL, NULL, NULL);
	if (symbol && off < sym.st_size)
		return rck_xasprintf(
			"%s+0x%llx (%s)", symbol, (unsigned long long)off, path);
	dwfl_module_getelf(mod, &bias);
	return rck_xasprintf("%s+0x%llx", path, (unsigned long long)(pc - bias));
}

static int on_frame(Dwfl_Frame *frame, void *arg)
{
	struct rck_thread *t = arg;
	Dwfl *dwfl = dwfl_thread_dwfl(dwfl_frame_thread(frame));
	Dwarf_Addr pc;
	bool activation;

	if (t->n_frames >= MAX_FRAMES || !dwfl_frame_pc(frame, &pc, &activation))
		return DWARF_CB_ABORT;
	/* a return address belongs to the call before it */
	if (!activation)
		pc--;
	t->frames[t->n_frames] =
		describe(dwfl_addrmodule(dwfl, pc), pc, t->n_frames ? NULL : &t->module);
	t->n_frames++;
	return DWARF_CB_OK;
}

static void walk_thread(Dwfl *dwfl, struct rck_thread *t)
{
	if (t->note)
		return;
	/* The kernel lets nobody stop a thread in uninterruptible sleep. */
	if (t->state == 'D') {
		t->note = rck_xstrdup("in uninterruptible sleep: it cannot be stopped");
		return;
	}
	t->frames = rck_xcalloc(MAX_FRAMES, sizeof(*t->frames));
	if (dwfl_getthread_frames(dwfl, t->tid, on_frame, t) && !t->n_frames)
		t->note = rck_xasprintf("no stack: %s", dwfl_errmsg(-1));
}

static Dwfl *attach(pid_t pid)
{
	static char no_debug_path[] = "";
	static char *debug_path = no_debug_path;
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_linux_proc_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.debuginfo_path = &debug_path,
	};
	Dwfl *dwfl = dwfl_begin(&callbacks);

	if (!dwfl)
		return NULL;
	dwfl_report_begin(dwfl);
	if (dwfl_linux_proc_report(dwfl, pid) || dwfl_report_end(dwfl, NULL, NULL) ||
		dwfl_linux_proc_attach(dwfl, pid, false)) {
		dwfl_end(dwfl);
		return NULL;
	}
	return dwfl;
}

static void walk_process(pid_t pid, struct rck_exposure *e)
{
	Dwfl *dwfl = attach(pid);

	for (size_t i = 0; i < e->n_threads; i++) {
		struct rck_thread *t = &e->threads[i];

		if (t->pid != pid)
			continue;
		if (dwfl)
			walk_thread(dwfl, t);
		else if (!t->note)
			t->note = rck_xasprintf("no stack: %s", dwfl_errmsg(-1));
	}
	if (dwfl)
		dwfl_end(dwfl);
}
#else
static void walk_process(pid_t pid, struct rck_exposure *e)
{
	for (size_t i = 0; i < e->n_threads; i++)
		if (e->threads[i].pid == pid && !e->threads[i].note)
			e->threads[i].note = rck_xstrdup("no stack: built without libdw");
}
#endif

static void name_spinner(struct rck_exposure *e)
{
	const struct rck_thread *busiest = NULL;

	for (size_t i = 0; i < e->n_threads; i++)
		if (e->threads[i].cpu > RCK_THREAD_SPINS &&
			(!busiest || e->threads[i].cpu > busiest->cpu))
			busiest = &e->threads[i];
	if (busiest && busiest->module)
		e->spins_in = rck_xstrdup(busiest->module);
}

void rck_stack_capture(const struct rck_pids *pids, double watch, struct rck_exposure *e)
{
	/* nothing is to be fetched from a debuginfod server */
	unsetenv("DEBUGINFOD_URLS");
	list_threads(pids, e);
	watch_threads(watch, e);
	for (size_t i = 0; i < pids->n; i++)
		walk_process(pids->ids[i], e);
	name_spinner(e);
}

void rck_stack_keep_core(pid_t pid, const char *folder, struct rck_exposure *e)
{
	_cleanup_strbuf_ struct rck_strbuf log = RCK_STRBUF_INIT;
	char *prefix = rck_xasprintf("%s/core", folder);
	char *file = rck_xasprintf("%s.%d", prefix, pid);
	char number[16];
	const char *argv[] = {"gcore", "-o", prefix, number, NULL};
	struct rck_spawn s = {.argv = argv, .out = &log, .err = &log, .timeout = 60};
	struct stat st;

	snprintf(number, sizeof(number), "%d", pid);
	mkdir(folder, 0777);
	if (rck_spawn_run(&s)) {
		free(e->reason);
		e->reason = rck_xstrdup("no core: gcore (of gdb) is not here");
	} else if (s.status || stat(file, &st)) {
		free(e->reason);
		e->reason = rck_xstrdup("no core: gcore failed");
	} else {
		e->core = rck_xstrdup(file);
	}
	free(prefix);
	free(file);
}
