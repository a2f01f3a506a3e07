#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# Help, man page, README, ARCHITECTURE and the completions agree with the program's own tables.

load lib

setup_file() {
	export TOP LC_ALL=C
	TOP=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	"$BUILD/tools/tables" >"$BATS_FILE_TMPDIR/tables"
	mandoc -T ascii "$TOP/man/hwluks.8" | col -bx >"$BATS_FILE_TMPDIR/man"
}

setup() {
	cd "$TOP"
	tables=$BATS_FILE_TMPDIR/tables
	man=$BATS_FILE_TMPDIR/man
}

# Prints the man page's section of one command (DETECT ...).
man_section() {
	awk -v head="$(tr '[:lower:]' '[:upper:]' <<<"$1")" '$0 == head { on = 1; next } /^[A-Z]/ { on = 0 } on' "$man"
}

commands() { awk '$1 == "command" { print $2 }' "$tables"; }

@test "the tables are not empty" {
	[ "$(commands | wc -l)" -ge 7 ]
	[ "$(grep -c '^option ' "$tables")" -ge 60 ]
	[ "$(grep -c '^reason ' "$tables")" -ge 40 ]
}

@test "help names every command and every option of all commands" {
	"$HWLUKS" --help >"$BATS_TEST_TMPDIR/help"
	for c in $(commands); do
		grep -q "^  $c " "$BATS_TEST_TMPDIR/help" || complain "$c"
	done
	while read -r _ long rest; do
		grep -qE -- "(^|[ ,])$long( |$)" "$BATS_TEST_TMPDIR/help" || complain "$long $rest"
	done < <(grep '^global ' "$tables")
	all_right
}

@test "the help of each command names every option of it, with letter and value, and no other" {
	for c in $(commands); do
		"$HWLUKS" "$c" --help >"$BATS_TEST_TMPDIR/help"
		while read -r _ _ long rest; do
			line=$(grep -E -- "^  (-., |    )$long( |$)" "$BATS_TEST_TMPDIR/help") || complain "$c $long"
			for w in $rest; do
				[[ $line == *"$w"* ]] || complain "$c $long: no $w"
			done
		done < <(grep "^option $c " "$tables")
		[ "$(grep -cE '^  (-., |    )--' "$BATS_TEST_TMPDIR/help")" = "$(grep -cE "^(option $c|global) " "$tables")" ] ||
			complain "$c: another number of options"
	done
	all_right
}

@test "an alias prints its command's help" {
	for a in $(awk '$1 == "alias" { print $2 }' "$tables"); do
		"$HWLUKS" "$a" --help | grep -q '^Usage: hwluks' || complain "$a"
		grep -qw "$a" "$man" || complain "man page: $a"
	done
	all_right
}

@test "the man page has a section per command with every option of it, and no other" {
	for c in $(commands); do
		section=$(man_section "$c")
		[ -n "$section" ] || complain "no section $c"
		grep -q "JSON:" <<<"$section" || complain "$c: no JSON fields"
		while read -r _ _ long rest; do
			line=$(grep -E -- "^ +(-., )?$long( |$)" <<<"$section") || complain "$c $long"
			for w in $rest; do
				[[ $line == *"$w"* ]] || complain "$c $long: no $w"
			done
		done < <(grep "^option $c " "$tables")
		[ "$(grep -cE '^     (-., )?--[a-z]' <<<"$section")" = "$(grep -c "^option $c " "$tables")" ] || complain "$c: another number of options"
	done
	while read -r _ long _; do
		grep -qE -- "^ +(-., )?$long( |$)" "$man" || complain "$long"
	done < <(grep '^global ' "$tables")
	all_right
}

@test "the man page has every reason code with its meaning" {
	# the meanings are compared without white space: lines are broken differently
	flat=$(tr -d ' \n' <"$man" | tr '[:upper:]' '[:lower:]')
	while read -r _ id meaning; do
		want=$(tr -d ' ' <<<"$id$meaning." | tr '[:upper:]' '[:lower:]')
		[[ $flat == *"$want"* ]] || complain "$id: $meaning"
	done < <(grep '^reason ' "$tables")
	all_right
}

