#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cmtctl selftest on the device of fake_device.c and fake_demand.c, which says 4 MiB
# whatever is in the cache: what fails, what is no verdict, and what ends it.
# usage: selftest_test.sh DIRECTORY_OF_THE_PROGRAMS
set -u
ctl=$1/cmtctl_fake
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
escape=$(printf '\033')
unset CMT_FAKE

# Occupancy and traffic that do not follow what is written and read.
run 1 env CMT_FAKE=hardware "$ctl" selftest
has out "cmt self-test: FAIL"
has out "FAIL 1/2 of the L3             8.0 MiB    4.0 MiB"
has out "FAIL from 1/8 to 1/2           6.0 MiB        0 B"
has out "FAIL read from memory        256.0 MiB"
has out "backend hardware: made up \\x1b[31m"
lacks out "$escape"
run 1 env CMT_FAKE=hardware,nombm "$ctl" selftest --json
has out '{"selftest":"fail",'
has out '"growth_state":"fail"'
has out '"traffic_state":"unknown","traffic_reason":"the machine does not count it"'
has out '"read_bytes":null,"mbm_total_bytes":null'

# No verdict, and why.
run 2 "$ctl" selftest
has err "cannot run the self-test: the module has a model of a cache, and measures nothing"
lacks out "PASS"
run 2 env CMT_FAKE=software "$ctl" selftest
has err "cannot run the self-test: this machine has no cache occupancy"
has err "cmtctl doctor"
run 2 env CMT_FAKE=hardware,denied "$ctl" selftest
has err "cannot give a process an RMID: not permitted"
run 2 env CMT_FAKE=hardware,waits "$ctl" selftest
has err "no RMID is free"
run 2 env CMT_FAKE=hardware,busy "$ctl" selftest
has err "cannot compare the cache"
run 2 sh -c "CMT_FAKE=hardware exec $ctl selftest >/dev/full"
has err "cmtctl: cannot print: No space left on device"
# A reader that left changes no verdict.
run 0 sh -c "CMT_FAKE=hardware $ctl selftest >/dev/null; echo \$? >$scratch/status
	{ CMT_FAKE=hardware $ctl selftest; echo \$? >$scratch/left; } | sleep 0"
lacks err "cannot print"
checks=$((checks + 1))
cmp -s "$scratch/status" "$scratch/left" || fail "another status after a closed pipe"
run 2 "$ctl" selftest now
has err "selftest: too many operands"

# A signal ends it, and the processes that fill the cache.
# shellcheck disable=SC2317 # await calls it
fills_cache() {
	[ "$(pgrep -c -P "$pid")" = 3 ]
}
for signal in INT TERM; do
	checks=$((checks + 2))
	CMT_FAKE=hardware env --default-signal "$ctl" selftest >"$scratch/out" \
		2>"$scratch/err" &
	pid=$!
	await $pid fills_cache
	children=$(pgrep -P $pid)
	kill -s $signal $pid
	wait $pid
	[ $? = 2 ] || fail "SIG$signal: another status than 2"
	has err "it was interrupted"
	for child in $children; do
		! kill -0 "$child" 2>/dev/null || fail "SIG$signal: $child is left"
	done
done

finish
