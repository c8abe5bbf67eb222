-- SPDX-License-Identifier: GPL-2.0-or-later
-- Which container cost which one how many CPU seconds, across all nodes, by incidents that
-- began between @FROM@ and @TO@ (UTC)?  For a week:
--
--	sed 's|@FROM@|2026-06-01 00:00:00|; s|@TO@|2026-06-08 00:00:00|' who-cost.sql |
--		clickhouse-client
--
-- Seconds by cache and memory are an estimate; those by CPU are the kernel's account.  They are
-- a lower bound where complete is below 1, as the victim's CPU time was not known, and where
-- clipped is 1, as there were more suspects.  worst is the greatest slowdown of the victim by
-- all its neighbours, 0 to 1.  An incident has a row for each neighbour and L3 domain, and
-- names can be alike: it is counted once.
--
-- Overlapping recordings have a row each of the same incident.  So rows of the same victim,
-- neighbour, resource and domain whose times overlap are one set, which counts once: with what
-- its longest row cost a second, for the time of all.  A set begins with a row before whose
-- begin as many rows have ended as have begun: the sorted begins and ends are compared.
SELECT
    suspect,
    victim,
    resource,
    uniq(node) AS nodes,
    uniqExact(node, boot, victim_path, began) AS incidents,
    sum(cost) / 1e9 AS lost_seconds,
    max(worst) AS worst_share,
    count(cost) / count() AS complete,
    max(clipped) AS clipped
FROM
(
    SELECT
        node, boot, victim_path, resource, victim, suspect,
        min(r.1) AS began,
        max(r.2 - r.1) AS longest,
        if(argMax(r.3, r.2 - r.1) = 1,
            argMax(r.4, r.2 - r.1) * if(longest > 0, (max(r.2) - began) / longest, 1),
            NULL) AS cost,
        max(r.5) AS worst,
        max(r.6) AS clipped
    FROM
    (
        SELECT
            node, boot, victim_path, resource, row,
            argMax(victim, length_ns) AS victim,
            argMax(suspect, length_ns) AS suspect,
            arraySort(r -> r.1, groupArray((monotonic_ns, monotonic_ns + length_ns,
                isNotNull(lost_ns), ifNull(lost_ns, 0), worst, clipped))) AS rows,
            arrayPushFront(arrayPopBack(arraySort(arrayMap(r -> r.2, rows))), toUInt64(0)) AS ends,
            arrayCumSum(arrayMap((r, end) -> r.1 >= end, rows, ends)) AS sets
        FROM cmt.incidents FINAL
        WHERE time >= toDateTime('@FROM@', 'UTC') AND time < toDateTime('@TO@', 'UTC')
          AND NOT emulated
        GROUP BY node, boot, victim_path, resource, row
    )
    ARRAY JOIN rows AS r, sets AS set
    GROUP BY node, boot, victim_path, resource, row, victim, suspect, set
)
GROUP BY suspect, victim, resource
ORDER BY lost_seconds DESC, suspect, victim, resource
LIMIT 20;