@test "man page and README have every exit code" {
	own=$(sed -n 's/^\tEXIT_[A-Z_]* = \([0-9]*\),.*/\1/p' src/cmd/cmd.h)
	[ "$(wc -w <<<"$own")" -ge 6 ]
	for n in 0 1 2 3 4 5 $own; do
		grep -qE "^     $n +[A-Z-]" "$man" || complain "man page: $n"
		grep -qE "^\| $n \|" README.md || complain "README: $n"
	done
	all_right
}

@test "every JSON field that a command prints is in the man page" {
	root=tests/machines/vm-geode-6.1-i386/root
	{
		"$HWLUKS" --sysroot "$root" --json detect
		"$HWLUKS" --sysroot "$root" --json advise
		"$HWLUKS" --sysroot "$root" --json load --dry-run
		"$HWLUKS" --sysroot "$root" --json doctor
	} 2>/dev/null | sed -n 's/^ *"\([a-z_]*\)":.*/\1/p' | sort -u >"$BATS_TEST_TMPDIR/fields"
	# fields of the commands that need an open volume or a device, from the source
	sed -n 's/.*json_add_[a-z]*([a-z]*, "\([a-z_]*\)".*/\1/p' src/cmd/*.c | sort -u >>"$BATS_TEST_TMPDIR/fields"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/fields")" -gt 60 ]
	for f in $(sort -u "$BATS_TEST_TMPDIR/fields"); do
		grep -qE "(^|[^a-z_])$f([^a-z_]|$)" "$man" || complain "$f"
	done
	all_right
}

@test "the man page is clean" {
	make --no-print-directory -s lint-man >"$BATS_TEST_TMPDIR/lint" 2>&1 || complain "$(cat "$BATS_TEST_TMPDIR/lint")"
	all_right
}

@test "the README's table of accelerators is the program's" {
	sed -n '/^<!-- accel-table-begin -->$/,/^<!-- accel-table-end -->$/p' README.md >"$BATS_TEST_TMPDIR/readme"
	"$BUILD/tools/accel-md" >"$BATS_TEST_TMPDIR/table"
	diff "$BATS_TEST_TMPDIR/readme" "$BATS_TEST_TMPDIR/table" || { echo 'run: make readme-table'; false; }
}

@test "ARCHITECTURE has one line for each source file and none for a file that is gone" {
	for f in $(find src -name '*.[ch]' -o -name '*.def' | sort); do
		[ "$(grep -c "^- \`$f\` " ARCHITECTURE.md)" = 1 ] || complain "not one line for $f"
	done
	for f in $(sed -n 's/^- `\([^`]*\)` .*/\1/p' ARCHITECTURE.md); do
		[ -e "$f" ] || complain "stale: $f"
	done
	all_right
}

@test "links between the documents lead somewhere" {
	for doc in *.md docs/*.md; do
		[ -e "$doc" ] || continue
		for link in $(grep -oE '\]\([^)#:]+[)#]' "$doc" | sed -e 's/^](//' -e 's/[)#]$//'); do
			[ -e "$(dirname "$doc")/$link" ] || complain "$doc: $link"
		done
	done
	all_right
}

@test "make targets that the documents name exist" {
	for t in $(grep -ohE '`make [a-z -]+`|^    make [a-z -]+' README.md CONTRIBUTING.md ARCHITECTURE.md | tr -d '`' | sed 's/^ *make //'); do
		[[ $t == lint-* ]] && t=${t%NAME}
		grep -qE "(^|[ :])$t([ :]|$)" Makefile tools/*.mk tests/*/*.mk || complain "$t"
	done
	all_right
}

# --- completions -------------------------------------------------------------------------------------

