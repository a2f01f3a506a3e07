#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# detect, advise and load --dry-run on every recorded machine, text and JSON, against expected/; UPDATE=1 rewrites that.

load lib

setup() {
	export LC_ALL=C
	: "${HWLUKS:?the program under test}"
	TOP=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	cd "$TOP/tests/machines"
	out=$BATS_TEST_TMPDIR/out
}

machines() { for d in */root; do echo "${d%/root}"; done; }

# run_on MACHINE ARG...: the program's standard output in $out, its messages in $out.err; returns its exit code.
run_on() {
	local m=$1
	shift
	"$HWLUKS" --sysroot "$m/root" "$@" >"$out" 2>"$out.err"
}

# compare FILE ARG...: runs the command on every machine and holds it against expected/FILE.
compare() {
	local file=$1 m rc
	shift
	for m in $(machines); do
		rc=0
		run_on "$m" "$@" || rc=$?
		# 12 is what doctor says with a warning or worse
		[ "${rc:-0}" = 0 ] || [ "$rc:$1" = 12:doctor ] || { complain "$m: $* exits $rc: $(cat "$out.err")"; continue; }
		if [ -n "${UPDATE:-}" ]; then
			mkdir -p "$m/expected"
			cp "$out" "$m/expected/$file"
		fi
		diff -u "$m/expected/$file" "$out" || complain "$m: $* differs (UPDATE=1 rewrites it, for review)"
	done
	all_right
}

# fields FILTER ARG...: FILTER (jq) must be true for what the command prints on every machine.
fields() {
	local filter=$1 m
	shift
	for m in $(machines); do
		run_on "$m" "$@" || complain "$m: $* exits $?"
		jq -e "$filter" "$out" >"$out.jq" 2>&1 || complain "$m: $*: $(cat "$out.jq")"
	done
	all_right
}

@test "there are machines, each with a README that says what was completed by hand" {
	[ "$(machines | wc -l)" -ge 37 ]
	for m in $(machines); do
		grep -qE 'completed by hand|Completed by hand' "$m/README" || complain "$m"
		head -1 "$m/README" | grep -q "^$m: " || complain "$m: first line"
	done
	all_right
}

@test "no recording holds an address, a serial number, a UUID or a host name" {
	local hex='[0-9a-fA-F]'
	local rc=0
	grep -rIlE "\b($hex{2}:){5}$hex{2}\b|$hex{8}-$hex{4}-$hex{4}-$hex{4}-$hex{12}|^Serial|@[a-z]+\.[a-z]{2,3}\b" . || rc=$?
	[ $rc = 1 ]
}

@test "detect" { compare detect.txt detect; }
@test "detect --json" { compare detect.json detect --json; }
@test "advise" { compare advise.txt advise; }
@test "advise --json" { compare advise.json advise --json; }
@test "load --dry-run" { compare load.txt load --dry-run; }
@test "load --dry-run --json" { compare load.json load --dry-run --json; }
@test "doctor" { compare doctor.txt doctor; }
@test "doctor --json" { compare doctor.json doctor --json; }

@test "text fits 80 columns and has no stray blanks" {
	for m in $(machines); do
		for c in detect advise doctor 'load --dry-run' 'advise --cipher aes-xts-plain64' 'advise --cipher aes-cbc-plain64 --key-size 128'; do
			# shellcheck disable=SC2086 # words of a command
			run_on "$m" $c || [ "$?:$c" = 12:doctor ] || complain "$m: $c exits $?"
			awk -v w="$m: $c" 'length($0) > 79 { print w ": " $0; bad = 1 } / $/ { print w ": blank at the end: " $0; bad = 1 }
				END { exit bad }' "$out" || complain "$m: $c"
		done
	done
	all_right
}

@test "detect --json has the fields that are promised" {
	fields '(.accelerators | type == "array") and
		([.accelerators[] | (.id | type == "string") and (.name | type == "string") and (.usable_by_dm_crypt | type == "boolean") and
		  ([.key_sizes[] | test("^(xts-)?[0-9]+$|^unknown$")] | all) and
		  ([.modes[] | IN("single", "ecb", "cbc", "ctr", "xts", "cts", "essiv", "gcm", "hash")] | all) and (.missing_kernel_options | type == "array") and
		  (.kind == "cpu-simd" or (.modes | length > 0)) and (.driver_state | IN("unknown", "not-in-kernel", "no-option", "no-module", "not-loaded", "denied", "loaded",
			"selftest-failed", "untested", "quarantined", "registered"))] | all) and
		(.rng | has("available") and has("current") and has("credit")) and (.gateways | type == "array") and
		(.unread | type == "array") and .recorded == true' detect --json
}

