#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# vpt diff: the first difference is that of the listings of vpt decode, which diff(1) finds.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh

record() { # NAME PAYLOAD OPTION...
	rc_name=$1
	rc_payload=$2
	shift 2
	"$VPT" run -q --engine=soft --pt=host -o "$dir/$rc_name.vpt" "$@" "$GUEST/$rc_payload.elf" \
		>/dev/null 2>&1
}

# The listing of a vCPU without what is not compared: spaces, sessions and the clock ratio.
listing() { # FILE VCPU
	"$VPT" decode --insn --vcpu="$2" "$1" | grep '^[0-9a-f]\{16\} '
}

# The number of lines that two listings have in common at their begin.
common() { # A B
	python3 - "$1" "$2" <<-'END'
		import sys
		a, b = (open(name).read().split("\n") for name in sys.argv[1:])
		n = 0
		while n < min(len(a), len(b)) and a[n] == b[n]:
		    n += 1
		print(n, len(a) == len(b) == n)
	END
}

# Compare vpt diff --insns with the listings of a vCPU.
agrees() { # A B VCPU
	listing "$dir/$1.vpt" "$3" >"$dir/a.txt"
	listing "$dir/$2.vpt" "$3" >"$dir/b.txt"
	ag_want=$(common "$dir/a.txt" "$dir/b.txt")
	"$VPT" diff --insns --json --vcpu="$3" "$dir/$1.vpt" "$dir/$2.vpt" >"$dir/json"
	ag_status=$?
	ag_insns=$(jq '.vcpus[0].insns' "$dir/json")
	ag_n=${ag_want% *}
	if [ "${ag_want#* }" = True ]; then
		test "$ag_status" -eq 0 -a "$((ag_insns + 1))" -ge "$ag_n"
		return
	fi
	test "$ag_status" -eq 1 -a "$ag_insns" -eq "$ag_n" || return
	# The first lines that differ, if there are any.
	ag_a=$(sed -n "$((ag_n + 1))s/ .*//p" "$dir/a.txt")
	ag_b=$(sed -n "$((ag_n + 1))s/ .*//p" "$dir/b.txt")
	test "$(jq -r '.vcpus[0].a.ip // ""' "$dir/json" | sed 's/0x//')" = "$(echo "$ag_a" | sed 's/^0*//')" &&
		test "$(jq -r '.vcpus[0].b.ip // ""' "$dir/json" | sed 's/0x//')" = "$(echo "$ag_b" | sed 's/^0*//')"
}

# Count the pairs that differ.
different=0
count() { different=$((different + $(jq '.vcpus[0].equal | if . then 0 else 1 end' "$dir/json"))); }

