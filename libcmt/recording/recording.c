// SPDX-License-Identifier: LGPL-2.1-or-later
#include "reading.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define MARKS_MOST	(1U << 22)	/* 24 days of DATA chunks; 160 MiB of memory */
#define FIRST_WITHIN	(64U << 20)	/* bytes before the first chunk, at most */
#define CHUNKS_WITHIN	4096U		/* that are searched for a HEAD, and for a STATE */
#define HEAD_RAW_MAX	(64U << 10)	/* bytes of one; a recorder writes less than 3 KB */

/* The first chunk that is intact, and its version. */
static int find_first(struct cmt_recording *r, uint64_t *offset)
{
	struct rec_header header;
	int ret;

	*offset = 0;
	ret = rec_file_find(&r->file, offset, FIRST_WITHIN, &header);
	if (ret <= 0)
		return ret < 0 ? ret : -EBADMSG;
	r->version = header.version;
	r->run = header.run;
	r->has_run = true;
	return 0;
}

/* The payload of a chunk into raw.  Returns 0 or -errno. */
static int read_raw(struct cmt_recording *r, uint64_t offset, const struct rec_header *header)
{
	int err = rec_file_read(&r->file, offset + header->bytes, header->payload, &r->payload);

	return err ? err : rec_unpack(header, r->payload.bytes, &r->raw);
}

static bool is_damage(int err)
{
	return err == -EBADMSG || err == -ENODATA;
}

/* Returns 1: the HEAD at @offset is intact, 0 or -errno. */
static int try_head(struct cmt_recording *r, uint64_t offset,
		    const struct rec_header *header)
{
	int ret;

	if (header->kind != CMT_CHUNK_HEAD || header->run != r->run || header->raw > HEAD_RAW_MAX)
		return 0;
	ret = read_raw(r, offset, header);
	if (!ret)
		ret = rec_head_get(&r->head, &r->raw);
	if (is_damage(ret))
		return 0;
	r->has_head = !ret;
	return ret ? ret : 1;
}

/*
 * The clocks of HEAD are of the recorder's begin, which may be long before that of a file of
 * kept chunks: those of the first STATE replace them.  Only one STATE is read, which may be
 * large.  Returns 1: it was read, or is damaged; 0: this is none; or -errno.
 */
static int try_state(struct cmt_recording *r, uint64_t offset,
		     const struct rec_header *header)
{
	struct rec_state state = { 0 };
	int err;

	if (header->kind != CMT_CHUNK_STATE || header->run != r->run)
		return 0;
	err = read_raw(r, offset, header);
	if (!err)
		err = rec_state_get(&state, &r->raw);
	if (!err && state.state.realtime_ns) {
		r->head.monotonic_ns = state.state.monotonic_ns;
		r->head.realtime_ns = state.state.realtime_ns;
	}
	rec_state_free(&state);
	return !err || is_damage(err) ? 1 : err;
}

/* Look at chunks from @offset on, until @try_chunk returns anything but 0.  Returns 0 or -errno. */
static int find_chunk(struct cmt_recording *r, uint64_t offset,
		      int (*try_chunk)(struct cmt_recording *r, uint64_t offset,
				       const struct rec_header *header))
{
	struct rec_header header;
	int ret = 0;

	for (uint32_t i = 0; i < CHUNKS_WITHIN && offset < r->file.size; i++) {
		ret = rec_file_header(&r->file, offset, &header);
		if (!ret)
			ret = rec_file_find(&r->file, &offset, REC_ANYWHERE, &header);
		if (ret <= 0)
			return ret;
		ret = try_chunk(r, offset, &header);
		if (ret)
			return ret < 0 ? ret : 0;
		offset += rec_chunk_bytes(&header);
	}
	return 0;
}

/* A HEAD is first in the file, as a rule, and others are behind it. */
static int find_head(struct cmt_recording *r, uint64_t offset)
{
	int err = find_chunk(r, offset, try_head);

	return err ? err : find_chunk(r, offset, try_state);
}

static int recording_open(struct cmt_recording *r, int fd)
{
	uint64_t first = 0;
	int err = rec_file_open(&r->file, fd);

	if (!err)
		err = find_first(r, &first);
	if (!err && r->version >> 16 > CMT_RECORDING_VERSION >> 16)
		err = -EPROTONOSUPPORT;
	r->sync = true;
	r->places.most = MARKS_MOST;
	return err ? err : find_head(r, first);
}