verdict='(.verdict | IN("accelerated", "partly", "software", "unknown", "impossible")) and (.action | IN("proceed", "refuse")) and
	([.data, .iv, .tweak] | map(IN("hardware", "software", "unknown", "none")) | all) and has("driver") and
	(.reasons | length > 0) and ([.reasons[] | (.code | test("^[a-z-]+$")) and (.text | test("[.]$"))] | all) and
	(.nearest == null or (.nearest | (.cipher | type == "string") and (.key_size > 0) and (.sector_size >= 512)))'

@test "advise --json has the fields that are promised" {
	fields "($verdict) and (.ranking | length >= 5) and ([.ranking[] | ($verdict) and (.why | type == \"string\")] | all)" advise --json
	fields "($verdict)" advise --json --cipher aes-xts-plain64
	fields "($verdict) and .verdict == \"impossible\" and .action == \"refuse\"" advise --json --cipher aes-cbc-essiv:sha1 --key-size 128
}

@test "only specs of the standard class are proposed, and what comes first is not refused" {
	fields '.action == "proceed" and ([.ranking[].class] | all(. == "standard")) and
		([.ranking[] | .nearest | select(.) | .cipher] | all(IN("aes-xts-plain64", "aes-cbc-essiv:sha256", "xchacha12,aes-adiantum-plain64")))' \
		advise --json
}

@test "load --json: each item with action, accelerator, code and text" {
	fields '.dry_run == true and ([.plan[] | (.action | IN("skip", "nothing", "load", "prepare")) and (.accelerator | type == "string") and
		has("what") and (.rng | type == "boolean") and (.code | test("^[a-z-]+$")) and (.text | test("[.]$"))] | all)' load --dry-run --json
}

# skips MACHINE ACCELERATOR CODE: nothing is loaded, and that is why.
skips() {
	run_on "$1" load --dry-run --json
	jq -e --arg a "$2" --arg c "$3" '([.plan[] | select(.action == "load" or .action == "prepare")] | length == 0) and
		([.plan[] | select(.accelerator == $a and .action == "skip" and .code == $c)] | length == 1)' "$out" || complain "$1: $(cat "$out")"
}

@test "engines that would outrank the CPU's AES instructions, are slower, or carry the memory flag stay out" {
	skips allwinner-h5-nanopi-neo2 allwinner-sun8i-ce outranks-cpu
	skips ti-am64-sa2ul ti-sa2ul outranks-cpu
	skips rk3399-roc-pc rockchip-rk-crypto outranks-cpu
	skips stm32mp157 stm32-cryp slower
	skips zhaoxin-kx-u6780a via-padlock-ace outranks-cpu
	skips qat-c3xxx intel-qat memory-flag
	skips turris-omnia-cesa marvell-cesa memory-flag
	skips kirkwood-synology-6282 marvell-cesa memory-flag
	skips imx6ul-caam nxp-caam-jr memory-flag
	skips vm-virtio-crypto-6.1-amd64 virtio-crypto memory-flag
	all_right
}

@test "asked for by name they would be loaded all the same" {
	run_on stm32mp157 load --dry-run --json stm32-cryp
	jq -e '[.plan[] | select(.action == "load" and .what == "stm32-cryp" and .code == "asked")] | length == 1' "$out"
	run_on allwinner-h5-nanopi-neo2 load --dry-run --json --all
	jq -e '[.plan[] | select(.action == "load" and .what == "sun8i-ce")] | length == 1' "$out"
}

# default_is MACHINE CIPHER KEY_SIZE VERDICT
default_is() {
	run_on "$1" advise --json
	jq -e --arg c "$2" --argjson k "$3" --arg v "$4" '.spec.cipher == $c and .spec.key_size == $k and .verdict == $v' "$out" ||
		complain "$1: $(jq -c '[.spec, .verdict]' "$out")"
}

