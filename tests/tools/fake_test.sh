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
has out "3 of 3 in use"
has out "process scope: 3 of 5 processes with a dedicated RMID"
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
has out "RUNTIME"
has out "(unattributed)"
run 0 "$stat" -i 0.1 -n 1 --by domain
has out "DOMAIN"
run 0 "$stat" -i 0.1 -n 1 --by cpu
has out "100.0"

# What is measured is not called emulated; what is lost is said.
run 0 env CMT_FAKE=hardware,lost "$stat" -i 0.1 -n 1
lacks out "EMULATED"
has out "LOST 7"

# RMIDs that are only numbers: owners without values, and why on every screen.
run 0 env CMT_FAKE=software "$stat" -i 0.1 -n 1 --by process
has out "software (Intel)"
has out 'UNAVAILABLE: cache occupancy and memory bandwidth: made up \x1b[31m'
has out "over 0."
lacks out "EMULATED"
lacks out "0 B"
checks=$((checks + 1))
grep -q '^ *1001 web .* - *- *- *- .* unavailable$' "$scratch/out" ||
	fail "an owner without values is not shown as -"
run 0 env CMT_FAKE=software,container "$stat" -i 0.1 -n 1
has out "unavailable"
run 0 env CMT_FAKE=software "$stat" -i 0.1 -n 1 --by cpu
has out "UNAVAILABLE"
run 0 env CMT_FAKE=software "$stat" -i 0.1 -n 1 --by domain
has out "unavailable"
run 0 env CMT_FAKE=software "$stat" -i 0.1 -n 1 --by process --json
has out '"emulated":false,"unavailable":"made up \u001b[31m","incomplete":null,"lost":0,'
has out '"occupancy_bytes":null,'
has out '"reason":"unavailable"'
has out '"occupancy_coverage_percent":null'
lacks out '"occupancy_bytes":0'
run 0 env CMT_FAKE=software "$stat" -i 0.1 -n 1 --by process --csv
has out ",1001,web,"
has out ",,,,,false,false,false,,,,false,false,unavailable"
run 0 env CMT_FAKE=software "$ctl" info
has out "backend            software"
has out 'reason             made up \x1b[31m'
has out "occupancy          no"
has out 'mbm_reason         made up \x1b[31m'
has out "upscale_bytes      -"
run 1 env CMT_FAKE=software "$ctl" doctor
has out 'problem  readings   no occupancy and no bandwidth: made up \x1b[31m'
has out "problem  RMIDs      3 of 3 in use, 0 in limbo, 2 pending owners share one"
lacks out "$escape"
run 1 env CMT_FAKE=hardware "$ctl" --json doctor
has out '"about":"readings","state":"good",'
has out '"about":"RMIDs","state":"problem",'
run 1 sh -c "exec $ctl doctor >/dev/full"
has err "cmtctl: cannot print: No space left on device"
run 0 sh -c "{ $ctl doctor; echo \$? >$scratch/status; } | true"
lacks err "cannot print"
checks=$((checks + 1))
[ "$(cat "$scratch/status")" = 1 ] || fail "status of doctor after a closed pipe"
run 0 env CMT_FAKE=software "$ctl" rmids
has out 'UNAVAILABLE: cache occupancy: made up \x1b[31m'
lacks out "0 B"
run 0 env CMT_FAKE=software "$ctl" rmids --json
has out '"residual_bytes":null'
lacks out "$escape"

# RMIDs that did not run are read once in 32 ms.  In intervals of 8 ms most have no
# reading of them: what they held stays, as old as it is, and is never 0 or gone.
run 0 env CMT_FAKE=idle "$stat" -i 0.008 -n 40 --by process --json
grep '"pid":1002' "$scratch/out" >"$scratch/idle" || true
checks=$((checks + 4))
[ "$(wc -l <"$scratch/idle")" -ge 30 ] || fail "an idle process has no row"
! grep -v '"occupancy_bytes":1048576' "$scratch/idle" >"$scratch/out" ||
	fail "what an idle process holds flickers"
grep -q '"age_ms":[1-9][0-9]*,.*"reason":"old"' "$scratch/idle" ||
	fail "an old value does not say so"
! grep '"age_ms":\(3[3-9]\|[4-9][0-9]\|[0-9]\{3\}\)' "$scratch/idle" >"$scratch/out" ||
	fail "a value is older than 32 ms"
run 0 env CMT_FAKE=idle "$stat" -i 0.2 -n 2 --by process --csv
has out ",age_ms,"
has out ",1048576,6.250,0,0,"
run 0 env CMT_FAKE=idle "$stat" -i 0.2 -n 2 --by container
has out " 1.0 MiB    6.2        0 B/s"

