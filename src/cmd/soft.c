/* soft: any HIP program on the software device. */
#include "cmd/commands.h"
#include "util/cleanup.h"
#include "util/msg.h"
#include "util/place.h"
#include "util/rocm.h"
#include "util/strbuf.h"
#include "util/table.h"
#include "util/term.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#define LIBRARY     "libhsa-runtime64.so.1"
#define THREADS_MAX 1024u
#define LOG_MAX     2u

static const char *target, *rocm_dir, *trace, *count;
static unsigned long long threads, log_level;
static bool agents, execute = true, sanitize;

static const struct rck_opt opts[] = {
	{RCK_OPT_STRING, 't', "target", &target, "LIST",
		"the devices, by processor, with commas between: gfx1030 (default), "
		"gfx1100, gfx1201, gfx90a, gfx942; the same one may come twice"},
	{RCK_OPT_STRING, 0, "rocm", &rocm_dir, "DIR",
		"run COMMAND with the ROCm in DIR, a folder that scripts/fetch-rocm "
		"made, "
		"and its own C library"},
	{RCK_OPT_FLAG, 0, "execute", &execute, NULL,
		"execute kernels (the default); without, packets complete and nothing "
		"is computed: for what the runtime itself does",
		true},
	{RCK_OPT_FLAG, 0, "agents", &agents, NULL, "list what HIP will see, and end"},
	{RCK_OPT_STRING, 0, "trace", &trace, "FILE",
		"write every instruction, by kernel and wave, to FILE ('-': stderr)"},
	{RCK_OPT_STRING, 0, "count", &count, "FILE",
		"write how many instructions each kernel executed to FILE ('-': stderr)"},
	{RCK_OPT_FLAG, 0, "sanitize", &sanitize, NULL,
		"watch for races, uses of what nothing wrote, accesses out of bounds and "
		"missing waits"},
	{RCK_OPT_UINT, 0, "threads", &threads, "N",
		"host threads a kernel (default: one a processor)"},
	{RCK_OPT_UINT, 0, "log", &log_level, "N",
		"what the device says on stderr: 1 what it was asked and has not, 2 "
		"every packet besides"},
	{RCK_OPT_END},
};

/*
 * The device appends to the file, from whichever folder the command is in by then: an
 * absolute path of a new file. Returns 0 or an exit status.
 */
static int new_file(const char *option, const char *variable, const char *path)
{
	_cleanup_free_ char *folder = NULL, *whole = NULL;
	int fd;

	if (!*path) {
		rck_error("option '--%s' needs the name of a file", option);
		return RCK_EXIT_USAGE;
	}
	if (!strcmp(path, "-")) {
		setenv(variable, path, 1);
		return 0;
	}
	if (*path != '/')
		folder = getcwd(NULL, 0);
	whole = folder ? rck_xasprintf("%s/%s", folder, path) : rck_xstrdup(path);
	fd = open(whole, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0) {
		rck_error("cannot write '%s': %s", path, strerror(errno));
		return RCK_EXIT_TROUBLE;
	}
	close(fd);
	setenv(variable, whole, 1);
	return 0;
}

/* Returns 0 or an exit status. */
static int check_values(void)
{
	int r = 0;

	if (!execute && (sanitize || trace || count)) {
		rck_error("--%s watches what is executed: not with --no-execute",
			sanitize ? "sanitize"
			: trace  ? "trace"
				 : "count");
		return RCK_EXIT_USAGE;
	}
	if (threads > THREADS_MAX || log_level > LOG_MAX) {
		rck_error("option '--%s': %llu is more than %u",
			threads > THREADS_MAX ? "threads" : "log",
			threads > THREADS_MAX ? threads : log_level,
			threads > THREADS_MAX ? THREADS_MAX : LOG_MAX);
		return RCK_EXIT_USAGE;
	}
	if (trace)
		r = new_file("trace", "RCK_SOFT_TRACE", trace);
	if (!r && count)
		r = new_file("count", "RCK_SOFT_COUNT", count);
	return r;
}

