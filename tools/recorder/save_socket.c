// SPDX-License-Identifier: GPL-2.0-or-later
#include "save_socket.h"

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

int save_socket_open(struct save_socket *sock, const char *path)
{
	struct sockaddr_un address;
	int ret;

	*sock = (struct save_socket){ .fd = -1, .peer = -1 };
	if (!path)
		return 0;
	ret = make_address(&address, path);
	if (ret)
		return ret;
	sock->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (sock->fd < 0)
		return -errno;
	ret = listen_at(sock->fd, &address);
	if (!ret)
		sock->path = path;
	return ret;
}

void save_socket_close(struct save_socket *sock)
{
	if (sock->path)
		unlink(sock->path);
	if (sock->peer >= 0)
		close(sock->peer);
	if (sock->fd >= 0)
		close(sock->fd);
	*sock = (struct save_socket){ .fd = -1, .peer = -1 };
}

bool save_socket_pending(struct save_socket *sock)
{
	if (sock->fd >= 0 && sock->peer < 0)
		sock->peer = accept4(sock->fd, NULL, NULL,
				     SOCK_CLOEXEC | SOCK_NONBLOCK);
	return sock->peer >= 0;
}

void save_socket_answer(struct save_socket *sock, const char *text)
{
	send(sock->peer, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT);
	close(sock->peer);
	sock->peer = -1;
}
