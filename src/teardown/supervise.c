#include "teardown/supervise.h"
#include "teardown/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct rck_supervisor {
	pid_t pid;
	int fd;
	struct rck_strbuf text;
};

/* Every descriptor of ours but the line and the standard three: a sibling's line that we
 * held open would hide from the sibling that our parent is gone. */
static int keep_only(int fd)
{
	if (fd != 3 && dup3(fd, 3, O_CLOEXEC) < 0)
		return -errno;
	close_range(4, ~0u, 0);
	return 3;
}

static void write_all(int fd, const char *p, size_t left)
{
	while (left) {
		ssize_t n = write(fd, p, left);

		if (n < 0 && errno != EINTR)
			return;
		if (n > 0) {
			p += n;
			left -= (size_t)n;
		}
	}
}

/* In the supervisor; does not return. */
static void supervisor_main(const struct rck_supervise *s, int fd)
{
	_cleanup_strbuf_ struct rck_strbuf text = RCK_STRBUF_INIT;
	struct rck_exposure e = {0};
	struct rck_json j;

	fd = keep_only(fd);
	if (fd < 0)
		_exit(2);
	rck_supervise_run(s, fd, &e);
	rck_json_init(&j, &text, 0);
	rck_exposure_write(&e, &j);
	write_all(fd, text.buf, text.len);
	_exit(0);
}

int rck_supervisor_start(const struct rck_supervise *s, struct rck_supervisor **out)
{
	pid_t parent = getpid();
	sigset_t block, old;
	int line[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, line))
		return -errno;
	/* Blocked before the fork, so that a SIGTERM in its first moments is not fatal to
	 * the supervisor alone: it reads its signals from a signalfd. */
	sigemptyset(&block);
	sigaddset(&block, SIGTERM);
	sigaddset(&block, SIGCHLD);
	sigprocmask(SIG_BLOCK, &block, &old);
	pid = fork();
	if (!pid) {
		/* Ctrl-C is our parent's to handle. */
		setpgid(0, 0);
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (getppid() != parent)
			_exit(2);
		close(line[0]);
		supervisor_main(s, line[1]);
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
	close(line[1]);
	if (pid < 0) {
		close(line[0]);
		return -errno;
	}
	*out = rck_xcalloc(1, sizeof(**out));
	**out = (struct rck_supervisor){pid, line[0], RCK_STRBUF_INIT};
	return 0;
}

int rck_supervisor_fd(const struct rck_supervisor *s)
{
	return s->fd;
}

static void command(struct rck_supervisor *s, char c)
{
	/* one that has ended already needs no telling */
	if (send(s->fd, &c, 1, MSG_NOSIGNAL) < 0)
		return;
}

bool rck_supervisor_is_done(const struct rck_supervisor *s)
{
	return s->text.buf[0] == RCK_SUPERVISE_DONE;
}

void rck_supervisor_begin_grace(struct rck_supervisor *s)
{
	command(s, RCK_SUPERVISE_GRACE);
}

void rck_supervisor_cut(struct rck_supervisor *s)
{
	command(s, RCK_SUPERVISE_CUT);
}

static void read_result(const struct rck_supervisor *s, struct rck_exposure *out)
{
	size_t skip = rck_supervisor_is_done(s);
	json_t *object = json_loadb(s->text.buf + skip, s->text.len - skip, 0, NULL);

	if (!object || rck_exposure_read(object, out)) {
		*out = (struct rck_exposure){
			.outcome = RCK_OUTCOME_NOT_RUN, .status = -1};
		out->reason = rck_xstrdup("its supervisor ended without a result");
	}
	json_decref(object);
}

int rck_supervisor_finish(struct rck_supervisor **sp, struct rck_exposure *out)
{
	struct rck_supervisor *s = *sp;
	char chunk[16384];
	ssize_t n = recv(s->fd, chunk, sizeof(chunk), MSG_DONTWAIT);

	if (n > 0) {
		rck_strbuf_add(&s->text, chunk, (size_t)n);
		return 0;
	}
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	close(s->fd);
	while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
		;
	read_result(s, out);
	rck_strbuf_release(&s->text);
	free(s);
	*sp = NULL;
	return 1;
}
