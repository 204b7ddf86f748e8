/* The command: what it says of planted programs, and that nothing of it outlives it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "util/spawn.h"

#include "alive.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char *plant;

struct answer {
	struct rck_strbuf out, err;
	int status;
};

static struct answer stress(const char *const *options, const char *kind, const char *arg)
{
	struct answer a = {RCK_STRBUF_INIT, RCK_STRBUF_INIT, -1};
	const char *argv[24] = {getenv("RCK_PROGRAM"), "stress"};
	const char *env[] = {"COLUMNS=1000", NULL};
	struct rck_spawn s = {
		.argv = argv, .env = env, .out = &a.out, .err = &a.err, .timeout = 100};
	size_t n = 2;

	while (*options)
		argv[n++] = *options++;
	argv[n++] = "--";
	argv[n++] = kind[0] == '/' ? kind : plant;
	argv[n++] = kind;
	argv[n++] = arg;
	assert_int_equal(rck_spawn_run(&s), 0);
	assert_false(s.timed_out);
	a.status = s.status;
	return a;
}

static void release(struct answer *a)
{
	rck_strbuf_release(&a->out);
	rck_strbuf_release(&a->err);
}

static void says(const struct answer *a, const char *text)
{
	if (!strstr(a->out.buf, text))
		fail_msg("'%s' is not in:\n%s", text, a->out.buf);
}

static void deadlock(void **state)
{
	const char *options[] = {"--load", "churn", "--workers", "4", "-n", "2", "-j",
		"2", "--timeout", "1", "--grace", ".5", NULL};
	struct answer a = stress(options, "deadlock", NULL);

	assert_int_equal(a.status, 1);
	says(&a, "hung after its work was done in 2 of 2");
#ifdef HAVE_LIBDW
	says(&a, "called from take_lock+");
	says(&a, "the same in 2 hung processes");
#endif
	release(&a);
}

static void crash(void **state)
{
	const char *options[] = {"--load", "none", "-n", "2", NULL};
	struct answer a = stress(options, "crash", NULL);

	assert_int_equal(a.status, 1);
	says(&a, "it crashed in 2");
	release(&a);
}

static void leaves_children(void **state)
{
	const char *options[] = {"--load", "none", "-n", "1", NULL};
	struct answer a = stress(options, "leave", NULL);

	assert_int_equal(a.status, 0);
	says(&a, "it left 6 processes behind");
	release(&a);
}

/* A core where gdb is there, and else a reason why not. */
static void core(void **state)
{
	char folder[] = "/tmp/rck-core-XXXXXX";
	const char *options[] = {"--load", "none", "-n", "1", "--timeout", "1", "--grace",
		".5", "--core", folder, "--format", "json", NULL};
	struct answer a;
	char *at, *end;

	assert_non_null(mkdtemp(folder));
	a = stress(options, "spin", NULL);
	assert_int_equal(a.status, 1);
	at = strstr(a.out.buf, "\"core\": \"");
	if (at) {
		at += strlen("\"core\": \"");
		end = strchr(at, '"');
		assert_non_null(end);
		*end = 0;
		assert_int_equal(access(at, R_OK), 0);
		assert_int_equal(unlink(at), 0);
	} else {
		says(&a, "no core: gcore");
	}
	assert_int_equal(rmdir(folder), 0);
	release(&a);
}

/* COMMAND gets its own arguments and no others. */
static void arguments(void **state)
{
	const char *options[] = {"--load", "none", "-n", "1", "-j", "1", NULL};
	struct answer a = stress(options, "arguments", "one");

	assert_int_equal(a.status, 1);
	says(&a, "exit status 3 after its work was done");
	says(&a, "| work done\n");
	release(&a);
}

static void not_run(void **state)
{
	const char *options[] = {"-n", "1", NULL};
	struct answer a = stress(options, "/nonexistent/program", NULL);

	assert_int_equal(a.status, 2);
	assert_string_equal(a.out.buf, "");
	assert_string_equal(a.err.buf,
		"rocmcheck: error: cannot start '/nonexistent/program': No such file or "
		"directory\n");
	release(&a);
}

static void usage(void **state)
{
	const char *bad_regex[] = {"--done-regex", "(", NULL};
	const char *too_many[] = {"--workers", "100000", NULL};
	struct answer a = stress(bad_regex, "clean", NULL);

	assert_int_equal(a.status, 3);
	release(&a);
	a = stress(too_many, "clean", NULL);
	assert_int_equal(a.status, 3);
	release(&a);
}

/* Starts a long run whose processes all carry this word; returns its pid once they are
 * there. */
static pid_t start_long_run(const char *word, int out)
{
	double end = rck_proc_now() + 60;
	pid_t pid = fork();

	if (!pid) {
		setpgid(0, 0);
		dup2(out, STDOUT_FILENO);
		execl(getenv("RCK_PROGRAM"), "rocmcheck", "stress", "--load", "spin",
			"--workers", "3", "-n", "1000", "--timeout", "50", "--", plant,
			"leave-slowly", word, NULL);
		_exit(127);
	}
	/* ourselves, a supervisor, a program and its child, three workers */
	while (alive_with(word) < 7 && rck_proc_now() < end)
		usleep(10000);
	assert_true(alive_with(word) >= 7);
	return pid;
}

static void interrupted(void **state)
{
	char name[] = "/tmp/rck-stress-XXXXXX", text[8192] = "";
	int fd = mkstemp(name), status;
	pid_t pid;

	assert_true(fd >= 0);
	pid = start_long_run("word-of-interrupted", fd);
	kill(pid, SIGINT);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_true(pread(fd, text, sizeof(text) - 1, 0) > 0);
	assert_non_null(strstr(text, "interrupted, a partial result"));
	/* all of it was gone before it ended */
	assert_int_equal(alive_with("word-of-interrupted"), 0);
	close(fd);
	unlink(name);
}

static void killed(void **state)
{
	int null = open("/dev/null", O_WRONLY);
	pid_t pid = start_long_run("word-of-killed", null);

	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_int_equal(alive_at_last("word-of-killed"), 0);
	close(null);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(deadlock),
		cmocka_unit_test(crash),
		cmocka_unit_test(leaves_children),
		cmocka_unit_test(arguments),
		cmocka_unit_test(core),
		cmocka_unit_test(not_run),
		cmocka_unit_test(usage),
		cmocka_unit_test(interrupted),
		cmocka_unit_test(killed),
	};

	plant = rck_xasprintf("%s/tests/unit/teardown/plant", getenv("RCK_BUILD_DIR"));
	return cmocka_run_group_tests_name("teardown-stress", tests, NULL, NULL);
}
