/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Recordings: records in a file, which are read again unchanged.
 *
 *	cmt_recorder_new(&recorder, &opts);		opts.write appends to a file
 *	cmt_recorder_begin(recorder);
 *	cmt_device_snapshot(dev, &snapshot);
 *	cmt_recorder_snapshot(recorder, snapshot);
 *	for (;;) {
 *		n = cmt_reader_read(reader, records, room);
 *		cmt_recorder_add(recorder, records, n);
 *		once a second:
 *			cmt_recorder_collect_state(recorder, dev, reader, containers, NULL);
 *	}
 *	cmt_recorder_end(recorder);
 *
 * and to read it, with the same rows as a live usage:
 *
 *	cmt_recording_open(&recording, path);
 *	opts.recording = recording;
 *	cmt_usage_new(&usage, &opts);
 *	while (cmt_usage_next(usage, &frame) > 0)
 *		use(frame);
 *
 * A recording is a sequence of chunks; chunks are only appended.  A chunk has its own
 * checksums and is read without other chunks, so that damage is limited to the damaged
 * chunk.  A HEAD chunk followed by any run of consecutive chunks is a recording, too, so
 * the newest chunks of a bounded buffer can be saved at any time.
 * docs/recording.md has the format, byte by byte.
 *
 * Records come out bit for bit and in the order in which they were added, including
 * CMT_REC_LOST and records of types or with bits that this library does not know.  The
 * only exception is CMT_RECORDER_ROUND.
 *
 * Times are CLOCK_MONOTONIC, ns, of the machine that was recorded; members with realtime
 * in their names are CLOCK_REALTIME, ns since 1970.  Sizes are bytes.  One thread at a
 * time may use a recorder or a recording; neither starts threads.
 */
#ifndef CMT_RECORDING_H
#define CMT_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmt/api.h>
#include <cmt/containers.h>
#include <cmt/culprit.h>
#include <cmt/device.h>
#include <cmt/reader.h>

