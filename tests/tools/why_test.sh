#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cmtstat --why on the device of fake_device.c.
# usage: why_test.sh DIRECTORY_OF_THE_PROGRAMS
set -u
stat=$1/cmtstat_fake
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
escape=$(printf '\033')
unset NO_COLOR CMT_FAKE

# count TEXT: lines of the output that have it
count() {
	grep -cF -e "$1" "$scratch/out"
}

# The streaming container is named in the verdicts of its victims, and not before it begins.
run 0 env CMT_FAKE=hardware,container,stream "$stat" --why -n 2
has out "Learning the baselines, for 190 ms"
has out "lost cache to cgroup:1152921504606846978 (confidence 0.9"
has out "Baselines are complete for 4 of 4."
has out "no counters)"
has out "1. cgroup:1152921504606846978: took "
has out "held 64.0 KiB -> "
has out "moved 0 B/s -> "
has out "it held 4.0 MiB -> "
has out "Slowdown by cache and memory is not known"
lacks out "No container is slower"
has out ", 0 records lost; "
lacks out "EMULATED"
lacks out "$escape"
checks=$((checks + 1))
[ "$(count 'lost cache to')" -eq 1 ] || fail "not one accusation"
checks=$((checks + 1))
! grep -q "for [0-9][0-9][0-9]* ms so far" "$scratch/out" ||
	fail "a change is older than that"

run 0 env CMT_FAKE=container,stream "$stat" --why --json -n 2
has out '{"record":"why","learning_ms":190,"emulated":true,"sampling_interval_ns":1000000,'
has out '{"record":"learned","slots":'
has out '{"record":"verdict","time":"2'
has out '"kind":"cache","container":"cgroup:1152921504606846977","id":1152921504606846977,"cgroup":null,'
has out '"counted":false,'
has out '"cpi":null,'
has out '"suspects":[{"container":"cgroup:1152921504606846978",'
has out '"occupancy_before_bytes":65536,'
has out '{"record":"end","emulated":true,'

# Who is slower because of whom: after the first second, and at the end.
run 0 env CMT_FAKE=container,stream,perf,hardware "$stat" --why -n 2
checks=$((checks + 1))
[ "$(count 'cgroup:1152921504606846977 is ')" -ge 2 ] || fail "not told twice"
has out " % slower because of its neighbours (estimate: "
has out ", since before the start; at worst "
has out " of CPU time lost"
has out " without them; misses per 1,000 instructions "
has out "    cgroup:1152921504606846978: "
has out " %, cache of L3 domain 0"
lacks out "is not known"
run 0 env CMT_FAKE=container,stream,perf "$stat" --why -n 1 --no-counters
has out "Slowdown by cache and memory is not known: it needs counters"
run 0 env CMT_FAKE=container,stream,perf "$stat" --why --json -n 2
has out '{"record":"incident","event":"goes on","estimate":true,"emulated":true,"number":1,'
has out '"began_before":true,"container":"cgroup:1152921504606846977",'
has out '{"record":"slower","estimate":true,"container":"cgroup:1152921504606846977",'
has out '"because_of":[{"container":"cgroup:1152921504606846978","id":1152921504606846978,'
has out '"resource":"cache","domain":0,"share":0.'
run 0 env CMT_FAKE=container,stream,perf,software "$stat" --why -n 1
has out "How much slower containers are is estimated from counters alone."
has out "cgroup:1152921504606846977 is "
run 0 env CMT_FAKE=container,stream,perf "$stat" --why -n 2 --filter 'nobody*'
lacks out " slower because of "

# In tables with the second one, sorted by it; what is not known is no 0.
run 0 env CMT_FAKE=hardware,container,stream,perf "$stat" -p -i 1 -n 2 --sort slower
has out " MPKI SLOWER "
sed -n '/SLOWER/,$p' "$scratch/out" >"$scratch/rows"
checks=$((checks + 1))
sed -n 2p "$scratch/rows" | grep -q '6977 .* >[0-9]*% cgroup:1152921504606846978 cache' ||
	fail "the slowest is not first, or not as a lower bound"
