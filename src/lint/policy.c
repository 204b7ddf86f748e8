#include "lint/policy.h"
#include "util/cleanup.h"
#include "util/regex.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <ini.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#define POLICY_MAX (1u << 20) /* bytes; a policy is written by hand */

void rck_policy_init(struct rck_policy *p, const char *today)
{
	*p = (struct rck_policy){.fail_on = RCK_SEVERITY_WARNING};
	snprintf(p->today, sizeof(p->today), "%s", today);
	for (int i = 0; i < RCK_RULE_COUNT_; i++)
		p->severity[i] = rck_rules[i].severity;
}

static void release_allow(struct rck_allow *a)
{
	rck_regex_free(a->kernel_re);
	free(a->kernel);
	free(a->name);
	free(a->file);
	free(a->target);
	free(a->reason);
}

void rck_policy_release(struct rck_policy *p)
{
	for (size_t i = 0; i < p->n_allows; i++)
		release_allow(&p->allows[i]);
	for (size_t i = 0; i < p->n_limits; i++)
		free(p->limits[i].target);
	for (size_t i = 0; i < p->n_required; i++)
		free(p->required[i]);
	free(p->allows);
	free(p->limits);
	free(p->required);
	free(p->baseline);
	free(p->path);
	*p = (struct rck_policy){0};
}

char *rck_policy_find(const char *dir)
{
	_cleanup_free_ char *at = rck_xstrdup(dir);

	for (;;) {
		char *path = rck_xasprintf(
			"%s/%s", strcmp(at, "/") ? at : "", RCK_POLICY_FILE);
		char *slash;

		if (!access(path, F_OK))
			return path;
		free(path);
		slash = strrchr(at, '/');
		if (!slash || !at[1])
			return NULL;
		slash[slash == at] = '\0';
	}
}

/* ---- one key */

struct reading {
	struct rck_policy *p;
	const char *next, *end; /* what the reader has not given yet */
	const char *name;
	unsigned line;
	char *section;  /* "allow", "limits", ... */
	char *argument; /* behind the section's first word, or NULL */
	unsigned section_line;
	struct rck_allow *allow; /* of the section, when it is one */
	uint32_t seen;           /* keys of this section, by their place in its table */
	struct rck_diag *diag;
	int err;
};

static int fail(struct reading *r, unsigned line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The first mistake is kept. */
static int fail(struct reading *r, unsigned line, const char *fmt, ...)
{
	char msg[160];
	va_list ap;

	if (r->err)
		return r->err;
	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	return r->err = rck_fail(
		       r->diag, -EINVAL, RCK_OFFSET_NONE, "line %u: %s", line, msg);
}

static int read_bool(struct reading *r, const char *v, bool *out)
{
	static const char *const words[] = {
		"no", "yes", "false", "true", "off", "on", "0", "1"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!strcasecmp(v, words[i])) {
			*out = i & 1;
			return 0;
		}
	}
	return fail(r, r->line, "'%s' is neither yes nor no", v);
}

static int read_number(struct reading *r, const char *v, uint64_t *out)
{
	unsigned long long n;
	unsigned shift = 0;
	char *end;

	errno = 0;
	n = strtoull(v, &end, 0);
	if (*end == 'K' || *end == 'M')
		shift = *end++ == 'K' ? 10 : 20;
	if (errno || !isdigit((unsigned char)*v) || *end || n > UINT64_MAX >> shift)
		return fail(r, r->line, "'%s' is not a whole number", v);
	*out = n << shift;
	return 0;
}

static int read_level(struct reading *r, const char *v, enum rck_severity *out)
{
	if (rck_severity_parse(v, out))
		return fail(
			r, r->line, "'%s' is not one of off, note, warning, error", v);
	return 0;
}

static int read_fail_on(struct reading *r, const char *v)
{
	enum rck_severity s;

	if (rck_severity_parse(v, &s) || s == RCK_SEVERITY_OFF)
		return fail(r, r->line, "'%s' is not one of note, warning, error", v);
	r->p->fail_on = s;
	return 0;
}

static int read_date(struct reading *r, const char *v, char out[static 11])
{
	static const char form[] = "dddd-dd-dd";
	size_t i;

	for (i = 0; form[i]; i++)
		if (form[i] == 'd' ? !isdigit((unsigned char)v[i]) : v[i] != '-')
			break;
	if (form[i] || v[i] || strcmp(v + 5, "01") < 0 || strncmp(v + 5, "13", 2) >= 0 ||
		strcmp(v + 8, "01") < 0 || strcmp(v + 8, "32") >= 0)
		return fail(r, r->line, "'%s' is not a date (YYYY-MM-DD)", v);
	memcpy(out, v, 11);
	return 0;
}

