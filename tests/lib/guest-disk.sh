# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# The disk of a guest that is a complete Debian, made from a directory.  Source this file
# after common.sh.

# guest_service ROOT: the service that, when the guest is up, unpacks the files that
# tests/vm/guest put on the second disk, and starts the init of all test guests.
guest_service()
{
	local root=$1 wants=$1/etc/systemd/system/multi-user.target.wants

	mkdir -p "$wants"
	cat >"$root/etc/systemd/system/cmt-test.service" <<-'UNIT'
		[Unit]
		Description=the program that tests/vm/guest was given
		After=systemd-user-sessions.service dbus.service
		[Service]
		ExecStart=/usr/local/sbin/cmt-test
		Delegate=yes
	UNIT
	ln -s ../cmt-test.service "$wants/"
	cat >"$root/usr/local/sbin/cmt-test" <<-'SCRIPT'
		#!/bin/sh
		tar --keep-directory-symlink -C / -xf /dev/vdb
		exec busybox sh /init
	SCRIPT
	chmod 755 "$root/usr/local/sbin/cmt-test"
	echo cmt-guest >"$root/etc/hostname"
	echo "/dev/vda / ext4 defaults 0 1" >"$root/etc/fstab"
	chroot "$root" systemctl mask serial-getty@ttyS0.service getty@tty1.service \
		apt-daily.timer apt-daily-upgrade.timer e2scrub_all.timer
}

# guest_disk ROOT DIR SIZE: make DIR/disk.qcow2, DIR/vmlinuz and DIR/initrd
guest_disk()
{
	mkdir -p "$2" &&
		cp -L "$1/vmlinuz" "$2/vmlinuz" &&
		cp -L "$1/initrd.img" "$2/initrd" &&
		mke2fs -q -t ext4 -L root -d "$1" "$2/disk.raw" "$3" &&
		qemu-img convert -O qcow2 "$2/disk.raw" "$2/disk.qcow2" &&
		rm "$2/disk.raw"
}
