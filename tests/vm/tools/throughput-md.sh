#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: the table of docs/throughput.md from a guest's notes. usage: throughput-md.sh NOTES
# Must not know: what a figure should be.
#
# Reads lines "rate software|engine CIPHER:BITS SECTOR DATA-BY WRITE READ DRIVER".
set -eu
awk '
	$1 == "rate" {
		row = $3 " " $4
		if (!(row in seen)) order[++n] = row
		seen[row] = 1
		w[row, $2] = $6
		r[row, $2] = $7
		by[row, $2] = $5
		driver[row, $2] = $8
	}
	END {
		if (!n) exit 1
		print "| spec | key bits | sector | software: write | read | driver loaded: write | read | gain: write | read | data done by |"
		print "|---|--:|--:|--:|--:|--:|--:|--:|--:|---|"
		for (i = 1; i <= n; i++) {
			split(order[i], part, " ")
			bits = spec = part[1]
			sub(/.*:/, "", bits)
			sub(/:[^:]*$/, "", spec)
			k = order[i]
			printf "| %s | %s | %s | %.1f | %.1f | %.1f | %.1f | %.1f× | %.1f× | %s |\n", spec, bits, part[2],
				w[k, "software"], r[k, "software"], w[k, "engine"], r[k, "engine"],
				w[k, "engine"] / w[k, "software"], r[k, "engine"] / r[k, "software"],
				(by[k, "engine"] == "engine" ? "engine" : "CPU") ", `" driver[k, "engine"] "`"
		}
	}' "$1"
