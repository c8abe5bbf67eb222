-- SPDX-License-Identifier: GPL-2.0-or-later
-- Who held most cache, and moved most memory, across all nodes between @FROM@ and @TO@ (UTC)?
-- Bytes are a lower bound where complete is below 1.  NULL: not known.  Sums are floats: those
-- of a large fleet pass 2^64.
SELECT
    name,
    uniq(node) AS nodes,
    sum(toFloat64(total_bytes)) AS moved_bytes,
    if(sum(occupancy_slots) > 0, sum(toFloat64(ifNull(occupancy_mean_bytes, 0)) * occupancy_slots) / sum(occupancy_slots), NULL) AS mean_occupancy_bytes,
    max(occupancy_most_bytes) AS most_occupancy_bytes,
    if(sum(instructions) > 0, sum(toFloat64(cycles)) / sum(toFloat64(instructions)), NULL) AS cpi,
    countIf(isNotNull(total_bytes) AND NOT (occupancy_partial OR total_partial)) / count() AS complete
FROM cmt.usage FINAL
WHERE view = 'container' AND grain_ns = 1000000000 AND NOT emulated
  AND time >= toDateTime('@FROM@', 'UTC') AND time < toDateTime('@TO@', 'UTC')
GROUP BY name
ORDER BY moved_bytes DESC, name
LIMIT 20;
