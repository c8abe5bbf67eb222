# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Functions of all test and demo scripts.  Source this file; it sets:
#   CMT_TOP    the top of the source tree
#   CMT_CACHE  downloads and unpacked kernels, kept between runs
#   CMT_OUT    build output and logs of the tests, ignored by git
# Messages for people go to stderr, results to stdout.

set -euo pipefail

CMT_TOP=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd -P)
CMT_CACHE=${CMT_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/cmt-lab}
CMT_OUT=${CMT_OUT:-$CMT_TOP/build-tests}
# A script and its child processes count time from the same start.
export CMT_START=${CMT_START:-$(date +%s)}
mkdir -p "$CMT_CACHE" "$CMT_OUT"
# One spelling, from the root: scripts change their directory, and compilers print it so.
CMT_CACHE=$(cd -- "$CMT_CACHE" && pwd -P)
CMT_OUT=$(cd -- "$CMT_OUT" && pwd -P)
export CMT_CACHE CMT_OUT

# say TEXT...: one line with the time since the start of the run
say()
{
	local t=$(($(date +%s) - CMT_START))

	printf '[%2d:%02d] %s\n' $((t / 60)) $((t % 60)) "$*" >&2
}

# die WHAT [WHAT TO DO]: end the script with status 1
die()
{
	printf '%s: error: %s\n' "${0##*/}" "$1" >&2
	if [ $# -gt 1 ]; then
		printf '%s: %s\n' "${0##*/}" "$2" >&2
	fi
	exit 1
}

# usage_error WHAT: end the script with status 2, for an unknown option or name
usage_error()
{
	printf '%s: %s\n' "${0##*/}" "$1" >&2
	printf 'Try: %s --help\n' "$0" >&2
	exit 2
}

# tracked: print the files that git knows or would add.  In a copy without .git: all
# files but build output.
tracked()
{
	(cd "$CMT_TOP" && if [ -e .git ]; then
		git ls-files --cached --others --exclude-standard |
			while read -r f; do
				[ ! -e "$f" ] || printf '%s\n' "$f"
			done
	else
		find . -type f ! -path './build*' ! -name '.*' -printf '%P\n'
	fi)
}

# module_files: print the files that a build of the module needs, relative to module/
module_files()
{
	(cd "$CMT_TOP/module" &&
		find . -name '*.[ch]' ! -name '*.mod.c' -printf '%P\n' &&
		printf '%s\n' Kbuild Makefile)
}

# copy_module DIR: copy these files to DIR
copy_module()
{
	local files

	mkdir -p "$1"
	mapfile -t files < <(module_files)
	(cd "$CMT_TOP/module" && cp --parents -t "$1" -- "${files[@]}")
}

# cmt_version: of the module, the library and the tools
cmt_version()
{
	sed -n 's/^#define CMT_VERSION "\(.*\)"$/\1/p' "$CMT_TOP/module/version.h"
}

# version_header DIR: make DIR/cmt/version.h, for a compilation without cmake
version_header()
{
	local version major minor patch

	version=$(cmt_version)
	IFS=. read -r major minor patch <<<"$version"
	mkdir -p "$1/cmt"
	sed "s/@PROJECT_VERSION@/$version/
		s/@PROJECT_VERSION_MAJOR@/$major/
		s/@PROJECT_VERSION_MINOR@/$minor/
		s/@PROJECT_VERSION_PATCH@/$patch/" \
		"$CMT_TOP/libcmt/version.h.in" >"$1/cmt/version.h"
}

# log_tail FILE [LINES]: print what failed by a log, and its end, indented
log_tail()
{
	printf -- '----- %s: what failed, and its last lines\n' "$1" >&2
	grep -E -A 6 -e 'FAIL: ' -e '[0-9]:[FE]:' -- "$1" | head -n 60 | sed 's/^/    /' >&2 || true
	tail -n "${2:-25}" -- "$1" | sed 's/^/    /' >&2
	printf -- '-----\n' >&2
}

# The heartbeat keeps no descriptor of the caller open: no pipe whose reader waits for
# the end of file, and no lock (descriptor 9 by convention).
heartbeat()
{
	exec </dev/null >/dev/null 9>&-
	trap 'kill "$!"; exit' TERM
	while :; do
		sleep 15 2>/dev/null &
		wait "$!"
		say "$1: going on"
	done
}

# step LOG TEXT COMMAND...: run COMMAND with its output in LOG.  Print TEXT when the
# command begins, every 15 s, and when it has ended.  The status is the command's.
step()
{
	local log=$1 text=$2 start beat rc=0
	shift 2

	mkdir -p "$(dirname -- "$log")"
	start=$(date +%s)
	say "$text"
	heartbeat "$text" &
	beat=$!
	"$@" >"$log" 2>&1 </dev/null || rc=$?
	kill "$beat" 2>/dev/null || true
	wait "$beat" 2>/dev/null || true
	if [ "$rc" -ne 0 ]; then
		say "$text: failed, status $rc, after $(($(date +%s) - start)) s"
		log_tail "$log"
		return "$rc"
	fi
	say "$text: done in $(($(date +%s) - start)) s"
}

may_be_root()
{
	[ "$(id -u)" -eq 0 ] || command -v sudo >/dev/null
}

# as_root COMMAND...
as_root()
{
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo -- "$@"
	else
		die "root is needed for: $*" \
			"run it as root, or install sudo"
	fi
}

# as_only_installer COMMAND...: as root, and one at a time: two that run at once fail.
# What the command starts does not inherit the lock.
as_only_installer()
{
	(flock 8 && as_root env DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 \
		"$@" 8>&-) 8>"$CMT_CACHE/apt.lock"
}

apt_get()
{
	as_only_installer apt-get -q "$@"
}

# An apt or dpkg that was killed leaves packages half configured, and apt refuses all
# work until dpkg has configured them.
finish_interrupted_dpkg()
{
	step "$1" "an earlier installation was interrupted: dpkg --configure -a" \
		as_only_installer dpkg --force-confdef --force-confold --configure -a ||
		die "dpkg --configure -a failed, after an earlier installation was interrupted" \
			"see $1"
}

apt_update()
{
	step "$CMT_OUT/apt-update.log" "refreshing the package lists" \
		apt_get update ||
		die "apt-get update failed" \
			"check the network and /etc/apt/sources.list"
}

# apt_lists: refresh the package lists when there are none
apt_lists()
{
	if [ -z "$(find /var/lib/apt/lists -maxdepth 1 -name '*Packages*' \
			-print -quit 2>/dev/null)" ]; then
		apt_update
	fi
}

# One call for all of them: hundreds of small processes are seconds on some machines.
missing_packages()
{
	# shellcheck disable=SC2016
	{ dpkg-query -W -f '${Package} ${Status}\n' "$@" 2>/dev/null || true; } |
		awk 'BEGIN { for (i = 1; i < ARGC; i++) wanted[i] = ARGV[i]; n = ARGC; ARGC = 1 }
		/ install ok installed$/ { installed[$1] = 1 }
		END { for (i = 1; i < n; i++) if (!(wanted[i] in installed)) print wanted[i] }' "$@"
}

apt_install()
{
	apt_get install -y --no-install-recommends \
		-o DPkg::Lock::Timeout=300 "$@"
}

# The packages that a build of the module needs.  perl is for kernel-doc (W=1); pahole
# makes BTF where the headers have a vmlinux, as those of Debian's 6.12.
# shellcheck disable=SC2034
module_packages=(make gcc-12 gcc libelf1 perl pahole)

# need PACKAGE...: install the packages that are missing
need()
{
	local missing log=$CMT_OUT/apt-install.log

	mapfile -t missing < <(missing_packages "$@")
	[ "${#missing[@]}" -eq 0 ] && return 0
	command -v apt-get >/dev/null ||
		die "missing: ${missing[*]}" \
			"this machine has no apt: install them by hand"
	may_be_root ||
		die "missing: ${missing[*]}" \
			"as root: apt-get install --no-install-recommends ${missing[*]}"
	apt_lists
	step "$log" "installing ${missing[*]}" apt_install "${missing[@]}" && return 0
	if grep -q 'dpkg --configure -a' "$log"; then
		finish_interrupted_dpkg "$CMT_OUT/dpkg-configure.log"
	else
		# The lists may name versions that the mirror has replaced.
		apt_update
	fi
	step "$log" "installing again" apt_install "${missing[@]}" ||
		die "could not install ${missing[*]}" "see $log"
}

# cache_compiler: with ccache, where it is installed, the compilers take what they made of
# the same source before, in this checkout or in another one.  Paths in the checkout are
# compared as relative ones; so debugging information may name another checkout.
cache_compiler()
{
	export PATH=/usr/lib/ccache:$PATH CCACHE_DIR=$CMT_CACHE/ccache CCACHE_MAXSIZE=1G
	export CCACHE_BASEDIR=$CMT_TOP CCACHE_NOHASHDIR=1
}
