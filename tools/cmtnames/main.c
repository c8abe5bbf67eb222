// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes the names of root's containers into a file that libcmt reads where the
 * runtimes' own files may not be read.  A service that an administrator enables.
 */
#include <cmt/cmt.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cgroup/cgroup.h"
#include "common/clock.h"
#include "common/options.h"
#include "common/standard.h"
#include "list.h"
#include "name/name.h"

#define PERIOD_NS	5000000000ULL
#define SHARE		20	/* at most 1/SHARE of a CPU */

struct config {
	const char *root;	/* NULL: this machine's */
	bool once;
};

struct service {
	struct cmt_containers *containers;
	int cgroup_fd;
	int root_fd;
	bool made_up;		/* --root */
	struct names_list list;
	char *text;		/* that the file has */
	size_t size;
	int last_error;		/* printed once, not every time */
	bool left_out;		/* the same */
};

static int set_root(void *config, const char *value)
{
	((struct config *)config)->root = value;
	return *value ? 0 : -EINVAL;
}

static int set_once(void *config, const char *value)
{
	(void)value;
	((struct config *)config)->once = true;
	return 0;
}

static const struct option_spec options[] = {
	{ 'r', "root", "DIR", "of another tree: cgroups, state and file below DIR",
	  "a path", set_root, WORDS_FILES },
	{ 'o', "once", NULL, "write the file once and exit", NULL, set_once,
	  NULL },
	{ 'h', "help", NULL, "print this and exit", NULL, NULL, NULL },
	{ 'V', "version", NULL, "print the version and exit", NULL, NULL,
	  NULL },
	{ .name = NULL },
};

static const struct program program = {
	.name = "cmt-names",
	.synopsis = "[options]",
	.about = "Write the names of containers to /run/cmt/names, for users without root.\n",
	.options = options,
};

static int say(const char *what, int err)
{
	fprintf(stderr, "cmt-names: %s: %s\n", what, strerror(-err));
	return err;
}

static int add_cgroup(void *ctx, uint64_t id, const char *path)
{
	struct service *service = ctx;

	return names_list_add(&service->list, service->containers, id, path);
}

/* Write only a changed file, because readers read each new file. */
static int write_changed(struct service *service)
{
	char *text;
	size_t size;
	int ret = names_list_text(&service->list, &text, &size);

	if (ret)
		return ret;
	if (service->text && size == service->size &&
	    !memcmp(text, service->text, size)) {
		free(text);
		return 0;
	}
	ret = names_write(service->root_fd, text, size);
	if (ret) {
		free(text);
		return ret;
	}
	free(service->text);
	service->text = text;
	service->size = size;
	return 0;
}

/* @scanned: the cgroups could be read. */
static void say_failed(const struct service *service, bool scanned, int err)
{
	say(scanned ? "cannot write /run/cmt/names" : "cannot read the cgroups", err);
	if (!scanned || err != -ENOENT)
		return;
	fputs(service->made_up ?
	      "Make the directory run/cmt below that of --root\n" :
	      "Start the service, which makes the directory, as root: systemctl start cmt-names\n",
	      stderr);
}

/* After an error the file stays as it is. */
static int update(struct service *service)
{
	int ret = cmt_cgroup_walk(service->cgroup_fd, add_cgroup, service);
	bool scanned = !ret;

	if (scanned)
		ret = write_changed(service);
	if (ret && ret != service->last_error)
		say_failed(service, scanned, ret);
	service->last_error = ret;
	if (service->list.left_out && !service->left_out)
		fprintf(stderr, "cmt-names: /run/cmt/names is full: it has no room for %zu containers\n",
			service->list.left_out);
	service->left_out = service->list.left_out;
	names_list_free(&service->list);
	return ret;
}

static void rest(uint64_t used_ns)
{
	uint64_t ns = used_ns * (SHARE - 1);
	struct timespec ts;

	if (ns < PERIOD_NS)
		ns = PERIOD_NS;
	ts.tv_sec = (time_t)(ns / 1000000000);
	ts.tv_nsec = (long)(ns % 1000000000);
	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

/* Serve until a signal.  An action that fails is tried again. */
static void serve(struct service *service)
{
	for (;;) {
		uint64_t before = clock_ns(CLOCK_PROCESS_CPUTIME_ID);

		update(service);
		rest(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - before);
	}
}

/* With --root a plain directory replaces the cgroup file system. */
static int open_cgroups(int root_fd, bool made_up)
{
	int fd;

	if (!made_up)
		return cmt_cgroup_open(NULL);
	fd = openat(root_fd, "sys/fs/cgroup", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int open_service(struct service *service, const char *root)
{
	char cgroup_root[PATH_MAX];
	struct cmt_containers_opts opts = {
		.sz = sizeof(opts), .state_root = root ? root : "/",
		.cgroup_root = root ? cgroup_root : NULL,
		/* the service limits its CPU time itself */
		.flags = CMT_CONTAINERS_NO_PAUSE,
	};
	int ret;

	snprintf(cgroup_root, sizeof(cgroup_root), "%s/sys/fs/cgroup", opts.state_root);
	service->made_up = root;
	service->root_fd = open(opts.state_root,
				O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (service->root_fd < 0)
		return say(opts.state_root, -errno);
	service->cgroup_fd = open_cgroups(service->root_fd, service->made_up);
	if (service->cgroup_fd < 0)
		return say("cannot find the cgroups of version 2",
			   service->cgroup_fd);
	ret = cmt_containers_new(&service->containers, &opts);
	return ret ? say("cannot begin", ret) : 0;
}

static void close_service(struct service *service)
{
	cmt_containers_free(service->containers);
	if (service->cgroup_fd >= 0)
		close(service->cgroup_fd);
	if (service->root_fd >= 0)
		close(service->root_fd);
	free(service->text);
}

static int run(const struct config *config)
{
	struct service service = { .cgroup_fd = -1, .root_fd = -1 };
	int ret = open_service(&service, config->root);

	if (!ret && config->once)
		ret = update(&service);
	else if (!ret)
		serve(&service);
	close_service(&service);
	return ret ? EXIT_RUNTIME : 0;
}

int main(int argc, char **argv)
{
	struct config config = { 0 };
	enum options_result result;

	if (standard_occupy("cmt-names"))
		return EXIT_RUNTIME;
	result = options_parse(&program, &config, argc, argv, stderr);
	if (result != OPTIONS_RUN)
		return options_end(&program, "cmt-names", result);
	if (optind < argc)
		return options_usage(&program, stderr, "%s: takes no operand",
				     argv[optind]);
	return run(&config);
}
