# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# Of the scripts that change what the running kernel has; debian/rules adds it there.

# A chroot or a container may see the /sys, /dev and /run of a machine that is not its own.
# An image need not have systemd, nor does every runtime leave a file.  The number is that of
# the first PID namespace, 0xEFFFFFFC in every Linux.
is_own_machine()
{
	! ischroot && ! systemd-detect-virt --container --quiet 2>/dev/null &&
		[ ! -e /run/.containerenv ] && [ ! -e /.dockerenv ] &&
		[ "$(readlink /proc/self/ns/pid)" = "pid:[4026531836]" ]
}
