#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cmtstat record and replay on the device of fake_device.c.
# usage: record_test.sh DIRECTORY_OF_THE_PROGRAMS
set -u
stat=$(cd "$1" && pwd)/cmtstat_fake
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
unset CMT_FAKE
file=$scratch/a.cmt
escape=$(printf '\033')

# until_true COMMAND...: waits for it, at most 100 s
until_true() {
	tries=0
	until "$@"; do
		tries=$((tries + 1))
		[ $tries -lt 2000 ] || {
			fail "waited in vain: $*"
			return 1
		}
		sleep 0.05
	done
}

# shellcheck disable=SC2317 # until_true calls it
is_larger() {
	[ "$(stat -c %s "$1" 2>/dev/null || echo 0)" -gt "$2" ]
}

# What it is asked wrongly.
run 2 "$stat" record
has err "which file?"
run 2 "$stat" record -o -
has err "only to a file"
run 2 "$stat" record -o "$file" true
has err "a command follows --"
run 2 "$stat" record -o "$file" --
has err "no command follows"
run 2 "$stat" record -o "$file" -t 1 -- true
has err "--duration: not with a command"
run 2 "$stat" record -o "$file" -t 3x
has err "--duration: '3x' is not a time such as"
run 2 "$stat" record -o "$file" -m 1K
has err "of at least 64K"
run 2 "$stat" record -o "$file" --max-files 3
has err "only with --max-size"
run 2 "$stat" record -o "$file" -C --counters-first
has err "not together with --no-counters"
run 2 "$stat" record -o "$file" --counters-first -C
has err "not together with --counters-first"
run 2 "$stat" replay
has err "which file?"
run 2 "$stat" replay "$file" "$file"
has err "one file at a time"
run 2 "$stat" replay --why --csv "$file"
has err "--why: only --from, --to, --interval, --count, --json, --filter and --peak"
run 2 "$stat" replay --from yesterday "$file"
has err "is not a moment such as"
run 2 "$stat" replay --from 2026-02-31T00:00:00 "$file"
has err "is not a moment such as"
run 2 "$stat" replay --speed -1 "$file"
run 2 "$stat" replay --speed 0 "$file"
has err "max, or a number above 0"
has err "max, or a number"
checks=$((checks + 1))
[ ! -e "$file" ] || fail "a file was made"

# A second, and what it says of it.
run 0 "$stat" record -o "$file" -t 1.2
has err " s, "
has err " samples, "
has err " bytes a sample) in "
lacks err "LOST"
has err "EMULATED: values of RMIDs come from a model, not from hardware"
checks=$((checks + 1))
[ "$(stat -c %a "$file")" = 640 ] || fail "others can read it"
run 0 "$stat" replay "$file"
has out "RECORDING of $(uname -n): "
has out "EMULATED"
lacks out "$escape"
lacks err "missing"
lacks err "not ended"
run 0 "$stat" record -q -f -o "$file" -t 0.1
lacks err "samples"
has err "EMULATED"
run 0 env CMT_FAKE=hardware "$stat" record -f -o "$file" -t 0.1
lacks err "EMULATED"

# What is said has no place, and is not in the file either.
for closed in ">&- 2>&-" "<&- 2>&-" "<&- >&- 2>&-"; do
	rm -f "$file"
	run 0 sh -c "exec $stat record -o $file -t 1.2 $closed"
	run 0 "$stat" replay "$file"
	lacks err "missing"
	lacks err "not ended"
done

# The seccomp filter and the capabilities, of the recorder and of the process that syncs.
refused="Operation not permitted"
run 0 env CMT_FAKE=forbidden,caps "$stat" record -q -f -o "$file" -t 0.2
has err "Seccomp:	2"
has err "NoNewPrivs:	1"
has err "CapEff:	0000000000000000"
for call in bpf execve "mmap of code" "mprotect to code" setrlimit socket; do
	has err "forbidden $call: $refused"
done
run 0 env CMT_FAKE=forbidden,caps "$stat" record -q -f -o "$file" -t 0.2 --no-seccomp
has err "Seccomp:	0"
lacks err "forbidden execve: $refused"
lacks err "forbidden socket: $refused"
run 3 "$stat" record -q -f -o "$file" -- sh -c 'grep Seccomp: /proc/self/status >&2; exit 3'
has err "Seccomp:	0"
mkdir "$scratch/kept"
"$stat" record --keep 10s --save-to "$scratch/kept" 2>"$scratch/err" &
kept=$!
until_true grep -q "seccomp filter on" "$scratch/err"
# shellcheck disable=SC2013 # each child is a number
for pid in $kept $(cat "/proc/$kept/task/$kept/children"); do
	checks=$((checks + 2))
	# the process that syncs loads its filter while the recorder goes on
	until_true grep -q "^Seccomp:	2" "/proc/$pid/status" || fail "$pid has no filter"
	grep -q "^CapEff:	0000000000000000" "/proc/$pid/status" ||
		fail "$pid has capabilities"
done
kill "$kept"
wait "$kept"

# A file that is there.
run 1 "$stat" record -o "$file" -t 0.1
has err "is there already; --force replaces it"
run 0 "$stat" replay "$file"
: >"$scratch/empty"
run 0 "$stat" record -o "$scratch/empty" -t 0.1
run 1 "$stat" record -o "$scratch" -t 0.1
has err "is a directory"
ln -s "$file" "$scratch/link"
run 1 "$stat" record -f -o "$scratch/link" -t 0.1
has err "is a symbolic link"
mkfifo "$scratch/fifo"
run 1 "$stat" record -f -o "$scratch/fifo" -t 0.1
has err "is no regular file"
run 1 "$stat" record -f -o /dev/null -t 0.1
has err "is no regular file"
run 1 "$stat" record -o "$scratch/no/such" -t 0.1
has err "the directory is not there"
run 1 "$stat" record -o "$scratch/$(printf '%0300d' 0)" -t 0.1
has err "the name is too long"
run 1 "$stat" record -o "$scratch/${escape}[31m/x" -t 0.1
lacks err "$escape"

