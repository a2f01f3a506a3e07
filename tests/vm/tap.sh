# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: TAP from shell scripts, in a guest and on the host; sourced. In a guest also: counters, hashes, limits.
# Must not know: what is tested.
#
# A crash is a failure even where failure is expected: exit codes from 126 (not found, not executable,
# ended by a signal) never count as the expected failure.

tap_n=0
tap_bad=0
tap_dir=${TMPDIR:-/tmp}/tap.$$
mkdir -p "$tap_dir"
OUT=$tap_dir/out # stdout of the last run, must_fail or ok
ERR=$tap_dir/err # its stderr
: >"$OUT"
: >"$ERR"

# Text for a person. $*: text, may have several lines.
diag() { printf '%s\n' "$*" | sed 's/^/# /'; }

# A fact for the host-side driver, which finds it in the run's file `notes`. $1: key; $2: value.
note() { printf '#@ %s %s\n' "$1" "$2"; }

pass() {
	tap_n=$((tap_n + 1))
	printf 'ok %d - %s\n' "$tap_n" "$*"
}

# $*: description. Always returns 1.
fail() {
	tap_n=$((tap_n + 1))
	tap_bad=$((tap_bad + 1))
	printf 'not ok %d - %s\n' "$tap_n" "$*"
	return 1
}

# $1: description; $2: reason.
skip() {
	tap_n=$((tap_n + 1))
	printf 'ok %d - %s # SKIP %s\n' "$tap_n" "$1" "$2"
}

tap_show() {
	[ ! -s "$OUT" ] || tail -n 20 "$OUT" | sed 's/^/#   stdout: /'
	[ ! -s "$ERR" ] || tail -n 20 "$ERR" | sed 's/^/#   stderr: /'
}

# Runs a command that must end with exit code $1. $2: description; rest: command.
run() {
	tap_want=$1 tap_what=$2 tap_rc=0
	shift 2
	"$@" >"$OUT" 2>"$ERR" </dev/null || tap_rc=$?
	if [ "$tap_rc" -eq "$tap_want" ] && [ "$tap_rc" -lt 126 ]; then
		pass "$tap_what"
	else
		fail "$tap_what" || :
		diag "  command: $*"
		diag "  exit code $tap_rc, expected $tap_want"
		tap_show
		return 1
	fi
}

# The command must succeed. $1: description; rest: command.
ok() {
	tap_what=$1
	shift
	run 0 "$tap_what" "$@"
}

# The command must fail, by its own decision. $1: description; rest: command.
must_fail() {
	tap_what=$1 tap_rc=0
	shift
	"$@" >"$OUT" 2>"$ERR" </dev/null || tap_rc=$?
	if [ "$tap_rc" -ge 1 ] && [ "$tap_rc" -lt 126 ]; then
		pass "$tap_what"
	else
		fail "$tap_what" || :
		diag "  command: $*"
		diag "  exit code $tap_rc, expected a failure that is no crash"
		tap_show
		return 1
	fi
}

# $1: description; $2: got; $3: wanted.
is() {
	if [ "$2" = "$3" ]; then
		pass "$1"
	else
		fail "$1" || :
		diag "       got: $2"
		diag "  expected: $3"
		return 1
	fi
}

# $1: description; $2: got; $3: not wanted.
isnt() {
	if [ "$2" != "$3" ]; then
		pass "$1"
	else
		fail "$1" || :
		diag "  got what it must not be: $2"
		return 1
	fi
}

# $1: description; $2: got; $3: shell pattern that all of it must match.
like() {
	# shellcheck disable=SC2254 # it is a pattern
	case $2 in
	$3) pass "$1" ;;
	*)
		fail "$1" || :
		diag "       got: $2"
		diag "  expected: $3"
		return 1
		;;
	esac
}

# $1: description; $2: shell pattern that all of it must not match.
unlike() {
	# shellcheck disable=SC2254
	case $2 in
	$3)
		fail "$1" || :
		diag "  got what it must not be: $2"
		return 1
		;;
	*) pass "$1" ;;
	esac
}

# Numeric: $1: description; $2 $3 $4: got, operator of test(1) (-ge, -lt, …), wanted.
cmp_ok() {
	if test "$2" "$3" "$4"; then
		pass "$1"
	else
		fail "$1" || :
		diag "  expected: $2 $3 $4"
		return 1
	fi
}

# Prints the plan. Last call of every script; its status is that of the script.
done_testing() {
	printf '1..%d\n' "$tap_n"
	rm -rf "$tap_dir"
	[ "$tap_bad" -eq 0 ]
}

# Whole seconds since some fixed moment; of the guest's clock in a guest.
tap_seconds() {
	IFS=. read -r tap_up _ </proc/uptime
	echo "$tap_up"
}

