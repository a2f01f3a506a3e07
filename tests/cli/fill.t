#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# hwluks fill on image files and loop devices: what it writes, refuses, survives and reports.
# Needs cc, e2fsprogs, cryptsetup; loop devices where there are any and the user is root.
#
# FILL_KILLS=200 SIGKILLs at random moments; FILL_SEED=n repeats a run.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use POSIX qw(:sys_wait_h);
use Test::More;
use Time::HiRes qw(sleep time);

$ENV{LC_ALL} = 'C';
$ENV{PATH} .= ':/usr/sbin:/sbin';
my $here = abs_path(dirname(__FILE__));
my $build = $ENV{BUILD} || "$here/../../build";
my $hwluks = $ENV{HWLUKS} || "$build/hwluks";
my $dir = tempdir('hwluks-fill.XXXXXX', TMPDIR => 1, CLEANUP => 1);
my $MIB = 1 << 20;
my $seed = $ENV{FILL_SEED} || $$ ^ time;
srand($seed);
note "FILL_SEED=$seed";
chdir $dir or die;
my @loops;
END { system('losetup', '-d', $_) for @loops; chdir '/' }

# Runs hwluks; the exit code, with what it said in $out and $err.
my ($out, $err);
sub hwluks {
	my $code = system("$hwluks " . join(' ', @_) . ' >out 2>err </dev/null');
	$out = slurp('out');
	$err = slurp('err');
	return $code & 127 ? -($code & 127) : $code >> 8;
}
sub slurp { open my $f, '<:raw', $_[0] or die "$_[0]: $!"; local $/; my $s = <$f>; return defined $s ? $s : '' }
sub json { my $k = shift; return $out =~ /"$k":\s*"?([-\w]+)/ ? $1 : undef }

# A file of blocks that no fill makes: "old" and the number of the block in each 512 bytes.
sub old_image {
	my ($name, $bytes) = @_;
	open my $f, '>:raw', $name or die;
	print $f pack('a8 Q< x496', 'oldblock', $_) for 0 .. int($bytes / 512) - 1;
	print $f 'x' x ($bytes % 512);
	close $f;
}
# Numbers of the old 512-byte blocks that are left in [start, end).
sub old_blocks {
	my ($name, $start, $end) = @_;
	my ($s, @left) = (slurp($name));
	for (my $at = $start; $at + 512 <= $end; $at += 512) {
		push @left, $at / 512 if substr($s, $at, 8) eq 'oldblock';
	}
	return @left;
}
# Blocks of 4096 that are there twice.
sub repeated {
	my ($s, %seen, $n) = (slurp($_[0]));
	$n = 0;
	for (my $at = 0; $at + 4096 <= length $s; $at += 4096) { $n++ if $seen{substr($s, $at, 4096)}++ }
	return $n;
}

# --- what is written ---------------------------------------------------------------------------------

for my $engine (qw(aes chacha urandom)) {
	old_image('img', 8 * $MIB);
	is(hwluks('fill -q --engine', $engine, 'img'), 0, "$engine fills") or diag $err;
	is(-s 'img', 8 * $MIB, "$engine: right size");
	is(scalar(old_blocks('img', 0, 8 * $MIB)), 0, "$engine: nothing of the old is left");
	is(repeated('img'), 0, "$engine: no block twice");
	system('gzip -9 <img >img.gz');
	cmp_ok(-s 'img.gz', '>', 8 * $MIB, "$engine: incompressible");
}
system('cp img first');
hwluks('fill -q --engine aes img');
isnt(slurp('img'), slurp('first'), 'another key each time');
for my $bytes (1, 511, 4096, 100_000, $MIB + 1, 3 * $MIB + 12_345) {
	old_image('odd', $bytes);
	my $before = slurp('odd');
	is(hwluks('fill -q --verify odd'), 0, "$bytes bytes: filled and read back") or diag $err;
	is(-s 'odd', $bytes, "$bytes bytes: right size");
	is(scalar(old_blocks('odd', 0, $bytes)), 0, "$bytes bytes: all of it") if $bytes > 511;
	isnt(slurp('odd'), $before, "$bytes bytes: changed") if $bytes > 1;
}
old_image('img', 8 * $MIB);
is(hwluks('fill -q --offset 2049 --length 4099 --verify img'), 0, 'a range') or diag $err;
is_deeply([old_blocks('img', 0, 8 * $MIB)], [0 .. 2048, 2049 + 4099 .. 16383], 'a range: no byte before or behind it');

# --- what is refused ---------------------------------------------------------------------------------

old_image('img', 8 * $MIB);
my $before = slurp('img');
is(hwluks('fill img'), 1, 'nobody to ask: refused');
is(hwluks('fill -q --resume img'), 1, 'nothing to resume');
is(hwluks('fill -q --resume --restart img'), 1, '--resume with --restart');
is(hwluks('fill -q --engine best img'), 1, 'an engine that is none');
is(hwluks('fill -q --engine urandom --verify img'), 1, '--verify of what cannot be made again');
is(hwluks('fill -q --offset 16384 img'), 1, 'a range behind the end');
is(hwluks('fill -q --length 16385 img'), 1, 'a range longer than the device');
is(hwluks('fill -q --length 0 img'), 1, 'nothing to fill is not all of it');
is(hwluks('fill -q --state img img'), 1, 'the target as state file');
is(hwluks('fill -q no-such-file'), 4, 'no such device');
is(hwluks('fill --dry-run img'), 0, 'a dry run');
like($out, qr/^  time +(about|cannot)/m, 'the plan tells the time');
is(slurp('img'), $before, 'none of them changed a byte');
system('mke2fs -q -F -t ext4 img');
$before = slurp('img');
is(hwluks('fill -q img'), 5, 'a file system: refused');
is(slurp('img'), $before, 'a file system: unchanged');
is(hwluks('fill -q --wipe-signatures img'), 0, 'a file system: --wipe-signatures');

# --- signals -----------------------------------------------------------------------------------------

# Starts a fill; its process number.
sub start {
	my @args = @_;
	my $pid = fork;
	if (!$pid) {
		open STDIN, '<', '/dev/null';
		open STDOUT, '>', 'out';
		open STDERR, '>', 'err';
		exec $hwluks, @args;
	}
	return $pid;
}
# The first bytes at a place of a file.
sub at {
	my ($name, $offset, $n) = @_;
	open my $f, '<:raw', $name or die;
	seek $f, $offset, 0;
	my $s = q();
	read $f, $s, $n;
	return $s;
}
# Waits until the fill has come past a place.
sub wait_filled {
	my ($name, $offset) = @_;
	for (1 .. 1200) {
		return if at($name, $offset, 8) ne 'oldblock';
		sleep 0.02;
	}
	die "$name: byte $offset was not filled within 24 s";
}

for my $case (['INT', 130], ['TERM', 143]) {
	my ($signal, $code) = @$case;
	old_image('img', 24 * $MIB);
	my $pid = start(qw(fill -q --rate-limit 4M img));
	wait_filled('img', 4 * $MIB);
	kill 'USR1', $pid;
	wait_filled('img', 6 * $MIB);
	kill $signal, $pid;
	waitpid $pid, 0;
	is($? >> 8, $code, "SIG$signal: exit code");
	my $said = slurp('err');
	like($said, qr/^Filled .* left$/m, "SIGUSR1 before SIG$signal: a line of progress");
	like($said, qr/--resume \S*img$/m, "SIG$signal: says how to go on");
	is(hwluks('detect img'), 0, 'detect');
	like($out, qr/interrupted hwluks fill/, "SIG$signal: detect names it");
	is(hwluks('fill -q img'), 5, "SIG$signal: not begun anew unasked");
	like($err, qr/--resume/, "SIG$signal: and why");
	is(hwluks('fill -q --resume --verify img'), 0, "SIG$signal: resumed") or diag $err;
	like($out, qr/sampled/, "SIG$signal: says that the earlier part was only sampled");
	is(scalar(old_blocks('img', 0, 24 * $MIB)), 0, "SIG$signal: all of it");
}

# --- another device ----------------------------------------------------------------------------------

sub interrupted {
	my ($name, @more) = @_;
	old_image($name, 24 * $MIB);
	my $pid = start('fill', '-q', '--rate-limit', '6M', @more, $name);
	wait_filled($name, 4 * $MIB);
	kill 'INT', $pid;
	waitpid $pid, 0;
	return $? >> 8;
}
is(interrupted('img'), 130, 'interrupted');
hwluks('--json detect img');
my $mark = json('watermark');
cmp_ok($mark, '>', $MIB, 'the watermark moved');
system('cp img changed; cp img shrunk; cp img restart; truncate -s 20M shrunk');
open my $f, '+<:raw', 'changed' or die;
seek $f, $mark - 100, 0;
print $f 'X';
close $f;
for my $name (qw(changed shrunk)) {
	my $was = slurp($name);
	is(hwluks("fill -q --resume $name"), 4, "$name: refused");
	like($err, qr/--restart/, "$name: offers --restart");
	is(slurp($name), $was, "$name: untouched");
}
is(hwluks('fill -q --restart restart'), 0, '--restart');
is(scalar(old_blocks('restart', 0, 24 * $MIB)), 0, '--restart: all of it');
is(interrupted('img', '--state', 'state', '--offset', '8'), 130, 'interrupted with a state file');
is(hwluks('fill -q --resume --state state img'), 0, 'resumed from a state file') or diag $err;
ok(!-e 'state', 'the state file is gone');
is_deeply([old_blocks('img', 0, 24 * $MIB)], [0 .. 7], 'the range of the state file');
is(interrupted('img', '--offset', '8'), 130, 'interrupted without a record');
like(slurp('err'), qr/cannot be resumed/, 'says that it cannot be resumed');

# --- killed ------------------------------------------------------------------------------------------

# At any moment: every block below the watermark is filled; a resume goes on; little is written twice.
my $kills = $ENV{FILL_KILLS} || 200;
my ($size, $interval) = (24 * $MIB, 4 * $MIB);
my ($killed, $unfinished, $wrong, $again, $done, $whole) = (0, 0, 0, 0, 0, 0.15);
my @resume;
while ($killed < $kills) {
	if (!@resume) { old_image('img', $size) }
	my $pid = start(qw(fill -q --engine aes --priority normal), @resume, 'img');
	sleep rand() * $whole;
	my $ended = waitpid($pid, WNOHANG) == $pid;
	if (!$ended) { kill 'KILL', $pid; waitpid $pid, 0 }
	if ($ended || !($? & 127)) {
		# it was faster than that: so should the next kill be
		$whole = $whole * 0.8 + 0.02;
		$wrong++, diag("kill $killed: exit " . ($? >> 8) . ': ' . slurp('err')) if $?;
		$wrong++ if old_blocks('img', 0, $size);
		@resume = ();
		next;
	}
	$killed++;
	$whole = $whole * 1.02;
	hwluks('--json detect img');
	my $to = json('watermark');
	if (!defined $to) {
		# before the first record, or after the last: all or nothing
		my @old = old_blocks('img', 0, $size);
		@old == 0 || @old == $size / 512 ? ($done += @old == 0) : ($wrong++, diag "kill $killed: no record, " . @old . ' old blocks');
		@resume = ();
		next;
	}
	$unfinished++;
	@resume = ('--resume');
	my @below = old_blocks('img', $MIB, $to);
	$wrong++, diag("kill $killed: block $below[0] below the watermark $to is old") if @below;
	my $twice = $size - $to - 512 * old_blocks('img', $to, $size);
	$again = $twice if $twice > $again;
	# a quarter of them is finished at once, so that all parts of a fill are met again and again
	next if rand() < 0.75;
	$wrong++, diag("kill $killed: resume: $err") if hwluks('fill -q --resume --priority normal img');
	$wrong++, diag("kill $killed: not all of it") if old_blocks('img', 0, $size);
	@resume = ();
}
note "$killed kills, $unfinished of them left a record, $done came after the last write; at most $again bytes written twice";
is($wrong, 0, "$killed times killed: what is below the watermark is filled, and every resume completes");
cmp_ok($unfinished, '>=', $kills / 20, 'killed: enough of them in the middle');
cmp_ok($again, '<=', $interval, 'killed: at most one watermark interval is written again');

# --- errors of the medium ------------------------------------------------------------------------------

system("cc -shared -fPIC -O1 -o fault_io.so $here/fault_io.c -ldl") == 0 or die;
sub faulty {
	my ($bad, @args) = @_;
	local $ENV{LD_PRELOAD} = "$dir/fault_io.so";
	local $ENV{ASAN_OPTIONS} = 'verify_asan_link_order=0';
	local $ENV{FAULT_TARGET} = 'img';
	local $ENV{FAULT_BAD} = $bad;
	return hwluks(@args);
}
for my $case (
	['start', 0, 512], ['second slot', 65536, 512], ['head', 8192, 1024], ['middle', 5 * $MIB + 4096, 1536], ['end', 8 * $MIB - 512, 512],
	['a whole chunk', 3 * $MIB, $MIB]) {
	my ($name, $start, $len) = @$case;
	old_image('img', 8 * $MIB);
	is(faulty("$start $len", '--json fill -q --verify img'), 14, "EIO, $name: exit code");
	my $want = join ' ', map { "$_->[0] $_->[1]" } ([$start, $len]);
	my ($list) = $out =~ /"bad_ranges":\s*\[(.*?)\]/s;
	my @got = $list =~ /"start":\s*(\d+),\s*"bytes":\s*(\d+)/g;
	is("@got", $want, "EIO, $name: the list");
	like($err, qr/bytes $start to @{[$start + $len - 1]} /, "EIO, $name: said");
	is_deeply([old_blocks('img', 0, 8 * $MIB)], [$start / 512 .. ($start + $len) / 512 - 1], "EIO, $name: all but that is filled");
}
old_image('img', 8 * $MIB);
{
	local $ENV{FAULT_ERRNO} = 28;
	is(faulty(5 * $MIB . ' 512', '--json fill -q img'), 1, 'ENOSPC: exit code');
	like($err, qr/No space left/, 'ENOSPC: named');
	is(json('result'), 'failed', 'ENOSPC: no success');
	local $ENV{FAULT_ERRNO} = 6;
	is(faulty(5 * $MIB . ' 512', '--json fill -q --restart img'), 4, 'the device vanishes: exit code');
	like($err, qr/device is gone/, 'the device vanishes: named');
}
is(hwluks('fill -q --resume img'), 0, 'resumed when the device is back');
is(scalar(old_blocks('img', 0, 8 * $MIB)), 0, 'all of it');

# --- read back -----------------------------------------------------------------------------------------

# A bit that flips between writing and reading back: the fill is slowed, so that it can be done meanwhile.
for my $where (0, 6 * $MIB + 777, 8 * $MIB - 1) {
	old_image('img', 8 * $MIB);
	my $pid = start(qw(--json fill -q --verify --rate-limit 4M img));
	my $flipped = 0;
	for (1 .. 4000) {
		sleep 0.005;
		# the head is written last: from then on it is read back
		next if at('img', 0, 6) eq 'hwluks' || at('img', 0, 8) eq 'oldblock';
		my $byte = ord at('img', $where, 1);
		open my $g, '+<:raw', 'img' or die;
		seek $g, $where, 0;
		print $g chr($byte ^ 1 << int rand 8);
		close $g;
		$flipped = 1;
		last;
	}
	waitpid $pid, 0;
	ok($flipped, "a bit of byte $where flips");
	is($? >> 8, 14, "a bit of byte $where flips: seen");
	$out = slurp('out');
	my ($list) = $out =~ /"wrong_ranges":\s*\[(.*?)\]/s;
	my @got = $list =~ /"start":\s*(\d+),\s*"bytes":\s*(\d+)/g;
	is("@got", int($where / 512) * 512 . ' 512', "a bit of byte $where flips: named");
}

# --- progress ------------------------------------------------------------------------------------------

old_image('img', 12 * $MIB);
is(hwluks('fill -q --rate-limit 8M --progress-json img'), 0, '--progress-json');
my @lines = split /\n/, $out;
cmp_ok(scalar @lines, '>=', 2, '--progress-json: several lines');
my @odd = grep { !/^\{"device":"[^"]+","device_bytes":"\d+","device_size":"\d+","speed":"\d+","eta_ms":"\d+","time_ms":"\d+",/ } @lines;
is("@odd", '', "--progress-json: cryptsetup's keys");
rename('img', 'a"b');
is(hwluks(q(fill -q --rate-limit 8M --progress-json 'a"b')), 0, '--progress-json: a name with a quote');
like($out, qr/^\{"device":"[^"]*a\\"b",/, '--progress-json: it is quoted');

# --- before a header -----------------------------------------------------------------------------------

old_image('img', 32 * $MIB);
open my $k, '>', 'key';
print $k 'a passphrase';
close $k;
my $format = 'format -q --software -c aes-xts-plain64 -s 512 --pbkdf pbkdf2 --pbkdf-force-iterations 1000 --key-file key';
is(hwluks("$format --fill img"), 0, 'format --fill') or diag $err;
is(scalar(old_blocks('img', 16 * $MIB, 32 * $MIB)), 0, 'format --fill: the data area is filled');
is(system('cryptsetup open --test-passphrase --key-file key img'), 0, 'format --fill: the volume opens');
hwluks('--json detect img');
like($out, qr/"fill_record":\s*null/, 'format --fill: no record is left');
old_image('img', 32 * $MIB);
is(hwluks("$format --fill=none img"), 0, 'format --fill=none');
cmp_ok(scalar(old_blocks('img', 16 * $MIB, 32 * $MIB)), '==', 32768, 'format --fill=none: the data area is as it was');
is(hwluks("$format --fill=fast img"), 1, 'format --fill with an engine that is none');
is(interrupted('img'), 130, 'a fill interrupted before a format');
is(hwluks("$format --fill img"), 5, 'format --fill over it: refused');
is(hwluks("$format --header hdr img"), 5, 'a detached header over it: refused');
is(hwluks("$format img"), 0, 'format over it') or diag $err;
hwluks('--json detect img');
like($out, qr/"fill_record":\s*null/, 'format over it: no record is left');

# --- loop devices ------------------------------------------------------------------------------------------

SKIP: {
	skip 'no loop devices, or not root', 4 if $> || !-e '/dev/loop-control';
	old_image('img', 16 * $MIB);
	chomp(my $loop = `losetup -f --show img 2>/dev/null`);
	skip 'no loop device to be had', 4 if !$loop;
	push @loops, $loop;
	is(hwluks('fill -q img'), 5, 'a file behind a loop device: refused');
	is(hwluks("--json fill -q --verify $loop"), 0, 'a loop device: filled and read back') or diag $err;
	is(json('direct'), 'true', 'a loop device: O_DIRECT');
	system('losetup', '-d', pop @loops);
	is(scalar(old_blocks('img', 0, 16 * $MIB)), 0, 'a loop device: all of it');
}
done_testing;
