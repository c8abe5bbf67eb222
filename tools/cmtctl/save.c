// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cmtctl save: connect to a flight recorder, which saves, and print the name of the
 * file.
 */
#include "cmtctl.h"

#include <errno.h>
#include <json-c/json.h>
#include <limits.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/errors.h"
#include "common/format.h"
#include "common/json.h"

#define SERVICE_SOCKET "/run/cmt-recorder/save"
#define ANSWER_S 30
#define SAVED "saved "
#define ERROR "error "

int ctl_save_operands(struct ctl *ctl, char **operands, int nr)
{
	ctl->socket = nr ? operands[0] : SERVICE_SOCKET;
	return 0;
}

static int connect_to(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const struct timeval patience = { .tv_sec = ANSWER_S };
	int fd, ret;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, path);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	/* of sending is also that of connecting, where as many wait as may */
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (!connect(fd, (const struct sockaddr *)&address, sizeof(address)))
		return fd;
	ret = -errno;
	close(fd);
	return ret;
}

static int print_json(const char *path)
{
	struct json_object *object = json_object_new_object();
	int ret = object ? json_add(object, "file", json_text(path)) : -ENOMEM;

	if (!ret)
		ret = json_print(stdout, object);
	json_object_put(object);
	return ret;
}

static int print_answer(const struct ctl *ctl, const char *text)
{
	char line[4 * (PATH_MAX + NAME_MAX)];

	if (strncmp(text, SAVED, sizeof(SAVED) - 1)) {
		escape_text(line, sizeof(line), text, ESCAPE_ASCII);
		fprintf(stderr, "cmtctl: the recorder could not save: %s\n",
			strncmp(line, ERROR, sizeof(ERROR) - 1) ? line :
			line + sizeof(ERROR) - 1);
		return EXIT_RUNTIME;
	}
	text += sizeof(SAVED) - 1;
	if (ctl->json)
		return print_json(text);
	escape_text(line, sizeof(line), text, ESCAPE_ASCII);
	puts(line);
	return 0;
}

static int say_unreachable(const struct ctl *ctl, int err)
{
	char path[4 * PATH_MAX];

	escape_text(path, sizeof(path), ctl->socket, ESCAPE_ASCII);
	error_plain(stderr, "cmtctl", path, err);
	if (err != -ENOENT && err != -ECONNREFUSED)
		return EXIT_RUNTIME;
	fprintf(stderr, strcmp(ctl->socket, SERVICE_SOCKET) ?
		"The operand is the socket of a recorder that runs (cmtstat record --socket), not the file to save to\n" :
		"No flight recorder runs.  systemctl start cmt-recorder begins it\n");
	return EXIT_RUNTIME;
}

int ctl_save(const struct ctl *ctl, const char **what)
{
	char text[PATH_MAX + NAME_MAX + 32];
	int fd = connect_to(ctl->socket), err;
	ssize_t n;

	*what = fd == -EAGAIN ? "the recorder does not answer" : "cannot print";
	if (fd < 0)
		return fd == -EAGAIN ? fd : say_unreachable(ctl, fd);
	n = recv(fd, text, sizeof(text) - 1, 0);
	err = n < 0 ? -errno : -EPIPE;
	close(fd);
	if (n <= 0) {
		*what = err == -EAGAIN ? "the recorder does not answer" :
					 "the recorder gave no answer";
		return err;
	}
	text[n] = '\0';
	return print_answer(ctl, text);
}