# Runs a command with a time limit, and does not wait for one that cannot be killed.
# $1: seconds; rest: command. Status: the command's, or 124 at the limit.
with_limit() {
	tap_end=$(($(tap_seconds) + $1))
	shift
	"$@" &
	tap_pid=$!
	while :; do
		# a zombie is still there for kill -0: its state tells
		tap_state=Z
		! read -r tap_line 2>/dev/null <"/proc/$tap_pid/stat" || tap_state=${tap_line##*) }
		case $tap_state in
		Z*)
			wait "$tap_pid"
			return
			;;
		esac
		[ "$(tap_seconds)" -lt "$tap_end" ] || break
		sleep 0.1
	done
	kill -9 "$tap_pid" 2>/dev/null
	sleep 0.5
	return 124
}

# --- guests only ---------------------------------------------------------------------------------

# Configuration space of the Geode engine, or nothing. Prints a path.
geode_config() {
	for tap_d in /sys/bus/pci/devices/*; do
		if [ "$(cat "$tap_d/vendor" 2>/dev/null)" = 0x1022 ] &&
			[ "$(cat "$tap_d/device")" = 0x2082 ]; then
			printf '%s/config\n' "$tap_d"
			return
		fi
	done
}

# What the engine did since power-on: eight numbers, operations and bytes of ecb_dec ecb_enc cbc_dec cbc_enc.
# Works for the Geode model and for the PadLock model.
hw_counts() {
	tap_c=$(geode_config)
	if [ -n "$tap_c" ]; then
		# -v, or od leaves out equal lines
		od -v -An -tu4 -w32 -j128 -N32 "$tap_c"
	elif [ -r /proc/padlock_model ]; then
		awk '$2 == "ops" { o[$1] = $3; b[$1] = 16 * $5 }
			END { n = split("ecb_dec ecb_enc cbc_dec cbc_enc", k, " ")
				for (i = 1; i <= n; i++) printf "%d %d ", o[k[i]], b[k[i]]
				print "" }' /proc/padlock_model
	else
		echo 0 0 0 0 0 0 0 0
	fi
}

# Remembers the counters: hw_ops and hw_bytes count from here.
hw_mark() { tap_mark=$(hw_counts); }

# $1: column (1 to 8), or "ops" or "bytes" for the sum of all four.
tap_delta() {
	printf '%s\n' "$tap_mark" "$(hw_counts)" | awk -v what="$1" '
		NR == 1 { for (i = 1; i <= 8; i++) a[i] = $i }
		NR == 2 {
			for (i = 1; i <= 8; i++) {
				d[i] = $i - a[i]
				if (d[i] < 0) d[i] += 4294967296
			}
			s["ops"] = d[1] + d[3] + d[5] + d[7]
			s["bytes"] = d[2] + d[4] + d[6] + d[8]
			printf "%d\n", what in s ? s[what] : d[what + 0]
		}'
}

# Operations, or bytes, since hw_mark. $1: ecb_dec, ecb_enc, cbc_dec, cbc_enc or all.
hw_ops() {
	case $1 in
	ecb_dec) tap_delta 1 ;; ecb_enc) tap_delta 3 ;;
	cbc_dec) tap_delta 5 ;; cbc_enc) tap_delta 7 ;; all) tap_delta ops ;;
	esac
}
hw_bytes() {
	case $1 in
	ecb_dec) tap_delta 2 ;; ecb_enc) tap_delta 4 ;;
	cbc_dec) tap_delta 6 ;; cbc_enc) tap_delta 8 ;; all) tap_delta bytes ;;
	esac
}

# Wakes ($1 = on) or puts to sleep (off) a fault that was given to the Geode model with ",armed".
hw_arm() {
	case $1 in
	on) printf '\001' ;;
	off) printf '\000' ;;
	esac | dd of="$(geode_config)" bs=1 seek=160 conv=notrunc 2>/dev/null
}

# How often the Geode model's fault struck.
hw_faults() { od -An -tu4 -j164 -N4 "$(geode_config)" | tr -d ' '; }

# Hash of a whole device, read from the device and not from the cache. $1: device.
device_hash() {
	blockdev --flushbufs "$1"
	sha256sum <"$1" | cut -d' ' -f1
}

# One field of /proc/crypto. $1: driver; $2: field. Prints nothing if there is no such driver.
crypto_field() {
	awk -v RS= -v driver="$1" -v field="$2" '{
		hit = 0
		n = split($0, line, "\n")
		for (i = 1; i <= n; i++) {
			split(line[i], kv, / *: /)
			if (kv[1] == "driver" && kv[2] == driver) hit = 1
			if (kv[1] == field) value = kv[2]
		}
		if (hit) { print value; exit }
	}' /proc/crypto
}

# A block device or nothing: without udev a missing node makes dd write a plain file. $1: path.
is_block() { [ -b "$1" ]; }
