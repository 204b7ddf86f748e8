#include "buildsys/ask.h"

#include "buildsys/words.h"
#include "container/container.h"
#include "util/spawn.h"
#include "util/strbuf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A -cc1 line for the device (-fcuda-is-device serves HIP too): its level is the last -O.
 */
static bool read_cc1(const struct rck_strv *words, enum rck_olevel *level)
{
	bool cc1 = false, device = false;

	*level = RCK_OLEVEL_0;
	for (size_t i = 0; i < words->n; i++) {
		const char *w = words->items[i];

		cc1 |= !strcmp(w, "-cc1");
		device |= !strcmp(w, "-fcuda-is-device");
		if (!strcmp(w, "-mllvm"))
			i++;
		else if (rck_olevel_of(w))
			*level = rck_olevel_of(w);
	}
	return cc1 && device;
}

int rck_ask_read(const char *text, enum rck_olevel *level)
{
	bool found = false;

	while (*text) {
		_cleanup_strv_ struct rck_strv words = {NULL, 0};
		size_t n = strcspn(text, "\n");
		enum rck_olevel one;

		rck_words_split(&words, text, n, RCK_QUOTING_POSIX);
		if (read_cc1(&words, &one) && (!found || one < *level)) {
			*level = one;
			found = true;
		}
		text += n;
		text += *text == '\n';
	}
	return found ? 0 : -ENODATA;
}

/* Options that write a file; the second word of each goes too when it stands alone. */
static bool is_output(const char *w, bool *alone)
{
	static const char *const options[] = {"-o", "-MF", "-MJ", "-dependency-file",
		"-serialize-diagnostics", "--output"};

	*alone = true;
	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
		if (!strcmp(w, options[i]))
			return true;
	*alone = false;
	return !strcmp(w, "-MD") || !strcmp(w, "-MMD") || !strcmp(w, "-MP") ||
	       !strncmp(w, "--output=", 9) || !strncmp(w, "-save-temps", 11);
}

int rck_ask_driver(const struct rck_strv *words, size_t driver_at, const char *directory,
	enum rck_olevel *level, struct rck_diag *diag)
{
	_cleanup_strv_ struct rck_strv argv = {NULL, 0};
	_cleanup_strbuf_ struct rck_strbuf text = RCK_STRBUF_INIT;
	struct rck_spawn s = {.out = &text, .err = &text, .timeout = 20};
	int err;

	for (size_t i = driver_at; i < words->n; i++) {
		bool alone;

		if (!is_output(words->items[i], &alone))
			rck_strv_add(&argv, words->items[i]);
		else if (alone)
			i++;
		if (i == driver_at)
			rck_strv_add(&argv, "-###");
	}
	rck_strv_add(&argv, "-o");
	rck_strv_add(&argv, "/dev/null");
	s.argv = rck_strv_list(&argv);
	s.cwd = *directory ? directory : NULL;
	err = rck_spawn_run(&s);
	if (err)
		return rck_fail(diag, err, RCK_OFFSET_NONE, "cannot ask '%s': %s",
			words->items[driver_at], strerror(-err));
	if (s.timed_out)
		return rck_fail(diag, -ETIMEDOUT, RCK_OFFSET_NONE,
			"'%s -###' did not answer within 20 s", words->items[driver_at]);
	err = rck_ask_read(text.buf, level);
	if (err)
		return rck_fail(diag, err, RCK_OFFSET_NONE,
			"'%s -###' shows no device compilation", words->items[driver_at]);
	return 0;
}
