#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A guest that crashes, hangs or is ended: what vpt run says of it, and what the file keeps for
# vpt info and vpt decode.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
VPT=$(realpath "$VPT")
cd "$dir" || exit 1

# guest NAME <C: calls outer() at the end of a chain of calls.
guest() {
	cat >"$1.c"
	gcc -g -O1 -fno-optimize-sibling-calls -fno-stack-protector -ffreestanding -nostdlib -static \
		-no-pie -Wl,--build-id=none -o "$1" "$1.c" || exit 1
}

# has NAME FILE WORDS...: each of them is in the file, in this order.
has() {
	h_name=$1
	h_file=$2
	shift 2
	h_words=$(printf '%s\n' "$@")
	h_missing=$(awk -v words="$h_words" '
		BEGIN { n = split(words, word, "\n"); i = 1 }
		i <= n && index($0, word[i]) { i++ }
		END { if (i <= n) print word[i] }' "$h_file")
	if [ -z "$h_missing" ]; then
		tap_ok "$h_name"
	else
		tap_fail "$h_name" "not there, or not in its place: $h_missing
$(cat "$h_file")"
	fi
}

# No IDT: any exception ends in a triple fault.
guest fault <<'END'
static __attribute__((noinline)) void poke(volatile int *p)
{
	*p = 1;
}
static __attribute__((noinline)) void outer(int n)
{
	if (n)
		outer(n - 1);
	else
		poke((int *)0x7fffdead0000);
	__asm__ volatile("");
}
void _start(void)
{
	outer(2);
	for (;;)
		;
}
END
"$VPT" run --pt=host -o t.vpt ./fault 2>said >/dev/null
tap_run "a triple fault: exit status 1" test $? -eq 1
grep -q 'triple fault at 0x[0-9a-f]* in poke (.*fault.c:3): mov dword ptr \[rdi\], 0x01$' said
tap_run "vpt run: symbol, line and instruction" test $? -eq 0
for verb in "info t.vpt" "decode t.vpt" "run --pt=host -o u.vpt ./fault"; do
	# shellcheck disable=SC2086 # a verb and its operands
	"$VPT" $verb >said 2>&1
	has "vpt $verb: the whole report" said "triple fault at 0x" \
		"#PF page fault, error code 2H (write, supervisor mode, page not present), CR2 0x7fffdead0000" \
		"its delivery raises #GP general protection, error code 73H (entry 14 of the IDT, #PF, which is beyond its limit 0H)" \
		"makes a #DF double fault" \
		"its delivery raises #GP general protection, error code 43H (entry 8 of the IDT, #DF" \
		"RDI 00007fffdead0000" "CR2 00007fffdead0000" "return addresses on the stack" " outer+0x" \
		" outer+0x" " _start+0x"
done
"$VPT" decode t.vpt >said
has "vpt decode: the last calls of the trace" said "last calls in the trace" "_start+0x" "calls" "calls" \
	"poke"
tap_run "vpt decode: the last of them is the one that faulted" sh -c "tail -n 1 said | grep -q 'calls 0x[0-9a-f]* poke$'"
"$VPT" decode -i t.vpt >said
tap_run "vpt decode -i: the last line tells it" sh -c "tail -n 1 said | grep -q '^-- the guest stopped: triple fault'"
refuses "vpt run -q: one line" "$FAIL" "triple fault at 0x[0-9a-f]* in poke" run -q --pt=host -o u.vpt ./fault
tap_empty "info has no exit status of a guest that crashed" "$("$VPT" info t.vpt | grep "guest's exit")"
"$VPT" info --json t.vpt >said
tap_empty "info --json has none either" "$(grep -o '"guest_exit":[0-9]*' said)"
for what in info decode; do
	"$VPT" $what --json t.vpt >said
	has "$what --json has all of it" said '"stop":{"kind":"triple fault"'
	tap_run "$what --json: faults" grep -q '"faults":\[{"vector":14,"name":"#PF","ip":"0x[0-9a-f]*","error":2,"cr2":"0x7fffdead0000"},{"vector":13' said
	tap_run "$what --json: place" grep -q '"symbol":"poke","file":"[^"]*fault.c","line":3,"insn":"mov' said
	tap_run "$what --json: callers" grep -q '"calls":\[{"ip":"0x[0-9a-f]*","symbol":"outer+0x' said
done
# Without a trace file, without PT, and with other trace systems it is the same.
"$VPT" run --engine=soft --pt=off ./fault 2>said >/dev/null
has "without a trace" said "in poke" "#PF page fault" "_start+0x"
"$VPT" run --model=silvermont --pt=host -o u.vpt ./fault 2>said >/dev/null
has "RTIT" said "in poke" "#PF page fault" "_start+0x"
"$VPT" run --usage=guest -o u.vpt ./fault 2>said >/dev/null
has "under a VMM" said "in poke" "#PF page fault" "_start+0x"

# A stack that has run out: the push faults, and so does the delivery of that fault.
guest recursion <<'END'
volatile int depth;
static __attribute__((noinline)) int down(int n)
{
	depth = n;
	return down(n + 1) + depth;
}
void _start(void)
{
	/* The page below the stack is not mapped. */
	*(volatile unsigned long *)0x5000 = 0;
	__asm__ volatile("mov %%cr3, %%rax; mov %%rax, %%cr3; mov $0x200800, %%rsp" : : : "rax");
	down(0);
}
END
"$VPT" run --engine=soft --pt=off ./recursion 2>said >/dev/null
has "a stack that runs out" said "triple fault" "#PF page fault, error code 2H" "#DF" \
	"return addresses on the stack" ", 32 times"

guest halt <<'END'
static __attribute__((noinline)) void idle(void)
{
	__asm__ volatile("hlt");
}
void _start(void)
{
	idle();
	for (;;)
		;
}
END
"$VPT" run --pt=host -o t.vpt ./halt 2>said >/dev/null
tap_run "a HLT for ever" grep -q 'halted for ever at 0x[0-9a-f]* with interrupts off in idle+0x1 ' said
"$VPT" info t.vpt >said
has "info tells of the HLT" said "the guest stopped: halted at 0x" "RFLAGS"
tap_empty "and has no exit status" "$(grep "guest's exit" said)"

guest spin <<'END'
static __attribute__((noinline)) void spin(int n)
{
	while (n)
		__asm__ volatile("");
}
void _start(void)
{
	spin(1);
	for (;;)
		;
}
END
"$VPT" run --pt=host --max-insns=1000 -o t.vpt ./spin 2>said >/dev/null
has "a limit of instructions: where, and who called" said "--max-insns=1000 reached at 0x" \
	"return addresses" "_start+0x"
"$VPT" info t.vpt >said
has "info tells of the limit" said "the guest stopped: instruction limit at 0x"
"$VPT" run -q --pt=host --timeout=60 -o t.vpt ./spin 2>said >/dev/null &
# Where packets are in the file, the guest runs.
for _ in $(seq 500); do
	sleep 0.02
	[ "$(stat -c %s t.vpt.part 2>/dev/null || echo 0)" -lt 100000 ] || break
done
kill -INT $!
wait $!
has "SIGINT" said "interrupted at 0x"
"$VPT" info t.vpt >said
has "info tells of SIGINT" said "the guest stopped: interrupted at 0x"
tap_empty "and has no exit status" "$(grep "guest's exit" said)"

guest ends <<'END'
void _start(void)
{
	__asm__ volatile("outl %%eax, %%dx" : : "a"(3), "d"(0xf4));
	for (;;)
		;
}
END
refuses "a guest that ends with status 3" "$FAIL" "ended with status 3" run -q --pt=host -o t.vpt ./ends
"$VPT" info t.vpt >said
has "info has the status" said "guest's exit   3"
tap_empty "and nothing else of the end" "$(grep 'the guest stopped' said)"
tap_end
