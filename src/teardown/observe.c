#include "teardown/observe.h"
#include "container/container.h"
#include "teardown/preload.h"
#include "teardown/preloads.h"
#include "util/cleanup.h"
#include "util/spawn.h"
#include "util/strv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT 60.0 /* seconds */
#define TAIL  2000 /* bytes */

/* "... Allocate hsa host memory 0x7f72a11e9000, size 0xa0f038": the last before the
 * buffer of the same address was "Created". */
struct allocation {
	char address[32];
	unsigned long long size;
};

static void on_event(struct rck_observation *o, const char *line)
{
	struct rck_said said;

	if (!rck_preloads_parse(line, &said))
		return;
	if (!strcmp(said.event, RCK_SAYS_LIBRARY)) {
		rck_preloads_keep_library(said.path, &o->hip, &o->hsa);
	} else if (said.numbers != 2) {
		return;
	} else if (!strcmp(said.event, RCK_SAYS_REORDERED)) {
		o->destructors = said.a;
		o->listener_destructor = said.b;
	} else if (!strcmp(said.event, RCK_SAYS_NOT_REORDERED)) {
		o->destructors = said.a;
	}
}

static void on_line(struct rck_observation *o, struct allocation *last, const char *line)
{
	const char *at;
	char address[32];

	on_event(o, line);
	if (strstr(line, "Launched hostcall listener"))
		o->listener = true;
	if (strstr(line, "Terminated hostcall listener"))
		o->terminated = true;
	at = strstr(line, "Allocate hsa host memory ");
	if (at)
		sscanf(at, "Allocate hsa host memory %31[^,], size %llx", last->address,
			&last->size);
	at = strstr(line, "Created hostcall buffer ");
	if (at && sscanf(at, "Created hostcall buffer %31s", address) == 1 &&
		!strcmp(address, last->address))
		o->buffer = last->size;
}

static void read_log(struct rck_observation *o, char *text)
{
	struct allocation last = {0};
	char *save = NULL;

	for (char *line = strtok_r(text, "\n", &save); line;
		line = strtok_r(NULL, "\n", &save))
		on_line(o, &last, line);
}

int rck_observe(const char *const *argv, const char *const *env,
	struct rck_observation *o, struct rck_diag *diag)
{
	_cleanup_strbuf_ struct rck_strbuf log = RCK_STRBUF_INIT;
	_cleanup_strv_ struct rck_strv all = {NULL, 0};
	_cleanup_free_ char *preload = NULL;
	struct rck_spawn s = {.argv = argv,
		.out = &log,
		.err = &log,
		.timeout = LIMIT,
		.limit = 64u << 20};
	int err;

	*o = (struct rck_observation){.destructors = -1, .listener_destructor = -1};
	err = rck_preloads_find(true, &preload, diag);
	if (err)
		return err;
	rck_strv_add_all(&all, env);
	rck_strv_add(&all, "AMD_LOG_LEVEL=4");
	rck_strv_addf(&all, "LD_PRELOAD=%s", preload);
	/* its events go where its log goes */
	rck_strv_add(&all, RCK_PRELOAD_FD "=2");
	s.env = rck_strv_list(&all);
	err = rck_spawn_run(&s);
	if (err)
		return rck_fail(diag, err, RCK_OFFSET_NONE, "cannot start '%s': %s",
			argv[0], strerror(-err));
	o->ended = !s.timed_out;
	o->status = s.status;
	o->output = rck_xstrdup(log.len > TAIL ? log.buf + log.len - TAIL : log.buf);
	read_log(o, log.buf);
	return 0;
}

void rck_observation_release(struct rck_observation *o)
{
	free(o->hip);
	free(o->hsa);
	free(o->output);
	*o = (struct rck_observation){0};
}
