#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Do the documents still say what is so?  What can be compared is compared:
# the module's messages and parameters with cmt(4), the example of docs/library.md
# with the headers, and the names of files with the tree.
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
	find module -name '*.c' -exec cat {} + | tr '\n' ' ' |
		grep -oE 'pr_(err|warn|notice|info)(_[a-z]+)?\([[:space:]]*"[^"]*"' |
		sed 's/^[^"]*"\(.*\)\\n"$/\1/' | sort -u >"$tmp/module"
	same "$tmp/man" "$tmp/module"
}

parameters()
{
	sed -n 's/^\.It Cm \([a-z_]*\) Ns = Ns Ar.*/\1/p' docs/man/cmt.4 |
		sort >"$tmp/man"
	sed -n 's/^module_param(\([a-z_]*\),.*/\1/p' module/*.c module/*/*.c |
		sort >"$tmp/module"
	same "$tmp/man" "$tmp/module"
}

example()
{
	sed -n '/^    #include <cmt\/cmt.h>/,/^    }/s/^    //p' docs/library.md \
		>"$tmp/example.c"
	[ -s "$tmp/example.c" ] &&
		version_header "$tmp/include" &&
		"${CC:-gcc}" -std=gnu11 -Wall -Wextra -Werror -Ilibcmt/include \
			-I"$tmp/include" -Imodule -c -o "$tmp/example.o" "$tmp/example.c"
}

# Files of the module, the documents, the library's rooms and the tools that are named
# anywhere.  version.h is made by a build.
names()
{
	local name rc=0
	local place='(?<!tests/)(?<!unit/)' any='(module|docs)/[a-z0-9_/.-]+\.(c|h|md|py|yaml|[1-8])\b'
	local rooms='(libcmt|tools)/[a-z]+/[a-z0-9_/]+\.[ch]\b'

	grep -rIhoP "$place($any|$rooms)" \
		README.md CONTRIBUTING.md CHANGELOG.md SECURITY.md docs module libcmt tests |
		grep -v '^libcmt/include/cmt/version\.h$' | sort -u >"$tmp/names"
	[ -s "$tmp/names" ] || return 1
	while read -r name; do
		[ -e "$name" ] && continue
		echo "no such file: $name"
		rc=1
	done <"$tmp/names"
	return $rc
}

# is_defined NAME: a function or a macro of this tree
is_defined()
{
	grep -rqE "^([a-z].*[ *]|#define )?$1\(" --include='*.[ch]' module libcmt tools
}

# Functions, and files without their room, that the description of the parts names
architecture()
{
	local name rc=0

	# shellcheck disable=SC2016
	grep -oE '`[a-z0-9_/]+(\(\)|\.[ch])`' docs/architecture.md | tr -d '`' |
		sort -u >"$tmp/named"
	[ -s "$tmp/named" ] || return 1
	while read -r name; do
		case "$name" in
		*'()')	is_defined "${name%()}" && continue ;;
		*)	[ -z "$(find module libcmt tools -path "*/$name")" ] || continue
			[ ! -e "$name" ] || continue ;;
		esac
		echo "no such function or file: $name"
		rc=1
	done <"$tmp/named"
	return $rc
}

decisions()
{
	local n rc=0

	grep -hoE 'decision [0-9]{4}' ./*.md docs/*.md docs/decisions/*.md |
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

# Links of all pages to files of the tree, and to headings.
links()
{
	local page link file heading rc=0

	for page in *.md docs/*.md docs/decisions/*.md tests/README.md; do
		grep -oE '\]\([^):]*\)' "$page" | sed "s|^](\(.*\))\$|$page \1|" || true
	done | sort -u >"$tmp/links"
	[ -s "$tmp/links" ] || return 1
	while read -r page link; do
		file=$page heading=
		[ -z "${link%%#*}" ] || file=$(dirname -- "$page")/${link%%#*}
		[ "${link#*#}" = "$link" ] || heading=${link#*#}
		if [ ! -e "$file" ]; then
			echo "$page: no such file: $link"
			rc=1
		elif [ -n "$heading" ] && ! headings "$file" | grep -qxF -- "$heading"; then
			echo "$page: no such heading: $link"
			rc=1
		fi
	done <"$tmp/links"
	return $rc
}

# headings PAGE: as links name them
headings()
{
	sed -nE 's/^#+ //p' "$1" | tr '[:upper:]' '[:lower:]' |
		sed -E 's/[^a-z0-9 _-]//g; s/ /-/g'
}

# Each page in docs/ is in the index there, each decision in the decisions' one.
indexes()
{
	local page rc=0

	for page in docs/*.md docs/decisions/*.md; do
		[ "${page##*/}" != README.md ] || continue
		grep -qF "](${page##*/})" "${page%/*}/README.md" && continue
		echo "not in ${page%/*}/README.md: ${page##*/}"
		rc=1
	done
	return $rc
}

