// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes the completion of a program for a shell, from the program's tables.
 * Runs while cmt is built.  usage: completions bash|zsh|fish PROGRAM FILE
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cmtctl.h"
#include "cmtstat.h"
#include "exporter.h"

#define FOREACH(spec, table, name) \
	for (spec = table; spec && spec->name; spec++)

/* @text in a line, in single quotes, with a backslash before each of @special. */
static void quote(const char *text, const char *special)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", stdout);
		else
			printf("%s%c", strchr(special, *text) ? "\\" : "",
			       *text == '\n' ? ' ' : *text);
	}
}

/* How a shell is told to find values of a kind by itself. */
struct finder {
	const char *words;	/* WORDS_*; NULL ends the table */
	const char *how;
};

static const char *find_how(const struct finder *finder, const char *words)
{
	while (finder->words && strcmp(finder->words, words))
		finder++;
	return finder->how;
}

static const struct finder bash_finders[] = {
	{ WORDS_FILES, "mapfile -t COMPREPLY < <(compgen -f -- \"$cur\"); return" },
	{ WORDS_CGROUPS, "mapfile -t COMPREPLY < <(cd /sys/fs/cgroup 2>/dev/null &&\n"
	  "\t\t\tcompgen -d -- \"$cur\"); return" },
	{ WORDS_PIDS, "words=$(cd /proc 2>/dev/null && printf '%s ' [0-9]*)" },
	{ WORDS_CPUS, "words=$(cd /sys/devices/system/cpu 2>/dev/null &&\n"
	  "\t\t\tprintf '%s ' cpu[0-9]*)\n"
	  "\t\twords=${words//cpu/}" },
	{ NULL, NULL },
};

static void bash_words(const char *words)
{
	const char *how = words ? find_how(bash_finders, words) : NULL;

	if (how)
		printf("\t\t%s ;;\n", how);
	else
		printf("\t\twords='%s' ;;\n", words ? words : "");
}

static void bash_options(const struct program *program)
{
	const struct option_spec *spec;

	puts("\tcase $prev in");
	FOREACH(spec, program->options, name) {
		if (!spec->arg)
			continue;
		printf("\t-%c | --%s)\n", spec->key, spec->name);
		bash_words(spec->words);
	}
	puts("\t*)");
	printf("\t\twords='");
	FOREACH(spec, program->options, name)
		printf("--%s ", spec->name);
	puts("'\n\t\toperand=yes ;;\n\tesac");
}

/* What comes before is the command, or the command and its first operand. */
static void bash_commands(const struct program *program)
{
	const struct command_spec *command;
	const struct operand_spec *operand;

	puts("\tcase $operand-$before-$prev in");
	FOREACH(command, program->commands, name) {
		FOREACH(operand, command->then, word) {
			printf("\tyes-%s-%s)\n", command->name, operand->word);
			bash_words(operand->next);
		}
		if (!command->words)
			continue;
		printf("\tyes-*-%s)\n", command->name);
		bash_words(command->words);
	}
	printf("\tyes-*)\n\t\twords+='");
	FOREACH(command, program->commands, name)
		printf("%s ", command->name);
	puts("' ;;\n\tesac");
}

static void print_bash(const struct program *program)
{
	printf("# bash completion for %s(1)\n_%s()\n{\n", program->name,
	       program->name);
	puts("\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}");
	puts("\tlocal before='' words operand=''\n");
	puts("\t[ \"$COMP_CWORD\" -lt 2 ] || before=${COMP_WORDS[COMP_CWORD-2]}");
	bash_options(program);
	if (program->commands)
		bash_commands(program);
	puts("\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n}");
	printf("complete -F _%s %s\n", program->name, program->name);
}

static const struct finder zsh_finders[] = {
	{ WORDS_FILES, "_files" },
	{ WORDS_CGROUPS, "_files -W /sys/fs/cgroup -/" },
	{ WORDS_PIDS, "_pids" },
	{ WORDS_CPUS, "compadd /sys/devices/system/cpu/cpu<->(:t:s/cpu//)" },
	{ NULL, NULL },
};

static void zsh_words(const char *words)
{
	const char *how = find_how(zsh_finders, words);

	if (how)
		printf("\t\t%s ;;\n", how);
	else
		printf("\t\tcompadd %s ;;\n", words);
}

static void zsh_operands(const struct program *program)
{
	const struct command_spec *command;
	const struct operand_spec *operand;

	printf("_%s_operand() {\n\tcase $words[CURRENT-2]-$words[CURRENT-1] in\n",
	       program->name);
	FOREACH(command, program->commands, name) {
		FOREACH(operand, command->then, word) {
			printf("\t%s-%s)\n", command->name, operand->word);
			zsh_words(operand->next);
		}
		if (!command->words)
			continue;
		printf("\t*-%s)\n", command->name);
		zsh_words(command->words);
	}
	puts("\tesac\n}");
}

