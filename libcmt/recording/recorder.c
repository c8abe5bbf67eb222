// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The recorder: records wait in a chunk that is open, as they came.  When it is full, or
 * long enough, it is encoded at once: that takes some milliseconds, and the rings hold
 * more than that.
 */
#include "recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "device/device.h"
#include "record/record.h"
#include "round.h"

#define CHUNK_NS	500000000ULL
#define CHUNK_NS_MIN	1000000ULL
#define CHUNK_NS_MAX	1000000000ULL
#define CHUNK_RECORDS	65536U
#define CHUNK_RECORDS_MIN 64U
#define LEVEL_MAX	9U
#define REPEAT		32U
#define REPEAT_MAX	4096U
#define NAMES		4096U
#define NAMES_MIN	16U
#define NAMES_MAX	(1U << 20)
#define ROOM_MIN	4096U	/* records */

static void set_default(uint32_t *value, uint32_t by_default)
{
	if (!*value)
		*value = by_default;
}

static int recorder_opts(struct cmt_recorder_opts *o, const struct cmt_recorder_opts *from)
{
	int err = cmt_opts_copy(o, sizeof(*o), from);

	if (err)
		return err;
	if (!o->info || !o->write || o->reserved ||
	    o->flags & ~(CMT_RECORDER_NO_INDEX | CMT_RECORDER_ROUND) ||
	    !cmt_info_possible(o->info))
		return -EINVAL;
	if (!o->chunk_ns)
		o->chunk_ns = CHUNK_NS;
	set_default(&o->chunk_records, CHUNK_RECORDS);
	set_default(&o->level, 1);
	set_default(&o->repeat, REPEAT);
	set_default(&o->max_names, NAMES);
	if (o->chunk_ns < CHUNK_NS_MIN || o->chunk_ns > CHUNK_NS_MAX ||
	    o->chunk_records < CHUNK_RECORDS_MIN || o->chunk_records > REC_RECORDS_MAX ||
	    o->level > LEVEL_MAX || o->repeat > REPEAT_MAX ||
	    o->max_names < NAMES_MIN || o->max_names > NAMES_MAX)
		return -EINVAL;
	return 0;
}

static void read_boot_id(char *to, size_t size)
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	char text[40] = "";
	ssize_t n;

	if (fd < 0)
		return;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? strcspn(text, "\n") : 0] = '\0';
	cmt_text(to, size, text);
}

/* Neither @opts nor the memory that it refers to is kept. */
static void head_fill(struct rec_head *head, const struct cmt_recorder_opts *opts)
{
	struct utsname names = { 0 };
	/* a device may have more members, and gives its size */
	size_t size = opts->info->size < sizeof(head->info) ? sizeof(head->info) :
		      opts->info->size < CMT_INFO_ROOM ? opts->info->size : CMT_INFO_ROOM;

	memcpy(head->info_room, opts->info, size);
	uname(&names);
	cmt_text(head->host, sizeof(head->host), opts->host ? opts->host : names.nodename);
	cmt_text(head->kernel, sizeof(head->kernel),
		 opts->kernel ? opts->kernel : names.release);
	cmt_text(head->program, sizeof(head->program), opts->program);
	cmt_text(head->boot_id, sizeof(head->boot_id), opts->boot_id);
	if (!opts->boot_id)
		read_boot_id(head->boot_id, sizeof(head->boot_id));
	head->counters = opts->counters & ~CMT_F_COUNTERS_FIRST;
	head->counter_bits = opts->flags & CMT_RECORDER_ROUND ? REC_ROUND_BITS : 0;
	head->monotonic_ns = opts->monotonic_ns;
	head->realtime_ns = opts->realtime_ns;
	if (!opts->monotonic_ns && !opts->realtime_ns) {
		head->monotonic_ns = cmt_now_ns();
		head->realtime_ns = cmt_clock_ns(CLOCK_REALTIME);
	}
}

/* It distinguishes chunks of two recorders in one file. */
static uint64_t run_new(void)
{
	uint64_t run;

	if (getrandom(&run, sizeof(run), GRND_NONBLOCK) != sizeof(run))
		run = cmt_now_ns() ^ cmt_clock_ns(CLOCK_REALTIME) << 20 ^
		      (uint64_t)getpid() << 40;
	return run;
}

