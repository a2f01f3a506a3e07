# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: verification, measuring, bindings, stamps and quarantine on a Geode engine that works.
# Must not know: commands of hwluks; verify-tool calls the layer below them.
# shellcheck source=tests/vm/tap.sh
. /tests/tap.sh

k16=000102030405060708090a0b0c0d0e0f
get() { sed -n "s/^$1 //p" "$OUT"; }

# $1: when. Nothing of a test stays: mapping, loop device, node, plain file.
nothing_left() {
	i=0
	while dmsetup ls | grep -qv '^No devices' && [ $i -lt 20 ]; do sleep 0.1 && i=$((i + 1)); done
	is "$1: no mapping is left" "$(dmsetup ls)" 'No devices found'
	is "$1: no loop device is left" "$(cat /sys/block/loop*/loop/backing_file 2>/dev/null)" ''
	is "$1: no node or file is left" "$(find /dev -name '*hwluks*') $(ls /dev/mapper)" ' control'
}

# $1: cipher; $2: bits; $3: sector size; $4: driver; $5: 1 = ciphertext is compared; $6: 1 = the engine does the data
verified() {
	hw_mark
	run 0 "$1 $2 $3: verified" verify-tool verify "$1" "$2" "$3"
	diag "$(get text) $(get ms) ms"
	is "$1 $2 $3: outcome, driver, ciphertext" "$(get outcome) $(get driver) $(get ciphertext)" "ok $4 $5"
	cmp_ok "$1 $2 $3: at least 8192 operations" "$(get operations)" -ge 8192
	is "$1 $2 $3: nothing is left behind" "$(get left)" ''
	if [ "$6" = 1 ]; then
		cmp_ok "$1 $2 $3: the engine did them" "$(hw_ops all)" -ge "$(get operations)"
	else
		# ESSIV may use it for nothing at all, XTS for no data
		cmp_ok "$1 $2 $3: the engine did no data" "$(hw_bytes all)" -lt 65536
	fi
}

must_fail 'before the driver is loaded' verify-tool verify aes-cbc-plain64 129 512
is 'a key nobody takes' "$(get outcome)" open-failed
verified aes-cbc-plain64 128 512 'cbc(aes-generic)' 1 0
ok 'modprobe' modprobe geode_aes
verified aes-cbc-plain64 128 512 cbc-aes-geode 1 1
verified aes-cbc-plain64 128 4096 cbc-aes-geode 1 1
verified aes-cbc-plain64 256 512 cbc-aes-geode 1 0
verified aes-cbc-essiv:sha256 128 512 'essiv(cbc-aes-geode,sha256-generic)' 1 1
verified aes-xts-plain64 256 4096 'xts(ecb-aes-geode)' 1 1
verified aes-xts-plain64 512 512 'xts(ecb-aes-geode)' 1 0
verified aes-ecb 128 512 ecb-aes-geode 1 1
verified xchacha12,aes-adiantum-plain64 256 4096 'adiantum(xchacha12-generic,geode-aes,nhpoly1305-generic)' 0 0
nothing_left 'after verifying'
run 1 'a cipher this kernel lacks' verify-tool verify nosuch-xts-plain64 512 512
is 'is no fault of a driver' "$(get outcome)" open-failed
diag "$(get text)"
run 0 'a driver by name' verify-tool verify aes-cbc-plain64 128 512 0 'capi:cbc(aes-generic)-plain64'
is 'is the one tested' "$(get driver)" 'cbc(aes-generic)'
DM_DISABLE_UDEV='' run 0 'with libdm looking for udev' verify-tool verify aes-cbc-plain64 128 512
nothing_left 'without DM_DISABLE_UDEV'

# a test that is killed itself
verify-tool verify aes-xts-plain64 512 512 >/dev/null 2>&1 &
i=0
# the mapping goes with its last user, from the moment that it has one
while ! dmsetup info -c --noheadings -o name,open | grep -q 'hwluks-verify.*:1' && [ $i -lt 500 ]; do sleep 0.01 && i=$((i + 1)); done
ok 'a test is under way' kill -9 $!
wait $! 2>/dev/null
nothing_left 'after a killed test'

# measuring
run 0 'measured' verify-tool measure aes-cbc-plain64 128 4096 300
sed 's/^/# /' "$OUT"
is 'driver, runs, text' "$(get driver) $(get write | cut -d' ' -f4) $(get read | cut -d' ' -f4) $(get text)" 'cbc-aes-geode 3 3 '
nothing_left 'after measuring'

