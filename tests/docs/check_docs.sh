#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Do the documents still say what is so?  What can be compared is compared:
# the module's messages and parameters with cmt(4), the README's example with
# the headers, and the names of files with the tree.
#
# CC names another compiler.  Exit 0: all agree; 1: not; 2: usage.
# shellcheck source=tests/lib/common.sh
. "$(dirname -- "$0")/../lib/common.sh"
# shellcheck source=tests/lib/count.sh
. "$CMT_TOP/tests/lib/count.sh"

case "${1:-}" in
-h | --help)
	echo "Usage: $0   compares the documents with the sources"
	exit 0 ;;
?*)	echo "Usage: $0" >&2
	exit 2 ;;
esac

tmp=$(mktemp -d)
trap 'rm -rf -- "$tmp"' EXIT
cd -- "$CMT_TOP"

# same EXPECTED ACTUAL: two lists, neither of them empty
same()
{
	[ -s "$1" ] && [ -s "$2" ] && diff -U0 "$1" "$2"
}

# "-": only in cmt(4); "+": only in the module
messages()
{
	sed -n 's/^\.It "\(.*\)"$/\1/p' docs/man/cmt.4 |
		sed 's/^%s, [a-zA-Z]*[^%]*, %u/%s, %s, %u/' | sort -u >"$tmp/man"
	cat module/*.c | tr '\n' ' ' |
		grep -oE 'pr_(err|warn|notice|info)(_[a-z]+)?\([[:space:]]*"[^"]*"' |
		sed 's/^[^"]*"\(.*\)\\n"$/\1/' | sort -u >"$tmp/module"
	same "$tmp/man" "$tmp/module"
}

parameters()
{
	sed -n 's/^\.It Cm \([a-z_]*\) Ns = Ns Ar.*/\1/p' docs/man/cmt.4 |
		sort >"$tmp/man"
	sed -n 's/^module_param(\([a-z_]*\),.*/\1/p' module/*.c |
		sort >"$tmp/module"
	same "$tmp/man" "$tmp/module"
}

example()
{
	sed -n '/^    #include <cmt\/cmt.h>/,/^    }/s/^    //p' README.md \
		>"$tmp/example.c"
	[ -s "$tmp/example.c" ] &&
		version_header "$tmp/include" &&
		"${CC:-gcc}" -std=gnu11 -Wall -Wextra -Werror -Ilibcmt/include \
			-I"$tmp/include" -Imodule -c -o "$tmp/example.o" "$tmp/example.c"
}

# Files of the module and the documents that are named anywhere.
names()
{
	local name rc=0

	grep -rIhoP '(?<!tests/)(module|docs)/[a-z0-9_/.-]+\.(c|h|md|py|yaml|[1-8])\b' \
		README.md docs module libcmt tests | sort -u >"$tmp/names"
	[ -s "$tmp/names" ] || return 1
	while read -r name; do
		[ -e "$name" ] && continue
		echo "no such file: $name"
		rc=1
	done <"$tmp/names"
	return $rc
}

decisions()
{
	local n rc=0

	grep -hoE 'decision [0-9]{4}' README.md docs/*.md docs/decisions/*.md |
		sort -u >"$tmp/decisions"
	[ -s "$tmp/decisions" ] || return 1
	while read -r _ n; do
		compgen -G "docs/decisions/$n-*.md" >"$tmp/found" && continue
		echo "no such decision: $n"
		rc=1
	done <"$tmp/decisions"
	return $rc
}

# The udev rule is, wherever people read it, what the package installs.
rule()
{
	grep -v '^#' debian/cmt-dkms.udev >"$tmp/rule"
	grep -ohE 'KERNEL==[^'"'"']*' README.md docs/install.md | sort -u >"$tmp/written"
	same "$tmp/rule" "$tmp/written"
}

# The version in commands is the module's.
version()
{
	sed -n 's/^#define CMT_VERSION "\(.*\)"$/\1/p' module/version.h \
		>"$tmp/version"
	grep -hoE '\bcmt[/-][0-9]+\.[0-9.]+[0-9]' README.md docs/install.md |
		sed 's/^cmt.//' | sort -u >"$tmp/written"
	same "$tmp/version" "$tmp/written"
}

# Links of a page in docs/ to files of the tree.
links()
{
	local name rc=0

	grep -oE '\]\([a-z][^):#]*\)' docs/install.md | tr -d '])(' >"$tmp/links"
	[ -s "$tmp/links" ] || return 1
	while read -r name; do
		[ -e "docs/$name" ] || { echo "no such file: docs/$name"; rc=1; }
	done <"$tmp/links"
	return $rc
}

# lintian's limit, which the part deb finds only when all is built
line_lengths()
{
	! grep -rnE '.{513}' README.md docs --include='*.md' | cut -c1-120 | grep .
}

need mandoc python3-kubernetes python3-yaml
check "cmt(4) has the module's messages" messages
check "cmt(4) has the module's parameters" parameters
check "README's example compiles" example
check "files that are named exist" names
check "decisions that are named exist" decisions
check "the udev rule is the package's" rule
check "the version in commands is the module's" version
check "links of docs/install.md" links
check "no line is longer than 512 characters" line_lengths
check "the Kubernetes manifest" /usr/bin/python3 tests/docs/manifest.py \
	docs/examples/cmt-agent-daemonset.yaml
for page in docs/man/*; do
	check "$page: mandoc" mandoc -Tlint -W warning "$page"
done

finish
