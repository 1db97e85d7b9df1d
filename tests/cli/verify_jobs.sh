#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# vpt verify prints the same, byte for byte, and has the same status with --jobs=1, 2 and 7. The traces
# are as they were recorded, cut off, damaged, changed in their packets, and of all kinds with one thread.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
case ${MODE:-rel} in rel) changes=4 ;; *) changes=2 ;; esac
t=$dir/t.vpt

# verdict JOBS OPTION...: the output, the messages and the status. Messages of the reader have no order.
verdict() {
	jobs=$1
	shift
	"$VPT" verify --jobs="$jobs" "$@" >"$dir/out" 2>"$dir/err"
	echo "status $?" >>"$dir/out"
	sort "$dir/err" >>"$dir/out"
	cat "$dir/out"
}

# differ OPTION... FILE: print what more threads print differently. Adds the verdict to $dir/verdicts.
differ() {
	verdict 1 "$@" >"$dir/one"
	cat "$dir/one" >>"$dir/verdicts"
	for more in 2 7; do
		verdict $more "$@" >"$dir/more"
		diff "$dir/one" "$dir/more" || echo "verify --jobs=$more $*"
	done
}

# changed FILE KIND N: write change number N of a file to $dir/c.vpt.
changed() {
	python3 - "$@" "$dir/c.vpt" <<'END'
import sys, random
path, kind, n, to = sys.argv[1:]
data = bytearray(open(path, 'rb').read())
random.seed(int(n))
at = random.randrange(len(data) // 64, len(data))
if kind == 'cut':
    del data[at:]
else:
    data[at] ^= 1 << random.randrange(8)
open(to, 'wb').write(data)
END
}

# check NAME OPTION...: $t and changes of it.
check() {
	name=$1
	shift
	tap_empty "$name: the same" "$(differ "$@" "$t"; differ -j "$@" "$t"; differ -q "$@" "$t")"
	tap_empty "$name: the same if it is cut or damaged" "$(
		for n in $(seq $changes); do
			for kind in cut flip; do
				changed "$t" $kind "$n"
				differ "$@" "$dir/c.vpt"
			done
		done)"
}

# record NAME OPTION...
record() {
	name=$1
	shift
	rm -f "$t"
	"$VPT" run -q --engine=soft -o "$t" "$@" >"$dir/run" 2>&1 </dev/null
	tap_run "$name is recorded" test -s "$t"
}

record bytecode --oracle --pt=host --arg=2 "$GUEST/bytecode.elf"
check bytecode
record "bytecode, blocks" --oracle-blocks --pt=host --arg=2 "$GUEST/bytecode.elf"
check "bytecode, blocks"
record jit --oracle-blocks --pt=host "$GUEST/jit.elf"
check jit
record selfmod --oracle --pt=host "$GUEST/selfmod.elf"
check selfmod
record smp --oracle --pt=host --cpus=3 "$GUEST/smp.elf"
check smp
record filter_ip --oracle --model=icx "$GUEST/filter_ip.elf"
check filter_ip
record overflow --oracle --pt=host --buffer=256:8 "$GUEST/ring3.elf"
check overflow
record spaces --oracle --pt=host --tsc --mtc --cyc "$GUEST/processes.elf"
check spaces
record rtit --oracle --pt=host --model=airmont "$GUEST/kernelmix.elf"
check rtit
record DisTNT --oracle --pt=host --model=spr --no-tnt "$GUEST/quicksort.elf"
check DisTNT
record "a loop" --oracle --pt=host --timeout=1 "$GUEST/quicksort.elf"
if "$VPT" verify --with=libipt "$t" >"$dir/out" 2>&1; then
	check libipt --with=libipt
else
	tap_skip "libipt" "vpt has no libipt"
fi

# Files that are whole, with wrong logs, packets or code.
record quicksort --oracle-blocks --pt=host --psb=0 "$GUEST/quicksort.elf"
mv "$t" "$dir/right.vpt"
for kind in missing wrong_ip other_flags event ends_early trace_byte code_byte; do
	rm -f "$t"
	"$O/tests/log_mutants" "$dir/right.vpt" 3 92 $kind "$t" >"$dir/run" 2>&1
	tap_empty "$kind: the same" "$(differ "$t"; differ -j "$t"; differ -q "$t")"
done

# Code from an image of memory has one thread.
"$VPT" run -q --oracle --pt=host -o "$dir/m.vpt" --snapshot="$dir/m.vps" --snapshot-at=30000 "$GUEST/calls.elf" \
	>"$dir/run" 2>&1
"$O/tests/memory" blind "$dir/m.vpt" "$t" >"$dir/run" && "$O/tests/memory" raw "$dir/m.vps" "$dir/m.raw"
check memory --memory="$dir/m.raw"

# Else this tests nothing.
for text in "0 mismatches" "[1-9] mismatches" "truncated: " "damaged" "DisTNT: " "status 0" "status 1" "status 3" "status 5"; do
	tap_run "some say: $text" grep -q "$text" "$dir/verdicts"
done
tap_end
