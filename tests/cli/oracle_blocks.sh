#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# --oracle-blocks has the same records as --oracle, from code that the host compiles. It changes
# neither the guest nor its trace.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh

# both NAME OPTION... PAYLOAD: record a run with each kind of log.
both() {
	name=$1
	shift
	"$VPT" run -q --engine=soft --oracle -o "$dir/a.vpt" "$@" >"$dir/a.con" 2>&1 </dev/null
	one=$?
	"$VPT" run -q --engine=soft --oracle-blocks -o "$dir/b.vpt" "$@" >"$dir/b.con" 2>&1 </dev/null
	tap_run "$name: the same status" test "$one" -eq "$?"
	tap_run "$name: the same console" cmp "$dir/a.con" "$dir/b.con"
	"$VPT" dump "$dir/a.vpt" >"$dir/a.txt"
	"$VPT" dump "$dir/b.vpt" >"$dir/b.txt"
	tap_run "$name: the same packets" cmp "$dir/a.txt" "$dir/b.txt"
	tap_run "$name: the same records" "$O/tests/samelog" "$dir/a.vpt" "$dir/b.vpt"
	tap_run "$name: they are what is decoded" "$VPT" verify -q "$dir/b.vpt"
}

for guest in demo bytecode calls jit kernelmix legacy patched processes selfmod simd strings; do
	both "$guest" --pt=host --model=spr "$GUEST/$guest.elf"
done
both "interrupts, guest" --pt=guest --model=icx "$GUEST/interrupts.elf"
both "ring3, timing" --pt=host --tsc --mtc --cyc "$GUEST/ring3.elf"
both "filter_ip" --pt=guest --model=icx "$GUEST/filter_ip.elf"
both "topa_stop" --pt=guest --model=icx "$GUEST/topa_stop.elf"
both "tracestop" --pt=guest --model=icx "$GUEST/tracestop.elf"
both "ptwrite" --pt=guest --model=spr "$GUEST/ptwrite.elf"
both "legacy modes" --pt=host --model=spr "$GUEST/segments.elf"
both "rtit" --pt=host --model=airmont "$GUEST/kernelmix.elf"
both "lost bytes" --pt=host --buffer=256:8 "$GUEST/ring3.elf"
both "a limit" --pt=host --max-insns=12345 "$GUEST/quicksort.elf"
both "no TNT" --pt=host --no-tnt "$GUEST/quicksort.elf"

# The log is smaller than a record for each instruction.
"$VPT" run -q --engine=soft --pt=host --oracle-blocks -o "$dir/s.vpt" "$GUEST/quicksort.elf" >/dev/null
size=$(wc -c <"$dir/s.vpt")
tap_run "fewer than 4 bytes for an instruction" test "$size" -lt $((4 * 124521))

# A log that is not what ran is found.
tap_run "changed logs are found" "$O/tests/log_mutants" "$dir/s.vpt" 1 44

# refused TEXT OPTION...
refused() {
	text=$1
	shift
	"$VPT" run -q "$@" >"$dir/out" 2>"$dir/err" </dev/null
	tap_run "status 2: $text" test "$?" -eq 2
	tap_run "said: $text" grep -q -- "$text" "$dir/err"
}
refused "requires -o FILE" --engine=soft --oracle-blocks "$GUEST/demo.elf"
refused "a snapshot has no blocks" --engine=soft --oracle-blocks -o "$dir/n.vpt" \
	--snapshot="$dir/n.vps" --snapshot-at=1000 "$GUEST/demo.elf"
tap_run "no file is left" test ! -e "$dir/n.vpt"
tap_end
