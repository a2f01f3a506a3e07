#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: fetching Debian packages by name and unpacking them into trees below .cache for the guests.
# Must not know: what a guest is booted for, or anything of the host but its apt configuration.
#
#   fetch.sh kernel   i386|amd64    tree with boot/vmlinuz-V, boot/config-V and lib/modules/V (depmod has run)
#   fetch.sh userland i386|amd64    tree with cryptsetup, dmsetup, kmod, busybox, e2fsprogs and their libraries
#   fetch.sh headers  i386|amd64    tree with usr/src/linux-headers-V-FLAVOUR, ready for make -C (prefix fixed up)
#   fetch.sh sysroot  i386|amd64    tree to build against for a guest: C library, headers, -dev packages
#   fetch.sh kver     i386|amd64    release (V above, as uname -r) of the kernel tree; headers are of the same V
#   fetch.sh kdir     i386|amd64    the directory to give to make -C when building a module for that kernel
#   fetch.sh mirror   i386|amd64    one line for a sources.list that names the mirror, its keyring and the suite
#   fetch.sh all                    all trees
#
# Prints one line on stdout: the absolute path of the tree (or the release, the directory, the source). All else
# goes to stderr. Exit 0, or 1 with a reason. A tree that is complete is never touched again and costs
# no network; FETCH_REFRESH=1 fetches anew. Calls may run at the same time: they wait for each other.
#
# The mirror is that of the host's own apt configuration (any Debian release does: the guests' suite is
# asked of the same mirror); FETCH_MIRROR and FETCH_KEYRING say otherwise, as a host that is
# not Debian must. apt works in a private state directory: the host's dpkg and apt state is not touched.
# Building a module, for example:
#   make -C "$(tests/vm/fetch.sh kdir amd64)" M="$PWD/build/vm/module" modules
#   make -C "$(tests/vm/fetch.sh kdir i386)" M=… ARCH=i386 CROSS_COMPILE=i686-linux-gnu- modules
set -eu

suite=${FETCH_SUITE:-bookworm}
series=6.1.0
top=$(cd "$(dirname "$0")/../.." && pwd)
cache=${FETCH_CACHE:-$top/.cache}
trees=$cache/trees
component=main

# Roots of the userland; what they depend on comes by itself. libblkid1, libkmod2, libjson-c5 and
# libssl3 are named because hwluks links them whatever cryptsetup does; dash, because busybox's shell
# prefers its own modprobe and the like to the real ones, whatever PATH says.
userland_packages='cryptsetup-bin dmsetup kmod busybox-static dash e2fsprogs
	libcryptsetup12 libblkid1 libdevmapper1.02.1 libkmod2 libjson-c5 libssl3'
# Dependencies that only maintainer scripts use. A guest has no dpkg.
unwanted_packages='debconf cdebconf perl-base dpkg tar gcc-12-base logsave libc-bin'
sysroot_packages='libc6-dev libcryptsetup-dev libblkid-dev libdevmapper-dev libkmod-dev libjson-c-dev
	libssl-dev'

