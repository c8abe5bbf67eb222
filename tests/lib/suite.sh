# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# apt with package lists of another release of Debian: this machine's know nothing of it.
# Source this file after common.sh and bootstrap.sh.

# suite_apt SUITE: from now on suite_refresh and the others are about SUITE, whose lists are
# in the cache.  apt takes these options, in the array apt_options.
suite_apt()
{
	suite=$1
	apt_dir=$CMT_CACHE/apt-next/$suite
	apt_options=(-o "Dir::Etc::sourcelist=$apt_dir/sources.list"
		-o Dir::Etc::sourceparts=/dev/null -o "Dir::State::lists=$apt_dir/lists"
		-o "Dir::Cache=$apt_dir/cache" -o Acquire::Languages=none
		-o APT::Sandbox::User=root)
	# apt does not take a package from backports unless it is told so.
	[[ $suite != *-backports ]] || apt_options+=(-o "APT::Default-Release=$suite")
}

suite_refresh()
{
	mkdir -p "$apt_dir/lists/partial" "$apt_dir/cache/archives/partial" &&
		suite_sources "$suite" >"$apt_dir/sources.list" &&
		apt-get -q "${apt_options[@]}" update
}

# suite_field FIELD PACKAGE: of the version that would be installed
suite_field()
{
	apt-cache "${apt_options[@]}" show --no-all-versions "$2" |
		sed -n "s/^$1: //p" | head -n 1
}

# suite_depends PACKAGE PATTERN: the names of its dependencies that match
suite_depends()
{
	suite_field Depends "$1" | sed 's/[,|]/\n/g' | sed 's/(.*//; s/ //g' |
		grep -E "$2" | sort -u
}
