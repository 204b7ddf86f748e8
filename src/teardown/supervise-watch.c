/* The supervisor's own side: it runs in a process of its own and may take its time. */
#include "teardown/preload.h"
#include "teardown/preloads.h"
#include "teardown/proc.h"
#include "teardown/stack.h"
#include "teardown/supervise.h"
#include "util/regex.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEPT_OUTPUT   4096u  /* bytes of the program's last words */
#define LONGEST_LINE  65536u /* bytes that --done-regex looks at */
#define LINGER        1.0    /* seconds that children may outlive their root unasked */
#define LONGEST_GRACE 120.0  /* seconds, for one that is runnable and gets no CPU */
#define EVENT_FD      100    /* out of the way of programs that number their own */

struct watch {
	const struct rck_supervise *s;
	struct rck_exposure *e;
	pid_t root;
	bool root_ended;
	int control, signals, output, events;
	struct rck_strbuf line;  /* of output, unfinished */
	struct rck_strbuf event; /* unfinished */
	struct rck_strbuf tail;
	struct rck_pids endings;
	bool loaded, matched, cut;
	double done_at;          /* 0: not yet */
	struct rck_regex *regex; /* NULL: none is asked for */
	pid_t listener_pid;
	double begun, root_ended_at, grace_since, grace_cpu;
};

/* ---- the program's start ---- */

static void stay_off(int cpu)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) || CPU_COUNT(&set) < 2)
		return;
	CPU_CLR(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void set_number(const char *name, int value)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", value);
	setenv(name, text, 1);
}

static void set_environment(const struct rck_supervise *s, int event_fd)
{
	for (const char *const *v = s->env; v && *v; v++)
		putenv((char *)*v);
	set_number(RCK_PRELOAD_FD, event_fd);
	if (s->done_regex)
		set_number(RCK_PRELOAD_LINES, 1);
	if (s->starve_cpu >= 0)
		set_number(RCK_PRELOAD_STARVE, s->starve_cpu);
	if (s->preload) {
		const char *old = getenv("LD_PRELOAD");
		char *all = old && *old ? rck_xasprintf("%s:%s", s->preload, old)
					: rck_xstrdup(s->preload);

		setenv("LD_PRELOAD", all, 1);
	}
}

