// SPDX-License-Identifier: GPL-2.0-or-later
#include "asked.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 8

static int make_address(struct sockaddr_un *address, const char *path)
{
	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (strlen(path) >= sizeof(address->sun_path))
		return -ENAMETOOLONG;
	strcpy(address->sun_path, path);
	return 0;
}

/* Remove the socket of a recorder that was killed. */
static int remove_stale(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct stat st;
	int ret = -EADDRINUSE;

	if (fd < 0)
		return -errno;
	if (!lstat(address->sun_path, &st) && S_ISSOCK(st.st_mode) &&
	    connect(fd, (const struct sockaddr *)address, sizeof(*address)) &&
	    errno == ECONNREFUSED)
		ret = unlink(address->sun_path) ? -errno : 0;
	close(fd);
	return ret;
}

static int listen_at(int fd, const struct sockaddr_un *address)
{
	int ret = bind(fd, (const struct sockaddr *)address, sizeof(*address)) ?
		  -errno : 0;

	if (ret == -EADDRINUSE)
		ret = remove_stale(address);
	else
		return ret ? ret : listen(fd, BACKLOG) ? -errno : 0;
	if (!ret && bind(fd, (const struct sockaddr *)address, sizeof(*address)))
		ret = -errno;
	return ret ? ret : listen(fd, BACKLOG) ? -errno : 0;
}

int asked_open(struct asked *asked, const char *path)
{
	struct sockaddr_un address;
	int ret;

	*asked = (struct asked){ .fd = -1, .peer = -1 };
	if (!path)
		return 0;
	ret = make_address(&address, path);
	if (ret)
		return ret;
	asked->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (asked->fd < 0)
		return -errno;
	ret = listen_at(asked->fd, &address);
	if (!ret)
		asked->path = path;
	return ret;
}

void asked_close(struct asked *asked)
{
	if (asked->path)
		unlink(asked->path);
	if (asked->peer >= 0)
		close(asked->peer);
	if (asked->fd >= 0)
		close(asked->fd);
	*asked = (struct asked){ .fd = -1, .peer = -1 };
}

bool asked_pending(struct asked *asked)
{
	if (asked->fd >= 0 && asked->peer < 0)
		asked->peer = accept4(asked->fd, NULL, NULL,
				      SOCK_CLOEXEC | SOCK_NONBLOCK);
	return asked->peer >= 0;
}

void asked_answer(struct asked *asked, const char *text)
{
	send(asked->peer, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT);
	close(asked->peer);
	asked->peer = -1;
}
