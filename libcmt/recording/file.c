// SPDX-License-Identifier: LGPL-2.1-or-later
#include "file.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes that are looked through at once: few at first, for a file of many short gaps */
#define WINDOW_LEAST	(1U << 12)
#define WINDOW		(1U << 20)

int rec_file_look(struct rec_file *file)
{
	struct stat st;

	if (fstat(file->fd, &st))
		return -errno;
	file->size = (uint64_t)st.st_size;
	return 0;
}

int rec_file_open(struct rec_file *file, int fd)
{
	struct stat st;

	*file = (struct rec_file){ .fd = fd };
	if (fstat(fd, &st))
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode))
		return -ESPIPE;
	file->size = (uint64_t)st.st_size;
	return file->size ? 0 : -ENODATA;
}

void rec_file_close(struct rec_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}

/* Up to @n bytes.  Returns how many, or -errno. */
static ssize_t read_some(const struct rec_file *file, uint64_t offset, uint8_t *to, size_t n)
{
	size_t got = 0;

	while (got < n) {
		ssize_t ret = pread(file->fd, to + got, n - got, (off_t)(offset + got));

		if (ret < 0 && errno != EINTR)
			return -errno;
		if (!ret)
			break;
		got += ret > 0 ? (size_t)ret : 0;
	}
	return (ssize_t)got;
}

int rec_file_read(const struct rec_file *file, uint64_t offset, size_t n,
		  struct rec_buffer *to)
{
	uint8_t *bytes;
	ssize_t got;

	to->nr = 0;
	to->failed = false;
	bytes = rec_buffer_room(to, n + 1);
	if (!bytes)
		return -ENOMEM;
	got = read_some(file, offset, bytes, n);
	if (got < 0)
		return (int)got;
	to->nr = (size_t)got;
	return to->nr == n ? 0 : -ENODATA;
}

int rec_file_header(const struct rec_file *file, uint64_t offset, struct rec_header *header)
{
	uint8_t bytes[REC_HEADER_MAX];
	ssize_t n;

	if (offset >= file->size)
		return 0;
	n = read_some(file, offset, bytes, sizeof(bytes));
	return n < 0 ? (int)n : rec_header_parse(header, bytes, (size_t)n);
}

bool rec_file_cut_header(const struct rec_file *file, uint64_t offset)
{
	uint64_t left = file->size - offset;
	uint8_t bytes[REC_HEADER];
	ssize_t n;

	if (!left || left >= REC_HEADER)
		return false;
	n = read_some(file, offset, bytes, (size_t)left);
	return n > 0 && !memcmp(bytes, rec_magic, (size_t)n < REC_MAGIC_LEN ?
						  (size_t)n : REC_MAGIC_LEN);
}

/*
 * A hole has no chunk.  A file system without SEEK_DATA has no holes.  The caller's descriptor
 * may have the same offset, which is restored.
 */
static uint64_t skip_hole(const struct rec_file *file, uint64_t offset)
{
	off_t was = lseek(file->fd, 0, SEEK_CUR);
	off_t data = lseek(file->fd, (off_t)offset, SEEK_DATA);
	int err = errno;

	lseek(file->fd, was, SEEK_SET);
	if (data < 0)
		return err == ENXIO ? file->size : offset;
	return (uint64_t)data > offset ? (uint64_t)data : offset;
}

/* The first intact header that begins in the first @most bytes; -1: none. */
static ssize_t find_in(const uint8_t *bytes, size_t n, size_t most, struct rec_header *header)
{
	const uint8_t *at = bytes;

	for (;;) {
		at = memmem(at, n - (size_t)(at - bytes), rec_magic, REC_MAGIC_LEN);
		if (!at || (size_t)(at - bytes) >= most)
			return -1;
		if (rec_header_parse(header, at, n - (size_t)(at - bytes)))
			return at - bytes;
		at++;
	}
}

static size_t at_most(size_t room, size_t window)
{
	return room < window + REC_HEADER_MAX ? room : window + REC_HEADER_MAX;
}

int rec_file_find(const struct rec_file *file, uint64_t *offset, uint64_t end,
		  struct rec_header *header)
{
	uint64_t left = file->size > *offset ? file->size - *offset : 0;
	size_t room = left < WINDOW + REC_HEADER_MAX ? (size_t)left :
						       WINDOW + REC_HEADER_MAX;
	size_t window = WINDOW_LEAST;
	uint8_t *bytes = malloc(room + 1);
	ssize_t n = 0, at = -1;

	if (!bytes)
		return -ENOMEM;
	if (end > file->size)
		end = file->size;
	while (*offset < end) {
		*offset = skip_hole(file, *offset);
		/* one that begins in the window may end behind it */
		n = *offset < end ? read_some(file, *offset, bytes, at_most(room, window)) : 0;
		if (n <= 0)
			break;
		at = find_in(bytes, (size_t)n, window, header);
		if (at >= 0)
			break;
		*offset += window;
		window = window < WINDOW ? 2 * window : WINDOW;
	}
	free(bytes);
	if (at < 0)
		return n < 0 ? (int)n : 0;
	*offset += (uint64_t)at;
	return *offset < end;
}
