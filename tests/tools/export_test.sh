#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cmtstat export and cmtstat diff on recordings of a machine that is made up.
# usage: export_test.sh DIRECTORY_OF_THE_BUILD
set -u
stat=$1/tools/cmtstat
made=$1/tests/fleet/cmt-made
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

same() {
	checks=$((checks + 1))
	cmp -s "$2" "$3" || fail "$1"
}

"$made" recording containers=14 ms=4000 hostile=1 >"$scratch/a.cmt" || exit 1
"$made" recording containers=14 ms=4000 hostile=1 later=1 >"$scratch/b.cmt" || exit 1

# A recording's rows are those of the records that were never in a file.
for format in csv ndjson clickhouse perfetto; do
	"$made" "$format" containers=14 ms=4000 hostile=1 grain=100 >"$scratch/direct"
	run 0 "$stat" export "--$format" -g 0.1 "$scratch/a.cmt"
	same "$format of a recording" "$scratch/direct" "$scratch/out"
	checks=$((checks + 1))
	[ -s "$scratch/direct" ] || fail "$format: no rows"
	run 0 "$stat" export "--$format" -g 0.1 -o "$scratch/file" "$scratch/a.cmt"
	same "$format to a file" "$scratch/direct" "$scratch/file"
done

# A file of more than the limit of its size ends with a message: 4 KiB.
for command in "export --ndjson" report; do
	# shellcheck disable=SC2016 # the other shell expands it
	run 1 sh -c 'ulimit -f 8; exec "$0" $1 -o "$2" "$3"' "$stat" "$command" "$scratch/full" \
		"$scratch/a.cmt"
	has err "File too large"
done

# What was asked for is not what was counted: the states of the recording say why.
"$made" recording containers=8 ms=3000 uncounted=1 >"$scratch/uncounted.cmt" || exit 1
run 0 "$stat" replay --why "$scratch/uncounted.cmt"
has out "No counters (this processor has none): verdicts name who took cache"
has out "Verdicts about waiting"
run 0 "$stat" replay --why --json "$scratch/uncounted.cmt"
has out '"counters_reason":"this processor has none"'
has out '"wait_reason":null'
run 0 "$stat" export --by incident --csv "$scratch/uncounted.cmt"
has err "does not have all counters of the processor: this processor has none"
run 0 "$stat" report -o "$scratch/uncounted.html" "$scratch/uncounted.cmt"
checks=$((checks + 1))
grep -q "no performance counters, this processor has none: verdicts" "$scratch/uncounted.html" ||
	fail "the page does not say why there are no counters"
"$made" recording containers=8 ms=3000 unaccounted=1 >"$scratch/unaccounted.cmt" || exit 1
run 0 "$stat" replay --why "$scratch/unaccounted.cmt"
has out "Not judged: waiting for a CPU: the kernel has no CONFIG_SCHED_INFO"
lacks out "No counters"
run 0 "$stat" replay --why --json "$scratch/unaccounted.cmt"
has out '"wait_reason":"the kernel has no CONFIG_SCHED_INFO"'
has out '"counters_reason":null'
run 0 "$stat" export --ndjson "$scratch/unaccounted.cmt"
has out '"waited_ns":null,"wait_share":null,"wait_quota":null,'
lacks out '"wait_quota":false'
run 0 "$stat" export --csv "$scratch/unaccounted.cmt"
checks=$((checks + 1))
python3 -c 'import csv, sys
sys.exit(any(row["wait_quota"] for row in csv.DictReader(open(sys.argv[1]))))' "$scratch/out" ||
	fail "csv: wait_quota is not empty"
run 0 "$stat" export --by incident --csv "$scratch/unaccounted.cmt"
lacks err "does not have all counters"

