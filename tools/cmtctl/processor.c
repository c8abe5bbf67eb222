// SPDX-License-Identifier: GPL-2.0-or-later
#include "processor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_LEN 32

/* The parts of processor_facts.signature. */
struct parts {
	char vendor[NAME_LEN], family[NAME_LEN], model[NAME_LEN], stepping[NAME_LEN];
};

/* @words: "fpu vme ..." */
static void read_flags(struct processor_facts *processor, char *words)
{
	char *rest = NULL, *word;

	for (word = strtok_r(words, " \t\n", &rest); word; word = strtok_r(NULL, " \t\n", &rest)) {
		if (!strcmp(word, "cqm_occup_llc"))
			processor->monitors = true;
		else if (!strcmp(word, "hypervisor"))
			processor->is_virtual = true;
	}
}

/* The value of a line "name<tab>: value"; NULL: the line is another one. */
static char *value_of(char *line, const char *name)
{
	size_t len = strlen(name);
	char *value = strchr(line, ':');

	if (!value || strncmp(line, name, len) ||
	    line + len + strspn(line + len, "\t ") != value)
		return NULL;
	value++;
	value += strspn(value, " ");
	value[strcspn(value, "\n")] = '\0';
	return value;
}

static void keep(char *to, size_t size, char *line, const char *name)
{
	const char *value = value_of(line, name);

	if (value)
		snprintf(to, size, "%s", value);
}

/* True: this was the last line that is wanted. */
static bool read_line(struct processor_facts *processor, struct parts *parts, char *line)
{
	char *flags = value_of(line, "flags");

	keep(processor->model, sizeof(processor->model), line, "model name");
	keep(processor->microcode, sizeof(processor->microcode), line, "microcode");
	keep(parts->vendor, NAME_LEN, line, "vendor_id");
	keep(parts->family, NAME_LEN, line, "cpu family");
	keep(parts->model, NAME_LEN, line, "model");
	keep(parts->stepping, NAME_LEN, line, "stepping");
	if (!flags)
		return false;
	processor->known = true;
	read_flags(processor, flags);
	return true;
}

void processor_read(struct processor_facts *processor)
{
	FILE *in = fopen("/proc/cpuinfo", "re");
	struct parts parts = { 0 };
	char *line = NULL;
	size_t size = 0;

	*processor = (struct processor_facts){ 0 };
	if (!in)
		return;
	while (getline(&line, &size, in) > 0)
		if (read_line(processor, &parts, line))
			break;
	if (*parts.vendor)
		snprintf(processor->signature, sizeof(processor->signature),
			 "%.16s family %.8s model %.8s stepping %.8s", parts.vendor,
			 parts.family, parts.model, parts.stepping);
	free(line);
	fclose(in);
}
