#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: that the i386 hwluks holds no instruction an AMD Geode LX lacks.
# Must not know: what hwluks does. Libraries are the distribution's affair.
#
# A Geode LX has (/proc/cpuinfo of an ALIX board): fpu de pse tsc msr cx8 sep pge cmov clflush mmx mmxext 3dnowext
# 3dnow. So it has no long NOP and no hint NOPs (endbr), no fxsr, no SSE of any number, and nothing later.
# shellcheck source=tests/vm/host.sh
. "$(dirname "$0")/host.sh"

binary=${ISA_BINARY:-$PWD/build/i386/hwluks}
objdump=i686-linux-gnu-objdump

# Prints the lines of a file's disassembly that have an instruction a Geode LX lacks. $1: ELF file.
foreign() {
	"$objdump" -d --no-show-raw-insn "$1" | awk -F '\t' '
	BEGIN {
		# mnemonics in AT&T syntax; a size suffix may follow where [bwlq]? says so
		n = split("nop[wl] endbr(32|64) (ld|st)mxcsr fx(save|rstor)(64)? fisttp[sl]?l? [lm]fence " \
			"movnti popcnt[wl]? lzcnt[wl]? tzcnt[wl]? movbe[wl]? crc32[bwl]? rdrand rdseed " \
			"rdtscp monitorx? mwaitx? xgetbv xsave.* xrstor.* xabort xbegin xend xtest " \
			"andn bextr blsi blsr blsmsk bzhi mulx pdep pext rorx sarx shlx shrx adcx adox " \
			"cmpxchg16b clflushopt clwb clzero rdpid serialize wbnoinvd rdfsbase wrfsbase " \
			"v[a-z].* incssp[dq] rdssp[dq] saveprevssp cvtt?[sp][sd]2[sp]i[lq]? movq2dq movdq2q " \
			"paddq psubq pmuludq pshufb pabs[bwd] palignr phadd.* phsub.* pmaddubsw pmulhrsw psign[bwd]", word, " ")
		for (i = 1; i <= n; i++) bad = bad (i > 1 ? "|" : "") word[i]
		bad = "^(" bad ")$"
	}
	NF >= 2 {
		k = split($2, w, " ")
		m = ""
		for (i = 1; i <= k; i++) {
			if (w[i] ~ /^(lock|repn?z?e?|data16|addr16|notrack|bnd|[cdefgs]s)$/) continue
			m = w[i]
			break
		}
		# verr and verw are 80286 instructions
		if ((m ~ bad && m !~ /^ver[rw]$/) || $2 ~ /%[xyz]mm[0-9]/ || $2 ~ /^notrack|^bnd /) print
	}'
}

# The detector must find what it is for: each of these is one that compilers emit for newer processors.
mkdir -p "$vm_build/isa"
for insn in 'nopl 0(%eax)' 'nopw 0(%eax,%eax,1)' 'nopw %cs:0(%eax,%eax,1)' 'endbr32' 'movaps %xmm0,%xmm1' \
	'pxor %xmm0,%xmm0' 'cvttsd2si (%eax),%eax' 'movsd (%eax),%xmm0' 'lfence' 'mfence' 'fisttpll (%eax)' \
	'stmxcsr (%eax)' 'popcnt %eax,%eax' 'rep; bsf %eax,%eax; tzcnt %eax,%eax' 'movnti %eax,(%eax)' \
	'vpxor %ymm0,%ymm0,%ymm0' 'notrack jmp *%eax' 'rdrand %eax' 'andn %eax,%eax,%eax' 'fxsave (%eax)' \
	'rdtscp' 'shlx %eax,%ebx,%ecx' 'paddq %xmm1,%xmm2' \
	'paddq %mm1,%mm2' 'pshufb %mm1,%mm2' 'prefetcht0 (%eax); cvtsd2si (%eax),%eax'; do
	printf '\t.text\n\t%s\n' "$insn" >"$vm_build/isa/bad.s"
	i686-linux-gnu-as -o "$vm_build/isa/bad.o" "$vm_build/isa/bad.s" || fail "assembles: $insn"
	foreign "$vm_build/isa/bad.o" >"$vm_build/isa/found"
	ok "the detector finds: $insn" test -s "$vm_build/isa/found"
done
# … and not what a Geode LX has.
cat >"$vm_build/isa/good.s" <<'ASM'
	.text
	nop
	xchg %ax,%ax
	.byte 0x8d, 0x74, 0x26, 0x00
	rep; nop
	cmovne %eax,%ebx
	fcmovne %st(1),%st
	fucomip %st(1),%st
	movq (%eax),%mm0
	pshufw $0,%mm0,%mm1
	pfadd %mm0,%mm1
	femms
	prefetchw (%eax)
	prefetchnta (%eax)
	sfence
	clflush (%eax)
	cmpxchg8b (%eax)
	rdtsc
	cpuid
	sysenter
	verr %ax
	lock; cmpxchg %eax,(%ebx)
	rep; movsl
	cs; mov (%eax),%eax
	bswap %eax
	xadd %eax,(%ebx)
ASM
ok 'assembles' i686-linux-gnu-as -o "$vm_build/isa/good.o" "$vm_build/isa/good.s"
is 'the detector passes what a Geode LX has' "$(foreign "$vm_build/isa/good.o")" ''

# A binary built for a current processor must be caught too, or the flags and not the test would be what matters.
cat >"$vm_build/isa/c.c" <<'C'
double half(double x) { return x / 2; }
int ones(unsigned int x) { return __builtin_popcount(x); }
C
i686-linux-gnu-gcc -O2 -march=x86-64-v2 -mfpmath=sse -fcf-protection=full -c -o "$vm_build/isa/c.o" "$vm_build/isa/c.c"
cmp_ok 'a current compiler target is caught' "$(foreign "$vm_build/isa/c.o" | wc -l)" -ge 3

if ok "$binary exists (make i386)" test -x "$binary"; then
	like 'it is an i386 program' "$("$objdump" -f "$binary")" '*elf32-i386*'
	cmp_ok 'it disassembles' "$("$objdump" -d "$binary" | wc -l)" -ge 100
	found=$(foreign "$binary" | head -n 10)
	is 'no instruction that a Geode LX lacks' "$found" ''
	# the guests' userland is Debian 12's
	newest=$(i686-linux-gnu-readelf -V "$binary" | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -n 1)
	is 'needs no C library newer than the guests have' \
		"$(printf '%s\nGLIBC_2.36\n' "$newest" | sort -V | tail -n 1)" GLIBC_2.36
	for lib in libcryptsetup libblkid libdevmapper libkmod libjson-c libcrypto; do
		like "links $lib" "$(i686-linux-gnu-readelf -d "$binary")" "*NEEDED*$lib.so*"
	done
fi
done_testing
