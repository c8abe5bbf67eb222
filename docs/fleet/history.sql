-- SPDX-License-Identifier: GPL-2.0-or-later
-- @NAME@ minute by minute on each node, between @FROM@ and @TO@ (UTC): for a chart.
-- minute is in UTC.  NULL: not known.
SELECT
    node,
    toStartOfMinute(toTimeZone(time, 'UTC')) AS minute,
    if(sum(occupancy_slots) > 0, sum(ifNull(occupancy_mean_bytes, 0) * occupancy_slots) / sum(occupancy_slots), NULL) AS mean_bytes,
    max(occupancy_most_bytes) AS most_bytes,
    if(count(total_bytes) > 0, sum(total_bytes) / (sum(length_ns) / 1e9), NULL) AS bytes_a_second,
    if(sum(instructions) > 0, sum(cycles) / sum(instructions), NULL) AS cpi,
    count(total_bytes) < count() OR max(occupancy_partial OR total_partial) AS lower_bound
FROM cmt.usage FINAL
WHERE view = 'container' AND grain_ns = 1000000000 AND NOT emulated
  AND time >= toDateTime('@FROM@', 'UTC') AND time < toDateTime('@TO@', 'UTC')
  AND name = '@NAME@'
  -- The key has rows, and no names.
  AND row IN
  (
      SELECT row FROM cmt.usage
      WHERE view = 'container' AND grain_ns = 1000000000 AND name = '@NAME@'
        AND time >= toDateTime('@FROM@', 'UTC') AND time < toDateTime('@TO@', 'UTC')
  )
GROUP BY node, path, minute
ORDER BY node, minute;
