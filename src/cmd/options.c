/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Command line → struct options, by the option table; help from the same rows.
 * Must not know what an option means.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

/* getopt values: rows count from here, so that they never meet a letter */
#define ROW_BASE 256

const struct command *command_find(const char *name)
{
	for (size_t i = 0; i < command_count; i++) {
		const struct command *cmd = &command_table[i];

		if (!strcmp(cmd->name, name))
			return cmd;
		for (const char *const *a = cmd->aliases; a && *a; a++)
			if (!strcmp(*a, name))
				return cmd;
	}
	return NULL;
}

static const struct option_row *row_of(int value)
{
	if (value >= ROW_BASE)
		return &option_table[value - ROW_BASE];
	for (size_t i = 0; i < option_count; i++)
		if (option_table[i].letter == value)
			return &option_table[i];
	return NULL;
}

static void fill_getopt(struct option *longs, char *shorts)
{
	char *p = shorts;

	*p++ = ':';
	for (size_t i = 0; i < option_count; i++) {
		const struct option_row *row = &option_table[i];
		bool arg = row->kind != OPT_FLAG;

		longs[i] = (struct option){ row->name, row->kind == OPT_WORD ? optional_argument : arg ? required_argument : no_argument,
					    NULL, ROW_BASE + (int)i };
		if (row->letter) {
			*p++ = row->letter;
			if (arg)
				*p++ = ':';
		}
	}
	longs[option_count] = (struct option){ 0 };
	*p = '\0';
}

static int bad_value(const struct option_row *row, const char *value, const char *wanted)
{
	log_error("--%s: '%s' is not %s.", row->name, value, wanted);
	return -EINVAL;
}

static int store_number(const struct option_row *row, const char *value, uint64_t *out)
{
	unsigned int min = row->kind == OPT_POSITIVE;
	char wanted[64];
	uint64_t n = 0;

	snprintf(wanted, sizeof(wanted), "a whole number from %u to %llu", min, (unsigned long long)row->max);
	if (parse_u64(value, row->max, &n) || n < min)
		return bad_value(row, value, wanted);
	*out = n;
	return 0;
}

static int store(const struct option_row *row, const char *value, struct options *o)
{
	void *field = (char *)o + row->field;
	uint64_t n = 0;
	int r = 0;

	switch (row->kind) {
	case OPT_FLAG:
		*(bool *)field = true;
		break;
	case OPT_STRING:
		*(const char **)field = value;
		break;
	case OPT_WORD:
		*(const char **)field = value ? value : "auto";
		break;
	case OPT_NUMBER:
	case OPT_POSITIVE:
		r = store_number(row, value, field);
		break;
	case OPT_SIGNED:
		r = store_number(row, value, &n);
		if (!r)
			*(int64_t *)field = (int64_t)n;
		break;
	case OPT_SIZE:
		if (parse_size(value, field))
			r = bad_value(row, value, "a size such as 4096, 64K or 1MiB");
		break;
	}
	return r;
}

/* An option that belongs to other commands only is an error, as in cryptsetup. */
static int check_belongs(const struct command *cmd, const bool *given)
{
	for (size_t i = 0; i < option_count; i++) {
		if (!given[i] || option_table[i].commands == CMD_GLOBAL || option_table[i].commands & cmd->bit)
			continue;
		log_error("Option --%s is not allowed with '%s'. See 'hwluks %s --help'.", option_table[i].name, cmd->name,
			  cmd->name);
		return -EINVAL;
	}
	return 0;
}

static int check_args(const struct command *cmd, const struct cmd_context *c)
{
	if (c->n_args < cmd->min_args || c->n_args > cmd->max_args) {
		log_error("'%s' takes %s; %zu argument%s given. See 'hwluks %s --help'.", cmd->name,
			  *cmd->args ? cmd->args : "no arguments", c->n_args, c->n_args == 1 ? " was" : "s were", cmd->name);
		return -EINVAL;
	}
	if (c->opt.sysroot && !cmd->works_on_sysroot) {
		log_error("'%s' works on this machine only; --sysroot goes with detect, load --dry-run, advise, doctor and initramfs modules.", cmd->name);
		return -EINVAL;
	}
	return 0;
}

static int refuse_option(int got, char **argv)
{
	const struct option_row *row = row_of(optopt);

	if (got == ':' && row)
		log_error("Option --%s needs %s.", row->name, row->value);
	else
		log_error("Unknown option '%s'. See 'hwluks --help'.", argv[optind - 1]);
	return -EINVAL;
}

static bool has_help_letter(const char *arg)
{
	return arg[0] == '-' && arg[1] != '-' && strchr(arg, '?');
}

/*
 * '?' is the letter of --help and also what getopt answers to an unknown option. It names an unknown letter in optopt and
 * leaves 0 there for an unknown word; a letter stands in the argument just done, or in the one under way ("-?v").
 */
static bool is_help_letter(int argc, char **argv)
{
	return !optopt && (has_help_letter(argv[optind - 1]) || (optind < argc && has_help_letter(argv[optind])));
}

