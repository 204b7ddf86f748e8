#include "cmd/commands.h"

const struct rck_cmd *const rck_commands[] = {
	&rck_cmd_inspect,
	&rck_cmd_lint,
	&rck_cmd_diff,
	&rck_cmd_build,
	&rck_cmd_ab,
	&rck_cmd_stress,
	&rck_cmd_soft,
	&rck_cmd_flags,
	&rck_cmd_doctor,
	NULL,
};