# Memory channels: a row for each, with what RMIDs do not account for above them.
run 0 env CMT_FAKE=hardware,channels,container "$stat" -i 0.2 -n 1 --by channel
has out "memory: 3.5 MB/s (read 2.5 MB/s, written 1.0 MB/s), all RMIDs: 1.0 MB/s, unattributed to RMIDs: 2.5 MB/s"
has out "SOCKET    CHANNEL         READ      WRITTEN        TOTAL SHARE % RD IDLE % NOTE"
has out "     0          3     2.0 MB/s     1.0 MB/s     3.0 MB/s    85.7      75.0"
has out "     1 4000000000   500.0 kB/s        0 B/s   500.0 kB/s    14.3         -"
lacks out "UNAVAILABLE"
run 0 env CMT_FAKE=hardware,channels "$stat" -i 0.2 -n 1
has out "memory: 3.5 MB/s (read 2.5 MB/s, written 1.0 MB/s), all RMIDs: >1.0 MB/s, unattributed to RMIDs: at most 2.5 MB/s"
has out "RUNTIME"
run 0 env CMT_FAKE=hardware,channels "$stat" -i 0.2 -n 1 --no-counters
lacks out "memory:"
run 0 env CMT_FAKE=hardware,channels "$stat" -i 0.2 -n 1 -C --by channel
has out "memory: 3.5 MB/s"
run 0 env CMT_FAKE=channels,container "$stat" -i 0.2 -n 1 --by channel
has out "EMULATED"
has out "unattributed to RMIDs: -"
run 0 env CMT_FAKE=hardware,channels,taken "$stat" -i 0.2 -n 1 --by channel
has out "memory: - (read -, written -), all RMIDs: >1.0 MB/s, unattributed to RMIDs: -"
has out "     0          3     2.0 MB/s     1.0 MB/s     3.0 MB/s       -      75.0"
has out "-       -         - unavailable"
has out 'UNAVAILABLE: some memory channels, because: made \x1b[31mup'
lacks out "$escape"
run 0 env CMT_FAKE=hardware "$stat" -i 0.2 -n 1 --by channel
has out 'UNAVAILABLE: memory channels are not available here, because: made up \x1b[31m'
lacks out "memory:"
run 0 env CMT_FAKE=hardware "$stat" -i 0.2 -n 1
lacks out "memory"
run 0 env CMT_FAKE=hardware,channels,container "$stat" -i 0.2 -n 1 --by channel --json
has out '"channels":2,"channels_reason":null,"memory_bytes_per_s":3500000,"memory_read_bytes_per_s":2500000,"memory_written_bytes_per_s":1000000,"memory_rmids_bytes_per_s":1000000,"memory_partial":false,"memory_rmids_partial":false,"memory_unattributed_bytes_per_s":2500000,"memory_unattributed_least_bytes_per_s":2'
has out '"socket":0,"channel":3,"read_bytes_per_s":2000000,"written_bytes_per_s":1000000,"total_bytes_per_s":3000000,"share_percent":85.714,"read_bytes":'
has out '"partial":false,"read_idle_percent":75.000,"read_idle_reason":null,"reason":null}'
has out '"socket":1,"channel":4000000000,'
has out '"partial":false,"read_idle_percent":null,"read_idle_reason":"unavailable","reason":null}'
lacks out "cgroup"
run 0 env CMT_FAKE=hardware,channels,taken "$stat" -i 0.2 -n 1 --by channel --json
has out '"channels_reason":"made \u001b[31mup","memory_bytes_per_s":null,'
has out '"memory_unattributed_bytes_per_s":null,"memory_unattributed_least_bytes_per_s":null,"memory_unattributed_most_bytes_per_s":null'
has out '"share_percent":null,"read_bytes":null,"written_bytes":null,"partial":false,"read_idle_percent":null,"read_idle_reason":"unavailable","reason":"unavailable"'
run 0 env CMT_FAKE=hardware,channels,container "$stat" -i 0.2 -n 1 --by channel --csv
has out ",memory_unattributed_most_bytes_per_s,socket,channel,read_bytes_per_s,written_bytes_per_s,total_bytes_per_s,share_percent,read_bytes,written_bytes,partial,read_idle_percent,read_idle_reason,reason"
has out ",false,75.000,,"
has out ",3500000,2500000,1000000,1000000,false,false,2500000,2"
has out ",0,3,2000000,1000000,3000000,85.714,"
run 2 "$stat" --light --by channel
has err "not --by channel"