static void set_environment(void)
{
	char number[32];

	if (target)
		setenv("RCK_SOFT_TARGET", target, 1);
	if (!execute)
		setenv("RCK_SOFT_EXECUTE", "0", 1);
	if (sanitize)
		setenv("RCK_SOFT_SANITIZE", "1", 1);
	if (threads) {
		snprintf(number, sizeof(number), "%llu", threads);
		setenv("RCK_SOFT_THREADS", number, 1);
	}
	if (log_level) {
		snprintf(number, sizeof(number), "%llu", log_level);
		setenv("RCK_SOFT_LOG", number, 1);
	}
}

/* ---------------------------------------------------------------------- --agents */

/* One device as the library describes itself: sg_describe() of src/softgpu. */
typedef int describe_fn(unsigned int index, char *out, size_t size);

/* NULL: none; the library stays. */
static describe_fn *find_describe(const char *folder)
{
	_cleanup_free_ char *path = rck_xasprintf("%s/" LIBRARY, folder);
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	describe_fn *describe =
		library ? (describe_fn *)dlsym(library, "sg_describe") : NULL;

	if (!describe)
		rck_error("cannot open the software device: %s", dlerror());
	return describe;
}

static int list_agents(describe_fn *describe)
{
	static const struct rck_column columns[] = {{"device", true}, {"target"},
		{"name"}, {"compute units", true}, {"memory", true}, {"wavefront", true}};
	_cleanup_strbuf_ struct rck_strbuf out = RCK_STRBUF_INIT;
	struct rck_table *table;
	char line[512];
	int r;

	table = rck_table_new(columns, sizeof(columns) / sizeof(*columns));
	for (unsigned int i = 0; (r = describe(i, line, sizeof(line))) > 0; i++) {
		char *save = NULL;
		rck_table_cellf(table, "%u", i);
		for (char *f = strtok_r(line, "\t", &save); f;
			f = strtok_r(NULL, "\t", &save))
			rck_table_cell(table, f);
	}
	if (!r)
		rck_table_print(table, &out, rck_term_width(), 0);
	fwrite(out.buf, 1, out.len, stdout);
	rck_table_free(table);
	return r < 0 ? RCK_EXIT_TROUBLE : RCK_EXIT_CLEAN;
}

/* ----------------------------------------------------------------------- a command */

/* Absolute path of a program as a shell would find it; free() it; NULL: none. */
static char *find_program(const char *name)
{
	const char *path = getenv("PATH");
	_cleanup_strv_ struct rck_strv folders = {NULL, 0};

	if (strchr(name, '/'))
		return realpath(name, NULL);
	rck_strv_split(&folders, path ? path : "/usr/bin:/bin", ":");
	for (size_t i = 0; i < folders.n; i++) {
		_cleanup_free_ char *p = rck_xasprintf("%s/%s", folders.items[i], name);
		if (!access(p, X_OK))
			return realpath(p, NULL);
	}
	return NULL;
}

static int add_foreign(const char *folder, const char *program, struct rck_strv *argv)
{
	_cleanup_strv_ struct rck_strv env = {NULL, 0};
	_cleanup_free_ char *path = NULL;
	struct rck_rocm *rocm;
	struct rck_diag diag;

	if (rck_rocm_open(rocm_dir, &rocm, &diag)) {
		rck_error_diag(rocm_dir, &diag);
		return -ENOENT;
	}
	path = find_program(program);
	if (!path) {
		rck_error("cannot find '%s': %s", program, strerror(ENOENT));
		rck_rocm_close(rocm);
		return -ENOENT;
	}
	rck_rocm_command(rocm, folder, argv, &env);
	for (size_t i = 0; i < env.n; i++)
		putenv(env.items[i]);
	env = (struct rck_strv){NULL, 0}; /* the environment keeps them */
	rck_strv_add(argv, path);
	rck_rocm_close(rocm);
	return 0;
}

static void put_in_front(const char *variable, const char *path)
{
	const char *old = getenv(variable);
	_cleanup_free_ char *paths =
		old && *old ? rck_xasprintf("%s:%s", path, old) : rck_xstrdup(path);

	setenv(variable, paths, 1);
}

/* For speed alone, so that nothing is said where it is missing. Kernels that are not
 * executed need no processor. A program with gcc's AddressSanitizer refuses to run behind
 * a preloaded library unless told. */
