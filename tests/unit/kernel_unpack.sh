#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# kernel_unpack.sh SOURCE: a kernel that is unpacked in part never gets into the cache.  The
# scripts of tests/vm run with an apt, packages and a dpkg-deb that are made up.  dpkg-deb
# unpacks a package whose name matches the pattern in $state/bad, and fails.
set -eu
vm=$1/tests/vm
state=$(mktemp -d)
trap 'rm -rf -- "$state"' EXIT
export CMT_CACHE=$state/cache CMT_OUT=$state/out state
export PATH=$state/bin:$PATH
mkdir "$state/bin"
bad=0
release=6.1.0-9-amd64

# fake NAME: standard input is its text
fake()
{
	{
		echo '#!/bin/bash'
		cat
	} >"$state/bin/$1"
	chmod 755 "$state/bin/$1"
}

fake id <<<'echo 0'
fake apt-config <<<'exit 0'
fake dpkg-query <<'END'
shift 3
printf '%s install ok installed\n' "$@"
END
fake find <<'END'
case "$1" in
/var/lib/apt/lists)	echo made-up_Packages ;;
*)			exec /usr/bin/find "$@" ;;
esac
END
fake apt-cache <<'END'
case "${*: -1}" in
linux-image-amd64)	depends=linux-image-6.1.0-9-amd64 ;;
linux-image-*)		depends=linux-base-6.1.0-9-amd64 ;;
linux-headers-*)	depends="linux-headers-6.1.0-9-common linux-kbuild-6.1" ;;
esac
printf 'Version: 6.1.0-9\n'
printf 'Depends: %s\n' $depends
END
fake apt-get <<'END'
case " $* " in
*" indextargets "*)	echo http://made-up bookworm main ;;
*" download "*)
	for name; do
		[[ $name != linux-* ]] || tar -C "$state/packages/$name" -cf "$name.deb" .
	done ;;