/* In the program's process, until exec. */
static void program(
	const struct rck_supervise *s, pid_t supervisor, int out, int event, int report)
{
	sigset_t none;
	int null, error;

	/* A group, not a session: the scheduler may share the CPUs out by session, and
	 * the program is to compete with the load. */
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != supervisor)
		_exit(127);
	signal(SIGINT, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	dup2(null, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(out, STDERR_FILENO);
	event = fcntl(event, F_DUPFD, EVENT_FD);
	set_environment(s, event);
	if (s->starve_cpu >= 0)
		stay_off(s->starve_cpu);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execvp(s->argv[0], (char *const *)s->argv);
	error = errno;
	if (write(report, &error, sizeof(error)) < 0)
		_exit(126);
	_exit(127);
}

/* Returns 0 or -errno: no such program, ... */
static int start(struct watch *w)
{
	int out[2], event[2], report[2];
	pid_t supervisor = getpid();
	int failure = 0;

	if (pipe2(out, O_CLOEXEC) || pipe2(event, O_CLOEXEC) || pipe2(report, O_CLOEXEC))
		return -errno;
	w->root = fork();
	if (w->root < 0)
		return -errno;
	if (!w->root)
		program(w->s, supervisor, out[1], event[1], report[1]);
	close(out[1]);
	close(event[1]);
	close(report[1]);
	w->output = out[0];
	w->events = event[0];
	fcntl(w->output, F_SETFL, O_NONBLOCK);
	fcntl(w->events, F_SETFL, O_NONBLOCK);
	if (read(report[0], &failure, sizeof(failure)) != sizeof(failure))
		failure = 0;
	close(report[0]);
	return -failure;
}

/* ---- what it says ---- */

static void set_reason(struct rck_exposure *e, char *reason)
{
	free(e->reason);
	e->reason = reason;
}

static void on_output_line(struct watch *w, const char *line)
{
	int match = w->regex && !w->matched ? rck_regex_match(w->regex, line) : 0;

	w->matched |= match > 0;
	if (match < 0)
		set_reason(w->e,
			rck_xstrdup("--done-regex takes too long to match a line of the "
				    "output: whether the work was done is not known"));
}

static void keep_tail(struct watch *w, const char *data, size_t n)
{
	rck_strbuf_add(&w->tail, data, n);
	if (w->tail.len > 2 * KEPT_OUTPUT) {
		memmove(w->tail.buf, w->tail.buf + w->tail.len - KEPT_OUTPUT,
			KEPT_OUTPUT);
		w->tail.len = KEPT_OUTPUT;
		w->tail.buf[KEPT_OUTPUT] = 0;
	}
}

static void add_ending(struct watch *w, pid_t pid)
{
	for (size_t i = 0; i < w->endings.n; i++)
		if (w->endings.ids[i] == pid)
			return;
	w->endings.ids = rck_xrealloc(
		w->endings.ids, (w->endings.n + 1) * sizeof(*w->endings.ids));
	w->endings.ids[w->endings.n++] = pid;
}

static void on_event(struct watch *w, const char *line)
{
	struct rck_said said;
	const char *name = said.event;

	if (!rck_preloads_parse(line, &said))
		return;
	if (!strcmp(name, RCK_SAYS_LOADED)) {
		w->loaded = true;
	} else if (!strcmp(name, RCK_SAYS_RETURNED) || !strcmp(name, RCK_SAYS_EXIT)) {
		add_ending(w, said.pid);
	} else if (!strcmp(name, RCK_SAYS_THREAD)) {
		w->e->listener = (pid_t)said.a;
		w->listener_pid = said.pid;
	} else if (!strcmp(name, RCK_SAYS_LIBRARY)) {
		rck_preloads_keep_library(said.path, &w->e->hip, &w->e->hsa);
	} else if (!strcmp(name, RCK_SAYS_STARVED)) {
		w->e->starved = true;
	} else if (!strcmp(name, RCK_SAYS_NOT_STARVED)) {
		set_reason(w->e, rck_xasprintf("the listener could not be demoted: %s",
					 strerror((int)said.a)));
	} else if (!strcmp(name, RCK_SAYS_NOT_REORDERED)) {
		set_reason(w->e,
			rck_xasprintf("of %ld destructors of libamdhip64 %ld look like "
				      "the listener's, not one: the order stays",
				said.a, said.b));
	} else if (!strcmp(name, RCK_SAYS_REORDERED)) {
		w->e->reordered = true;
	}
}

static void split_lines(struct watch *w, struct rck_strbuf *carry, const char *data,
	size_t n, void (*on_line)(struct watch *, const char *))
{
	char *line, *end;

	rck_strbuf_add(carry, data, n);
	line = carry->buf;
	while ((end = memchr(line, '\n', carry->len - (size_t)(line - carry->buf)))) {
		*end = 0;
		on_line(w, line);
		line = end + 1;
	}
	n = carry->len - (size_t)(line - carry->buf);
	if (n > LONGEST_LINE)
		n = 0;
	memmove(carry->buf, line, n);
	carry->len = n;
	if (carry->cap)
		carry->buf[n] = 0;
}

/* False at the end of the stream. */
static bool drain(struct watch *w, int fd)
{
	char chunk[16384];
	ssize_t n;

	while ((n = read(fd, chunk, sizeof(chunk))) > 0) {
		if (fd == w->events) {
			split_lines(w, &w->event, chunk, (size_t)n, on_event);
			continue;
		}
		keep_tail(w, chunk, (size_t)n);
		split_lines(w, &w->line, chunk, (size_t)n, on_output_line);
	}
	return n < 0 && (errno == EAGAIN || errno == EINTR);
}

/* ---- how it ends ---- */

static void reap(struct watch *w)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid != w->root)
			continue;
		w->root_ended = true;
		w->root_ended_at = rck_proc_now();
		w->e->status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
		w->e->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	}
}

