#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cmtstat and cmtctl on the device of fake_device.c, in a pipe and on a
# terminal.  usage: fake_test.sh DIRECTORY_OF_THE_PROGRAMS
set -u
stat=$1/cmtstat_fake
ctl=$1/cmtctl_fake
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
escape=$(printf '\033')
export TERM=vt100
unset NO_COLOR CMT_FAKE

# The table, in a pipe: two intervals, each with its header, nothing lost.
run 0 "$stat" -i 0.1 -n 2 --by process
has out "EMULATED: these values come from a model, not from hardware"
has out "1 x 16.0 MiB"
has out "3 of 3 in use, 2 waiting"
has out "4.0 MiB"
has out "1.0 MB/s"
has out "500.0 kB/s"
has out '\x1b[31mred'
has out "made up \\x1b[31m"
has out "error"
lacks out "$escape"
lacks out "LOST"
checks=$((checks + 1))
[ "$(grep -c '^ *PID ' "$scratch/out")" = 2 ] || fail "not two tables"
checks=$((checks + 1))
grep -q '^ *1003 broken .* - *- *- *- .* error$' "$scratch/out" ||
	fail "a failed reading is not shown as -"

run 0 "$stat" -i 0.1 -n 1
has out "CONTAINER"
has out "(nobody)"
run 0 "$stat" -i 0.1 -n 1 --by domain
has out "DOMAIN"
run 0 "$stat" -i 0.1 -n 1 --by cpu
has out "100.0"

# What is measured is not called emulated; what is lost is said.
run 0 env CMT_FAKE=hardware,lost "$stat" -i 0.1 -n 1
lacks out "EMULATED"
has out "LOST 7"

# Machine formats: raw numbers, nothing for what is not known.
run 0 "$stat" -i 0.1 -n 1 --by process --json
has out '"emulated":true'
has out '"occupancy_bytes":4194304'
has out '"mbm_total_bytes_per_s":1000000,'
has out '"comm":"broken"'
has out '"occupancy_bytes":null'
has out '"reason":"error"'
has out '"lost":0'
has out '\\x1b[31mred'
lacks out "$escape"
run 0 "$stat" -i 0.1 -n 1 --by process --csv
has out "time,end_ns,elapsed_ns,by,emulated,lost,dropped,pid,comm,"
has out ",4194304,25.000,1000000,500000,"
has out ",,,,,,false,false,false,error"
lacks out "$escape"
run 0 env CMT_FAKE=hardware,lost "$stat" -i 0.1 -n 1 --by process --json
has out '"emulated":false'
lacks out '"lost":0'

# Which rows.
run 0 "$stat" -i 0.1 -n 1 --by process --filter 'w*' --csv
has out ",web,"
lacks out ",broken,"
run 0 "$stat" -i 0.1 -n 1 --by process --top 1 --sort occupancy --csv
has out ",web,"
lacks out "red"

# All capabilities are gone before the first byte is read.
run 0 env CMT_FAKE=caps "$stat" -i 0.1 -n 1
for set in CapInh CapPrm CapEff CapAmb; do
	has err "$set:	0000000000000000"
done
has err "NoNewPrivs:	1"
[ "$(id -u)" -ne 0 ] || has err "CapBnd:	0000000000000000"

run 1 env CMT_FAKE=gone "$stat" -i 0.05
has err "the device is gone"

# A reader that leaves ends it, quietly, without waiting for more to print.
run 0 sh -c "{ $stat -i 0.1 --csv; echo \$? >$scratch/status; } | head -n 1"
checks=$((checks + 1))
[ "$(cat "$scratch/status")" = 0 ] || fail "status after a closed pipe"
lacks err "pipe"
run 0 sh -c "$stat -i 3600 --json | true"
run 1 sh -c "exec $stat -i 0.1 -n 1 >/dev/full"
has err "No space left"

# A signal ends it and is no failure.  The header is out once it is ready.
run 0 sh -c "$stat -i 3600 --csv >$scratch/csv & pid=\$!
	until [ -s $scratch/csv ]; do sleep 0.02; done
	kill -TERM \$pid; wait \$pid"

# cmtctl
run 0 "$ctl" info
has out "made up \\x1b[31m"
has out "16.0 MiB"
lacks out "$escape"
run 0 "$ctl" info --json
has out '"emulated":true'
has out '"interval_min_ns":100000'
run 0 "$ctl" rmids
has out "EMULATED"
has out '\x1b[31mred'
lacks out "$escape"
run 0 "$ctl" rmids --json
has out '"comm":"web"'
has out '"container":"cgroup:'
run 0 "$ctl" stats
has out "waiting            2"
run 0 "$ctl" stats --json
has out '"rmids_active":3'
run 0 "$ctl" interval
has out "1 ms"
run 0 "$ctl" interval 500us
has out "500 us"
run 0 "$ctl" --json interval 0.5s
has out '{"interval_ns":500000000}'
run 1 "$ctl" interval 99us
has err "It must be from 100 us to 1 s"
run 1 "$ctl" interval 5s
has err "It must be from 100 us to 1 s"

# A terminal: redrawn, restored, without attributes where they are not wanted.
if ! command -v script >/dev/null; then
	echo "no script(1): the terminal is not tested"
	finish
fi
on_terminal() {
	script -qec "$1" /dev/null
}
checks=$((checks + 1))
on_terminal "stty -g; $stat -i 0.1 -n 2; stty -g" </dev/null >"$scratch/out"
for sequence in '[?1049h' '[?1049l' '[?25h' '[7m'; do
	has out "${escape}$sequence"
done
checks=$((checks + 1))
[ "$(sed -n '1p' "$scratch/out")" = "$(sed -n '$p' "$scratch/out")" ] ||
	fail "the terminal's settings were not restored"
on_terminal "NO_COLOR=1 $stat -i 0.1 -n 2" </dev/null >"$scratch/out"
has out "${escape}[?1049h"
lacks out "${escape}[7m"
lacks out "${escape}[1m"
on_terminal "TERM=dumb $stat -i 0.1 -n 1" </dev/null >"$scratch/out"
lacks out "$escape"
on_terminal "$stat --plain -i 0.1 -n 1" </dev/null >"$scratch/out"
lacks out "$escape"

# q quits, long before the interval's end.
checks=$((checks + 1))
printf q |
	timeout 30 script -qec "$stat -i 3600; echo status \$?" /dev/null \
	>"$scratch/out" || fail "q did not quit"
has out "status 0"

finish
