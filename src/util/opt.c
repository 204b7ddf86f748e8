#include "util/opt.h"
#include "util/closest.h"
#include "util/msg.h"
#include "util/strbuf.h"
#include "util/term.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int bad_value(const struct rck_opt *o, const char *value, const char *why)
{
	rck_error("option '--%s': '%s' is not %s", o->name, value, why);
	return -EINVAL;
}

static int set_uint(const struct rck_opt *o, const char *value)
{
	unsigned long long v;
	unsigned shift = 0;
	char *end;

	errno = 0;
	v = strtoull(value, &end, 0);
	if (*end && strchr("KMG", *end)) {
		shift = *end == 'K' ? 10 : *end == 'M' ? 20 : 30;
		end++;
	}
	if (errno || !isdigit((unsigned char)*value) || *end || v > (~0ull >> shift))
		return bad_value(o, value, "a whole number");
	*(unsigned long long *)o->value = v << shift;
	return 0;
}

static int set_choice(const struct rck_opt *o, const char *value)
{
	size_t len = strlen(value);
	int i = 0;

	for (const char *p = o->arg; p; i++) {
		const char *end = strchr(p, '|');
		size_t n = end ? (size_t)(end - p) : strlen(p);

		if (n == len && !memcmp(p, value, n)) {
			*(int *)o->value = i;
			return 0;
		}
		p = end ? end + 1 : NULL;
	}
	rck_error("option '--%s': '%s' is not one of %s", o->name, value, o->arg);
	return -EINVAL;
}

static int set_value(const struct rck_opt *o, const char *value)
{
	struct rck_opt_list *list;
	char *end;

	switch (o->type) {
	case RCK_OPT_STRING:
		*(const char **)o->value = value;
		return 0;
	case RCK_OPT_UINT:
		return set_uint(o, value);
	case RCK_OPT_DOUBLE:
		errno = 0;
		*(double *)o->value = strtod(value, &end);
		if (errno || end == value || *end || !isfinite(*(double *)o->value))
			return bad_value(o, value, "a number");
		return 0;
	case RCK_OPT_LIST:
		list = o->value;
		list->items =
			rck_xrealloc(list->items, (list->n + 1) * sizeof(*list->items));
		list->by = rck_xrealloc(list->by, (list->n + 1) * sizeof(*list->by));
		list->by[list->n] = o;
		list->items[list->n++] = value;
		return 0;
	case RCK_OPT_CHOICE:
		return set_choice(o, value);
	default:
		return -EINVAL;
	}
}

static const struct rck_opt *find_long(
	const struct rck_opt *opts, const char *name, size_t len, bool *negated)
{
	*negated = false;
	for (const struct rck_opt *o = opts; o->type; o++)
		if (strlen(o->name) == len && !memcmp(o->name, name, len))
			return o;
	if (len > 3 && !memcmp(name, "no-", 3)) {
		for (const struct rck_opt *o = opts; o->type; o++)
			if (o->negatable && strlen(o->name) == len - 3 &&
				!memcmp(o->name, name + 3, len - 3)) {
				*negated = true;
				return o;
			}
	}
	return NULL;
}

static int parse_long(const struct rck_opt *opts, char **argv, int argc, int *i)
{
	const char *name = argv[*i] + 2;
	const char *eq = strchr(name, '=');
	size_t len = eq ? (size_t)(eq - name) : strlen(name);
	bool negated;
	const struct rck_opt *o = find_long(opts, name, len, &negated);

	if (!o && len == 4 && !memcmp(name, "help", 4) && !eq)
		return RCK_OPT_HELP;
	if (!o) {
		struct rck_closest c;

		rck_closest_init(&c, name, len);
		for (o = opts; o->type; o++)
			rck_closest_try(&c, o->name);
		rck_error("unknown option '--%.*s'%s", (int)len, name,
			rck_closest_hint(&c, "--"));
		return -EINVAL;
	}
	if (o->type == RCK_OPT_FLAG || negated) {
		if (eq) {
			rck_error("option '--%.*s' takes no value", (int)len, name);
			return -EINVAL;
		}
		*(bool *)o->value = !negated;
		return 0;
	}
	if (eq)
		return set_value(o, eq + 1);
	if (*i + 1 >= argc) {
		rck_error("option '--%s' needs a value (%s)", o->name, o->arg);
		return -EINVAL;
	}
	return set_value(o, argv[++*i]);
}

static int parse_short(const struct rck_opt *opts, char **argv, int argc, int *i)
{
	for (const char *p = argv[*i] + 1; *p; p++) {
		const struct rck_opt *o = opts;

		while (o->type && o->short_name != *p)
			o++;
		if (!o->type && *p == 'h')
			return RCK_OPT_HELP;
		if (!o->type) {
			rck_error("unknown option '-%c'", *p);
			return -EINVAL;
		}
		if (o->type == RCK_OPT_FLAG) {
			*(bool *)o->value = true;
			continue;
		}
		if (p[1])
			return set_value(o, p + 1);
		if (*i + 1 >= argc) {
			rck_error("option '-%c' needs a value (%s)", *p, o->arg);
			return -EINVAL;
		}
		return set_value(o, argv[++*i]);
	}
	return 0;
}

int rck_opt_parse(const struct rck_opt *opts, int argc, char **argv, bool stop_at_operand,
	int *n_operands)
{
	int n = 0;
	int i = 1;

	for (; i < argc; i++) {
		const char *a = argv[i];
		int err;

		if (!strcmp(a, "--")) {
			i++;
			break;
		}
		if (a[0] != '-' || !a[1]) {
			if (stop_at_operand)
				break;
			argv[1 + n++] = argv[i];
			continue;
		}
		err = a[1] == '-' ? parse_long(opts, argv, argc, &i)
				  : parse_short(opts, argv, argc, &i);
		if (err)
			return err;
	}
	for (; i < argc; i++)
		argv[1 + n++] = argv[i];
	*n_operands = n;
	return 0;
}

void rck_opt_print_help(const struct rck_opt *opts)
{
	for (const struct rck_opt *o = opts; o->type; o++) {
		_cleanup_strbuf_ struct rck_strbuf left = RCK_STRBUF_INIT;

		if (o->short_name)
			rck_strbuf_addf(&left, "  -%c, --", o->short_name);
		else
			rck_strbuf_adds(&left, "      --");
		if (o->negatable)
			rck_strbuf_adds(&left, "[no-]");
		rck_strbuf_adds(&left, o->name);
		if (o->arg)
			rck_strbuf_addf(&left, " %s", o->arg);
		if (left.len > 26)
			rck_strbuf_addf(&left, "\n%28s", "");
		else
			rck_strbuf_pad(&left, ' ', 28 - left.len);
		rck_term_wrap(&left, o->help, 28, 28, 79);
		fputs(left.buf, stdout);
	}
}

void rck_opt_print_names(const struct rck_opt *opts)
{
	for (const struct rck_opt *o = opts; o->type; o++) {
		if (o->short_name)
			printf("-%c\n", o->short_name);
		printf("--%s%s%s\n", o->name, o->arg ? "=" : "",
			o->type == RCK_OPT_CHOICE ? o->arg : "");
		if (o->negatable)
			printf("--no-%s\n", o->name);
	}
}