/* Does a process live that has said it is about to end? */
static bool one_is_ending(const struct watch *w)
{
	struct rck_pids below;
	bool found = false;

	if (!w->endings.n)
		return false;
	below = rck_proc_descendants(getpid());
	for (size_t i = 0; i < below.n && !found; i++)
		for (size_t k = 0; k < w->endings.n && !found; k++)
			found = below.ids[i] == w->endings.ids[k];
	free(below.ids);
	return found;
}

/*
 * Nothing of interest is alive: the root has ended, and no child of it is on its way out.
 * A child that has not said so yet gets a moment to do it.
 */
static bool is_over(const struct watch *w)
{
	struct rck_pids below;
	bool none;

	if (!w->root_ended || one_is_ending(w))
		return false;
	below = rck_proc_descendants(getpid());
	none = !below.n;
	free(below.ids);
	return none || rck_proc_now() - w->root_ended_at > LINGER;
}

static bool work_is_done(const struct watch *w)
{
	return w->regex ? w->matched : w->endings.n > 0;
}

/* Runnable threads below that had less CPU than a run needs are not hung: they wait. */
static bool deserves_more(const struct watch *w, double now)
{
	struct rck_pids below;
	bool runnable = false;

	if (now - w->grace_since > LONGEST_GRACE ||
		rck_proc_cpu_below() - w->grace_cpu >= w->s->cpu_needed)
		return false;
	below = rck_proc_descendants(getpid());
	for (size_t i = 0; i < below.n && !runnable; i++) {
		struct rck_pids tids = rck_proc_threads(below.ids[i]);

		for (size_t k = 0; k < tids.n && !runnable; k++) {
			struct rck_proc_stat s;

			runnable = !rck_proc_stat(below.ids[i], tids.ids[k], &s) &&
				   (s.state == 'R' || s.state == 'D');
		}
		free(tids.ids);
	}
	free(below.ids);
	return runnable;
}

static void examine(struct watch *w)
{
	struct rck_pids below = rck_proc_descendants(getpid());
	const struct rck_thread *spinner;
	struct rck_proc_stat s;

	rck_stack_capture(&below, w->s->watch > 0 ? w->s->watch : 1, w->e);
	w->e->listener_alive = w->e->listener &&
			       !rck_proc_stat(w->listener_pid, w->e->listener, &s) &&
			       s.state != 'Z' && s.state != 'X';
	spinner = rck_exposure_busiest(w->e);
	w->e->in_fork = w->e->listener && spinner && spinner->cpu >= RCK_THREAD_SPINS &&
			spinner->pid != w->listener_pid;
	if (w->s->core_folder && below.n)
		rck_stack_keep_core(below.ids[0], w->s->core_folder, w->e);
	free(below.ids);
}

/* Evidence takes a second; whoever ended in it was slow, not hung. */
static void end_as_hang(struct watch *w)
{
	bool done;

	examine(w);
	drain(w, w->events);
	drain(w, w->output);
	reap(w);
	if (is_over(w))
		return;
	/* with several processes the question is what the one that is left has done */
	done = w->regex ? w->matched : one_is_ending(w);
	w->e->outcome = done ? RCK_OUTCOME_HANG_DONE : RCK_OUTCOME_HANG_WORK;
	if (!done && !w->regex && w->s->preload && !w->loaded)
		set_reason(w->e,
			rck_xstrdup("the preloaded library did not load (a static or "
				    "set-user-id program?): whether the work was done is "
				    "not known"));
	w->e->status = -1;
}

static void end_by_itself(struct rck_exposure *e)
{
	if (e->signal)
		e->outcome = RCK_OUTCOME_CRASH;
	else
		e->outcome = e->status ? RCK_OUTCOME_FAILED : RCK_OUTCOME_CLEAN;
}

/* ---- the loop ---- */

static void begin_grace(struct watch *w)
{
	if (w->grace_since > 0)
		return;
	w->grace_since = rck_proc_now();
	w->grace_cpu = rck_proc_cpu_below();
}

