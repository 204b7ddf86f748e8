#include "cmd/commands.h"

const struct rck_cmd *const rck_commands[] = {
	NULL,
};
