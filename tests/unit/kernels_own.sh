#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# kernels_own.sh SOURCE: which faults of a storm are taken for the kernel's own.
set -eu
shopt -s lastpipe # expect() sets bad
program=$1/tests/storm/kernels-own
console=$(mktemp)
trap 'rm -f -- "$console"' EXIT
symbols='0000000000029d40 d cpu_stopper
0000000000033c80 d push_work'
# Those of a CPU whose variables begin at ffff9d7b3ec80000; the list is in cpu_stopper.
list=ffff9d7b3eca9d50 work=ffff9d7b3ecb3c80 none=0000000000000000
bad=0

# report NEXT WAS PREV
report()
{
	printf '%s\n' "[  142.1] ------------[ cut here ]------------" \
		"[  142.2] list_add corruption. prev->next should be next ($1), but was $2. (prev=$3)."
}

# expect STATUS WHAT <CONSOLE
expect()
{
	local rc=0

	cat >"$console"
	"$program" "$console" <<<"$symbols" || rc=$?
	[ "$rc" -eq "$1" ] || { echo "$2: status $rc, not $1"; bad=1; }
}

report $list $none $work | expect 0 "the kernel's own"
{ echo "[  100.0] smpboot: CPU 1 is now offline"; report $list $none $work; } |
	expect 0 "the same after other lines"
report ffff9d7b3eca9d40 $none $work | expect 1 "before the list of the stopper"
report ffff9d7b3eca9dc0 $none $work | expect 1 "behind the stopper"
report ffff9d7b3eda9d50 $none $work | expect 1 "the stopper of one CPU, the work of another"
report $work $none $list | expect 1 "the one for the other"
report $list $work $work | expect 1 "a work that has a next"
expect 1 "no fault" <<<"[  100.0] smpboot: CPU 1 is now offline"
expect 1 "another fault" <<<"[  142.2] list_del corruption. prev->next should be $list, but was $work"
symbols='0000000000029d40 d cpu_stopper'
report $list $none $work | expect 1 "a symbol is not known"
symbols=''
report $list $none $work | expect 1 "no symbol is known"
exit "$bad"
