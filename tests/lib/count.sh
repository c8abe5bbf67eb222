# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Counting, for the parts of tests/run.  Source it after common.sh.

passed=0 failed=0

# check NAME COMMAND...: one test; its output is shown when it fails
check()
{
	local name=$1 log
	shift

	log=$CMT_OUT/check.log
	if "$@" >"$log" 2>&1; then
		passed=$((passed + 1))
		printf 'ok - %s\n' "$name"
	else
		failed=$((failed + 1))
		printf 'not ok - %s\n' "$name"
		sed 's/^/    /' "$log"
	fi
}

# add_counts FILE STATUS: what a program with a last line of its own counted
add_counts()
{
	local last p=0 f=0

	last=$(tail -n 1 "$1")
	if [[ $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
		p=${BASH_REMATCH[1]} f=${BASH_REMATCH[2]}
	fi
	if [ "$f" -eq 0 ] && { [ "$2" -ne 0 ] || [ "$p" -eq 0 ]; }; then
		f=1
	fi
	passed=$((passed + p))
	failed=$((failed + f))
}

# The end of a part
finish()
{
	printf '%d passed, %d failed\n' "$passed" "$failed"
	[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}
