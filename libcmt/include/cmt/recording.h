/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Recordings: the records themselves, kept in a file, and read again as they were.
 *
 *	cmt_recorder_new(&recorder, &opts);		opts.write appends to a file
 *	cmt_recorder_begin(recorder);
 *	cmt_device_snapshot(dev, &snapshot);
 *	cmt_recorder_snapshot(recorder, snapshot);
 *	for (;;) {
 *		n = cmt_reader_read(reader, records, room);
 *		cmt_recorder_add(recorder, records, n);
 *		once a second:
 *			cmt_recorder_look(recorder, dev, reader, containers, NULL);
 *	}
 *	cmt_recorder_end(recorder);
 *
 * and to read it, with the rows that a live usage would have given:
 *
 *	cmt_recording_open(&recording, path);
 *	opts.recording = recording;
 *	cmt_usage_new(&usage, &opts);
 *	while (cmt_usage_next(usage, &frame) > 0)
 *		use(frame);
 *
 * A recording is a sequence of chunks, which are only appended.  A chunk has checksums
 * of its own and needs no other one to be read, so that what is damaged costs no more
 * than itself.  Every selection of a HEAD chunk and chunks that follow each other is a
 * recording, too: so the newest chunks of a bounded buffer can be saved at any time.
 * docs/recording.md has the format, byte by byte.
 *
 * Every record that was added comes out as it was, bit for bit, in the same order, also
 * one of a type or with bits that this library does not know, and CMT_REC_LOST; but for
 * what CMT_RECORDER_ROUND says.
 *
 * Times are CLOCK_MONOTONIC, ns, of the machine that was recorded, unless a member says
 * realtime: those are CLOCK_REALTIME, ns since 1970.  Sizes are bytes.  A recorder, and
 * a recording, are used by one thread at a time; neither starts threads.
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

/** Version of the format: major << 16 | minor.  A reader refuses a higher major number;
 *  a higher minor one only adds, and what it adds is skipped.
 */
#define CMT_RECORDING_VERSION	(1U << 16 | 0U)

/** What a chunk is. */
enum cmt_chunk_kind {
	CMT_CHUNK_HEAD = 1,	/**< the machine: first in a file, and again now and
				 *   then, so that the first one may be damaged
				 */
	CMT_CHUNK_DATA = 2,	/**< records, and who owned what before the first one */
	CMT_CHUNK_NAMES = 3,	/**< what cgroups are */
	CMT_CHUNK_STATE = 4,	/**< struct cmt_recording_state */
	CMT_CHUNK_INDEX = 5,	/**< where the chunks are; near the end, may be missing */
	CMT_CHUNK_TAIL = 6,	/**< the recording was ended: nothing follows */
};

/** A chunk that is complete.  The library owns it: a later version appends members. */
struct cmt_chunk {
	const void *bytes;	/**< valid during the callback */
	size_t nr_bytes;	/**< at most CMT_CHUNK_MAX */
	uint32_t kind;		/**< enum cmt_chunk_kind */
	uint32_t flags;		/**< CMT_CHUNK_ALL_NAMES */
	uint64_t sequence;	/**< of DATA, NAMES and STATE: 1, 2, ... since
				 *   cmt_recorder_new(); of others 0
				 */
	uint64_t first_ns;	/**< of its first record, or of the state; 0: none */
	uint64_t last_ns;	/**< of its last record, likewise */
	uint32_t records;
	uint32_t samples;	/**< of these, CMT_REC_SAMPLE */
};

/** A NAMES chunk that has all names there are, not only new ones.  A selection that is to
 *  have all names begins with such a chunk.
 */
#define CMT_CHUNK_ALL_NAMES	(1U << 0)

/** No chunk is larger. */
#define CMT_CHUNK_MAX	(16U << 20)

/**
 * Take a chunk: append it to a file, or keep a copy.  It must not call the recorder.
 * Returns 0, or a value that stops the function that called back, which returns it: a
 * negative one, such as -ENOSPC.  Then the chunk counts as not written
 * (cmt_recorder_counts.refused), and who reads the recording is told that it is missing;
 * the recorder can be used on.
 */
typedef int (*cmt_recorder_fn)(void *ctx, const struct cmt_chunk *chunk);