say() { printf 'fetch: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

# One field of the host's own apt configuration for its Debian archive.
# $1: a field name of apt-get indextargets. Prints the first value found, or nothing.
host_target() {
	apt-get indextargets 2>/dev/null | awk -v RS= -v field="$1" '
		/(^|\n)Origin: Debian(\n|$)/ && /(^|\n)Label: Debian(\n|$)/ {
			n = split($0, line, "\n")
			for (i = 1; i <= n; i++)
				if (index(line[i], field ": ") == 1) {
					print substr(line[i], length(field) + 3)
					exit
				}
		}'
}

# The mirror's address, from the index targets, or (where apt-get update never ran, so that apt
# knows no origin yet) from the first source entry that has this or another Debian main component.
host_mirror() {
	mirror=$(host_target Repo-URI)
	if [ -z "$mirror" ]; then
		# shellcheck disable=SC2016 # the fields are apt's to expand
		mirror=$(apt-get indextargets --format '$(REPO_URI) $(COMPONENT)' 2>/dev/null |
			awk '$2 == "main" && !/security/ { print $1; exit }')
	fi
	printf '%s\n' "$mirror"
}

# The keyring that vouches for Debian's archive. Prints a path, or fails.
keyring() {
	for k in "${FETCH_KEYRING:-}" "$(host_target Signed-By)" \
		/usr/share/keyrings/debian-archive-keyring.gpg \
		/usr/share/keyrings/debian-archive-keyring.pgp; do
		if [ -n "$k" ] && [ -r "$k" ]; then
			printf '%s\n' "$k"
			return 0
		fi
	done
	die "no Debian archive keyring found: install debian-archive-keyring, or set FETCH_KEYRING"
}

# apt-get or apt-cache with the private state of one architecture.
# $1: architecture; $2: apt-get or apt-cache; rest: arguments.
private_apt() {
	pa_arch=$1 pa_tool=$2
	shift 2
	"$pa_tool" -q=2 -c "$cache/apt/$pa_arch/apt.conf" "$@"
}

# Writes the private configuration of $1, as the cache may have moved, and fetches its package index, unless there is one.
index_ready() (
	arch=$1
	dir=$cache/apt/$arch
	[ -z "${FETCH_REFRESH:-}" ] || rm -f "$dir/index.ok"
	mirror=${FETCH_MIRROR:-$(host_mirror)}
	[ -n "$mirror" ] || die "apt on this host names no Debian mirror: set FETCH_MIRROR"
	ring=$(keyring)
	mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial" "$dir/none"
	printf 'deb [arch=%s signed-by=%s] %s %s %s\n' "$arch" "$ring" "$mirror" "$suite" "$component" \
		>"$dir/sources.list"
	# A file given with -c is read after the host's own configuration: proxies and the like stay,
	# what would reach into the host's state is cleared.
	cat >"$dir/apt.conf" <<-CONF
		#clear APT::Architectures;
		#clear APT::Update::Pre-Invoke;
		#clear APT::Update::Post-Invoke;
		#clear APT::Update::Post-Invoke-Success;
		#clear DPkg::Pre-Invoke;
		#clear DPkg::Post-Invoke;
		#clear Acquire::IndexTargets::deb-src;
		APT::Architecture "$arch";
		APT::Architectures { "$arch"; };
		APT::Sandbox::User "root";
		APT::Install-Recommends "false";
		APT::Get::Assume-Yes "true";
		Acquire::Languages "none";
		Acquire::Retries "3";
		Acquire::http::Timeout "60";
		Acquire::Check-Valid-Until "false";
		Dir::State "$dir";
		Dir::State::Lists "$dir/lists";
		Dir::State::status "/dev/null";
		Dir::State::extended_states "$dir/extended_states";
		Dir::Cache "$dir/cache";
		Dir::Cache::archives "$dir/cache/archives";
		Dir::Cache::pkgcache "$dir/cache/pkgcache.bin";
		Dir::Cache::srcpkgcache "$dir/cache/srcpkgcache.bin";
		Dir::Etc::SourceList "$dir/sources.list";
		Dir::Etc::SourceParts "$dir/none";
		Dir::Etc::Preferences "$dir/none/preferences";
		Dir::Etc::PreferencesParts "$dir/none";
		Dir::Log "$dir";
	CONF
	[ ! -e "$dir/index.ok" ] || exit 0
	say "package index of $suite $arch"
	# apt's own exit code also tells of files that are not needed here; the test is whether
	# the index answers.
	private_apt "$arch" apt-get update >"$dir/update.log" 2>&1 || true
	if [ -z "$(private_apt "$arch" apt-cache search --names-only '^busybox-static$')" ]; then
		tail -n 20 "$dir/update.log" >&2
		die "no package index for $suite $arch: no network, or the mirror has not this suite"
	fi
	touch "$dir/index.ok"
)

# Downloads packages into the cache and prints the paths of their files.
# $1: architecture; rest: package names. An index that has grown old is renewed once.
download() (
	arch=$1
	shift
	debs=$cache/debs/$arch
	log=$cache/debs/$arch.log
	mkdir -p "$debs"
	cd "$debs"
	if ! private_apt "$arch" apt-get download "$@" >"$log" 2>&1; then
		say "the index may be old: renewing it"
		private_apt "$arch" apt-get update >"$cache/apt/$arch/update.log" 2>&1 || true
		if ! private_apt "$arch" apt-get download "$@" >"$log" 2>&1; then
			tail -n 5 "$log" >&2
			die "cannot download for $arch: $*"
		fi
	fi
	# asked elsewhere, as apt leaves out what is already in the current directory
	cd "$cache/apt/$arch/none"
	private_apt "$arch" apt-get download --print-uris "$@" >"$log"
	# a line is: 'URI' FILE SIZE HASH
	while read -r _ file _; do
		[ -f "$debs/$file" ] || die "$file: downloaded, but not in $debs"
		printf '%s\n' "$debs/$file"
	done <"$log"
)

# All packages that the given ones need, themselves included, less the unwanted ones.
# $1: architecture; rest: package names. Prints one name a line.
closure() (
	arch=$1
	shift
	list=$(private_apt "$arch" apt-get install --print-uris "$@") ||
		die "apt finds no way to install for $arch: $*"
	printf '%s\n' "$list" | sed -n "s/^'[^']*' \([^_]*\)_.*/\1/p" | sort | while read -r p; do
		case " $(printf %s "$unwanted_packages" | tr '\n\t' '  ') " in
		*" $p "*) ;;
		*) printf '%s\n' "$p" ;;
		esac
	done
)