# What the processor counted: columns where it did, and why where it did not.
run 0 env CMT_FAKE=perf "$stat" -i 0.1 -n 1
has out " CPU %   IPC   MPKI NOTE"
has out "  2.00   4.00"
lacks out "not counted"
run 0 env CMT_FAKE=perf "$stat" -i 0.1 -n 1 --no-counters
lacks out "IPC"
run 0 env CMT_FAKE=perf "$stat" -i 0.1 -n 1 --counters-first
has out "  2.00   4.00"
lacks out "not counted"
run 2 "$stat" --counters-first --no-counters
has err "not together with --counters-first"
run 2 "$stat" --no-counters --counters-first
has err "not together with --no-counters"
run 0 env CMT_FAKE=nopmu "$stat" -i 0.1 -n 1
has out 'not counted: instructions, LLC misses, LLC references (another program \x1b[31mhas them)'
lacks out "$escape"
run 0 env CMT_FAKE=nopmu "$stat" -i 0.1 -n 1 -C --json
has out '"counters_reason":null,'
run 0 env CMT_FAKE=nopmu "$stat" -i 0.1 -n 1 --json
has out '"counters_reason":"another program \u001b[31mhas them",'
has out '"wait_reason":null,'
run 0 env CMT_FAKE=perf "$stat" -i 0.1 -n 2 --by process --sort mpki --json
grep '"record":"row"' "$scratch/out" | head -n 1 >"$scratch/first"
has first '"pid":1001,'
has first '"ipc":2.000,"mpki":4.000,'
has first '"counters_partial":false,'

# What tasks wait for a CPU, also without the processor's counters; and why it is not known.
run 0 env CMT_FAKE=waits "$stat" -i 0.1 -n 2 --by process --sort wait
has out " CPU % WAIT %   IPC   MPKI "
checks=$((checks + 1))
grep -E "^ *100[12] " "$scratch/out" | tail -n 2 | tr '\n' ' ' |
	grep -q '1002 .* 25\.0   50\.0 .* quota  *1001 .* 25\.0   25\.0 [^q]*$' ||
	fail "not by what they wait, or without the quota"
run 0 env CMT_FAKE=waits "$stat" -i 0.1 -n 2 --no-counters
has out " CPU % WAIT % "
lacks out "IPC"
run 0 env CMT_FAKE=waits "$stat" -i 0.1 -n 2 --by process --sort wait --json
grep '"record":"row"' "$scratch/out" | tail -n 4 | head -n 1 >"$scratch/first"
has first '"pid":1002,'
has first ',"cpu_percent":25.000,"wait_percent":50.000,'
has first ',"waited_ns":5'
has first ',"wait_quota":true,'
has first ',"wait_partial":false,'
for view in container cpu domain; do
	run 0 env CMT_FAKE=waits,cpu "$stat" -i 0.1 -n 2 --by "$view"
	has out " WAIT % "
done
run 0 env CMT_FAKE=waits "$stat" -i 0.1 -n 1 --csv
has out ",cpu_percent,wait_percent,"
run 0 env CMT_FAKE=waits,unaccounted "$stat" -i 0.1 -n 1
lacks out "WAIT %"
has out 'not counted: waiting (the kernel has \x1b[31mno CONFIG_SCHED_INFO)'
run 0 env CMT_FAKE=waits,unaccounted,nopmu "$stat" -i 0.1 -n 1
has out 'LLC references (another program \x1b[31mhas them)'
has out 'not counted: waiting (the kernel has \x1b[31mno CONFIG_SCHED_INFO)'
run 0 env CMT_FAKE=waits,unaccounted "$stat" -i 0.1 -n 1 --json
has out '"wait_reason":"the kernel has \u001b[31mno CONFIG_SCHED_INFO",'
has out '"wait_percent":null,'
has out '"waited_ns":null,'

# What resctrl counts is an owner, in no container.
run 0 env CMT_FAKE=groups "$stat" -i 0.1 -n 1 --json
has out '"container":"resctrl:2","kind":"resctrl",'
has out '"monitored":2,'
run 0 env CMT_FAKE=groups "$ctl" show --json
has out '{"kind":"resctrl","id":null,"name":null,"container":"resctrl:2","resctrl_group":false,"cgroup":null,"cgroup_hex":null,'
run 0 env CMT_FAKE=groups "$ctl" rmids
has out "resctrl:2"
run 0 env CMT_FAKE=groups "$ctl" rmids --json
has out '"kind":"resctrl","pid":null,"comm":null,"container":"resctrl:2","resctrl_group":false,"cgroup":null,"cgroup_hex":null,"cgroup_id":null,'

# What a group's CPU does for a container is a lower bound, and 0 is nothing; who and why.
run 0 env CMT_FAKE=beside,container,perf "$stat" -i 0.1 -n 2
has out "INCOMPLETE: cgroup:1152921504606846977: CPU 3 has RMID 2 of resctrl or another program; cmtctl resctrl take counts it for cmt"
has out ">4.0 MiB"
has out ">1.0 MB/s"
has out "rmid-overwritten"
has out "resctrl:2"
checks=$((checks + 1))
grep -q 'cgroup:11529.* >4\.0 MiB  *>25\.0 .*>1\.0 MB/s *>500\.0 kB/s .* >[0-9.]* *- *- *rmid-overwritten$' \
	"$scratch/out" || fail "no lower bounds"
