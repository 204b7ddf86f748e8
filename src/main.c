/* The program: global options, the table of commands, and help generated from both. */
#include "cmd/cmd.h"
#include "cmd/commands.h"
#include "util/closest.h"
#include "util/msg.h"

#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool want_help, want_version, want_quiet;
static const char *list_options;
static bool list_commands;

static const struct rck_opt global_opts[] = {
	{RCK_OPT_FLAG, 'q', "quiet", &want_quiet, NULL,
		"say nothing but errors and warnings on stderr"},
	{RCK_OPT_STRING, 0, "list-options", &list_options, "COMMAND",
		"print COMMAND's options, one a line (for completions)"},
	{RCK_OPT_FLAG, 0, "list-commands", &list_commands, NULL,
		"print the commands, one a line (for completions)"},
	{RCK_OPT_FLAG, 'h', "help", &want_help, NULL, "print this help"},
	{RCK_OPT_FLAG, 'V', "version", &want_version, NULL,
		"print the version, what was compiled in and what was found"},
	{RCK_OPT_END},
};

static const struct rck_cmd *find_command(const char *name)
{
	for (const struct rck_cmd *const *c = rck_commands; *c; c++)
		if (!strcmp((*c)->name, name))
			return *c;
	return NULL;
}

static int help(void)
{
	printf("Usage: rocmcheck [OPTION...] COMMAND [ARGUMENT...]\n"
	       "What ROCm device code will make the HIP runtime do: read, proven, "
	       "gated.\n\n"
	       "Commands:\n");
	for (const struct rck_cmd *const *c = rck_commands; *c; c++)
		printf("  %-10s %s\n", (*c)->name, (*c)->summary);
	printf("\nOptions:\n");
	rck_opt_print_help(global_opts);
	printf("\n'rocmcheck COMMAND --help' tells more of a command. Exit status: 0 "
	       "clean,\n"
	       "1 findings or differences, 2 something could not be read, checked or "
	       "run, "
	       "3 usage.\n");
	return RCK_EXIT_CLEAN;
}

static int command_help(const struct rck_cmd *cmd)
{
	printf("Usage: rocmcheck %s [OPTION...]%s%s\n%s\n\nOptions:\n", cmd->name,
		*cmd->operands ? " " : "", cmd->operands, cmd->summary);
	rck_opt_print_help(cmd->opts);
	printf("  -h, --help                print this help\n");
	if (cmd->details)
		printf("\n%s\n", cmd->details);
	if (cmd->print_details)
		cmd->print_details();
	return RCK_EXIT_CLEAN;
}

static int run_command(const struct rck_cmd *cmd, int argc, char **argv)
{
	int n, r = rck_opt_parse(cmd->opts, argc, argv, cmd->takes_command, &n);

	if (r == RCK_OPT_HELP)
		return command_help(cmd);
	if (r) {
		fprintf(stderr, "Try 'rocmcheck %s --help'.\n", cmd->name);
		return RCK_EXIT_USAGE;
	}
	return cmd->run(n, argv + 1);
}

static int usage_error(void)
{
	fprintf(stderr, "Try 'rocmcheck --help'.\n");
	return RCK_EXIT_USAGE;
}

static int unknown_command(const char *name)
{
	struct rck_closest c;

	rck_closest_init(&c, name, strlen(name));
	for (const struct rck_cmd *const *cmd = rck_commands; *cmd; cmd++)
		rck_closest_try(&c, (*cmd)->name);
	rck_error("unknown command '%s'%s", name, rck_closest_hint(&c, ""));
	return usage_error();
}

/* "help" and "help COMMAND", as people type it. */
static int help_of(int n, char **names)
{
	const struct rck_cmd *cmd = n ? find_command(names[0]) : NULL;

	if (!n)
		return help();
	return cmd ? command_help(cmd) : unknown_command(names[0]);
}

static int run(int argc, char **argv)
{
	const struct rck_cmd *cmd;
	int n;

	if (rck_opt_parse(global_opts, argc, argv, true, &n))
		return usage_error();
	rck_msg_set_quiet(want_quiet);
	if (want_help)
		return help();
	if (want_version)
		return rck_print_version();
	if (list_commands) {
		for (const struct rck_cmd *const *c = rck_commands; *c; c++)
			puts((*c)->name);
		return RCK_EXIT_CLEAN;
	}
	if (!list_options && !n) {
		rck_error("no command given");
		return usage_error();
	}
	cmd = find_command(list_options ? list_options : argv[1]);
	if (!cmd && !list_options && !strcmp(argv[1], "help"))
		return help_of(n - 1, argv + 2);
	if (!cmd)
		return unknown_command(list_options ? list_options : argv[1]);
	if (list_options) {
		rck_opt_print_names(cmd->opts);
		return RCK_EXIT_CLEAN;
	}
	return run_command(cmd, n, argv + 1);
}

/*
 * A file opened while a standard descriptor is closed would get its number, and be read
 * as the input or written over with messages. O_PATH takes the number, and to read or
 * write still fails as if it were closed.
 */
static void hold_standard_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_PATH) != fd)
			return;
}

int main(int argc, char **argv)
{
	int status;

	hold_standard_descriptors();
	setlocale(LC_CTYPE, "C.UTF-8");
	signal(SIGPIPE, SIG_DFL);
	/* ignored, as some parents leave it, the kernel reaps children unasked, and how
	 * they ended is lost */
	signal(SIGCHLD, SIG_DFL);
	status = run(argc, argv);
	if (rck_close_stdout())
		status = rck_exit_worse(status, RCK_EXIT_TROUBLE);
	return status;
}
