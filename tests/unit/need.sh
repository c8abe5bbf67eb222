#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# need.sh SOURCE: need() of tests/lib/common.sh, with an apt, a dpkg and a user that are
# made up.  One package, absent, is not installed until $state/installed exists.
set -eu
source=$1
state=$(mktemp -d)
trap 'rm -rf -- "$state"' EXIT
export CMT_CACHE=$state/cache CMT_OUT=$state/out state
mkdir "$state/bin"
bad=0
# Nothing else is in PATH: a real sudo and a real apt must not be found.
for tool in awk bash cat date dirname env flock grep mkdir rm sed sh sleep tail touch; do
	ln -s "$(command -v "$tool")" "$state/bin/$tool"
done

# fake NAME: standard input is its text
fake()
{
	{
		# shellcheck disable=SC2016 # the script's own
		printf '#!/bin/sh\necho "%s $*" >>"$state/calls"\n' "$1"
		cat
	} >"$state/bin/$1"
	chmod 755 "$state/bin/$1"
}

fake id <<'END'
[ -e "$state/user" ] && echo 1000 || echo 0
END
fake dpkg-query <<'END'
shift 3
for package; do
	[ "$package" = absent ] && [ ! -e "$state/installed" ] ||
		echo "$package install ok installed"
done
END
# There are package lists, as apt_lists() looks for them; a build's chroot has none.
fake find <<'END'
echo /var/lib/apt/lists/made-up_Packages
END
fake dpkg <<'END'
rm "$state/interrupted"
END
fake apt-get <<'END'
case "$*" in
*update*)	rm -f "$state/stale"; exit ;;
esac
if [ -e "$state/interrupted" ]; then
	echo "E: dpkg was interrupted, you must manually run 'dpkg --configure -a' to correct the problem." >&2
	exit 100
fi
[ ! -e "$state/stale" ] || { echo "E: 404" >&2; exit 100; }
touch "$state/installed"
END

# run STATUS PACKAGE...: what need() does with the files of $state as they are
run()
{
	local expected=$1 rc=0
	shift

	: >"$state/calls"
	PATH=$state/bin bash -c '. "$0/tests/lib/common.sh"; need "$@"' \
		"$source" "$@" >"$state/said" 2>&1 || rc=$?
	[ "$rc" -eq "$expected" ] || fail "status $rc, not $expected"
}

fail()
{
	echo "$what: $1"
	cat "$state/calls" "$state/said"
	bad=1
}

said()
{
	grep -qF -- "$1" "$state/said" || fail "not said: $1"
}

called()
{
	grep -qE -- "$1" "$state/calls" || fail "not called: $1"
}

not_called()
{
	! grep -qE -- "$1" "$state/calls" || fail "called: $1"
}

what="nothing is missing, without root"
touch "$state/user"
run 0 present other
not_called '^apt-get'

what="a package is missing, without root"
run 1 present absent
said 'missing: absent'
said 'apt-get install --no-install-recommends absent'
not_called '^apt-get'
rm "$state/user"

what="a package is missing"
run 0 present absent
called '^apt-get .*install.* absent$'
not_called '^dpkg '
rm -f "$state/installed"

what="an installation was interrupted"
touch "$state/interrupted"
run 0 absent
said 'an earlier installation was interrupted: dpkg --configure -a'
called '^dpkg .*--configure -a$'
not_called '^apt-get .*update'
rm -f "$state/installed"

what="the lists are old"
touch "$state/stale"
run 0 absent
called '^apt-get .*update'
not_called '^dpkg '
exit "$bad"