run 0 env CMT_FAKE=beside,none,container "$stat" -i 0.1 -n 2
checks=$((checks + 1))
grep -q 'cgroup:1152921504606846977  *-  *-  *-  *-  *- rmid-overwritten$' "$scratch/out" ||
	fail "0 is shown for what another RMID counts"
run 0 env CMT_FAKE=beside,none,container "$stat" -i 0.1 -n 1 --json
has out '"incomplete":"CPU 3 has RMID 2 of resctrl or another program",'
has out '"occupancy_bytes":null,"occupancy_percent":null,"mbm_total_bytes_per_s":null,'
has out '"reason":"rmid-overwritten"'
run 0 env CMT_FAKE=beside,container "$stat" -i 0.1 -n 1 --json
has out '"occupancy_bytes":4194304,'
has out '"occupancy_partial":true,"mbm_total_partial":true,"mbm_local_partial":true,"occupancy_coverage_percent":null,'
run 0 env CMT_FAKE=beside,none,container "$stat" -i 0.1 -n 1 --csv
has out ",cgroup,,"
has out ",rmid-overwritten"
run 1 env CMT_FAKE=beside,hardware "$ctl" doctor
has out "note     resctrl    mounted: 1 RMIDs are resctrl's, and 1 CPUs are of its groups; CPU 3 has RMID 2 of resctrl or another program: rows of containers lack what runs there"
has out "cmtctl resctrl take counts it for cmt; resctrl's values of these groups are wrong then"
run 1 env CMT_FAKE=beside,unmounted,hardware "$ctl" doctor
has out "note     resctrl    not mounted; another program (pqos with MSRs?) wrote the RMID of 1 CPUs; CPU 3 has RMID 2 of resctrl or another program: rows of containers lack what runs there"
run 1 env CMT_FAKE=unmounted,hardware "$ctl" doctor
has out "good     resctrl    not mounted"
run 1 env CMT_FAKE=hardware,unaccounted "$ctl" doctor
has out 'note     waiting    what tasks wait for a CPU is not accounted: the kernel has \x1b[31mno CONFIG_SCHED_INFO'
run 1 env CMT_FAKE=hardware "$ctl" doctor
has out "good     resctrl    mounted: 0 RMIDs are resctrl's, and no group has tasks of several owners"

# A group that is a container's is in its row, and complete.
run 0 env CMT_FAKE=sole,container "$stat" -i 0.1 -n 2
lacks out "INCOMPLETE"
lacks out "resctrl"
has out "5.0 MiB"
run 0 env CMT_FAKE=sole,container "$ctl" rmids
has out "cgroup:1152921504606846977 (resctrl group)"
run 0 env CMT_FAKE=sole,container "$ctl" show --json
has out '"resctrl_group":true'
run 0 env CMT_FAKE=sole,container "$stat" -i 0.1 -n 1 --json
has out '"monitored":1,'

# Machine formats: raw numbers, nothing for what is not known.
run 0 "$stat" -i 0.1 -n 1 --by process --json
has out '"emulated":true'
has out '"occupancy_bytes":4194304'
has out '"mbm_total_bytes_per_s":1000000,'
has out '"comm":"broken"'
has out '"occupancy_bytes":null'
has out '"reason":"error"'
has out '"lost":0'
has out '{"record":"interval","time":"2'
has out '"missed":0,"sampling_interval_ns":1000000,"sampling_ns":0,"counted_ns":0,"counters_reason":null,"wait_reason":null,"cpus":1,"domains":1,"rows":4,"channels":0,'
has out '{"record":"row","end_ns":'
has out '"comm":"\u001b[31mred"'
lacks out "$escape"
run 0 "$stat" -i 0.1 -n 1 --by process --csv
has out "time,end_ns,elapsed_ns,by,scope,monitored,pending,emulated,lost,dropped,memory_bytes_per_s,"
has out ",4194304,25.000,1000000,500000,"
has out ",,,,,,,,,,,,,,,,false,false,false,0.000,0.000,0.000,false,false,error"
lacks out "$escape"
run 0 env CMT_FAKE=hardware,lost "$stat" -i 0.1 -n 1 --by process --json
has out '"emulated":false'
has out '"lost":7,'

# Which rows.
run 0 "$stat" -i 0.1 -n 1 --by process --filter 'w*' --csv
has out ",web,"
lacks out ",broken,"
run 0 "$stat" -i 0.1 -n 1 --by process --top 1 --sort occupancy --csv
has out ",web,"
lacks out "31mred"

# The processes of a container, where they have RMIDs.
run 0 "$stat" -i 0.1 -n 1 --expand
has out "  1001 web "
has out '  1002 \x1b[31mred '
lacks out "$escape"
lacks out "to expand"
run 0 "$stat" -i 0.1 -n 1 --expand --json
has out '"kind":"process","runtime":null'
has out '"pid":1002,"comm":"\u001b[31mred"'

