-- SPDX-License-Identifier: GPL-2.0-or-later
-- What was not measured between @FROM@ and @TO@ (UTC): nodes that lost records, or whose rows
-- have no value, before anything is concluded from the others.
SELECT
    node,
    sum(intervals) AS rows,
    1 - sum(known) / sum(intervals) AS occupancy_not_known,
    1 - sum(total_known) / sum(intervals) AS bandwidth_not_known,
    uniqIf(time, lost > 0) AS minutes_with_losses,
    max(emulated) AS emulated
FROM cmt.minutes
WHERE time >= toDateTime('@FROM@', 'UTC') AND time < toDateTime('@TO@', 'UTC')
GROUP BY node
ORDER BY occupancy_not_known DESC, node;