struct cmt_recorder_opts {
	size_t sz;		/**< sizeof(struct cmt_recorder_opts) */
	const struct cmt_info *info;	/**< cmt_device_info(); copied.  Must be set. */
	cmt_recorder_fn write;	/**< must be set */
	void *ctx;		/**< for write */
	const char *program;	/**< what records: "cmtstat 0.9"; NULL: "" */
	const char *host;	/**< NULL: as uname(2) says */
	const char *kernel;	/**< NULL: release, as uname(2) says */
	const char *boot_id;	/**< NULL: as the kernel says; "" if it does not */
	uint64_t monotonic_ns;	/**< both clocks at one instant; 0: now */
	uint64_t realtime_ns;
	uint64_t chunk_ns;	/**< a DATA chunk has the records of at most so long; 0:
				 *   500 ms; 1 ms .. 1 s
				 */
	uint32_t chunk_records;	/**< and at most so many; 0: 65536; 64 .. 131072.  The
				 *   recorder's memory is some 100 bytes for each.
				 */
	uint32_t level;		/**< of zstd; 0: 1; 1 .. 9 */
	uint32_t repeat;	/**< HEAD and all names come again after so many
				 *   DATA chunks; 0: 32; 1 .. 4096
				 */
	uint32_t max_names;	/**< cgroups whose names are kept; 0: 4096; 16 .. 2^20.
				 *   Those without an owner are forgotten first.
				 */
	uint32_t flags;		/**< CMT_RECORDER_* */
	uint32_t counters;	/**< what the device was asked for: CMT_F_CYCLES | ...,
				 *   for the reader to know
				 */
	uint32_t reserved;	/**< 0 */
};

/** cmt_recorder_end() writes no INDEX, and where chunks are is not kept: for a buffer that
 *  chunks leave again.  See cmt_recorder_index().
 */
#define CMT_RECORDER_NO_INDEX	(1U << 0)

/** Counts of the processor (CMT_REC_PERF) are rounded to nine significant bits, to the
 * nearest: 0.2 % at most.  Their low bits are noise that no compression removes; a
 * recording without them is a third shorter.  Run times stay as they are.
 */
#define CMT_RECORDER_ROUND	(1U << 1)

/**
 * @recorder: where the recorder is stored; free it with cmt_recorder_free()
 * Writes nothing yet.  Returns 0, -EINVAL (options; no info or write) or -ENOMEM.
 */
CMT_API int cmt_recorder_new(struct cmt_recorder **recorder,
			     const struct cmt_recorder_opts *opts);

/** Free it.  What was not flushed is not written. */
CMT_API void cmt_recorder_free(struct cmt_recorder *recorder);

/**
 * A file begins: HEAD, and a NAMES chunk with all names, if there are some.  Records that
 * are not written yet are written after these.  A recording goes on in another file by
 * cmt_recorder_end(), to open it, and this.  Returns 0, -ENOMEM or what the callback
 * returned.
 */
CMT_API int cmt_recorder_begin(struct cmt_recorder *recorder);

/**
 * Who owns what, as of @snapshot: from cmt_device_snapshot(), before the first record,
 * and again after a CMT_REC_LOST or late records, as a tracker wants it.  What owners do
 * from then on the recorder learns from the records.  Begins a chunk.
 * Returns 0, -EINVAL (an impossible snapshot), -ENOMEM or what the callback returned.
 */
CMT_API int cmt_recorder_snapshot(struct cmt_recorder *recorder,
				  const struct cmt_snapshot *snapshot);

/**
 * Add records in the order in which they are to come out: that of cmt_reader_read(), which
 * also costs the least room.  A chunk that is complete goes to the callback.
 *
 * Returns 0, -ENOMEM, or what the callback returned.  In any case all records are taken:
 * those that no room was had for are counted (cmt_recorder_counts.dropped), and the reader
 * of the recording is told that there are some missing.
 */
CMT_API int cmt_recorder_add(struct cmt_recorder *recorder,
			     const struct cmt_record *records, uint32_t n);

/**
 * What a cgroup is.  Of @container, all that cmt_containers_put() takes counts; one without
 * a path is not known, and is left out.  What is new or changed is written before the
 * records that are not written yet.  Returns 0, -EINVAL (sz), -ENOSPC (max_names, and all
 * have owners; it is not recorded) or -ENOMEM.
 */
CMT_API int cmt_recorder_name(struct cmt_recorder *recorder,
			      const struct cmt_container *container);

