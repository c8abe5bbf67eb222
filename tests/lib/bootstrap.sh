# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Functions of the scripts that install a Debian 12 into a directory.  Source this
# file after common.sh.

join()
{
	local IFS=,

	echo "$*"
}

# debian_sources: lines for sources.list, with only the mirrors of Debian 12 that this
# machine uses
debian_sources()
{
	local list

	# apt expands the names
	# shellcheck disable=SC2016
	list=$(apt-get indextargets \
			--format '$(REPO_URI) $(RELEASE) $(COMPONENT)' \
			"Created-By: Packages" |
		awk '$2 ~ /^bookworm(-security|-updates)?$/ && $3 == "main" {
			print "deb", $1, $2, $3 }' | sort -u)
	[ -n "$list" ] || die "this machine's apt has no Debian 12 (bookworm)" \
		"add it to /etc/apt/sources.list"
	printf '%s\n' "$list"
}

# suite_sources SUITE: the same for another release of Debian, or for its
# backports, from the mirrors that this machine uses
suite_sources()
{
	local suite=$1 base=${1%-backports} list main security

	list=$(debian_sources)
	main=$(awk '$3 == "bookworm" { print $2; exit }' <<<"$list")
	security=$(awk '$3 == "bookworm-security" { print $2; exit }' <<<"$list")
	[ -n "$main" ] || die "this machine's apt has no archive of Debian 12" \
		"add it to /etc/apt/sources.list"
	echo "deb $main $base main"
	[ "$base" != sid ] || return 0
	echo "deb $main $base-updates main"
	[ -z "$security" ] || echo "deb $security $base-security main"
	[ "$suite" = "$base" ] || echo "deb $main $suite main"
}

# package_versions PACKAGE...: the versions, for the names of caches
package_versions()
{
	apt-cache show --no-all-versions "$@" | grep -E '^(Package|Version):'
}
