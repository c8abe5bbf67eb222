-- SPDX-License-Identifier: GPL-2.0-or-later
-- Who took cache from @NAME@, across all nodes, between @FROM@ and @TO@ (UTC)?
--
--	sed 's/@NAME@/docker:web/; s/@FROM@/2026-06-01 00:00:00/; s/@TO@/2026-06-01 06:00:00/' \
--		who-took.sql | clickhouse-client
--
-- In each second in which it held less than in the one before, what it lost is shared among
-- those of the same node that held more than before, by how much more, and at most that.  This
-- is an estimate of where the cache went, and not of harm: who-cost.sql has that.  A second
-- whose value, or the one before it, is not known is left out.
SELECT
    name,
    uniq(node) AS nodes,
    count() AS seconds,
    sum(least(lost, gained) * change / gained) AS took_bytes
FROM
(
    SELECT node, name, time, toInt64(now) - toInt64(before) AS change
    FROM
    (
        SELECT node, name, path, time, assumeNotNull(occupancy_bytes) AS now
        FROM cmt.seconds
        WHERE time >= toDateTime('@FROM@', 'UTC') AND time < toDateTime('@TO@', 'UTC')
          AND node IN (SELECT node FROM cmt.rows_1s WHERE name = '@NAME@')
          AND isNotNull(occupancy_bytes)
    )
    ALL INNER JOIN
    (
        SELECT node, name, path, time + 1 AS time, assumeNotNull(occupancy_bytes) AS before
        FROM cmt.seconds
        WHERE time >= toDateTime('@FROM@', 'UTC') AND time < toDateTime('@TO@', 'UTC')
          AND node IN (SELECT node FROM cmt.rows_1s WHERE name = '@NAME@')
          AND isNotNull(occupancy_bytes)
    )
    USING node, name, path, time
    WHERE change > 0 AND name != '@NAME@'
)
ALL INNER JOIN
(
    SELECT
        node,
        time,
        sum(if(name = '@NAME@', toInt64(before) - toInt64(now), 0)) AS lost,
        sum(if(name != '@NAME@' AND now > before, toInt64(now) - toInt64(before), 0)) AS gained
    FROM
    (
        SELECT node, name, path, time, assumeNotNull(occupancy_bytes) AS now
        FROM cmt.seconds
        WHERE time >= toDateTime('@FROM@', 'UTC') AND time < toDateTime('@TO@', 'UTC')
          AND node IN (SELECT node FROM cmt.rows_1s WHERE name = '@NAME@')
          AND isNotNull(occupancy_bytes)
    )
    ALL INNER JOIN
    (
        SELECT node, name, path, time + 1 AS time, assumeNotNull(occupancy_bytes) AS before
        FROM cmt.seconds
        WHERE time >= toDateTime('@FROM@', 'UTC') AND time < toDateTime('@TO@', 'UTC')
          AND node IN (SELECT node FROM cmt.rows_1s WHERE name = '@NAME@')
          AND isNotNull(occupancy_bytes)
    )
    USING node, name, path, time
    GROUP BY node, time
    HAVING lost > 0 AND gained > 0
)
USING node, time
GROUP BY name
ORDER BY took_bytes DESC, name
LIMIT 20;
