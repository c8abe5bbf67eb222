# SPDX-License-Identifier: LGPL-2.1-or-later
"""
What of libcmt the binding calls, as cffi takes it.

The compiler sees <cmt/cmt.h> itself, which pkg-config finds: it fills in what
stands here as "..." and does not compile what contradicts the header.
"""
from cffi import FFI

DECLARATIONS = """
#define CMT_OPEN_CONTROL ...
#define CMT_READER_OLDEST ...
#define CMT_ATTACH_CHILDREN ...

#define CMT_ABI_VERSION ...

#define CMT_BACKEND_HARDWARE ...
#define CMT_BACKEND_EMULATED ...
#define CMT_VENDOR_OTHER ...
#define CMT_VENDOR_INTEL ...
#define CMT_VENDOR_AMD ...
#define CMT_VENDOR_HYGON ...
#define CMT_SCOPE_PROCESS ...
#define CMT_SCOPE_CONTAINER ...
#define CMT_SCOPE_CPU ...
#define CMT_SCOPE_MANUAL ...
#define CMT_OWNER_PROCESS ...
#define CMT_OWNER_CGROUP ...
#define CMT_OWNER_CPU ...
#define CMT_OWNER_REST ...
#define CMT_REC_ALLOC ...
#define CMT_REC_FREE ...
#define CMT_REC_EXISTING ...
#define CMT_REC_UPDATE ...
#define CMT_REC_ALLOC_FAIL ...
#define CMT_REC_SAMPLE ...
#define CMT_REC_TICK ...
#define CMT_REC_CPU_ONLINE ...
#define CMT_REC_CPU_OFFLINE ...
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
#define CMT_F_OWNER_CGROUP ...
#define CMT_F_OWNER_CPU ...
#define CMT_F_OWNER_REST ...
#define CMT_F_ATTACHED ...

struct cmt_device;
struct cmt_reader;
struct cmt_slots;
struct cmt_tracker;
struct cmt_containers;

struct cmt_record {
	uint64_t ts;
	uint16_t type;
	uint16_t flags;
	uint32_t cpu;
	uint32_t rmid;
	uint32_t generation;
	uint32_t domain;
	union {
		uint32_t tgid;
		uint32_t interval_ns;
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
			uint64_t samples;
		} tick;
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
	char module_version[...];
	char reason[...];
	...;
};

struct cmt_stats {
	uint32_t rmids_active;
	uint32_t rmids_limbo;
	uint32_t rmids_free;
	uint32_t waiting;
	uint32_t readers;
	uint32_t cpus_online;
	uint32_t rmids_foreign;
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
	...;
};

struct cmt_snapshot {
	uint64_t as_of;
	uint32_t count;
	struct cmt_record records[];
	...;
};

struct cmt_attached {
	uint32_t rmid;
	uint32_t generation;
};

const char *cmt_version(void);
int cmt_device_open(struct cmt_device **, const char *, unsigned int);
void cmt_device_close(struct cmt_device *);
int cmt_device_abi(const char *, uint32_t *);
int cmt_device_fd(const struct cmt_device *);
const struct cmt_info *cmt_device_info(const struct cmt_device *);
int cmt_device_stats(const struct cmt_device *, struct cmt_stats *);
int cmt_device_snapshot(const struct cmt_device *, struct cmt_snapshot **);
int cmt_device_waiting(const struct cmt_device *, struct cmt_snapshot **);
int cmt_device_interval(const struct cmt_device *, uint32_t *);
int cmt_device_set_interval(struct cmt_device *, uint32_t);
int cmt_device_scope(const struct cmt_device *, uint32_t *);
int cmt_device_set_scope(struct cmt_device *, uint32_t, const char *,
			 uint32_t *);
int cmt_device_patterns(const struct cmt_device *, char **);
int cmt_device_attach(struct cmt_device *, uint32_t, uint64_t, uint32_t,
		      struct cmt_attached *);
int cmt_device_detach(struct cmt_device *, uint32_t, uint64_t);

struct cmt_reader_opts {
	size_t sz;
	uint64_t latency_ns;
	uint32_t watermark;
	uint32_t flags;
	...;
};

struct cmt_reader_counts {
	uint64_t emitted;
	uint64_t delivered;
	uint64_t lost;
	uint64_t late;
	uint64_t malformed;
	uint64_t pending;
	...;
};

int cmt_reader_new(struct cmt_reader **, struct cmt_device *,
		   const struct cmt_reader_opts *);
void cmt_reader_free(struct cmt_reader *);
int cmt_reader_read(struct cmt_reader *, struct cmt_record *, unsigned int);
int cmt_reader_feed(struct cmt_reader *, struct cmt_slots *);
int cmt_reader_wait(struct cmt_reader *, int);
void cmt_reader_counts(const struct cmt_reader *, struct cmt_reader_counts *);
int cmt_reader_cpu_counts(const struct cmt_reader *, uint32_t,
			  struct cmt_reader_counts *);
uint64_t cmt_record_lost(const struct cmt_record *);

struct cmt_owner {
	uint64_t since;
	uint64_t until;
	uint64_t cgroup_id;
	uint64_t residual_bytes;
	uint32_t rmid;
	uint32_t generation;
	uint32_t kind;
	uint32_t tgid;
	uint32_t cpu;
	_Bool attached;
	_Bool freed;
	char comm[...];
	...;
};

int cmt_record_owner(const struct cmt_record *, struct cmt_owner *);
const struct cmt_owner *cmt_tracker_lookup(struct cmt_tracker *, uint32_t,
					   uint64_t);

struct cmt_slot_entry {
	uint32_t rmid;
	uint32_t generation;
	uint32_t domain;
	uint32_t samples;
	uint64_t ts;
	uint16_t flags;
	uint64_t occupancy_bytes;
	uint64_t residual_bytes;
	uint64_t mbm_total_bytes;
	uint64_t mbm_local_bytes;
	const struct cmt_owner *owner;
	...;
};

struct cmt_slot_cpu {
	uint32_t cpu;
	uint32_t domain;
	uint32_t ticks;
	uint32_t busy_ticks;
	uint32_t rmid;
	uint32_t generation;
	uint16_t flags;
	uint32_t interval_ns;
	uint64_t missed;
	uint64_t deferred;
	uint64_t busy_ns;
	uint64_t samples;
	const struct cmt_owner *owner;
	...;
};

struct cmt_slot {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t lost;
	uint32_t nr_entries;
	uint32_t nr_cpus;
	const struct cmt_slot_entry *entries;
	const struct cmt_slot_cpu *cpus;
	...;
};

struct cmt_slots_opts {
	size_t sz;
	uint64_t slot_ns;
	uint32_t window;
	uint32_t nr_rmids;
	uint32_t nr_cpus;
	...;
};

struct cmt_slots_counts {
	uint64_t added;
	uint64_t late;
	uint64_t malformed;
	uint64_t unknown;
	uint64_t retired;
	...;
};

typedef void (*cmt_slot_fn)(void *, const struct cmt_slot *);
int cmt_slots_new(struct cmt_slots **, const struct cmt_slots_opts *,
		  cmt_slot_fn, void *);
void cmt_slots_free(struct cmt_slots *);
void cmt_slots_flush(struct cmt_slots *);
struct cmt_tracker *cmt_slots_tracker(struct cmt_slots *);
void cmt_slots_counts(const struct cmt_slots *, struct cmt_slots_counts *);

struct cmt_container {
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
	...;
};

const char *cmt_runtime_name(int);
void cmt_container_name(const char *, struct cmt_container *);
int cmt_containers_new(struct cmt_containers **, const char *);
int cmt_containers_set_root(struct cmt_containers *, const char *);
void cmt_containers_free(struct cmt_containers *);
const struct cmt_container *
cmt_containers_lookup(struct cmt_containers *, uint64_t);
void cmt_containers_forget(struct cmt_containers *, uint64_t);

void free(void *);
extern "Python" void retired(void *, const struct cmt_slot *);
"""

SOURCE = """
#include <stdlib.h>
#include <cmt/cmt.h>
"""

builder = FFI()
builder.cdef(DECLARATIONS)
builder.set_source_pkgconfig("cmt._libcmt", ["libcmt"], SOURCE)

if __name__ == "__main__":
    builder.compile(verbose=True)