int cmt_recorder_new(struct cmt_recorder **recorder, const struct cmt_recorder_opts *opts)
{
	struct cmt_recorder_opts o;
	struct cmt_recorder *r;
	int err = recorder_opts(&o, opts);

	if (err)
		return err;
	r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	r->opts = o;
	r->root = -1;
	r->run = run_new();
	head_fill(&r->head, &o);
	r->names.max = o.max_names;
	r->packer = rec_packer_new(o.level);
	r->model = rec_model_new();
	err = rec_owners_init(&r->owners, r->head.info.nr_rmids);
	if (err || !r->packer || !r->model) {
		cmt_recorder_free(r);
		return -ENOMEM;
	}
	*recorder = r;
	return 0;
}

void cmt_recorder_free(struct cmt_recorder *recorder)
{
	if (!recorder)
		return;
	rec_packer_free(recorder->packer);
	rec_model_free(recorder->model);
	rec_owners_free(&recorder->owners);
	rec_names_free(&recorder->names);
	rec_buffer_free(&recorder->raw);
	rec_buffer_free(&recorder->before);
	free(recorder->records);
	free(recorder->places);
	if (recorder->root >= 0)
		close(recorder->root);
	free(recorder);
}

static bool has_sequence(uint32_t kind)
{
	return kind == CMT_CHUNK_DATA || kind == CMT_CHUNK_NAMES ||
	       kind == CMT_CHUNK_STATE;
}

static void count_chunk(struct cmt_recorder *recorder, const struct cmt_chunk *chunk,
			int refused)
{
	struct cmt_recorder_counts *counts = &recorder->counts;

	if (refused) {
		counts->refused++;
		counts->refused_records += chunk->records;
		return;
	}
	counts->written += chunk->records;
	counts->chunks++;
	counts->bytes += chunk->nr_bytes;
	recorder_place(recorder, chunk);
}

/*
 * Make a chunk of raw, and empty raw.  A number in the sequence is used only if there
 * is a chunk.  Returns 0, -ENOMEM or -E2BIG.
 */
static int pack(struct cmt_recorder *recorder, struct rec_header *header,
		const struct rec_cuts *cuts, const struct rec_buffer **bytes)
{
	int err;

	header->version = CMT_RECORDING_VERSION;
	header->run = recorder->run;
	if (has_sequence(header->kind))
		header->sequence = recorder->sequence + 1;
	err = rec_pack(recorder->packer, header, &recorder->raw, cuts, bytes);
	recorder->raw.nr = 0;
	recorder->raw.failed = false;
	if (!err && header->sequence)
		recorder->sequence = header->sequence;
	return err;
}

static int hand_out(struct cmt_recorder *recorder, const struct rec_header *header,
		    const struct rec_buffer *bytes)
{
	const struct cmt_chunk chunk = {
		.bytes = bytes->bytes, .nr_bytes = bytes->nr, .kind = header->kind,
		.flags = header->flags & CMT_CHUNK_ALL_NAMES,
		.sequence = header->sequence, .first_ns = header->first_ns,
		.last_ns = header->last_ns, .records = header->records,
		.samples = header->samples,
	};
	int ret = recorder->opts.write(recorder->opts.ctx, &chunk);

	count_chunk(recorder, &chunk, ret);
	return ret;
}

int recorder_emit(struct cmt_recorder *recorder, struct rec_header *header)
{
	const struct rec_buffer *bytes;
	int err = pack(recorder, header, NULL, &bytes);

	return err ? err : hand_out(recorder, header, bytes);
}

static int write_head(struct cmt_recorder *recorder)
{
	struct rec_header header = { .kind = CMT_CHUNK_HEAD };

	recorder->since_head = 0;
	rec_head_put(&recorder->head, &recorder->raw);
	return recorder_emit(recorder, &header);
}

/*
 * Only the first chunk of all names has the mark: a reader begins there.  It is written
 * where there are no names, too.  Names of a chunk that is not written come again.
 */
static int write_names(struct cmt_recorder *recorder, bool all)
{
	struct rec_header header = {
		.kind = CMT_CHUNK_NAMES, .flags = all ? CMT_CHUNK_ALL_NAMES : 0,
	};
	uint32_t first, at = 0;
	int ret = 0;

	while (!ret && (header.flags || (at < recorder->names.nr &&
					 (all || recorder->names.nr_fresh)))) {
		first = at;
		at = rec_names_put(&recorder->names, all, first, &recorder->raw);
		if (!recorder->raw.nr && !header.flags)
			break;
		ret = recorder_emit(recorder, &header);
		if (!ret)
			rec_names_written(&recorder->names, first, at);
		header.flags = 0;
	}
	return ret;
}

