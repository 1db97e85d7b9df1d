#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# vpt run --ring: the file has exactly the end of what a trace without a ring has, by the listings of
# both. Payloads, sizes, packets, numbers of vCPUs and events that save the ring; its memory; refusals.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh

wrapped=0

# record NAME OPTION... PAYLOAD: sets $status.
record() {
	local name=$1 payload=${*: -1}
	"$VPT" run --engine=soft --pt=host --timeout=300 "${@:2:$#-2}" -o "$dir/$name.vpt" \
		"$GUEST/$payload.elf" >"$dir/$name.con" 2>"$dir/$name.err"
	status=$?
}

# list NAME: a listing for each vCPU. A PSB repeats the time, the ratio and the mode.
list() {
	rm -f "$dir/$1".list.*
	"$VPT" decode --insn "$dir/$1.vpt" 2>"$dir/$1.errors" | awk -v name="$dir/$1.list." '
		/^-- / {
			if ($2 == "vCPU") {
				file = name ($3 + 0)
				next
			}
			if ($2 == "cbr" || $2 $3 == "execmode")
				next
			sub(/ tsc 0x[0-9a-f]+$/, "")
		}
		{ print >file }'
	[ "${PIPESTATUS[*]}" = "0 0" ] || { echo "no listing of $1.vpt" && cat "$dir/$1.errors" && false; }
}

