/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * main: options, dispatch, and the one table that turns errors into exit codes.
 * Must not know what a command does.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "util/util.h"
#include "vol/vol.h"

/* cryptsetup(8), "RETURN CODES" */
static int exit_code(int r)
{
	switch (r) {
	case -EPERM:
	case -EACCES:
		return 2;
	case -ENOMEM:
		return 3;
	case -ENODEV:
	case -ENOTBLK:
	case -ENXIO:
	case -EMEDIUMTYPE:
		return 4;
	case -EEXIST:
	case -EBUSY:
		return 5;
	case -EINTR:
		return 130;
	default:
		return r < 0 ? 1 : r;
	}
}

static int run(const struct command *cmd, struct cmd_context *c)
{
	int r = sysroot_open(&c->root, c->opt.sysroot);

	if (r) {
		log_error("Cannot use %s as a recorded machine: %s.", c->opt.sysroot ? c->opt.sysroot : "/", strerror(-r));
		return r == -ENOENT || r == -ENOTDIR ? -EINVAL : r;
	}
	if (c->opt.replay)
		r = replay_begin(c, c->opt.replay);
	else if (c->opt.record)
		r = record_machine(c, c->opt.record);
	if (!r)
		r = cmd->run(c);
	sysroot_close(&c->root);
	replay_end(c);
	return r;
}

int main(int argc, char **argv)
{
	struct cmd_context c = { 0 };
	const struct command *cmd = NULL;
	int r;

	secret_protect_process();
	r = options_parse(argc, argv, &c, &cmd);
	if (r)
		return exit_code(r);
	log_set_level(c.opt.debug ? LOG_LEVEL_DEBUG : c.opt.verbose ? LOG_LEVEL_VERBOSE : LOG_LEVEL_NOTE);
	if (c.opt.version)
		puts("hwluks " HWLUKS_VERSION);
	else if (c.opt.help && cmd)
		print_command_help(cmd);
	else if (c.opt.help)
		print_usage(stdout);
	else if (!cmd) {
		print_usage(stderr);
		return 1;
	} else {
		r = exit_code(run(cmd, &c));
		log_verbose("Command finished with code %d.", r);
	}
	errno = 0;
	if (fflush(stdout) || ferror(stdout)) {
		log_error("Cannot write the result%s%s.", errno ? ": " : "", errno ? strerror(errno) : "");
		return r ? r : 1;
	}
	return r;
}