# One recorder a file; what ends it, ends it well.
for signal in INT TERM HUP; do
	rm -f "$file"
	# a shell has its jobs ignore SIGINT, and nohup SIGHUP
	env --default-signal=INT,HUP "$stat" record -q -f -o "$file" 2>"$scratch/err2" &
	pid=$!
	until_true is_larger "$file" 3000
	run 1 "$stat" record -f -o "$file" -t 0.1
	has err "another recorder writes to it"
	kill -$signal $pid
	checks=$((checks + 1))
	wait $pid || fail "SIG$signal: exit status $?"
	run 0 "$stat" replay "$file"
	lacks err "not ended"
done
# ... but for the signal that has a flight recorder save: all until then is in the file.
rm -f "$file"
: >"$scratch/err2"
"$stat" record -q -o "$file" 2>"$scratch/err2" &
pid=$!
until_true is_larger "$file" 3000
kill -USR1 $pid
until_true grep -q "SIGUSR1: .*the recording goes on; only with --keep" "$scratch/err2"
size=$(stat -c %s "$file")
run 0 "$stat" replay "$file"
lacks err "missing"
until_true is_larger "$file" "$size"
kill $pid
checks=$((checks + 2))
wait $pid || fail "SIGUSR1: exit status $?"
[ "$(grep -c SIGUSR1 "$scratch/err2")" = 1 ] || fail "not said once"
# A command gets it.
# shellcheck disable=SC2016 # the other shell expands it
"$stat" record -q -f -o "$file" -- sh -c 'trap "exit 9" USR1; echo; while :; do sleep 0.1; done' \
	>"$scratch/ready" &
pid=$!
until_true is_larger "$scratch/ready" 0
kill -USR1 $pid
checks=$((checks + 1))
wait $pid
[ $? -eq 9 ] || fail "the command did not get SIGUSR1"
# ... but for what cannot be caught: that costs what is not written yet.
rm -f "$file"
"$stat" record -q -f -o "$file" 2>"$scratch/err2" &
pid=$!
until_true is_larger "$file" 6000
kill -KILL $pid
wait $pid
run 0 "$stat" replay "$file"
has err "the recording has no end"
has out "RECORDING"
# Nothing of it stays behind.
run 0 "$stat" record -q -f -o "$file" -t 0.1

# The file is removed.
rm -f "$file"
: >"$scratch/err2"
"$stat" record -q -f -o "$file" 2>"$scratch/err2" &
pid=$!
until_true is_larger "$file" 1000
rm "$file"
until_true grep -q "the file was removed" "$scratch/err2" || kill $pid
checks=$((checks + 1))
! wait $pid || fail "a file that is gone is no failure"

# The disk is full, as far as a file is concerned: 4 KiB.
# shellcheck disable=SC2016 # the other shell expands it
run 1 sh -c 'ulimit -f 8; CMT_FAKE=past exec "$0" "$@"' "$stat" record -o "$file" -t 5
has err "File too large"
has err "complete up to its last chunk"
has err "could not be written"
run 0 "$stat" replay "$file"
has err "the recording has no end"
lacks err "damaged"
rm "$file"

# Files of a size; the oldest go, and that is said.
CMT_FAKE=past run 0 "$stat" record -o "$file" -t 6 -m 64K --max-files 2
has err "files were begun, the first "
for part in "$file" "$file.1"; do
	checks=$((checks + 1))
	[ "$(stat -c %s "$part")" -le 65536 ] || fail "$part is larger"
	run 0 "$stat" replay -i 10 "$part"
	lacks err "not ended"
	lacks err "missing"
done
checks=$((checks + 1))
[ ! -e "$file.2" ] || fail "a file too many"
rm "$file"
run 1 "$stat" record -o "$file" -t 0.1 -m 64K --max-files 3
has err "is there already"
rm -f "$file".*
# ... also those of an earlier recording that had more files, up to a number without one
for n in 3 4; do
	run 0 "$stat" record -o "$file.$n" -t 0.1
done
echo another >"$file.5"
run 1 "$stat" record -o "$file" -t 0.1 -m 64K --max-files 3
has err "is there already"
run 0 "$stat" record -f -o "$file" -t 0.1 -m 64K --max-files 3
checks=$((checks + 2))
{ [ ! -e "$file.3" ] && [ ! -e "$file.4" ]; } || fail "files of an earlier recording stay"
[ -e "$file.5" ] || fail "a file that no recording left is removed"
rm -f "$file" "$file".*

# begin_files N: a recorder in $pid, which fills a file in some seconds; where N is more
# than one, it has begun another file, and then $first is its first one.  It is stopped.
begin_files() {
	rm -f "$file" "$file".* "$scratch/kept.cmt"
	CMT_FAKE=waits,channels,sockets,wave,container "$stat" record -q --exact -o "$file" -t 60 \
		-m 64K --max-files "$1" 2>"$scratch/err2" &
	pid=$!
	[ "$1" -eq 1 ] || until_true [ -e "$file.1" ]
	until_true is_larger "$file" 1000
	kill -STOP $pid
	first=$(stat -c %i "$file.1" 2>/dev/null)
	checks=$((checks + 1))
	mv "$file" "$scratch/kept.cmt" || fail "no file"
}