static void on_control(struct watch *w)
{
	char c;
	ssize_t n = read(w->control, &c, 1);

	if (n <= 0 || c == RCK_SUPERVISE_CUT) {
		w->cut = true;
	} else if (c == RCK_SUPERVISE_GRACE) {
		begin_grace(w);
	}
}

static void on_signal(struct watch *w)
{
	struct signalfd_siginfo info;

	while (read(w->signals, &info, sizeof(info)) == sizeof(info))
		if (info.ssi_signo == SIGTERM)
			w->cut = true;
	reap(w);
}

static void note_done(struct watch *w)
{
	static const char told = RCK_SUPERVISE_DONE;

	if (w->done_at > 0 || !work_is_done(w))
		return;
	w->done_at = rck_proc_now();
	if (write(w->control, &told, 1) < 0)
		w->cut = true;
}

/* Until it is over, cut, or its grace has run out. True in the last case. */
static bool watch_it(struct watch *w)
{
	struct pollfd fds[] = {
		{w->control, POLLIN, 0},
		{w->signals, POLLIN, 0},
		{w->output, POLLIN, 0},
		{w->events, POLLIN, 0},
	};

	for (;;) {
		double now;

		/* A child that is ending while the root is gone sends us no SIGCHLD
		 * before it is ours, hence the timeout. */
		poll(fds, 4, w->grace_since > 0 || w->root_ended ? 20 : 200);
		if (fds[0].revents)
			on_control(w);
		if (fds[1].revents)
			on_signal(w);
		for (int i = 2; i < 4; i++)
			if (fds[i].revents && !drain(w, fds[i].fd))
				fds[i].fd = -1;
		reap(w);
		if (w->root_ended)
			drain(w, w->events);
		note_done(w);
		if (w->cut || is_over(w))
			return false;
		now = rck_proc_now();
		if (w->s->after_done > 0 && w->done_at > 0 &&
			now - w->done_at > w->s->after_done)
			begin_grace(w);
		if (w->grace_since > 0 && now - w->grace_since >= w->s->grace &&
			!deserves_more(w, now))
			return true;
	}
}

static void finish(struct watch *w)
{
	struct rck_exposure *e = w->e;

	drain(w, w->events);
	drain(w, w->output);
	note_done(w);
	e->done = w->done_at > 0;
	e->done_after = e->done ? w->done_at - w->begun : 0;
	e->seconds = rck_proc_now() - w->begun;
	e->cpu = rck_proc_cpu_below();
	if (w->tail.len) {
		size_t n = w->tail.len < KEPT_OUTPUT ? w->tail.len : KEPT_OUTPUT;

		e->output = rck_xstrndup(w->tail.buf + w->tail.len - n, n);
	}
}

static int open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

void rck_supervise_run(const struct rck_supervise *s, int control, struct rck_exposure *e)
{
	struct watch w = {.s = s,
		.e = e,
		.control = control,
		.line = RCK_STRBUF_INIT,
		.event = RCK_STRBUF_INIT,
		.tail = RCK_STRBUF_INIT};
	char why[128];
	size_t left;
	int err;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	signal(SIGPIPE, SIG_IGN);
	*e = (struct rck_exposure){.outcome = RCK_OUTCOME_NOT_RUN, .status = -1};
	w.begun = rck_proc_now();
	w.signals = open_signals();
	w.regex = s->done_regex ? rck_regex_new(s->done_regex, why) : NULL;
	err = start(&w);
	if (err) {
		set_reason(e, rck_xasprintf("cannot start '%s': %s", s->argv[0],
				      strerror(-err)));
		rck_proc_kill_below();
		return;
	}
	if (watch_it(&w))
		end_as_hang(&w);
	if (e->outcome == RCK_OUTCOME_NOT_RUN && !w.cut)
		end_by_itself(e);
	finish(&w);
	left = rck_proc_kill_below();
	if (!rck_outcome_is_hang(e->outcome) && !w.cut)
		e->left_behind = (unsigned)left;
	rck_strbuf_release(&w.line);
	rck_strbuf_release(&w.event);
	rck_strbuf_release(&w.tail);
	free(w.endings.ids);
	rck_regex_free(w.regex);
}
