#include "util/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DEFAULT_LIMIT (16u << 20)

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* In the child, after fork: nothing returns from here. The errno of a failed exec goes to
 * report. */
static void child(const struct rck_spawn *s, pid_t parent, int out, int err, int report)
{
	int null, error;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	dup2(null, STDIN_FILENO);
	dup2(out >= 0 ? out : null, STDOUT_FILENO);
	if (s->err)
		dup2(err >= 0 ? err : out, STDERR_FILENO);
	for (const char *const *e = s->env; e && *e; e++)
		putenv((char *)*e);
	if (!s->cwd || !chdir(s->cwd))
		execvp(s->argv[0], (char *const *)s->argv);
	error = errno;
	if (write(report, &error, sizeof(error)) < 0)
		_exit(126);
	_exit(127);
}

/* Reads what is there; false at the end of the stream. Bytes over the limit are dropped.
 */
static bool drain(int fd, struct rck_strbuf *to, size_t limit)
{
	char chunk[16384];
	ssize_t n = read(fd, chunk, sizeof(chunk));

	if (n <= 0)
		return n < 0 && (errno == EINTR || errno == EAGAIN);
	if (to->len < limit)
		rck_strbuf_add(to, chunk,
			(size_t)n < limit - to->len ? (size_t)n : limit - to->len);
	return true;
}

static void kill_group(pid_t pid)
{
	kill(-pid, SIGKILL);
	kill(pid, SIGKILL);
}

/* Collects output until the child has ended, and what it left in the pipes; grandchildren
 * that keep one open, or write on without end, are not awaited. */
static void collect(struct rck_spawn *s, pid_t pid, int fd_out, int fd_err)
{
	size_t limit = s->limit ? s->limit : DEFAULT_LIMIT;
	double end = s->timeout > 0 ? now() + s->timeout : 0;
	struct pollfd fds[2] = {{fd_out, POLLIN, 0}, {fd_err, POLLIN, 0}};
	struct rck_strbuf *to[2] = {s->out, s->err};
	int status;
	bool ended = false;

	for (;;) {
		bool more = false;

		poll(fds, 2, ended ? 0 : fds[0].fd < 0 && fds[1].fd < 0 ? 2 : 20);
		for (int i = 0; i < 2; i++)
			if (fds[i].fd >= 0 && fds[i].revents) {
				if (drain(fds[i].fd, to[i], limit))
					more |= to[i]->len < limit;
				else
					fds[i].fd = -1;
			}
		if (ended && !more)
			break;
		if (!ended && waitpid(pid, &status, WNOHANG) == pid)
			ended = true;
		if (!ended && end > 0 && now() > end) {
			s->timed_out = true;
			kill_group(pid);
			end = 0;
		}
	}
	kill(-pid, SIGKILL);
	s->status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	s->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void close_pipe(int p[2])
{
	for (int i = 0; i < 2; i++)
		if (p[i] >= 0)
			close(p[i]);
}

int rck_spawn_run(struct rck_spawn *s)
{
	int out[2] = {-1, -1}, err[2] = {-1, -1}, report[2] = {-1, -1};
	pid_t parent = getpid();
	pid_t pid;
	int failure = 0;
	int ret = 0;

	s->status = -1;
	s->signal = 0;
	s->timed_out = false;
	if (pipe2(report, O_CLOEXEC) || (s->out && pipe2(out, O_CLOEXEC)) ||
		(s->err && s->err != s->out && pipe2(err, O_CLOEXEC))) {
		ret = -errno;
		goto out;
	}
	pid = fork();
	if (pid < 0) {
		ret = -errno;
		goto out;
	}
	if (!pid)
		child(s, parent, out[1], err[1], report[1]);
	setpgid(pid, pid);
	close(report[1]);
	report[1] = -1;
	for (int *end = (int *)&out[1]; end; end = end == &out[1] ? &err[1] : NULL)
		if (*end >= 0) {
			close(*end);
			*end = -1;
		}
	if (read(report[0], &failure, sizeof(failure)) == sizeof(failure))
		ret = -failure;
	collect(s, pid, out[0], err[0]);
out:
	close_pipe(out);
	close_pipe(err);
	close_pipe(report);
	return ret;
}
