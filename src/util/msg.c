#include "util/msg.h"
#include "util/strbuf.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool quiet_mode;

void rck_msg_set_quiet(bool quiet)
{
	quiet_mode = quiet;
}

static void say(const char *level, const char *fmt, va_list ap)
{
	_cleanup_strbuf_ struct rck_strbuf text = RCK_STRBUF_INIT;
	_cleanup_strbuf_ struct rck_strbuf line = RCK_STRBUF_INIT;
	const char *p;
	size_t left;

	rck_strbuf_vaddf(&text, fmt, ap);
	rck_strbuf_addf(&line, "rocmcheck: %s", level);
	rck_strbuf_add_masked(&line, text.buf, text.len);
	rck_strbuf_addc(&line, '\n');
	fflush(stdout);
	for (p = line.buf, left = line.len; left;) {
		ssize_t n = write(STDERR_FILENO, p, left);

		if (n < 0 && errno != EINTR)
			return;
		if (n > 0) {
			p += n;
			left -= (size_t)n;
		}
	}
}

void rck_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("error: ", fmt, ap);
	va_end(ap);
}

void rck_warning(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("warning: ", fmt, ap);
	va_end(ap);
}

void rck_notice(const char *fmt, ...)
{
	va_list ap;

	if (quiet_mode)
		return;
	va_start(ap, fmt);
	say("", fmt, ap);
	va_end(ap);
}

void rck_error_diag(const char *subject, const struct rck_diag *diag)
{
	if (diag->offset == RCK_OFFSET_NONE)
		rck_error("'%s': %s", subject, diag->msg);
	else
		rck_error("'%s': offset 0x%llx: %s", subject,
			(unsigned long long)diag->offset, diag->msg);
}

int rck_close_stdout(void)
{
	bool failed = ferror(stdout);

	if (fflush(stdout) || failed) {
		if (errno == EPIPE)
			return 0;
		rck_error("cannot write to standard output: %s", strerror(errno));
		return -EIO;
	}
	return 0;
}
