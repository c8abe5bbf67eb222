#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cmtstat and cmt-exporter on a tree of files as resctrl shows them.
# usage: resctrl_test.sh DIRECTORY_OF_THE_PROGRAMS
set -u
bin=$1
stat=$bin/cmtstat
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
tree=$scratch/resctrl
escape=$(printf '\033')
export TERM=vt100

# value GROUP DOMAIN FILE TEXT
value() {
	printf '%s\n' "$4" >"$tree/$1/mon_data/mon_L3_$2/$3"
}

# group PATH OCCUPANCY: in two L3 domains
group() {
	for domain in 00 01; do
		mkdir -p "$tree/$1/mon_data/mon_L3_$domain"
		value "$1" $domain llc_occupancy "$2"
		value "$1" $domain mbm_total_bytes 1000
		value "$1" $domain mbm_local_bytes 1000
	done
}

mkdir -p "$tree/info/L3_MON"
printf 'llc_occupancy\nmbm_total_bytes\nmbm_local_bytes\n' \
	>"$tree/info/L3_MON/mon_features"
echo 64 >"$tree/info/L3_MON/num_rmids"
group . 10485760
group web 8388608
group web/mon_groups/a 3145728
group mon_groups/b 1048576
group "${escape}[31mred" 4096
group broken 4096
value broken 00 llc_occupancy Unavailable
value broken 01 llc_occupancy Unavailable
value broken 00 mbm_total_bytes Error
value broken 01 mbm_total_bytes Error

# resctrl OPTIONS...
resctrl() {
	expected=$1
	shift
	run "$expected" "$stat" --source resctrl -d "$tree" "$@"
}

# row NAME PATTERN: what follows the name
row() {
	checks=$((checks + 1))
	grep -q "^- *$1  *- *$2" "$scratch/out" || fail "no row '$1' of '$2'"
}

# until_page PATTERN [PATH]: waits for a line of the exporter's page, which is in $scratch/out
until_page() {
	checks=$((checks + 1))
	tries=0
	until python3 -c "import sys, urllib.request as u
sys.stdout.write(u.urlopen('http://$at${2:-/metrics}').read().decode())" \
		>"$scratch/out" 2>"$scratch/err" && grep -q "$1" "$scratch/out"; do
		tries=$((tries + 1))
		[ $tries -lt 100 ] || {
			fail "no '$1' on the page"
			return 1
		}
		sleep 0.05
	done
}

# The table says what is read, and what is missing.
resctrl 0 -i 0.2 -n 2
has out "source: resctrl"
has out "groups: 5, and the default group"
has out "L3: 2 x"
has out "read every 100 ms"
has out "resctrl does not show: milliseconds"
lacks out "RMID"
lacks out "$escape"
has out '?[31mred'
# two domains; a control group without its monitoring groups
row resctrl:web "10.0 MiB"
row resctrl:web/a "6.0 MiB"
row resctrl:mon_groups/b "2.0 MiB"
row '(unattributed)' "18.0 MiB"
row resctrl:broken "- .* error"

resctrl 0 -i 0.2 -n 1 --by domain
has out "DOMAIN"

# Machine formats.
resctrl 0 -i 0.2 -n 1 -j
has out '"source":"resctrl"'
has out '"not_shown":"milliseconds'
has out '"scope":null'
has out '"cpus":null'
has out '"container":"resctrl:web/a","kind":"resctrl"'
has out '"occupancy_bytes":6291456'
lacks out '"cgroup":"'
lacks out '"comm":"'
checks=$((checks + 1))
grep '"container":"resctrl:broken"' "$scratch/out" |
	grep -q '"occupancy_bytes":null.*"mbm_total_bytes_per_s":null.*"mbm_local_bytes_per_s":0' ||
	fail "text became a number"
resctrl 0 -i 0.2 -n 1 -c
has out "container,,"

# Traffic is what the counters moved.
: >"$scratch/moves"
(
	n=0
	while [ -e "$scratch/moves" ]; do
		n=$((n + 1))
		value web/mon_groups/a 00 mbm_total_bytes $((1000 + n * 1000000))
		value web 00 mbm_total_bytes $((1000 + n * 1000000))
		sleep 0.1
	done
) &
writer=$!
moves=''
# on a busy host the writer may not run in an interval
for _ in 1 2 3 4 5 6; do
	resctrl 0 -i 0.2 -n 3 -j
	grep '"container":"resctrl:web/a"' "$scratch/out" |
		grep -q '"mbm_total_bytes_per_s":[1-9]' && moves=yes && break
done
rm "$scratch/moves"
wait $writer
checks=$((checks + 1))
[ -n "$moves" ] || fail "no traffic of web/a"