# Time that was sampled every 10 ms is not judged, in whichever half it is: no table has
# SLOWER, and no program has a verdict or an incident of it.
too_coarse="no verdicts and no SLOWER"
for coarse in 1 2 3; do
	"$made" recording containers=8 ms=8000 waits=400000 coarse=$coarse >"$scratch/coarse.cmt" || exit 1
	run 0 "$stat" replay "$scratch/coarse.cmt"
	lacks out "cmtctl interval"
	checks=$((checks + 3))
	[ "$(grep -c "$too_coarse" "$scratch/out")" -ge $((coarse == 3 ? 8 : 3)) ] ||
		fail "coarse=$coarse: tables do not say that they are not judged"
	awk -v line="$too_coarse" -v judged=$((coarse != 3)) '
		/^2026-/ { coarse = 0 }
		index($0, line) { coarse = 1 }
		/% slower/ || /^docker .*% c[0-9] CPU/ { seen = 1; if (coarse) bad = 1 }
		/waits for a CPU/ || /uses the CPU/ { if (coarse) bad = 1 }
		END { exit bad || seen != judged }' "$scratch/out" ||
		fail "coarse=$coarse: SLOWER or a verdict in a table that is not judged, or in none"
	run 0 "$stat" replay -j --slower "$scratch/coarse.cmt"
	awk -v half=$coarse '
		/"record":"interval"/ { n++ }
		/"slower":{"share"/ { seen[n <= 4 ? 1 : 2] = 1 }
		END { exit seen[1] != (half == 2) || seen[2] != (half == 1) }' "$scratch/out" ||
		fail "coarse=$coarse: slower in the wrong half"
	run $((coarse == 3)) "$stat" replay --why "$scratch/coarse.cmt"
	has err "--why needs a sampling interval of 1 ms or less"
	lacks err "cmtctl interval"
	[ $coarse -eq 3 ] || has out "waits for a CPU, used by docker:c5"
	run 0 "$stat" export --ndjson --by incident "$scratch/coarse.cmt"
	has err "incidents need a sampling interval of 1 ms"
	checks=$((checks + 2))
	grep -q '"victim":"docker:web"' "$scratch/out"
	[ $? -eq $((coarse == 3)) ] || fail "coarse=$coarse: incidents of the wrong half"
	run 0 "$stat" report -o "$scratch/coarse.html" "$scratch/coarse.cmt"
	grep -q "is not judged: verdicts and incidents need" "$scratch/coarse.html" ||
		fail "coarse=$coarse: the page does not say what is not judged"
done

# An incident goes on to the last slot that is judged, also with --from, and a part without
# such a slot has none.
"$made" recording containers=8 ms=12000 waits=400000 coarse=2 >"$scratch/coarse.cmt" || exit 1
run 0 "$stat" export --ndjson --by incident --from 4 "$scratch/coarse.cmt"
checks=$((checks + 2))
grep -q '"length_ns":\(1999\|200[0-9]\)[0-9]\{6\},' "$scratch/out" || fail "--from 4: not until 6 s"
run 0 "$stat" report --from 4 -o "$scratch/coarse.html" "$scratch/coarse.cmt"
grep -q '"begin":0,"end":\(1999\|200[0-9]\),' "$scratch/coarse.html" ||
	fail "--from 4: the page has an incident until another time"
for to in 8 12; do
	run 0 "$stat" replay --why --to $to "$scratch/coarse.cmt"
	has out "docker:web is "
	checks=$((checks + 1))
	sed -n '/ ms seen, /,$p' "$scratch/out" | grep -q "slower" &&
		fail "--to $to: a present that is not judged"
done
run 0 "$stat" export --ndjson --by incident --from 8 "$scratch/coarse.cmt"
lacks out '"victim"'
run 0 "$stat" report --from 8 -o "$scratch/coarse.html" "$scratch/coarse.cmt"
checks=$((checks + 1))
! grep -q '"begin":0,"end":' "$scratch/coarse.html" || fail "--from 8: the page has an incident"
run 1 "$stat" replay --why --from 8 "$scratch/coarse.cmt"
lacks out "slower"

run 0 "$stat" export --ndjson "$scratch/a.cmt"
cp "$scratch/out" "$scratch/whole"

# A part of it has the same rows.
run 0 "$stat" export --ndjson -g 0.001 "$scratch/a.cmt"
cp "$scratch/out" "$scratch/fine"
run 0 "$stat" export --ndjson -g 0.001 -f 2s -t 00:00:02.2 "$scratch/a.cmt"
checks=$((checks + 2))
lines=$(wc -l <"$scratch/out")
{ [ "$lines" -ge 2500 ] && [ "$lines" -le 2900 ]; } || fail "a part of $lines rows"
awk 'NR == FNR { whole[$0]; next } !($0 in whole)' "$scratch/fine" "$scratch/out" \
	>"$scratch/other"
[ ! -s "$scratch/other" ] || fail "a part has other rows"
run 1 "$stat" export --ndjson -f 5s "$scratch/a.cmt"
has err "the recording has 4"
has err " s, from 2026-06-01T00:00:00.00"
# ... and what there is where a part is not
run 1 "$stat" replay --from 12:30 "$scratch/a.cmt"
has err "the recording has ended by then: it has 4.0"
has err " s, from 2026-06-01T00:00:00.00"
has err "Z to 2026-06-01T00:00:04.0"

# The first interval begins at --from, and is complete.
"$made" recording containers=10 ms=5000 waits=250000 >"$scratch/intact.cmt" || exit 1
run 0 "$stat" replay --json --from 2.1s "$scratch/intact.cmt"
checks=$((checks + 2))
head -n 1 "$scratch/out" | grep -q '"time":"2026-06-01T00:00:03.099' ||
	fail "--from 2.1s: the last reading of the first interval is not of 3.1 s"
head -n 1 "$scratch/out" | grep -q '"elapsed_ns":1000' || fail "the first interval is too short"

# A damaged payload makes counts too low: each program says so, of its interval only.
cp "$scratch/intact.cmt" "$scratch/hole.cmt"
printf '\252\125' | dd of="$scratch/hole.cmt" bs=1 conv=notrunc \
	seek=$(($(wc -c <"$scratch/hole.cmt") * 9 / 20)) 2>/dev/null
run 0 "$stat" export --ndjson "$scratch/hole.cmt"
has err "intervals there say so"
checks=$((checks + 2))
[ "$(grep -c '"counters_partial":true.*"lost":12000,"gaps":500' "$scratch/out")" = 10 ] ||
	fail "the interval with the damage does not say so"
[ "$(grep -c '"counters_partial":false.*"lost":0,"gaps":0' "$scratch/out")" = 50 ] ||
	fail "an interval without damage says that it has some"
run 0 "$stat" replay "$scratch/hole.cmt"
has out "GAPS: records are missing in 500 time slots"
has out "LOST at least 12000 records"
run 0 "$stat" replay --why "$scratch/hole.cmt"
has out "not known, at least 12000 records lost;"
run 0 "$stat" diff "$scratch/intact.cmt" "$scratch/hole.cmt"
has out "?-"
run 0 "$stat" report -o "$scratch/hole.html" "$scratch/hole.cmt"
checks=$((checks + 2))
grep -q '"waited_partial":true' "$scratch/hole.html" || fail "the page has no bounds"
grep -q '"At least 12000 records were lost before' "$scratch/hole.html" ||
	fail "the page gives an exact number of lost records"

# A link to nothing stays, where there is nothing to write; standard output may be closed.
echo 'no recording' >"$scratch/none.cmt"
ln -s "$scratch/target.csv" "$scratch/link.csv"
run 1 "$stat" export --csv -o "$scratch/link.csv" "$scratch/none.cmt"
checks=$((checks + 2))
[ -L "$scratch/link.csv" ] || fail "a link is removed"
run 0 "$stat" export --csv -o "$scratch/short.csv" "$scratch/a.cmt"
cat "$scratch/short.csv" "$scratch/short.csv" >"$scratch/longer.csv"
"$stat" export --csv -o "$scratch/longer.csv" "$scratch/a.cmt" <&- >&- 2>"$scratch/err"
same "a file that is longer, without standard output" "$scratch/short.csv" "$scratch/longer.csv"

# No file has the number of a closed standard output or error: messages would be in it.
"$made" recording containers=8 ms=2000 rounded=1 >"$scratch/rounded.cmt" || exit 1
run 0 "$stat" export --csv -o "$scratch/short.csv" "$scratch/rounded.cmt"
has err "rounded"
for closed in ">&-" "2>&-" ">&- 2>&-" "<&- >&- 2>&-"; do
	rm -f "$scratch/closed.csv"
	run 0 sh -c "exec $stat export --csv -o $scratch/closed.csv $scratch/rounded.cmt $closed"
	same "without $closed" "$scratch/short.csv" "$scratch/closed.csv"
done
run 1 sh -c "exec $stat export --csv $scratch/rounded.cmt >&-"
has err "Bad file descriptor"

# Points for a viewer are bounded, and that is said.
"$made" recording containers=100 ms=2200 >"$scratch/long.cmt" || exit 1
run 0 "$stat" export --perfetto -o "$scratch/trace" "$scratch/long.cmt"
has err "intervals of 2 ms in place of 1 ms"
run 0 "$stat" export --perfetto -t 1s -o "$scratch/trace" "$scratch/long.cmt"
lacks err "in place of"

# Who has read enough goes away; a program that has not read all lacks rows.
# closes STATUS ARGUMENT...: into a pipe of which one byte is read
closes() {
	checks=$((checks + 1))
	expected=$1
	shift
	{ "$stat" "$@"; echo $? >"$scratch/status"; } 2>"$scratch/err" | head -c 1 >"$scratch/out"
	[ "$(cat "$scratch/status")" = "$expected" ] ||
		fail "$*: a pipe that closes: $(cat "$scratch/status" "$scratch/err")"
}
closes 0 report -o - "$scratch/a.cmt"
for format in csv:0 ndjson:0 clickhouse:1 perfetto:1; do
	closes "${format#*:}" export "--${format%:*}" -g 0.001 "$scratch/a.cmt"
done
has err "not all is written: Broken pipe"

# A signal ends what shows; what makes one result fails, and says that it is incomplete.
cat >"$scratch/stopped" <<'EOF'
import os, signal, sys

signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
os.kill(os.getpid(), signal.SIGTERM)
os.execv(sys.argv[1], sys.argv[1:])
EOF
run 0 python3 "$scratch/stopped" "$stat" replay --plain --speed 1 "$scratch/a.cmt"
lacks err "signal"
run 1 python3 "$scratch/stopped" "$stat" export --csv "$scratch/a.cmt"
has err "cmtstat export: ended by a signal; the output is incomplete"
lacks err "Interrupted"
run 1 python3 "$scratch/stopped" "$stat" export --csv -o "$scratch/stopped.csv" "$scratch/a.cmt"
has err "cmtstat export: ended by a signal; $scratch/stopped.csv is incomplete"
run 1 python3 "$scratch/stopped" "$stat" diff "$scratch/a.cmt" "$scratch/b.cmt"
has err "cmtstat diff: ended by a signal; the output is incomplete"
echo before >"$scratch/stopped.html"
run 1 python3 "$scratch/stopped" "$stat" report -o "$scratch/stopped.html" "$scratch/a.cmt"
has err "cmtstat report: ended by a signal; $scratch/stopped.html is not written"
checks=$((checks + 1))
[ "$(cat "$scratch"/stopped.html*)" = before ] || fail "a page is written, or a part left"
# ... also while nobody reads the page.
mkfifo "$scratch/unread"
checks=$((checks + 1))
timeout 100 "$stat" report -o - "$scratch/a.cmt" >"$scratch/unread" 2>"$scratch/err" &
pid=$!
python3 - "$scratch/unread" "$pid" <<'EOF'
import os, signal, sys, time

with open(sys.argv[1], "rb", buffering=0) as pipe:
    pipe.read(1)
    # timeout passes it on
    os.kill(int(sys.argv[2]), signal.SIGTERM)
    while os.path.exists(f"/proc/{sys.argv[2]}/fd/1"):
        time.sleep(0.02)
EOF
wait "$pid"
has err "cmtstat report: ended by a signal; the output is incomplete"

# The directory of a page is not the recording.
run 1 "$stat" report -o "$scratch/none/page.html" "$scratch/a.cmt"
has err "cmtstat report: $scratch/none/page.html: No such file or directory"
run 1 "$stat" export --csv -o /dev/full "$scratch/a.cmt"
has err "No space left on device"

# What is no recording, or not all of one.
run 1 "$stat" export --csv "$scratch/none"
has err "No such file"
run 1 "$stat" export --csv "$0"
has err "no recording"
: >"$scratch/empty"
run 1 "$stat" export --csv "$scratch/empty"
has err "$scratch/empty: is empty"
# ... of one file in all programs' words,
head -c 100 "$scratch/a.cmt" >"$scratch/begun.cmt"
words="$scratch/begun.cmt: no intact part describes the machine"
run 1 "$stat" replay "$scratch/begun.cmt"
has err "cmtstat replay: $words"
run 1 "$stat" report -o "$scratch/page.html" "$scratch/begun.cmt"
has err "cmtstat report: $words"
run 1 "$stat" export --csv "$scratch/begun.cmt"
has err "cmtstat export: $words"
run 1 "$stat" diff "$scratch/a.cmt" "$scratch/begun.cmt"
has err "cmtstat diff: $words"
mkfifo "$scratch/fifo"
run 1 "$stat" export --csv "$scratch/fifo"
has err "no regular file"
head -c 200000 "$scratch/a.cmt" >"$scratch/cut.cmt"
run 0 "$stat" export --ndjson "$scratch/cut.cmt"
has err "the recording has no end"
# ... with its name,
run 0 "$stat" diff "$scratch/a.cmt" "$scratch/cut.cmt"
has err "cmtstat diff: $scratch/cut.cmt: the recording has no end"
lacks err "a.cmt: the recording has no end"
cp "$scratch/a.cmt" "$scratch/bad.cmt"
printf 'damaged' | dd of="$scratch/bad.cmt" bs=1 seek=200000 conv=notrunc 2>/dev/null
for format in ndjson perfetto; do
	run 0 "$stat" export --$format -g 0.1 "$scratch/bad.cmt"
	has err "the recording is damaged: 1 parts"
done
run 1 "$stat" export --csv -o "$scratch/a.cmt" "$scratch/a.cmt"
has err "cmtstat export: -o $scratch/a.cmt: that is the recording itself"
run 1 "$stat" export --csv -o "$scratch/none/$(printf '\033[31m')" "$scratch/a.cmt"
has err 'none/\x1b[31m: No such file'
run 0 "$stat" export --ndjson "$scratch/a.cmt"
same "the recording was written over" "$scratch/whole" "$scratch/out"

run 2 "$stat" export "$scratch/a.cmt"
has err "one of --csv"
run 2 "$stat" export --csv --ndjson "$scratch/a.cmt"
run 2 "$stat" export --csv
run 2 "$stat" export --csv -g 0.0001 "$scratch/a.cmt"
run 2 "$stat" export --csv -b channel "$scratch/a.cmt"
run 1 "$stat" export --csv -f 3s -t 2s "$scratch/a.cmt"
run 2 "$stat" export --perfetto --by incident "$scratch/a.cmt"
has err "--by incident: not with --perfetto"
run 2 "$stat" export --csv --by incident --grain 1 "$scratch/a.cmt"
has err "--by incident: not with --grain"
run 0 "$stat" export --csv --by incident --to 0.5s "$scratch/a.cmt"
has err "there is no incident in this part"

# A recording of the same boot does not change; of another one it is told what did.
run 0 "$stat" diff "$scratch/a.cmt" "$scratch/a.cmt"
lacks out "Only in"
lacks out "nan "
checks=$((checks + 1))
grep -q '[+-][1-9][0-9.]* [KM]iB' "$scratch/out" && fail "a recording differs from itself"
# ... also a container that began and ended in its only interval
"$made" recording containers=12 ms=600 hostile=1 >"$scratch/short.cmt" || exit 1
run 0 "$stat" diff "$scratch/short.cmt" "$scratch/short.cmt"
checks=$((checks + 1))
sed 1,3d "$scratch/out" | grep -E ' [+-][0-9]' && fail "no bounds, and yet a change"
run 0 "$stat" diff "$scratch/a.cmt" "$scratch/b.cmt"
has out "Only in A:"
checks=$((checks + 1))
sed -n 5p "$scratch/out" | grep -q '^docker:batch .*+3.0 MiB' || fail "batch is not first"
checks=$((checks + 1))
sed -n '/^Only in A/,/^Only in B/p' "$scratch/out" | grep -q '^docker:c4 ' ||
	fail "c4 is not gone"
checks=$((checks + 1))
sed -n '/^Only in B/,$p' "$scratch/out" | grep -q '^docker:' && fail "a name is not joined"
checks=$((checks + 1))
grep -q '^docker:c5  *-  *-  *-' "$scratch/out" || fail "what is not known has a value"
run 0 "$stat" diff --json -t 1 "$scratch/a.cmt" "$scratch/b.cmt"
has out '"name":"docker:batch"'
has out '"change":{"occupancy_bytes":{"value":3145728.0,"least":3014656.0,"most":3276800.0,"partial":false}'
checks=$((checks + 1))
[ "$(wc -l <"$scratch/out")" -eq 3 ] || fail "--top 1 has other rows"

# The begin of an incident has the clock as it was then, and without a clock no time is 1970's.
"$made" recording containers=8 ms=6000 waits=400000 clock=1 >"$scratch/set.cmt" || exit 1
run 0 "$stat" replay --why -j "$scratch/set.cmt"
has out '"event":"goes on","estimate":true,"emulated":false,"number":1,"begin":"2026-06-01T00:00:00.001000Z","end":"2026-05-31T23:00:06.000000Z"'
"$made" recording containers=8 ms=3000 waits=400000 timeless=1 >"$scratch/timeless.cmt" || exit 1
run 0 "$stat" replay --why -j "$scratch/timeless.cmt"
has out '"record":"verdict","time":null,"since":null,"end_ns":1025001000000'
lacks out "1970"
run 0 "$stat" replay --why "$scratch/timeless.cmt"
has out "? docker:web waits for a CPU"
lacks out "1970"
run 0 "$stat" export --by incident --ndjson "$scratch/timeless.cmt"
has out '"victim":"docker:web"'
lacks out "1970"

# Occupancy is a sum of counters: one unit more in each of four L3 domains is no change.
for side in 0 1; do
	"$made" recording containers=3 ms=2000 domains=4 later=$side >"$scratch/domains$side.cmt" ||
		exit 1
done
run 0 "$stat" diff --json "$scratch/domains0.cmt" "$scratch/domains1.cmt"
has out '"change":{"occupancy_bytes":{"value":262144.0,"least":-262144.0,"most":786432.0,'
run 0 "$stat" diff "$scratch/domains0.cmt" "$scratch/domains1.cmt"
checks=$((checks + 1))
[ "$(grep -cE '^docker:(web|batch) +[^ ]+ [KM]iB +[^ ]+ [KM]iB += ' "$scratch/out")" -eq 2 ] ||
	fail "less than a unit in each domain is a change"

# Rounded counts: each reader says so, and diff has bounds that hold what was counted.
"$made" recording containers=14 ms=4000 >"$scratch/exact.cmt" || exit 1
"$made" recording containers=14 ms=4000 rounded=1 >"$scratch/rounded.cmt" || exit 1
sentence="cycles, instructions and LLC counts are rounded to 9 significant bits"
run 0 "$stat" export --csv "$scratch/exact.cmt"
lacks err "significant bits"
run 0 "$stat" export --csv "$scratch/rounded.cmt"
has err "cmtstat export: $scratch/rounded.cmt: $sentence (cmtstat record --exact keeps all)"
run 0 "$stat" diff "$scratch/exact.cmt" "$scratch/rounded.cmt"
has out " s, counts of 9 significant bits"
checks=$((checks + 2))
[ "$(grep -c "significant bits" "$scratch/out")" = 1 ] || fail "exact counts are called rounded"
[ "$(grep '^docker:batch ' "$scratch/out" | grep -o ' = *' | wc -l)" = 4 ] ||
	fail "rounding is a change"
run 0 "$stat" diff --json "$scratch/exact.cmt" "$scratch/rounded.cmt"
has out '"counter_bits":0,'
has out '"counter_bits":9,'
checks=$((checks + 1))
python3 - "$scratch/out" <<'EOF' || fail "rounded counts are not between least and most"
import json, sys

rows = [json.loads(line) for line in open(sys.argv[1])]
rows = [row for row in rows if row["record"] == "container" and row["a"]["cpi"]]
assert rows
for row in rows:
    for name in ("cpi", "llc_misses_per_s"):
        exact, rounded, change = (row[of][name] for of in ("a", "b", "change"))
        assert exact["least"] == exact["value"] == exact["most"], row
        assert rounded["least"] <= exact["value"] <= rounded["most"], row
        assert change["least"] <= 0 <= change["most"], row
        assert rounded["most"] <= rounded["value"] * 1.005, row
assert any(row["change"]["cpi"]["value"] for row in rows)
EOF
for option in --plain --json; do
	run 0 "$stat" replay $option "$scratch/exact.cmt"
	lacks out "$sentence"
done
has out '"counter_bits":0,'
run 0 "$stat" replay --json "$scratch/rounded.cmt"
has out '"counter_bits":9,'
run 0 "$stat" replay --plain "$scratch/rounded.cmt"
has out "$sentence"

# The clock is set back an hour at 3 s: times of day say so from then on, nothing else
# changes, and the page of report says how often.
"$made" recording containers=3 ms=6000 >"$scratch/steady.cmt" || exit 1
"$made" recording containers=3 ms=6000 clock=1 >"$scratch/set.cmt" || exit 1
for name in steady set; do
	run 0 "$stat" export --ndjson "$scratch/$name.cmt"
	sed -E 's/"time(_ns)?":("[^"]*"|[0-9]+),//g' "$scratch/out" >"$scratch/$name.rows"
done
same "a clock that is set changes rows" "$scratch/steady.rows" "$scratch/set.rows"
checks=$((checks + 1))
grep -o '"time":"[^.]*' "$scratch/out" | uniq | cut -d'"' -f4 >"$scratch/times"
printf '%s\n' 2026-06-01T00:00:00 2026-06-01T00:00:01 2026-05-31T23:00:02 \
	2026-05-31T23:00:03 2026-05-31T23:00:04 2026-05-31T23:00:05 2026-05-31T23:00:06 |
	cmp -s - "$scratch/times" || fail "times of day: $(cat "$scratch/times")"
run 0 "$stat" replay --json "$scratch/set.cmt"
has out '"time":"2026-06-01T00:00:02.000000Z","end_ns":1026000000002,'
has out '"time":"2026-05-31T23:00:06.000000Z","end_ns":1030000000002,'
run 0 "$stat" report "$scratch/set.cmt" -o "$scratch/page.html"
checks=$((checks + 2))
grep -q "The clock of the machine was set once" "$scratch/page.html" ||
	fail "report does not say that the clock was set"
run 0 "$stat" report "$scratch/steady.cmt" -o "$scratch/page.html"
! grep -q "The clock of the machine" "$scratch/page.html" || fail "the clock was not set"

run 2 "$stat" diff "$scratch/a.cmt"
run 1 "$stat" diff "$scratch/a.cmt" "$scratch/none"
finish