# complete_bash WORD... — the last word is the one being completed. One candidate a line.
complete_bash() {
	bash -c 'source completion/hwluks.bash || exit
		COMP_WORDS=(hwluks "$@") COMP_CWORD=$#
		_hwluks
		printf "%s\n" "${COMPREPLY[@]}"' bash "$@"
}

complete_fish() { fish --no-config -c 'source completion/hwluks.fish; complete -C "$argv"' "$*" | cut -f 1; }

@test "bash completes commands, every option, values, devices and mappings" {
	diff <(complete_bash '' | sort) <(commands | sort)
	for c in $(commands); do
		diff <(complete_bash "$c" - | sort) <(awk -v c="$c" '$1 == "global" || ($1 == "option" && $2 == c) {
			for (i = ($1 == "global" ? 2 : 3); i <= NF; i++) if ($i ~ /^-/) print $i }' "$tables" | sort) || complain "$c"
	done
	# an option's value is not taken for the command
	for o in $(awk '$1 == "option" && $NF !~ /^-/ { for (i = 3; i < NF; i++) print $i }' "$tables" | sort -u) --sysroot; do
		complete_bash "$o" value detect - | grep -qx -e --json || complain "the value of $o counts as a command"
	done
	complete_bash format --cipher aes-xts | grep -qx aes-xts-plain64
	complete_bash format Makef | grep -qx Makefile
	touch "$BATS_TEST_TMPDIR/img"
	complete_bash luksOpen "$BATS_TEST_TMPDIR/im" | grep -qx "$BATS_TEST_TMPDIR/img"
	for d in /sys/class/block/*; do
		[ -e "$d" ] || break
		complete_bash open "/dev/${d##*/}" | grep -qx "/dev/${d##*/}"
	done
	[ -z "$(complete_bash close no-such-mapping)" ]
	all_right
}

@test "fish completes commands, every option, values and files" {
	fish --no-execute completion/hwluks.fish
	diff <(complete_fish 'hwluks ' | sort) <(commands | sort)
	for c in $(commands); do
		complete_fish "hwluks $c -" >"$BATS_TEST_TMPDIR/got"
		while read -r first second long rest; do
			[ "$first" = option ] || { rest=$long long=$second; }
			grep -qx -e "$long" "$BATS_TEST_TMPDIR/got" || grep -qx -e "$long=" "$BATS_TEST_TMPDIR/got" || complain "$c $long"
		done < <(grep -E "^(option $c|global) " "$tables")
		[ "$(grep -c '^--' "$BATS_TEST_TMPDIR/got")" = "$(grep -cE "^(option $c|global) " "$tables")" ] || complain "$c: another number of options"
	done
	complete_fish 'hwluks format --cipher aes-xts' | grep -qx aes-xts-plain64
	complete_fish 'hwluks open Makef' | grep -qx Makefile
	all_right
}

@test "zsh: the completion parses and has every command and option" {
	zsh -n completion/_hwluks
	for c in $(commands); do
		grep -q "^	'$c:" completion/_hwluks || complain "$c"
		block=$(awk -v c="$c" '$0 ~ "^\t" c "(\\||\\))" { on = 1 } on { print } on && /;;/ { exit }' completion/_hwluks)
		while read -r _ _ long rest; do
			grep -qF -e "$long" <<<"$block" || complain "$c $long"
			for w in $rest; do
				[[ $w != -* ]] || grep -qE -e "\($w $long\)" <<<"$block" || complain "$c $long: no $w"
			done
		done < <(grep "^option $c " "$tables")
	done
	while read -r _ long _; do
		grep -qF -e "$long" completion/_hwluks || complain "$long"
	done < <(grep '^global ' "$tables")
	all_right
}

@test "docs/doctor.md names every check and no other" {
	diff <(sed -n '/^const struct check check_table/,/^};/s/^\t{ "\([a-z0-9.-]*\)",.*/\1/p' src/doctor/doctor.c | sort) \
		<(sed '/^## /,$d' docs/doctor.md | grep -oE '`[a-z0-9.-]+`' | tr -d '`' | sort -u)
}