# What cannot be: why, and what to do.
for option in "--by process" "--by cpu" "--by channel" --expand --light --why \
	"-i 0.01"; do
	# shellcheck disable=SC2086 # an option and its argument
	resctrl 1 -n 1 $option
	has err "resctrl"
	has err "modprobe cmt"
done
run 2 "$stat" --source resctrl -- true
has err "a command takes a dedicated RMID"
run 2 "$stat" --source nothing
has err "device or resctrl"
run 1 "$stat" --source resctrl -d "$scratch/none" -n 1
has err "not mounted"
has err "mount -t resctrl"
run 1 "$stat" --source resctrl -d "$scratch" -n 1
has err "monitors no L3 cache"
run 1 "$stat" --source device -d "$scratch/none" -n 1
has err "The device of the cmt module is /dev/cmt"

# A group that goes while it is read.
# shellcheck disable=SC2317 # await calls it
has_intervals() {
	[ "$(grep -c '"record":"interval"' "$scratch/out")" -ge "$1" ]
}
group brief 4096
"$stat" --source resctrl -d "$tree" -i 0.2 -j >"$scratch/out" 2>"$scratch/err" &
pid=$!
await $pid grep -q resctrl:brief "$scratch/out"
rm -r "$tree/brief"
await $pid has_intervals $(($(grep -c '"record":"interval"' "$scratch/out") + 3))
kill $pid
checks=$((checks + 1))
wait $pid || fail "status $? after a group is gone"
checks=$((checks + 1))
tail -n 7 "$scratch/out" | grep -q resctrl:brief && fail "a group that is gone has a row"

# With the seccomp filter a recording has every reading: 10 a second of 5 groups in 2
# domains.  A busy machine may miss readings of a second, but not of each one.
tries=0
missed=1
until [ "$missed" = 0 ] || [ $tries -ge 5 ]; do
	tries=$((tries + 1))
	run 0 "$stat" record --source resctrl -d "$tree" -f -o "$scratch/f.cmt" -t 1s
	samples=$(sed -n 's/.* \([0-9]*\) samples, .*/\1/p' "$scratch/err")
	run 0 "$stat" replay --json "$scratch/f.cmt"
	missed=$(sed -n 's/.*"missed":\([0-9]*\).*/\1/p' "$scratch/out" | tail -n 1)
done
checks=$((checks + 2))
[ "$missed" = 0 ] || fail "readings missed in each recording of a second: $missed"
[ "$samples" -ge 90 ] || fail "$samples samples of a second"

# A recording of it is one as any other.
run 0 "$stat" record --source resctrl -d "$tree" -o "$scratch/a.cmt" -t 1s
has err "samples"
run 0 "$stat" replay "$scratch/a.cmt"
has out "source: resctrl"
row resctrl:web/a "6.0 MiB"
run 1 "$stat" replay "$scratch/a.cmt" --by process
has err "no processes"
run 0 "$stat" export --csv "$scratch/a.cmt"
has out "resctrl:web/a"
# ids of groups are no cgroup's
run 0 "$stat" export --ndjson "$scratch/a.cmt"
lacks out '"cgroup_id":9'
lacks out '"path":"/web'
run 2 "$stat" record --source resctrl -o "$scratch/b.cmt" -- true
has err "dedicated RMID"
run 1 "$stat" record --source resctrl -d "$tree" --keep 10s --save-to "$scratch" --on culprit
has err "not with resctrl"

if [ -x "$bin/cmt-exporter" ]; then
	run 1 "$bin/cmt-exporter" --source resctrl -d "$tree" --culprit -l 127.0.0.1:0
	has err "not with resctrl"
	"$bin/cmt-exporter" --source resctrl -d "$tree" -i 0.2 -l 127.0.0.1:0 \
		--page 2>"$scratch/listen" &
	exporter=$!
	tries=0
	until grep -q "listening on" "$scratch/listen" || [ $tries -ge 200 ]; do
		tries=$((tries + 1))
		sleep 0.05
	done
	at=$(sed -n 's/.*listening on \([^,]*\),.*/\1/p' "$scratch/listen")
	until_page 'resctrl:web/a'
	has out 'container="resctrl:web/a"} 6291456'
	has out 'backend="resctrl"'
	lacks out 'id="/web'
	until_page '<td>resctrl:web/a</td>' /
	# resctrl is unmounted, and mounted again: the filter allows to open it again
	mv "$tree/mon_data" "$scratch/mon_data"
	until_page '^cmt_up 0'
	mv "$scratch/mon_data" "$tree/mon_data"
	until_page '^cmt_up 1'
	until_page 'container="resctrl:web/a"} 6291456'
	checks=$((checks + 1))
	grep -q "the device is back" "$scratch/listen" || fail "not said that it is back"
	kill $exporter
	wait $exporter
fi
finish
