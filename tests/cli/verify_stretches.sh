#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# vpt verify compares whole stretches where it can, and several vCPUs at a time. It must say the same
# as step by step, one vCPU after the other, of every log: as it was recorded, and with one thing in it wrong, 22 kinds of it with fixed seeds.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
case ${MODE:-rel} in rel) count=88 ;; *) count=44 ;; esac

# mutants NAME OPTION... PAYLOAD: record it, and change its log.
mutants() {
	name=$1
	shift
	"$VPT" run -q --engine=soft --oracle -o "$dir/t.vpt" "$@" >"$dir/run" 2>&1 </dev/null
	tap_run "$name is recorded" test -s "$dir/t.vpt"
	tap_run "$name: the same of $count logs" \
		sh -c '"$1" "$2" 1 "$3" >"$4" 2>&1 || { cat "$4"; exit 1; }' sh \
		"$O/tests/log_mutants" "$dir/t.vpt" "$count" "$dir/$name"
	rm -f "$dir/t.vpt"
}

mutants bytecode --pt=host --arg=2 "$GUEST/bytecode.elf"
mutants jit --pt=host "$GUEST/jit.elf"
mutants processes --pt=host --tsc --mtc "$GUEST/processes.elf"
mutants softint --pt=host "$GUEST/softint.elf"
mutants strings --pt=host "$GUEST/strings.elf"
mutants filter_ip --model=icx "$GUEST/filter_ip.elf"
mutants topa_stop --model=icx "$GUEST/topa_stop.elf"
mutants system --usage=system --model=spr "$GUEST/interrupts.elf"
mutants overflow --pt=host --buffer=256:8 "$GUEST/ring3.elf"
mutants rtit --pt=host --model=airmont "$GUEST/kernelmix.elf"
mutants smp --pt=host --cpus=3 "$GUEST/smp.elf"
mutants atom_live --model=silvermont "$GUEST/atom_live.elf"

# Of a program of which all is traced, everything that changes what ran is found.
for kind in first_missing middle_missing last_missing first_twice last_extra wrong_ip wrong_length \
	swapped missing twice another event ends_early; do
	n=$((count / 22))
	tap_run "bytecode, $kind: all are found" grep -qx "$kind: $n of $n found" "$dir/bytecode"
done
for kind in none split; do
	tap_run "bytecode, $kind: nothing to find" grep -qx "$kind: 0 of $n found" "$dir/bytecode"
done

# Nearly all is compared in whole stretches: else this tests nothing.
for name in bytecode jit processes system rtit; do
	tap_run "$name: most is compared by stretches" awk '/ decoded, / { most = $3 > 0.8 * $1 }
		END { exit !most }' "$dir/$name"
done
tap_end
