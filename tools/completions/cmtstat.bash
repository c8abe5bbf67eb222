# SPDX-License-Identifier: GPL-2.0-or-later
# bash completion for cmtstat(1)
_cmtstat() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}

	case $prev in
	-b | --by)
		mapfile -t COMPREPLY < <(compgen -W \
			"container process cpu domain" -- "$cur") ;;
	-s | --sort)
		mapfile -t COMPREPLY < <(compgen -W \
			"occupancy total local name number rmids busy" \
			-- "$cur") ;;
	-d | --device)
		mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
	-i | --interval | -n | --count | -t | --top | -f | --filter)
		COMPREPLY=() ;;
	*)
		mapfile -t COMPREPLY < <(compgen -W \
			"--by --expand --interval --count --json --csv --plain --sort \
			--top --filter --device --help --version" -- "$cur") ;;
	esac
}
complete -F _cmtstat cmtstat
