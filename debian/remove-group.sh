# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# Of the postrm of each package that has the group cmt; debian/rules adds it there.

# Another of these packages is installed, or was removed and has still to be purged.
group_is_needed()
{
	for package in cmt-dkms cmt-exporter cmt-tools; do
		[ "$package" != "${DPKG_MAINTSCRIPT_PACKAGE:-}" ] || continue
		case $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) in
		'' | not-installed) ;;
		*) return 0 ;;
		esac
	done
	return 1
}

# Most packages keep their group, because files that are left could come to
# belong to another one that gets its number.  What this one owned is root's from
# then on: what cmt-recorder.service saved, /dev/cmt where the module is in use
# and stays, and what services that still run have in /run.  Fails where a file cannot be
# changed, as on a read-only mount; chgrp names it.
take_rights()
{
	set -- /var/lib/cmt
	! is_own_machine || set -- "$@" /dev/cmt /run/cmt /run/cmt-recorder
	failed=0
	for path in "$@"; do
		[ ! -e "$path" ] ||
			find -H "$path" -xdev -group cmt ! -type l -exec chgrp root {} + || failed=1
	done
	return "$failed"
}

# A group that is no system group, or that is some user's first one, is not ours
# to remove.
remove_group()
{
	gid=$(getent group cmt | cut -d: -f3)
	[ -n "$gid" ] && [ "$gid" -lt 1000 ] || return 0
	if getent passwd | cut -d: -f4 | grep -qx "$gid"; then
		return 0
	fi
	if take_rights; then
		groupdel cmt || true
	else
		echo "${DPKG_MAINTSCRIPT_PACKAGE:-cmt}: the group cmt stays, since the files above belong to it" >&2
	fi
}

if [ "$1" = purge ] && command -v groupdel >/dev/null && ! group_is_needed; then
	remove_group
fi
