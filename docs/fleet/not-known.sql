-- SPDX-License-Identifier: GPL-2.0-or-later
-- What was not measured between @FROM@ and @TO@ (UTC): nodes that lost records, or whose rows
-- have no value, before anything is concluded from the others.
SELECT
    node,
    count() AS rows,
    1 - count(occupancy_bytes) / count() AS occupancy_not_known,
    1 - count(total_bytes) / count() AS bandwidth_not_known,
    uniqIf(toStartOfMinute(time), lost > 0) AS minutes_with_losses,
    max(emulated) AS emulated
FROM cmt.usage FINAL
WHERE view = 'container' AND grain_ns = 1000000000
  AND time >= toDateTime('@FROM@', 'UTC') AND time < toDateTime('@TO@', 'UTC')
GROUP BY node
ORDER BY occupancy_not_known DESC, node;
