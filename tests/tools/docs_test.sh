#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The manual pages say what --help does, and the completions offer it: --help
# and they are printed from the tables of each program.
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

# It takes a library that may be missing.
exporter=cmt-exporter
[ -x "$bin/$exporter" ] || exporter=

# subs TOOL: its sub-commands.
subs() {
	"$bin/$1" --help | sed -n "s/^       $1 \\([a-z |]*\\) \\.\\.\\./\\1/p" |
		tr -d '|'
}

# own FILE SUBS: what of a manual page is not in the sections of sub-commands.
own() {
	awk -v subs=" $2 " '/^\.Sh / { skip = NF == 2 && index(subs, " " tolower($2) " ") }
		!skip' "$1"
}

# section FILE SUB: what is.
section() {
	awk -v sub_="$2" '/^\.Sh / { take = NF == 2 && tolower($2) == sub_ } take' "$1"
}

# options MAN ZSH FISH BASH COMMAND...: the files say what --help of the command does,
# one "b by" or "- by" for each option.
options() {
	page=$1 zsh=$2 fish=$3 bash=$4
	shift 4
	"$@" --help | sed -n -e 's/^  -\(.\), --\([a-z-]*\).*/\1 \2/p' \
		-e 's/^      --\([a-z-]*\).*/- \1/p' | sort >"$scratch/help"
	checks=$((checks + 1))
	[ "$(wc -l <"$scratch/help")" -ge 3 ] || fail "$* --help: no options"
	sed -n -e 's/^\.It Fl \(.\) , -\([a-z-]*\).*/\1 \2/p' \
		-e 's/^\.It Fl -\([a-z-]*\).*/- \1/p' "$page" | sort >"$scratch/man"
	equal "$*: manual page and --help differ" "$scratch/help" "$scratch/man"
	sed -n -e "s/.*'{-\\(.\\),--\\([a-z-]*\\)}'.*/\\1 \\2/p" \
		-e "s/.*'\\*--\\([a-z-]*\\)\\[.*/- \\1/p" "$zsh" | sort >"$scratch/zsh"
	equal "$*: zsh completion and --help differ" "$scratch/help" \
		"$scratch/zsh"
	sed -n -e 's/.* -s \(.\) -l \([a-z-]*\) .*/\1 \2/p' -e '/ -s . -l /d' \
		-e 's/.* -l \([a-z-]*\) .*/- \1/p' "$fish" | sort >"$scratch/fish"
	equal "$*: fish completion and --help differ" "$scratch/help" \
		"$scratch/fish"
	cut -d' ' -f2 "$scratch/help" | sort >"$scratch/long"
	grep -o -e '--[a-z][a-z-]*' "$bash" | sed 's/^--//' |
		sort -u >"$scratch/bash"
	equal "$*: bash completion and --help differ" "$scratch/long" \
		"$scratch/bash"
}

# in_synopsis PAGE: it has each option of $scratch/help, by the letter if there is one.
in_synopsis() {
	sed -e 's/^- /-/' -e 's/^\(.\) .*/\1/' "$scratch/help" | sort >"$scratch/wanted"
	awk '/^\.Sh / { take = $2 == "SYNOPSIS" } take' "$1" |
		sed -n -e 's/^\.Op Fl \([^ ]*\).*/\1/p' -e 's/^\.Fl \(.\) | \(.\)$/\1\n\2/p' |
		sort >"$scratch/synopsis"
	equal "$1: synopsis and --help differ" "$scratch/wanted" "$scratch/synopsis"
}

# parts DIR TOOL FUNCTION FISH_PATTERN: of its completions, what of them is for one
# function of the shells; -: for none of a sub-command.
parts() {
	if [ "$3" = - ]; then
		sed "/^_$2_[a-z]*()/,/^}/d" "$1/_$2" >"$scratch/part.zsh"
		grep -v "from [a-z]*' .*-l" "$1/$2.fish" >"$scratch/part.fish"
		grep "'not .*-l" "$1/$2.fish" >>"$scratch/part.fish"
		sort -u -o "$scratch/part.fish" "$scratch/part.fish"
		sed -n "/^_$2()/,/^}/p" "$1/$2.bash" >"$scratch/part.bash"
	else
		sed -n "/^$3()/,/^}/p" "$1/_$2" >"$scratch/part.zsh"
		grep "'__fish_seen_subcommand_from $4'" "$1/$2.fish" >"$scratch/part.fish"
		sed -n "/^$3()/,/^}/p" "$1/$2.bash" >"$scratch/part.bash"
	fi
}

