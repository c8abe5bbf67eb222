-- SPDX-License-Identifier: GPL-2.0-or-later
-- Keep the minutes of @DAY@ longer than the rows: then "ALTER TABLE cmt.usage DROP
-- PARTITION '@DAY@'".  Both are days of the server's time zone.  A day may be kept again:
-- SELECT ... FROM cmt.kept_minutes FINAL.
--
--	sed 's/@DAY@/2026-06-01/' keep-minutes.sql | clickhouse-client --multiquery
CREATE TABLE IF NOT EXISTS cmt.kept_minutes
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(time)
ORDER BY (name, node, path, time)
AS SELECT * FROM cmt.minutes WHERE 0;

INSERT INTO cmt.kept_minutes SELECT * FROM cmt.minutes WHERE toDate(time) = toDate('@DAY@');
