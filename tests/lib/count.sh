# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Counts of passed and failed tests, for the parts of tests/run.  Source this file after
# common.sh.

passed=0 failed=0

# check NAME COMMAND...: one test.  The output of COMMAND is printed when the test fails.
# COMMAND must not use variables with the names of those that are local here.
check()
{
	local name=$1 log
	shift

	# other parts run at the same time
	log=$CMT_OUT/check.$BASHPID.log
	if "$@" >"$log" 2>&1; then
		passed=$((passed + 1))
		printf 'ok - %s\n' "$name"
	else
		failed=$((failed + 1))
		printf 'not ok - %s\n' "$name"
		sed 's/^/    /' "$log"
	fi
	rm -f "$log"
}

# add_counts FILE STATUS: add the counts of the last line of a program's output
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

# unit_tests LOG COMMAND...: a program of Python's unittest that names each test, which is a
# check.  One that runs none, as where a browser or a terminal is missing, has failed.
unit_tests()
{
	local log=$1 rc=0 good bad
	shift

	"$@" 2>&1 | tee "$log" || rc=$?
	good=$(grep -cE '\.\.\. ok$' "$log" || true)
	bad=$(grep -cE '\.\.\. (FAIL|ERROR|skipped .*)$' "$log" || true)
	if [ "$bad" -eq 0 ] && { [ "$rc" -ne 0 ] || [ "$good" -eq 0 ]; }; then
		bad=1
	fi
	passed=$((passed + good))
	failed=$((failed + bad))
}

# Print the counts, the last line of a part
finish()
{
	printf '%d passed, %d failed\n' "$passed" "$failed"
	[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}
