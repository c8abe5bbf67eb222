// SPDX-License-Identifier: GPL-2.0-or-later
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include <cmt/cmt.h>

#include "format.h"

#define MAX_OPTIONS 32
#define HELP_COLUMN 26

static void print_usage(const struct program *program, FILE *out)
{
	const struct command_spec *command = program->commands;
	const struct subprogram *sub;

	fprintf(out, "usage: %s %s", program->name, program->synopsis);
	for (; command && command->name; command++)
		fprintf(out, "%s %s", command == program->commands ? "" : " |",
			command->name);
	fputc('\n', out);
	if (!program->subprograms || !program->subprograms->name)
		return;
	fprintf(out, "       %s", program->name);
	for (sub = program->subprograms; sub->name; sub++)
		fprintf(out, "%s %s", sub == program->subprograms ? "" : " |",
			sub->name);
	fputs(" ...\n", out);
}

int options_usage(const struct program *program, FILE *err,
		  const char *format, ...)
{
	char text[PATH_MAX], shown[4 * sizeof(text)];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	escape_text(shown, sizeof(shown), text, ESCAPE_ASCII);
	fprintf(err, "%s: %s\n", program->name, shown);
	print_usage(program, err);
	return EXIT_USAGE;
}

static void help_option(const struct option_spec *spec, FILE *out)
{
	char left[64];
	int n = 0;

	if (spec->key < OPTION_LONG_ONLY)
		n = snprintf(left, sizeof(left), "-%c, ", spec->key);
	else
		n = snprintf(left, sizeof(left), "    ");
	snprintf(left + n, sizeof(left) - n, "--%s%s%s", spec->name,
		 spec->arg ? " " : "", spec->arg ? spec->arg : "");
	fprintf(out, "  %-*s %s\n", HELP_COLUMN, left, spec->help);
}

/* Names and operands that are long have a line of their own. */
static void help_command(const struct command_spec *command, FILE *out)
{
	const char *line = command->help, *end;
	char left[64];

	snprintf(left, sizeof(left), "%s%s%s", command->name,
		 command->operands ? " " : "",
		 command->operands ? command->operands : "");
	if (strlen(left) > HELP_COLUMN) {
		fprintf(out, "  %s\n", left);
		left[0] = '\0';
	}
	for (; *line; line = *end ? end + 1 : end) {
		end = strchrnul(line, '\n');
		fprintf(out, "  %-*s %.*s\n", HELP_COLUMN, left,
			(int)(end - line), line);
		left[0] = '\0';
	}
}

void options_help(const struct program *program, FILE *out)
{
	const struct command_spec *command = program->commands;
	const struct option_spec *spec;
	const struct subprogram *sub;

	print_usage(program, out);
	fprintf(out, "%s\n", program->about);
	for (; command && command->name; command++)
		help_command(command, out);
	for (sub = program->subprograms; sub && sub->name; sub++)
		fprintf(out, "  %-*s %s\n", HELP_COLUMN, sub->name, sub->help);
	if (program->commands || program->subprograms)
		fputc('\n', out);
	for (spec = program->options; spec->name; spec++)
		help_option(spec, out);
	if (program->more)
		fprintf(out, "\n%s", program->more);
}

/* The tables of getopt_long(): @letters begins with "+" where options come first. */
static void getopt_tables(const struct program *program, char *letters,
			  struct option *longs)
{
	const struct option_spec *spec = program->options;

	if (program->strict)
		*letters++ = '+';
	*letters++ = ':';
	for (; spec->name; spec++, longs++) {
		*longs = (struct option){
			.name = spec->name,
			.has_arg = spec->arg ? required_argument : no_argument,
			.val = spec->key,
		};
		if (spec->key >= OPTION_LONG_ONLY)
			continue;
		*letters++ = (char)spec->key;
		if (spec->arg)
			*letters++ = ':';
	}
	*letters = '\0';
	*longs = (struct option){ 0 };
}

static const struct option_spec *find(const struct option_spec *spec, int key)
{
	while (spec->name && spec->key != key)
		spec++;
	return spec->name ? spec : NULL;
}

/* An option that getopt_long() refused: optopt is 0 for an unknown long option. */
static enum options_result bad_option(const struct program *program, int why,
				      char **argv, FILE *err)
{
	const struct option_spec *spec = find(program->options, optopt);

	if (why == ':')
		options_usage(program, err, "--%s: needs a value (%s)",
			      spec->name, spec->arg);
	else if (spec)
		options_usage(program, err, "--%s: takes no value", spec->name);
	else if (optopt)
		options_usage(program, err, "-%c: unknown option", optopt);
	else
		options_usage(program, err, "%s: unknown or ambiguous option",
			      argv[optind - 1]);
	return OPTIONS_BAD;
}