# first_stays: it has its name
first_stays() {
	checks=$((checks + 2))
	[ "$(stat -c %i "$file.1")" = "$first" ] || fail "the older file is moved"
	[ ! -e "$file.2" ] || fail "the older file is moved to .2"
}

# Another program's file at the path is neither renamed nor removed.
for n in 3 1; do
	begin_files $n
	echo precious >"$file"
	kill -CONT $pid
	checks=$((checks + 3))
	! wait $pid || fail "another program's file is no failure"
	grep -q "$file: was replaced by another program's file, which stays" "$scratch/err2" ||
		fail "another program's file: not said"
	[ "$(cat "$file")" = precious ] || fail "another program's file is moved"
	[ $n -eq 1 ] || first_stays
	run 0 "$stat" replay "$scratch/kept.cmt"
	lacks err "not ended"
done
# One that was moved away is complete, and the recording goes on in a new one.
begin_files 3
kill -CONT $pid
until_true is_larger "$file" 1000
kill $pid
checks=$((checks + 1))
wait $pid || fail "a file that was moved away: exit status $?"
first_stays
for part in "$scratch/kept.cmt" "$file"; do
	run 0 "$stat" replay "$part"
	lacks err "not ended"
done
rm -f "$file" "$file".* "$scratch/kept.cmt"

# A command.
run 5 "$stat" record -o "$file" -- sh -c 'echo heard; exit 5'
has out "heard"
run 0 "$stat" replay "$file"
run 143 "$stat" record -f -o "$file" -- sh -c 'kill $$'
run 127 "$stat" record -f -o "$file" -- "$scratch/none"
has err "No such file or directory"
checks=$((checks + 3))
# ... and leaves what was there, or nothing
"$stat" replay "$file" >/dev/null 2>&1 || fail "the earlier recording is lost"
: >"$scratch/empty.cmt"
run 127 "$stat" record -o "$scratch/empty.cmt" -- "$scratch/none"
[ -e "$scratch/empty.cmt" ] || fail "a file that was there is removed"
run 127 "$stat" record -o "$scratch/new.cmt" -- "$scratch/none"
[ ! -e "$scratch/new.cmt" ] || fail "a file of nothing is left"
run 143 "$stat" record -f -o "$scratch/empty.cmt" -- sh -c 'kill $$'
run 0 "$stat" replay "$scratch/empty.cmt"
CMT_FAKE=denied run 1 "$stat" record -f -o "$file" -- true
has err "cannot measure a command"
# Nothing is left of what did not start.
checks=$((checks + 3))
CMT_FAKE=denied run 1 "$stat" record -o "$scratch/new.cmt" -- true
[ ! -e "$scratch/new.cmt" ] || fail "a command that cannot be measured leaves a file"
CMT_FAKE=timens run 1 "$stat" record -o "$scratch/new.cmt" -t 0.2
[ ! -e "$scratch/new.cmt" ] || fail "a device that cannot be read leaves a file"
CMT_FAKE=timens run 1 "$stat" record -o "$scratch/new.cmt" -- true
[ ! -e "$scratch/new.cmt" ] || fail "a command without a reader leaves a file"
# Full rings are read without a wait, as without a command.
CMT_FAKE=past,overrun run 0 "$stat" record -q -f -o "$file" -- sleep 0.5
lacks err "overwritten"

# The device goes; records do; there is none that may be read.
CMT_FAKE=gone run 1 "$stat" record -f -o "$file"
has err "the device is gone"
run 0 "$stat" replay "$file"
lacks err "not ended"
CMT_FAKE=lost run 0 "$stat" record -q -f -o "$file" -t 0.2
has err "LOST 7 records: overwritten"
CMT_FAKE=timens run 1 "$stat" record -f -o "$file" -t 0.2

# All that was written before the end is read, also what can only be read later, or told:
# five records a millisecond.
records() {
	sed -n 's/.* s, \([0-9]*\) records, .*/\1/p; s/.*: LOST \([0-9]*\) records: .*/\1/p' \
		"$scratch/err" | awk '{ n += $1 } END { print n + 0 }'
}
CMT_FAKE=past run 0 "$stat" record -f -o "$file" -t 0.1
checks=$((checks + 2))
[ "$(records)" -ge 300000 ] || fail "not all of a minute"
CMT_FAKE=held run 0 "$stat" record -f -o "$file" -t 1
lacks err "LOST"
[ "$(records)" -ge 5000 ] || fail "not all of a second"
# ... but not for ever.
CMT_FAKE=endless run 0 "$stat" record -q -f -o "$file" -t 0.1
has err " records: not read from the rings at the end"
CMT_FAKE=torn run 1 "$stat" record -q -f -o "$file" -t 1ms
has err "stopped: "

# What was recorded is what was seen: the rows of complete intervals, but for the time
# and for what only this machine's cgroups say.
rows() {
	awk '/"record":"interval"/ { n++; next } n == 2' "$1" |
		sed -e 's/"end_ns":[0-9]*,//' -e 's/"processes":[0-9a-z]*,//' | sort
}
export CMT_FAKE=hardware,perf,channels,container
"$stat" record -q -f --exact -o "$file" -t 2 &
pid=$!
for by in container process domain channel; do
	"$stat" -i 0.4 -n 2 --json --by $by >"$scratch/live.$by"
