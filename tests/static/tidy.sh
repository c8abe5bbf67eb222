# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# clang-tidy over the sources, for the parts static and static-long.

# shellcheck disable=SC2034
tidy_packages=(clang clang-tidy cmake make pkg-config libc6-dev libcap-dev linux-libc-dev
	libjson-c-dev libzstd-dev zlib1g-dev libmicrohttpd-dev libncurses-dev
	libseccomp-dev)

# Warnings of the compiler are those of the builds.
# tidy_run REGEX [CHECKS]: of the sources whose path begins with REGEX
tidy_run()
{
	local build=$CMT_OUT/tidy

	cmake -S "$CMT_TOP" -B "$build" -DCMAKE_C_COMPILER=clang \
		-DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DBUILD_TESTING=OFF \
		-DCMAKE_C_FLAGS=-w >"$build.log" 2>&1 ||
		{ cat "$build.log"; echo "error: cmake failed"; return 1; }
	run-clang-tidy -quiet -p "$build" -j2 ${2:+"-checks=$2"} "^$1.*\.c\$" 2>"$build.err" ||
		true
}