# Container scope: a row is a container, one is all that have no RMID.
mkdir -p "$scratch/mount/web/a" "$scratch/mount/web/b"
echo 11 >"$scratch/mount/web/a/cgroup.procs"
echo 12 >"$scratch/mount/web/b/cgroup.procs"
in_containers() {
	run 0 env CMT_FAKE="$1" CMT_FAKE_MOUNT="$scratch/mount" \
		CMT_FAKE_CGROUP="$scratch/mount/web" "$stat" -i 0.1 -n 1 "$2"
}
in_containers container,hardware --plain
# An attached cgroup that nothing says is a container is none.
has out "container scope: 1 of 2 containers with a dedicated RMID, and 1 of 2 attached"
has out "(overflow: 1 container, 1 attached) "
has out "(unattributed)"
lacks out "to expand"
checks=$((checks + 1))
grep -q 'overflow.* 3\.0 MiB *18\.8 ' "$scratch/out" || fail "the overflow RMID's cache"
in_containers container,churn --plain
has out "container scope: 1 of 3 containers with a dedicated RMID, and 1 attached"
in_containers container --expand
has out "container scope: only attached processes have dedicated RMIDs to expand"
in_containers container --json
has out '"scope":"container","monitored":1,"pending":1,'
has out '"container":"(overflow: 1 container, 1 attached)","kind":"overflow",'
has out '"cgroup_id":null'
has out '"kind":"cgroup"'
lacks out '"kind":"process"'

# CPU scope: the view is that of the CPUs, unless another is asked for.
run 0 env CMT_FAKE=cpu "$stat" -i 0.1 -n 1
has out "cpu scope: 1 of 1 CPU with a dedicated RMID, and 1 attached"
has out "BUSY %"
has out "cpu:0"
has out "(overflow: 0 CPUs)"
has out "(unattributed)"
checks=$((checks + 1))
grep -q '^  0 .* cpu:0 .* 4\.0 MiB *25\.0 ' "$scratch/out" ||
	fail "the CPU's cache"
run 0 env CMT_FAKE=cpu "$stat" -i 0.1 -n 1 --by container
lacks out "BUSY %"
has out "cpu:0"
run 0 env CMT_FAKE=cpu "$stat" -i 0.1 -n 1 --expand
lacks out "BUSY %"

# All capabilities are gone before the first byte is read.
run 0 env CMT_FAKE=caps "$stat" -i 0.1 -n 1
for set in CapInh CapPrm CapEff CapAmb; do
	has err "$set:	0000000000000000"
done
has err "NoNewPrivs:	1"
[ "$(id -u)" -ne 0 ] || has err "CapBnd:	0000000000000000"

run 1 env CMT_FAKE=timens "$stat" -i 0.05
has err "cmtstat: cannot read the device: this process is in a time namespace"
has err "nsenter"
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
for options in "-i 0.1" "-i 0.1 -j" "-w"; do
	run 1 sh -c "exec $stat $options -n 1 >&-"
	has err "Bad file descriptor"
done

# A signal ends it and is no failure.  The header is out once it is ready.
run 0 sh -c "$stat -i 3600 --csv >$scratch/csv & pid=\$!
	until [ -s $scratch/csv ]; do sleep 0.02; done
	kill -TERM \$pid; wait \$pid"

# The same where its output blocks: nobody reads the pipe, which is full.
mkfifo "$scratch/pipe"
exec 3<>"$scratch/pipe"
dd if=/dev/zero of="$scratch/pipe" bs=4096 oflag=nonblock 2>/dev/null
# shellcheck disable=SC2317 # await calls it
catches_term() {
	caught=$(sed -n 's/^SigCgt:[[:space:]]*//p' "/proc/$1/status" 2>/dev/null)
	[ $((0x${caught:-0} & 0x4000)) -ne 0 ]
}
# block OPTIONS: a writer into the full pipe, $pid.  A shell's background job
# ignores some signals.
block() {
	# shellcheck disable=SC2086 # words on purpose
	env --default-signal $stat $1 >"$scratch/pipe" 2>"$scratch/err" 3>&- &
	pid=$!
	await "$pid" catches_term "$pid"
}
# ends WHAT: the status of the writer; it has to end
ends() {
	checks=$((checks + 1))
	for _ in $(seq 500); do
		! kill -0 "$pid" 2>/dev/null || sleep 0.02
	done
	! kill -KILL "$pid" 2>/dev/null || fail "$1: a blocked writer goes on"
	wait "$pid" || fail "$1: status $?"
}
for signal in TERM INT HUP QUIT; do
	block "-i 0.001 --json"
	kill -s $signal "$pid"
	ends "SIG$signal"
done
for options in "-i 0.001 --csv" "-i 0.001" "-i 0.001 -n 9 --json"; do
	block "$options"
	kill -TERM "$pid"
	ends "$options"
