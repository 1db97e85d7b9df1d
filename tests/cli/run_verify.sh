#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# vpt run --verify: what a run in parts compares is what vpt verify compares of the whole file, a
# difference is found, and nothing that went wrong looks like success.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh

parts=0
# same NAME OPTION... PAYLOAD: the counts in parts of 64 KiB are those of the stored trace.
same() {
	name=$1
	shift
	"$VPT" run -q --engine=soft --oracle-blocks -o "$dir/a.vpt" "$@" >"$dir/a.con" 2>&1 </dev/null
	one=$?
	"$VPT" run -q --engine=soft --verify=64K "$@" >"$dir/b.con" 2>"$dir/b.err" </dev/null
	two=$?
	"$VPT" run --engine=soft --verify=64K -j "$@" >"$dir/b.json" 2>/dev/null </dev/null
	grep -v "^verify: " "$dir/b.err" >>"$dir/b.con"
	want=$("$VPT" verify -q --allow-empty "$dir/a.vpt")
	tap_run "$name: the same status" test "$one" -eq "$two"
	tap_run "$name: the same console" cmp "$dir/a.con" "$dir/b.con"
	tap_run "$name: the same counts" test "$(grep '^verify: ' "$dir/b.err")" = "$want"
	tap_run "$name: the same counts in JSON" test "$(jq -r '.verify |
		"verify: \(.retired) retired, \(.decoded) decoded, \(.mismatches) mismatches"' \
		"$dir/b.json")" = "$want"
	own=$(jq .verify.parts "$dir/b.json")
	parts=$((parts + own))
}

for guest in bytecode calls jit kernelmix legacy patched processes quicksort selfmod strings; do
	same "$guest" --pt=host --model=spr "$GUEST/$guest.elf"
done
same "interrupts, guest" --pt=guest --model=icx "$GUEST/interrupts.elf"
same "sessions without a PSB" --pt=guest --model=spr "$GUEST/preserve.elf"
same "ring3, timing" --pt=host --tsc --mtc --cyc "$GUEST/ring3.elf"
same "one CPL" --pt=host --user --psb=0 "$GUEST/kernelmix.elf"
same "16-bit code" --pt=host --model=spr "$GUEST/segments.elf"
same "rtit" --pt=host --model=airmont "$GUEST/kernelmix.elf"
same "lost bytes" --pt=host --buffer=256:8 "$GUEST/ring3.elf"
same "many parts" --pt=host --psb=0 --arg=500 "$GUEST/quicksort.elf"
tap_run "these were more than 40 parts ($parts)" test "$parts" -gt 40

# Several vCPUs, each with parts of its own. The first one changes code that the others execute.
for cpus in 2 4 8; do
	same "$cpus vCPUs" --pt=host --cpus=$cpus --psb=0 --tsc --mtc --cyc --arg=300 "$GUEST/smp.elf"
	tap_run "$cpus vCPUs: at least five parts each ($own)" test "$own" -ge $((5 * cpus))
done
# What they execute depends on a device that they share, whose time may not depend on the parts.
for cpus in 2 3 5; do
	same "$cpus vCPUs read one timer" --pt=host --cpus=$cpus --psb=0 --arg=2000 "$GUEST/shared_timer.elf"
	tap_run "$cpus vCPUs read one timer: at least two parts each ($own)" test "$own" -ge $((2 * cpus))
done
same "vCPUs that do not start" --pt=host --cpus=4 "$GUEST/demo.elf"
same "vCPUs that do not start, rtit" --pt=host --trace=rtit --cpus=4 "$GUEST/demo.elf"
same "3 vCPUs, timing, a PSB while one waits for its start-up IPI" --pt=host --tsc --mtc --cyc --cpus=3 \
	"$GUEST/smp.elf"
same "64 vCPUs" --pt=host --cpus=64 --psb=0 "$GUEST/smp.elf"
same "3 vCPUs, guest" --pt=guest --model=icx --cpus=3 --arg=1000 "$GUEST/smp.elf"
same "3 vCPUs, rtit" --pt=host --model=airmont --cpus=3 "$GUEST/smp.elf"
same "3 vCPUs, lost bytes" --pt=host --cpus=3 --buffer=256:8 --tsc --mtc --arg=300 "$GUEST/smp.elf"

