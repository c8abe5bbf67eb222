-- SPDX-License-Identifier: GPL-2.0-or-later
-- Who held most cache, and moved most memory, across all nodes between @FROM@ and @TO@ (UTC)?
-- Bytes are a lower bound where complete is below 1.
SELECT
    name,
    uniq(node) AS nodes,
    sum(total_bytes) AS moved_bytes,
    sum(mean_bytes * slots) / sum(slots) AS mean_occupancy_bytes,
    max(most_bytes) AS most_occupancy_bytes,
    sum(cycles) / sum(instructions) AS cpi,
    sum(total_known) / sum(intervals) AS complete
FROM cmt.minutes
WHERE time >= toDateTime('@FROM@', 'UTC') AND time < toDateTime('@TO@', 'UTC')
GROUP BY name
ORDER BY moved_bytes DESC, name
LIMIT 20;
