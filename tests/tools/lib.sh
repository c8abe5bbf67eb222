# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# Sourced by the tests of this directory: checks that count.
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
checks=0
failures=0

fail() {
	failures=$((failures + 1))
	echo "FAIL: $*"
	sed 's/^/    out: /' "$scratch/out" 2>/dev/null
	sed 's/^/    err: /' "$scratch/err" 2>/dev/null
}

# run EXPECTED_STATUS COMMAND...: output in $scratch/out and $scratch/err
run() {
	expected=$1
	shift
	checks=$((checks + 1))
	status=0
	timeout -k 10 120 "$@" >"$scratch/out" 2>"$scratch/err" </dev/null ||
		status=$?
	[ "$status" -eq "$expected" ] ||
		fail "$*: exit status $status, not $expected"
}

# has out|err TEXT, lacks out|err TEXT: in what the last run printed
has() {
	checks=$((checks + 1))
	grep -qF -e "$2" "$scratch/$1" || fail "no '$2' in $1"
}

lacks() {
	checks=$((checks + 1))
	! grep -qF -e "$2" "$scratch/$1" || fail "'$2' in $1"
}

# A child that has ended is a zombie, until it is waited for.
has_ended() {
	! [ -e "/proc/$1" ] || grep -q '^State:.Z' "/proc/$1/status" 2>/dev/null
}

# await PID COMMAND...: waits until COMMAND succeeds, which must be within a minute and while
# the child PID runs
await() {
	awaited=$1
	shift
	checks=$((checks + 1))
	deadline=$(($(date +%s) + 60))
	until "$@"; do
		if [ "$(date +%s)" -ge $deadline ] || has_ended "$awaited"; then
			fail "waited in vain: $*"
			return 1
		fi
		sleep 0.02
	done
}

finish() {
	echo "$checks checks, $failures failures"
	[ "$failures" -eq 0 ]
	exit
}
