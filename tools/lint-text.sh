#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: lint: what holds for every file of the tree: licence line, two-line file comment, no address of the machine it was
# written on, no trailing blanks.
# Must not know: any language beyond its comment sign.
#
# lint-text.sh [TREE]
set -eu
cd "${1:-$(dirname "$0")/..}"
bad=0
complain() {
	echo "$*"
	bad=1
}

# Prints the files that are, or would be, committed; recordings and corpora are data as they were found.
tree() {
	if git rev-parse --git-dir >/dev/null 2>&1 && [[ $(git rev-parse --show-toplevel) == "$PWD" ]]; then
		git ls-files --cached --others --exclude-standard
	else
		find . -type f -not -path './build/*' -not -path './.cache/*' -not -path './.git/*' | sed 's,^\./,,'
	fi | grep -vE '^(tests/(machines|data|fuzz/corpus)/|COPYING$)' | sort
}

# Status 0 when the file is source that must carry a licence line: by its name, or by its first line.
is_source() {
	case $1 in
	*.c | *.h | *.def | *.sh | *.t | *.bats | *.mk | *.bash | *.fish | *.8 | Makefile | completion/_hwluks | .ci/run) return 0 ;;
	esac
	IFS= read -r first <"$1" || true
	[[ $first == '#!'* ]]
}

# A kernel module of the tests links no OpenSSL and carries the line without the exception.
id='SPDX-License-Identifier: GPL-2.0-or-later'
# addresses of package servers; folders of a developer's machine
places='(^|[^a-z0-9.-])(deb|ftp|http|mirror|mirrors|security|snapshot|registry|archive|ports)\.([a-z0-9-]+\.)+(org|com|net)'
places+='|(^|[^A-Za-z0-9_$)}.-])/(work|root|home|Users)/[a-z]'
n=0
while IFS= read -r f; do
	[[ -f $f ]] || continue
	n=$((n + 1))
	if is_source "$f"; then
		head -n 3 "$f" | grep -qF "$id" || complain "$f: no licence line ($id) in the first three lines"
		case $f in
		*.c | *.h) sed -n 2p "$f" | grep -q '^/\*' ||
			complain "$f: line 2 begins no comment that says what the file is for" ;;
		esac
	fi
	while IFS= read -r hit; do complain "$f:$hit (an address or folder of one machine)"; done < <(grep -nIE "$places" "$f")
	case $f in
	*.md) ;;
	*) while IFS= read -r hit; do complain "$f:${hit%%:*}: blanks at the end of the line"; done < <(grep -nI '[[:blank:]]$' "$f") ;;
	esac
	[[ ! -s $f || -z $(tail -c 1 "$f" | tr -d '\n') ]] || complain "$f: no newline at its end"
done < <(tree)
((n > 0)) || complain 'no file found'
exit "$bad"
