// SPDX-License-Identifier: GPL-2.0-or-later
#include "record_sync.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "caps.h"
#include "filter.h"

union fd_room {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int))];
};

static int send_fd(int to, int fd)
{
	char byte = 0;
	union fd_room room = { 0 };
	struct iovec data = { &byte, 1 };
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
static int receive_fd(int from)
{
	char byte;
	union fd_room room = { 0 };
	struct iovec data = { &byte, 1 };
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
	int fd, err;

	if (caps_drop(false))
		_exit(EXIT_FAILURE);
	err = seccomp ? filter_load(FILTER_SYNC) : 0;
	/* the recorder reports a kernel without filters */
	if (err && err != -EOPNOTSUPP)
		_exit(EXIT_FAILURE);
	while ((fd = receive_fd(socket)) >= 0) {
		err = fdatasync(fd) ? errno : 0;
		close(fd);
		if (send(socket, &err, sizeof(err), MSG_NOSIGNAL) < 0)
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

/* Returns 1: one has ended well, 0: none has, or -errno. */
static int take_answer(const struct record_sync *sync, int flags)
{
	ssize_t n;
	int err;

	do {
		n = recv(sync->socket, &err, sizeof(err), flags);
	} while (n < 0 && errno == EINTR);
	if (n == (ssize_t)sizeof(err))
		return err ? -err : 1;
	return n < 0 && errno == EAGAIN ? 0 : -EPIPE;
}

/* Returns 0 or -errno. */
static int take_answers(struct record_sync *sync, int flags)
{
	int ret = 1;

	while (sync->asked && ret > 0) {
		ret = take_answer(sync, flags);
		sync->asked -= !!ret;
	}
	return ret < 0 ? ret : 0;
}

int record_sync_hand(struct record_sync *sync, int fd)
{
	int ret;

	if (!sync->pid)
		return 0;
	ret = send_fd(sync->socket, fd);
	sync->asked += !ret;
	/* the disk is far behind: the kernel writes it when it can */
	return ret == -EAGAIN ? 0 : ret;
}

int record_sync_ask(struct record_sync *sync, int fd)
{
	int ret = sync->pid ? take_answers(sync, MSG_DONTWAIT) : 0;

	return ret || sync->asked ? ret : record_sync_hand(sync, fd);
}

int record_sync_end(struct record_sync *sync)
{
	int ret = sync->pid ? take_answers(sync, 0) : 0;

	if (!sync->pid)
		return 0;
	/* the anchor of a command may have it, too */
	shutdown(sync->socket, SHUT_RDWR);
	close(sync->socket);
	waitpid(sync->pid, NULL, 0);
	*sync = (struct record_sync){ .socket = -1 };
	return ret;
}