/* @fd: closed with the recording, or on error. */
static int open_owned(struct cmt_recording **recording, int fd)
{
	struct cmt_recording *r = calloc(1, sizeof(*r));
	int err;

	if (!r) {
		close(fd);
		return -ENOMEM;
	}
	err = recording_open(r, fd);
	if (err)
		cmt_recording_close(r);
	else
		*recording = r;
	return err;
}

/* Does not wait for the writer of a FIFO. */
static int open_path(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return errno == ENXIO ? -ESPIPE : -errno;
	return fd;
}

int cmt_recording_open(struct cmt_recording **recording, const char *path)
{
	int fd = open_path(path);

	return fd < 0 ? fd : open_owned(recording, fd);
}

int cmt_recording_open_fd(struct cmt_recording **recording, int fd)
{
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	return own < 0 ? -errno : open_owned(recording, own);
}

int cmt_recording_version(const char *path, uint32_t *version)
{
	struct cmt_recording r = { 0 };
	uint64_t first;
	int fd = open_path(path), err;

	if (fd < 0)
		return fd;
	err = rec_file_open(&r.file, fd);
	if (!err)
		err = find_first(&r, &first);
	if (!err)
		*version = r.version;
	rec_file_close(&r.file);
	return err;
}

void cmt_recording_close(struct cmt_recording *recording)
{
	if (!recording)
		return;
	rec_file_close(&recording->file);
	rec_buffer_free(&recording->payload);
	rec_buffer_free(&recording->raw);
	rec_buffer_free(&recording->texts);
	rec_state_free(&recording->state);
	rec_model_free(recording->model);
	cmt_snapshot_free(recording->owners);
	free(recording->records);
	rec_places_free(&recording->places);
	free(recording->parts);
	free(recording);
}

const struct cmt_info *cmt_recording_info(const struct cmt_recording *recording)
{
	return recording->has_head ? &recording->head.info : NULL;
}

/* A chunk that failed for lack of memory is read again by the next call. */
static int take_chunk(struct cmt_recording *r)
{
	uint64_t pos = r->pos, sequence = r->sequence;
	int ret = recording_chunk(r);

	if (ret != 1)
		return ret;
	ret = recording_begin(r);
	if (ret == -EBADMSG) {
		recording_reject(r);
		return 2;
	}
	if (ret) {
		r->pos = pos;
		r->sequence = sequence;
		return ret;
	}
	return 1;
}

/* Returns as cmt_recording_next(), also for damage of before the sought time. */
static int next_item(struct cmt_recording *r)
{
	int ret;

	do {
		ret = recording_item(r);
		if (ret == -EBADMSG) {
			recording_reject(r);
			ret = 1;
		}
		if (!ret) {
			ret = take_chunk(r);
			/* of a chunk the items follow */
			ret = ret == 1 ? 3 : ret == 2 ? 1 : ret;
		}
	} while (ret == 3);
	/* a chunk that the end of the file cuts may be written now */
	if (ret > 0 && r->item.type == CMT_RECORDING_DAMAGE && r->item.damage != CMT_DAMAGE_CUT)
		recording_count(r);
	return ret;
}

/* Is it damage of a time before that which was sought? */
static bool is_passed(struct cmt_recording *r)
{
	if (r->item.type != CMT_RECORDING_DAMAGE || r->item.offset >= r->passed_to ||
	    r->pos > r->passed_to)
		return false;
	r->sequence = 0;
	return true;
}

int cmt_recording_next(struct cmt_recording *recording,
		       const struct cmt_recording_item **item)
{
	int ret;

	recording->ended = false;
	do
		ret = next_item(recording);
	while (ret > 0 && is_passed(recording));
	recording->ended = !ret;
	if (ret > 0)
		*item = &recording->item;
	return ret;
}

void cmt_recording_move_state(struct cmt_recording *recording, struct rec_state *to)
{
	struct rec_state *from = &recording->state;

	rec_state_free(to);
	*to = *from;
	if (to->state.stats)
		to->state.stats = &to->stats;
	if (to->state.uncore)
		to->state.uncore = &to->uncore;
	if (to->state.reader)
		to->state.reader = &to->reader;
	*from = (struct rec_state){ 0 };
}