checks=$((checks + 1))
grep '(unattributed) ' "$scratch/rows" | grep -q ' -$\| - ' || fail "what has no victim is told"
run 0 env CMT_FAKE=hardware,container,stream,perf "$stat" -p -m -i 1 -n 2
lacks out "SLOWER"
run 0 env CMT_FAKE=hardware,container,stream "$stat" -p -i 1 -n 2
lacks out "SLOWER"
run 0 env CMT_FAKE=hardware,container,waits,perf "$stat" -p -i 1 -n 2
has out "% cgroup:1152921504606846977 CPU"
lacks out ">67%"
run 0 env CMT_FAKE=hardware,container,stream,perf "$stat" -j -i 1 -n 2 --slower
has out ',"slower":{"share":0.'
has out '"partial":true,"because_of":[{"container":"cgroup:1152921504606846978","id":1152921504606846978,"resource":"cache","domain":0,"share":0.'
has out '"container":"(unattributed)"'
has out '"slower":null,'
run 0 env CMT_FAKE=hardware,container,stream,perf "$stat" -j -i 1 -n 2
lacks out '"slower":{'
run 0 env CMT_FAKE=hardware,container,stream,perf "$stat" -c -i 1 -n 2 --slower
has out ",slower_percent,slower_low_percent,slower_high_percent,slower_partial,slower_by,slower_resource"
has out ",true,cgroup:1152921504606846978,cache"
has out ",,,,,"
run 2 "$stat" --slower --json --by process
has err "--slower, --sort slower: only --by container"
run 2 "$stat" --light --sort slower
has err "slowdowns need the sampling"
run 2 "$stat" --slower -- true
has err "with a command, only"

# One container, by pattern.
run 0 env CMT_FAKE=container,stream "$stat" --why -n 1 'cgroup:*77'
has out "lost cache to"
run 0 env CMT_FAKE=container,stream "$stat" --why -n 1 'nobody*'
lacks out "lost cache to"
run 0 env CMT_FAKE=container,stream "$stat" --why -n 1 --filter 'nobody*'
lacks out "lost cache to"

# Memory that is busy: without counters only where the peak is known, and near.
run 0 env CMT_FAKE=container,busy "$stat" --why -n 1 --peak 5G
has out "7 waits for memory bandwidth, used by cgroup:1152921504606846978"
run 0 env CMT_FAKE=container,busy "$stat" --why -n 1 -P 10G
has out " 0 verdicts"
lacks out "memory bandwidth"
run 0 env CMT_FAKE=container,busy "$stat" --why -n 1
has out " 0 verdicts"
lacks out "memory bandwidth"
run 0 env CMT_FAKE=hardware,container,busy "$stat" -p -i 1 -n 1 --peak 5G
has out "cgroup:1152921504606846977 waits for memory bandwidth, used by"
run 0 env CMT_FAKE=hardware,container,busy "$stat" -p -i 1 -n 1
lacks out "memory bandwidth"

# Containers whose load is as before are not named.
run 0 env CMT_FAKE=container "$stat" --why -n 1
has out "EMULATED: these values come from a model, not from hardware"
has out " 0 verdicts"
lacks out "lost cache to"
run 0 env CMT_FAKE=container,perf "$stat" --why -n 1
lacks out "No counters"
run 0 env CMT_FAKE=container,perf "$stat" --why -n 1 -C
has out "No counters (--no-counters)"
run 0 env CMT_FAKE=container,nopmu "$stat" --why -n 1
has out 'No counters (another program \x1b[31mhas them)'
lacks out "$escape"

# Tables for people are marked; those for programs are not.
run 0 env CMT_FAKE=hardware,container,stream "$stat" -p -i 1 -n 1
has out "cgroup:1152921504606846977 lost cache to cgroup:1152921504606846978, 0 s ago (confidence 0.9"
has out " lost cache to cgroup:1152921504606846978"
has out " took cache of cgroup:1152921504606846977"
run 0 env CMT_FAKE=hardware,container,stream "$stat" -p -m -i 1 -n 1
lacks out "lost cache"
run 0 env CMT_FAKE=hardware,container,stream "$stat" -j -i 1 -n 1
lacks out "lost cache"
run 0 env CMT_FAKE=hardware,container,stream,slow "$stat" -p -i 1 -n 2
lacks out "lost cache"
lacks out " SLOWER "
has out "no verdicts and no SLOWER: they need a sampling interval of 1 ms or less: cmtctl interval 1ms"
run 0 env CMT_FAKE=hardware,container,stream,slow "$stat" -p -m -i 1 -n 2
lacks out "no verdicts"
# ... and when it becomes short enough, there are verdicts.
run 0 env CMT_FAKE=hardware,container,waits,changes "$stat" -p -i 1 -n 6
has out "no verdicts and no SLOWER: they need a sampling interval"
has out "waits for a CPU, used by"

