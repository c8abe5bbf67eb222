-- SPDX-License-Identifier: GPL-2.0-or-later
-- @NAME@ minute by minute on each node, between @FROM@ and @TO@ (UTC): for a chart.
-- NULL: not known.
SELECT
    node,
    time,
    mean_bytes,
    most_bytes,
    if(total_known > 0, total_bytes / (length_ns / 1e9), NULL) AS bytes_a_second,
    if(instructions > 0, cycles / instructions, NULL) AS cpi,
    total_known < intervals OR partial AS lower_bound
FROM cmt.minutes
WHERE name = '@NAME@'
  AND time >= toDateTime('@FROM@', 'UTC') AND time < toDateTime('@TO@', 'UTC')
ORDER BY node, time;
