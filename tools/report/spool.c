// SPDX-License-Identifier: GPL-2.0-or-later
#include "spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#define EFFORT 5	/* of zlib: more costs much time and saves little */

int spool_open(struct spool *spool, const char *directory)
{
	int fd = directory ? open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) :
			     memfd_create("cmt-spool", MFD_CLOEXEC);

	*spool = (struct spool){ 0 };
	if (fd >= 0)
		spool->file = fdopen(fd, "w+");
	else if (directory)
		spool->file = tmpfile();
	if (spool->file)
		return 0;
	if (fd >= 0)
		close(fd);
	return -errno;
}

void spool_close(struct spool *spool)
{
	if (spool->file)
		fclose(spool->file);
	free(spool->blobs);
	bytes_free(&spool->work);
	*spool = (struct spool){ 0 };
}

static int more_room(struct spool *spool)
{
	uint32_t room = spool->room ? spool->room * 2 : 256;
	struct blob *blobs;

	if (spool->nr < spool->room)
		return 0;
	blobs = reallocarray(spool->blobs, room, sizeof(*blobs));
	if (!blobs)
		return -ENOMEM;
	spool->blobs = blobs;
	spool->room = room;
	return 0;
}

int spool_add(struct spool *spool, uint32_t level, uint32_t block,
	      const struct bytes *raw)
{
	uLongf len = compressBound(raw->len);
	struct blob *blob;

	spool->work.len = 0;
	if (raw->len > UINT32_MAX / 2 || more_room(spool) ||
	    bytes_reserve(&spool->work, len) ||
	    compress2(spool->work.at, &len, raw->at, raw->len, EFFORT) != Z_OK)
		return -ENOMEM;
	if (fwrite(spool->work.at, 1, len, spool->file) != len)
		return errno ? -errno : -EIO;
	blob = &spool->blobs[spool->nr++];
	*blob = (struct blob){
		.level = level, .block = block, .raw = (uint32_t)raw->len,
		.len = (uint32_t)len, .offset = spool->offset,
	};
	spool->offset += len;
	return 0;
}

int spool_read(struct spool *spool, const struct blob *blob, struct bytes *bytes)
{
	bytes->len = 0;
	if (bytes_reserve(bytes, blob->len))
		return -ENOMEM;
	if (fseeko(spool->file, (off_t)blob->offset, SEEK_SET))
		return -errno;
	if (fread(bytes->at, 1, blob->len, spool->file) != blob->len)
		return ferror(spool->file) && errno ? -errno : -EIO;
	bytes->len = blob->len;
	return 0;
}

static int compare(uint32_t a, uint32_t b)
{
	return a < b ? -1 : a > b;
}

/* The moments of verdicts, the finest level first; then where most changes. */
static int by_need(const void *a, const void *b)
{
	const struct blob *x = a, *y = b;
	int ret = compare(y->wanted, x->wanted);

	ret = ret ? ret : compare(x->level, y->level);
	ret = ret ? ret : compare(y->len, x->len);
	return ret ? ret : compare(x->block, y->block);
}

static int by_place(const void *a, const void *b)
{
	const struct blob *x = a, *y = b;
	int ret = compare(y->level, x->level);

	return ret ? ret : compare(x->block, y->block);
}

static uint64_t cost(const struct blob *blob)
{
	return blob->kept ? 0 : (blob->len + 2ULL) / 3 * 4;
}

/* The bytes of a level that are not kept yet */
static uint64_t level_cost(const struct spool *spool, uint32_t level)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < spool->nr; i++)
		sum += spool->blobs[i].level == level ? cost(&spool->blobs[i]) : 0;
	return sum;
}

static void keep_level(struct spool *spool, uint32_t level)
{
	for (uint32_t i = 0; i < spool->nr; i++)
		spool->blobs[i].kept |= spool->blobs[i].level == level;
}

/*
 * Whole levels from @level down while there is room.  Returns the first one without; -1:
 * all of them are kept.
 */
static int keep_levels(struct spool *spool, int level, uint64_t limit, uint64_t *sum)
{
	for (; level >= 0; level--) {
		uint64_t more = level_cost(spool, (uint32_t)level);

		if (*sum + more > limit)
			break;
		keep_level(spool, (uint32_t)level);
		*sum += more;
	}
	return level;
}

/* Keep single blobs, in the order of need: wanted ones, or those of one level. */
static void keep_blobs(struct spool *spool, int level, uint64_t limit, uint64_t *sum)
{
	qsort(spool->blobs, spool->nr, sizeof(*spool->blobs), by_need);
	for (uint32_t i = 0; i < spool->nr; i++) {
		struct blob *blob = &spool->blobs[i];
		uint64_t more = cost(blob);

		if ((level < 0 ? !blob->wanted : blob->level != (uint32_t)level) ||
		    *sum + more > limit)
			continue;
		blob->kept = true;
		*sum += more;
	}
}

uint64_t spool_choose(struct spool *spool, uint64_t limit)
{
	uint64_t sum = 0;
	int coarsest = 0, level;

	if (!spool->nr)
		return 0;
	for (uint32_t i = 0; i < spool->nr; i++) {
		spool->blobs[i].kept = false;
		if (spool->blobs[i].level > (uint32_t)coarsest)
			coarsest = (int)spool->blobs[i].level;
	}
	/* without its coarsest level a page shows nothing */
	sum = level_cost(spool, (uint32_t)coarsest);
	keep_level(spool, (uint32_t)coarsest);
	level = keep_levels(spool, coarsest, limit / 2, &sum);
	keep_blobs(spool, -1, limit, &sum);
	level = keep_levels(spool, level, limit, &sum);
	if (level >= 0)
		keep_blobs(spool, level, limit, &sum);
	qsort(spool->blobs, spool->nr, sizeof(*spool->blobs), by_place);
	return sum;
}