int cmt_recording_hold(struct cmt_recording *recording)
{
	if (recording->held)
		return -EBUSY;
	recording->held = true;
	return 0;
}

void cmt_recording_drop(struct cmt_recording *recording)
{
	recording->held = false;
}

int cmt_recording_at_end(const struct cmt_recording *recording)
{
	if (!recording->ended)
		return 0;
	return recording->tailed && recording->pos >= recording->file.size ? 1 : 2;
}

static int find_places(struct cmt_recording *r)
{
	int err = rec_file_look(&r->file);

	if (err || (r->placed && r->placed_size == r->file.size))
		return err;
	err = rec_file_places(&r->file, &r->places);
	r->placed = !err;
	r->placed_size = r->file.size;
	return err;
}

int cmt_recording_about(struct cmt_recording *recording,
			struct cmt_recording_about *about)
{
	const struct rec_head *head = &recording->head;
	const struct rec_places *places = &recording->places;
	struct cmt_recording_about now = { .version = recording->version };
	int err = find_places(recording);

	if (err)
		return err;
	/*
	 * the index lists neither itself nor the tail, which has the offset of the
	 * index
	 */
	if (places->indexed)
		now.flags = CMT_RECORDING_INDEXED | CMT_RECORDING_COMPLETE;
	if (places->tailed)
		now.flags |= CMT_RECORDING_COMPLETE;
	now.start_ns = places->start_ns;
	now.end_ns = places->last.last_ns;
	now.bytes = recording->file.size;
	now.chunks = places->chunks;
	now.records = places->records;
	now.damaged = recording->damaged;
	now.damaged_bytes = recording->damaged_bytes;
	now.missing = recording->missing;
	now.monotonic_ns = head->monotonic_ns;
	now.realtime_ns = head->realtime_ns;
	now.counters = head->counters;
	now.counter_bits = head->counter_bits;
	memcpy(now.host, head->host, sizeof(now.host));
	memcpy(now.kernel, head->kernel, sizeof(now.kernel));
	memcpy(now.boot_id, head->boot_id, sizeof(now.boot_id));
	memcpy(now.program, head->program, sizeof(now.program));
	return cmt_out_copy(about, &now, sizeof(now));
}

/*
 * @way: the offset from which on all chunks are read for @ts, and the names and the state
 * there.  Returns the last DATA chunk before it, or NULL.
 */
static const struct rec_mark *find_mark(const struct cmt_recording *r, uint64_t ts,
					struct rec_mark *way)
{
	const struct rec_places *places = &r->places;
	uint32_t i = 0;

	while (i < places->nr && cmt_ts_before(places->marks[i].last_ns, ts))
		i++;
	if (i == places->nr && (!i || cmt_ts_before(places->last.last_ns, ts))) {
		*way = (struct rec_mark){
			.offset = r->file.size, .names = places->names, .state = places->state,
		};
		return i ? &places->last : NULL;
	}
	if (!i || places->step == 1) {
		*way = places->marks[i];
		return i ? &places->marks[i - 1] : NULL;
	}
	/* chunks without a mark follow, and one of them may have @ts */
	*way = places->marks[i - 1];
	way->offset = way->end;
	return &places->marks[i - 1];
}

/* Where the records of @ts begin, their names, and the state that holds there. */
static void find_way(struct cmt_recording *r, uint64_t ts)
{
	struct rec_mark way;
	const struct rec_mark *passed = find_mark(r, ts, &way);

	r->passed_to = passed ? passed->end : 0;
	r->last_ns = passed ? passed->last_ns : 0;
	r->skip_to = way.offset;
	r->state_at = way.state;
	/* a state before the names would be passed by */
	r->pos = way.names == REC_NOWHERE ? 0 :
		 way.state < way.names ? way.state : way.names;
}

uint64_t cmt_recording_sought(const struct cmt_recording *recording)
{
	return recording->sought_ns;
}

int cmt_recording_seek(struct cmt_recording *recording, uint64_t ts)
{
	int err = find_places(recording);

	if (err)
		return err;
	find_way(recording, ts);
	recording->sought_ns = ts;
	recording->stage = RECORDING_NONE;
	recording->sequence = 0;
	recording->cut_size = 0;
	recording->dropped_at = 0;
	recording->again_bytes = 0;
	recording->sync = true;
	recording->tailed = false;
	recording->ended = false;
	return 0;
}