int cmt_recorder_begin(struct cmt_recorder *recorder)
{
	int ret;

	recorder->nr_places = 0;
	recorder->offset = 0;
	recorder->no_index = recorder->opts.flags & CMT_RECORDER_NO_INDEX;
	ret = write_head(recorder);
	return ret ? ret : write_names(recorder, true);
}

/* A record without a timestamp does not change the times of the chunk. */
static void header_times(struct rec_header *header, const struct cmt_record *records,
			 uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct cmt_record *r = &records[i];

		header->samples += r->type == CMT_REC_SAMPLE;
		if (r->type == CMT_REC_LOST)
			continue;
		if (!header->first_ns || cmt_ts_before(r->ts, header->first_ns))
			header->first_ns = r->ts;
		if (!header->last_ns || cmt_ts_before(header->last_ns, r->ts))
			header->last_ns = r->ts;
	}
}

/* The records have no room in a chunk: they are counted, in the next chunk. */
static void drop(struct cmt_recorder *recorder, uint32_t n)
{
	recorder->counts.dropped += n;
	recorder->dropped += n < UINT32_MAX - recorder->dropped ? n :
			     UINT32_MAX - recorder->dropped;
}

/* The chunk that is open into raw. */
static int encode(struct cmt_recorder *recorder, struct rec_cuts *cuts)
{
	struct rec_buffer *raw = &recorder->raw;
	int err;

	rec_put(raw, recorder->before.bytes, recorder->before.nr);
	raw->failed |= recorder->before.failed;
	rec_put_varint(raw, recorder->nr);
	err = rec_columns_encode(recorder->model, recorder->records, recorder->nr,
				 recorder->head.info.upscale_bytes, raw, cuts);
	if (!err && !raw->failed)
		return 0;
	raw->nr = 0;
	raw->failed = false;
	return -ENOMEM;
}

static int write_data(struct cmt_recorder *recorder)
{
	struct rec_header header = {
		.kind = CMT_CHUNK_DATA, .flags = recorder->sync ? REC_SYNC : 0,
		.records = recorder->nr, .dropped = recorder->dropped,
	};
	const struct rec_buffer *bytes;
	struct rec_cuts cuts;
	int err;

	header_times(&header, recorder->records, recorder->nr);
	err = encode(recorder, &cuts);
	if (!err)
		err = pack(recorder, &header, &cuts, &bytes);
	recorder->begun = false;
	recorder->nr = 0;
	if (err) {
		drop(recorder, header.records);
		return err;
	}
	recorder->sync = false;
	recorder->dropped = 0;
	recorder->since_head++;
	return hand_out(recorder, &header, bytes);
}

/* Repeated state, and new names, come before their records. */
static int close_chunk(struct cmt_recorder *recorder)
{
	bool again = recorder->since_head >= recorder->opts.repeat;
	int head = 0, names, data = 0;

	if (again && recorder->begun)
		head = write_head(recorder);
	names = write_names(recorder, again && recorder->begun);
	if (recorder->begun)
		data = write_data(recorder);
	return head ? head : names ? names : data;
}

int cmt_recorder_flush(struct cmt_recorder *recorder)
{
	return close_chunk(recorder);
}

/* The owners before the first record of the chunk */
static void open_chunk(struct cmt_recorder *recorder)
{
	recorder->begun = true;
	recorder->before.nr = 0;
	recorder->before.failed = false;
	rec_owners_put(&recorder->owners, &recorder->before);
}

static bool make_room(struct cmt_recorder *recorder)
{
	uint32_t room = recorder->room ? recorder->room * 2 : ROOM_MIN;

	if (recorder->nr < recorder->room)
		return true;
	if (room > recorder->opts.chunk_records)
		room = recorder->opts.chunk_records;
	return !cmt_array_reserve(&recorder->records, &recorder->room, room,
				  sizeof(*recorder->records));
}

/* Is the chunk full, or would it be too long with the record? */
static bool is_full(const struct cmt_recorder *recorder, const struct cmt_record *record)
{
	return recorder->nr &&
	       (recorder->nr == recorder->opts.chunk_records ||
		cmt_ts_before(recorder->records[0].ts + recorder->opts.chunk_ns,
			      record->ts + 1));
}

