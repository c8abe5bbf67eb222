#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cmtctl measure and cmtstat -- COMMAND on the device of fake_device.c and
# fake_demand.c.  usage: measure_test.sh DIRECTORY_OF_THE_PROGRAMS
set -u
stat=$1/cmtstat_fake
ctl=$1/cmtctl_fake
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
escape=$(printf '\033')
unset CMT_FAKE

# A line an interval; a model is called one.
run 0 "$ctl" measure pid $$ -i 0.1 -n 2
has out "pid $$: RMID 5, generation 7"
has out "EMULATED: these values come from a model, not from hardware"
checks=$((checks + 1))
[ "$(grep -c ' 4\.0 MiB .*[kM]B/s .* kB/s$' "$scratch/out")" = 2 ] ||
	fail "not two complete lines"
run 0 env CMT_FAKE=hardware "$ctl" measure cpu 0 -i 0.1 -n 1 --json
has out '{"record":"interval","time":"2'
has out '"kind":"cpu","id":0,"rmid":5,"generation":7,"elapsed_ns":'
has out '"emulated":false,"pending":false,"occupancy_bytes":4194304,"occupancy_partial":false,'
has out '"mbm_total_partial":false,'
has out '"reason":null,"unavailable":null,"mbm_reason":null,"domains":[{"domain":0,'
mkdir -p "$scratch/mount/web"
run 0 env CMT_FAKE_MOUNT="$scratch/mount" "$ctl" measure cgroup /web -i 0.1 -n 1
has out "cgroup /web: RMID 5"
run 1 env CMT_FAKE_MOUNT="$scratch/mount" "$ctl" measure cgroup /none
has err "cannot measure cgroup /none: there is no such cgroup"

# Where there are several caches; where one has no values.
run 0 env CMT_FAKE=twice "$ctl" measure cpu 0 -i 0.1 -n 1
has out " 5.0 MiB "
has out "L3 0: 4.0 MiB  L3 3: 1.0 MiB"
run 0 env CMT_FAKE=halved "$ctl" measure cpu 0 -i 0.1 -n 1
has out " > 4.0 MiB "
has out "unavailable  L3 0: 4.0 MiB  L3 3: -"
run 0 env CMT_FAKE=halved "$ctl" measure cpu 0 -i 0.1 -n 1 --json
has out '"occupancy_bytes":4194304,"occupancy_partial":true,'
has out '{"domain":3,"occupancy_bytes":null,"occupancy_most_bytes":null,"mbm_total_bytes":null,"mbm_local_bytes":null}'
has out '"reason":"unavailable"'

# Another RMID counts a part of it, or all: a lower bound, or nothing.
run 0 env CMT_FAKE=beside "$ctl" measure cpu 0 -i 0.1 -n 1
has out " > 4.0 MiB "
has out " rmid-overwritten"
checks=$((checks + 1))
grep -q '> [0-9.]* [kM]B/s .*> [0-9.]* kB/s' "$scratch/out" || fail "no lower bound of traffic"
run 0 env CMT_FAKE=beside,none "$ctl" measure cpu 0 -i 0.1 -n 1
lacks out " 0 B"
checks=$((checks + 1))
grep -q ' - * - * -  rmid-overwritten' "$scratch/out" || fail "0 is shown"
run 0 env CMT_FAKE=beside,none "$ctl" measure cpu 0 -i 0.1 -n 1 --json
has out '"occupancy_bytes":null,"occupancy_partial":false,"occupancy_most_bytes":null,'
has out '"mbm_total_bytes":null,"mbm_total_bytes_per_s":null,"mbm_total_partial":false,'
has out '"reason":"rmid-overwritten"'
has out '"domains":[{"domain":0,"occupancy_bytes":null,"occupancy_most_bytes":null,'
run 0 env CMT_FAKE=beside,none "$stat" -- true
has err "INCOMPLETE: an RMID of resctrl, or of another program, counted some of it: cmtctl resctrl take counts it for cmt"
lacks err " 0 B"

# A pending owner has no value; one that gets an RMID has no traffic before that.
run 0 env CMT_FAKE=waits "$ctl" measure cpu 0 -i 0.1 -n 1
has out "cpu 0: pending: no RMID is free"
has out "           -              -              -  pending"
run 0 env CMT_FAKE=waits "$ctl" measure cpu 0 -i 0.1 -n 1 --json
has out '"rmid":null,"generation":null,'
has out '"pending":true,"occupancy_bytes":null,'
has out '"mbm_total_bytes":null,'
has out '"reason":"pending"'
run 0 env CMT_FAKE=served "$ctl" measure cpu 0 -i 0.1 -n 4
checks=$((checks + 2))
grep -q ' 0\.[0-9]* .* 4\.0 MiB .* - .* - *gap$' "$scratch/out" ||
	fail "the first reading of an RMID makes a rate"
grep -q ' 0\.4[0-9]* .* 4\.0 MiB .*B/s .*B/s$' "$scratch/out" ||
	fail "no rate after the first reading"

