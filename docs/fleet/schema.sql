-- SPDX-License-Identifier: GPL-2.0-or-later
-- Tables for what cmtstat export --clickhouse writes.  ClickHouse 18.16 and later:
--	clickhouse-client --multiquery <schema.sql
--	cmtstat export --clickhouse FILE |
--		clickhouse-client --query 'INSERT INTO cmt.usage FORMAT RowBinary'
--	cmtstat export --clickhouse --by incident FILE |
--		clickhouse-client --query 'INSERT INTO cmt.incidents FORMAT RowBinary'
CREATE DATABASE IF NOT EXISTS cmt;

-- A row of an interval, of any length.  What is not known is NULL, never 0.  A value that is
-- partial is a lower bound.  The bits of the columns *_why and counters_bounds are those of
-- CMT_USAGE_WHY_* and CMT_F_* in <cmt/frame.h> and <uapi/cmt.h>.
-- The columns up to gaps are in the order in which they are written.
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
    ran_ns Nullable(UInt64),
    cycles Nullable(UInt64),
    instructions Nullable(UInt64),
    llc_misses Nullable(UInt64),
    llc_references Nullable(UInt64),
    cpu_share Nullable(Float32),
    ipc Nullable(Float32),
    mpki Nullable(Float32),
    waited_ns Nullable(UInt64),             -- for a CPU, of all tasks together
    wait_share Nullable(Float32),           -- 1: one task all the time
    wait_quota UInt8,                       -- a task was out of its quota: that is no wait
    counters_partial UInt8,
    counters_bounds UInt32,                 -- which sums are lower bounds
    counters_why UInt32,
    emulated UInt8,
    lost UInt64,                            -- records, of the interval
    gaps UInt32,                            -- time slots in which records were lost
    time DateTime MATERIALIZED toDateTime(intDiv(time_ns, 1000000000)),
    day Date MATERIALIZED toDate(intDiv(time_ns, 1000000000))
)
ENGINE = MergeTree
PARTITION BY day
ORDER BY (view, name, node, time_ns);

-- What one neighbour cost a container by one resource, in one incident: a time in which
-- neighbours made the container (the victim) 5 % slower or more.  The rows of an incident have
-- the same node, boot and number.  By cache and memory these are estimates.
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
    goes_on UInt8,                          -- at the end of the recording
    clipped UInt8,                          -- there were more suspects, which cost less
    emulated UInt8,
    time DateTime MATERIALIZED toDateTime(intDiv(time_ns, 1000000000)),
    day Date MATERIALIZED toDate(intDiv(time_ns, 1000000000))
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (victim, suspect, node, time_ns);

-- One row a second, and one a minute, for each container on each node: of containers only.
-- They hold states of aggregate functions, which cmt.seconds and cmt.minutes read.
CREATE MATERIALIZED VIEW IF NOT EXISTS cmt.usage_1s
ENGINE = AggregatingMergeTree
PARTITION BY day
ORDER BY (name, node, path, second)
AS SELECT
    day, name, node, path, time AS second,
    countState() AS intervals_state,
    countState(occupancy_bytes) AS known_state,
    argMaxState(ifNull(occupancy_bytes, 0), time_ns) AS last_state,
    argMaxState(toUInt8(isNotNull(occupancy_bytes)), time_ns) AS last_known_state,
    maxState(occupancy_most_bytes) AS most_state,
    sumState(ifNull(occupancy_mean_bytes, 0) * occupancy_slots) AS held_state,
    sumState(toUInt64(occupancy_slots)) AS slots_state,
    sumState(total_bytes) AS total_state,
    countState(total_bytes) AS total_known_state,
    sumState(local_bytes) AS local_state,
    sumState(llc_misses) AS misses_state,
    sumState(cycles) AS cycles_state,
    sumState(instructions) AS instructions_state,
    sumState(length_ns) AS length_state,
    maxState(toUInt8(occupancy_partial OR total_partial)) AS partial_state,
    maxState(emulated) AS emulated_state,
    sumState(lost) AS lost_state
FROM cmt.usage
WHERE view = 'container'
GROUP BY day, name, node, path, second;

CREATE MATERIALIZED VIEW IF NOT EXISTS cmt.usage_1min
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (name, node, path, second)
AS SELECT
    day, name, node, path, toStartOfMinute(time) AS second,
    countState() AS intervals_state,
    countState(occupancy_bytes) AS known_state,
    argMaxState(ifNull(occupancy_bytes, 0), time_ns) AS last_state,
    argMaxState(toUInt8(isNotNull(occupancy_bytes)), time_ns) AS last_known_state,
    maxState(occupancy_most_bytes) AS most_state,
    sumState(ifNull(occupancy_mean_bytes, 0) * occupancy_slots) AS held_state,
    sumState(toUInt64(occupancy_slots)) AS slots_state,
    sumState(total_bytes) AS total_state,
    countState(total_bytes) AS total_known_state,
    sumState(local_bytes) AS local_state,
    sumState(llc_misses) AS misses_state,
    sumState(cycles) AS cycles_state,
    sumState(instructions) AS instructions_state,
    sumState(length_ns) AS length_state,
    maxState(toUInt8(occupancy_partial OR total_partial)) AS partial_state,
    maxState(emulated) AS emulated_state,
    sumState(lost) AS lost_state
FROM cmt.usage
WHERE view = 'container'
GROUP BY day, name, node, path, second;

-- intervals: rows of cmt.usage; of these, known have an occupancy and total_known a bandwidth:
-- where these are fewer, bytes are a lower bound, as where partial is 1.
CREATE VIEW IF NOT EXISTS cmt.seconds AS SELECT
    name, node, path, second AS time,
    countMerge(intervals_state) AS intervals,
    countMerge(known_state) AS known,
    if(argMaxMerge(last_known_state) = 1, argMaxMerge(last_state), NULL) AS occupancy_bytes,
    maxMerge(most_state) AS most_bytes,
    sumMerge(slots_state) AS slots,
    if(slots > 0, sumMerge(held_state) / slots, NULL) AS mean_bytes,
    sumMerge(total_state) AS total_bytes,
    countMerge(total_known_state) AS total_known,
    sumMerge(local_state) AS local_bytes,
    sumMerge(misses_state) AS llc_misses,
    sumMerge(cycles_state) AS cycles,
    sumMerge(instructions_state) AS instructions,
    sumMerge(length_state) AS length_ns,
    maxMerge(partial_state) AS partial,
    maxMerge(emulated_state) AS emulated,
    sumMerge(lost_state) AS lost
FROM cmt.usage_1s
GROUP BY name, node, path, second;

CREATE VIEW IF NOT EXISTS cmt.minutes AS SELECT
    name, node, path, second AS time,
    countMerge(intervals_state) AS intervals,
    countMerge(known_state) AS known,
    if(argMaxMerge(last_known_state) = 1, argMaxMerge(last_state), NULL) AS occupancy_bytes,
    maxMerge(most_state) AS most_bytes,
    sumMerge(slots_state) AS slots,
    if(slots > 0, sumMerge(held_state) / slots, NULL) AS mean_bytes,
    sumMerge(total_state) AS total_bytes,
    countMerge(total_known_state) AS total_known,
    sumMerge(local_state) AS local_bytes,
    sumMerge(misses_state) AS llc_misses,
    sumMerge(cycles_state) AS cycles,
    sumMerge(instructions_state) AS instructions,
    sumMerge(length_state) AS length_ns,
    maxMerge(partial_state) AS partial,
    maxMerge(emulated_state) AS emulated,
    sumMerge(lost_state) AS lost
FROM cmt.usage_1min
GROUP BY name, node, path, second;
