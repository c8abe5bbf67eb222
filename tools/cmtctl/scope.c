// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmtctl.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "common/cgroups.h"
#include "common/errors.h"
#include "common/fields.h"
#include "common/format.h"
#include "common/rows.h"

static bool patterns_wanted(const struct ctl_config *config)
{
	return config->patterns_given || config->file;
}

int ctl_scope_operands(struct ctl *ctl, char **operands, int nr)
{
	if (nr && scope_parse(operands[0], &ctl->scope))
		return options_usage(&cmtctl_program, stderr,
			"'%s' is not process, container, cpu or manual",
			operands[0]);
	ctl->control = nr > 0;
	if (!nr && (patterns_wanted(ctl->config) || ctl->config->force))
		return options_usage(&cmtctl_program, stderr,
			"scope: --patterns, --file and --force take a scope to set");
	return 0;
}

/* The text that cmt_device_patterns() stores, one to a line. */
static int add_patterns(struct fields *fields, char *text)
{
	unsigned int nr = 0;
	const char **items;
	char *line, *save;

	items = calloc(strlen(text) + 1, sizeof(*items));
	if (!items)
		return -ENOMEM;
	for (line = strtok_r(text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save))
		items[nr++] = line;
	fields_list(fields, "patterns", items, nr);
	free(items);
	return 0;
}

static int print_scope(const struct ctl *ctl, uint32_t scope, char *patterns)
{
	struct cgroup_mount mount;
	struct fields fields;
	int ret = fields_begin(&fields, ctl->json), err;

	if (ret)
		return ret;
	cgroup_find(&mount);
	fields_text(&fields, "scope", scope_name(scope));
	fields_text(&fields, "cgroups", cgroup_mode_name(mount.mode));
	ret = add_patterns(&fields, patterns);
	err = fields_end(&fields);
	return ret ? ret : err;
}

/* Containers that the module cannot see must be reported before the change. */
static bool containers_visible(bool force)
{
	struct cgroup_mount mount;

	cgroup_find(&mount);
	switch (mount.mode) {
	case CGROUPS_V2:
		return true;
	case CGROUPS_HYBRID:
		fprintf(stderr,
			"cmtctl: cgroup versions 1 and 2 are in use side by side: only containers that have a cgroup below %s can be seen, and there may be none\n",
			mount.path);
		break;
	case CGROUPS_V1:
		fprintf(stderr,
			"cmtctl: there is only cgroup version 1 here: containers cannot be seen\n");
		break;
	case CGROUPS_NONE:
		fprintf(stderr,
			"cmtctl: no cgroup hierarchy is mounted here: it is not known whether containers can be seen\n");
		break;
	}
	if (!force)
		fprintf(stderr,
			"Scopes process, cpu and manual work. To set this one all the same, use --force; for cgroup version 2, boot with systemd.unified_cgroup_hierarchy=1\n");
	return force;
}

static int read_patterns(struct ctl_config *config)
{
	bool standard = !strcmp(config->file, "-");
	FILE *in = standard ? stdin : fopen(config->file, "re");
	int ret;

	if (!in)
		return -errno;
	ret = patterns_read(&config->patterns, in);
	if (!standard)
		fclose(in);
	return ret;
}

static void say_unread(const char *path, int err)
{
	char shown[4 * PATH_MAX];

	escape_text(shown, sizeof(shown), path, ESCAPE_ASCII);
	error_plain(stderr, "cmtctl: cannot read the file of patterns", shown, err);
}

static int set_scope(const struct ctl *ctl, const char **what)
{
	const struct patterns *patterns = &ctl->config->patterns;
	const char *text = patterns->text ? patterns->text : "";
	uint32_t bad_at;
	int ret;

	if (ctl->config->file) {
		ret = read_patterns(ctl->config);
		if (ret) {
			say_unread(ctl->config->file, ret);
			return EXIT_RUNTIME;
		}
		text = patterns->text ? patterns->text : "";
	}
	if (ctl->scope == CMT_SCOPE_CONTAINER &&
	    !containers_visible(ctl->config->force))
		return EXIT_RUNTIME;
	*what = "cannot set the scope";
	ret = cmt_device_set_scope(ctl->dev, ctl->scope,
				   patterns_wanted(ctl->config) ? text : NULL,
				   &bad_at);
	if (ret != -EINVAL || bad_at == UINT32_MAX)
		return ret;
	fprintf(stderr, "cmtctl: %s: the patterns do not parse\n", *what);
	patterns_explain(patterns, bad_at, stderr);
	return EXIT_RUNTIME;
}

int ctl_scope(const struct ctl *ctl, const char **what)
{
	char *patterns;
	uint32_t scope;
	int ret = ctl->scope ? set_scope(ctl, what) : 0;

	if (ret)
		return ret;
	*what = "cannot read the scope";
	ret = cmt_device_scope(ctl->dev, &scope);
	if (!ret)
		ret = cmt_device_patterns(ctl->dev, &patterns);
	if (ret)
		return ret;
	*what = "cannot print";
	ret = print_scope(ctl, scope, patterns);
	free(patterns);
	return ret;
}