done
wait $pid
for by in container process domain channel; do
	run 0 "$stat" replay -i 0.4 -n 2 --json --by $by "$file"
	rows "$scratch/live.$by" >"$scratch/live"
	rows "$scratch/out" >"$scratch/replayed"
	checks=$((checks + 1))
	[ -s "$scratch/live" ] || fail "$by: no live rows"
	diff "$scratch/live" "$scratch/replayed" >"$scratch/out" ||
		fail "$by: live and replayed differ"
	for format in csv plain; do
		run 0 "$stat" replay -i 0.4 -n 2 --$format --by $by "$file"
	done
done
run 0 "$stat" replay -n 1 --json "$file"
has out '"monitored":null,"pending":1,"services":null,"services_pending":0,"attached":null,"attached_pending":1'
has out "\"host\":\"$(uname -n)\",\"gaps\":0"
lacks out '"processes":1'
has out "\"time\":\"$(date -u +%Y-)"
run 0 "$stat" replay -n 1 --by cpu "$file"
has out " 100.0 "
# Without --exact counts of 800 million cycles are rounded, by 0.2 % at most.
run 0 "$stat" record -q -f -o "$scratch/rounded" -t 1
run 0 "$stat" replay -i 0.4 -n 2 --json --by domain "$scratch/rounded"
rows "$scratch/out" >"$scratch/replayed"
checks=$((checks + 1))
cycles=$(sed -n 's/.*"cycles":\([0-9]*\).*/\1/p' "$scratch/replayed")
{ [ "${cycles:-0}" -ge 798400000 ] && [ "$cycles" -le 801600000 ] &&
	[ "$cycles" -ne 800000000 ]; } || fail "rounded cycles: $cycles"
unset CMT_FAKE

# Where no counts are recorded, nothing is said of how exact they are.
run 0 "$stat" replay "$scratch/rounded"
has out "rounded to 9 significant bits"
run 0 "$stat" record -q -f -C -o "$scratch/rounded" -t 0.2
run 0 "$stat" replay "$scratch/rounded"
lacks out "significant bits"

# From a moment to another one.
run 0 "$stat" replay -i 0.1 --from +1 --to +1.5s --json "$file"
checks=$((checks + 1))
nr=$(grep -c '"record":"interval"' "$scratch/out")
{ [ "$nr" -ge 5 ] && [ "$nr" -le 7 ]; } || fail "$nr intervals of half a second"
run 0 "$stat" replay -i 0.1 --from -300ms --json "$file"
checks=$((checks + 1))
nr=$(grep -c '"record":"interval"' "$scratch/out")
{ [ "$nr" -ge 3 ] && [ "$nr" -le 5 ]; } || fail "$nr intervals of the last 300 ms"
run 1 "$stat" replay --from 1h "$file"
has err "the recording has ended by then"
run 1 "$stat" replay --from 1s --to 500ms "$file"
has err "not after the begin"
run 0 "$stat" replay --from 2020-01-01T00:00:00Z -n 1 "$file"
has out "RECORDING"
run 1 "$stat" replay --from 2099-01-01T00:00:00Z -n 1 "$file"

# As fast as it was: a second takes one.
checks=$((checks + 1))
begin=$(date +%s%N)
run 0 "$stat" replay --speed 1 -i 0.1 --to +1s "$file"
took=$((($(date +%s%N) - begin) / 1000000))
[ $took -ge 850 ] || fail "a second took $took ms"

# Who took what, in tables and alone.
CMT_FAKE=stream,container run 0 "$stat" record -q -f -o "$file" -t 3
run 0 "$stat" replay --why "$file"
has out "1. cgroup:1152921504606846978: took "
has out " ms seen, 0 not known, 0 records lost"
run 0 "$stat" replay --why --json "$file"
has out '"confidence":'
run 0 "$stat" replay "$file"
has out "lost cache to"
run 0 "$stat" replay --no-marks "$file"
lacks out "lost cache to"

# The flight recorder: asked wrongly,
ctl=$1/cmtctl
saves=$scratch/saves
mkdir "$saves"
run 2 "$stat" record --keep 5s
has err "--keep needs --save-to DIRECTORY"
run 2 "$stat" record --keep 5s --save-to "$saves" -o "$file"
has err "not with --output"
run 2 "$stat" record -o "$file" --save-to "$saves"
has err "only with --keep"
for rule in 'nonsense' 'occupancy' 'occupancy web' 'occupancy web > much' \
	'bandwidth web = 1' 'culprit web' 'occupancy web > 1M now' 'slower web < 5%' \
	'slower web > 5' ''; do
	run 2 "$stat" record --keep 5s --save-to "$saves" --on "$rule"
	has err "--on: "
done
run 1 "$stat" record --keep 5s --save-to "$saves/none"
has err "No such file or directory"
: >"$scratch/socket"
run 1 "$stat" record --keep 5s --save-to "$saves" --socket "$scratch/socket"
has err "Address already in use"
rm "$scratch/socket"
for operand in "$scratch/socket" "$ctl"; do
	run 1 "$ctl" save "$operand"
	has err "The operand is the socket of a recorder that runs (cmtstat record --socket), not the file to save to"
	lacks err "systemctl"
done

# ... and asked: by a signal, by cmtctl, by a rule; the oldest files go.
# shellcheck disable=SC2317 # until_true calls it
saved() {
	[ "$(grep -c ": saved $saves/cmt-" "$scratch/err2")" -ge "$1" ]
}
: >"$scratch/err2"
CMT_FAKE=stream,container "$stat" record --keep 5s --save-to "$saves" --max-files 2 \
	--socket "$scratch/socket" --on culprit --distance 1h 2>"$scratch/err2" &
