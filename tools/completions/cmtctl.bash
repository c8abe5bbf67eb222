# SPDX-License-Identifier: GPL-2.0-or-later
# bash completion for cmtctl(1)
_cmtctl() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}

	case $prev in
	-d | --device)
		mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
	interval)
		mapfile -t COMPREPLY < <(compgen -W \
			"100us 500us 1ms 10ms 100ms 1s" -- "$cur") ;;
	*)
		mapfile -t COMPREPLY < <(compgen -W \
			"info rmids stats interval \
			--json --device --help --version" -- "$cur") ;;
	esac
}
complete -F _cmtctl cmtctl
