# SPDX-License-Identifier: LGPL-2.1-or-later
"""
What of libcmt the binding calls, as cffi takes it.

The compiler sees <cmt/cmt.h> itself, which pkg-config finds: it fills in what
stands here as "..." and does not compile what contradicts the header.  blocks.h,
and with blocks.c and slowdown.c the code that copies what the library hands out, or
hands on, is compiled together with what cffi makes.
"""
from pathlib import Path

from cffi import FFI

HERE = Path(__file__).resolve().parent
BLOCKS = (HERE / "blocks.h").read_text()

DECLARATIONS = """
#define CMT_OPEN_CONTROL ...
#define CMT_CALL_OPEN ...
#define CMT_CALL_OPEN_CONTROL ...
#define CMT_CALL_RESCTRL ...
#define CMT_READER_OLDEST ...
#define CMT_ATTACH_CHILDREN ...

#define CMT_ABI_VERSION ...

#define CMT_BACKEND_HARDWARE ...
#define CMT_BACKEND_EMULATED ...
#define CMT_BACKEND_SOFTWARE ...
#define CMT_BACKEND_RESCTRL ...
#define CMT_VENDOR_OTHER ...
#define CMT_VENDOR_INTEL ...
#define CMT_VENDOR_AMD ...
#define CMT_VENDOR_HYGON ...
#define CMT_SCOPE_PROCESS ...
#define CMT_SCOPE_CONTAINER ...
#define CMT_SCOPE_CPU ...
#define CMT_SCOPE_MANUAL ...
#define CMT_RESCTRL_RESPECT ...
#define CMT_RESCTRL_TAKE ...
#define CMT_WHY_NO_RMID ...
#define CMT_WHY_RECLAIMED ...
#define CMT_WHY_NO_OWNER ...
#define CMT_OWNER_PROCESS ...
#define CMT_OWNER_CGROUP ...
#define CMT_OWNER_CPU ...
#define CMT_OWNER_OVERFLOW ...
#define CMT_OWNER_RESCTRL ...
#define CMT_OWNER_KERNEL ...
#define CMT_REC_ALLOC ...
#define CMT_REC_FREE ...
#define CMT_REC_EXISTING ...
#define CMT_REC_UPDATE ...
#define CMT_REC_ALLOC_FAIL ...
#define CMT_REC_SAMPLE ...
#define CMT_REC_TICK ...
#define CMT_REC_PERF ...
#define CMT_REC_CHANNEL ...
#define CMT_REC_CPU_ONLINE ...
#define CMT_REC_CPU_OFFLINE ...
#define CMT_REC_STATE ...
#define CMT_REC_LOST ...
#define CMT_F_EMULATED ...
#define CMT_F_PQR_OVERWRITTEN ...
#define CMT_F_OCCUPANCY ...
#define CMT_F_MBM_TOTAL ...
#define CMT_F_MBM_LOCAL ...
#define CMT_F_RESIDUAL ...
#define CMT_F_ERROR ...
#define CMT_F_UNAVAILABLE ...
#define CMT_F_REBASED ...
#define CMT_F_CHANNEL ...
#define CMT_F_CHANNEL_IDLE ...
#define CMT_F_CYCLES ...
#define CMT_F_INSTRUCTIONS ...
#define CMT_F_LLC_MISSES ...
#define CMT_F_LLC_REFERENCES ...
#define CMT_F_COUNTERS_FIRST ...
#define CMT_F_WAITED ...
#define CMT_F_WAIT_QUOTA ...
#define CMT_F_OWNER_CGROUP ...
#define CMT_F_OWNER_CPU ...
#define CMT_F_OWNER_OVERFLOW ...
#define CMT_F_ATTACHED ...
#define CMT_F_OWNER_RESCTRL ...
#define CMT_F_OWNER_KERNEL ...
#define CMT_F_SERVICE ...
#define CMT_F_GROUP_SOLE ...
#define CMT_CONTAINER_OF_USER ...
#define CMT_CONTAINER_OVERHEAD ...
#define CMT_USAGE_CHILDREN ...
#define CMT_USAGE_WAITS ...
#define CMT_USAGE_DOMAINS ...
#define CMT_USAGE_BRIEF ...
#define CMT_USAGE_WAIT_UNKNOWN ...
#define CMT_USAGE_NAMES ...
#define CMT_USAGE_PENDING ...
#define CMT_USAGE_WHY_ERROR ...
#define CMT_USAGE_WHY_UNAVAILABLE ...
#define CMT_USAGE_WHY_GAP ...
#define CMT_USAGE_WHY_FIRST ...
#define CMT_USAGE_WHY_ENDED ...
#define CMT_USAGE_WHY_OVERWRITTEN ...
#define CMT_USAGE_WHY_OLD ...
#define CMT_USAGE_WHY_PENDING ...
#define CMT_USAGE_WHY_NOT_COUNTED ...
#define CMT_USAGE_WHY_EXCLUDED ...
#define CMT_USAGE_ROW_EMULATED ...
#define CMT_USAGE_ROW_WHOLE ...
#define CMT_USAGE_ROW_ATTACHED ...
#define CMT_USAGE_ROW_CPU ...
#define CMT_USAGE_ROW_SEEN ...
#define CMT_USAGE_ROW_BORROWED_ID ...
#define CMT_USAGE_ROW_GROUP_CPU ...
#define CMT_GROUP_NO_CPU ...

enum cmt_usage_by {
	CMT_USAGE_BY_CONTAINER,
	CMT_USAGE_BY_PROCESS,
	CMT_USAGE_BY_CPU,
	CMT_USAGE_BY_DOMAIN,
	...
};
enum cmt_usage_kind {
	CMT_USAGE_OWNER,
	CMT_USAGE_UNKNOWN,
	CMT_USAGE_OVERFLOW,
	CMT_USAGE_UNATTRIBUTED,
	CMT_USAGE_OUTSIDE,
	...
};

struct cmt_device;
struct cmt_reader;
struct cmt_slots;
struct cmt_tracker;
struct cmt_containers;
struct cmt_usage;

struct cmt_record {
	uint64_t ts;
	uint16_t type;
	uint16_t cpu;
	uint32_t flags;
	uint32_t rmid;
	uint32_t generation;
	uint32_t domain;
	union {
		uint32_t tgid;
		uint32_t interval_ns;
		uint32_t ran_ns;
	};
	union {
		struct {
			uint64_t occupancy_bytes;
			uint64_t mbm_total_bytes;
			uint64_t mbm_local_bytes;
			uint64_t residual_bytes;
		} sample;
		struct {
			uint64_t missed;
			uint64_t deferred;
			uint64_t busy_ns;
			uint32_t read;
			uint32_t waiting;
		} tick;
		struct {
			uint64_t cycles;
			uint64_t instructions;
			uint64_t waited_ns;
			uint32_t llc_misses;
			uint32_t llc_references;
		} perf;
		struct {
			uint32_t scope;
			uint32_t interval_ns;
			uint32_t resctrl;
			uint32_t resctrl_mounted;
			uint32_t counters;
		} state;
	};
};

struct cmt_info {
	uint32_t abi_version;
	uint32_t backend;
	uint32_t vendor;
	uint64_t instance;
	uint32_t nr_cpus;
	uint32_t nr_rmids;
	uint32_t rmids_usable;
	uint32_t events;
	uint32_t upscale_bytes;
	uint32_t counter_bits;
	uint32_t ring_records;
	uint32_t interval_min_ns;
	uint32_t interval_max_ns;
	uint64_t limbo_ns;
	uint64_t l3_bytes;
	uint64_t ring_hold_ns;
	uint32_t budget_ns;
	uint32_t idle_ticks;
	char module_version[...];
	char reason[...];
	char mbm_reason[...];
	uint32_t counters;
	char perf_reason[...];
	char wait_reason[...];
	...;
};

struct cmt_stats {
	uint32_t size;
	uint32_t rmids_active;
	uint32_t rmids_limbo;
	uint32_t rmids_free;
	uint32_t pending;
	uint32_t readers;
	uint32_t cpus_online;
	uint32_t rmids_foreign;
	uint32_t cpus_unread;
	uint64_t allocs;
	uint64_t frees;
	uint64_t alloc_fails;
	uint64_t served;
	uint64_t records;
	uint64_t ticks;
	uint64_t missed;
	uint64_t deferred;
	uint64_t samples;
	uint64_t switches;
	uint64_t pqr_writes;
	uint64_t pqr_overwritten;
	uint64_t read_errors;
	uint64_t read_unavailable;
	uint64_t busy_ns;
	uint64_t irqs_off_ns;
	uint64_t lock_held_ns;
	uint32_t cpus_foreign;
	uint32_t rings_small;
	...;
};

struct cmt_snapshot {
	uint64_t as_of;
	uint32_t count;
	...;
};
struct cmt_record *cmt_snapshot_at(const struct cmt_snapshot *, uint32_t);
void cmt_snapshot_free(struct cmt_snapshot *);

struct cmt_attached {
	size_t sz;
	uint32_t rmid;
	uint32_t generation;
	...;
};

struct cmt_error {
	size_t sz;
	char reason[...];
	char remedy[...];
	...;
};

const char *cmt_version(void);
const char *cmt_strerror(int);
int cmt_error_explain(struct cmt_error *, uint32_t, int, const char *);
int cmt_device_open(struct cmt_device **, const char *, unsigned int);
struct cmt_resctrl_opts {
	size_t sz;
	const char *root;
	uint64_t interval_ns;
	uint64_t scan_ns;
	uint64_t l3_bytes;
	...;
};
int cmt_resctrl_open(struct cmt_device **, const struct cmt_resctrl_opts *);
void cmt_device_close(struct cmt_device *);
int cmt_device_abi(const char *, uint32_t *);
int cmt_device_fd(const struct cmt_device *);
const struct cmt_info *cmt_device_info(const struct cmt_device *);
int cmt_device_stats(const struct cmt_device *, struct cmt_stats *);
int cmt_device_snapshot(const struct cmt_device *, struct cmt_snapshot **);
int cmt_device_pending(const struct cmt_device *, struct cmt_snapshot **);
int cmt_device_interval(const struct cmt_device *, uint32_t *);
int cmt_device_set_interval(struct cmt_device *, uint32_t);
int cmt_device_scope(const struct cmt_device *, uint32_t *);
int cmt_device_set_scope(struct cmt_device *, uint32_t, const char *,
			 uint32_t *);
int cmt_device_patterns(const struct cmt_device *, char **);
int cmt_device_attach(struct cmt_device *, uint32_t, uint64_t, uint32_t,
		      struct cmt_attached *);
int cmt_device_detach(struct cmt_device *, uint32_t, uint64_t);
int cmt_device_resctrl(const struct cmt_device *, uint32_t *, _Bool *);
int cmt_device_set_resctrl(struct cmt_device *, uint32_t);
#define CMT_REASON_LEN ...
int cmt_device_counters(const struct cmt_device *, uint32_t *, char *);
int cmt_device_set_counters(struct cmt_device *, uint32_t);
int cmt_device_set_values(struct cmt_device *, uint32_t);
int cmt_device_cgroup_path(const struct cmt_device *, uint64_t, char *, size_t);

struct cmt_reader_opts {
	size_t sz;
	uint64_t latency_ns;
	uint32_t watermark;
	uint32_t flags;
	...;
};

struct cmt_reader_counts {
	size_t sz;
	uint64_t emitted;
	uint64_t delivered;
	uint64_t lost;
	uint64_t late;
	uint64_t malformed;
	uint64_t pending;
	uint64_t quiet;
	uint64_t latency_ns;
	...;
};

int cmt_reader_new(struct cmt_reader **, struct cmt_device *,
		   const struct cmt_reader_opts *);
void cmt_reader_free(struct cmt_reader *);
int cmt_reader_read(struct cmt_reader *, struct cmt_record *, unsigned int);
int cmt_reader_feed(struct cmt_reader *, struct cmt_slots *);
int cmt_reader_wait(struct cmt_reader *, int);
int cmt_reader_counts(const struct cmt_reader *, struct cmt_reader_counts *);
int cmt_reader_cpu_counts(const struct cmt_reader *, uint32_t,
			  struct cmt_reader_counts *);
uint64_t cmt_record_lost(const struct cmt_record *);

struct cmt_owner {
	size_t sz;
	uint64_t since;
	uint64_t until;
	uint64_t cgroup_id;
	uint64_t residual_bytes;
	uint32_t rmid;
	uint32_t generation;
	uint32_t kind;
	uint32_t tgid;
	uint32_t cpu;
	uint32_t why;
	_Bool attached;
	_Bool freed;
	char comm[...];
	_Bool service;
	_Bool sole;
	_Bool residual_known;
	uint32_t group_tid;
	uint32_t group_cpu;
	...;
};

int cmt_record_owner(const struct cmt_record *, struct cmt_owner *);
const struct cmt_owner *cmt_tracker_lookup(struct cmt_tracker *, uint32_t,
					   uint64_t);

struct cmt_slots_opts {
	size_t sz;
	uint64_t slot_ns;
	uint32_t window;
	uint32_t nr_rmids;
	uint32_t nr_cpus;
	...;
};

struct cmt_slots_counts {
	size_t sz;
	uint64_t added;
	uint64_t late;
	uint64_t malformed;
	uint64_t unknown;
	uint64_t retired;
	...;
};

int cmt_slots_flush(struct cmt_slots *);
struct cmt_tracker *cmt_slots_tracker(struct cmt_slots *);
int cmt_slots_counts(const struct cmt_slots *, struct cmt_slots_counts *);

struct cmt_container {
	size_t sz;
	uint64_t cgroup_id;
	int runtime;
	char name[...];
	char id[...];
	char pod[...];
	const char *path;
	const char *container_name;
	const char *pod_name;
	const char *pod_namespace;
	const char *image;
	uint32_t own_len;
	uint32_t flags;
	uint32_t uid;
	...;
};

const char *cmt_runtime_name(int);
void cmt_container_name(const char *, struct cmt_container *);
struct cmt_containers_opts {
	size_t sz;
	const struct cmt_device *device;
	const char *cgroup_root;
	...;
};
int cmt_containers_new(struct cmt_containers **,
		       const struct cmt_containers_opts *);
int cmt_containers_set_root(struct cmt_containers *, const char *);
void cmt_containers_free(struct cmt_containers *);
const struct cmt_container *
cmt_containers_lookup(struct cmt_containers *, uint64_t);
const struct cmt_container *
cmt_containers_find(struct cmt_containers *, uint64_t);
void cmt_containers_forget(struct cmt_containers *, uint64_t);

struct cmt_recording;

struct cmt_usage_opts {
	size_t sz;
	struct cmt_device *device;
	struct cmt_recording *recording;
	uint32_t by;
	uint32_t flags;
	uint64_t interval_ns;
	uint64_t slot_ns;
	uint64_t counters;
	uint64_t values;
	...;
};

struct cmt_usage_occupancy {
	_Bool known;
	_Bool partial;
	_Bool residual_known;
	uint32_t why;
	uint64_t last_bytes;
	uint64_t least_bytes;
	uint64_t most_bytes;
	uint64_t mean_bytes;
	uint64_t residual_bytes;
	uint64_t age_ns;
	uint32_t slots;
	...;
};

struct cmt_usage_rate {
	_Bool known;
	_Bool partial;
	uint32_t why;
	uint64_t bytes;
	double rate;
	double lo, hi;
	...;
};

struct cmt_usage_counters {
	_Bool known;
	_Bool partial;
	_Bool quota;
	uint32_t why;
	uint32_t values;
	uint32_t bounds;
	uint64_t ran_ns;
	uint64_t cycles;
	uint64_t instructions;
	uint64_t llc_misses;
	uint64_t llc_references;
	uint64_t waited_ns;
	double cpu_share;
	double wait_share;
	double ipc;
	double mpki;
	...;
};

struct cmt_usage_coverage {
	double occupancy;
	double total;
	double local;
	...;
};

struct cmt_usage_row {
	enum cmt_usage_kind kind;
	uint32_t owner;
	uint32_t flags;
	uint32_t why;
	uint64_t cgroup_id;
	char comm[...];
	uint32_t pid;
	uint32_t rmid;
	uint32_t generation;
	uint32_t domain;
	uint32_t cpu;
	uint32_t rmids;
	uint32_t pending;
	uint64_t l3_bytes;
	struct cmt_usage_occupancy occupancy;
	struct cmt_usage_rate total;
	struct cmt_usage_rate local;
	uint32_t first_child;
	uint32_t nr_children;
	uint32_t ticks;
	uint32_t busy_ticks;
	uint64_t missed;
	uint64_t busy_ns;
	uint64_t lost;
	struct cmt_usage_counters counters;
	struct cmt_usage_coverage coverage;
	...;
};

struct cmt_usage_idle {
	_Bool known;
	_Bool partial;
	uint32_t why;
	uint64_t idle_cycles;
	uint64_t busy_cycles;
	double share;
	...;
};

struct cmt_usage_channel {
	uint32_t socket;
	uint32_t channel;
	uint32_t why;
	struct cmt_usage_rate read;
	struct cmt_usage_rate written;
	struct cmt_usage_rate total;
	struct cmt_usage_idle idle;
	...;
};

struct cmt_usage_difference {
	_Bool known;
	uint32_t why;
	double rate;
	double lo, hi;
	...;
};

struct cmt_usage_memory {
	struct cmt_usage_rate read;
	struct cmt_usage_rate written;
	struct cmt_usage_rate total;
	struct cmt_usage_rate rmids;
	struct cmt_usage_difference unattributed;
	...;
};

struct cmt_usage_wait_part {
	uint32_t row;
	uint32_t by;
	uint64_t ns;
	...;
};
struct cmt_usage_frame {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t last_ns;
	uint64_t elapsed_ns;
	uint32_t by;
	uint32_t nr_rows;
	uint32_t nr_children;
	_Bool emulated;
	_Bool pending_known;
	uint32_t nr_cpus;
	uint32_t nr_domains;
	uint32_t sampling_ns;
	uint64_t busy_ns;
	uint64_t missed;
	uint64_t pending_ns;
	uint32_t pending;
	uint64_t lost;
	uint64_t lost_ever;
	uint64_t dropped;
	uint64_t dropped_ever;
	uint32_t nr_slots;
	uint32_t nr_gaps;
	uint64_t counted_ns;
	uint32_t counters;
	uint32_t nr_channels;
	struct cmt_usage_memory memory;
	uint32_t nr_waits;
	...;
};

#define CMT_RECORDING_COMPLETE ...
#define CMT_RECORDING_INDEXED ...
struct cmt_recording_about {
	size_t sz;
	uint32_t flags;
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t monotonic_ns;
	uint64_t realtime_ns;
	uint64_t bytes;
	uint64_t chunks;
	uint64_t records;
	uint64_t damaged;
	uint64_t damaged_bytes;
	uint64_t missing;
	uint32_t counters;
	uint32_t counter_bits;
	char host[...];
	char kernel[...];
	char boot_id[...];
	char program[...];
	...;
};

int cmt_recording_open(struct cmt_recording **, const char *);
void cmt_recording_close(struct cmt_recording *);
const struct cmt_info *cmt_recording_info(const struct cmt_recording *);
int cmt_recording_about(struct cmt_recording *, struct cmt_recording_about *);
int cmt_recording_seek(struct cmt_recording *, uint64_t);

int cmt_usage_new(struct cmt_usage **, const struct cmt_usage_opts *);
void cmt_usage_free(struct cmt_usage *);
int cmt_usage_next(struct cmt_usage *, const struct cmt_usage_frame **);
int cmt_usage_peek(struct cmt_usage *, const struct cmt_usage_frame **);
int cmt_usage_timeout(const struct cmt_usage *);
int cmt_usage_wait(struct cmt_usage *, int);
int cmt_usage_refresh(struct cmt_usage *, unsigned int);
struct cmt_containers *cmt_usage_containers(struct cmt_usage *);

#define CMT_CULPRIT_NO_CGROUP ...
#define CMT_CULPRIT_OUTSIDE ...
#define CMT_INCIDENT_OPEN ...
#define CMT_INCIDENT_BEFORE ...
#define CMT_INCIDENT_CLIPPED ...
#define CMT_INCIDENT_LOST ...
#define CMT_INCIDENT_UNKNOWN ...

enum cmt_slowdown_resource {
	CMT_SLOWDOWN_CPU,
	CMT_SLOWDOWN_CACHE,
	CMT_SLOWDOWN_MEMORY,
	...
};

struct cmt_culprit;

struct cmt_culprit_opts {
	size_t sz;
	uint32_t max_owners;
	uint32_t unit_bytes;
	...;
};

struct cmt_culprit_counts {
	size_t sz;
	uint32_t counted;
	uint32_t referenced;
	...;
};

struct cmt_slowdown {
	uint64_t id;
	uint64_t by;
	uint32_t domain;
	enum cmt_slowdown_resource resource;
	double share;
	double low;
	double high;
	double most;
	double cpus;
	...;
};

struct cmt_incident_part {
	uint64_t by;
	uint32_t domain;
	enum cmt_slowdown_resource resource;
	double share;
	uint64_t held_bytes;
	uint64_t lost_ns;
	...;
};

struct cmt_incident {
	uint64_t number;
	uint64_t id;
	uint32_t flags;
	uint32_t nr_parts;
	uint64_t begin_ns;
	uint64_t end_ns;
	double share;
	double low;
	double high;
	double worst;
	uint64_t lost_ns;
	double cpi;
	double mpki;
	struct cmt_incident_part parts[...];
	double cpi_without;
	...;
};

int cmt_culprit_new(struct cmt_culprit **, const struct cmt_culprit_opts *);
void cmt_culprit_free(struct cmt_culprit *);
int cmt_culprit_counts(const struct cmt_culprit *, struct cmt_culprit_counts *);
int cmt_culprit_slowdown(const struct cmt_culprit *, struct cmt_slowdown *, uint32_t);
int cmt_culprit_slowdown_minute(const struct cmt_culprit *, struct cmt_slowdown *,
				uint32_t);
int cmt_culprit_too_little(const struct cmt_culprit *, uint64_t *, uint32_t);
int cmt_culprit_next_incident(struct cmt_culprit *, const struct cmt_incident **);
const struct cmt_incident *
cmt_culprit_incident_at(const struct cmt_culprit *, uint32_t);
""" + BLOCKS + """
int slot_queue_new(struct slot_queue **, const struct cmt_slots_opts *);
void slot_queue_free(struct slot_queue *);
int slot_queue_feed(struct slot_queue *, struct cmt_reader *);
struct slot_block *slot_queue_take(struct slot_queue *);
struct cmt_slots *slot_queue_slots(struct slot_queue *);
size_t container_put(char *, const struct cmt_container *);
struct usage_block *usage_block_copy(const struct cmt_usage_frame *);
int slowdown_read(struct cmt_usage *, struct cmt_culprit *, uint32_t,
		  struct slowdown_read *);
void free(void *);
"""

SOURCE = (HERE / "blocks.c").read_text().replace('#include "blocks.h"\n', BLOCKS)
SOURCE += (HERE / "slowdown.c").read_text()

builder = FFI()
builder.cdef(DECLARATIONS)
builder.set_source_pkgconfig("cmt._libcmt", ["libcmt"], SOURCE)

if __name__ == "__main__":
    builder.compile(verbose=True)