/*
 * getopt_long takes abbreviations. Not here: one that is unique today may mean something else tomorrow, and this tool
 * destroys data. A value that starts with two dashes has to be given with '='.
 */
static int refuse_abbreviations(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		size_t n = strcspn(argv[i], "="), row = 0;

		if (strncmp(argv[i], "--", 2))
			continue;
		while (row < option_count &&
		       (strlen(option_table[row].name) != n - 2 || strncmp(option_table[row].name, argv[i] + 2, n - 2)))
			row++;
		if (row == option_count) {
			log_error("Unknown option '%.*s'. See 'hwluks --help'.", (int)n, argv[i]);
			return -EINVAL;
		}
	}
	return 0;
}

int options_parse(int argc, char **argv, struct cmd_context *c, const struct command **cmd)
{
	struct option *longs = xcalloc(option_count + 1, sizeof(*longs));
	char *shorts = xcalloc(2 * option_count + 2, 1);
	bool *given = xcalloc(option_count, sizeof(*given));
	int got, r = refuse_abbreviations(argc, argv);

	c->opt.key_slot = c->opt.token_id = -1;
	fill_getopt(longs, shorts);
	while (!r && (got = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		const struct option_row *row = got == '?' && !is_help_letter(argc, argv) ? NULL : row_of(got);

		if (!row) {
			r = refuse_option(got, argv);
			break;
		}
		given[row - option_table] = true;
		r = store(row, optarg, &c->opt);
	}
	*cmd = NULL;
	if (!r && optind < argc) {
		*cmd = command_find(argv[optind]);
		if (!*cmd) {
			log_error("Unknown command '%s'. See 'hwluks --help'.", argv[optind]);
			r = -EINVAL;
		}
		c->arg = (const char **)argv + optind + 1;
		c->n_args = (size_t)(argc - optind - 1);
	}
	if (!r && *cmd && !c->opt.help)
		r = check_belongs(*cmd, given);
	if (!r && *cmd && !c->opt.help)
		r = check_args(*cmd, c);
	free(longs);
	free(shorts);
	free(given);
	return r;
}

/* --- help -------------------------------------------------------------------------------------- */

#define HELP_INDENT 33

static void print_option(FILE *f, const struct option_row *row)
{
	char first[96];
	int n;

	if (row->letter)
		n = snprintf(first, sizeof(first), "  -%c, --%s", row->letter, row->name);
	else
		n = snprintf(first, sizeof(first), "      --%s", row->name);
	if (row->value)
		n += snprintf(first + n, sizeof(first) - (size_t)n, " %s", row->value);
	if (n >= HELP_INDENT) {
		fprintf(f, "%s\n", first);
		n = 0;
		*first = '\0';
	}
	snprintf(first + n, sizeof(first) - (size_t)n, "%*s", HELP_INDENT - n, "");
	print_wrapped(f, first, HELP_INDENT, row->help);
}

static void print_options(FILE *f, unsigned int bit)
{
	for (size_t i = 0; i < option_count; i++)
		if (option_table[i].commands & bit)
			print_option(f, &option_table[i]);
}

static bool has_options(unsigned int bit)
{
	for (size_t i = 0; i < option_count; i++)
		if (option_table[i].commands & bit)
			return true;
	return false;
}

/* Without blanks at its end. */
static void puts_line(FILE *f, const char *s)
{
	size_t n = strlen(s);

	while (n && s[n - 1] == ' ')
		n--;
	fprintf(f, "%.*s\n", (int)n, s);
}

void print_usage(FILE *f)
{
	fputs("Usage: hwluks [OPTION...] COMMAND [ARGUMENT...]\n"
	      "Disk encryption on hardware that can do it, and the truth about what does it.\n\nCommands:\n", f);
	for (size_t i = 0; i < command_count; i++) {
		char first[64];

		snprintf(first, sizeof(first), "  %-7s %-12s ", command_table[i].name, command_table[i].args);
		if (strlen(first) > 23) {
			puts_line(f, first);
			snprintf(first, sizeof(first), "%23s", "");
		}
		print_wrapped(f, first, 23, command_table[i].summary);
	}
	fputs("\nOptions of all commands:\n", f);
	print_options(f, CMD_GLOBAL);
	fputs("\n'hwluks COMMAND --help' shows the options of a command; hwluks(8) has the rest.\n"
	      "luksFormat, luksOpen and luksClose stand for format, open and close.\n", f);
}

void print_command_help(const struct command *cmd)
{
	cleanup_free char *text = xstrdup(cmd->details);

	printf("Usage: hwluks [OPTION...] %s %s\n\n", cmd->name, cmd->args);
	for (char *p = strtok(text, "\n"); p; p = strtok(NULL, "\n"))
		print_wrapped(stdout, "", 0, p);
	if (has_options(cmd->bit)) {
		puts("\nOptions:");
		print_options(stdout, cmd->bit);
	}
	puts("\nOptions of all commands:");
	print_options(stdout, CMD_GLOBAL);
}