/* The next word of *s, blanks and commas apart; NULL at the end. */
static char *next_word(const char **s)
{
	const char *p = *s + strspn(*s, " \t,");
	size_t n = strcspn(p, " \t,");

	*s = p + n;
	return n ? rck_xstrndup(p, n) : NULL;
}

static int read_rules(struct reading *r, const char *v, uint32_t *out)
{
	char *word;

	while ((word = next_word(&v))) {
		const struct rck_rule *rule = rck_rule_find(word);

		if (rule)
			*out |= 1u << rule->number;
		else
			fail(r, r->line, "no rule is called '%s'", word);
		free(word);
	}
	if (!r->err && !*out)
		fail(r, r->line, "no rule is named");
	return r->err;
}

/* 0, or -EINVAL with the reason in why. */
static int compile_kernel(struct rck_allow *a, const char *regex, char why[static 128])
{
	/* a variable that was not set, most likely; it would match every kernel */
	if (!*regex) {
		snprintf(why, 128, "it is empty");
		return -EINVAL;
	}
	a->kernel_re = rck_regex_new(regex, why);
	if (!a->kernel_re)
		return -EINVAL;
	a->kernel = rck_xstrdup(regex);
	return 0;
}

static int read_regex(struct reading *r, const char *v, struct rck_allow *a)
{
	char why[128];

	if (compile_kernel(a, v, why))
		return fail(r, r->line, "'%s' is no regular expression: %s", v, why);
	return 0;
}

static int read_required(struct reading *r, const char *v)
{
	struct rck_policy *p = r->p;
	char *word;

	while ((word = next_word(&v))) {
		p->required = rck_xrealloc(
			p->required, (p->n_required + 1) * sizeof(*p->required));
		p->required[p->n_required++] = word;
	}
	return 0;
}

static char *beside(const char *file, const char *path)
{
	const char *slash = strrchr(file, '/');

	if (path[0] == '/' || !slash)
		return rck_xstrdup(path);
	return rck_xasprintf("%.*s/%s", (int)(slash - file), file, path);
}

/* ---- sections */

enum key {
	KEY_FAIL_ON,
	KEY_MAYBE,
	KEY_REQUIRE_DEVICE_CODE,
	KEY_ALLOW_INCOMPLETE,
	KEY_MAX_FINDINGS,
	KEY_BASELINE,
	KEY_REQUIRE,
	KEY_RULE,
	KEY_KERNEL,
	KEY_FILE,
	KEY_TARGET,
	KEY_REASON,
	KEY_EXPIRES,
	KEY_COUNT_,
};

static const struct {
	const char *section, *name;
} keys[KEY_COUNT_] = {
	[KEY_FAIL_ON] = {"policy", "fail-on"},
	[KEY_MAYBE] = {"policy", "maybe"},
	[KEY_REQUIRE_DEVICE_CODE] = {"policy", "require-device-code"},
	[KEY_ALLOW_INCOMPLETE] = {"policy", "allow-incomplete"},
	[KEY_MAX_FINDINGS] = {"policy", "max-findings"},
	[KEY_BASELINE] = {"policy", "baseline"},
	[KEY_REQUIRE] = {"targets", "require"},
	[KEY_RULE] = {"allow", "rule"},
	[KEY_KERNEL] = {"allow", "kernel"},
	[KEY_FILE] = {"allow", "file"},
	[KEY_TARGET] = {"allow", "target"},
	[KEY_REASON] = {"allow", "reason"},
	[KEY_EXPIRES] = {"allow", "expires"},
};

static int set_maybe(struct reading *r, const char *v)
{
	r->p->maybe_fails = !strcmp(v, "fail");
	if (!r->p->maybe_fails && strcmp(v, "report"))
		return fail(r, r->line, "'%s' is neither report nor fail", v);
	return 0;
}

static int set_string(char **out, const char *v)
{
	free(*out);
	*out = rck_xstrdup(v);
	return 0;
}

static int set_key(struct reading *r, enum key key, const char *v)
{
	struct rck_policy *p = r->p;
	struct rck_allow *a = r->allow;

	switch (key) {
	case KEY_FAIL_ON:
		return read_fail_on(r, v);
	case KEY_MAYBE:
		return set_maybe(r, v);
	case KEY_REQUIRE_DEVICE_CODE:
		return read_bool(r, v, &p->require_device_code);
	case KEY_ALLOW_INCOMPLETE:
		return read_bool(r, v, &p->allow_incomplete);
	case KEY_MAX_FINDINGS:
		return read_number(r, v, &p->max_findings);
	case KEY_BASELINE:
		free(p->baseline);
		p->baseline = beside(r->name, v);
		return 0;
	case KEY_REQUIRE:
		return read_required(r, v);
	case KEY_RULE:
		return read_rules(r, v, &a->rules);
	case KEY_KERNEL:
		return read_regex(r, v, a);
	case KEY_FILE:
		return set_string(&a->file, v);
	case KEY_TARGET:
		return set_string(&a->target, v);
	case KEY_REASON:
		return set_string(&a->reason, v);
	case KEY_EXPIRES:
		return read_date(r, v, a->expires);
	case KEY_COUNT_:
		break;
	}
	return 0;
}

