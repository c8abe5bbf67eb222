#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cmtstat and cmtctl where there is no device: usage, errors, exit statuses.
# usage: cli_test.sh DIRECTORY_OF_THE_PROGRAMS
set -u
bin=$1
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

for tool in cmtstat cmtctl; do
	run 0 "$bin/$tool" --help
	has out "usage: $tool "
	run 0 "$bin/$tool" -h
	run 0 "$bin/$tool" --version
	has out "$tool "
	run 2 "$bin/$tool" --nonsense
	has err "$tool: --nonsense: unknown or ambiguous option"
	has err "usage: $tool "
	lacks out "usage"
	run 2 "$bin/$tool" --device
	has err "needs a value"
done

# The first operand is a command of cmtctl, and nothing to cmtstat.
run 2 "$bin/cmtstat" info
has err "info: takes no operands; a command follows --"
run 2 "$bin/cmtstat" info -- true
has err "info: takes no operands"
run 2 "$bin/cmtstat" --
has err "--: no command follows"
for option in "--by cpu" --expand "-n 1" --csv --plain "-s name" "-t 1" "-f x" \
	--light "--peak 40G" --no-color --counters-first; do
	# shellcheck disable=SC2086
	run 2 "$bin/cmtstat" $option -- true
	has err "with a command, only --interval, --json and --device"
done
run 2 "$bin/cmtstat" -i 0.6 -- true
has err "--interval: at most 0.5 with a command"
run 2 "$bin/cmtctl"
has err "no command"
run 2 "$bin/cmtctl" nonsense
has err "nonsense: no such command"
run 2 "$bin/cmtctl" info 1ms
has err "info: too many operands"
run 2 "$bin/cmtctl" interval 1ms 2ms
has err "interval: too many operands"
run 2 "$bin/cmtctl" interval 1
has err "'1' is not a number with ns, us, ms or s"

# What scope, attach and detach do not take.
run 2 "$bin/cmtctl" scope pod
has err "'pod' is not process, container, cpu or manual"
run 2 "$bin/cmtctl" scope cpu manual
has err "scope: too many operands"
for option in "--patterns x" "--file x" --force; do
	# shellcheck disable=SC2086
	run 2 "$bin/cmtctl" scope $option
	has err "take a scope to set"
	# shellcheck disable=SC2086
	run 2 "$bin/cmtctl" attach pid 1 $option
	has err "not with attach"
done
for verb in attach detach measure; do
	run 2 "$bin/cmtctl" $verb
	has err "pid NUMBER, cgroup PATH or cpu NUMBER"
	run 2 "$bin/cmtctl" $verb pid
	has err "pid NUMBER, cgroup PATH or cpu NUMBER"
	run 2 "$bin/cmtctl" $verb pid 1 2
	has err "$verb: too many operands"
	run 2 "$bin/cmtctl" $verb process 1
	has err "'process' is not pid, cgroup or cpu"
	for id in 0 -1 1x "" 2147483648; do
		run 2 "$bin/cmtctl" $verb -- pid "$id"
		has err "'$id' is not a process id"
	done
	run 2 "$bin/cmtctl" $verb cpu 4294967296
	has err "'4294967296' is not a CPU number"
	run 2 "$bin/cmtctl" $verb cgroup ""
	has err "'' is not a path"
done
run 2 "$bin/cmtctl" attach cpu 0 --children
has err "only a process has children"
run 2 "$bin/cmtctl" measure cpu 0 --children
has err "only a process has children"
for option in "-i 1" "-n 1"; do
	# shellcheck disable=SC2086
	run 2 "$bin/cmtctl" attach pid 1 $option
	has err "not with attach"
done
for option in "-i 0.001" "-i 4000" "-n 0" "--force"; do
	# shellcheck disable=SC2086
	run 2 "$bin/cmtctl" measure pid 1 $option
	has err "usage: cmtctl "
done
run 2 "$bin/cmtctl" detach pid 1 --children
has err "--children: not with detach"
run 2 "$bin/cmtctl" show --children
has err "--children: not with show"
run 2 "$bin/cmtstat" --expand --by process
has err "--expand: only --by container"
run 2 "$bin/cmtstat" --why --no-marks
has err "--why: only --interval, "
run 2 "$bin/cmtstat" --light --counters-first
has err "--light: not --counters-first"

for option in "-i 0" "-i 4000" "-i x" "-n 0" "-n -1" "--by pod" "-s size" \
	"--json --csv" "-t 0"; do
	# shellcheck disable=SC2086 # two words on purpose
	run 2 "$bin/cmtstat" $option
	has err "usage: cmtstat "
done

missing=$scratch/missing
run 1 "$bin/cmtstat" --device "$missing"
has err "cmtstat: $missing: No such file or directory"
has err "The device of the cmt module is /dev/cmt"
lacks err "loaded"
run 1 "$bin/cmtstat" -d /dev/null
has err "cmtstat: /dev/null: not a cmt device"
has err "The device of the cmt module is /dev/cmt"
if [ ! -e /dev/cmt ]; then
	run 1 "$bin/cmtctl" info
	has err "cmtctl: /dev/cmt: not there: the cmt module is not loaded"
	has err "modprobe cmt"
fi
for command in info rmids show stats interval "interval 1ms" scope \
	"scope cpu" "attach pid 1" "detach cpu 0" "measure cpu 0"; do
	# shellcheck disable=SC2086
	run 1 "$bin/cmtctl" -d "$missing" $command
	has err "cmtctl: $missing: No such file or directory"
done