for tool in cmtstat cmtctl $exporter; do
	man=$top/docs/man/$tool.1
	dir=$bin/completions.d
	subs=$(subs "$tool")
	own "$man" "$subs" >"$scratch/page"
	parts "$dir" "$tool" - -
	options "$scratch/page" "$scratch/part.zsh" "$scratch/part.fish" \
		"$scratch/part.bash" "$bin/$tool"
	# The others have too many for one.
	[ "$tool" != cmt-exporter ] || in_synopsis "$man"
	for sub in $subs; do
		section "$man" "$sub" >"$scratch/page"
		parts "$dir" "$tool" "_${tool}_$sub" "$sub"
		options "$scratch/page" "$scratch/part.zsh" \
			"$scratch/part.fish" "$scratch/part.bash" \
			"$bin/$tool" "$sub"
	done
	"$bin/$tool" --help | sed -n 's/^  \([a-z][a-z]*\) .*/\1/p' >"$scratch/wanted"
	checks=$((checks + 1))
	[ "$tool" = cmt-exporter ] || [ "$(wc -l <"$scratch/wanted")" -ge 5 ] ||
		fail "$tool --help: no commands"
	for file in "$tool.bash" "_$tool" "$tool.fish"; do
		while read -r command; do
			grep -qw "$command" "$dir/$file" || echo "$command"
		done <"$scratch/wanted" >"$scratch/missing"
		equal "$file: lacks commands" /dev/null "$scratch/missing"
	done
	for shell in bash zsh fish; do
		command -v $shell >/dev/null || continue
		checks=$((checks + 1))
		case $shell in
		bash)	file=$dir/$tool.bash ;;
		zsh)	file=$dir/_$tool ;;
		fish)	file=$dir/$tool.fish ;;
		esac
		HOME=$scratch $shell -n "$file" 2>"$scratch/err" ||
			fail "$file does not parse"
	done

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

# bounds OPTION COMMAND...: the manual page has the numbers of the message about a wrong value
bounds() {
	option=$1
	shift
	if [ $# -gt 1 ]; then
		section "$top/docs/man/${1##*/}.1" "$2"
	else
		own "$top/docs/man/${1##*/}.1" "$(subs "${1##*/}")"
	fi | awk -v option="-$option" '/^\.(It|El)/ { take = index($0 " ", option " ") } take' \
		>"$scratch/paragraph"
	run 2 "$@" "--$option" no-value
	sed -n "1s/.* is not //p" "$scratch/err" | grep -oE '(from|to|of at (least|most)) [0-9][0-9.a-zA-Z]*' |
		sed 's/.* //' >"$scratch/numbers"
	checks=$((checks + 1))
	[ -s "$scratch/numbers" ] || fail "$* --$option: no numbers"
	while read -r number; do
		checks=$((checks + 1))
		grep -qw -e "$number" "$scratch/paragraph" ||
			fail "$* --$option: $number is not in the manual page"
	done <"$scratch/numbers"
}
bounds interval "$bin/cmtstat"
bounds interval "$bin/cmtctl"
for option in duration max-size max-files keep max-memory distance; do
	bounds $option "$bin/cmtstat" record
done
bounds grain "$bin/cmtstat" export
bounds size "$bin/cmtstat" report
[ ! "$exporter" ] || for option in interval max-containers; do
	bounds $option "$bin/$exporter"
done

# A service has no completion.
"$bin/cmt-names" --help | sed -n 's/^  -\(.\), --\([a-z-]*\).*/\1 \2/p' |
	sort >"$scratch/help"
sed -n 's/^\.It Fl \(.\) , -\([a-z-]*\).*/\1 \2/p' \
	"$top/docs/man/cmt-names.8" | sort >"$scratch/man"
checks=$((checks + 1))
[ "$(wc -l <"$scratch/help")" -ge 4 ] || fail "cmt-names --help: no options"
equal "cmt-names: manual page and --help differ" "$scratch/help" "$scratch/man"
in_synopsis "$top/docs/man/cmt-names.8"
"$bin/ship/cmt-ship" --help | sed -n 's/^  -\(.\), --\([a-z-]*\).*/\1 \2/p' |
	sort >"$scratch/help"
sed -n 's/^\.It Fl \(.\) , -\([a-z-]*\).*/\1 \2/p' \
	"$top/docs/man/cmt-ship.8" | sort >"$scratch/man"
checks=$((checks + 1))
[ "$(wc -l <"$scratch/help")" -ge 4 ] || fail "cmt-ship --help: no options"
equal "cmt-ship: manual page and --help differ" "$scratch/help" "$scratch/man"
in_synopsis "$top/docs/man/cmt-ship.8"

# offer "WORDS": what bash offers after the words, the last of which is being typed
offer() {
	checks=$((checks + 1))
	# shellcheck disable=SC2016 # the other bash expands it
	bash -c 'tool=${2%% *}
		. "$1/$tool.bash" && read -ra COMP_WORDS <<<"$2."
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		COMP_WORDS[COMP_CWORD]=${COMP_WORDS[COMP_CWORD]%.}
		"_$tool" && echo "${COMPREPLY[@]}"' \
		bash "$bin/completions.d" "$1" >"$scratch/out" 2>"$scratch/err" ||
		fail "'$1': the completion fails"
}

# completes "WORDS" EXPECTED: the beginning of what is offered
completes() {
	offer "$1"
	case "$(cat "$scratch/out")" in
	"$2"*)	;;
	*)	fail "'$1' is not completed to '$2'" ;;
	esac
}