static int set_rule(struct reading *r, const char *name, const char *v)
{
	const struct rck_rule *rule = rck_rule_find(name);

	if (!rule)
		return fail(r, r->line, "no rule is called '%s'", name);
	return read_level(r, v, &r->p->severity[rule->number]);
}

static int set_limit(struct reading *r, const char *name, const char *v)
{
	struct rck_policy *p = r->p;
	struct rck_policy_limit l = {0};

	for (int i = 0; i < RCK_LIMIT_COUNT_; i++) {
		if (strcmp(name, rck_limit_name((enum rck_limit)i)))
			continue;
		if (read_number(r, v, &l.value))
			return r->err;
		l.limit = (enum rck_limit)i;
		l.target = r->argument ? rck_xstrdup(r->argument) : NULL;
		p->limits =
			rck_xrealloc(p->limits, (p->n_limits + 1) * sizeof(*p->limits));
		p->limits[p->n_limits++] = l;
		return 0;
	}
	return fail(r, r->line, "no limit is called '%s'", name);
}

/* inih's handler: 1 to go on. */
static int on_key(void *user, const char *section, const char *name, const char *value)
{
	struct reading *r = user;

	if (r->err)
		return 0;
	if (!r->section) {
		fail(r, r->line, "'%s' stands before any section", name);
	} else if (!strcmp(r->section, "rules")) {
		set_rule(r, name, value);
	} else if (!strcmp(r->section, "limits")) {
		set_limit(r, name, value);
	} else {
		int key = 0;

		while (key < KEY_COUNT_ && (strcmp(keys[key].section, r->section) ||
						   strcmp(keys[key].name, name)))
			key++;
		if (key == KEY_COUNT_)
			fail(r, r->line, "unknown key '%s' in [%s]", name, section);
		else if (r->seen & 1u << key)
			fail(r, r->line, "'%s' stands twice in [%s]", name, section);
		else
			set_key(r, (enum key)key, value);
		r->seen |= key < KEY_COUNT_ ? 1u << key : 0;
	}
	return !r->err;
}

/* An allow section that is complete. */
static void check_allow(struct reading *r, struct rck_allow *a)
{
	if (!a->rules && !a->kernel && !a->file && !a->target)
		fail(r, a->line,
			"[allow %s] selects nothing: it needs rule, kernel, file or "
			"target",
			a->name);
	else if (!a->reason || !*a->reason)
		fail(r, a->line, "[allow %s] has no reason", a->name);
	a->expired = *a->expires && strcmp(a->expires, r->p->today) < 0;
}

static void end_section(struct reading *r)
{
	if (r->allow && !r->err)
		check_allow(r, r->allow);
	r->allow = NULL;
	free(r->section);
	free(r->argument);
	r->section = r->argument = NULL;
	r->seen = 0;
}

static struct rck_allow *add_allow(struct rck_policy *p, const char *name, unsigned line)
{
	struct rck_allow *a;

	p->allows = rck_xrealloc(p->allows, (p->n_allows + 1) * sizeof(*p->allows));
	a = &p->allows[p->n_allows++];
	*a = (struct rck_allow){.name = rck_xstrdup(name), .line = line};
	return a;
}

/* inih tells of no section that has no keys, and of no line numbers: the reader, which
 * sees every line, knows both. */
static void begin_section(struct reading *r, const char *s, size_t len)
{
	static const char *const known[] = {
		"policy", "rules", "limits", "targets", "allow"};
	const char *end = memchr(s, ']', len);
	_cleanup_free_ char *all = end ? rck_xstrndup(s, (size_t)(end - s)) : NULL;
	const char *at = all;
	bool found = false;

	end_section(r);
	if (!all)
		return; /* inih reports it */
	/* which inih would drop without a word */
	end += 1 + strspn(end + 1, " \t\r");
	if (*end && *end != ';' && *end != '#') {
		fail(r, r->line, "something stands behind [%s]", all);
		return;
	}
	r->section = next_word(&at);
	at += strspn(at, " \t\"");
	if (*at)
		r->argument = rck_xstrndup(at, strcspn(at, "\""));
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		found |= r->section && !strcmp(r->section, known[i]);
	if (!found) {
		fail(r, r->line, "no section is called '%s'", all);
		return;
	}
	if (!strcmp(r->section, "allow"))
		r->allow = add_allow(r->p, r->argument ? r->argument : "", r->line);
	else if (r->argument && strcmp(r->section, "limits"))
		fail(r, r->line, "[%s] takes no name", r->section);
}

