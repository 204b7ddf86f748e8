#include "report/html.h"
#include "rocmcheck.h"

#include <string.h>

static void add_line(struct rck_strbuf *out, const char *line, size_t len)
{
	_cleanup_strbuf_ struct rck_strbuf masked = RCK_STRBUF_INIT;

	rck_strbuf_add_masked(&masked, line, len);
	for (size_t i = 0; i < masked.len; i++)
		switch (masked.buf[i]) {
		case '&':
			rck_strbuf_adds(out, "&amp;");
			break;
		case '<':
			rck_strbuf_adds(out, "&lt;");
			break;
		case '>':
			rck_strbuf_adds(out, "&gt;");
			break;
		case '"':
			rck_strbuf_adds(out, "&quot;");
			break;
		default:
			rck_strbuf_addc(out, masked.buf[i]);
		}
}

void rck_html_text(struct rck_strbuf *out, const char *text)
{
	while (text && *text) {
		size_t n = strcspn(text, "\n");

		add_line(out, text, n);
		text += n;
		if (*text) {
			rck_strbuf_addc(out, '\n');
			text++;
		}
	}
}

static const char style[] =
	":root{--bg:#fff;--fg:#1b1f24;--soft:#57606a;--line:#d0d7de;--panel:#f6f8fa;"
	"--clean:#2da44e;--hang:#cf222e;--work:#a40e26;--crash:#8250df;--fail:#bf8700}"
	"@media(prefers-color-scheme:dark){:root{--bg:#0d1117;--fg:#e6edf3;--soft:#"
	"8b949e;"
	"--line:#30363d;--panel:#161b22;--clean:#3fb950;--hang:#f85149;--work:#ff7b72;"
	"--crash:#a371f7;--fail:#d29922}}"
	"body{margin:0 auto;max-width:70rem;padding:1.5rem;background:var(--bg);"
	"color:var(--fg);font:15px/1.5 system-ui,sans-serif}"
	"h1{font-size:1.5rem;margin:0 0 1rem}h2{font-size:1.15rem;margin:2rem 0 .6rem;"
	"border-bottom:1px solid var(--line)}"
	"table{border-collapse:collapse;margin:.5rem 0}"
	"th,td{padding:.25rem .7rem;text-align:left;border-bottom:1px solid var(--line);"
	"vertical-align:top}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}"
	"th{font-weight:600;color:var(--soft)}.scroll{overflow-x:auto}"
	".arms td{overflow-wrap:anywhere}"
	"code,pre{font:13px/1.45 ui-monospace,monospace}"
	"pre{background:var(--panel);border:1px solid var(--line);border-radius:6px;"
	"padding:.7rem;overflow-x:auto;margin:.4rem 0}"
	".verdict{background:var(--panel);border-left:4px solid var(--soft);"
	"padding:.6rem 1rem;margin:.5rem 0}.verdict.bad{border-color:var(--hang)}"
	".verdict.good{border-color:var(--clean)}.soft{color:var(--soft)}"
	"summary{cursor:pointer}svg{display:block;max-width:100%}svg "
	"text{fill:var(--soft);"
	"font:11px system-ui,sans-serif}"
	".clean{fill:var(--clean)}.hang-done{fill:var(--hang)}.hang-work{fill:var(--work)"
	"}"
	".crash{fill:var(--crash)}.failed{fill:var(--fail)}.axis{stroke:var(--line)}"
	".bar{stroke:var(--fg);stroke-width:2}.dot{fill:var(--fg)}";

void rck_html_begin(struct rck_strbuf *out, const char *title)
{
	rck_strbuf_adds(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
			     "<meta charset=\"utf-8\">\n"
			     "<meta name=\"viewport\" "
			     "content=\"width=device-width,initial-scale=1\">\n<title>");
	rck_html_text(out, title);
	rck_strbuf_addf(out, "</title>\n<style>%s</style>\n</head>\n<body>\n<h1>", style);
	rck_html_text(out, title);
	rck_strbuf_adds(out, "</h1>\n");
}

void rck_html_end(struct rck_strbuf *out)
{
	rck_strbuf_addf(out,
		"<p class=\"soft\">Written by rocmcheck %s.</p>\n</body>\n</html>\n",
		rck_version());
}