static void zsh_option(const struct option_spec *spec)
{
	const char *how = spec->words ? find_how(zsh_finders, spec->words) :
					NULL;

	printf(" \\\n\t'*'{-%c,--%s}'[", spec->key, spec->name);
	quote(spec->help, "[]\\");
	printf("]");
	if (spec->arg)
		printf(":%s:", spec->arg);
	if (how)
		printf("%s", how);
	else if (spec->words)
		printf("(%s)", spec->words);
	printf("'");
}

static void print_zsh(const struct program *program)
{
	const struct command_spec *command;
	const struct option_spec *spec;

	printf("#compdef %s\n# zsh completion for %s(1)\n", program->name,
	       program->name);
	if (program->commands)
		zsh_operands(program);
	printf("_arguments");
	FOREACH(spec, program->options, name)
		zsh_option(spec);
	if (program->commands) {
		printf(" \\\n\t'1:command:(");
		FOREACH(command, program->commands, name)
			printf("%s ", command->name);
		printf(")' \\\n\t'*:operand:_%s_operand'", program->name);
	}
	puts("");
}

static const struct finder fish_finders[] = {
	{ WORDS_FILES, "" },
	{ WORDS_CGROUPS, "(__fish_complete_directories /sys/fs/cgroup/)" },
	{ WORDS_PIDS, "(__fish_complete_pids)" },
	{ WORDS_CPUS, "(string match -r \"[0-9]+\\$\" /sys/devices/system/cpu/cpu*)" },
	{ NULL, NULL },
};

/* ... -a 'WORDS' */
static void fish_words(const char *words)
{
	const char *how = find_how(fish_finders, words);

	printf(" -a '");
	quote(how ? how : words, "\\");
	printf("'");
}

static void fish_option(const struct program *program,
			const struct option_spec *spec)
{
	bool files = spec->words && !strcmp(spec->words, WORDS_FILES);

	printf("complete -c %s -s %c -l %s", program->name, spec->key,
	       spec->name);
	if (files)
		printf(" -r -F");
	else if (spec->arg)
		printf(" -x");
	if (spec->words && !files)
		fish_words(spec->words);
	printf(" -d '");
	quote(spec->help, "\\");
	puts("'");
}

/* A word is given once: what follows it comes in place of what it is one of. */
static void fish_command(const struct program *program,
			 const struct command_spec *command)
{
	const struct operand_spec *operand;

	printf("complete -c %s -n __fish_use_subcommand -a %s -d '",
	       program->name, command->name);
	quote(command->help, "\\");
	puts("'");
	if (!command->words)
		return;
	printf("complete -c %s -n '__fish_seen_subcommand_from %s; and not __fish_seen_subcommand_from %s'",
	       program->name, command->name, command->words);
	fish_words(command->words);
	puts("");
	FOREACH(operand, command->then, word) {
		printf("complete -c %s -n '__fish_seen_subcommand_from %s; and __fish_seen_subcommand_from %s'",
		       program->name, command->name, operand->word);
		fish_words(operand->next);
		puts("");
	}
}

static void print_fish(const struct program *program)
{
	const struct command_spec *command;
	const struct option_spec *spec;

	printf("# fish completion for %s(1)\ncomplete -c %s -f\n",
	       program->name, program->name);
	FOREACH(command, program->commands, name)
		fish_command(program, command);
	FOREACH(spec, program->options, name)
		fish_option(program, spec);
}

static const struct program *find_program(const char *name)
{
	static const struct program *const programs[] = {
		&cmtstat_program, &cmtctl_program, &exporter_program,
	};
	unsigned int i;

	for (i = 0; i < 3; i++)
		if (!strcmp(programs[i]->name, name))
			return programs[i];
	return NULL;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*print)(const struct program *program);
	} shells[] = {
		{ "bash", print_bash },
		{ "zsh", print_zsh },
		{ "fish", print_fish },
	};
	const struct program *program;
	unsigned int i;

	if (argc != 4)
		return EXIT_USAGE;
	program = find_program(argv[2]);
	if (!program || !freopen(argv[3], "w", stdout))
		return EXIT_RUNTIME;
	for (i = 0; i < 3; i++)
		if (!strcmp(argv[1], shells[i].name))
			shells[i].print(program);
	return fflush(stdout) || ferror(stdout) ? EXIT_RUNTIME : 0;
}
