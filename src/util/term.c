#include "util/term.h"
#include "util/utf8.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

unsigned rck_term_width(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize w;
	int n;

	if (columns && (n = atoi(columns)) > 0)
		return (unsigned)n;
	if (isatty(STDOUT_FILENO) && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) && w.ws_col)
		return w.ws_col;
	return 80;
}

bool rck_term_color(enum rck_color_mode mode, int fd)
{
	const char *no = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	if (mode != RCK_COLOR_AUTO)
		return mode == RCK_COLOR_ALWAYS;
	return isatty(fd) && !(no && *no) && !(term && !strcmp(term, "dumb"));
}

size_t rck_term_columns(const char *s, size_t len)
{
	size_t columns = 0;

	for (size_t i = 0; i < len;) {
		uint32_t c;
		size_t n = rck_utf8_decode(s + i, len - i, &c);

		if (s[i] == '\033' && i + 1 < len && s[i + 1] == '[') {
			while (i < len && s[i] != 'm')
				i++;
			i++;
			continue;
		}
		if (n > 1) {
			int w = wcwidth((wchar_t)c);

			columns += w < 0 ? 1 : (size_t)w;
		} else {
			columns++;
		}
		i += n ? n : 1;
	}
	return columns;
}

void rck_term_wrap(struct rck_strbuf *out, const char *text, unsigned at, unsigned indent,
	unsigned width)
{
	bool fresh = true; /* nothing of text is on this line yet */
	size_t column = at;

	while (*text) {
		size_t n = strcspn(text, " ");
		size_t columns = rck_term_columns(text, n);

		if (!fresh && column + 1 + columns > width) {
			rck_strbuf_addc(out, '\n');
			rck_strbuf_pad(out, ' ', indent);
			column = indent;
			fresh = true;
		}
		if (!fresh) {
			rck_strbuf_addc(out, ' ');
			column++;
		}
		rck_strbuf_add(out, text, n);
		column += columns;
		fresh = false;
		text += n;
		text += *text == ' ';
	}
	rck_strbuf_addc(out, '\n');
}