/**
 * cmt_recorder_name() for every cgroup that owns an RMID, or did since the last call, as
 * @containers has it or finds it; that may read files.  Returns as cmt_recorder_name().
 */
CMT_API int cmt_recorder_names(struct cmt_recorder *recorder,
			       struct cmt_containers *containers);

/**
 * What is in no record.  The program's for a recorder; the library's where a recording
 * gives it, valid with its item.  Pointers may be NULL, and numbers 0: not known.
 */
struct cmt_recording_state {
	size_t sz;		/**< sizeof(struct cmt_recording_state); of the
				 *   library's: the bytes that there are
				 */
	uint64_t monotonic_ns;	/**< both clocks at one instant: where the difference */
	uint64_t realtime_ns;	/**< is another one, somebody set the clock.  Both 0
				 *   for a recorder: now
				 */
	const struct cmt_stats *stats;
	const struct cmt_snapshot *pending;	/**< as cmt_device_pending() */
	const struct cmt_uncore *uncore;	/**< as cmt_device_uncore(), whose boxes
						 *   are not recorded: count is 0 or not
						 */
	const struct cmt_reader_counts *reader;	/**< of the recording program */
	uint32_t scope;		/**< CMT_SCOPE_* */
	uint32_t interval_ns;	/**< sampling interval in force */
	uint32_t counters;	/**< as cmt_device_counters() */
	uint32_t nr_cpus;	/**< rows of cpus: owners, not CPUs */
	const struct cmt_culprit_cpu *cpus;	/**< what kept owners from running: for
						 *   cmt_culprit_add_cpu()
						 */
	uint32_t cpu_size;	/**< bytes from one of cpus to the next; 0: their sz */
	uint32_t reserved;	/**< 0 */
	char counters_reason[CMT_REASON_LEN];	/**< likewise; "": none */
};

/** Row @i of @state->cpus, below nr_cpus. */
static inline const struct cmt_culprit_cpu *
cmt_recording_cpu_at(const struct cmt_recording_state *state, uint32_t i)
{
	size_t size = state->cpu_size ? state->cpu_size : sizeof(*state->cpus);

	return (const struct cmt_culprit_cpu *)(const void *)
		((const char *)state->cpus + (size_t)i * size);
}

/**
 * Write the state, after the records that were added before it: these are written first.
 * Once a second or so.  @state: not kept.  At most 65536 pending owners and 65536 rows of
 * cpus are recorded.  Returns 0, -EINVAL, -ENOMEM or what the callback returned.
 */
CMT_API int cmt_recorder_state(struct cmt_recorder *recorder,
			       const struct cmt_recording_state *state);

/**
 * Ask for all that is in no record, and record it: cmt_recorder_names(), and
 * cmt_recorder_state() with what device, reader, and the files of the cgroups say.  What
 * cannot be asked for is not known, and no failure.  Once a second; reads a few files of
 * each cgroup that owns something.
 *
 * @reader:     may be NULL
 * @containers: names; NULL: none
 * @root:       where cgroup v2 is mounted; NULL finds it.  Used on the first call.
 * Returns 0, -ENOMEM or what the callback returned.
 */
CMT_API int cmt_recorder_look(struct cmt_recorder *recorder,
			      struct cmt_device *device,
			      const struct cmt_reader *reader,
			      struct cmt_containers *containers,
			      const char *root);

/**
 * Write the records that are not written yet, and names.  Where few records come: at least
 * twice a second, so that little is lost when the program is killed; cmt_recorder_state()
 * does it, too.  Returns 0, -ENOMEM or what the callback returned.
 */
CMT_API int cmt_recorder_flush(struct cmt_recorder *recorder);

/**
 * The file ends: cmt_recorder_flush(), HEAD once more, INDEX and TAIL.  After it only
 * cmt_recorder_begin() or cmt_recorder_free().  A file without this is valid, too.
 * Returns 0, -ENOMEM or what the callback returned.
 */
CMT_API int cmt_recorder_end(struct cmt_recorder *recorder);

/** Where a chunk is in a file. */
struct cmt_chunk_place {
	uint64_t offset;	/**< of its first byte, from the begin of the file */
	uint64_t sequence;	/**< as of struct cmt_chunk; so all of these: */
	uint64_t first_ns;
	uint64_t last_ns;
	uint32_t nr_bytes;
	uint32_t kind;
	uint32_t flags;
	uint32_t records;
	uint64_t reserved[2];	/**< 0 */
};

