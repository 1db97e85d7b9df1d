#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What usages of PT under a VMM put into a trace, and what options make of them.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
. tests/lib/roundtrip.sh

run() { # NAME PAYLOAD OPTION...: the guest ends with 0, its trace is $dir/NAME
	run_name=$1
	run_payload=$2
	shift 2
	"$VPT" run -j --engine=soft "$@" -o "$dir/$run_name" "$GUEST/$run_payload.elf" \
		>"$dir/$run_name.out" 2>&1
}

# Instructions only, as "ip text".
insns() {
	"$VPT" decode -i "$1" | sed -n 's/^ *\([0-9a-f]\{16\}\)  *[^ ]*  *\(.*\)/\1 \2/p'
}

verified() {
	"$VPT" verify "$dir/$1" >"$dir/verdict" 2>&1 && grep -q ' 0 mismatches' "$dir/verdict"
}

has() { # FILE PATTERN: how many packets
	"$VPT" dump "$dir/$1" | grep -c "$2"
}

# The guest alone, by VM entries and exits: what a host sees who stops at nothing, but
# for what the VMM does in the guest's place.
for payload in calls quicksort exceptions processes; do
	tap_run "$payload: guest and host run" eval \
		"run g $payload --usage=guest && run h $payload --pt=host"
	insns "$dir/g" >"$dir/g.insns"
	insns "$dir/h" >"$dir/h.insns"
	diff "$dir/h.insns" "$dir/g.insns" >"$dir/diff"
	tap_run "$payload: the VMM takes some instructions off the guest" test -s "$dir/diff"
	# A VM exit at an INT n looks as if that had run.
	tap_empty "$payload: none but I/O, CPUID, HLT" "$(grep '^[<>]' "$dir/diff" |
		grep -vE '^< [0-9a-f]* +(in|out|cpuid|hlt)\b|^> [0-9a-f]* +int\b' | head -n 4)"
done

# A guest that has PT of its own has the same packets as on a processor without a VMM.
for payload in calls quicksort returns; do
	tap_run "$payload: owned and without VMM" eval \
		"run o $payload --usage=owned && run w $payload --pt=guest"
	"$VPT" dump "$dir/o" | sed 's/^[0-9a-f]* *//' >"$dir/o.dump"
	"$VPT" dump "$dir/w" | sed 's/^[0-9a-f]* *//' >"$dir/w.dump"
	tap_run "$payload: the same packets" cmp "$dir/o.dump" "$dir/w.dump"
done

# The whole system: both sides, told apart.
tap_run "system: it runs" run s calls --usage=system --oracle
tap_run "system: it is what ran" verified s
tap_run "system: PIPs of the guest" test "$(has s 'PIP.*NR')" -gt 100
tap_run "system: a VMCS packet after VMPTRLD" test "$(has s 'VMCS')" -gt 0
tap_run "system: the guest's code" eval "insns '$dir/s' | grep -q '^00000000001'"
tap_run "system: the VMM's code" eval "insns '$dir/s' | grep -q '^ffffffff8f0.*vmresume'"
tap_run "system: VM exits by name" grep -q '"exits":{"cpuid":[0-9]*,"io":[0-9]*}' "$dir/s.out"

# Concealed: nothing tells of VMX.
tap_run "guest, concealed" run c calls --usage=guest --conceal=all --oracle
tap_run "guest, concealed: it is what ran" verified c
tap_run "guest, concealed: no NR" test "$(has c 'NR$')" = 0
tap_run "guest, concealed: no VMCS packet" test "$(has c VMCS)" = 0
tap_run "guest, concealed in part: NR" eval \
	"run p calls --usage=guest --conceal=exit,entry && test \$(has p 'NR\$') -gt 0"
tap_run "guest, not concealed: VMCS packets" test "$(has g VMCS)" -gt 0

# Filters hold on both sides, and where CR3 has no PIPs the file tells the spaces.
for options in "ring3 --user" "ring3 --kernel" "calls --filter=fibonacci" \
	"calls --filter=0xffffffff8f000000-0xffffffff8f000fff" "processes --user --trap=cr3" \
	"quicksort --stop=insertion_sort --psb=0" "spaces --cr3=0x3000"; do
	# shellcheck disable=SC2086 # a payload and its options
	tap_run "system: $options" run f $options --usage=system --oracle
	tap_run "system: $options: it is what ran" verified f
done

# A guest that is stopped is left by a VM exit, and then the trace ends.
"$VPT" run -q --usage=system --max-insns=5000 --oracle -o "$dir/m" "$GUEST/calls.elf" \
	>"$dir/m.out" 2>&1
tap_run "system, --max-insns: it is what ran" verified m
tap_run "system, --max-insns: VMXOFF" eval "insns '$dir/m' | grep -q vmxoff"
tap_run "system: calls by name" eval "'$VPT' decode -t '$dir/s' | grep -q 'x  vmm_do_io '"

# Random programs.
for seed in 1 2 3; do
	tap_run "seed $seed: owned" run n random --usage=owned --trap=cr3 --seed=$seed --oracle
	tap_run "seed $seed: owned: it is what ran" verified n
	tap_run "seed $seed: changing" run n random --seed=$seed --oracle \
		--usage=guest,system@30000,host@60000,guest@90000
	tap_run "seed $seed: changing: it is what ran" verified n