/* inih's reader: the next line into str, NULL at the end. */
static char *next_line(char *str, int num, void *user)
{
	struct reading *r = user;
	const char *nl, *p;
	size_t len;

	if (r->err || r->next == r->end)
		return NULL;
	nl = memchr(r->next, '\n', (size_t)(r->end - r->next));
	len = (size_t)((nl ? nl : r->end) - r->next);
	r->line++;
	if (len >= (size_t)num - 1)
		fail(r, r->line, "more than %d bytes long", num - 2);
	else if (memchr(r->next, '\0', len))
		fail(r, r->line, "holds a NUL byte");
	if (r->err)
		return NULL;
	memcpy(str, r->next, len);
	str[len] = '\0';
	r->next = nl ? nl + 1 : r->end;
	p = str + strspn(str, " \t");
	if (*p == '[')
		begin_section(r, p + 1, strlen(p + 1));
	return str;
}

int rck_policy_load_mem(struct rck_policy *p, const char *text, size_t len,
	const char *name, struct rck_diag *diag)
{
	/* the mark that editors of Windows put in front */
	static const char mark[] = "\xef\xbb\xbf";
	size_t skip = len >= 3 && !memcmp(text, mark, 3) ? 3 : 0;
	struct reading r = {.p = p,
		.next = text + skip,
		.end = text + len,
		.name = name,
		.diag = diag};
	int err = ini_parse_stream(next_line, &r, on_key, &r);

	if (err && !r.err)
		fail(&r, err > 0 ? (unsigned)err : r.line,
			"neither a section, a key nor a comment");
	end_section(&r);
	return r.err;
}

int rck_policy_load(struct rck_policy *p, const char *path, struct rck_diag *diag)
{
	_cleanup_fclose_ FILE *f = fopen(path, "re");
	_cleanup_free_ char *text = NULL;
	size_t len;

	if (!f)
		return rck_fail(diag, -errno, RCK_OFFSET_NONE, "cannot open it: %m");
	text = rck_xmalloc(POLICY_MAX);
	len = fread(text, 1, POLICY_MAX, f);
	if (ferror(f))
		return rck_fail(diag, -EIO, RCK_OFFSET_NONE, "cannot read it: %m");
	if (len == POLICY_MAX)
		return rck_fail(diag, -E2BIG, RCK_OFFSET_NONE,
			"it is larger than %u bytes", POLICY_MAX);
	free(p->path);
	p->path = rck_xstrdup(path);
	return rck_policy_load_mem(p, text, len, path, diag);
}

/* ---- the command line, and questions */

int rck_policy_allow_kernel(
	struct rck_policy *p, const char *regex, struct rck_diag *diag)
{
	struct rck_allow *a = add_allow(p, regex, 0);
	char why[128];

	if (compile_kernel(a, regex, why))
		return rck_fail(diag, -EINVAL, RCK_OFFSET_NONE,
			"'%s' is no regular expression: %s", regex, why);
	a->reason = rck_xstrdup("--allow-kernel");
	return 0;
}

int rck_policy_set_severity(
	struct rck_policy *p, const char *assignment, struct rck_diag *diag)
{
	const char *eq = strchr(assignment, '=');
	_cleanup_free_ char *id =
		rck_xstrndup(assignment, eq ? (size_t)(eq - assignment) : 0);
	const struct rck_rule *rule = rck_rule_find(id);

	if (!eq || !rule)
		return rck_fail(diag, -EINVAL, RCK_OFFSET_NONE,
			eq ? "no rule is called '%s'" : "'%s' is not RULE=LEVEL",
			eq ? id : assignment);
	if (rck_severity_parse(eq + 1, &p->severity[rule->number]))
		return rck_fail(diag, -EINVAL, RCK_OFFSET_NONE,
			"'%s' is not one of off, note, warning, error", eq + 1);
	return 0;
}

bool rck_target_matches(const char *glob, const char *target)
{
	char processor[64];

	if (!fnmatch(glob, target, 0))
		return true;
	if (strchr(glob, ':'))
		return false;
	snprintf(processor, sizeof(processor), "%.*s", (int)strcspn(target, ":"), target);
	return !fnmatch(glob, processor, 0);
}

const uint64_t *rck_policy_limit(
	const struct rck_policy *p, enum rck_limit limit, const char *target)
{
	const uint64_t *found = NULL;

	for (size_t i = 0; i < p->n_limits; i++) {
		const struct rck_policy_limit *l = &p->limits[i];

		if (l->limit == limit &&
			(!l->target || rck_target_matches(l->target, target)))
			found = &l->value;
	}
	return found;
}
