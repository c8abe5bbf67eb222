-- SPDX-License-Identifier: GPL-2.0-or-later
-- Which containers waited most for a CPU, across all nodes, between @FROM@ and @TO@ (UTC)?
-- Seconds are those of all tasks together, without the time in which a quota was used up;
-- share is of the time in which the tasks could run; NULL: the time that unattributed tasks ran
-- is not known, as RMID 0 also has that of idle CPUs.  Seconds are a lower bound where complete
-- is below 1.  Rows do not say who ran meanwhile: who-cost.sql does.
-- 33554432 is CMT_F_WAITED, of a sum that is a lower bound.
SELECT
    name,
    uniq(node) AS nodes,
    sum(waited_ns / 1e9) AS waited_seconds,
    if(max(kind = 'unattributed') = 1, NULL,
        waited_seconds / (waited_seconds + sumIf(ran_ns / 1e9, isNotNull(waited_ns)))) AS share,
    max(wait_quota) AS used_up_a_quota,
    countIf(isNotNull(waited_ns) AND bitAnd(counters_bounds, 33554432) = 0) / count() AS complete
FROM cmt.usage FINAL
WHERE view = 'container' AND grain_ns = 1000000000 AND NOT emulated
  AND time >= toDateTime('@FROM@', 'UTC') AND time < toDateTime('@TO@', 'UTC')
GROUP BY name
HAVING waited_seconds > 0
ORDER BY waited_seconds DESC, name
LIMIT 20;