static void note_owner(struct cmt_recorder *recorder, const struct cmt_record *record)
{
	if (record->type < CMT_REC_ALLOC || record->type > CMT_REC_ALLOC_FAIL)
		return;
	rec_owners_record(&recorder->owners, record);
	/* more than there is room for have no name */
	if (record->type != CMT_REC_FREE && cmt_record_name_id(record))
		rec_names_own(&recorder->names, cmt_record_name_id(record));
}

/* Times stay: those of all owners add up to the time of a CPU. */
static void round_counts(struct cmt_record *record)
{
	record->perf.cycles = rec_round(record->perf.cycles);
	record->perf.instructions = rec_round(record->perf.instructions);
	record->perf.llc_misses = rec_round32(record->perf.llc_misses);
	record->perf.llc_references = rec_round32(record->perf.llc_references);
}

static int add_record(struct cmt_recorder *recorder, const struct cmt_record *record)
{
	int ret = is_full(recorder, record) ? close_chunk(recorder) : 0;

	recorder->counts.records++;
	recorder->counts.samples += record->type == CMT_REC_SAMPLE;
	recorder->counts.lost += cmt_record_lost(record);
	if (!recorder->begun)
		open_chunk(recorder);
	note_owner(recorder, record);
	if (!make_room(recorder)) {
		drop(recorder, 1);
		return ret ? ret : -ENOMEM;
	}
	recorder->records[recorder->nr] = *record;
	if (record->type == CMT_REC_PERF && recorder->opts.flags & CMT_RECORDER_ROUND)
		round_counts(&recorder->records[recorder->nr]);
	recorder->nr++;
	return ret;
}

int cmt_recorder_add(struct cmt_recorder *recorder, const struct cmt_record *records,
		     uint32_t n)
{
	int first = 0;

	for (uint32_t i = 0; i < n; i++) {
		int ret = add_record(recorder, &records[i]);

		if (!first)
			first = ret;
	}
	return first;
}

int cmt_recorder_snapshot(struct cmt_recorder *recorder,
			  const struct cmt_snapshot *snapshot)
{
	int ret;

	if (!cmt_snapshot_possible(snapshot, CMT_REC_EXISTING, &recorder->head.info))
		return -EINVAL;
	ret = close_chunk(recorder);
	rec_owners_sync(&recorder->owners, snapshot);
	for (uint32_t i = 0; i < snapshot->count; i++)
		note_owner(recorder, cmt_snapshot_at(snapshot, i));
	open_chunk(recorder);
	recorder->sync = true;
	return ret;
}

int cmt_recorder_name(struct cmt_recorder *recorder, const struct cmt_container *container)
{
	return rec_names_set(&recorder->names, container);
}

static void own_pending(struct cmt_recorder *recorder, const struct cmt_snapshot *pending)
{
	for (uint32_t i = 0; pending && i < pending->count; i++)
		note_owner(recorder, cmt_snapshot_at(pending, i));
}

int cmt_recorder_state(struct cmt_recorder *recorder,
		       const struct cmt_recording_state *state)
{
	struct rec_header header = { .kind = CMT_CHUNK_STATE };
	struct cmt_recording_state s;
	int err = cmt_opts_copy(&s, sizeof(s), state), ret;

	if (err || !rec_state_possible(&s))
		return -EINVAL;
	if (!s.monotonic_ns && !s.realtime_ns) {
		s.monotonic_ns = cmt_now_ns();
		s.realtime_ns = cmt_clock_ns(CLOCK_REALTIME);
	}
	own_pending(recorder, s.pending);
	ret = close_chunk(recorder);
	header.first_ns = header.last_ns = s.monotonic_ns;
	rec_state_put(&s, &recorder->raw);
	err = recorder_emit(recorder, &header);
	return ret ? ret : err;
}

int cmt_recorder_end(struct cmt_recorder *recorder)
{
	int ret = cmt_recorder_flush(recorder);

	if (!ret)
		ret = write_head(recorder);
	return ret ? ret : recorder_end_file(recorder, recorder->places,
					     recorder->nr_places, !recorder->no_index);
}

int cmt_recorder_counts(const struct cmt_recorder *recorder,
			struct cmt_recorder_counts *counts)
{
	struct cmt_recorder_counts now = recorder->counts;

	now.open = recorder->nr;
	for (uint32_t i = 0; i < recorder->names.nr; i++)
		now.names += recorder->names.all[i].bytes != NULL;
	return cmt_out_copy(counts, &now, sizeof(now));
}