done
# The reader leaves: no signal is needed.
block "-i 0.001 --json"
exec 3>&-
ends "a closed pipe"
lacks err "cmtstat: stopped"

# cmtctl
run 0 "$ctl" info
has out "made up \\x1b[31m"
has out "16.0 MiB"
lacks out "$escape"
run 0 "$ctl" info --json
has out '"emulated":true'
has out '"interval_min_ns":100000'
has out '"resctrl":"respect","resctrl_mounted":true,'
has out '"mbm_reason":null,'
has out '"ring_hold_ns":250000000,"budget_ns":20000,"idle_ticks":32,'
has out '"ring_records":4096,"rings_small":0,'
run 0 env CMT_FAKE=smallrings "$ctl" info --json
has out '"ring_records":4096,"rings_small":3,'
run 0 "$ctl" info --json
has out '"abmc":false,"abmc_counters":0,"abmc_ours":0,"abmc_others":0,'
run 0 env CMT_FAKE=abmc "$ctl" info --json
has out '"abmc":true,"abmc_counters":64,"abmc_ours":20,"abmc_others":6,'
run 0 env CMT_FAKE=nombm "$ctl" info
has out "mbm_total          no"
has out 'mbm_reason         counters are \x1b[31massigned'
has out "ring_hold_ns       250 ms"
has out "budget_ns          20 us"
has out "resctrl_mounted    yes"
lacks out "$escape"
has out "perf_reason        -"
has out "waited             no"
has out "wait_reason        -"
run 0 env CMT_FAKE=unaccounted "$ctl" info
has out 'wait_reason        the kernel has \x1b[31mno CONFIG_SCHED_INFO'
run 0 env CMT_FAKE=unaccounted "$ctl" info --json
has out '"wait_reason":"the kernel has \u001b[31mno CONFIG_SCHED_INFO",'
run 0 "$ctl" rmids
has out "EMULATED"
has out '\x1b[31mred'
lacks out "$escape"
run 0 "$ctl" rmids --json
has out '"comm":"web"'
has out '"container":"cgroup:'
# What the RMIDs of the others held at the allocation was not read: it is not 0.
lacks out '"residual_bytes":0'
checks=$((checks + 2))
grep -q '"rmid":1,.*"residual_bytes":65536}' "$scratch/out" || fail "no residue"
[ "$(grep -c '"residual_bytes":null}' "$scratch/out")" -eq 2 ] ||
	fail "an unknown residue is not null"
run 0 "$ctl" rmids
has out "64.0 KiB"
lacks out "0 B"
checks=$((checks + 4))
run 0 "$stat" -i 0.1 -n 1 --by process --json
grep -q '"pid":1001,.*"residual_bytes":65536,' "$scratch/out" || fail "no residue in JSON"
grep -q '"pid":1002,.*"occupancy_bytes":1048576,.*"residual_bytes":null,' "$scratch/out" ||
	fail "an unknown residue is not null"
run 0 "$stat" -i 0.1 -n 1 --by process --csv
grep -q ',1001,.*,65536,4194304,4194304,' "$scratch/out" || fail "no residue in CSV"
grep -q ',1002,.*,,1048576,1048576,' "$scratch/out" || fail "an unknown residue is in CSV"
run 0 "$ctl" stats
has out "pending            2"
# The boxes of counters outside the cores, and why there is none.
run 0 "$ctl" uncore
has out 'UNAVAILABLE: counters outside the cores: made up \x1b[31m'
run 0 "$ctl" uncore --json
has out '{"record":"tables","sockets":0,"boxes":0,"refused":0,"reason":"made up \u001b[31m","channels":0,"channels_reason":null}'
run 0 env CMT_FAKE=uncore "$ctl" uncore
has out "     0     6     7 MMIO    0xc8c2a800              48    4          64          8"
has out "     0     0     3 MSR     0x2030                  48    4           2          8"
has out "     1     8     0 PCI     0001:7e:01.1+0x318      48    4          56          8"
has out "1 boxes or tables are refused"
has out "1 memory channels are read now: made up"
run 0 env CMT_FAKE=uncore "$ctl" uncore --json
has out '"boxes":3,"refused":1,"reason":null,"channels":1,"channels_reason":"made up"}'
has out '{"record":"box","socket":0,"type":6,"id":7,"access":"MMIO","box_ctrl":3368200192,"width":48,"regs":4,"ctrl_offset":64,"ctr_offset":8,"status_offset":92}'
run 0 "$ctl" stats --json
has out '"rmids_active":3'
has out '"pending":2,'
has out '"irqs_off_ns":0,"lock_held_ns":0}'
run 0 "$ctl" interval
has out "1 ms"
run 0 "$ctl" interval 500us
has out "500 us"
run 0 "$ctl" --json interval 0.5s
has out '{"interval_ns":500000000}'
run 1 "$ctl" interval 99us
has err "The sampling interval must be from 100 us to 1 s"
run 1 "$ctl" interval 5s
has err "The sampling interval must be from 100 us to 1 s"