static void preload(void)
{
	_cleanup_free_ char *found = rck_place_find(
		"softgpu/rocmcheck-preload-yield.so", "rocmcheck-preload-yield.so");
	_cleanup_free_ char *path = found && execute ? realpath(found, NULL) : NULL;

	if (path && !strpbrk(path, ": ")) {
		put_in_front("LD_PRELOAD", path);
		put_in_front("ASAN_OPTIONS", "verify_asan_link_order=0");
	}
}

/* The wrong HSA runtime among a process's mappings: its path, or NULL; free() it. */
static char *wrong_library(pid_t pid, const char *folder, bool *hip_seen)
{
	_cleanup_free_ char *maps = rck_xasprintf("/proc/%d/maps", (int)pid);
	_cleanup_free_ char *own = realpath(folder, NULL);
	_cleanup_fclose_ FILE *f = fopen(maps, "re");
	char line[4096], *path, *name;

	while (f && fgets(line, sizeof(line), f)) {
		path = strchr(line, '/');
		if (!path)
			continue;
		path[strcspn(path, "\n")] = '\0';
		name = strrchr(path, '/') + 1;
		if (!strncmp(name, "libamdhip64.so", 14))
			*hip_seen = true;
		if (!strncmp(name, "libhsa-runtime64.so", 19) &&
			(!own || strncmp(path, own, strlen(own))))
			return rck_xstrdup(path);
	}
	return NULL;
}

static void child(const struct rck_strv *argv, pid_t parent, int report)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(RCK_EXIT_TROUBLE);
	execvp(argv->items[0], argv->items);
	rck_error("cannot run '%s': %s", argv->items[0], strerror(errno));
	if (write(report, "x", 1) != 1)
		abort();
	_exit(RCK_EXIT_TROUBLE);
}

struct watch {
	bool hip_seen;
	bool wrong; /* the command was ended: it had another HSA runtime */
};

/* Waits for the command; looks often at first which HSA runtime it maps. */
static int wait_for(pid_t pid, const char *folder, struct watch *w)
{
	struct timespec pause = {0, 5000000};
	int status;

	while (waitpid(pid, &status, WNOHANG) != pid) {
		_cleanup_free_ char *path = wrong_library(pid, folder, &w->hip_seen);
		if (path && !w->wrong) {
			rck_error("'%s' was loaded instead of the software device "
				  "(DT_RPATH or a loader's option wins over "
				  "LD_LIBRARY_PATH); command ended",
				path);
			w->wrong = true;
			kill(pid, SIGKILL);
		}
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < 160000000)
			pause.tv_nsec *= 2;
	}
	return status;
}

/* What the library and child() wrote into the pipe, a byte each time. */
struct reports {
	bool not_run;          /* 'x': the command could not be executed */
	unsigned int opened;   /* '+': the device, by a process */
	unsigned int findings; /* '!': of the sanitizer */
	unsigned int lost;     /* '?': of files that could not be written */
};

static struct reports count_reports(int fd)
{
	struct reports r = {0};
	char buf[4096];
	ssize_t n;

	while ((n = read(fd, buf, sizeof(buf))) > 0)
		for (ssize_t i = 0; i < n; i++) {
			r.not_run |= buf[i] == 'x';
			r.opened += buf[i] == '+';
			r.findings += buf[i] == '!';
			r.lost += buf[i] == '?';
		}
	return r;
}