run 1 "$bin/cmtstat" -d "$missing" -- touch "$scratch/ran"
has err "cmtstat: $missing: No such file or directory"
checks=$((checks + 1))
[ ! -e "$scratch/ran" ] || fail "a command ran without being measured"

for other in /dev/null "$scratch/file"; do
	: >>"$scratch/file"
	run 1 "$bin/cmtstat" -d "$other"
	has err "cmtstat: $other: not a cmt device"
	run 1 "$bin/cmtctl" -d "$other" info
	has err "cmtctl: $other: not a cmt device"
done

# A file that may not be read: whose group to join.  Root may read them all,
# so this part is another user's.
: >"$scratch/secret"
chmod 755 "$scratch"
chmod 000 "$scratch/secret"
if [ "$(id -u)" -ne 0 ]; then
	run 1 "$bin/cmtstat" -d "$scratch/secret"
	has err "permission denied"
	has err "Only root may read the device"
elif command -v setpriv >/dev/null; then
	group=$(getent group 1 | cut -d: -f1)
	chown 0:1 "$scratch/secret"
	chmod 640 "$scratch/secret"
	# The build may be where only root may go.
	theirs=$scratch/theirs
	mkdir "$theirs"
	# shellcheck disable=SC2046 # no file, where the library is in the programs
	cp "$bin/cmtstat" "$bin/cmtctl" $(ldd "$bin/cmtstat" |
		sed -n 's/.*libcmt[^ ]* => \([^ ]*\) .*/\1/p') "$theirs"
	chmod -R a+rX "$theirs"
	as="setpriv --reuid 65534 --regid 65534 --clear-groups env LD_LIBRARY_PATH=$theirs"
	# Not where the namespace has no such user.
	# shellcheck disable=SC2086
	if $as test -x "$theirs/cmtstat"; then
		run 1 $as "$theirs/cmtstat" -d "$scratch/secret"
		has err "permission denied"
		has err "The device belongs to group '$group'"
		has err "usermod -aG $group USER"
		# one that has no name there, and would have to be asked for
		chown 0:54321 "$scratch/secret"
		run 1 $as "$theirs/cmtstat" -d "$scratch/secret"
		has err "The device belongs to group 54321, which /etc/group does not name"
		for command in "interval 1ms" "scope cpu" "attach pid 1" \
			"detach pid 1"; do
			run 1 $as "$theirs/cmtctl" -d "$scratch/secret" $command
			has err "Only root may change the device"
		done
	else
		echo "note: no other user can run programs here"
	fi
fi

# cmt-names: once, into another tree; a directory that is missing is not made.
id=0c7f30f462d66b3d044efa41d0601ff09af0bbaef30bbff31453821e908bdd5a
host=$scratch/host
mkdir -p "$host/sys/fs/cgroup/docker/$id/nested"
cp -r "$(dirname "$0")/../unit/fixtures/host/." "$host"
run 1 "$bin/cmt-names" --once --root "$host"
has err "cannot write /run/cmt/names: No such file or directory"
has err "Make the directory run/cmt below that of --root"
if [ ! -e /run/cmt ] && grep -q ' cgroup2 ' /proc/mounts; then
	run 1 "$bin/cmt-names" --once
	has err "Start the service, which makes the directory, as root: systemctl start cmt-names"
fi
mkdir "$host/run/cmt"
run 0 "$bin/cmt-names" --once --root "$host"
run 0 cat "$host/run/cmt/names"
has out "$id	docker	shop-web				localhost/web:1.0"
checks=$((checks + 1))
[ "$(wc -l <"$host/run/cmt/names")" -eq 3 ] || fail "not one line for one container"
run 2 "$bin/cmt-names" again
has err "again: takes no operand"
run 2 "$bin/cmt-names" --root
run 1 "$bin/cmt-names" --once --root "$host/none"
has err "No such file"

# file_has PATTERN: half a minute at most
file_has() {
	for _ in $(seq 300); do
		grep -qs -e "$1" "$host/run/cmt/names" && return
		sleep 0.1
	done
	return 1
}

# As a service it writes at its start, and again when a container has come.
mv "$host/sys/fs/cgroup/docker/$id" "$scratch/later"
rm "$host/run/cmt/names"
"$bin/cmt-names" --root "$host" 2>"$scratch/err" &
service=$!
checks=$((checks + 2))
file_has "^end" || fail "cmt-names does not write at its start"
mv "$scratch/later" "$host/sys/fs/cgroup/docker/$id"
file_has "shop-web" || fail "cmt-names does not see a container come"
kill "$service"
wait "$service" 2>/dev/null

# Only where it was not named, the recorder is that of the service.
run 2 "$bin/cmtctl" -d "$missing" save
has err "--device: not with save"
run 1 "$bin/cmtctl" save "$scratch/out.cmt"
has err "out.cmt: No such file"
has err "(cmtstat record --socket), not the file to save to"
if [ ! -e /run/cmt-recorder/save ]; then
	run 1 "$bin/cmtctl" save
	has err "No flight recorder runs.  systemctl start cmt-recorder begins it"
fi

# Output that cannot be written is a failure; a reader that left is none.
for program in "cmtstat" "cmtstat replay" cmtctl cmt-exporter cmt-names ship/cmt-ship; do
	[ -x "$bin/${program% *}" ] || continue
	for option in --help --version; do
		run 1 sh -c "exec $bin/$program $option >/dev/full"
		has err "No space left"
	done
	checks=$((checks + 1))
	{ sh -c "exec $bin/$program --help"; echo $? >"$scratch/status"; } | true
	[ "$(cat "$scratch/status")" = 0 ] || fail "$program --help | true"
done

finish
