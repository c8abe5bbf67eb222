-- SPDX-License-Identifier: GPL-2.0-or-later
-- Keep the minutes of @DAY@ longer than the rows: then "ALTER TABLE cmt.usage DROP
-- PARTITION '@DAY@'".  Both are days of the server's time zone.  A day may be kept again, also
-- when rows of it came after it was dropped: of a minute the one of most intervals stays, and
-- of these the last.  SELECT ... FROM cmt.kept_minutes FINAL.  In a table that an older file
-- made the last one stays: there, keep a day before it is dropped, and not after.
--
--	sed 's/@DAY@/2026-06-01/' keep-minutes.sql | clickhouse-client --multiquery
CREATE TABLE IF NOT EXISTS cmt.kept_minutes
ENGINE = ReplacingMergeTree(intervals)
PARTITION BY toYYYYMM(time)
ORDER BY (name, node, path, time)
AS SELECT * FROM cmt.minutes WHERE 0;

-- As cmt.minutes.  Old servers take no condition into a view: it would read all days.
INSERT INTO cmt.kept_minutes SELECT
    name, node, path, minute,
    intervals, known, at_end, most, slots, if(slots > 0, held / slots, NULL),
    moved, moved_known, moved_local, misses, of_cycles, of_instructions, length, is_partial,
    is_emulated, is_lost
FROM
(
    SELECT
        name, node, path, toStartOfMinute(toTimeZone(time, 'UTC')) AS minute,
        count() AS intervals,
        count(occupancy_bytes) AS known,
        if(argMax(toUInt8(isNotNull(occupancy_bytes)), time_ns) = 1,
            argMax(ifNull(occupancy_bytes, 0), time_ns), NULL) AS at_end,
        max(occupancy_most_bytes) AS most,
        sum(toUInt64(occupancy_slots)) AS slots,
        sum(ifNull(occupancy_mean_bytes, 0) * occupancy_slots) AS held,
        sum(total_bytes) AS moved,
        count(total_bytes) AS moved_known,
        sum(local_bytes) AS moved_local,
        sum(llc_misses) AS misses,
        sum(cycles) AS of_cycles,
        sum(instructions) AS of_instructions,
        sum(length_ns) AS length,
        max(toUInt8(occupancy_partial OR total_partial)) AS is_partial,
        max(emulated) AS is_emulated,
        sum(lost) AS is_lost
    FROM cmt.usage FINAL
    WHERE view = 'container' AND grain_ns = 1000000000 AND toDate(time) = toDate('@DAY@')
    GROUP BY name, node, path, minute
);