done

# Without controls the MSR areas do the same.
tap_run "guest by MSR areas" run a calls --usage=guest --controls=none
tap_run "guest by controls" run b calls --usage=guest
"$VPT" dump "$dir/a" >"$dir/a.dump"
"$VPT" dump "$dir/b" >"$dir/b.dump"
tap_run "the same packets" cmp "$dir/a.dump" "$dir/b.dump"

# Changed while it runs.
tap_run "switching" run x calls --usage=guest,system@5000,host@9000,off@12000,system@15000 \
	--oracle
tap_run "switching: it is what ran" verified x
tap_run "switching: a timer's exit each" grep -q '"timer":4[,}]' "$dir/x.out"
tap_run "switching: both sides" eval "insns '$dir/x' | grep -q '^ffffffff8f0' &&
	insns '$dir/x' | grep -q '^00000000001'"

# The guest's own trace rests meanwhile, and it cannot know: its tests fail.
run y quicksort --usage=owned,system@20000,owned@60000,off@100000 --oracle
tap_run "switching from and to the guest's own: it is what ran" verified y
tap_run "switching from and to the guest's own: both sides" eval \
	"insns '$dir/y' | grep -q '^ffffffff8f0' && insns '$dir/y' | grep -q '^00000000001'"

# A CR3 write that the VMM emulates is in the trace as if it had not.
for usage in system guest owned; do
	tap_run "$usage: CR3 trapped" run t spaces --usage=$usage --trap=cr3 --oracle
	tap_run "$usage: CR3 trapped: it is what ran" verified t
	tap_run "$usage: CR3 trapped: exits" grep -q '"cr":171[,}]' "$dir/t.out"
done
"$VPT" dump "$dir/t" | grep -o 'PIP .*' | uniq >"$dir/t.pips"
run u spaces --usage=owned
"$VPT" dump "$dir/u" | grep -o 'PIP .*' | uniq >"$dir/u.pips"
# PSBs, which have a PIP as well, are not in the same places.
tap_run "owned: CR3 trapped: the PIPs of one that is not" cmp "$dir/t.pips" "$dir/u.pips"

# TSC packets in the guest have the guest's TSC, those of the VMM the processor's.
tap_run "TSC offset" run k calls --usage=system --tsc --tsc-offset=0x100000000000 --oracle
tap_run "TSC offset: it is what ran" verified k
"$VPT" dump "$dir/k" | grep -o 'TSC .*' | sort -u >"$dir/k.tsc"
tap_run "TSC offset: the guest's" grep -q '0x1000000' "$dir/k.tsc"
tap_run "TSC offset: the VMM's" grep -qv '0x1000000' "$dir/k.tsc"
tap_run "TSC scale" run l apic --usage=guest --tsc --tsc-scale=1.5 --oracle
tap_run "TSC scale: it is what ran" verified l
tap_run "TSC scale: the file has it" eval \
	"'$VPT' info -j '$dir/l' | grep -q '\"tsc_multiplier\":\"0x1800000000000\"'"

# The same again.
for usage in system owned; do
	run 1 interrupts --usage=$usage --oracle
	run 2 interrupts --usage=$usage --oracle
	tap_run "$usage: two runs, one trace" cmp "$dir/1" "$dir/2"
done

# What cannot be is refused.
refused() { # WORD OPTION...
	refused_word=$1
	shift
	refused_said=$("$VPT" run -q -o "$dir/r" "$@" "$GUEST/calls.elf" 2>&1 >/dev/null)
	refused_status=$?
	if [ $refused_status -eq 2 ] && [ "$(echo "$refused_said" | wc -l)" -eq 1 ] &&
		echo "$refused_said" | grep -qe "$refused_word"; then
		tap_ok "refused: $*"
	else
		tap_fail "refused: $*" "exit status $refused_status: $refused_said"
	fi
}
refused 'not a list' --usage=
refused 'not a list' --usage=none
refused 'not a list' --usage=guest@100
refused 'not a list' --usage=guest,system
refused 'not a list' --usage=guest,system@x
refused 'not a list' --usage=guest,system@200,host@100
refused 'not a list' --usage=guest,
refused 'given twice' --usage=guest --usage=host
refused 'excludes --pt' --usage=guest --pt=host
refused 'conceal: it is for --usage' --conceal=all
refused 'tsc-offset: it is for --usage' --tsc-offset=1
refused 'not exec' --usage=guest --conceal=some
refused 'would identify' --usage=system --conceal=exec
refused 'there is cr3' --usage=guest --trap=cr4
refused 'not a factor' --usage=guest --tsc-scale=0
refused 'not a factor' --usage=guest --tsc-scale=1.x
refused 'cannot report' --usage=guest --tsc-scale=30000
refused 'no tracing in VMX' --usage=guest --model=bdw
refused 'cannot be concealed' --usage=owned --controls=none
refused 'a guest sets up' --usage=owned --user
refused 'excludes snapshots' --usage=guest --snapshot="$dir/snap"
tap_end
