#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What --help, the manual pages and the completions say is the same: all come
# down to the one option table of each program, which --help is printed from.
# usage: docs_test.sh DIRECTORY_OF_THE_PROGRAMS
set -u
bin=$1
top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

# equal WHAT FILE FILE
equal() {
	checks=$((checks + 1))
	diff "$2" "$3" >"$scratch/out" || fail "$1"
}

for tool in cmtstat cmtctl; do
	man=$top/docs/man/$tool.1
	dir=$top/tools/completions

	# "b by", one line an option, from each source.
	"$bin/$tool" --help |
		sed -n 's/^  -\(.\), --\([a-z]*\).*/\1 \2/p' |
		sort >"$scratch/help"
	checks=$((checks + 1))
	[ "$(wc -l <"$scratch/help")" -ge 4 ] || fail "$tool --help: no options"
	sed -n 's/^\.It Fl \(.\) , -\([a-z]*\).*/\1 \2/p' "$man" |
		sort >"$scratch/man"
	equal "$tool: manual page and --help differ" "$scratch/help" \
		"$scratch/man"
	sed -n "s/.*'{-\(.\),--\([a-z]*\)}'.*/\1 \2/p" "$dir/_$tool" |
		sort >"$scratch/zsh"
	equal "$tool: zsh completion and --help differ" "$scratch/help" \
		"$scratch/zsh"
	sed -n 's/.* -s \(.\) -l \([a-z]*\) .*/\1 \2/p' "$dir/$tool.fish" |
		sort >"$scratch/fish"
	equal "$tool: fish completion and --help differ" "$scratch/help" \
		"$scratch/fish"
	cut -d' ' -f2 "$scratch/help" | sort >"$scratch/long"
	grep -o -e '--[a-z][a-z]*' "$dir/$tool.bash" | sed 's/^--//' |
		sort -u >"$scratch/bash"
	equal "$tool: bash completion and --help differ" "$scratch/long" \
		"$scratch/bash"
	checks=$((checks + 1))
	bash -n "$dir/$tool.bash" 2>"$scratch/err" || fail "$tool.bash"

	if command -v mandoc >/dev/null; then
		checks=$((checks + 1))
		mandoc -Tlint -W warning "$man" >"$scratch/out" ||
			fail "mandoc: $man"
	fi
	for section in "EXIT STATUS" EXAMPLES FILES "SEE ALSO"; do
		checks=$((checks + 1))
		grep -q "^\.Sh $section" "$man" || fail "$man: no $section"
	done
done

# Every field of the machine formats is in the manual page.
for by in container process cpu domain; do
	"$bin/cmtstat_fake" -i 0.01 -n 1 --by $by --csv |
		head -n 1 | tr ',' '\n' >"$scratch/fields"
	checks=$((checks + 1))
	[ "$(wc -l <"$scratch/fields")" -ge 10 ] || fail "no fields by $by"
	while read -r field; do
		checks=$((checks + 1))
		grep -E "^\.(It )?Va" "$top/docs/man/cmtstat.1" |
			grep -qw "$field" || fail "$field: not in cmtstat.1"
	done <"$scratch/fields"
done

finish
