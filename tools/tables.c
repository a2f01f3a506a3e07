/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Prints the tables that the documentation must agree with, one fact a line, for tests/cli/docs.bats:
 *   command NAME | alias NAME | option COMMAND --name [-x] [VALUE] | global --name [-x] [VALUE] | reason ID MEANING
 * Must not know any of them by name.
 */
#include <stdio.h>

#include "cmd/cmd.h"

static void print_option(const char *first, const struct option_row *row)
{
	printf("%s --%s", first, row->name);
	if (row->letter)
		printf(" -%c", row->letter);
	if (row->value)
		printf(" %s", row->value);
	putchar('\n');
}

int main(void)
{
	for (size_t i = 0; i < command_count; i++) {
		const struct command *cmd = &command_table[i];
		char first[64];

		printf("command %s\n", cmd->name);
		for (const char *const *a = cmd->aliases; a && *a; a++)
			printf("alias %s\n", *a);
		snprintf(first, sizeof(first), "option %s", cmd->name);
		for (size_t k = 0; k < option_count; k++)
			if (option_table[k].commands & cmd->bit)
				print_option(first, &option_table[k]);
	}
	for (size_t k = 0; k < option_count; k++)
		if (option_table[k].commands == CMD_GLOBAL)
			print_option("global", &option_table[k]);
	for (int r = REASON_NONE + 1; r < REASON_COUNT; r++)
		printf("reason %s %s\n", reason_id((enum reason_code)r), reason_meaning((enum reason_code)r));
	return 0;
}
