// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes the completion of a program for a shell, from the program's tables.
 * Runs while cmt is built.  usage: completions bash|zsh|fish PROGRAM FILE
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cmtctl/cmtctl.h"
#include "cmtstat/cmtstat.h"
#include "exporter/exporter.h"

#define FOREACH(spec, table, name) \
	for ((spec) = (table); (spec) && (spec)->name; (spec)++)

/* The name of a program's function: with _ for each space. */
static const char *function_name(const struct program *program)
{
	static char name[64];
	char *at;

	snprintf(name, sizeof(name), "_%s", program->name);
	for (at = name; *at; at++)
		if (*at == ' ')
			*at = '_';
	return name;
}

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

/* How a shell completes values of a kind by itself */
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

/* Only these are names of files: a folder with the name of another word gets no slash. */
#define BASH_FILES "compopt -o filenames 2>/dev/null\n" \
	"\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$cur\"); return"

static const struct finder bash_finders[] = {
	{ WORDS_FILES, BASH_FILES },
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
		if (spec->key < OPTION_LONG_ONLY)
			printf("\t-%c | --%s)\n", spec->key, spec->name);
		else
			printf("\t--%s)\n", spec->name);
		bash_words(spec->words);
	}
	puts("\t*)");
	printf("\t\twords='");
	FOREACH(spec, program->options, name)
		printf("--%s ", spec->name);
	puts("'\n\t\toperand=yes ;;\n\tesac");
}

/* The words before are the command, or the command and its first operand. */
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

/* The first word decides, once it is followed by another one. */
static void bash_subprograms(const struct program *program)
{
	const struct subprogram *sub;

	puts("\tif [ \"$COMP_CWORD\" -gt 1 ]; then\n\t\tcase ${COMP_WORDS[1]} in");
	FOREACH(sub, program->subprograms, name)
		printf("\t\t%s)\n\t\t\t%s\n\t\t\treturn ;;\n", sub->name,
		       function_name(sub->program));
	puts("\t\tesac\n\tfi");
}

static void bash_subprogram_names(const struct program *program)
{
	const struct subprogram *sub;

	printf("\t[ \"$COMP_CWORD\" -gt 1 ] || words+='");
	FOREACH(sub, program->subprograms, name)
		printf(" %s", sub->name);
	puts("'");
}

/* The operands of a sub-command are files, but for those of a command that it runs. */
static bool takes_files(const struct program *sub)
{
	return !strstr(sub->synopsis, "COMMAND");
}

/* @files: are its operands files? */
static void bash_function(const struct program *program, bool files)
{
	const struct subprogram *sub;

	FOREACH(sub, program->subprograms, name)
		bash_function(sub->program, takes_files(sub->program));
	printf("%s()\n{\n", function_name(program));
	puts("\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}");
	puts("\tlocal before='' words operand=''\n");
	if (program->subprograms)
		bash_subprograms(program);
	puts("\t[ \"$COMP_CWORD\" -lt 2 ] || before=${COMP_WORDS[COMP_CWORD-2]}");
	bash_options(program);
	if (program->commands)
		bash_commands(program);
	if (program->subprograms)
		bash_subprogram_names(program);
	if (files)
		puts("\tif [ \"$operand\" ] && [[ $cur != -* ]]; then\n\t\t"
		     BASH_FILES "\n\tfi");
	puts("\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n}");
}

static void print_bash(const struct program *program)
{
	printf("# bash completion for %s(1)\n", program->name);
	bash_function(program, false);
	printf("complete -o bashdefault -F _%s %s\n", program->name, program->name);
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

	if (spec->key < OPTION_LONG_ONLY)
		printf(" \\\n\t'*'{-%c,--%s}'[", spec->key, spec->name);
	else
		printf(" \\\n\t'*--%s[", spec->name);
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

static void zsh_options(const struct program *program)
{
	const struct option_spec *spec;

	FOREACH(spec, program->options, name)
		zsh_option(spec);
}

/* _arguments takes the first word for the name of the program. */
static void zsh_subprograms(const struct program *program)
{
	const struct subprogram *sub;

	FOREACH(sub, program->subprograms, name) {
		printf("%s() {\n_arguments", function_name(sub->program));
		zsh_options(sub->program);
		puts(takes_files(sub->program) ? " \\\n\t'*:file:_files'\n}" : "\n}");
	}
	puts("if (( CURRENT > 2 )); then\n\tcase $words[2] in");
	FOREACH(sub, program->subprograms, name)
		printf("\t%s)\n\t\tshift words\n\t\t(( CURRENT-- ))\n\t\t%s\n\t\treturn ;;\n",
		       sub->name, function_name(sub->program));
	puts("\tesac\nfi");
}

static void print_zsh(const struct program *program)
{
	const struct command_spec *command;
	const struct subprogram *sub;

	printf("#compdef %s\n# zsh completion for %s(1)\n", program->name,
	       program->name);
	if (program->commands)
		zsh_operands(program);
	if (program->subprograms)
		zsh_subprograms(program);
	printf("_arguments");
	zsh_options(program);
	if (program->subprograms) {
		printf(" \\\n\t'1:command:(");
		FOREACH(sub, program->subprograms, name)
			printf("%s ", sub->name);
		printf(")'");
	}
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

static void fish_no_subprogram(const struct program *program)
{
	const struct subprogram *sub;

	printf(" -n 'not __fish_seen_subcommand_from");
	FOREACH(sub, program->subprograms, name)
		printf(" %s", sub->name);
	printf("'");
}

/* @sub: the sub-command with the option; NULL: the program. */
static void fish_option(const struct program *program,
			const struct subprogram *sub,
			const struct option_spec *spec)
{
	bool files = spec->words && !strcmp(spec->words, WORDS_FILES);

	printf("complete -c %s", program->name);
	if (sub)
		printf(" -n '__fish_seen_subcommand_from %s'", sub->name);
	else if (program->subprograms)
		fish_no_subprogram(program);
	if (spec->key < OPTION_LONG_ONLY)
		printf(" -s %c", spec->key);
	printf(" -l %s", spec->name);
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

/* Each word is given once: the words after it replace it. */
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

static void fish_subprogram(const struct program *program,
			    const struct subprogram *sub)
{
	const struct option_spec *spec;

	printf("complete -c %s -n __fish_use_subcommand -a %s -d '",
	       program->name, sub->name);
	quote(sub->help, "\\");
	puts("'");
	if (takes_files(sub->program))
		printf("complete -c %s -n '__fish_seen_subcommand_from %s' -F\n",
	       program->name, sub->name);
	FOREACH(spec, sub->program->options, name)
		fish_option(program, sub, spec);
}

static void print_fish(const struct program *program)
{
	const struct command_spec *command;
	const struct subprogram *sub;
	const struct option_spec *spec;

	printf("# fish completion for %s(1)\ncomplete -c %s -f\n",
	       program->name, program->name);
	FOREACH(command, program->commands, name)
		fish_command(program, command);
	FOREACH(sub, program->subprograms, name)
		fish_subprogram(program, sub);
	FOREACH(spec, program->options, name)
		fish_option(program, NULL, spec);
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