pid=$!
until_true saved 1
checks=$((checks + 1))
grep -q "culprit: cgroup:[0-9]*977, by cgroup:[0-9]*978 (EMULATED)$" "$scratch/err2" ||
	fail "the rule does not say who, or not that a model says so"
checks=$((checks + 1))
grep -q "record: EMULATED: values of RMIDs come from a model" "$scratch/err2" ||
	fail "the flight recorder does not say EMULATED"
# What came of it is there, too.
name=$(sed -n 's/.*: saved \(.*[.]cmt\), .*/\1/p' "$scratch/err2" | head -n 1)
run 0 "$stat" replay --json -i 0.1 "$name"
checks=$((checks + 1))
[ "$(grep -c '"record":"interval"' "$scratch/out")" -ge 20 ] || fail "only until the rule held"
# Requests within a second get the last file, so these may be one or two files.
run 0 "$ctl" save "$scratch/socket"
has out "$saves/cmt-"
name=$(cat "$scratch/out")
run 0 "$stat" replay -i 0.1 "$name"
has out "RECORDING"
lacks err "missing"
lacks err "not ended"
run 0 "$ctl" --json save "$scratch/socket"
has out "\"file\":\"$saves/cmt-"
before=$(grep -c ": saved $saves/cmt-" "$scratch/err2")
kill -USR1 $pid
until_true saved $((before + 1))
until_true grep -q ": SIGUSR1" "$scratch/err2"
kill -USR1 $pid
until_true saved $((before + 2))
# ... and another program's directory is another one.
mkdir "$scratch/here"
: >"$scratch/err3"
(cd "$scratch/here" && exec "$stat" record -q --keep 5s --save-to . \
	--socket "$scratch/socket3") 2>"$scratch/err3" &
here=$!
until_true "$ctl" save "$scratch/socket3" >"$scratch/out" 2>"$scratch/err"
kill $here
wait $here
checks=$((checks + 1))
[ -s "$(cat "$scratch/out")" ] || fail "the path of a file is relative to the recorder's directory"
# Two were asked for, beside the rule's.
checks=$((checks + 2))
[ "$(find "$saves" -name 'cmt-*Z-asked.cmt' | wc -l)" = 2 ] || fail "not two asked for"
[ "$(find "$saves" -name 'cmt-*Z.cmt' | wc -l)" = 1 ] || fail "not one of the rule"
# One recorder a directory: the second one leaves the first one's files alone.
: >"$saves/.cmt-part"
run 1 "$stat" record --keep 5s --save-to "$saves" -t 0.1
has err "--save-to: $saves: another recorder saves there: stop it, or name another directory"
checks=$((checks + 1))
[ -e "$saves/.cmt-part" ] || fail "the other one's file is gone"
rm -f "$saves/.cmt-part"
kill $pid
wait $pid || fail "a signal: exit status $?"
checks=$((checks + 2))
[ ! -e "$scratch/socket" ] || fail "the socket is still there"
[ "$(find "$saves" -type f | wc -l)" = 3 ] || fail "something stays behind"
# A socket that a kill has left.
: >"$scratch/err2"
CMT_FAKE=container "$stat" record --keep 5s --save-to "$saves" \
	--socket "$scratch/socket" --on 'occupancy *977 > 1M' 2>"$scratch/err2" &
pid=$!
until_true saved 1
checks=$((checks + 1))
grep -q ": occupancy \*977 > 1M (EMULATED)\$" "$scratch/err2" || fail "the rule is not said"
kill -KILL $pid
wait $pid
run 0 "$stat" record --keep 1s --save-to "$saves" --socket "$scratch/socket" -t 0.2
has err "0 saves"

# Names without end: of the minute that is in the rings, --max-memory has room for a part.
awk 'BEGIN {
	letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	for (i = 0; i < 500; i++) {
		name = ""
		for (j = 0; j < 200; j++)
			name = name substr(letters, 1 + int(rand() * 62), 1)
		print "/" name ".service"
	}
}' | tr '\n' '\0' >"$scratch/names"
mkdir "$scratch/short"
# shellcheck disable=SC2317 # until_true calls it
saved_much() {
	short=$("$ctl" save "$scratch/socket" 2>/dev/null) && is_larger "$short" 500000
}
CMT_FAKE_NAMES=$scratch/names CMT_FAKE=past "$stat" record --keep 1h --max-memory 1M \
	--save-to "$scratch/short" --socket "$scratch/socket" 2>"$scratch/err" &
pid=$!
until_true saved_much
kill $pid
wait $pid || fail "--max-memory: exit status $?"
has err "--max-memory is too little for --keep: less was kept"
checks=$((checks + 1))
is_larger "$short" 1048576 && fail "--max-memory: the file is larger"
run 0 "$stat" replay -i 1 "$short"
has out "RECORDING"
lacks err "missing"

# The recorder reads all before a rule reads.
CMT_FAKE=past,order,container run 0 "$stat" record --keep 2s --save-to "$saves" -t 0.2 \
	--on 'occupancy *977 > 1G'
lacks err "out of order"

# A rule that begins to hold again soon after a file: said, how often, once, and when the
# distance is over it saves again.
: >"$scratch/err2"
CMT_FAKE=wave,container "$stat" record --keep 2s --save-to "$saves" \
	--on 'occupancy *977 > 2M' --distance 3s 2>"$scratch/err2" &
pid=$!
until_true grep -qE "not saved, within --distance of another save: [1-9] times occupancy \*977 > 2M\$" \
	"$scratch/err2"