# ends STATUS TEXT OPTION...: the exit status, and a pattern of grep in what is said.
ends() {
	want=$1 text=$2
	shift 2
	"$VPT" run "$@" >/dev/null 2>"$dir/err" </dev/null
	tap_run "status $want: $text" test "$?" -eq "$want"
	tap_run "said: $text" grep -q -- "$text" "$dir/err"
}
soft="--engine=soft --verify"
# shellcheck disable=SC2086 # several words, here and below
{
	ends 1 "^verify: [1-9].* [1-9][0-9]* mismatches" $soft --pt=host --trace=rtit --errata=E8 --psb=0 \
		"$GUEST/kernelmix.elf"
	tap_run "the first difference is shown" grep -q "ran, and should be in the trace" "$dir/err"
	ends 1 "^verify: [1-9].* 3 mismatches" $soft --pt=host --trace=rtit --errata=E8 --psb=0 --cpus=3 \
		--arg=2000 "$GUEST/smp.elf"
	tap_run "3 vCPUs: the first difference is shown" grep -q "ran, and should be in the trace" "$dir/err"
	ends 1 "no instruction that ran should be in the trace" $soft --pt=host --cr3=0x123000 \
		"$GUEST/demo.elf"
	ends 1 "max-insns=20000 reached" $soft --pt=host --max-insns=20000 "$GUEST/quicksort.elf"
	tap_run "a limit: what ran is compared" grep -q "verify: 20000 retired, 20000 decoded, 0 mis" \
		"$dir/err"
	ends 1 "timeout=0.3 reached" $soft --pt=host --timeout=0.3 --arg=1000000 "$GUEST/quicksort.elf"
	tap_run "a timeout: what ran is compared" grep -q "verify: [1-9].*, 0 mismatches" "$dir/err"
	ends 1 "max-insns=20000 reached" $soft --pt=host --cpus=3 --max-insns=20000 --arg=1000 "$GUEST/smp.elf"
	tap_run "3 vCPUs, a limit: what ran is compared" grep -q "verify: [2-5]....  *retired, .* 0 mismatches" \
		"$dir/err"
	# No part of a vCPU is as large.
	ends 1 "max-bytes=16777216 reached" $soft --pt=host --cpus=4 --max-bytes=16M --arg=2000 "$GUEST/smp.elf"
	ends 1 "max-bytes=2097152 reached" $soft --pt=host --max-bytes=2M --arg=400 "$GUEST/quicksort.elf"
	ends 2 "no --output and no --snapshot" $soft --pt=host -o "$dir/t.vpt" "$GUEST/demo.elf"
	ends 2 "no --output and no --snapshot" $soft --pt=host --snapshot="$dir/t.vps" "$GUEST/demo.elf"
	ends 2 "it has no --usage" $soft --usage=system "$GUEST/demo.elf"
	ends 2 "no branches to compare" $soft --pt=host --model=spr --no-tnt "$GUEST/demo.elf"
	ends 2 "at least 64K" --engine=soft --pt=host --verify=1K "$GUEST/demo.elf"
	ends 2 "nothing is traced" $soft --pt=off "$GUEST/demo.elf"
}
tap_run "no file is left" test ! -e "$dir/t.vpt"

# A loop of direct branches ends the trace, and its iterations are not compared.
"$TOOLS/mkelf" spin "$dir/spin.elf" || exit 1
ends 1 "verify: .* 0 mismatches" --engine=soft --verify --pt=host --timeout=0.2 "$dir/spin.elf"

# kill_verifiers WHICH: kill the processes of a run that verify, as pgrep lists them and WHICH selects.
# shellcheck disable=SC2046,SC2086 # several numbers, and a command with options
kill_verifiers() {
	"$VPT" run -q --engine=soft --pt=host --verify=64K --arg=3000 "$GUEST/quicksort.elf" \
		>/dev/null 2>"$dir/err" </dev/null &
	run=$!
	killed=0
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		pgrep -P $run >"$dir/verifiers"
		[ "$(wc -l <"$dir/verifiers")" -lt 2 ] || { kill -KILL $($1 "$dir/verifiers") && killed=1 && break; }
		sleep 0.05
	done
	wait $run
	tap_run "verifiers killed by $1: status 4" test "$?" -eq 4
	tap_run "killed by $1" test $killed -eq 1
	tap_run "killed by $1: one line" test "$(grep -c '^vpt run: .*a process that verifies has ended$' "$dir/err")/$(
		grep -c '^vpt' "$dir/err")" = 1/1
}
kill_verifiers cat
kill_verifiers "head -n 1"
kill_verifiers "tail -n 1"
tap_end