/**
 * INDEX and TAIL for a file that the caller put together: HEAD and chunks that follow each
 * other.  They go to the callback; nothing is flushed.
 * @places: all chunks of the file so far, in their order
 * Returns 0, -EINVAL (they do not follow each other), -ENOMEM or what the callback
 * returned.
 */
CMT_API int cmt_recorder_index(struct cmt_recorder *recorder,
			       const struct cmt_chunk_place *places, uint32_t n);

/** What became of everything, since cmt_recorder_new(). */
struct cmt_recorder_counts {
	size_t sz;		/**< sizeof(struct cmt_recorder_counts), by the caller */
	uint64_t records;	/**< added; of these: */
	uint64_t samples;	/**< CMT_REC_SAMPLE */
	uint64_t written;	/**< records in chunks that the callback took */
	uint64_t dropped;	/**< records that are in no chunk: no memory */
	uint64_t open;		/**< records that are not written yet */
	uint64_t chunks;	/**< that the callback took, of all kinds */
	uint64_t bytes;		/**< of these */
	uint64_t refused;	/**< chunks that the callback did not take, */
	uint64_t refused_records;	/**< and their records */
	uint64_t names;		/**< cgroups whose names are known now */
	uint64_t lost;		/**< sum of cmt_record_lost() of what was added */
};

/** records = written + dropped + open + refused_records.  Returns 0 or -EINVAL (sz). */
CMT_API int cmt_recorder_counts(const struct cmt_recorder *recorder,
				struct cmt_recorder_counts *counts);

/**
 * Open a recording.  It is not read as a whole: what is damaged shows when it is read.  A
 * file that is being written is read up to its last complete chunk.
 *
 * Returns 0, -ENODATA (the file is empty), -EBADMSG (no chunk is in it: no recording),
 * -EPROTONOSUPPORT (of a higher major version: see cmt_recording_version()), -EISDIR,
 * -ESPIPE (no regular file, such as a FIFO or a device; does not wait for a writer),
 * -ENOMEM, or -errno of open(2), fstat(2) and pread(2).
 */
CMT_API int cmt_recording_open(struct cmt_recording **recording,
			       const char *path);

/** As cmt_recording_open(); @fd is duplicated, and its offset is not used. */
CMT_API int cmt_recording_open_fd(struct cmt_recording **recording, int fd);
CMT_API void cmt_recording_close(struct cmt_recording *recording);

/** The version of a file's format, whichever it is, to explain -EPROTONOSUPPORT:
 *  @version is as CMT_RECORDING_VERSION.  Returns 0 or as cmt_recording_open().
 */
CMT_API int cmt_recording_version(const char *path, uint32_t *version);

/**
 * What the module said of itself: as cmt_device_info(), with CMT_INFO_ROOM bytes, and
 * constant until cmt_recording_close().  NULL: no HEAD chunk is intact.
 */
CMT_API const struct cmt_info *
cmt_recording_info(const struct cmt_recording *recording);

/** cmt_recording_about.flags */
#define CMT_RECORDING_COMPLETE	(1U << 0) /**< cmt_recorder_end() was called */
#define CMT_RECORDING_INDEXED	(1U << 1) /**< its index is intact; else it was rebuilt */

struct cmt_recording_about {
	size_t sz;		/**< sizeof(struct cmt_recording_about), by the caller */
	uint32_t version;	/**< as CMT_RECORDING_VERSION */
	uint32_t flags;		/**< CMT_RECORDING_* */
	uint64_t start_ns;	/**< of the first record; 0: there is none */
	uint64_t end_ns;	/**< of the last record */
	uint64_t monotonic_ns;	/**< both clocks when the recorder began; both 0: */
	uint64_t realtime_ns;	/**< not known */
	uint64_t bytes;		/**< of the file, */
	uint64_t chunks;	/**< and its chunks, their payload not looked at */
	uint64_t records;	/**< in these */
	/* What cmt_recording_next() has found damaged so far, however often it was read. */
	uint64_t damaged;	/**< parts: CMT_RECORDING_DAMAGE items, */
	uint64_t damaged_bytes;	/**< their bytes in the file, */
	uint64_t missing;	/**< and chunks that are known to be missing or damaged */
	uint32_t counters;	/**< as of cmt_recorder_opts */
	uint32_t counter_bits;	/**< significant bits of what PERF records count; 0: all */
	/* Printable ASCII: any other byte became '?'; "": not known. */
	char host[CMT_REASON_LEN + 1];
	char kernel[CMT_REASON_LEN + 1];
	char boot_id[40];
	char program[CMT_REASON_LEN + 1];
};