# The newest kernel release of the suite. $1: architecture. Prints for example 6.1.0-50-686.
newest_kernel() {
	flavour=$(flavour "$1")
	v=$(private_apt "$1" apt-cache search --names-only "^linux-image-$series-[0-9]+-$flavour\$" |
		sed -n "s/^linux-image-\($series-[0-9]*-$flavour\) .*/\1/p" |
		sort -t- -k2,2n | tail -n 1)
	[ -n "$v" ] || die "no linux-image-$series-N-$flavour in $suite"
	printf '%s\n' "$v"
}

# Debian's kernel flavour for an architecture. A Geode LX has no PAE, hence 686.
flavour() {
	case $1 in
	i386) echo 686 ;;
	amd64) echo amd64 ;;
	esac
}

# Makes the tree $2 of kind $1 unless it is complete; builds it aside and renames it into place, so that
# a tree that exists under its name is whole.
# $1: kind; $2: architecture; $3: recipe, whose change makes the tree anew.
tree() {
	kind=$1 arch=$2 recipe=$3
	dir=$trees/$kind-$arch
	if [ -z "${FETCH_REFRESH:-}" ] && [ "$(cat "$dir/.complete" 2>/dev/null)" = "$recipe" ]; then
		printf '%s\n' "$dir"
		return 0
	fi
	index_ready "$arch"
	tmp=$dir.new
	rm -rf "$tmp"
	mkdir -p "$tmp"
	say "making $kind for $arch"
	"make_$kind" "$arch" "$tmp" "$dir"
	printf '%s\n' "$recipe" >"$tmp/.complete"
	rm -rf "$dir"
	mv "$tmp" "$dir"
	printf '%s\n' "$dir"
}

# Unpacks files whose names come on standard input into $1.
unpack() {
	while read -r deb; do
		dpkg-deb -x "$deb" "$1" || die "cannot unpack $deb"
		basename "$deb" >>"$1/.packages"
	done
}

# $1: architecture; $2: empty directory to fill.
make_kernel() {
	v=$(newest_kernel "$1")
	files=$(download "$1" "linux-image-$v")
	printf '%s\n' "$files" | unpack "$2"
	# kernel packages carry no modules.dep
	depmod -b "$2" "$v" || die "depmod failed for $v"
	printf '%s\n' "$v" >"$2/.kver"
}

make_userland() {
	# shellcheck disable=SC2086 # lists of names
	names=$(closure "$1" $userland_packages)
	# shellcheck disable=SC2086
	files=$(download "$1" $names)
	printf '%s\n' "$files" | unpack "$2"
	rm -rf "${2:?}/usr/share" "$2/usr/lib/systemd" "$2/lib/systemd" "$2/lib/udev"
	find "$2" -type d \( -name gconv -o -name perl-base \) -prune -exec rm -rf {} +
}

