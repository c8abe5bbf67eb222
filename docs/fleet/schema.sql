-- SPDX-License-Identifier: GPL-2.0-or-later
-- Tables for what cmtstat export --clickhouse writes.  ClickHouse 18.16 and later:
--	clickhouse-client --multiquery <schema.sql
--	cmtstat export --clickhouse FILE |
--		clickhouse-client --query 'INSERT INTO cmt.usage FORMAT RowBinary'
--	cmtstat export --clickhouse --by incident FILE |
--		clickhouse-client --query 'INSERT INTO cmt.incidents FORMAT RowBinary'
-- cmt-ship(8) does both of what cmt-recorder saves.  A row that is loaded twice is one row: in
-- the views at once, and in the tables with FINAL, or when parts were merged.
CREATE DATABASE IF NOT EXISTS cmt;

-- A row of an interval, of any length.  What is not known is NULL, never 0; only wait_quota is
-- 0 where waited_ns is NULL.  A value that is partial is a lower bound.  The bits of the columns
-- *_why and counters_bounds are those of CMT_USAGE_WHY_* and CMT_F_* in <cmt/frame.h> and
-- <uapi/cmt.h>.
-- The columns up to since_ns are in the order in which they are written.
--
-- A row is that of one owner (row), node, boot, and interval (grain_ns, cell), and recordings
-- of the same time have the same ones.  Of rows with the same key the best stays: that of the
-- longest interval, and of these that of the recording which began first, since it knew more.
CREATE TABLE IF NOT EXISTS cmt.usage
(
    node String,
    boot String,
    time_ns UInt64,                         -- CLOCK_REALTIME of the interval's begin
    length_ns UInt64,
    monotonic_ns UInt64,                    -- CLOCK_MONOTONIC of the interval's begin
    view Enum8('container' = 0, 'process' = 1, 'cpu' = 2, 'domain' = 3),
    kind Enum8('owner' = 0, 'unknown' = 1, 'overflow' = 2, 'unattributed' = 3),
    name String,                            -- 'docker:web'
    path String,                            -- of the cgroup, raw bytes
    image String,
    comm String,                            -- of a process, raw bytes
    cgroup_id Nullable(UInt64),
    pid Nullable(UInt32),
    cpu Nullable(UInt32),
    domain Nullable(UInt32),
    rmids UInt32,
    pending Nullable(UInt32),
    l3_bytes Nullable(UInt64),
    occupancy_bytes Nullable(UInt64),       -- at the end of the interval
    occupancy_least_bytes Nullable(UInt64),
    occupancy_most_bytes Nullable(UInt64),
    occupancy_mean_bytes Nullable(UInt64),  -- of occupancy_slots time slots
    occupancy_slots UInt32,
    residual_bytes Nullable(UInt64),
    occupancy_age_ns Nullable(UInt64),
    occupancy_partial UInt8,
    occupancy_why UInt32,
    total_bytes Nullable(UInt64),
    total_rate Nullable(Float32),           -- bytes a second; it lies between
    total_lo Nullable(Float32),             -- this
    total_hi Nullable(Float32),             -- and this; NULL: there is no such bound
    total_partial UInt8,
    total_why UInt32,
    local_bytes Nullable(UInt64),
    local_rate Nullable(Float32),
    local_lo Nullable(Float32),
    local_hi Nullable(Float32),
    local_partial UInt8,
    local_why UInt32,
    ran_ns Nullable(UInt64),                -- of kind unattributed with the time of idle CPUs
    cycles Nullable(UInt64),
    instructions Nullable(UInt64),
    llc_misses Nullable(UInt64),
    llc_references Nullable(UInt64),
    cpu_share Nullable(Float32),
    ipc Nullable(Float32),
    mpki Nullable(Float32),
    waited_ns Nullable(UInt64),             -- for a CPU, of all tasks together
    wait_share Nullable(Float32),           -- 1: one task all the time
    wait_quota UInt8,                       -- a task was out of its quota: that is no wait;
                                            -- not known where waited_ns is NULL
    counters_partial UInt8,
    counters_bounds UInt32,                 -- which sums are lower bounds
    counters_why UInt32,
    emulated UInt8,                         -- a model made the values: no query here adds them
    lost UInt64,                            -- records, of the interval
    gaps UInt32,                            -- time slots in which records were lost
    grain_ns UInt64,                        -- the length of an interval that is not cut
    since_ns UInt64,                        -- from the recording's begin to the interval's
    row UInt64 MATERIALIZED cityHash64(toUInt8(kind), path, comm, ifNull(cgroup_id, 0), ifNull(pid, 0), ifNull(cpu, 4294967295), ifNull(domain, 4294967295)),
    cell UInt64 MATERIALIZED intDiv(monotonic_ns, greatest(grain_ns, 1)),
    version UInt64 MATERIALIZED length_ns * 1048576 + least(intDiv(since_ns, 10000000), 1048575),
    time DateTime MATERIALIZED toDateTime(intDiv(time_ns, 1000000000))
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toDate(time)
ORDER BY (view, grain_ns, row, node, boot, cell);

-- What one neighbour cost a container by one resource, in one incident: a time in which
-- neighbours made the container (the victim) 5 % slower or more.  The rows of an incident have
-- the same node, boot and number.  By cache and memory these are estimates.  Of rows with the
-- same begin, cgroups, resource and domain the longest stays: a later recording may have the
-- end of an incident that goes on in an earlier one.  Where the begins differ, both stay, and
-- their times overlap: who-cost.sql counts them once.
CREATE TABLE IF NOT EXISTS cmt.incidents
(
    node String,
    boot String,
    time_ns UInt64,                         -- CLOCK_REALTIME of the incident's begin
    length_ns UInt64,
    monotonic_ns UInt64,                    -- CLOCK_MONOTONIC of the incident's begin
    number UInt64,                          -- in its recording
    victim String,                          -- 'docker:web'
    victim_path String,                     -- of the cgroup, raw bytes
    suspect String,                         -- the neighbour
    suspect_path String,
    resource Enum8('cpu' = 0, 'cache' = 1, 'memory' = 2),
    domain Nullable(UInt32),                -- NULL: of a wait for a CPU
    lost_ns Nullable(UInt64),               -- CPU time of the victim, because of this suspect
    lost_by_all_ns Nullable(UInt64),        -- the same, because of all neighbours
    worst Float32,                          -- the greatest slowdown, 0..1, by all neighbours
    began_before UInt8,                     -- before the first reading: time_ns is that one's
    goes_on UInt8,                          -- at the end of the recording, or may go on: counters
                                            -- of the victim stopped
    clipped UInt8,                          -- there were more suspects, which cost less
    emulated UInt8,
    row UInt64 MATERIALIZED cityHash64(victim_path, suspect_path, toUInt8(resource), ifNull(domain, 4294967295)),
    time DateTime MATERIALIZED toDateTime(intDiv(time_ns, 1000000000))
)
ENGINE = ReplacingMergeTree(length_ns)
PARTITION BY toYYYYMM(time)
ORDER BY (victim_path, suspect_path, node, boot, monotonic_ns, row);

-- Rows of 1 s of containers, each once.
CREATE VIEW IF NOT EXISTS cmt.rows_1s AS SELECT
    name, node, path, toTimeZone(time, 'UTC') AS second, time_ns,
    occupancy_bytes AS occupancy, occupancy_most_bytes AS most, occupancy_mean_bytes AS mean,
    occupancy_slots AS of_slots, total_bytes AS total, local_bytes AS local,
    llc_misses AS misses, cycles AS of_cycles, instructions AS of_instructions,
    length_ns AS length, toUInt8(occupancy_partial OR total_partial) AS is_partial,
    emulated AS is_emulated, lost AS is_lost
FROM cmt.usage FINAL
WHERE view = 'container' AND grain_ns = 1000000000;

-- A row for each container, node, and second or minute, from rows of 1 s.  time is in UTC.
-- intervals: rows of cmt.usage; of these, known have an occupancy and total_known a bandwidth:
-- where these are fewer, bytes are a lower bound, as where partial is 1.
CREATE VIEW IF NOT EXISTS cmt.seconds AS SELECT
    name, node, path, second AS time,
    intervals, known, occupancy_bytes, most_bytes, slots,
    if(slots > 0, held / slots, NULL) AS mean_bytes,
    total_bytes, total_known, local_bytes, llc_misses, cycles, instructions, length_ns, partial,
    emulated, lost
FROM
(
    SELECT
        name, node, path, second,
        count() AS intervals,
        count(occupancy) AS known,
        if(argMax(toUInt8(isNotNull(occupancy)), time_ns) = 1,
            argMax(ifNull(occupancy, 0), time_ns), NULL) AS occupancy_bytes,
        max(most) AS most_bytes,
        sum(toUInt64(of_slots)) AS slots,
        sum(ifNull(mean, 0) * of_slots) AS held,
        sum(total) AS total_bytes,
        count(total) AS total_known,
        sum(local) AS local_bytes,
        sum(misses) AS llc_misses,
        sum(of_cycles) AS cycles,
        sum(of_instructions) AS instructions,
        sum(length) AS length_ns,
        max(is_partial) AS partial,
        max(is_emulated) AS emulated,
        sum(is_lost) AS lost
    FROM cmt.rows_1s
    GROUP BY name, node, path, second
);

CREATE VIEW IF NOT EXISTS cmt.minutes AS SELECT
    name, node, path, minute AS time,
    intervals, known, occupancy_bytes, most_bytes, slots,
    if(slots > 0, held / slots, NULL) AS mean_bytes,
    total_bytes, total_known, local_bytes, llc_misses, cycles, instructions, length_ns, partial,
    emulated, lost
FROM
(
    SELECT
        name, node, path, toStartOfMinute(second) AS minute,
        count() AS intervals,
        count(occupancy) AS known,
        if(argMax(toUInt8(isNotNull(occupancy)), time_ns) = 1,
            argMax(ifNull(occupancy, 0), time_ns), NULL) AS occupancy_bytes,
        max(most) AS most_bytes,
        sum(toUInt64(of_slots)) AS slots,
        sum(ifNull(mean, 0) * of_slots) AS held,
        sum(total) AS total_bytes,
        count(total) AS total_known,
        sum(local) AS local_bytes,
        sum(misses) AS llc_misses,
        sum(of_cycles) AS cycles,
        sum(of_instructions) AS instructions,
        sum(length) AS length_ns,
        max(is_partial) AS partial,
        max(is_emulated) AS emulated,
        sum(is_lost) AS lost
    FROM cmt.rows_1s
    GROUP BY name, node, path, minute
);