esac
END
fake dpkg-deb <<'END'
case "$1" in
-x)	tar -C "$3" -xf "$2" ;;
*)	cat "$2" ;;
esac
[[ ${2##*/} != $(cat "$state/bad") ]] || exit 2
END
fake unshare <<'END'
shift 3
exec "$@"
END
fake mmdebstrap <<'END'
for arg; do
	[[ $arg != /*/root ]] || mkdir -p "$arg/usr/src/linux-headers-6.1.0-9-amd64"
done
END
fake readelf <<'END'
! grep -q PVH "${*: -1}" || echo "note type: (0x00000012)"
END
# It is not everywhere that unit tests run.
fake zstd <<'END'
tail -c +5
[[ zstd != $(cat "$state/bad") ]] || exit 1
END

# packaged PACKAGE FILE: standard input is its text
packaged()
{
	mkdir -p "$(dirname "$state/packages/$1/$2")"
	cat >"$state/packages/$1/$2"
}

packaged linux-image-$release boot/vmlinuz-$release <<<image
packaged linux-image-$release lib/modules/$release/kernel/good.ko.xz < <(xz <<<good)
packaged linux-image-$release lib/modules/$release/kernel/cut.ko.xz < <(xz <<<cut | head -c 30)
packaged linux-image-$release boot/config-$release <<<config
packaged linux-base-$release usr/share/base <<<base
packaged linux-headers-$release usr/src/linux-headers-$release/Makefile <<<'include /usr/src/common'
packaged linux-headers-6.1.0-9-common usr/src/linux-headers-6.1.0-9-common/Makefile <<<common
packaged linux-kbuild-6.1 usr/lib/linux-kbuild-6.1/fixdep <<<kbuild

# expect CONDITION...: of the last run
expect()
{
	"$@" && return
	echo "$what: status $status, printed '$printed': not $*"
	sed 's/^/    /' "$state/said"
	bad=1
}

# run BAD SCRIPT ARGUMENT...: with no kernel in the cache; what it printed is in $printed
run()
{
	echo "$1" >"$state/bad"
	shift
	status=0
	printed=$("$vm/$1" "${@:2}" 2>"$state/said") || status=$?
}

# expect_kernel BAD FLAVOUR: all of its packages, or if one is bad, nothing
expect_kernel()
{
	what="$2, bad: $1"
	rm -rf "$state/cache"
	run "$1" kernel "$2"
	if [ "$1" = none ]; then
		expect [ "$status" -eq 0 ]
		expect [ "$(cat "$printed/vmlinuz" "$printed/config" "$printed/release" || true)" = \
			$'image\nconfig\n'$release ]
	else
		expect [ "$status" -ne 0 ]
		expect [ -z "$(find "$state/cache/kernels" -name release)" ]
	fi
}

for package in none 'linux-image-*' 'linux-headers-*-amd64*' 'linux-headers-*-common*' \
		'linux-kbuild-*'; do
	expect_kernel "$package" 6.1
done
for package in none 'linux-image-*' 'linux-base-*'; do
	expect_kernel "$package" next-trixie
done

expect_kernel none 6.1
what="a module"
run none kernel-module 6.1 good
expect [ "$status" -eq 0 ]
expect [ "$(cat "$printed" || true)" = good ]
what="a module that cannot be uncompressed"
run none kernel-module 6.1 cut
expect [ "$status" -ne 0 ]
expect [ ! -e "$CMT_CACHE/kernels/modules-$release/cut.ko" ]

# bytes NUMBER: as four bytes, the lowest first
bytes()
{
	local i

	for i in 0 8 16 24; do
		# shellcheck disable=SC2059 # an octal number
		printf "\\$(printf '%03o' $(($1 >> i & 255)))"
	done
}

# zeros_until OFFSET
zeros_until()
{
	truncate -s "$1" "$state/vmlinuz"
}

# make_vmlinuz PAYLOAD: with the boot header of tests/vm/vmlinux, and one sector of set-up
make_vmlinuz()
{
	: >"$state/vmlinuz"
	zeros_until $((0x1f1))
	printf '\1' >>"$state/vmlinuz"
	zeros_until $((0x248))
	{ bytes 7; bytes "$(stat -c %s "$1")"; } >>"$state/vmlinuz"
	zeros_until $((2 * 512 + 7))
	cat "$1" <(echo behind) >>"$state/vmlinuz"
}

# expect_unpacked BAD WHAT: what is unpacked, or no path
expect_unpacked()
{
	run "$1" vmlinux "$state/vmlinuz"
	expect [ "$status" -eq 0 ]
	expect [ "$printed" != "$state/vmlinuz" ]
	expect [ "$(cat "$printed" || true)" = "$2" ]
}

# expect_packed: the vmlinuz, at once and from then on
expect_packed()
{
	for _ in 1 2; do
		run none vmlinux "$state/vmlinuz"
		expect [ "$status" -eq 0 ]
		expect [ "$printed" = "$state/vmlinuz" ]
	done
}

# pack FORMAT TEXT: as the kernel's build does; gzip's own last bytes are the size
pack()
{
	case "$1" in
	xz)	xz --check=crc32 <<<"$2" ;;
	zstd)	printf '\x28\xb5\x2f\xfd%s\n' "$2" ;;
	gzip)	gzip <<<"$2"
		return ;;
	none)	printf '%s\n' "$2" ;;
	esac
	bytes 42
}

for format in xz zstd gzip; do
	what="a vmlinuz, packed with $format"
	pack $format "PVH $format" >"$state/payload"
	make_vmlinuz "$state/payload"
	expect_unpacked none "PVH $format"
	what="the same without PVH"
	pack $format "$format" >"$state/payload"
	make_vmlinuz "$state/payload"
	expect_packed
done
what="an unknown payload"
pack none PVH >"$state/payload"
make_vmlinuz "$state/payload"
expect_packed
what="a program that fails once"
pack zstd "PVH once" >"$state/payload"
make_vmlinuz "$state/payload"
run zstd vmlinux "$state/vmlinuz"
expect [ "$status" -ne 0 ]
expect_unpacked none "PVH once"
what="a payload that is cut"
pack xz "PVH cut" | head -c 40 >"$state/payload"
make_vmlinuz "$state/payload"
run none vmlinux "$state/vmlinuz"
expect [ "$status" -ne 0 ]
exit "$bad"
