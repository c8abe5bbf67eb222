/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Command line options from one table: getopt_long(), --help and the completions
 * of shells are made from it, so that they cannot differ.
 */
#ifndef TOOLS_OPTIONS_H
#define TOOLS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
	EXIT_RUNTIME = 1,	/* the request failed */
	EXIT_USAGE = 2,		/* wrong arguments */
};

/* struct option_spec.key of options without a letter: from here on */
#define OPTION_LONG_ONLY 256

struct option_spec {
	int key;		/* the letter, or OPTION_LONG_ONLY + n; unique */
	const char *name;	/* without dashes; NULL ends the table */
	const char *arg;	/* name of the value; NULL: takes none */
	const char *help;
	const char *expects;	/* what the value must be, or why set() of an
				 * option without one may fail: for the message
				 */
	/* 0 or -EINVAL; @value is NULL when arg is.  NULL: see options_parse() */
	int (*set)(void *config, const char *value);
	const char *words;	/* for completion: what the value can be, with
				 * spaces between, or WORDS_*; NULL: anything
				 */
};

/* Words that a shell finds itself */
#define WORDS_FILES	"@files"
#define WORDS_PIDS	"@pids"
#define WORDS_CGROUPS	"@cgroups"	/* directories of the hierarchy */
#define WORDS_CPUS	"@cpus"

/* A word of a command's operand, and the words after it.  A NULL word ends a table. */
struct operand_spec {
	const char *word;
	const char *next;	/* as option_spec.words */
};

struct command_spec {
	const char *name;	/* NULL ends the table */
	const char *operands;	/* for --help; NULL: none */
	const char *help;	/* may have several lines */
	const char *words;	/* of the first operand, as option_spec.words */
	const struct operand_spec *then;	/* of the second; or NULL */
};

struct program;

/*
 * The sub-command of a program for the first argument @name.  A NULL name ends a table.
 */
struct subprogram {
	const char *name;
	const struct program *program;	/* its name: "PROGRAM NAME" */
	const char *help;		/* one line */
};

struct program {
	const char *name;
	const char *synopsis;	/* the synopsis after the name, before the commands */
	const char *about;	/* for --help, whole lines */
	const struct command_spec *commands;	/* or NULL */
	const struct subprogram *subprograms;	/* or NULL */
	const struct option_spec *options;
	const char *more;	/* for --help, below the options; or NULL */
	bool strict;		/* options come before operands */
};

enum options_result {
	OPTIONS_RUN,		/* optind is the first operand */
	OPTIONS_HELP,		/* -h was given */
	OPTIONS_VERSION,	/* -V was given */
	OPTIONS_BAD,		/* a message was printed on @err: exit with EXIT_USAGE */
};

/*
 * Parse argv.  Options -h and -V of the table have no set and end the parsing.
 * Options may follow operands, unless the program is strict.
 */
enum options_result options_parse(const struct program *program, void *config,
				  int argc, char **argv, FILE *err);

void options_help(const struct program *program, FILE *out);

/*
 * For any result but OPTIONS_RUN: print the help, or "@name VERSION", on standard output.
 * Returns the exit status; a reader that closed the pipe is no failure.
 */
int options_end(const struct program *program, const char *name, enum options_result result);

/* One line "name: message", then how it is used.  Returns EXIT_USAGE. */
int options_usage(const struct program *program, FILE *err,
		  const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Numbers, whole strings only: no sign, no spaces, nothing after the number.
 * Each returns 0 or -EINVAL and stores only on success.
 */
int parse_u64(const char *text, uint64_t min, uint64_t max, uint64_t *value);

/* Decimal seconds, such as "0.25", to nanoseconds. */
int parse_seconds(const char *text, uint64_t min_ns, uint64_t max_ns,
		  uint64_t *ns);

/* A number and its unit, such as "500us", "1.5ms", "1s", to nanoseconds. */
int parse_duration(const char *text, uint64_t *ns);

/* A number and s, m, h or d, or seconds without one: "90", "1.5s", "10m". */
int parse_span(const char *text, uint64_t min_ns, uint64_t max_ns, uint64_t *ns);

/* Bytes, with k, M, G or T for 1000 and its powers, such as "500M", "1.5G". */
int parse_bytes(const char *text, uint64_t min, uint64_t max, uint64_t *bytes);

/* Of the option --peak: bytes a second. */
#define PEAK_MIN	1000000ULL
#define PEAK_MAX	1000000000000000ULL
#define PEAK_EXPECTS	"bytes a second from 1M to 1000T, such as 500M or 40G"

/* A number and K, M or G, powers of 1024, or bytes without one. */
int parse_size(const char *text, uint64_t min, uint64_t max, uint64_t *bytes);

#endif
