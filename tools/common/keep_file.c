// SPDX-License-Identifier: GPL-2.0-or-later
#include "keep_file.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static int write_bytes(struct keep_file *file, const void *bytes, size_t len)
{
	const char *at = bytes;

	while (len) {
		ssize_t n = write(file->fd, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -ENOSPC;
		at += n;
		len -= (size_t)n;
		file->size += (uint64_t)n;
	}
	return 0;
}

static int write_kept(struct keep_file *file, const struct kept *kept)
{
	file->places[file->nr_places] = kept->place;
	file->places[file->nr_places++].offset = file->size;
	return write_bytes(file, kept->bytes, kept->place.nr_bytes);
}

static uint32_t count(const struct kept *kept)
{
	uint32_t nr = 1;

	for (; kept; kept = kept->next)
		nr++;
	return nr;
}

int keep_file_write(struct keep_file *file, const struct keep *keep)
{
	const struct kept *kept = keep_first(keep);
	int ret;

	if (!keep->head || !kept)
		return -ENODATA;
	file->places = calloc(count(kept), sizeof(*file->places));
	if (!file->places)
		return -ENOMEM;
	ret = write_kept(file, keep->head);
	for (; kept && !ret; kept = kept->next)
		ret = write_kept(file, kept);
	return ret;
}

int keep_file_end(struct keep_file *file, struct cmt_recorder *recorder)
{
	return cmt_recorder_index(recorder, file->places, file->nr_places);
}

int keep_file_chunk(struct keep_file *file, const struct cmt_chunk *chunk)
{
	return write_bytes(file, chunk->bytes, chunk->nr_bytes);
}

void keep_file_free(struct keep_file *file)
{
	free(file->places);
	file->places = NULL;
	file->nr_places = 0;
}