# Traffic counters that began anew are no difference.
run 0 env CMT_FAKE=paused "$ctl" measure cpu 0 -i 0.1 -n 5
checks=$((checks + 1))
[ "$(grep -c 'MiB  *-  *-  gap$' "$scratch/out")" = 1 ] || fail "not one gap"

# The end of what is measured.
run 0 env CMT_FAKE=over "$ctl" measure cpu 0 -i 0.1
has out "cpu 0: went offline"
run 0 env CMT_FAKE=over "$ctl" measure cpu 0 -i 10 --json
has out '"reason":"ended"'
has out '{"record":"ended","time":"2'
sleep 100 &
sleeper=$!
checks=$((checks + 1))
: >"$scratch/out"
"$ctl" measure pid $sleeper >"$scratch/out" 2>"$scratch/err" &
pid=$!
await $pid [ -s "$scratch/out" ]
kill $sleeper
wait $pid || fail "status $? after the end of a process"
has out "pid $sleeper: ended"

# A signal ends it, with what was read so far, and is no failure.
for signal in INT TERM; do
	checks=$((checks + 1))
	: >"$scratch/out"
	env --default-signal "$ctl" measure cpu 0 -i 3600 >"$scratch/out" &
	pid=$!
	await $pid [ -s "$scratch/out" ]
	# it waits for its next reading
	await $pid grep -q '^State:.S' /proc/$pid/status
	kill -s $signal $pid
	wait $pid || fail "status $? after SIG$signal"
	has out " 4.0 MiB "
done
run 0 sh -c "$ctl measure cpu 0 -i 0.05 | head -n 1"
run 1 sh -c "exec $ctl measure cpu 0 -i 0.05 -n 1 >/dev/full"
has err "cmtctl: cannot print: No space left on device"
run 1 sh -c "exec $ctl measure cpu 0 -i 0.05 -n 1 >&-"
has err "cmtctl: cannot print: standard output is closed"
run 1 sh -c "exec $ctl measure cpu 0 -j -i 0.05 -n 1 >/dev/full"
has err "cmtctl: cannot print: No space left on device"

# Why not, and what to do.
run 1 env CMT_FAKE=software "$ctl" measure pid $$
has err "cannot measure: this machine has no cache occupancy and memory bandwidth: made up \\x1b[31m"
has err "backend=emulated"
lacks err "$escape"
run 0 env CMT_FAKE=nombm "$ctl" measure cpu 0 -i 0.1 -n 1
has out "UNAVAILABLE: memory bandwidth: counters are \\x1b[31massigned"
lacks out "gap"
run 1 env CMT_FAKE=denied "$ctl" measure cpu 0
has err "cannot measure cpu 0: not permitted"
has err "This takes CAP_SYS_ADMIN or CAP_PERFMON"
run 1 env CMT_FAKE=old "$ctl" measure cpu 0
has err "the module is older than this program"
run 1 "$ctl" measure cpu 1
has err "there is no such CPU"
run 1 "$ctl" measure pid 2147483647
has err "cannot measure pid 2147483647: there is no such process"
run 1 env CMT_FAKE=busy "$ctl" measure cpu 0
has err "cannot read the counters: Input/output error"

# cmtstat -- COMMAND: its own status, and all it prints and reads is its own.
run 0 sh -c "echo in | $stat -- cat"
checks=$((checks + 1))
[ "$(cat "$scratch/out")" = in ] || fail "the command's output"
has err "cmtstat: cat: exit status 0"
has err " s    elapsed"
has err " 4.0 MiB    most L3 cache held"
has err "memory traffic, total: "
has err "EMULATED"
run 3 "$stat" -- sh -c "exit 3"
has err "cmtstat: sh: exit status 3"
run 143 "$stat" -- sh -c 'kill -TERM $$'
has err "cmtstat: sh: ended by signal 15"
run 127 "$stat" -- "$scratch/none"
has err "cmtstat: $scratch/none: No such file or directory"
lacks err "elapsed"
: >"$scratch/plain"
run 126 "$stat" -- "$scratch/plain"
has err "Permission denied"
run 5 "$stat" --json -- sh -c "exit 5"
has err '{"record":"command","command":["sh","-c","exit 5"],"time":"2'
has err '"status":5,"signal":null,"wall_ns":'
has err '"mbm_total_partial":false,'
run 137 "$stat" -j -- sh -c 'kill -KILL $$'
has err '"status":null,"signal":9,'
run 0 "$stat" -i 0.01 -- "$stat" -- echo --csv
has out "--csv"

# Why it is not complete.
for word in twice halved waits served limbo paused over nombm software; do
	run 0 env CMT_FAKE=$word "$stat" -i 0.02 -- sleep 0.6
	cp "$scratch/err" "$scratch/$word"