# cmtctl scope
run 0 "$ctl" scope
has out "scope              process"
has out "cgroups            v2"
has out "patterns           docker-<id>.scope"
has out "                   !x"
run 0 "$ctl" scope --json
has out '{"scope":"process","cgroups":"v2","patterns":["docker-<id>.scope","!x"]}'
for scope in process container cpu manual; do
	run 0 "$ctl" scope "$scope" --json
	has out "{\"scope\":\"$scope\",\"cgroups\":\"v2\",\"patterns\":[\"docker-"
	run 0 env CMT_FAKE="$scope" "$ctl" info
	has out "scope              $scope"
done
printf '# mine\na-<id>\n\n!b # not b\n' >"$scratch/patterns"
run 0 "$ctl" scope cpu -p "x  y" -p z -f "$scratch/patterns" --json
has out '"patterns":["x","y","z","a-<id>","!b"]}'
run 0 sh -c "$ctl scope cpu --file - --json <$scratch/patterns"
has out '"patterns":["a-<id>","!b"]}'

# cmtctl resctrl
run 0 "$ctl" resctrl
has out "resctrl            respect"
has out "resctrl_mounted    yes"
run 0 "$ctl" resctrl take --json
has out '{"resctrl":"take","resctrl_mounted":true}'
run 0 "$ctl" resctrl respect
has out "resctrl            respect"
run 1 env CMT_FAKE=denied "$ctl" resctrl take
has err "cmtctl: cannot take the RMIDs of tasks in resctrl groups: not permitted"
has err "This takes CAP_SYS_ADMIN or CAP_PERFMON, which root has"
run 1 env CMT_FAKE=old "$ctl" resctrl respect
has err "the module is older than this program"
run 1 env CMT_FAKE=refuse "$ctl" resctrl take
has err "the module does not know this mode"
run 2 "$ctl" resctrl mine
has err "'mine' is not respect or take"
run 2 "$ctl" resctrl take take
has err "resctrl: too many operands"

# A pattern that is wrong is shown, and where.
run 1 "$ctl" scope cpu -p "good docker-<ix>.scope"
has err "cmtctl: cannot set the scope: the patterns do not parse"
has err "Pattern 'docker-<ix>.scope' is wrong at byte 9"
printf 'good\n\n\033[2Jx-<ix>\n' >"$scratch/patterns"
run 1 "$ctl" scope cpu -f "$scratch/patterns"
has err "Pattern '\x1b[2Jx-<ix>' of line 3 is wrong at byte 8"
lacks err "$escape"
lacks out "scope"
printf '# none\n' >"$scratch/patterns"
run 1 "$ctl" scope cpu -f "$scratch/patterns"
has err "There is no pattern"
run 1 "$ctl" scope cpu -p ""
has err "There is no pattern"
run 1 "$ctl" scope cpu -f "$scratch/missing"
has err "cannot read the file of patterns: $scratch/missing: No such file"
run 1 "$ctl" scope cpu -f "$scratch"
has err "cannot read the file of patterns: $scratch: Is a directory"

# Without version 2 of cgroups no container can be seen: not by mistake.
for mode in v1 hybrid nocgroup; do
	case $mode in
	v1)	says="there is only cgroup version 1 here" name=v1 ;;
	hybrid)	says="cgroup versions 1 and 2 are in use side by side" \
			name=hybrid ;;
	*)	says="no cgroup hierarchy is mounted here" name=none ;;
	esac
	run 1 env CMT_FAKE=$mode "$ctl" scope container
	has err "cmtctl: $says"
	has err "Scopes process, cpu and manual work."
	lacks out "scope"
	run 0 env CMT_FAKE=$mode "$ctl" scope container --force --json
	has err "cmtctl: $says"
	lacks err "Scopes process"
	has out "{\"scope\":\"container\",\"cgroups\":\"$name\","
	for scope in process cpu manual; do
		run 0 env CMT_FAKE=$mode "$ctl" scope $scope
		lacks err "cgroup"
	done
done

# cmtctl attach, detach: what happened, or why not and what to do.
attach() {
	# shellcheck disable=SC2086 # words on purpose
	run "$1" env CMT_FAKE="$2" CMT_FAKE_MOUNT="$scratch/mount" \
		CMT_FAKE_CGROUP="$scratch/mount/web" "$ctl" $3
}
attach 0 container "attach pid 1"
has out "pid 1: RMID 1, generation 1"
attach 0 container "attach pid 1 --children"
has out "pid 1: RMID 1, generation 99"
attach 0 container "attach pid 2"
has out "pid 2: pending, and counts in RMID 3 until an RMID is free"
attach 0 container "attach pid 2 --json"
has out '{"kind":"process","id":2,"attached":true,"rmid":3,"generation":1,"pending":true}'
attach 0 container "attach cpu 0"
has out "cpu 0: RMID 1, generation 1"
for path in web /web "$scratch/mount/web" "$scratch/mount//web/"; do
	attach 0 container "attach cgroup $path"
	has out "cgroup $path: RMID 1, generation 1"
	attach 0 container "detach cgroup $path"
	has out "cgroup $path: detached"