static int run_command(const char *folder, int n, char **operands)
{
	_cleanup_strv_ struct rck_strv argv = {NULL, 0};
	_cleanup_free_ char *report = NULL;
	const struct sigaction ignore = {.sa_handler = SIG_IGN};
	struct sigaction old_int, old_quit;
	struct watch watch = {false, false};
	pid_t parent = getpid(), pid;
	struct reports reports;
	int fds[2], status;
	const char *devices;

	if (rocm_dir) {
		if (add_foreign(folder, operands[0], &argv))
			return RCK_EXIT_TROUBLE;
	} else {
		put_in_front("LD_LIBRARY_PATH", folder);
		rck_strv_add(&argv, operands[0]);
	}
	for (int i = 1; i < n; i++)
		rck_strv_add(&argv, operands[i]);
	if (pipe2(fds, O_NONBLOCK)) {
		rck_error("cannot make a pipe: %s", strerror(errno));
		return RCK_EXIT_TROUBLE;
	}
	fcntl(fds[0], F_SETFD, FD_CLOEXEC);
	report = rck_xasprintf("%d", fds[1]);
	setenv("RCK_SOFT_REPORT", report, 1);
	preload();
	devices = getenv("RCK_SOFT_TARGET"); /* --target, or what was there */
	rck_notice("soft: HIP runs on a software device (%s), not on a GPU%s",
		devices && *devices ? devices : "gfx1030",
		execute ? "" : "; kernels are not executed");
	/* an interrupt from the terminal reaches the command, which decides */
	sigaction(SIGINT, &ignore, &old_int);
	sigaction(SIGQUIT, &ignore, &old_quit);
	pid = fork();
	if (pid < 0) {
		rck_error("cannot start a process: %s", strerror(errno));
		return RCK_EXIT_TROUBLE;
	}
	if (!pid) {
		sigaction(SIGINT, &old_int, NULL);
		sigaction(SIGQUIT, &old_quit, NULL);
		child(&argv, parent, fds[1]);
	}
	close(fds[1]);
	status = wait_for(pid, folder, &watch);
	reports = count_reports(fds[0]);
	close(fds[0]);
	if (watch.wrong || reports.not_run)
		return RCK_EXIT_TROUBLE;
	if (!reports.opened && watch.hip_seen)
		rck_warning("soft: '%s' loaded HIP and never opened the software device",
			operands[0]);
	else if (!reports.opened)
		rck_warning("soft: '%s' did not use HIP", operands[0]);
	if (WIFSIGNALED(status)) {
		rck_warning("soft: '%s' was ended by signal %d (%s)", operands[0],
			WTERMSIG(status), strsignal(WTERMSIG(status)));
		return 128 + WTERMSIG(status);
	}
	if (sanitize && reports.opened && execute)
		rck_notice(reports.findings == 1 ? "soft: the sanitizer has 1 finding"
			   : reports.findings    ? "soft: the sanitizer has %u findings"
						 : "soft: the sanitizer found nothing",
			reports.findings);
	if (reports.lost && !WEXITSTATUS(status))
		return RCK_EXIT_TROUBLE;
	if (reports.findings && !WEXITSTATUS(status))
		return RCK_EXIT_FINDINGS;
	return WEXITSTATUS(status);
}

static int run(int n, char **operands)
{
	_cleanup_free_ char *place =
		rck_place_find("softgpu/" LIBRARY, "softgpu/" LIBRARY);
	describe_fn *describe = NULL;
	char *slash;
	int r;

	if (!place) {
		rck_error("the software device was not built or not installed");
		return RCK_EXIT_TROUBLE;
	}
	slash = strrchr(place, '/');
	*slash = '\0';
	set_environment();
	if (agents || target) {
		char line[512];

		describe = find_describe(place);
		if (!describe)
			return RCK_EXIT_TROUBLE;
		/* the library says what it does not know */
		if (describe(0, line, sizeof(line)) < 0)
			return RCK_EXIT_USAGE;
	}
	if (agents)
		return list_agents(describe);
	if (!n) {
		rck_error("no command given");
		return RCK_EXIT_USAGE;
	}
	r = check_values();
	return r ? r : run_command(place, n, operands);
}

const struct rck_cmd rck_cmd_soft = {
	.name = "soft",
	.summary = "run any HIP program on a software device",
	.operands = "[--] COMMAND [ARGUMENT...]",
	.opts = opts,
	.takes_command = true,
	.run = run,
	.details =
		"The real HIP runtime runs, over a stand-in HSA runtime whose device "
		"executes\nkernels on the host's processors: true results, no GPU "
		"timings. The exit status is\nCOMMAND's, or 1 when that is 0 and "
		"--sanitize found something; 128 + N when signal N\nended it; 2 when it "
		"could not be run, or a trace or counts could not be written.",
};