completes_nothing() {
	offer "$1"
	! grep -q . "$scratch/out" || fail "'$1' is completed"
}
completes "cmtstat --b" "--by"
completes "cmtstat --by " "container process cpu domain"
completes "cmtstat -s bu" "busy"
completes_nothing "cmtstat -i "
completes "cmtstat rec" "record"
completes "cmtstat record --out" "--output"
completes "cmtstat record -o /proc/moun" "/proc/mounts"
for sub in replay report export diff; do
	completes "cmtstat $sub /proc/moun" "/proc/mounts"
	completes "cmtstat $sub --help /proc/moun" "/proc/mounts"
	completes "cmtstat $sub --he" "--help"
done
completes "cmtctl " "--json --children --interval --count --patterns --file --force --device --help --version info rmids show stats uncore interval scope resctrl attach detach measure save doctor selftest"
completes "cmtctl res" "resctrl"
completes "cmtctl scope " "process container cpu manual"
completes "cmtctl --json attach c" "cgroup cpu"
completes "cmtctl attach pid $$" "$$"
completes "cmtctl mea" "measure"
completes "cmtctl -j measure c" "cgroup cpu"
completes "cmtctl measure pid $$" "$$"
[ ! -d /sys/devices/system/cpu/cpu0 ] || completes "cmtctl attach cpu 0" "0"
completes "cmtctl scope cpu --js" "--json"
completes "cmtctl -d /proc/sel" "/proc/self"
[ ! "$exporter" ] || completes "cmt-exporter --max" "--max-containers"
[ ! "$exporter" ] || completes "cmt-exporter --hist" "--histograms"
completes "cmtctl --file /proc/moun" "/proc/mounts"

# The programs take the commands that the documents show.  They run on the device of
# fake_device.c, which goes away soon; no recorder is asked to save, and nothing is measured.
mkdir "$scratch/commands"
{
	grep -hE '^    (sudo )?(cmtstat|cmtctl) ' "$top/README.md" "$top"/docs/*.md
	sed -n 's/^\.Dl [$#] \(cmt\)/    \1/p' "$top"/docs/man/*
} | grep -v -e ' -> ' -e 'cmtctl save' |
	sed -e 's/^ *\(sudo \)\{0,1\}//' -e 's/\( [#|>]\|;\).*//' -e 's/ -- .*/ -- true/' \
		-e 's|/var/tmp|.|' | sort -u >"$scratch/all"
checks=$((checks + 1))
[ "$(wc -l <"$scratch/all")" -ge 30 ] || fail "the documents have few commands"
while read -r tool arguments; do
	checks=$((checks + 1))
	(cd "$scratch/commands" && eval "CMT_FAKE=gone timeout 10 \"$bin/${tool}_fake\" $arguments") \
		>"$scratch/out" 2>"$scratch/err" </dev/null
	status=$?
	# a usage error, what the shell says of what it cannot read; it did not end, or not run
	! grep -q -e '^usage: ' -e "^$0: " "$scratch/err" || fail "refused: $tool $arguments"
	case $status in
	12[4-7])	fail "status $status: $tool $arguments" ;;
	esac
done <"$scratch/all"

# The statistics of the module are those of cmtctl.
sed -n '/^struct cmt_stats {/,/^}/s/^\t__[a-z0-9_]* \([a-z_]*\);.*/\1/p' "$top/module/uapi/cmt.h" |
	grep -vx -e size -e flags | sort >"$scratch/wanted"
checks=$((checks + 1))
[ "$(wc -l <"$scratch/wanted")" -ge 20 ] || fail "no statistics"
"$bin/cmtctl_fake" stats --json | grep -o '"[a-z_0-9]*":' | tr -d '":' | grep -vx emulated |
	sort >"$scratch/fields"
equal "cmtctl stats lacks some, or has more" "$scratch/wanted" "$scratch/fields"

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

# So is every field of a measurement, and of a self-test.
for page in cmtctl selftest cmtstat; do
	manual=$page
	[ $page != selftest ] || manual=cmtctl
	if [ $page = selftest ]; then
		CMT_FAKE=hardware "$bin/cmtctl_fake" -j selftest 2>/dev/null
	elif [ $page = cmtctl ]; then
		CMT_FAKE=twice "$bin/cmtctl_fake" -j -n 1 -i 0.01 measure cpu 0
	else
		CMT_FAKE=twice "$bin/cmtstat_fake" -j -- true 2>&1
	fi | grep -o '"[a-z_]*":' | tr -d '":' | sort -u >"$scratch/fields"
	checks=$((checks + 1))
	[ "$(wc -l <"$scratch/fields")" -ge 20 ] || fail "$page: no fields"
	while read -r field; do
		checks=$((checks + 1))
		grep -hE "^\.(It )?Va" "$top/docs/man/cmtctl.1" \
			"$top/docs/man/$manual.1" | grep -qw "$field" ||
			fail "$field: not in $manual.1"
	done <"$scratch/fields"
done

finish
