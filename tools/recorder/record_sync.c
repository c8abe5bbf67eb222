// SPDX-License-Identifier: GPL-2.0-or-later
#include "record_sync.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/caps.h"
#include "common/filter.h"

union fd_room {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int))];
};

/* A request, and its answer */
struct request {
	int err;		/* of the answer: 0 or -errno */
	char name[NAME_MAX + 1];
};

static int send_fd(int to, int fd, struct request *request)
{
	union fd_room room = { 0 };
	struct iovec data = { request, sizeof(*request) };
	struct msghdr message = {
		.msg_iov = &data, .msg_iovlen = 1, .msg_control = room.bytes,
		.msg_controllen = sizeof(room.bytes),
	};
	struct cmsghdr *control = CMSG_FIRSTHDR(&message);

	control->cmsg_level = SOL_SOCKET;
	control->cmsg_type = SCM_RIGHTS;
	control->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(control), &fd, sizeof(int));
	return sendmsg(to, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* Returns a descriptor, or -1: the recorder has ended. */
static int receive_fd(int from, struct request *request)
{
	union fd_room room = { 0 };
	struct iovec data = { request, sizeof(*request) };
	struct msghdr message = {
		.msg_iov = &data, .msg_iovlen = 1, .msg_control = room.bytes,
		.msg_controllen = sizeof(room.bytes),
	};
	const struct cmsghdr *control;
	ssize_t n;
	int fd;

	do {
		n = recvmsg(from, &message, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	control = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;
	if (!control)
		return -1;
	memcpy(&fd, CMSG_DATA(control), sizeof(int));
	return fd;
}

/*
 * The process has no signals: it ends with the recorder, whose end of the socket
 * closes.
 */
static void run_child(int socket, bool seccomp)
{
	struct request request;
	int fd, err;

	if (caps_drop(false))
		_exit(EXIT_FAILURE);
	err = seccomp ? filter_load(FILTER_SYNC) : 0;
	/* the recorder reports a kernel without filters */
	if (err && err != -EOPNOTSUPP)
		_exit(EXIT_FAILURE);
	while ((fd = receive_fd(socket, &request)) >= 0) {
		request.err = fdatasync(fd) ? -errno : 0;
		close(fd);
		if (send(socket, &request, sizeof(request), MSG_NOSIGNAL) < 0)
			break;
	}
	_exit(EXIT_SUCCESS);
}

int record_sync_begin(struct record_sync *sync, bool seccomp)
{
	sigset_t all, before;
	int pair[2], ret = 0;

	*sync = (struct record_sync){ .socket = -1 };
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	sync->pid = fork();
	if (!sync->pid) {
		close(pair[1]);
		run_child(pair[0], seccomp);
	}
	if (sync->pid < 0) {
		ret = -errno;
		sync->pid = 0;
		close(pair[1]);
	} else {
		sync->socket = pair[1];
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(pair[0]);
	return ret;
}

/* Returns false: there is none yet. */
static bool take_answer(struct record_sync *sync, int flags)
{
	struct request answer;
	ssize_t n;

	do {
		n = recv(sync->socket, &answer, sizeof(answer), flags);
	} while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EAGAIN)
		return false;
	if (n != (ssize_t)sizeof(answer))
		answer = (struct request){ .err = -EPIPE };
	sync->asked--;
	sync->err = answer.err;
	if (answer.err)
		memcpy(sync->failed, answer.name, sizeof(sync->failed));
	return true;
}

/* Answers behind an error stay in the socket until the error was reported. */
static void take_answers(struct record_sync *sync, int flags)
{
	while (sync->asked && !sync->err && take_answer(sync, flags))
		;
}

int record_sync_failed(struct record_sync *sync, bool wait)
{
	int err;

	take_answers(sync, wait ? 0 : MSG_DONTWAIT);
	err = sync->err;
	sync->err = 0;
	return err;
}

int record_sync_hand(struct record_sync *sync, int fd, const char *name)
{
	struct request request = { 0 };
	int ret;

	if (!sync->pid)
		return 0;
	take_answers(sync, MSG_DONTWAIT);
	if (sync->asked == RECORD_SYNC_MOST)
		return -EAGAIN;
	snprintf(request.name, sizeof(request.name), "%s", name);
	ret = send_fd(sync->socket, fd, &request);
	sync->asked += !ret;
	return ret;
}

int record_sync_ask(struct record_sync *sync, int fd)
{
	int ret = record_sync_failed(sync, false);

	return ret || sync->asked ? ret : record_sync_hand(sync, fd, "");
}

int record_sync_end(struct record_sync *sync)
{
	int ret = 0;

	if (!sync->pid)
		return 0;
	do {
		int err = record_sync_failed(sync, true);

		ret = ret ? ret : err;
	} while (sync->asked);
	/* the anchor of a command may have it, too */
	shutdown(sync->socket, SHUT_RDWR);
	close(sync->socket);
	waitpid(sync->pid, NULL, 0);
	*sync = (struct record_sync){ .socket = -1 };
	return ret;
}