until_true saved 2
kill $pid
wait $pid
# ... and at the end.
CMT_FAKE=wave,container run 0 "$stat" record --keep 2s --save-to "$saves" -t 7 \
	--on 'occupancy *977 > 2M' --on 'occupancy *978 > 1G'
checks=$((checks + 1))
[ "$(grep -c "not saved" "$scratch/err")" = 1 ] || fail "not said once"
# A request is no save by a rule: --distance does not count from it.
: >"$scratch/err2"
CMT_FAKE=wave,container "$stat" record --keep 2s --save-to "$saves" --socket "$scratch/socket" \
	--on 'occupancy *977 > 2M' --distance 1h 2>"$scratch/err2" &
pid=$!
# shellcheck disable=SC2317 # until_true calls it
asked() {
	"$ctl" save "$scratch/socket" >"$scratch/out" 2>"$scratch/err"
}
until_true asked
until_true grep -q ": saved $saves/cmt-.*Z.cmt, .*: occupancy " "$scratch/err2"
kill $pid
wait $pid
run 2 "$stat" record -o "$file" --peak 10G
has err "only with --keep"
# A saved file that is not synced is reported, with its name: the process that syncs is gone.
mkdir "$scratch/unsynced"
: >"$scratch/err2"
CMT_FAKE=container "$stat" record --keep 2s --save-to "$scratch/unsynced" 2>"$scratch/err2" &
pid=$!
until_true grep -q "the last minutes are kept" "$scratch/err2"
read -r syncs <"/proc/$pid/task/$pid/children"
kill -KILL "$syncs"
until_true grep -q '^State:.Z' "/proc/$syncs/status"
kill -USR1 $pid
until_true grep -q "saved, but not synced: $scratch/unsynced/cmt-.*[.]cmt: Broken pipe" \
	"$scratch/err2"
kill $pid
checks=$((checks + 1))
wait $pid
[ $? -eq 1 ] || fail "a file that is not synced is no failure"

# A save that is larger than the limit of a file's size fails; the recording goes on.
mkdir "$scratch/full"
: >"$scratch/err2"
# shellcheck disable=SC2016 # the other shell expands it
CMT_FAKE=past sh -c 'ulimit -f 8; exec "$0" "$@"' "$stat" record --keep 10s \
	--save-to "$scratch/full" 2>"$scratch/err2" &
pid=$!
until_true grep -q "the last minutes are kept" "$scratch/err2"
kill -USR1 $pid
until_true grep -q "cannot save to: $scratch/full: File too large" "$scratch/err2" || kill $pid
checks=$((checks + 2))
[ ! -e "$scratch/full/.cmt-part" ] || fail "a save that failed leaves its file"
kill $pid
wait $pid || fail "a save that failed ends the recorder: exit status $?"

# A save that fails is an attempt: the next one by a rule is --distance later.  Nothing can
# be made in a directory that was removed.
mkdir "$scratch/removed"
CMT_FAKE=wave,container "$stat" record --keep 2s --save-to "$scratch/removed" -t 9 \
	--on 'occupancy *977 > 2M' --distance 1h 2>"$scratch/err" &
pid=$!
until_true grep -q "the last minutes are kept" "$scratch/err"
rmdir "$scratch/removed"
wait $pid
has err "0 saves"
has err "not saved, within --distance of another save: "
checks=$((checks + 1))
[ "$(grep -c "cannot save to" "$scratch/err")" = 1 ] || fail "not one attempt"
run 2 "$stat" record --keep 5s --save-to "$saves" --on culprit --peak 10
has err "is not bytes a second from 1M"
# Who has the CPU is known without occupancy, too.
: >"$scratch/err2"
CMT_FAKE=software,container,waits "$stat" record --keep 5s --save-to "$saves" --on culprit \
	2>"$scratch/err2" &
pid=$!
until_true saved 1
kill $pid
wait $pid || fail "software: exit status $?"
checks=$((checks + 1))
grep -q ": culprit: " "$scratch/err2" || fail "the rule does not say who has the CPU"
export CMT_FAKE=software,container,unaccounted
run 2 "$stat" record --keep 5s --save-to "$saves" --on culprit
has err "--on culprit: neither cache occupancy and memory bandwidth nor the waiting for a CPU is measured here"
lacks err "cannot read the device"
run 2 "$stat" record --keep 5s --save-to "$saves" -C --on 'slower * > 5%'
has err "--on slower * > 5%: cannot hold with --no-counters where the waiting for a CPU is not accounted: the kernel has"
lacks err "$escape"
# Another program that has the counters may end: the recorder goes on.
export CMT_FAKE=hardware,container,unaccounted,nopmu
run 0 "$stat" record --keep 5s --save-to "$saves" -q -t 0.5 --on culprit --on 'slower * > 5%'
has err "--on slower * > 5%: cannot hold while the processor's counters do not count, and the waiting for a CPU is not accounted: another program"
lacks err "--on culprit"
lacks err "$escape"
# ... each rule that never holds, and only those.
export CMT_FAKE=software,container
run 2 "$stat" record --keep 5s --save-to "$saves" --on 'occupancy * > 1M' \
	--on 'bandwidth * > 1M' --on culprit
has err "--on occupancy * > 1M: cannot hold here: no cache occupancy: made up"
has err "--on bandwidth * > 1M: cannot hold here: no memory bandwidth: made up"
lacks err "--on culprit"
export CMT_FAKE=nombm,container
# Traffic that resctrl's counters are needed for can be known later: that one goes on, too.
run 0 "$stat" record --keep 5s --save-to "$saves" -t 0.5 --on 'bandwidth * > 1M'
has err "cannot hold here: no memory bandwidth: counters are"
# The sampling interval changes while a recorder runs: it goes on.
export CMT_FAKE=slow,container
run 0 "$stat" record --keep 5s --save-to "$saves" -t 0.5 --on culprit --on 'slower * > 5%' \
	--on 'occupancy * > 1G'