done
attach 0 container "detach pid 1 --json"
has out '{"kind":"process","id":1,"attached":false}'
attach 1 container "attach pid 3"
has err "cmtctl: cannot attach pid 3: there is no such process"
attach 1 container "attach pid 4"
has err "cannot attach pid 4: already attached"
attach 1 container "attach pid 5"
has err "too many owners are attached"
has err "cmtctl show"
attach 1 container "attach pid 6"
has err "the module cannot attach this"
attach 1 container "attach cpu 1"
has err "cannot attach cpu 1: there is no such CPU, or the CPU is offline"
attach 1 container "attach cgroup web/a"
has err "cannot attach cgroup web/a: there is no such cgroup"
attach 1 container "attach cgroup none"
has err "cannot attach cgroup none: there is no such cgroup"
has err "/proc/PID/cgroup"
attach 1 container "attach cgroup ../mount"
has err "it is not below the cgroup version 2 mount"
attach 1 v1 "attach cgroup web"
has err "cgroup version 2 is not mounted"
attach 1 container "detach pid 4"
has err "cannot detach pid 4: not attached"
has err "cmtctl show lists what is attached"
attach 1 container "detach pid 3"
has err "there is no such process"
run 1 env CMT_FAKE=container "$ctl" attach cgroup "${escape}[2J"
has err 'cannot attach cgroup \x1b[2J: there is no such cgroup'
lacks err "$escape"

# Who may not, and who asks a module that cannot.
for command in "scope cpu" "attach pid 1" "detach pid 1"; do
	attach 1 denied "$command"
	has err "not permitted"
	has err "This takes CAP_SYS_ADMIN or CAP_PERFMON, which root has"
	attach 1 old "$command"
	has err "the module is older than this program"
done
attach 1 old scope
has err "the module is older than this program"

# cmtctl show
attach 0 container show
has out "(overflow: 2 pending)"
has out "2 pending, counted in the overflow RMID:"
has out 'waits\x1b]0;'
lacks out "$escape"
checks=$((checks + 1))
grep -q '^cgroup .* \\x1b\[31mred  *2  *1 .* yes ' "$scratch/out" ||
	fail "an attached cgroup"
attach 0 container "show --json"
has out '"kind":"overflow","id":null,"name":null,"container":"(overflow: 2 pending)"'
has out '"name":"db","container":"cgroup:'
has out '"attached":true,"service":false,"pending":true,"why":"no-rmid"}'
checks=$((checks + 1))
[ "$(wc -l <"$scratch/out")" = 5 ] || fail "not five owners"
attach 0 cpu "show --json"
has out '"kind":"cpu","id":0,'
attach 0 process show
lacks out "counted in"
attach 0 container rmids
has out "(overflow)"
attach 0 container "rmids --json"
has out '"kind":"cgroup","pid":null'
has out '"kind":"overflow","pid":null,"comm":null,'
has out '"cgroup_id":null,'
lacks out '"cgroup_id":0,'

# A terminal: drawn on, restored, without attributes where they are not wanted.
if ! command -v script >/dev/null; then
	echo "no script(1): the terminal is not tested"
	finish
fi
export TERM=xterm
on_terminal() {
	script -qec "$1" /dev/null
}
checks=$((checks + 1))
on_terminal "stty -g; $stat -i 0.1 -n 2; stty -g" </dev/null >"$scratch/out"
for sequence in '[?1049h' '[?1049l' '[?25h' '[?25l' '[0;7m'; do
	has out "${escape}$sequence"
done
checks=$((checks + 1))
[ "$(sed -n '1p' "$scratch/out")" = "$(sed -n '$p' "$scratch/out")" ] ||
	fail "the terminal's settings were not restored"
on_terminal "NO_COLOR=1 $stat -i 0.1 -n 2" </dev/null >"$scratch/out"
has out "${escape}[?1049h"
lacks out ";7m"
lacks out ";1m"
for term in dumb "" no-such-terminal; do
	on_terminal "TERM=$term $stat -i 0.1 -n 1" </dev/null >"$scratch/out"
	has out "RUNTIME"
	lacks out "$escape"
done
on_terminal "$stat --plain -i 0.1 -n 1" </dev/null >"$scratch/out"
lacks out "$escape"

# q quits, long before the interval's end.
checks=$((checks + 1))
printf q |
	timeout 30 script -qec "$stat -i 3600; echo status \$?" /dev/null \
	>"$scratch/out" || fail "q did not quit"
has out "status 0"

finish