# is_end: prints what is wrong with the ring's listings. Counts those that lack a beginning.
is_end() {
	local file vcpu lines whole found=0
	list ring || return
	for file in "$dir"/ring.list.*; do
		[ -e "$file" ] || break
		vcpu=${file##*.}
		read -r lines whole _ < <(wc -l "$file" "$dir/full.list.$vcpu" | awk '{ printf "%d ", $1 }')
		found=$((found + lines))
		[ "$lines" -eq "$whole" ] || wrapped=$((wrapped + 1))
		tail -n "$lines" "$dir/full.list.$vcpu" | cmp -s - "$file" ||
			diff <(tail -n "$lines" "$dir/full.list.$vcpu") "$file" | head -n 5
	done
	[ "$found" -gt 0 ] || echo "no instruction"
}

# same "RING OPTIONS" OPTION... PAYLOAD: compare a run with the same one without a ring. Runs one after
# the other that differ in the ring only are compared with one trace without a ring.
recorded=
same() {
	local ring=$1
	shift
	if [ "$recorded" != "$*" ]; then
		recorded=
		record full "$@"
		first=$status
		list full >"$dir/failed" && recorded=$*
	fi
	# shellcheck disable=SC2086 # options
	record ring $ring "$@"
	if [ "$recorded" ]; then is_end; else cat "$dir/failed"; fi >"$dir/wrong"
	[ "$first" -eq "$status" ] || echo "exit status $status, and $first without a ring" >>"$dir/wrong"
	cmp "$dir/full.con" "$dir/ring.con" >>"$dir/wrong" 2>&1
	tap_empty "$ring $*" "$(cat "$dir/wrong")"
}

for payload in calls compat debugregs demand demo events exceptions filter_cr3 filter_ip interrupts jit \
	legacy longjmp pagefaults power processes psb_freq ptwrite quicksort random recursion retpoline \
	returns ring3 segments selfmod simd single_range smp softint spaces storm system tf_flags timer; do
	same --ring=4K $payload
done
tap_run "half of them had more than the ring: $wrapped" test "$wrapped" -gt 15
for payload in demo jit; do
	for size in 8K 20K 64K 1M; do
		same --ring=$size $payload
	done
done
for cpus in 2 3 7; do
	same --ring=4K --cpus=$cpus smp
	same --ring=16K --cpus=$cpus shared_timer
done
for payload in processes jit interrupts smp; do
	same --ring=4K --tsc --mtc --cyc --model=spr $payload
	same --ring=4K --cyc --events --power --ptw=fup --model=spr $payload
	same --ring=4K --tsc --model=bdw $payload
	same --ring=4K --defer-tips --no-retc --psb=2 $payload
	same --ring=4K --kernel $payload
done
same --ring=4K --user ring3
same --ring=4K --user processes
same --ring=4K --filter=partition --filter=insertion_sort quicksort
same --ring=4K --stop=insertion_sort --psb=0 quicksort
for seed in 1 2 3 4; do
	same --ring=4K --seed=$seed random
	same --ring=4K --seed=$seed kernelmix
done

# Events that save the ring; the guest goes on.
wrapped=0
for cpus in 1 3; do
	for after in "" --trace-after=1 --trace-after=5000; do
		for event in draw_histogram "console:|######" insns:400000 time:0.0001; do
			# shellcheck disable=SC2086 # an option or none
			same --ring=16K --cpus=$cpus --trace-until="$event" $after demo
		done
	done
done
tap_run "most of them had more than the ring before the event: $wrapped" test "$wrapped" -gt 20
same --ring=4K --trace-until=mark:end --trace-after=300 marks
same --ring=4K --trace-from=insns:200000 --trace-for=400000 demo
same --ring=4K --trace-from=insns:100 --trace-until=console:never demo

# The end of the guest: a triple fault, with the instructions before it and how it stopped.
cat >"$dir/fault.c" <<'END'
static void poke(volatile int *p)
{
	*p = 1;
}
void _start(void)
{
	for (volatile int i = 0; i < 200000; i++)
		__asm__ volatile("test %%eax, %%eax\n jz 1f\n 1:" : : : "cc");
	poke((int *)0x7fffdead0000);
	for (;;)
		;
}
END
gcc -O1 -ffreestanding -nostdlib -static -no-pie -fno-stack-protector -Wl,--build-id=none \
	-o "$dir/fault" "$dir/fault.c" || exit 1
"$VPT" run --engine=soft --pt=host --ring=4K -o "$dir/fault.vpt" "$dir/fault" >"$dir/out" 2>&1
tap_run "a triple fault: exit status 1" test $? -eq 1
tap_run "it says what the ring has" grep -q "the ring is saved: the last [0-9]* of [0-9]* bytes" "$dir/out"
tap_run "the last instruction is the one that faults" \
	grep -q "mov dword ptr \[[a-z]*\], 0x01" <("$VPT" decode --insn --last=1 "$dir/fault.vpt")
tap_run "the file says how the guest stopped" test \
	"$("$VPT" info -j "$dir/fault.vpt" | jq -r .stop.kind)" = "triple fault"
refuses "a ring has no options for a replay" $INPUT "" replay "$dir/fault.vpt"

# The monitor's trace-stop saves the ring while the guest runs.
"$VPT" run --engine=soft --pt=host --ring=8K --monitor="$dir/sock" -o "$dir/monitor.vpt" \
	--arg=1000000 "$GUEST/kernelmix.elf" >"$dir/out" 2>"$dir/monitor.err" &
pid=$!
ask() {
	timeout 30 "$VPT" monitor "$dir/sock" "$@" >/dev/null 2>&1
}
for _ in $(seq 200); do
	! ask status || break
	sleep 0.05
done
sleep 0.2
tap_run "trace-stop" ask trace-stop
tap_run "the ring is saved while the guest runs" grep -q "the ring is saved" "$dir/monitor.err"
tap_run "the trace does not begin again" sh -c "! '$VPT' monitor '$dir/sock' trace-start"
ask quit
wait $pid
tap_run "its file has no error" "$VPT" decode --calls "$dir/monitor.vpt"

# Memory: a long run of a guest that makes code, with several sizes. The ring takes its size, a quarter of
# it, and the pages of code that the file has.
peak() { # SIZE: KiB
	python3 - "$VPT" run -q --engine=soft --pt=host --ring="$1" -o "$dir/long.vpt" --arg=3000 \
		"$GUEST/kernelmix.elf" <<-END
		import resource, subprocess, sys
		subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
		print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
	END
}
small=$(peak 64K)
for size in 256 1024 3072; do
	is=$(peak ${size}K)
	pages=$("$VPT" info -j "$dir/long.vpt" | jq .contents)
	tap_run "a ring of $size KiB with $pages pages takes $((is - small)) KiB more than one of 64 KiB" \
		test $((is - small)) -le $((size * 5 / 4 + pages * 5 + 3072))
	bytes=$("$VPT" info -j "$dir/long.vpt" | jq '.vcpus[0].bytes')
	tap_run "and has $bytes bytes of trace" test "$bytes" -ge $((size * 900)) -a \
		"$bytes" -le $((size * 1300))
done

refuses "a small ring" $USAGE "at least 4K" run --pt=host --ring=1K -o "$dir/x" "$GUEST/demo.elf"
refuses "a guest's trace" $USAGE "pt=host" run --ring=1M -o "$dir/x" "$GUEST/demo.elf"
refuses "more than the file" $USAGE "max-bytes" run --pt=host --ring=8M --max-bytes=2M -o "$dir/x" \
	"$GUEST/demo.elf"
for option in --oracle --snapshot="$dir/s" --gdb=1234 --buffer=4096 --oracle-blocks --model=silvermont; do
	refuses "$option" $USAGE "ring: not with" run --engine=soft --pt=host --ring=1M "$option" \
		-o "$dir/x" "$GUEST/demo.elf"
done
refuses "--trace-after alone" $USAGE "requires --trace-until" run --pt=host --trace-after=5 -o "$dir/x" \
	"$GUEST/demo.elf"
refuses "--trace-after=0" $USAGE "above 0" run --pt=host --trace-until=insns:5 --trace-after=0 \
	-o "$dir/x" "$GUEST/demo.elf"
tap_run "nothing is left of them" test ! -e "$dir/x" -a ! -e "$dir/x.part"
tap_end
