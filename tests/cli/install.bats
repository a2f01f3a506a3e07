#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# install, uninstall and dist put the right files at the right places, and nothing elsewhere.

setup() {
	TOP=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	cd "$TOP"
	dest=$BATS_TEST_TMPDIR/dest
	export LC_ALL=C
	unset MAKEFLAGS MAKELEVEL
}

# make without a rebuild of the program under test: -o takes it as it is.
mk() { make --no-print-directory -o "$BUILD/hwluks" BUILD="$BUILD" "$@"; }

installed() { (cd "$dest" && find . -type f -printf '%m %P\n' | sort -k 2); }

@test "install puts program, manual and completions below DESTDIR" {
	mk DESTDIR="$dest" install
	diff <(installed) - <<-'END'
		644 usr/local/lib/systemd/system/hwluks-load.service
		755 usr/local/sbin/hwluks
		644 usr/local/share/bash-completion/completions/hwluks
		644 usr/local/share/fish/vendor_completions.d/hwluks.fish
		644 usr/local/share/hwluks/initramfs-hooks/dracut/hwluks-load.service
		644 usr/local/share/hwluks/initramfs-hooks/dracut/hwluks-load.sh
		755 usr/local/share/hwluks/initramfs-hooks/dracut/module-setup.sh
		755 usr/local/share/hwluks/initramfs-hooks/initramfs-tools/hook
		755 usr/local/share/hwluks/initramfs-hooks/initramfs-tools/local-top
		755 usr/local/share/hwluks/initramfs-hooks/mkinitcpio/install
		644 usr/local/share/hwluks/initramfs-hooks/mkinitcpio/run-hook
		644 usr/local/share/man/man5/hwluks.conf.5
		644 usr/local/share/man/man8/hwluks.8
		644 usr/local/share/zsh/site-functions/_hwluks
	END
	"$dest/usr/local/sbin/hwluks" --version | grep -q '^hwluks '
}

@test "every path can be chosen, blanks in it too" {
	mk DESTDIR="$dest" PREFIX=/usr SBINDIR='/s bin' MANDIR=/m BASHCOMPDIR=/b ZSHCOMPDIR=/z FISHCOMPDIR=/f DATADIR='/d ata' UNITDIR='/u n' install
	diff <(installed) - <<-'END'
		644 b/hwluks
		644 d ata/hwluks/initramfs-hooks/dracut/hwluks-load.service
		644 d ata/hwluks/initramfs-hooks/dracut/hwluks-load.sh
		755 d ata/hwluks/initramfs-hooks/dracut/module-setup.sh
		755 d ata/hwluks/initramfs-hooks/initramfs-tools/hook
		755 d ata/hwluks/initramfs-hooks/initramfs-tools/local-top
		755 d ata/hwluks/initramfs-hooks/mkinitcpio/install
		644 d ata/hwluks/initramfs-hooks/mkinitcpio/run-hook
		644 f/hwluks.fish
		644 m/man5/hwluks.conf.5
		644 m/man8/hwluks.8
		755 s bin/hwluks
		644 u n/hwluks-load.service
		644 z/_hwluks
	END
	grep -q 'ExecStart=-"/s bin/hwluks" load' "$dest/u n/hwluks-load.service"
	[ "$(grep -r @SBINDIR@ "$dest" --exclude=hwluks | wc -l)" = 0 ]
}

@test "WITH_COMPLETION=no leaves the completions out" {
	mk DESTDIR="$dest" PREFIX=/usr WITH_COMPLETION=no install
	diff <(installed) - <<-'END'
		644 usr/lib/systemd/system/hwluks-load.service
		755 usr/sbin/hwluks
		644 usr/share/hwluks/initramfs-hooks/dracut/hwluks-load.service
		644 usr/share/hwluks/initramfs-hooks/dracut/hwluks-load.sh
		755 usr/share/hwluks/initramfs-hooks/dracut/module-setup.sh
		755 usr/share/hwluks/initramfs-hooks/initramfs-tools/hook
		755 usr/share/hwluks/initramfs-hooks/initramfs-tools/local-top
		755 usr/share/hwluks/initramfs-hooks/mkinitcpio/install
		644 usr/share/hwluks/initramfs-hooks/mkinitcpio/run-hook
		644 usr/share/man/man5/hwluks.conf.5
		644 usr/share/man/man8/hwluks.8
	END
}

@test "uninstall takes all of it away and leaves what others put there" {
	mk DESTDIR="$dest" install
	touch "$dest/usr/local/sbin/other"
	mk DESTDIR="$dest" uninstall
	[ "$(installed)" = '644 usr/local/sbin/other' ]
}

@test "install-strip installs a program without symbols that still runs" {
	mk DESTDIR="$dest" install-strip
	[ -z "$(nm "$dest/usr/local/sbin/hwluks" 2>/dev/null)" ]
	"$dest/usr/local/sbin/hwluks" --help >/dev/null
}

@test "dist holds the commit, twice the same bytes" {
	git rev-parse HEAD >/dev/null 2>&1 || skip 'not a git work tree'
	mkdir "$BATS_TEST_TMPDIR/a" "$BATS_TEST_TMPDIR/b"
	make --no-print-directory BUILD="$BATS_TEST_TMPDIR/a" dist
	make --no-print-directory BUILD="$BATS_TEST_TMPDIR/b" dist
	cmp "$BATS_TEST_TMPDIR"/a/hwluks-*.tar.gz "$BATS_TEST_TMPDIR"/b/hwluks-*.tar.gz
	tar -tzf "$BATS_TEST_TMPDIR"/a/hwluks-*.tar.gz >"$BATS_TEST_TMPDIR/list"
	grep -q '^hwluks-[0-9.]*/Makefile$' "$BATS_TEST_TMPDIR/list"
	grep -q '/COPYING$' "$BATS_TEST_TMPDIR/list"
	[ "$(grep -c '/build/' "$BATS_TEST_TMPDIR/list")" = 0 ]
}

@test "what deps installs is only named with --print, and nothing is missing here" {
	command -v dpkg-query >/dev/null || skip 'not Debian'
	run tools/deps.sh --print
	[ "$status" = 0 ]
	[ -z "$(tr -d ' ' <<<"$output")" ] || { echo "missing: $output"; false; }
}

@test "'make deps GOAL...' runs deps first, then the goals in a make of their own" {
	run make --no-print-directory -n deps help clean
	[ "$status" = 0 ]
	[ "${lines[0]}" = tools/deps.sh ]
	[[ $output == *'help clean'* ]]
}
