-- SPDX-License-Identifier: GPL-2.0-or-later
-- Who took cache from @NAME@, across all nodes, between @FROM@ and @TO@ (UTC)?
--
--	sed 's|@NAME@|docker:web|; s|@FROM@|2026-06-01 00:00:00|; s|@TO@|2026-06-01 06:00:00|' \
--		who-took.sql | clickhouse-client
--
-- In each second in which it held less than in the one before, what it lost is shared among
-- those of the same node that held more than before, by how much more, and at most that.  This
-- is an estimate of where the cache went, and not of harm: who-cost.sql has that.  A second
-- whose value, or the one before it, is not known or a lower bound is left out.
--
-- The rows of each container become arrays, in which the value before is the one beside: a join
-- of all rows with themselves needs more memory than that.  The setting splits them, and lets
-- them go to the disk.  A user who is readonly = 1 may not set it, and leaves it out.
SELECT
    name,
    uniq(node) AS nodes,
    count() AS seconds,
    sum(least(lost, gained) * change / gained) AS took_bytes
FROM
(
    SELECT
        node, time,
        groupArray(name) AS names,
        groupArray(change) AS changes,
        sumIf(-change, name = '@NAME@') AS lost,
        sumIf(change, name != '@NAME@' AND change > 0) AS gained
    FROM
    (
        SELECT node, name, at AS time, more AS change
        FROM
        (
            SELECT
                node, name,
                arrayFilter((s, n) -> n != s, seconds, next) AS times,
                arrayFilter((h, s, n) -> n != s, held, seconds, next) AS last,
                arrayMap((t, b, h, was) -> if(t = b + 1 AND h >= 0 AND was >= 0, h - was, 0),
                    times, arrayPushFront(arrayPopBack(times), 0),
                    last, arrayPushFront(arrayPopBack(last), -1)) AS changes
            FROM
            (
                SELECT
                    node, name,
                    arraySort(ns) AS sorted,
                    arrayMap(n -> toUInt64(intDiv(n, 1000000000)), sorted) AS seconds,
                    arrayPushBack(arrayPopFront(seconds), toUInt64(0)) AS next,
                    arraySort((h, n) -> n, bytes, ns) AS held
                FROM
                (
                    SELECT
                        node, name, path,
                        groupArray(time_ns) AS ns,
                        groupArray(if(occupancy_partial, toInt64(-1),
                            ifNull(toInt64(occupancy_bytes), toInt64(-1)))) AS bytes
                    FROM cmt.usage FINAL
                    WHERE view = 'container' AND grain_ns = 1000000000 AND NOT emulated
                      AND time >= toDateTime('@FROM@', 'UTC') AND time < toDateTime('@TO@', 'UTC')
                      AND node IN
                      (
                          SELECT node FROM cmt.usage
                          WHERE view = 'container' AND grain_ns = 1000000000 AND name = '@NAME@'
                            AND time >= toDateTime('@FROM@', 'UTC')
                            AND time < toDateTime('@TO@', 'UTC')
                      )
                    GROUP BY node, name, path
                )
            )
        )
        ARRAY JOIN times AS at, changes AS more
        WHERE more != 0
    )
    GROUP BY node, time
    HAVING lost > 0 AND gained > 0
)
ARRAY JOIN names AS name, changes AS change
WHERE change > 0 AND name != '@NAME@'
GROUP BY name
ORDER BY took_bytes DESC, name
LIMIT 20
SETTINGS max_bytes_before_external_group_by = 1000000000;