# Who waits for a CPU, and who has it: also where nothing is read.
run 0 env CMT_FAKE=hardware,container,waits "$stat" --why -n 2
has out "Verdicts about waiting for a CPU come once a second"
has out "cgroup:1152921504606846977 waits for a CPU, used by "
has out "(50 % of the time in which it could run)"
has out "    its tasks waited 2"
has out " 50 % of this"
lacks out "itself"
run 0 env CMT_FAKE=container,waits,software "$stat" --why -n 2
has out 'No verdicts about cache and memory, since occupancy and bandwidth are unavailable: made up \x1b[31m'
has out "Verdicts about waiting for a CPU come once a second"
lacks out "Learning"
lacks out "Baselines"
lacks out "No counters"
lacks out "$escape"
has out "cgroup:1152921504606846978 waits for a CPU, used by "
has out "(67 % of the time in which it could run)"
has out "it was out of its quota, too"
has out "1. "
has out ", 0 records lost; "
run 0 env CMT_FAKE=container,waits,software "$stat" --why --no-counters --json -n 2
has out '{"record":"why","learning_ms":null,'
has out '"cache_reason":"made up \u001b[31m","wait_reason":null,'
grep '"record":"verdict".*"id":1152921504606846978,"cgroup":null,"cgroup_hex":null,"domain":' "$scratch/out" | head -n 1 >"$scratch/first"
has first '"kind":"wait",'
has first '"confidence":1.000,'
has first '"lost_bytes":null,"occupancy_bytes":null,'
has first '"cpu_share":0.667,"waited_ns":'
has first '"quota":true,'
has first ',"share":0.500,"taken_bytes":null,'
run 0 env CMT_FAKE=container,waits,software "$stat" -p -i 1 -n 3
has out " waits for a CPU, used by "
run 0 env CMT_FAKE=container,stream,unaccounted "$stat" --why -n 2
has out 'Not judged: waiting for a CPU: the kernel has \x1b[31mno CONFIG_SCHED_INFO'
has out "lost cache to"
lacks out "waits for a CPU, "
run 0 env CMT_FAKE=nombm,waits "$stat" --why -n 1
has out 'No verdicts about cache and memory, since bandwidth is unavailable: counters are \x1b[31massigned'
lacks out "counters alone"

# Counters alone are enough, where they count.
run 0 env CMT_FAKE=container,software "$stat" --why -n 2
has out "Slowdown by cache and memory is not known: it needs counters"
lacks out "counters alone"
run 0 env CMT_FAKE=container,stream,perf,software,unaccounted "$stat" --why -n 1
has out "estimated from counters alone"
has out "Not judged: waiting for a CPU"
has out "cgroup:1152921504606846977 is "

# Where it cannot work it says so, and why.
run 1 env CMT_FAKE=software,unaccounted "$stat" --why --no-counters
has err 'of which occupancy and bandwidth are unavailable: made up \x1b[31m'
has err 'which are not counted: --no-counters'
has err 'what tasks wait for a CPU, which is not accounted: the kernel has \x1b[31mno CONFIG_SCHED_INFO'
run 1 env CMT_FAKE=slow "$stat" --why
has err "needs a sampling interval of 1 ms or less, and it is 1 s"
has err "cmtctl interval 1ms"
run 1 env CMT_FAKE=gone "$stat" --why
has err "the device is gone"
run 1 env CMT_FAKE=timens "$stat" --why

# Wrong usage.
run 2 "$stat" --why a b
has err "b: --why takes one container"
run 2 "$stat" --why web -n 1
has err "-n: options come before CONTAINER"
run 2 "$stat" web
has err "web: takes no operands; a command follows --, and one container is shown by --why web or --filter web"
for options in --json --why; do
	run 2 "$stat" $options replay file
	has err "replay: the sub-command comes first: cmtstat replay"
done
run 2 "$stat" --why --filter a b
run 2 "$stat" --why --by process
has err "--why: only --by container"
for option in --light --expand --csv "--top 3" "--sort name"; do
	# shellcheck disable=SC2086
	run 2 "$stat" --why $option
done
run 2 "$stat" --why -- true

# interrupted TEXT ARGS...: cmtstat --why gets a SIGINT when it has printed TEXT, and ends with
# status 0.
interrupted() {
	awaited_text=$1
	shift
	: >"$scratch/out"
	env --default-signal=INT CMT_FAKE=hardware,container,stream "$stat" --why "$@" \
		>"$scratch/out" 2>"$scratch/err" &
	pid=$!
	await $pid grep -q "$awaited_text" "$scratch/out"
	kill -INT $pid
	status=0
	wait $pid || status=$?
	checks=$((checks + 1))
	[ "$status" -eq 0 ] || fail "--why $*: status $status after SIGINT, not 0"
}

# A signal ends it, with what is known.
interrupted "Learning the baselines"
has out "ms seen"
# So many hours are more than a clock can count: that is no end, and not one at once.
interrupted "lost cache to" -n 640511947 -i 3600

finish
