# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# A machine that boots: a complete Debian in a directory, where a part of tests/run changes
# its packages with the network, then a disk that is made of it, and a guest with the lab's
# processor.  Source this file after common.sh.
# shellcheck source=tests/lib/bootstrap.sh
. "$CMT_TOP/tests/lib/bootstrap.sh"
# shellcheck source=tests/lib/count.sh
. "$CMT_TOP/tests/lib/count.sh"
# shellcheck source=tests/lib/guest-disk.sh
. "$CMT_TOP/tests/lib/guest-disk.sh"

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

# machine_new NAME SUITE PACKAGE...: one that starts the test's service and has nothing else.
# $root is its directory, removed at the end with all in $work; logs go to $log.  busybox is
# for the service.
machine_new()
{
	machine=$1
	local suite=$2
	shift 2

	need mmdebstrap util-linux e2fsprogs qemu-utils debian-archive-keyring
	apt_lists
	log=$CMT_OUT/$machine
	mkdir -p "$log"
	work=$(mktemp -d "$log/machine.XXXXXX")
	root=$work/root
	trap 'as_root rm -rf --one-file-system -- "$work"' EXIT
	trap 'exit 143' TERM
	step "$log/bootstrap.log" "installing Debian ($suite) into a directory" \
		debian_root "$suite" "$root" initramfs-tools systemd-sysv udev kmod dbus \
		libpam-systemd busybox-static "$@" ||
		die "mmdebstrap failed" "see $log/bootstrap.log"
	step "$log/service.log" "adding the test's service" guest_service "$root" ||
		die "the directory could not be set up" "see $log/service.log"
	cp "$CMT_TOP/tests/vm/guest-lib.sh" "$root/etc/"
}

# machine_checkout: what git knows of this tree, in the user's home
machine_checkout()
{
	mkdir "$root/home/user/cmt" &&
		tracked | tr '\n' '\0' | tar -C "$CMT_TOP" -c --null -T - |
		tar -x -C "$root/home/user/cmt" &&
		chroot "$root" chown -R user: /home/user
}

# machine_change COMMAND...: tests that change it, in the directory with the network.  When
# one fails, the part ends.
machine_change()
{
	local rc=0

	in_chroot "$root" "$@" 2>&1 | tee "$log/change.log" || rc=$?
	add_counts "$log/change.log" "$rc"
	[ "$failed" -eq 0 ] || { finish; exit; }
}

# machine_boot SIZE COMMAND...: tests in it, on a disk of SIZE.  What the archives' lists and
# packages were is not copied to the disk.
machine_boot()
{
	local size=$1 rc=0 lab
	shift

	lab=$("$CMT_TOP/tests/lab/build")
	rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/*
	step "$log/disk.log" "making its disk" guest_disk "$root" "$work/disk" "$size" ||
		die "the disk could not be made" "see $log/disk.log"
	PATH=$lab/bin:$PATH CMT_LAB=size=16M "$CMT_TOP/tests/vm/guest" --name "$machine" \
		--disk "$work/disk/disk.qcow2" --kernel "$work/disk" --mem 2048 \
		--timeout 1200 -- "$@" 2>&1 | tee "$log/boot.log" || rc=$?
	add_counts "$log/boot.log" "$rc"
}