for pair in quicksort:1:2 quicksort:1:1 processes:30:31 timer:20:30 demand:5:6; do
	payload=${pair%%:*}
	args=${pair#*:}
	record "$payload-${args%:*}" "$payload" --arg="${args%:*}"
	record "$payload-${args#*:}" "$payload" --arg="${args#*:}"
	tap_run "$payload, ${args%:*} and ${args#*:}" agrees "$payload-${args%:*}" "$payload-${args#*:}" 0
	count
done
record smp-a smp --cpus=3 --arg=20
record smp-b smp --cpus=3 --arg=21
for vcpu in 0 1 2; do
	tap_run "smp, vCPU $vcpu" agrees smp-a smp-b $vcpu
	count
done
tap_run "pairs that differ: $different" test "$different" -ge 4

same() { "$VPT" diff "$dir/quicksort-1.vpt" "$dir/quicksort-1.vpt" >"$dir/out" 2>&1; }
tap_run "a trace and itself" same
tap_run "one line" grep -qx 'diff: equal: vCPUs: 1, instructions: [1-9][0-9]*' "$dir/out"

"$VPT" diff -C 2 "$dir/quicksort-1.vpt" "$dir/quicksort-2.vpt" >"$dir/out"
tap_run "traces that differ: status 1" test $? -eq 1
tap_run "two common lines" test "$(grep -c '^    [0-9a-f]' "$dir/out")" -eq 2
tap_run "two of A, two of B" test "$(grep -c '^  - ' "$dir/out")$(grep -c '^  + ' "$dir/out")" = 22
"$VPT" diff -q "$dir/smp-a.vpt" "$dir/smp-b.vpt" >"$dir/out"
tap_run "the vCPU that differs first" grep -qx \
	'diff: [1-3] of 3 vCPUs differ, vCPU [0-2] first, after [0-9]* instructions' "$dir/out"
"$VPT" diff "$dir/smp-a.vpt" "$dir/quicksort-1.vpt" >"$dir/out"
tap_run "another number of vCPUs is a difference" test $? -eq 1
tap_run "and is in a line" grep -qx 'diff: vCPUs: 3 and 1' "$dir/out"

# A trace that ends earlier, and one where packets were lost.
record short quicksort --arg=1 --max-insns=5000
"$VPT" diff "$dir/quicksort-1.vpt" "$dir/short.vpt" >"$dir/out"
tap_run "a trace that ends early" grep -q '^  + -- the end$\|^  + .*disabled' "$dir/out"
record lost quicksort --arg=1 --buffer=128:64
"$VPT" diff "$dir/quicksort-1.vpt" "$dir/lost.vpt" >"$dir/out"
tap_run "a trace that lost packets" grep -q '^  + .*overflow' "$dir/out"

# The same instructions without and with the packets of PTWRITE.
record none ptwrite --model=spr
record ptw ptwrite --model=spr --ptw
"$VPT" diff --insns "$dir/none.vpt" "$dir/ptw.vpt" >"$dir/out"
tap_run "the instructions are equal" test $? -eq 0
"$VPT" diff "$dir/none.vpt" "$dir/ptw.vpt" >"$dir/out"
tap_run "the events differ" test $? -eq 1
tap_run "by a line of one" grep -q '^  + -- ptwrite ' "$dir/out"

# Interrupts and exceptions before a difference, and the address space of the instructions.
record events-a processes --model=spr --events --arg=20
record events-b processes --model=spr --events --arg=30
"$VPT" diff "$dir/events-a.vpt" "$dir/events-b.vpt" >"$dir/out"
tap_run "event trace: they differ" test $? -eq 1
tap_run "event trace: an IRET is before the difference" grep -q '^    -- cfe IRET at 0x' "$dir/out"
tap_run "the first line has the address space" grep -q -m 1 '^    -- in cr3 0x' "$dir/out"
tap_run "which does not change" test "$(grep -c -- '-- in ' "$dir/out")" -eq 1
"$VPT" diff --json "$dir/events-a.vpt" "$dir/events-b.vpt" >"$dir/json"
tap_run "JSON has the address space" jq -e '.vcpus[0] | .a.space == .b.space and
	(.a.space | startswith("cr3 0x"))' "$dir/json"
tap_run "JSON has the instructions" jq -e '.vcpus[0] | .a.instruction != .b.instruction' "$dir/json"

# A page fault at one instruction, with the address of the argument.
cat >"$dir/fault.c" <<-'END'
	#include "lib/guest.h"
	#include "lib/idt.h"
	#include "lib/report.h"
	PAYLOAD("a page fault");
	static void skip(struct trap_frame *f) { f->rip = f->rcx; }
	void payload(void)
	{
		idt_hook(VEC_PF, skip);
		__asm__ volatile("lea 1f(%%rip), %%rcx; mov (%0), %%rax; 1:"
				 : : "r"((uint64_t)boot->arg[0] << 40) : "rax", "rcx", "memory");
		report(true, "skipped");
	}
END
tap_run "a guest" gcc -std=gnu11 -ffreestanding -O2 -mno-red-zone -mgeneral-regs-only -fno-pic -no-pie \
	-fno-stack-protector -Iguest -Ishared/include '-DGUEST_PAYLOAD="fault"' -nostdlib -static \
	-Wl,--gc-sections,--build-id=none,-z,noexecstack,-z,max-page-size=4096 -T guest/boot/guest.lds \
	-o "$dir/fault.elf" "$dir/fault.c" "$GUEST/boot/start.o" "$GUEST/libguest.a"
for arg in 1 2; do
	for events in "" --events; do
		# shellcheck disable=SC2086 # no option or one
		"$VPT" run -q --engine=soft --pt=host --model=spr $events --arg=$arg -o "$dir/fault$events-$arg.vpt" \
			"$dir/fault.elf" >/dev/null 2>&1
	done
done
tap_run "without event trace the addresses of faults are no difference" \
	"$VPT" diff "$dir/fault-1.vpt" "$dir/fault-2.vpt"
"$VPT" diff "$dir/fault--events-1.vpt" "$dir/fault--events-2.vpt" >"$dir/out"
tap_run "with event trace they are one" test $? -eq 1
tap_run "in A" grep -q '^  - -- interrupt 14 .* fault address 0x10000000000$' "$dir/out"
tap_run "in B" grep -q '^  + -- interrupt 14 .* fault address 0x20000000000$' "$dir/out"

# Without the other processes, another order of them is no difference.
cr3=$("$VPT" decode --json --spaces "$dir/processes-30.vpt" | jq -r '.spaces[0].cr3')
"$VPT" diff --insns --process="$cr3" "$dir/processes-30.vpt" "$dir/processes-30.vpt" >"$dir/out"
tap_run "a process" grep -qx 'diff: equal: vCPUs: 1, instructions: [1-9][0-9]*' "$dir/out"
all=$("$VPT" diff --insns "$dir/processes-30.vpt" "$dir/processes-30.vpt" | sed 's/.*: //')
tap_run "has less than all: $all" test "$(sed 's/.*: //' "$dir/out")" -lt "$all"

refuses "one file" "$USAGE" "" diff "$dir/quicksort-1.vpt"
refuses "a file that is none" "$INPUT" "nowhere" diff "$dir/quicksort-1.vpt" "$dir/nowhere"
refuses "a vCPU that is none" "$USAGE" "--vcpu=1: both traces have 1" diff --vcpu=1 \
	"$dir/quicksort-1.vpt" "$dir/smp-a.vpt"
refuses "a context that is too long" "$USAGE" "--context=65: at most 64" diff -C 65 \
	"$dir/quicksort-1.vpt" "$dir/quicksort-1.vpt"
refuses "standard input twice" "$USAGE" "both traces" diff - -
# The same program, linked 4 KiB further behind its start-up code.
sed 's/\*(\.text /. += 4096; &/' guest/boot/guest.lds >"$dir/moved.lds"
objects="$GUEST/payloads/strings.o $GUEST/boot/start.o $GUEST/libguest.a"
# shellcheck disable=SC2086 # objects
tap_run "another link" gcc -nostdlib -static -no-pie \
	-Wl,--gc-sections,--build-id=none,-z,noexecstack,-z,max-page-size=4096 -T "$dir/moved.lds" -o "$dir/moved.elf" $objects
record here strings
"$VPT" run -q --engine=soft --pt=host -o "$dir/moved.vpt" "$dir/moved.elf" >/dev/null 2>&1
"$VPT" diff "$dir/here.vpt" "$dir/moved.vpt" >"$dir/out"
tap_run "by addresses they differ" test $? -eq 1
tap_run "by names: equal" "$VPT" diff --names "$dir/here.vpt" "$dir/moved.vpt"
insns() { sed -n 's/^diff: equal: .*instructions: //p'; }
tap_run "as many as ran" test "$("$VPT" diff --names "$dir/here.vpt" "$dir/moved.vpt" | insns)" -eq \
	"$("$VPT" decode --json "$dir/moved.vpt" | jq .insns)"
"$VPT" diff --names --vcpu=0 "$dir/here.vpt" "$dir/quicksort-1.vpt" >"$dir/out"
tap_run "by names another program differs" test $? -eq 1
tap_run "in a function of both" grep -q '^  + .* vprintk+0x' "$dir/out"
# With wrong symbols of B nothing has the same place.
nm "$dir/moved.elf" | sed 's/$/_b/' >"$dir/other.map"
"$VPT" diff --names --symbols-b="$dir/other.map" "$dir/here.vpt" "$dir/moved.vpt" >"$dir/out"
tap_run "B has symbols of its own" test $? -eq 1

# A process whose CR3 is another one in B.
other=$("$VPT" decode --json --spaces "$dir/processes-30.vpt" | jq -r '.spaces[1].cr3')
"$VPT" diff --insns --json --process="$cr3" --process-b="$other" "$dir/processes-30.vpt" \
	"$dir/processes-30.vpt" >"$dir/json"
tap_run "two processes of one trace" test $? -eq 1
for space in "$cr3" "$other"; do
	"$VPT" decode --insn --space="$space" "$dir/processes-30.vpt" | grep '^[0-9a-f]\{16\} ' >"$dir/$space.txt"
done
want=$(common "$dir/$cr3.txt" "$dir/$other.txt")
tap_run "they have ${want% *} instructions in common" test "$(jq '.vcpus[0].insns' "$dir/json")" = "${want% *}"
refuses "--process-b alone" "$USAGE" "needs --process" diff --process-b=1 "$dir/here.vpt" "$dir/here.vpt"
tap_end
