# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: the main job on a CPU with AES instructions whose driver is not loaded yet.
# Must not know: how hwluks decides.
# shellcheck source=tests/vm/tap.sh
. /tests/tap.sh
# shellcheck source=tests/vm/volume-lib.sh
. /tests/volume-lib.sh

size=1048576
ok 'detect' hwluks detect --json
is 'detect: the row' "$(json id)" x86-aesni
is 'the driver is not loaded' "$(crypto_field xts-aes-aesni name)" ''
next_slot
format 0 'format with nothing said'
is 'it chose xts with the long key' "$(json cipher) $(json key_size)" 'aes-xts-plain64 512'
is 'verdict' "$(json verdict) $(json data) $(json tweak)" 'accelerated hardware hardware'
is 'it loaded the driver' "$(crypto_field xts-aes-aesni selftest)" passed
open_vol 'opens'
is 'served by' "$(json served_by)" xts-aes-aesni
is 'evidence' "$(json evidence)" recorded
write_vol aes-xts-plain64 512 $size 'hwluks aesni default'
read_vol default $size
is 'the driver is held' "$(crypto_field xts-aes-aesni refcnt)" 2
ok 'status' hwluks status --json vol
is 'status' "$(json served_by) $(json evidence)" 'xts-aes-aesni recorded'
rm -f /run/hwluks/vol*
ok 'status without the record' hwluks status --json vol
is 'the reference counts tell' "$(json served_by) $(json evidence)" 'xts-aes-aesni counted'
ok 'closes' hwluks close vol

# A volume that was open before its driver came: nobody can name what serves it, and status says so.
# (A deny list keeps the kernel from loading it by its alias, crypto-aes, as soon as somebody asks for AES.)
mkdir -p /etc/modprobe.d
echo 'blacklist aesni_intel' >/etc/modprobe.d/late.conf
rmmod aesni_intel
next_slot
# shellcheck disable=SC2086
ok 'a volume by cryptsetup' cryptsetup luksFormat $fast -c aes-xts-plain64 -s 512 --key-file $pw $disk
cryptsetup open --key-file $pw $disk vol
ok 'load' hwluks load --json
is 'load honours the deny list' "$(json code)" denied
like 'and names it' "$(cat "$OUT")" '*/etc/modprobe.d/late.conf*'
is 'so nothing was loaded' "$(crypto_field xts-aes-aesni name)" ''
ok 'load --force' hwluks load --force
is 'now it is' "$(crypto_field xts-aes-aesni selftest)" passed
ok 'status of the early one' hwluks status --json vol
is 'not on the new driver' "$(json evidence)" unknown
is 'verdict' "$(json verdict)" unknown
ok 'closes' hwluks close vol
sync
done_testing