# $3: the name that the tree will have when it is in place.
make_headers() {
	kernel=$(tree kernel "$1" "$(recipe kernel "$1")")
	v=$(cat "$kernel/.kver")
	host=$(dpkg --print-architecture)
	files=$(download "$1" "linux-headers-$v" "linux-headers-${v%-"$(flavour "$1")"}-common")
	printf '%s\n' "$files" | unpack "$2"
	# The helper programs run on the host, so they are fetched for the host's architecture.
	index_ready "$host"
	files=$(download "$host" "linux-kbuild-${series%.0}")
	printf '%s\n' "$files" | unpack "$2"
	files=$(download amd64 linux-compiler-gcc-12-x86) && printf '%s\n' "$files" | unpack "$2"
	sed -i "s|/usr/src/|$3/usr/src/|" "$2/usr/src/linux-headers-$v/Makefile"
	for link in "$2/usr/src/linux-headers-$v/"* "$2/usr/src/linux-headers-"*-common/*; do
		target=$(readlink "$link") || continue
		case $target in
		/*) ln -sfn "$3$target" "$link" ;;
		esac
	done
	printf '%s\n' "$3/usr/src/linux-headers-$v" >"$2/.kdir"
}

make_sysroot() {
	# shellcheck disable=SC2086
	names=$(closure "$1" $sysroot_packages)
	# shellcheck disable=SC2086
	files=$(download "$1" $names)
	printf '%s\n' "$files" | unpack "$2"
	rm -rf "${2:?}/usr/share"
	# Absolute links would lead out of the tree.
	find "$2" -type l | while read -r link; do
		target=$(readlink "$link")
		case $target in
		/*) ln -sfn "$3$target" "$link" ;;
		esac
	done
}

# The text whose change makes a tree of kind $1 for architecture $2 out of date.
recipe() {
	# shellcheck disable=SC2086 # lists of names: one space between them
	case $1 in
	kernel) echo "1 $suite $series" ;;
	userland) echo "1 $suite" $userland_packages ;;
	headers) echo "1 $suite $series $trees" ;;
	sysroot) echo "1 $suite $trees" $sysroot_packages ;;
	esac
}

usage() {
	sed -n '/^#   fetch.sh/s/^# *//p' "$0" >&2
	exit 1
}

what=${1:-}
arch=${2:-}
case $what:$arch in
kernel:i386 | kernel:amd64 | userland:i386 | userland:amd64 | headers:i386 | headers:amd64 | \
	mirror:i386 | mirror:amd64 | sysroot:i386 | sysroot:amd64 | kver:i386 | kver:amd64 | kdir:i386 | kdir:amd64 | all:) ;;
*) usage ;;
esac
for tool in apt-get apt-cache dpkg dpkg-deb depmod flock; do
	command -v "$tool" >/dev/null || [ -x "/sbin/$tool" ] || die "needs the program $tool"
done
PATH=$PATH:/usr/sbin:/sbin
export LC_ALL=C
mkdir -p "$trees"
# one name for a cache that several trees share by a link: recipes and links hold it
cache=$(cd "$cache" && pwd -P)
trees=$cache/trees
exec 9>"$cache/fetch.lock"
flock 9
case $what in
kernel | userland | headers | sysroot) tree "$what" "$arch" "$(recipe "$what" "$arch")" ;;
mirror)
	index_ready "$arch"
	cat "$cache/apt/$arch/sources.list"
	;;
kver)
	dir=$(tree kernel "$arch" "$(recipe kernel "$arch")")
	cat "$dir/.kver"
	;;
kdir)
	dir=$(tree headers "$arch" "$(recipe headers "$arch")")
	cat "$dir/.kdir"
	;;
all)
	for a in i386 amd64; do
		for k in kernel userland headers sysroot; do
			tree $k $a "$(recipe $k $a)"
		done
	done
	;;
esac