done
has twice "L3 0: 4.0 MiB  L3 3: 1.0 MiB"
lacks twice INCOMPLETE
has halved "INCOMPLETE: a counter reported that it has no data"
has halved "> 4.0 MiB    most"
has waits "INCOMPLETE: no RMID was free for a part of the time"
has waits "-    memory traffic, total: -"
has served "> 4.0 MiB    most"
lacks limbo INCOMPLETE
has paused "INCOMPLETE: some traffic was not counted"
has paused "total: > "
has over "INCOMPLETE: the measurement ended before the command"
has nombm "UNAVAILABLE: memory bandwidth: counters are"
has software "UNAVAILABLE: cache occupancy and memory bandwidth: made up"
lacks software " 0 B"

# The command has what cmtstat had: no descriptor, signal or capability more or less.
# A shell between would unblock signals.
state='^(Sig[BI]|Cap|NoNew|ShdPnd)'
# same WHAT COMMAND...: what it prints alone and under cmtstat, with these signals
same() {
	what=$1
	shift
	run 0 env --ignore-signal=INT --block-signal=USR1 "$@"
	cp "$scratch/out" "$scratch/before"
	run 0 env --ignore-signal=INT --block-signal=USR1 "$stat" -- "$@"
	checks=$((checks + 1))
	diff "$scratch/before" "$scratch/out" >"$scratch/diff" ||
		fail "the command's $what: $(cat "$scratch/diff")"
}
same state grep -E "$state" /proc/self/status
same descriptors ls /proc/self/fd

# A command that cannot be measured does not run.
run 1 env CMT_FAKE=denied "$stat" -- touch "$scratch/ran"
has err "cannot measure a command: not permitted"
run 1 env CMT_FAKE=busy "$stat" -- touch "$scratch/ran"
has err "cannot read the counters"
checks=$((checks + 1))
[ ! -e "$scratch/ran" ] || fail "a command ran without being measured"

# Signals for cmtstat alone are the command's; those of a terminal come to both.
for signal in TERM HUP INT USR1; do
	checks=$((checks + 1))
	rm -f "$scratch/ready"
	env --default-signal "$stat" -- sh -c "trap 'exit 9' $signal
		: >$scratch/ready
		while :; do sleep 0.02; done" 2>"$scratch/err" &
	pid=$!
	await $pid [ -e "$scratch/ready" ]
	kill -s $signal $pid
	status=0
	wait $pid || status=$?
	[ $status = 9 ] || fail "SIG$signal: status $status"
	has err "cmtstat: sh: exit status 9"
done
cp "$scratch/err" "$scratch/out"

# Killed, it leaves no process behind but the command, which goes on.
rm -f "$scratch/ready"
"$stat" -- sh -c ": >$scratch/ready; exec sleep 1000" 2>/dev/null &
pid=$!
await $pid [ -e "$scratch/ready" ]
children=$(cat "/proc/$pid/task/$pid/children")
kill -KILL $pid
wait $pid 2>/dev/null
left=0
for _ in $(seq 500); do
	left=0
	for child in $children; do
		! grep -qs cmtstat "/proc/$child/comm" || left=1
	done
	[ $left -eq 1 ] || break
	sleep 0.02
done
checks=$((checks + 1))
[ $left -eq 0 ] || fail "a process of cmtstat is left"
for child in $children; do
	kill "$child" 2>/dev/null
done

# cmtstat --light: the rows, and null for what only ticks know.
run 0 "$stat" --light -i 0.2 -n 2 --by process
has out "read on demand, without sampling"
has out "(--light runs no ticks, which counting needs)"
has out " 4.0 MiB "
lacks out "(unattributed)"
lacks out "sampled every"
checks=$((checks + 2))
[ "$(grep -c '^ *1001 web .* 4\.0 MiB .*B/s .*B/s' "$scratch/out")" = 2 ] ||
	fail "not two complete rows"
grep -q '^ *1003 broken .* - *- *- *- .* error$' "$scratch/out" ||
	fail "a failed reading is not shown as -"
run 0 "$stat" --light -i 0.1 -n 1 --json -b process
has out '"missed":null,"sampling_interval_ns":null,"sampling_ns":null,"counted_ns":null,'
has out '"cpus":null,"domains":1,"rows":3,"channels":0,"channels_reason":null,"memory_bytes_per_s":null,'
has out '"occupancy_bytes":4194304,'
has out '"cycles":null,'
run 0 "$stat" -l -i 0.1 -n 1 --csv -b domain
has out ",0,3,5242880,"
run 0 "$stat" --light -i 0.1 -n 1
has out "RUNTIME"
run 0 env CMT_FAKE=paused "$stat" --light -C -i 0.1 -n 3 --by process --json
has out '"reason":"gap"'
run 0 env CMT_FAKE=software "$stat" --light -i 0.1 -n 1 --by process
has out "UNAVAILABLE: cache occupancy"
lacks out " 0 B"
run 0 env CMT_FAKE=cpu "$stat" --light -i 0.1 -n 1
has out "cpu:0"
lacks out "BUSY %"
run 1 env CMT_FAKE=busy "$stat" --light
has err "cannot read the device"
run 2 "$stat" --light --by cpu
has err "only ticks show"
for interval in 0.01 1801; do
	run 2 "$stat" --light -i $interval
	has err "--light: an interval from 0.05 to 1800"
done

finish
