#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# perf's time at each instruction, made of TSC, TMA, MTC, CYC and CBR packets, is the true
# one. On the software CPU that is the number of instructions (docs/adr/0010): these
# payloads never halt. Between two packets that tell the time perf's stands still, and
# what a packet tells counts from the next branch on: that is the error that is allowed.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
export HOME="$dir" PERF_CONFIG=/dev/null
# TSC ticks for an instruction: at P1 one.
RATE=1
# skl: 142 ticks of the TSC for one of the crystal's, 24 MHz.
CTC=142
HZ=3408000000
# As far as these payloads run without a branch, and a TNT of branches without CYC.
CODE=256
# A TNT of SHA-256: six turns of its loop, of 60 instructions each.
SHA=360

# on_time PAYLOAD BOUND OPTION...: no instruction's time is off by more ticks than this.
on_time() {
	ot_name=$1
	ot_bound=$2
	shift 2
	rm -rf "$dir/t.perf"
	"$VPT" run -q --engine soft --model skl --pt host "$@" --max-insns=400000 \
		-o "$dir/t.vpt" "$GUEST/$ot_name.elf" >"$dir/log" 2>&1
	if ! "$VPT" export -q --to perf --time=packets "$dir/t.vpt" "$dir/t.perf" >"$dir/log" 2>&1; then
		tap_fail "$ot_name, $*" "$(cat "$dir/log")"
		return
	fi
	ot_said=$(perf script -i "$dir/t.perf" --itrace=i0ns -F time --ns 2>/dev/null |
		awk -v hz=$HZ -v rate=$RATE -v bound="$ot_bound" '
		{
			sub(":", "", $1)
			off = ($1 - 1e-9) * hz - (NR - 1) * rate
			if (off > most) most = off
			if (off < least) least = off
			sum += off
		}
		END {
			printf "%d instructions, %.0f to %.0f ticks off, %.1f on average\n", NR,
				least, most, NR ? sum / NR : 0
			exit !(NR > 10000 && most <= bound && -least <= bound)
		}')
	ot_status=$?
	if [ $ot_status -eq 0 ]; then
		tap_ok "$ot_name, $*: $ot_said"
	else
		tap_fail "$ot_name, $*" "$ot_said; allowed are $ot_bound"
	fi
}

for payload in quicksort demo recursion; do
	for freq in 0 3 6 9; do
		on_time $payload $((($CTC << $freq) + $CODE)) --tsc --mtc=$freq
	done
	on_time $payload $CODE --tsc --cyc
	for thresh in 0 3 6; do
		on_time $payload $CODE --tsc --mtc --cyc=$thresh
	done
	on_time $payload $CODE --tsc --mtc=0 --cyc --no-retc --psb=0
done
# A core clock of half of P1's, and of twice: 34 is P1.
RATE=2
on_time sha256 $((2 * SHA)) --tsc --mtc --cyc --cbr=17
on_time bytecode $((2 * CODE)) --tsc --cyc --cbr=17
on_time bytecode $((CTC + 2 * CODE)) --tsc --mtc=0 --cbr=17
RATE=0.5
on_time sha256 $SHA --tsc --mtc --cyc --cbr=68
on_time bytecode $CODE --tsc --cyc --cbr=68
tap_end
