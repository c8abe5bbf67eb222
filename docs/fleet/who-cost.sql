-- SPDX-License-Identifier: GPL-2.0-or-later
-- Which container cost which one how many CPU seconds, across all nodes, by incidents that
-- began between @FROM@ and @TO@ (UTC)?  For a week:
--
--	sed 's/@FROM@/2026-06-01 00:00:00/; s/@TO@/2026-06-08 00:00:00/' who-cost.sql |
--		clickhouse-client
--
-- Seconds by cache and memory are an estimate; those by CPU are the kernel's account.  They are
-- a lower bound where complete is below 1: the victim's CPU time was not known.  worst is the
-- greatest slowdown of the victim by all its neighbours, 0 to 1.  An incident has a row for each
-- neighbour and L3 domain, and names can be alike: it is counted once.
SELECT
    suspect,
    victim,
    resource,
    uniq(node) AS nodes,
    uniqExact(node, boot, victim_path, monotonic_ns) AS incidents,
    sum(lost_ns) / 1e9 AS lost_seconds,
    max(worst) AS worst_share,
    count(lost_ns) / count() AS complete
FROM cmt.incidents FINAL
WHERE time >= toDateTime('@FROM@', 'UTC') AND time < toDateTime('@TO@', 'UTC')
GROUP BY suspect, victim, resource
ORDER BY lost_seconds DESC, suspect, victim, resource
LIMIT 20;
