# SPDX-License-Identifier: GPL-2.0-or-later
# bash completion for cmtctl(1)
_cmtctl() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
	local before=${COMP_WORDS[COMP_CWORD-2]} words

	case $prev in
	-d | --device | -f | --file)
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return ;;
	-p | --patterns)
		COMPREPLY=()
		return ;;
	interval)
		words="100us 500us 1ms 10ms 100ms 1s" ;;
	scope)
		words="process container cpu manual" ;;
	attach | detach)
		words="pid cgroup cpu" ;;
	pid)
		words=$(cd /proc && printf '%s ' [0-9]*) ;;
	cgroup)
		mapfile -t COMPREPLY < <(cd /sys/fs/cgroup 2>/dev/null &&
			compgen -d -- "$cur")
		return ;;
	*)
		words="info rmids show stats interval scope attach detach \
			--json --children --patterns --file --force --device \
			--help --version" ;;
	esac
	if [ "$prev" = cpu ] && [[ $before = attach || $before = detach ]]; then
		words=$(cd /sys/devices/system/cpu && printf '%s ' cpu[0-9]*)
		words=${words//cpu/}
	fi
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}
complete -F _cmtctl cmtctl