/** Takes some time with a large file whose index is missing.  @about: the caller sets sz.
 *  Returns 0, -EINVAL (sz), -ENOMEM or -errno of pread(2).
 */
CMT_API int cmt_recording_about(struct cmt_recording *recording,
				struct cmt_recording_about *about);

/** What an item is. */
enum cmt_recording_type {
	CMT_RECORDING_RECORDS = 1,
	CMT_RECORDING_OWNERS,	/**< for cmt_tracker_sync() or cmt_usage_sync(), before
				 *   the records that follow: at the begin, after a
				 *   cmt_recording_seek() or damage, and where
				 *   cmt_recorder_snapshot() was called
				 */
	CMT_RECORDING_NAME,	/**< for cmt_containers_put() */
	CMT_RECORDING_STATE,
	CMT_RECORDING_DAMAGE,	/**< something is missing here */
};

/** cmt_recording_item.damage: why something is missing */
enum cmt_recording_damage {
	CMT_DAMAGE_HEADER = 1,	/**< bytes are no chunk, or its header is damaged */
	CMT_DAMAGE_PAYLOAD,	/**< of a chunk whose header is intact */
	CMT_DAMAGE_CUT,		/**< the file ends within a chunk; it may be being
				 *   written
				 */
	CMT_DAMAGE_MISSING,	/**< chunks are not in the file: bytes is 0 */
	CMT_DAMAGE_DROPPED,	/**< the recorder had no room for records: bytes is 0 */
	CMT_DAMAGE_VERSION,	/**< a chunk is of a higher major version */
};

/** The library owns it: a later version appends members. */
struct cmt_recording_item {
	uint32_t type;		/**< enum cmt_recording_type */
	uint32_t damage;	/**< of CMT_RECORDING_DAMAGE: enum cmt_recording_damage */
	uint64_t from_ns;	/**< of records and damage: first and last time.  Of */
	uint64_t to_ns;		/**< damage the last time known before it, 0: none, and
				 *   the first after it, UINT64_MAX: none
				 */
	uint64_t offset;	/**< of its chunk, or of what is damaged, in the file */
	uint64_t bytes;		/**< likewise; of several items of a chunk the same */
	uint64_t sequence;	/**< of its chunk */
	uint64_t chunks;	/**< of damage: chunks that are missing at least */
	uint64_t missing_records;	/**< of damage: records, 0: not known how many */
	uint32_t nr_records;
	uint32_t reserved;	/**< 0 */
	/* By type; others are NULL. */
	const struct cmt_record *records;
	const struct cmt_snapshot *owners;
	const struct cmt_container *container;
	const struct cmt_recording_state *state;
};

/**
 * The next item, in the order in which they were recorded.
 * @item: valid, with all that it points to, until the next call with @recording
 *
 * Returns 1; 0: the end, cmt_recording_at_end() says which one, and where the file grows
 * there may be more later; -ENOMEM (the next call tries again) or -errno of pread(2).
 * What is damaged is an item, and no error.
 */
CMT_API int cmt_recording_next(struct cmt_recording *recording,
			       const struct cmt_recording_item **item);

/** Has cmt_recording_next() returned 0, and been called with nothing after it?  1: the
 *  recording was ended, and no more comes; 2: it was cut, or is being written; 0: no.
 */
CMT_API int cmt_recording_at_end(const struct cmt_recording *recording);

/**
 * Go on with the chunk that has the records of @ts, or the first one after it; a @ts before
 * all of them is the begin.  First come items with the names, and the last state, that hold
 * there, then OWNERS, and then records, of which some may be before @ts.  A struct
 * cmt_usage that has read elsewhere is of no further use: make another one.
 * Returns 0, or as cmt_recording_about().
 */
CMT_API int cmt_recording_seek(struct cmt_recording *recording, uint64_t ts);

#ifdef __cplusplus
}
#endif

#endif
