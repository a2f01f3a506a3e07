#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: lint: ShellCheck over every script of the tree, found by its first line.
# Must not know: what a script does. Exceptions stand in the scripts, each with its reason.
set -eu
cd "$(dirname "$0")/.."
mapfile -t scripts < <(git ls-files --cached --others --exclude-standard | grep -vE '^tests/(machines|data|fuzz/corpus)/' |
	while IFS= read -r f; do
		[[ -f $f ]] || continue
		case $f in
		*.bats | completion/hwluks.bash) echo "$f" ;;
		*) IFS= read -r first <"$f" || true
			[[ $first =~ ^'#!'.*[/\ ](sh|bash|dash|bats)$ ]] && echo "$f" ;;
		esac
	done 2>/dev/null || true)
((${#scripts[@]} > 0)) || { echo 'no script found'; exit 1; }
shellcheck --external-sources --severity=style "${scripts[@]}"