#ifdef __cplusplus
extern "C" {
#endif

struct cmt_recorder;
struct cmt_recording;

/** Version of the format: major << 16 | minor.  A reader refuses a higher major number.  A
 *  higher minor number only adds items, which an older reader skips.
 */
#define CMT_RECORDING_VERSION	(1U << 16 | 0U)

/** What a chunk is. */
enum cmt_chunk_kind {
	CMT_CHUNK_HEAD = 1,	/**< the machine: first in a file, and repeated, so that
				 *   the first one may be damaged
				 */
	CMT_CHUNK_DATA = 2,	/**< records, and the owners before the first record */
	CMT_CHUNK_NAMES = 3,	/**< names of cgroups */
	CMT_CHUNK_STATE = 4,	/**< struct cmt_recording_state */
	CMT_CHUNK_INDEX = 5,	/**< offsets of the chunks; near the end, may be missing */
	CMT_CHUNK_TAIL = 6,	/**< the recording was ended; the last chunk */
};

/** A complete chunk.  The library owns it: a later version may append members. */
struct cmt_chunk {
	const void *bytes;	/**< valid during the callback */
	size_t nr_bytes;	/**< at most CMT_CHUNK_MAX */
	uint32_t kind;		/**< enum cmt_chunk_kind */
	uint32_t flags;		/**< CMT_CHUNK_ALL_NAMES */
	uint64_t sequence;	/**< DATA, NAMES and STATE: 1, 2, ... since
				 *   cmt_recorder_new(); others: 0
				 */
	uint64_t first_ns;	/**< time of the first record, or of the state; 0: none */
	uint64_t last_ns;	/**< time of the last record, or of the state; 0: none */
	uint32_t records;
	uint32_t samples;	/**< of these, CMT_REC_SAMPLE */
};

/** The NAMES chunk has all names, not only new ones.  A selection of chunks that must have
 *  all names begins with such a chunk.
 */
#define CMT_CHUNK_ALL_NAMES	(1U << 0)

/** No chunk is larger. */
#define CMT_CHUNK_MAX	(16U << 20)

/**
 * Callback for a chunk: append it to a file, or keep a copy.  The callback must not call
 * the recorder.  Returns 0, or a negative value such as -ENOSPC, which stops the function
 * that called back and is returned by it.  The chunk then counts as not written
 * (cmt_recorder_counts.refused), and a reader of the recording finds it missing; the
 * recorder remains usable.
 */
typedef int (*cmt_recorder_fn)(void *ctx, const struct cmt_chunk *chunk);

struct cmt_recorder_opts {
	size_t sz;		/**< sizeof(struct cmt_recorder_opts) */
	const struct cmt_info *info;	/**< cmt_device_info(); copied.  Must be set. */
	cmt_recorder_fn write;	/**< must be set */
	void *ctx;		/**< for write */
	const char *program;	/**< name of the recording program: "cmtstat 0.9"; NULL: "" */
	const char *host;	/**< NULL: as uname(2) says */
	const char *kernel;	/**< NULL: release, as uname(2) says */
	const char *boot_id;	/**< NULL: the kernel's; "" if that cannot be read */
	uint64_t monotonic_ns;	/**< both clocks at one instant; 0: now */
	uint64_t realtime_ns;
	uint64_t chunk_ns;	/**< longest time of the records in a DATA chunk; 0:
				 *   500 ms; 1 ms .. 1 s
				 */
	uint32_t chunk_records;	/**< most records in a DATA chunk; 0: 65536; 64 ..
				 *   131072.  The recorder needs some 100 bytes of
				 *   memory for each
				 */
	uint32_t level;		/**< compression level of zstd, 1 .. 9; 0: 1 */
	uint32_t repeat;	/**< number of DATA chunks after which HEAD and all names
				 *   are written again; 0: 32; 1 .. 4096
				 */
	uint32_t max_names;	/**< cgroups whose names are kept; 0: 4096; 16 .. 2^20.
				 *   Those without an owner are forgotten first.
				 */
	uint32_t flags;		/**< CMT_RECORDER_* */
	uint32_t counters;	/**< values that the device was asked for, CMT_F_CYCLES |
				 *   ...; only recorded
				 */
	uint32_t reserved;	/**< 0 */
};

/** cmt_recorder_end() writes no INDEX, and the recorder keeps no offsets of chunks.  For a
 *  buffer whose oldest chunks are dropped; see cmt_recorder_index().
 */
#define CMT_RECORDER_NO_INDEX	(1U << 0)

/** Counts of the processor (CMT_REC_PERF) are rounded to nine significant bits, an error of
 *  at most 0.2 %.  The low bits do not compress; a recording without them is a third
 *  shorter.  Run times are not rounded.
 */
#define CMT_RECORDER_ROUND	(1U << 1)

/**
 * @recorder: where the recorder is stored; free it with cmt_recorder_free()
 * Writes nothing yet.  Returns 0, -EINVAL (options; no info or write) or -ENOMEM.
 */
CMT_API int cmt_recorder_new(struct cmt_recorder **recorder,
			     const struct cmt_recorder_opts *opts);

/** Free @recorder; NULL: do nothing.  Records that were not flushed are not written. */
CMT_API void cmt_recorder_free(struct cmt_recorder *recorder);

/**
 * Begin a file: write HEAD, and a NAMES chunk with all names, also where there are none.
 * Records that are not written yet follow.  To continue a recording in another file: call
 * cmt_recorder_end(), open the file, and call this function.  Returns 0, -ENOMEM or the
 * value of the callback.
 */
CMT_API int cmt_recorder_begin(struct cmt_recorder *recorder);

/**
 * Set the owners: a snapshot of cmt_device_snapshot(), before the first record, and again
 * after a CMT_REC_LOST or late records, as for a tracker.  The recorder takes later changes
 * from the records.  Begins a chunk.
 * Returns 0, -EINVAL (an impossible snapshot), -ENOMEM or the value of the callback.
 */
CMT_API int cmt_recorder_snapshot(struct cmt_recorder *recorder,
				  const struct cmt_snapshot *snapshot);

/**
 * Add records.  They are read again in this order; that of cmt_reader_read() also needs
 * the least room.  A complete chunk goes to the callback.
 *
 * Returns 0, -ENOMEM, or the value of the callback.  All records count as added in any
 * case: without memory they are counted (cmt_recorder_counts.dropped), and a reader of the
 * recording finds that records are missing.
 */
CMT_API int cmt_recorder_add(struct cmt_recorder *recorder,
			     const struct cmt_record *records, uint32_t n);

/**
 * Record the name of a cgroup: the members that cmt_containers_put() uses.  A container
 * without a path is ignored.  New and changed names are written before the records that
 * are not written yet.  Returns 0, -EINVAL (sz, a member that the library does not know, or
 * all texts together are longer than 64 KiB), -ENOSPC (there are max_names names, all of
 * cgroups with owners; the name is not recorded) or -ENOMEM.
 */
CMT_API int cmt_recorder_name(struct cmt_recorder *recorder,
			      const struct cmt_container *container);

/**
 * cmt_recorder_name() for every cgroup that owns an RMID, or owned one since the last call.
 * Looks the cgroup up in @containers, which may read files.  Returns as cmt_recorder_name().
 */
CMT_API int cmt_recorder_names(struct cmt_recorder *recorder,
			       struct cmt_containers *containers);

/**
 * State that is in no record.  The program owns the struct that it passes to a recorder.
 * The library owns the struct in an item of a recording; it is valid as long as the item.
 * A pointer NULL and a number 0 mean not known.
 */
struct cmt_recording_state {
	size_t sz;		/**< sizeof(struct cmt_recording_state); in the
				 *   library's: the bytes that exist
				 */
	uint64_t monotonic_ns;	/**< both clocks at one instant; another difference than
				 *   before means that the clock was set.  Both 0 for a
				 *   recorder: now
				 */
	uint64_t realtime_ns;
	const struct cmt_stats *stats;	/**< as cmt_device_stats() */
	const struct cmt_snapshot *pending;	/**< as cmt_device_pending() */
	const struct cmt_uncore *uncore;	/**< as cmt_device_uncore(); boxes are not
						 *   recorded, only their count
						 */
	const struct cmt_reader_counts *reader;	/**< of the recording program */
	uint32_t scope;		/**< CMT_SCOPE_* */
	uint32_t interval_ns;	/**< sampling interval in force */
	uint32_t counters;	/**< as cmt_device_counters() */
	uint32_t nr_cpus;	/**< rows of cpus: owners, not CPUs */
	const struct cmt_culprit_cpu *cpus;	/**< for cmt_culprit_add_cpu() */
	uint32_t cpu_size;	/**< bytes from one of cpus to the next; 0: their sz */
	uint32_t reserved;	/**< 0 */
	char counters_reason[CMT_REASON_LEN];	/**< as cmt_device_counters(); "": none */
};

/** Row @i of @state->cpus, below nr_cpus. */
static inline const struct cmt_culprit_cpu *
cmt_recording_cpu_at(const struct cmt_recording_state *state, uint32_t i)
{
	size_t size = state->cpu_size ? state->cpu_size : state->cpus->sz;

	return (const struct cmt_culprit_cpu *)(const void *)
		((const char *)state->cpus + (size_t)i * size);
}

/**
 * Write the records that were added before, and then the state.  Call it about once a
 * second.  @state: the recorder keeps no pointer to it.  At most 65536 pending owners and
 * 65536 rows of cpus are recorded.  Returns 0, -EINVAL (a size in @state or in what it
 * points to, a row with a member that the library does not know, reserved, or no cpus),
 * -ENOMEM or the value of the callback.
 */
CMT_API int cmt_recorder_state(struct cmt_recorder *recorder,
			       const struct cmt_recording_state *state);

/**
 * Collect and record all state that is in no record: cmt_recorder_names(), and
 * cmt_recorder_state() with values of the device, the reader and the files of the cgroups.
 * A value that cannot be read is not known; this is no error.  Call it about once a second;
 * it reads a few files of each cgroup with owners.
 *
 * @reader:     may be NULL
 * @containers: names; NULL: none
 * @root:       where cgroup v2 is mounted; used on the first call.  NULL: found by the
 *              library
 * Returns 0, -ENOMEM or the value of the callback.
 */
CMT_API int cmt_recorder_collect_state(struct cmt_recorder *recorder,
				       struct cmt_device *device,
				       const struct cmt_reader *reader,
				       struct cmt_containers *containers,
				       const char *root);

/**
 * Write the records and names that are not written yet.  Where few records come, call it
 * at least twice a second, so that little is lost when the program is killed;
 * cmt_recorder_state() does the same.  Returns 0, -ENOMEM or the value of the callback.
 */
CMT_API int cmt_recorder_flush(struct cmt_recorder *recorder);

/**
 * End the file: cmt_recorder_flush(), HEAD once more, INDEX and TAIL.  Only
 * cmt_recorder_begin() or cmt_recorder_free() may follow.  A file that was not ended is
 * valid, too.  Returns 0, -ENOMEM or the value of the callback.
 */
CMT_API int cmt_recorder_end(struct cmt_recorder *recorder);

/** The place of a chunk in a file.  Members from sequence on are as in struct cmt_chunk. */
struct cmt_chunk_place {
	uint64_t offset;	/**< of its first byte, from the begin of the file */
	uint64_t sequence;
	uint64_t first_ns;
	uint64_t last_ns;
	uint32_t nr_bytes;
	uint32_t kind;
	uint32_t flags;
	uint32_t records;
	uint64_t reserved[2];	/**< 0 */
};

/**
 * Make INDEX and TAIL for a file that the caller composed of HEAD and consecutive chunks.
 * Both go to the callback; nothing is flushed.
 * @places: all chunks of the file, in their order
 * Returns 0, -EINVAL (the places overlap or have gaps), -ENOMEM or the value of the
 * callback.
 */
CMT_API int cmt_recorder_index(struct cmt_recorder *recorder,
			       const struct cmt_chunk_place *places, uint32_t n);

/** Records, chunks and names since cmt_recorder_new(). */
struct cmt_recorder_counts {
	size_t sz;		/**< sizeof(struct cmt_recorder_counts), by the caller */
	uint64_t records;	/**< records added */
	uint64_t samples;	/**< of these, CMT_REC_SAMPLE */
	uint64_t written;	/**< records in chunks that the callback accepted */
	uint64_t dropped;	/**< records in no chunk, for lack of memory */
	uint64_t open;		/**< records that are not written yet */
	uint64_t chunks;	/**< chunks that the callback accepted, of all kinds */
	uint64_t bytes;		/**< in these chunks */
	uint64_t refused;	/**< chunks that the callback refused */
	uint64_t refused_records;	/**< records in refused chunks */
	uint64_t names;		/**< cgroups whose names are known now */
	uint64_t lost;		/**< sum of cmt_record_lost() of the added records */
};

/** records = written + dropped + open + refused_records.  Returns 0 or -EINVAL (sz). */
CMT_API int cmt_recorder_counts(const struct cmt_recorder *recorder,
				struct cmt_recorder_counts *counts);

/**
 * Open a recording; close it with cmt_recording_close().  The file is not read completely
 * here: damage is found when it is read.  A file that is being written is read up to its
 * last complete chunk.
 *
 * Returns 0, -ENODATA (the file is empty), -EBADMSG (no chunk is in it: no recording),
 * -EPROTONOSUPPORT (of a higher major version: see cmt_recording_version()), -EISDIR,
 * -ESPIPE (no regular file, such as a FIFO or a device; does not wait for a writer),
 * -ENOMEM, or -errno of open(2), fstat(2) and pread(2).
 */
CMT_API int cmt_recording_open(struct cmt_recording **recording,
			       const char *path);

/** As cmt_recording_open(); @fd is duplicated, and its offset is not used and stays. */
CMT_API int cmt_recording_open_fd(struct cmt_recording **recording, int fd);
CMT_API void cmt_recording_close(struct cmt_recording *recording);

/** The version of a file's format, also of a file that cmt_recording_open() refuses with
 *  -EPROTONOSUPPORT.  @version is as CMT_RECORDING_VERSION.  Returns 0 or as
 *  cmt_recording_open().
 */
CMT_API int cmt_recording_version(const char *path, uint32_t *version);

/**
 * The module's information: as cmt_device_info(), with CMT_INFO_ROOM bytes, and constant
 * until cmt_recording_close().  NULL: no HEAD chunk is intact.
 */
CMT_API const struct cmt_info *
cmt_recording_info(const struct cmt_recording *recording);

/** cmt_recording_about.flags */
#define CMT_RECORDING_COMPLETE	(1U << 0) /**< cmt_recorder_end() was called */
#define CMT_RECORDING_INDEXED	(1U << 1) /**< its index is intact, and was not rebuilt */

struct cmt_recording_about {
	size_t sz;		/**< sizeof(struct cmt_recording_about), by the caller */
	uint32_t version;	/**< as CMT_RECORDING_VERSION */
	uint32_t flags;		/**< CMT_RECORDING_* */
	uint64_t start_ns;	/**< of the first record; 0: there is none */
	uint64_t end_ns;	/**< of the last record */
	uint64_t monotonic_ns;	/**< both clocks at one instant: of the first
				 *   CMT_RECORDING_STATE, or where there is none, of the
				 *   recorder's begin; both 0: not known
				 */
	uint64_t realtime_ns;
	uint64_t bytes;		/**< size of the file */
	uint64_t chunks;	/**< by their headers; payloads are not read */
	uint64_t records;	/**< in these chunks, by their headers */
	/* Damage that cmt_recording_next() has found so far; each damaged part counts once,
	 * and a chunk that the end of the file cuts never: see CMT_RECORDING_COMPLETE.
	 */
	uint64_t damaged;	/**< number of CMT_RECORDING_DAMAGE items */
	uint64_t damaged_bytes;	/**< their bytes in the file */
	uint64_t missing;	/**< chunks that are known to be missing or damaged */
	uint32_t counters;	/**< as cmt_recorder_opts.counters */
	uint32_t counter_bits;	/**< significant bits of counts in PERF records; 0: all */
	/* Printable ASCII; any other byte is replaced by '?'; "": not known. */
	char host[CMT_REASON_LEN + 1];
	char kernel[CMT_REASON_LEN + 1];
	char boot_id[40];
	char program[CMT_REASON_LEN + 1];
};

/** Describe a recording.  Slow for a large file without an index, which is then rebuilt.
 *  @about: the caller sets sz.
 *  Returns 0, -EINVAL (sz), -ENOMEM or -errno of pread(2).
 */
CMT_API int cmt_recording_about(struct cmt_recording *recording,
				struct cmt_recording_about *about);

/** Types of items. */
enum cmt_recording_type {
	CMT_RECORDING_RECORDS = 1,
	CMT_RECORDING_OWNERS,	/**< for cmt_slots_sync() or cmt_usage_sync(), before
				 *   the next records: at the begin, after
				 *   cmt_recording_seek(), after damage, and where
				 *   cmt_recorder_snapshot() was called
				 */
	CMT_RECORDING_NAME,	/**< for cmt_containers_put() */
	CMT_RECORDING_STATE,
	CMT_RECORDING_DAMAGE,	/**< a part of the recording is missing here */
};

/** cmt_recording_item.damage: why a part is missing */
enum cmt_recording_damage {
	CMT_DAMAGE_HEADER = 1,	/**< the bytes are no chunk, or its header is damaged */
	CMT_DAMAGE_PAYLOAD,	/**< the payload is damaged, the header is intact */
	CMT_DAMAGE_CUT,		/**< the file ends within a chunk; a writer may still
				 *   append to it
				 */
	CMT_DAMAGE_MISSING,	/**< chunks are not in the file; bytes is 0 */
	CMT_DAMAGE_DROPPED,	/**< the recorder had no memory for records; bytes is 0 */
	CMT_DAMAGE_VERSION,	/**< a chunk is of a higher major version */
};

/** The library owns it: a later version appends members. */
struct cmt_recording_item {
	uint32_t type;		/**< enum cmt_recording_type */
	uint32_t damage;	/**< of CMT_RECORDING_DAMAGE: enum cmt_recording_damage */
	uint64_t from_ns;	/**< records: time of the first one.  Damage: last time
				 *   of records known before it; 0: none
				 */
	uint64_t to_ns;		/**< records: time of the last one.  Damage: first time
				 *   of records known after it; UINT64_MAX: the next
				 *   chunk has none, and it is from_ns of the next item
				 *   of records
				 */
	uint64_t offset;	/**< of the item's chunk, or of the damage, in the file */
	uint64_t bytes;		/**< size of the chunk, or of the damage */
	uint64_t sequence;	/**< of its chunk */
	uint64_t chunks;	/**< damage: least number of missing chunks */
	uint64_t missing_records;	/**< damage: missing records; 0: not known, but of
					 *   CMT_DAMAGE_PAYLOAD: none
					 */
	uint32_t nr_records;
	uint32_t reserved;	/**< 0 */
	/* By type; the other pointers are NULL. */
	const struct cmt_record *records;
	const struct cmt_snapshot *owners;
	const struct cmt_container *container;
	const struct cmt_recording_state *state;
};

/**
 * The next item, in the order in which they were recorded.
 * @item: valid, with all that it points to, until the next call with @recording
 *
 * Returns 1; 0: the end, of which cmt_recording_at_end() says the kind; a file that grows
 * may have more items later; -ENOMEM (the next call tries again) or -errno of pread(2).
 * Damage is an item, and no error.
 */
CMT_API int cmt_recording_next(struct cmt_recording *recording,
			       const struct cmt_recording_item **item);

/** The kind of end, if the last call of cmt_recording_next() returned 0.  1: the recording
 *  was ended, and no item follows; 2: the recording was cut, or is being written; 0: the
 *  last call returned no 0.
 */
CMT_API int cmt_recording_at_end(const struct cmt_recording *recording);

/**
 * Continue with the chunk that has the records of @ts, or with the first chunk after @ts; a
 * @ts before all records is the begin.  The next items are the names and the last state
 * that hold there, then OWNERS, then records, of which some may be before @ts.  Damage before
 * other records that are before @ts is no item, and counts for cmt_recording_about(); but in
 * a recording of more than 4,194,304 chunks with records it may be one.  A struct cmt_usage
 * that has read another part cannot continue: free it, and make a new one.
 * Returns 0, or as cmt_recording_about().
 */
CMT_API int cmt_recording_seek(struct cmt_recording *recording, uint64_t ts);

#ifdef __cplusplus
}
#endif

#endif
