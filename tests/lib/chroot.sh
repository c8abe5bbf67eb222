# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# A complete Debian in a directory, whose packages are changed with the network.  Source
# this file after common.sh and bootstrap.sh.

# debian_root SUITE DIR PACKAGE...: a Debian with a user "user", whose apt has the archives
# of SUITE
debian_root()
{
	local suite=$1 root=$2 list
	shift 2

	list=$(suite_sources "$suite")
	# $1 in the hook is for mmdebstrap to set
	# shellcheck disable=SC2016
	as_root unshare --mount --propagation private \
		mmdebstrap --mode=root --variant=minbase --skip=cleanup/apt/lists \
		--include="$(join "$@")" \
		--customize-hook='chroot "$1" useradd -m -s /bin/bash -u 1000 user' \
		"$suite" "$root" - <<<"$list"
}

# in_chroot ROOT COMMAND...: as root, with the network, and with the mounts that a running
# system has.  The root must be a mount, too: libcmt enters only mounts that it knows.
in_chroot()
{
	local root=$1
	shift

	cp -L /etc/resolv.conf "$root/etc/resolv.conf"
	# shellcheck disable=SC2016
	as_root unshare --mount --pid --ipc --fork --kill-child --propagation private \
		bash -ec 'root=$1; shift
			mount --bind "$root" "$root"
			mount -t proc proc "$root/proc"
			mount -t sysfs -o ro sys "$root/sys"
			mount -t devpts -o ptmxmode=666,gid=5 devpts "$root/dev/pts"
			mount -t tmpfs -o mode=1777 shm "$root/dev/shm"
			mount -t tmpfs -o mode=755 run "$root/run"
			exec chroot "$root" /usr/bin/env -i "$@"' bash "$root" \
		PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
		DEBIAN_FRONTEND=noninteractive LANG=C.UTF-8 "$@"
}
