# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# The storms of the parts storm and storm-debug.  Source this file after common.sh.
# shellcheck source=tests/lib/count.sh
. "$CMT_TOP/tests/lib/count.sh"

seconds=${STORM_SECONDS:-70}
seed=${STORM_SEED:-$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}

# storm KERNEL [TESTS]: counts them
storm()
{
	local log=$CMT_OUT/storm-counts-$1.log rc=0

	"$CMT_TOP/tests/storm/check" --seed "$seed" --seconds "$seconds" \
		--famine $((seconds / 4)) "$@" 2>&1 | tee "$log" || rc=$?
	add_counts "$log" "$rc"
	[ "$rc" -eq 0 ] || say "again: tests/storm/check --seed $seed --seconds $seconds $1"
}