# What a forced driver made the kernel build goes with the measurement. It would serve plain xts from then on: the kernel
# looks at what is registered before it asks a template.
instances() { sed -n 's/^driver *: \(.*(.*\)/\1/p' /proc/crypto | sort; }
was=$(instances)
run 0 'measured in software, by name' verify-tool measure aes-xts-plain64 256 512 100 'capi:xts(ecb(aes-generic))-plain64'
is 'is what was measured' "$(get driver)" 'xts(ecb(aes-generic))'
is 'no instance is listed that was not there before' "$(instances)" "$was"
run 0 'verified in software, by name' verify-tool verify aes-cbc-essiv:sha256 128 512 0 'capi:cbc(aes-generic)-essiv:sha256-generic'
is 'no instance of that either' "$(instances)" "$was"
verified aes-xts-plain64 256 512 'xts(ecb-aes-geode)' 1 1
verified aes-cbc-essiv:sha256 128 512 'essiv(cbc-aes-geode,sha256-generic)' 1 1

# facts and bindings
ok 'a volume' dmsetup create a --table "0 512 crypt aes-cbc-plain64 $k16 0 /dev/vda 0 1 allow_discards"
ok 'facts' verify-tool facts a
is 'facts of the table' "$(get cipher) $(get bits) $(get sector) $(get flags) $(get offset) $(get size) $(get mappings)" \
	'aes-cbc-plain64 128 512 allow_discards 0 512 1'
run 1 'no such mapping' verify-tool facts nobody
ok 'a linear mapping' dmsetup create l --table '0 512 linear /dev/vda 4096'
run 1 'is no crypt mapping' verify-tool facts l
dmsetup remove l
ok 'served' verify-tool served a
is 'one mapping: counted' "$(get driver) $(get evidence)" 'cbc-aes-geode counted'
ok 'a second volume, recorded' verify-tool record b dmsetup create b --table "0 512 crypt aes-cbc-essiv:sha256 $k16 0 /dev/vda 4096"
is 'what bound' "$(get driver) $(get evidence)" 'essiv(cbc-aes-geode,sha256-generic) recorded'
ok 'served' verify-tool served b
is 'recorded' "$(get driver) $(get evidence)" 'essiv(cbc-aes-geode,sha256-generic) recorded'
ok 'served' verify-tool served a
is 'the first is still counted' "$(get driver) $(get evidence)" 'cbc-aes-geode counted'
is 'the record is for root only' "$(stat -c %a%u /run/hwluks) $(stat -c %a%u /run/hwluks/b.binding)" '7000 6000'
dmsetup remove b
ok 'another volume of that name' dmsetup create b --table "0 512 crypt aes-cbc-essiv:sha256 $k16 0 /dev/vda 4096"
ok 'served' verify-tool served b
is 'the old record is not believed' "$(get driver) $(get evidence)" 'essiv(cbc-aes-geode,sha256-generic) counted'
dmsetup remove b
dmsetup remove a

# once per load of the module
ok 'stamp' verify-tool stamp cbc-aes-geode geode_aes write
ok 'stamp' verify-tool stamp cbc-aes-geode geode_aes
is 'verified' "$(get stamp)" 1
ok 'unload' rmmod geode_aes
ok 'load' modprobe geode_aes
ok 'stamp' verify-tool stamp cbc-aes-geode geode_aes
is 'a module loaded again is not verified' "$(get stamp)" 0

# quarantine
ok 'an instance on the engine' verify-tool verify aes-cbc-essiv:sha256 128 512
ok 'quarantine' verify-tool quarantine geode_aes
sed 's/^/# /' "$OUT"
is 'all three, and what is built on them' "$(get lowered) $(get still)" '3 '
is 'priorities' "$(crypto_field cbc-aes-geode priority) $(crypto_field ecb-aes-geode priority) $(crypto_field geode-aes priority)" '0 0 0'
is 'no instance is listed' "$(grep -c 'driver.*(.*geode' /proc/crypto)" 0
verified aes-cbc-essiv:sha256 128 512 'essiv(cbc(aes-generic),sha256-generic)' 1 0
verified aes-xts-plain64 256 512 'xts(ecb(aes-generic))' 1 0
run 1 'plain CPU code is never taken out' verify-tool quarantine aes_generic
done_testing