# What the index says of a decision is what the decision says.
statuses()
{
	local page number

	for page in docs/decisions/[0-9]*.md; do
		number=${page##*/}
		sed -nE "s/^\| (holds|superseded|partly superseded) \| ([0-9-]{10}) \| (\[([0-9]{4})\].*|-) \|\$/${number%%-*} \1 \2 \3/p" \
			"$page" | sed -E 's/\[([0-9]{4})\][^[]*/\1, /g; s/, $//'
	done >"$tmp/pages"
	sed -nE 's/^\| \[([0-9]{4})\].* \| ([a-z ]+) \| ([0-9-]{10}) \| (.*) \|$/\1 \2 \3 \4/p' \
		docs/decisions/README.md >"$tmp/index"
	[ "$(wc -l <"$tmp/pages")" -eq "$(find docs/decisions -name '0*.md' | wc -l)" ] &&
		same "$tmp/pages" "$tmp/index"
}

# The screens of the pages are of one run.
screen()
{
	local page

	for page in README.md docs/noisy-neighbour.md; do
		sed -n '/^    LAB: /,/^    - *(unattributed)/s/^    //p' "$page" >"$tmp/screen"
		same docs/screen.txt "$tmp/screen" || return 1
	done
}

# A picture that is older than what it shows: tests/docs/report_update makes it anew.
report_picture()
{
	tests/docs/report_update --sum >"$tmp/report.sum" &&
		[ "$(cat "$tmp/report.sum")" = "$(head -n 1 docs/report.txt)" ] &&
		[ "$(stat -c %s docs/report.png)" -lt 300000 ]
}

# 15 minutes are what a reader gives the first page.
readme_length()
{
	[ "$(wc -l <README.md)" -le 120 ]
}

# The words of screens, of --why and of the architecture: a reader looks them up.
glossary()
{
	local term rc=0

	grep -oE '^\| [^|]+ \|' docs/glossary.md | tr -d '|' | tr ',' '\n' |
		sed 's/^ *//; s/ *$//' >"$tmp/terms"
	for term in slowdown incident victim neighbour suspect culprit verdict waiting \
		throttled stolen owner reader interval frame slot holding "hot RMID" \
		"overflow RMID" unattributed attached held box room lab; do
		grep -qxF -- "$term" "$tmp/terms" && continue
		echo "not in docs/glossary.md: $term"
		rc=1
	done
	return $rc
}

# lintian's limit, which the part deb finds only when all is built
line_lengths()
{
	! grep -rnE '.{513}' ./*.md docs tests/README.md --include='*.md' | cut -c1-120 | grep .
}

need mandoc python3-kubernetes python3-yaml
check "cmt(4) has the module's messages" messages
check "cmt(4) has the module's parameters" parameters
check "the example of docs/library.md compiles" example
check "files that are named exist" names
check "functions and files that docs/architecture.md names exist" architecture
check "decisions that are named exist" decisions
check "the udev rule is the package's" rule
check "the version in commands is the module's" version
check "links" links
check "pages are in their index" indexes
check "the status of decisions" statuses
check "the screen of the pages and its picture" screen
check "the picture of the report is of these sources" report_picture
check "README has at most 120 lines" readme_length
check "the glossary has the words of the headline" glossary
check "no line is longer than 512 characters" line_lengths
check "the Kubernetes manifest" /usr/bin/python3 tests/docs/manifest.py \
	docs/examples/cmt-agent-daemonset.yaml
for page in docs/man/*; do
	check "$page: mandoc" mandoc -Tlint -W warning "$page"
done

finish