has err "--on culprit: cannot hold while the sampling interval is 1 s; it needs 1 ms or less: cmtctl interval 1ms"
has err "--on slower * > 5%: cannot hold while the sampling interval is"
lacks err "--on occupancy"
checks=$((checks + 1))
[ "$(grep -c "on culprit: cannot" "$scratch/err")" = 1 ] || fail "said more than once"
unset CMT_FAKE
# Without counters memory that is busy is known by what it can move, and then somebody is named.
: >"$scratch/err2"
CMT_FAKE=busy,container "$stat" record --keep 2s --save-to "$saves" -C \
	--on culprit --peak 5G 2>"$scratch/err2" &
pid=$!
until_true saved 1
checks=$((checks + 1))
grep -q "culprit: cgroup:[0-9]*977, by cgroup:[0-9]*978" "$scratch/err2" ||
	fail "--peak: no verdict"
kill $pid
wait $pid

# A container becomes slower because of another one, also where nothing is read.
: >"$scratch/err2"
CMT_FAKE=container,stream,perf,software "$stat" record --keep 2s --save-to "$saves" \
	--on 'slower *977 > 3%' 2>"$scratch/err2" &
pid=$!
until_true grep -q "slower \*977 > 3%" "$scratch/err2"
checks=$((checks + 1))
grep -q "slower \*977 > 3%" "$scratch/err2" || fail "nobody is slower"
kill $pid
wait $pid

# What is no recording, and what is one no more.
run 1 "$stat" replay "$scratch/none"
has err "No such file or directory"
run 1 "$stat" replay "$scratch"
has err "is a directory"
run 1 "$stat" replay "$scratch/fifo"
has err "is no regular file"
: >"$scratch/empty"
run 1 "$stat" replay "$scratch/empty"
has err "is empty"
head -c 100000 /dev/zero >"$scratch/zero"
run 1 "$stat" replay "$scratch/zero"
has err "is no recording"
size=$(stat -c %s "$file")
# ... also while a chunk is being written
head -c $((size / 2)) "$file" >"$scratch/cut"
run 0 "$stat" replay "$scratch/cut"
has err "the recording has no end"
lacks err "missing"
has out "RECORDING"
cp "$file" "$scratch/flipped"
printf '\252\125' | dd of="$scratch/flipped" bs=1 seek=$((size / 2)) conv=notrunc 2>/dev/null
run 0 "$stat" replay --json "$scratch/flipped"
has err "something is missing: "

# A symbolic link is read; one that leads nowhere is not written through.
run 0 "$stat" replay "$scratch/link"
has out "RECORDING"
ln -s "$scratch/nowhere" "$scratch/dangling"
run 1 "$stat" replay "$scratch/dangling"
has err "No such file or directory"
run 1 "$stat" record -f -o "$scratch/dangling" -t 0.1
has err "is a symbolic link"
checks=$((checks + 1))
[ ! -e "$scratch/nowhere" ] || fail "a file was made behind a link"
# 100 GB, of which only the begin is there.
cp "$file" "$scratch/sparse"
truncate -s 100G "$scratch/sparse"
run 0 "$stat" replay "$scratch/sparse"
has out "RECORDING"
has err "parts damaged"
rm "$scratch/sparse"
# What another RMID counts a part of is a lower bound, or nothing, in whatever is made of it.
some=$scratch/some
none=$scratch/none.cmt
sole=$scratch/sole
run 0 env CMT_FAKE=beside,container,hardware "$stat" record -q -o "$some" -t 1.2
run 0 env CMT_FAKE=beside,none,container,hardware "$stat" record -q -o "$none" -t 1.2
run 0 env CMT_FAKE=sole,container,hardware "$stat" record -q -o "$sole" -t 1.2
run 0 "$stat" replay -i 0.5 -n 1 "$some"
has out "INCOMPLETE: cgroup:1152921504606846977: CPU 3 has RMID 2 of resctrl or another program; cmtctl resctrl take counts it for cmt"
has out ">4.0 MiB"
has out ">1.0 MB/s"
run 0 "$stat" replay -i 0.5 -n 1 "$none"
checks=$((checks + 1))
grep -q 'cgroup:1152921504606846977  *-  *-  *-  *-  *- rmid-overwritten$' "$scratch/out" ||
	fail "0 is shown for what another RMID counts"
run 0 "$stat" replay -i 0.5 -n 1 "$sole"
lacks out "INCOMPLETE"
lacks out "resctrl"
has out " 5.0 MiB "
run 0 "$stat" export --ndjson "$some"
has out '"name":"resctrl:2","path":"","image":"","comm":"","cgroup_id":null,'
grep '"cgroup_id":1152921504606846977' "$scratch/out" | head -n 1 >"$scratch/first"
has first '"occupancy_bytes":4194304,'
has first '"occupancy_partial":true,"occupancy_why":["rmid-overwritten"],"total_bytes":'
has first '"total_hi":null,"total_partial":true,"total_why":["rmid-overwritten"],'
has first '"residual_bytes":65536,'
grep '"name":"resctrl:2"' "$scratch/out" | head -n 1 >"$scratch/first"
has first '"occupancy_bytes":1048576,'
has first '"residual_bytes":null,'
run 0 "$stat" export --ndjson "$none"
grep '"cgroup_id":1152921504606846977' "$scratch/out" | head -n 1 >"$scratch/first"
has first '"occupancy_bytes":null,"occupancy_least_bytes":null,"occupancy_most_bytes":null,'
has first '"occupancy_why":["rmid-overwritten"],"total_bytes":null,"total_rate":null,"total_lo":null,"total_hi":null,'
run 0 "$stat" export --csv "$none"
has out ",container,owner,cgroup:1152921504606846977,,,,1152921504606846977,,,,1,0,16777216,,,,,0,,,0,rmid-overwritten,,,,,0,rmid-overwritten,"
run 0 "$stat" export --perfetto "$some"
checks=$((checks + 1))
grep -aq "lower bound: L3 occupancy, memory bandwidth, local bandwidth" "$scratch/out" ||
	fail "perfetto: no lower bound"
