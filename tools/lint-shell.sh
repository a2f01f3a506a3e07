#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: lint: ShellCheck over every script of the tree, found by its first line.
# Must not know: what a script does. Exceptions stand in the scripts, each with its reason.
set -eu
declare -a tests=() others=()
cd "$(dirname "$0")/.."
mapfile -t scripts < <(git ls-files --cached --others --exclude-standard | grep -vE '^tests/(machines|data|fuzz/corpus)/' |
	while IFS= read -r f; do
		[[ -f $f ]] || continue
		case $f in
		*.bats | completion/hwluks.bash) echo "$f" ;;
		*) IFS= read -r first <"$f" || true
			[[ $first =~ ^'#!'.*[/\ ](sh|ash|bash|dash|bats)$ ]] && echo "$f" ;;
		esac
	done 2>/dev/null || true)
((${#scripts[@]} > 0)) || { echo 'no script found'; exit 1; }
bad=0
for f in "${scripts[@]}"; do
	if [[ $f == *.bats ]]; then tests+=("$f"); else others+=("$f"); fi
done
shellcheck --external-sources --severity=style "${others[@]}" || bad=1
# bats: each test is a subshell under `set -e` (2030, 2031, 2164); single words in lists (2013); programs in
# other languages in single quotes (2016)
shellcheck --external-sources --severity=style -e SC2013,SC2016,SC2030,SC2031,SC2164 "${tests[@]}" || bad=1
exit "$bad"
