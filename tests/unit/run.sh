#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# run.sh SOURCE: how tests/run ends, with parts and builds that are made up.
set -eu
state=$(mktemp -d)
trap 'rm -rf -- "$state"' EXIT
export CMT_CACHE=$state/cache state
unset CMT_OUT CMT_LANE CMT_START
bad=0
mkdir -p "$state"/tests/{parts,lab,vm}
: >"$state/behind"
cp -r "$1/tests/lib" "$1/tests/run" "$state/tests/"

# script PATH: standard input is its text
script()
{
	{
		echo '#!/bin/bash'
		cat
	} >"$state/tests/$1"
	chmod 755 "$state/tests/$1"
}

for name in unit abi static dkms deb vm lab storm containers bench; do
	script "parts/$name" <<<'echo "1 passed, 0 failed"'
done
for name in programs module image debug-kernel; do
	script "vm/$name" <<<'exit 0'
done
script lab/build <<'END'
[ "${1-}" != --look ]
END

# works PATH: one that does not end by itself, nor do its children; its end is in $state/ended
works()
{
	script "$1" <<-'END'
		trap 'echo "$0" >>"$state/ended"' EXIT
		trap 'exit 143' TERM
		setsid sleep 300 &
		echo $! >>"$state/pids"
		(echo $BASHPID >>"$state/pids"; sleep 300; true) | cat &
		echo $! >>"$state/pids"
		echo $$ >>"$state/pids"
		bash -c 'echo $$ >>"$state/pids"; sleep 300; true'
	END
}

# says EXPECTED GOT
says()
{
	[ "$1" = "$2" ] && return
	echo "$what: '$2', not '$1'"
	sed 's/^/    /' "$state"/{said,behind}
	bad=1
}

# run ARGUMENT...: to its end; its status in $status, its last line in $last
run()
{
	status=0
	"$state/tests/run" "$@" >"$state/said" 2>&1 || status=$?
	last=$(tail -n 1 "$state/said")
}

# start N ARGUMENT...: in the background, until N processes have begun
start()
{
	local n=$1 i
	shift

	rm -f "$state/ended"
	: >"$state/pids"
	env --default-signal=INT,QUIT setsid "$state/tests/run" "$@" >"$state/behind" 2>&1 &
	pid=$!
	for i in $(seq 600); do
		[ "$(wc -l <"$state/pids")" -ne "$n" ] || return 0
		sleep 0.1
	done
	says "$n processes" "waited $i times for them"
}

# ends STATUS: that it does with it, and all that the scripts started
ends()
{
	local left i

	status=0
	wait "$pid" 2>/dev/null || status=$?
	says "$1" "$status"
	for i in $(seq 200); do
		left=''
		while read -r pid; do
			! kill -0 "$pid" 2>/dev/null || left+=" $pid"
		done <"$state/pids"
		[ -n "$left" ] || return 0
		sleep 0.1
	done
	says "" "left after $i looks:$left"
	# shellcheck disable=SC2086 # several
	kill -KILL $left
}

what="parts that pass"
run abi static
says 0 "$status"
says "2 passed, 0 failed" "$last"

what="all parts"
run
says 0 "$status"
says "10 passed, 0 failed" "$last"

what="a part that fails"
script parts/static <<-'END'
	echo "not ok - one"
	echo "1 passed, 1 failed"
	exit 1
END
run abi static dkms
says 1 "$status"
says "3 passed, 1 failed" "$last"

what="the processor's time of a part"
script parts/static <<-'END'
	bash -c 'ulimit -t 2; while :; do :; done' 2>/dev/null
	echo "1 passed, 0 failed"
END
run static
says 1 "$(grep -c ' [2-4] s of a processor$' "$state/said")"
run abi
says 1 "$(grep -c ' 0 s of a processor$' "$state/said")"

works parts/abi
for signal in TERM HUP; do
	what="SIG$signal"
	start 5 abi dkms
	kill -s "$signal" "$pid"
	ends $((128 + $(kill -l "$signal")))
	says "$state/tests/parts/abi" "$(cat "$state/ended")"
	! grep dkms "$state/behind" || says "no further part" "another one"
done

# What works in the background takes no SIGINT.
what="^C"
script parts/abi <<-'END'
	echo $$ >>"$state/pids"
	bash -c 'echo $$ >>"$state/pids"; sleep 300; true'
END
start 2 abi dkms
kill -s INT -- -"$pid"
ends 130

what="a second run"
start 2 abi
run dkms
says 1 "$status"
grep -q 'another run is at work in .*/build-tests' "$state/said" || says why "$last"
grep -q CMT_OUT= "$state/said" || says "what to do" "$last"
CMT_OUT=$state/other run dkms
says 0 "$status"

what="CMT_OUT as a path from here, behind a link, with a slash at its end"
# shellcheck disable=SC2016 # the script's own
script parts/dkms <<<'cd / && touch "$CMT_OUT/made" && echo "$CMT_OUT" && echo "1 passed, 0 failed"'
ln -s other "$state/link"
(cd "$state" && CMT_OUT=./link/ ./tests/run dkms) >"$state/said" 2>&1 || true
says "$(cd "$state/other" && pwd -P)" "$(grep -x '/.*' "$state/said" || true)"
kill "$pid"
ends 143
run dkms
says 0 "$status"

# The part unit, abi in the lane, and a build
what="SIGTERM to the run of all parts"
works parts/unit
works vm/programs
works parts/abi
start 15
kill "$pid"
ends 143
exit "$bad"
