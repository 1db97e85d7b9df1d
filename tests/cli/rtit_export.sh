#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# An RTIT trace told as Intel PT is the same flow to libipt and to perf, and what ran; and
# commands that are wrong.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
. tests/lib/exported.sh

# record NAME [OPTION...]: a host's RTIT of a payload, to $dir/t.vpt.
record() {
	rc_name=$1
	shift
	"$VPT" run -q --trace=rtit --model=silvermont --pt=host --oracle --max-insns=400000 \
		"$@" -o "$dir/t.vpt" "$GUEST/$rc_name.elf" >"$dir/log" 2>&1
}

# told NAME WORDS: $dir/t.vpt as PT. Our decoder of the one and libipt of the other say the
# same, and what is said of the export has WORDS in it.
told() {
	td_said=$("$VPT" export --to pt "$dir/t.vpt" "$dir/pt.vpt" 2>&1)
	td_status=$?
	instructions "$dir/t.vpt" >"$dir/ours"
	instructions "$dir/pt.vpt" >"$dir/libipt"
	if [ $td_status -ne 0 ]; then
		tap_fail "$1" "vpt export: exit status $td_status: $td_said"
	elif [ ! -s "$dir/ours" ]; then
		tap_fail "$1" "no instructions: $(tail -n 3 "$dir/log")"
	elif ! td_cmp=$(cmp "$dir/ours" "$dir/libipt" 2>&1); then
		tap_fail "$1" "$td_cmp"
	else
		case $td_said in
		*"$2"*) tap_ok "$1" ;;
		*) tap_fail "$1" "no '$2' in: $td_said" ;;
		esac
	fi
}

# payload NAME [OPTION...]: libipt sees what ran, as the oracle has it.
payload() {
	record "$@"
	told "$*, as PT" "oracle: yes"
	tap_run "$*, verified by libipt" "$VPT" verify "$dir/pt.vpt"
}

# lossy NAME OPTION...: of what was lost, our decoder may know a few instructions more (FUP.FAR
# says where, and its TIP is lost), so that what ran has the last word.
lossy() {
	record "$@"
	tap_run "$*, as PT" "$VPT" export --to pt -q "$dir/t.vpt" "$dir/pt.vpt"
	tap_run "$*, overflows" sh -c "'$VPT' dump -s '$dir/pt.vpt' | grep -q '^OVF'"
	tap_run "$*, verified by libipt" "$VPT" verify "$dir/pt.vpt"
}

# guest NAME: of a guest that programs RTIT itself; registers that it writes while a trace runs,
# ranges, TraceStop, cycle counts.
guest() {
	"$VPT" run -q --model=airmont --pt=guest --oracle --max-insns=400000 -o "$dir/t.vpt" \
		"$GUEST/$1.elf" >"$dir/log" 2>&1
	told "$1, a guest's, as PT" "oracle: "
	perf_same "$1, a guest's, perf"
}

# ranges NAME OPTION...: ranges of PT are others, so that there is no oracle of them.
ranges() {
	record "$@"
	told "$*, as PT" "oracle: none"
	perf_same "$*, perf"
}

tap_run "perf is there" perf --version
payload quicksort
payload calls
payload exceptions
payload interrupts
payload ring3
payload spaces
payload processes
payload jit
payload selfmod
payload compat
payload kernelmix
payload longjmp --no-retc
payload ring3 --user
payload ring3 --kernel
payload processes --user
payload processes --tsc --mtc
payload interrupts --cyc --mtc --tsc
lossy quicksort --buffer=256:64
lossy processes --buffer=256:64
lossy exceptions --buffer=200:100 --cyc
payload exceptions --errata=E1,E2,E3,E5 --disable-pgd --less-pkts
payload processes --clear-lag=4 --psb=0
guest atom_live
guest atom_filter
guest atom_stop
guest atom_cycles
guest atom_cr3
ranges quicksort --filter=partition
ranges exceptions --filter=0x100000-0x1007ff --filter=0x101000-0x101fff
payload quicksort --stop=partition

record calls --model=airmont
perf_same "calls, airmont, perf"
record processes --tsc --mtc
perf_same "processes, perf"
record jit
perf_same "jit, perf"
record kernelmix --cyc
perf_same "kernelmix, cycle counts, perf"
tap_run "an export" "$VPT" export --to perf "$dir/t.vpt" "$dir/t.perf"
tap_run "perf report" sh -c \
	"perf report -i '$dir/t.perf' --itrace=i100i --stdio 2>/dev/null | grep -q cr3:"

# Times of STS and MTC packets come out in TSC packets that do not fall.
record processes --tsc --mtc
"$VPT" export --to pt -q "$dir/t.vpt" "$dir/pt.vpt"
"$VPT" dump "$dir/pt.vpt" | awk '$2 == "TSC" { printf "%20s\n", $3 }' >"$dir/times"
if [ "$(sort -u "$dir/times" | wc -l)" -gt 100 ] && LC_ALL=C sort -c "$dir/times" 2>"$dir/log"; then
	tap_ok "times"
else
	tap_fail "times" "$(wc -l <"$dir/times") of them; $(cat "$dir/log")"
fi

size=$(stat -c %s "$dir/t.vpt")
head -c $((size / 2)) "$dir/t.vpt" >"$dir/cut.vpt"
refuses "a trace that ends early" "$INPUT" "cut" export -q -t pt "$dir/cut.vpt" "$dir/pt.vpt"
tap_run "what there is of it" test "$(instructions "$dir/pt.vpt" 2>/dev/null | wc -l)" -gt 1000
refuses "the same, for perf" "$INPUT" "cut" export -q -t perf "$dir/cut.vpt" "$dir/cut.perf"
refuses "no OUT" "$USAGE" "OUT" export --to=pt "$dir/t.vpt"
refuses "OUT is FILE" "$USAGE" "the same" export --to=pt "$dir/t.vpt" "$dir/t.vpt"
tap_run "which is as it was" test "$(stat -c %s "$dir/t.vpt")" -eq "$size"
refuses "an option of perf's" "$USAGE" "time: it is for --to=perf" export -t pt -T tsc "$dir/t.vpt" "$dir/x"
refuses "no place for it" "$HOST" "No such file" export -t pt "$dir/t.vpt" "$dir/a/b/c"
"$VPT" run -q --pt host -o "$dir/p.vpt" "$GUEST/calls.elf" >/dev/null
refuses "what is PT already" "$USAGE" "already" export -t pt "$dir/p.vpt" "$dir/x"
tap_end
