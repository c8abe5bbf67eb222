# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# What the scripts that run in a guest share; it is /etc/guest-lib.sh there.  A
# script prints its plan, calls check for each test, and ends with
#
#	[ "$failed" -eq 0 ]
# shellcheck disable=SC2034 # failed is the caller's

n=0 failed=0

# check NAME COMMAND...: one test; what it said is shown when it fails, and how
# long it took where that is long
check()
{
	name=$1 start=$(date +%s)
	shift
	n=$((n + 1))
	if "$@" >/run/check.log 2>&1; then
		echo "ok $n - $name"
	else
		echo "not ok $n - $name"
		sed 's/^/# /' /run/check.log
		failed=$((failed + 1))
	fi
	start=$(($(date +%s) - start))
	[ "$start" -lt 5 ] || echo "# that took $start s"
}

# until_true COMMAND...: two minutes at most
until_true()
{
	deadline=$(($(date +%s) + 120))
	until "$@"; do
		[ "$(date +%s)" -lt "$deadline" ] || return 1
		sleep 0.5
	done
}

# As somebody who is not root, below the user's own systemd.
as_user()
{
	su user -c "cd / && XDG_RUNTIME_DIR=/run/user/1000 DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/1000/bus $*"
}

user_is_up()
{
	loginctl enable-linger user &&
		until_true test -S /run/user/1000/bus
}

# The service cmt-names runs, and what it wrote is the group's to read.
names_are_served()
{
	systemctl start cmt-names && until_true test -e /run/cmt/names &&
		[ "$(stat -c '%U:%G %a' /run/cmt)" = "root:cmt 750" ] &&
		[ "$(stat -c '%U:%G %a' /run/cmt/names)" = "root:cmt 640" ]
}

# make_rootfs DIR: what a container of busybox sees
make_rootfs()
{
	mkdir -p "$1/bin" "$1/proc" "$1/sys" "$1/dev" "$1/etc" "$1/tmp" &&
		cp /bin/busybox "$1/bin/busybox" || return 1
	for applet in sh sleep true; do
		ln -sf busybox "$1/bin/$applet"
	done
	chmod 755 "$1"
}