run 0 "$stat" diff "$some" "$none"
checks=$((checks + 1))
grep -q '^cgroup:1152921504606846977 *>4.0 MiB  *-  *-  *>4.0 MiB  *-  *>1.0 MB/s  *-  *- ' \
	"$scratch/out" || fail "diff: no lower bound"
run 0 "$stat" diff --json "$some" "$none"
has out '"occupancy_most_bytes":4194304,"occupancy_most_partial":true,'

# At a sampling interval above 1 ms incidents are not known, which is no failure.
run 0 env CMT_FAKE=slow "$stat" record --force -t 0.2 -o "$scratch/slow.cmt"
run 0 "$stat" export --ndjson --by incident "$scratch/slow.cmt"
has err "incidents need a sampling interval of 1 ms or less: time with a longer one is not judged"

# Between two ticks nothing is missing, however short the intervals of a trace are.
run 0 env CMT_FAKE=sparse "$stat" record --force -t 0.3 -o "$scratch/sparse.cmt"
run 0 "$stat" export --perfetto -g 0.001 "$scratch/sparse.cmt"
checks=$((checks + 1))
! grep -aq "not measured" "$scratch/out" || fail "perfetto: a gap between two ticks"

# A later major version: the header says 2.7, and is intact.
python3 - "$file" "$scratch/future" <<'EOF'
import struct, sys

def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff

data = bytearray(open(sys.argv[1], "rb").read())
struct.pack_into("<I", data, 20, 2 << 16 | 7)
struct.pack_into("<I", data, 8, crc32c(data[12:96]))
open(sys.argv[2], "wb").write(data)
EOF
run 1 "$stat" replay "$scratch/future"
has err "has version 2 of the format, and this cmtstat reads up to 1: install a newer one"
run 1 "$stat" export --csv "$scratch/future"
has err "future: has version 2 of the format"
run 1 "$stat" diff "$scratch/future" "$file"
has err "future: has version 2 of the format"
run 1 "$stat" report "$scratch/future" -o "$scratch/page.html"
has err "has version 2 of the format"
checks=$((checks + 1))
[ ! -e "$scratch/page.html" ] || fail "a page of what cannot be read"

# What is in a recording was written by others: all capabilities are gone before its first
# byte is read.  no_caps COMMAND...: one that reads a recording
no_caps() {
	run 0 env CMT_FAKE=caps "$stat" "$@"
	checks=$((checks + 1))
	[ "$(grep -c '^Cap' "$scratch/err")" -ge 5 ] || fail "$1: opens no recording"
	for set in CapInh CapPrm CapEff CapAmb; do
		checks=$((checks + 1))
		! grep "^$set:" "$scratch/err" | grep -qv "	0000000000000000$" ||
			fail "$1: reads a recording with capabilities"
	done
	has err "NoNewPrivs:	1"
	lacks err "NoNewPrivs:	0"
}
no_caps replay "$file"
no_caps replay --why "$file"
no_caps report -o "$scratch/page.html" "$file"
no_caps export --csv "$file"
no_caps export --perfetto -o "$scratch/trace" "$file"
no_caps export --ndjson --by incident "$file"
no_caps diff "$file" "$file"
# ... which root needs to open what is another user's, and to write there.
if [ "$(id -u)" -eq 0 ]; then
	mkdir "$scratch/theirs"
	cp "$file" "$scratch/theirs/a.cmt"
	chmod 600 "$scratch/theirs/a.cmt"
	chown -R 65534 "$scratch/theirs"
	for command in replay "export --csv" "diff $file"; do
		# shellcheck disable=SC2086
		run 0 "$stat" $command "$scratch/theirs/a.cmt"
	done
	run 0 "$stat" report -o "$scratch/page2.html" "$scratch/theirs/a.cmt"
	run 0 "$stat" export --csv "$scratch/theirs/a.cmt"
	cp "$scratch/out" "$scratch/rows"
	run 0 "$stat" export --csv -o "$scratch/theirs/rows" "$scratch/theirs/a.cmt"
	checks=$((checks + 1))
	cmp -s "$scratch/rows" "$scratch/theirs/rows" || fail "other rows in a file"
fi
# The output of what is no recording: a new file does not stay, one that was there does.
run 1 "$stat" export --csv -o "$scratch/new" "$scratch/future"
echo kept >"$scratch/old"
run 1 "$stat" export --csv -o "$scratch/old" "$scratch/future"
run 1 "$stat" export --csv -f 1h -o "$scratch/old" "$file"
checks=$((checks + 2))
[ ! -e "$scratch/new" ] || fail "an export of what cannot be read"
[ "$(cat "$scratch/old")" = kept ] || fail "a file was emptied for what cannot be read"

finish