@test "the spec that comes first" {
	default_is alix-2c2-geode-lx800 aes-xts-plain64 256 accelerated
	default_is alix-2c2-geode-lx800-unloaded aes-xts-plain64 256 accelerated
	default_is alix-2c2-geode-lx800-broken xchacha12,aes-adiantum-plain64 256 software
	default_is via-eden-c7-1200 aes-xts-plain64 512 accelerated
	default_is zhaoxin-kx-u6780a aes-xts-plain64 512 accelerated
	default_is intel-tiger-lake-vaes aes-xts-plain64 512 accelerated
	default_is raspberry-pi-5 aes-xts-plain64 512 accelerated
	default_is raspberry-pi-4 xchacha12,aes-adiantum-plain64 256 software
	default_is turris-omnia-cesa xchacha12,aes-adiantum-plain64 256 software
	default_is stm32mp157 xchacha12,aes-adiantum-plain64 256 software
	default_is kvm64-hides-aes xchacha12,aes-adiantum-plain64 256 software
	default_is mt7621-gnubee-eip93 aes-xts-plain64 512 partly
	default_is vm-noaes-6.1-amd64 xchacha12,aes-adiantum-plain64 256 software
	default_is vm-aesni-6.1-amd64 aes-xts-plain64 512 accelerated
	default_is vm-padlock-6.1-amd64 aes-xts-plain64 512 accelerated
	all_right
}

@test "a virtual machine that hides AES is told to change its CPU type" {
	run_on kvm64-hides-aes advise --json
	jq -e '[.notes.reasons[].code] | index("vm-hides-aes") != null and index("no-aes") != null' "$out"
	run_on kvm64-hides-aes advise
	grep -q 'host-passthrough' "$out"
}

@test "doctor --json has the fields that are promised, and its exit code is that of the findings" {
	local rc
	for m in $(machines); do
		rc=0
		run_on "$m" doctor --json || rc=$?
		[ $rc = 0 ] || [ $rc = 12 ] || complain "$m: exits $rc"
		jq -e --argjson rc "$rc" '([.findings[] | (.id | test("^[a-z0-9.-]+$")) and
			(.severity | IN("info", "unknown", "note", "warning", "problem")) and (.title | test("[.]$")) and (.evidence | length > 0) and
			([.evidence[] | test("[.!)]$|[.]")] | all) and .measured == false and
			(.cost == null) == (.remedy == null) and
			(.cost | IN(null, "nothing", "reopen", "reboot", "rewrites-all-data", "new-volume"))] | all) and
			(.volumes | type == "array") and (.unread | type == "array") and
			([.findings[] | select(.absorbed_by == null and (.severity | IN("warning", "problem")))] | (length > 0) == ($rc == 12))' "$out" \
			>"$out.jq" || complain "$m: $(cat "$out")"
	done
	all_right
}

# finds MACHINE ID SEVERITY: that is the first finding.
finds() {
	run_on "$1" doctor --json || [ $? = 12 ] || complain "$1: neither 0 nor 12"
	jq -e --arg id "$2" --arg s "$3" '.findings[0] | .id == $id and .severity == $s' "$out" >"$out.jq" ||
		complain "$1: $(jq -c '[.findings[] | [.id, .severity]]' "$out")"
}

@test "doctor names the fault of each machine that has one, first" {
	finds alix-2c2-geode-lx800-unloaded driver-not-loaded warning
	finds alix-2c2-geode-lx800-broken self-test-failed problem
	finds via-eden-c7-1200 driver-not-loaded warning
	finds vm-geode-unloaded-6.1-i386 driver-not-loaded warning
	finds kvm64-hides-aes vm-hides-aes warning
	finds imx6ul-caam engine-out-of-reach note
	finds turris-omnia-cesa engine-out-of-reach note
	finds raspberry-pi-4 no-aes note
	finds imx6ull-dcp key-size warning
	finds pc-without-aes software warning
	finds readynas-102 engine-excluded warning
	finds fit-pc-geode-2.6.24 essiv-refused warning
	finds raspberry-pi-3 vector-code-off note
	all_right
}

@test "doctor finds nothing above a note on machines that are set up right" {
	for m in alix-2c2-geode-lx800 vm-geode-6.1-i386 vm-padlock-6.1-amd64 vm-aesni-6.1-amd64 raspberry-pi-5 intel-tiger-lake-vaes rk3399-roc-pc \
		zhaoxin-kx-u6780a qat-c3xxx ti-am64-sa2ul allwinner-h5-nanopi-neo2 aesni-desktop imx8m-caam \
		amlogic-s905x3 rk3328-rock64 rk3568-nas rk3588-rock5b via-c3-nehemiah; do
		run_on "$m" doctor --json || complain "$m: exits $?: $(cat "$out")"
	done
	all_right
}
