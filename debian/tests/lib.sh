# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# What the tests of an installed package share.

fail()
{
	echo "$*" >&2
	exit 1
}

# run_example PROGRAM: it prints occupancies, or says that there is no device
run_example()
{
	if [ -e /dev/cmt ]; then
		timeout 10 "$1" | sed 1q | grep . || fail "$1 printed nothing"
		return
	fi
	! "$1" >out 2>err || fail "$1 needs no device"
	grep -q '^\(.*: \)\?/dev/cmt: .*modprobe cmt' err ||
		fail "$1 without a device: $(cat err)"
	[ ! -s out ] || fail "$1 printed without a device: $(cat out)"
}

# links PROGRAM: does it need the shared library?
links()
{
	objdump -p "$1" | grep -q 'NEEDED *libcmt\.so\.1$'
}