enum options_result options_parse(const struct program *program, void *config,
				  int argc, char **argv, FILE *err)
{
	char letters[2 * MAX_OPTIONS + 3];
	struct option longs[MAX_OPTIONS + 1];
	const struct option_spec *spec;
	int key;

	getopt_tables(program, letters, longs);
	opterr = 0;
	optind = 0;
	while ((key = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		if (key == '?' || key == ':')
			return bad_option(program, key, argv, err);
		if (key == 'h')
			return OPTIONS_HELP;
		if (key == 'V')
			return OPTIONS_VERSION;
		spec = find(program->options, key);
		if (!spec->set(config, optarg))
			continue;
		if (spec->arg)
			options_usage(program, err, "--%s: '%s' is not %s",
				      spec->name, optarg, spec->expects);
		else
			options_usage(program, err, "--%s: %s", spec->name,
				      spec->expects);
		return OPTIONS_BAD;
	}
	return OPTIONS_RUN;
}

int options_end(const struct program *program, const char *name, enum options_result result)
{
	if (result == OPTIONS_BAD)
		return EXIT_USAGE;
	signal(SIGPIPE, SIG_IGN);
	/* a print fails before fflush(), where lines are written one by one */
	errno = 0;
	if (result == OPTIONS_HELP)
		options_help(program, stdout);
	else
		printf("%s %s\n", name, cmt_version());
	if ((!fflush(stdout) && !ferror(stdout)) || errno == EPIPE)
		return 0;
	fprintf(stderr, "%s: cannot print: %s\n", program->name, strerror(errno ? errno : EIO));
	return EXIT_RUNTIME;
}

int parse_u64(const char *text, uint64_t min, uint64_t max, uint64_t *value)
{
	uint64_t n = 0;

	if (!*text)
		return -EINVAL;
	for (; *text; text++) {
		if (*text < '0' || *text > '9' ||
		    __builtin_mul_overflow(n, 10, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(*text - '0'), &n))
			return -EINVAL;
	}
	if (n < min || n > max)
		return -EINVAL;
	*value = n;
	return 0;
}

/*
 * Decimal digits with at most one point, times @unit.  Digits finer than 1 are
 * refused unless they are 0.  Sets *end behind the number.
 */
static int parse_decimal(const char *text, uint64_t unit, const char **end,
			 uint64_t *value)
{
	uint64_t whole = 0, part = 0, scale = unit;
	bool digits = false, point = false;

	for (;; text++) {
		uint64_t digit = (uint64_t)(*text - '0');

		if (*text == '.' && !point) {
			point = true;
			continue;
		}
		if (*text < '0' || *text > '9')
			break;
		digits = true;
		if (!point) {
			if (__builtin_mul_overflow(whole, 10, &whole) ||
			    __builtin_add_overflow(whole, digit, &whole))
				return -EINVAL;
			continue;
		}
		if (digit && (!scale || scale % 10))
			return -EINVAL;
		scale /= 10;
		part += digit * scale;
	}
	if (!digits || __builtin_mul_overflow(whole, unit, &whole) ||
	    __builtin_add_overflow(whole, part, value))
		return -EINVAL;
	*end = text;
	return 0;
}

int parse_seconds(const char *text, uint64_t min_ns, uint64_t max_ns,
		  uint64_t *ns)
{
	const char *end;
	uint64_t value;

	if (parse_decimal(text, 1000000000, &end, &value) || *end ||
	    value < min_ns || value > max_ns)
		return -EINVAL;
	*ns = value;
	return 0;
}

struct unit {
	const char *name;	/* "": no unit */
	uint64_t factor;
};

/* A number and one of @units, which end with a factor of 0. */
static int parse_unit(const char *text, const struct unit *units, uint64_t min,
		      uint64_t max, uint64_t *value)
{
	const char *name = text + strspn(text, "0123456789."), *end;
	uint64_t n;

	while (units->factor && strcmp(name, units->name))
		units++;
	if (!units->factor || parse_decimal(text, units->factor, &end, &n) ||
	    end != name || n < min || n > max)
		return -EINVAL;
	*value = n;
	return 0;
}

int parse_duration(const char *text, uint64_t *ns)
{
	static const struct unit units[] = {
		{ "ns", 1 }, { "us", 1000 }, { "ms", 1000000 },
		{ "s", 1000000000 }, { NULL, 0 },
	};

	return parse_unit(text, units, 0, UINT64_MAX, ns);
}

int parse_span(const char *text, uint64_t min_ns, uint64_t max_ns, uint64_t *ns)
{
	static const struct unit units[] = {
		{ "ms", 1000000 }, { "s", 1000000000 }, { "m", 60000000000 },
		{ "h", 3600000000000 }, { "d", 86400000000000 },
		{ "", 1000000000 }, { NULL, 0 },
	};

	return parse_unit(text, units, min_ns, max_ns, ns);
}

int parse_size(const char *text, uint64_t min, uint64_t max, uint64_t *bytes)
{
	static const struct unit units[] = {
		{ "K", 1 << 10 }, { "M", 1 << 20 }, { "G", 1 << 30 }, { "", 1 },
		{ NULL, 0 },
	};

	if (strchr(text, '.'))
		return -EINVAL;
	return parse_unit(text, units, min, max, bytes);
}

int parse_bytes(const char *text, uint64_t min, uint64_t max, uint64_t *bytes)
{
	static const struct unit units[] = {
		{ "k", 1000 }, { "M", 1000000 }, { "G", 1000000000 },
		{ "T", 1000000000000 }, { "", 1 }, { NULL, 0 },
	};

	return parse_unit(text, units, min, max, bytes);
}
