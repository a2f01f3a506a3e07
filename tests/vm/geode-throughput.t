#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: throughput of every spec on the Geode model's instruction clock, and that docs/throughput.md says what was measured.
#      UPDATE=1 rewrites the table there.
# Must not know: what is fast; the guest script judges.
# shellcheck source=tests/vm/host.sh
. "$(dirname "$0")/host.sh"

doc=docs/throughput.md
begin='<!-- throughput-begin -->' end='<!-- throughput-end -->'
ok 'rate builds' tests/vm/tools/build.sh i386 rate "$vm_build/rate-i386"
guest geode-throughput --geode none --icount 2 --disk 64 --limit 1000 --file "$vm_build/rate-i386:usr/bin/rate" \
	--file build/i386/hwluks:usr/sbin/hwluks --file tests/vm/volume-lib.sh:tests/volume-lib.sh \
	tests/vm/geode/throughput.sh

# The table as the documentation has it, from the guest's notes.
tests/vm/tools/throughput-md.sh "$RUN/notes" >"$tap_dir/table"
isnt 'there is a table' "$(wc -l <"$tap_dir/table")" 0
if [ -n "${UPDATE:-}" ]; then
	sed -e "/^$begin\$/r $tap_dir/table" -e "/^$begin\$/,/^$end\$/{/^$begin\$/b" -e "/^$end\$/b" -e 'd' -e '}' \
		$doc >"$tap_dir/doc" && cat "$tap_dir/doc" >$doc
fi
sed -n "/^$begin\$/,/^$end\$/p" $doc | grep '^|' >"$tap_dir/doc-table"

# Words must be the same, figures within a tenth. Prints what is not.
differs() {
	awk -F'|' '
		function trim(s) { gsub(/^ +| +$/, "", s); return s }
		NR == FNR { line[FNR] = $0; n = FNR; next }
		{
			m = FNR
			k = split(line[FNR], want, "|")
			if (k != NF) print "row " FNR ": " NF " columns, measured " k
			for (i = 1; i <= NF; i++) {
				a = trim($i); b = trim(want[i])
				x = a; sub(/×$/, "", x); y = b; sub(/×$/, "", y)
				if (x ~ /^[0-9.]+$/ && y ~ /^[0-9.]+$/) {
					d = x - y
					if (d < 0) d = -d
					if (d > 0.1 * y) print "row " FNR ": " a ", measured " b
				} else if (a != b) print "row " FNR ": " a ", measured " b
			}
		}
		END { if (m != n) print m + 0 " rows, measured " n }' "$1" "$2"
}
is "$doc has what was measured, within a tenth" "$(differs "$tap_dir/table" "$tap_dir/doc-table")" ''
done_testing
