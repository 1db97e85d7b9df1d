#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Guests that hang in a loop of direct branches. The format does not record how often such a loop
# runs: vpt verify says so, with a status of its own, and finds no difference.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
. tests/lib/roundtrip.sh

# hang NAME KIND STATUS TEXT OPTION...: one test. verify of a guest that hangs ends with STATUS and
# says TEXT, a pattern.
hang() {
	name=$1 kind=$2 want=$3 text=$4
	shift 4
	"$TOOLS/mkelf" "$kind" "$dir/guest.elf" || exit 1
	"$VPT" run -q --engine=soft --pt=host --max-insns=100000 --oracle "$@" -o "$dir/t.vpt" \
		"$dir/guest.elf" >"$dir/run" 2>&1
	said=$("$VPT" verify "$dir/t.vpt" 2>&1)
	status=$?
	# shellcheck disable=SC2254 # a pattern
	case $status/$said in
	$want/$text) tap_ok "$name" ;;
	*) tap_fail "$name" "run: $(cat "$dir/run")
verify: exit status $status, not $want
$said" ;;
	esac
}

at="ends in a loop of direct branches at 0x200000 *: the format does not record how often it ran"
for model in bdw skl icx spr; do
	hang "jmp to itself, $model" spin 6 "*$at*100000 retired, * 0 mismatches" --model=$model
done
hang "pause, nop, jmp" spin-pause 6 \
	"*ends in a loop of direct branches at 0x20000? *100000 retired, * 0 mismatches" --model=skl
hang "with MTC, CYC and PSBs" spin 6 "*$at*0 mismatches" --model=skl --mtc=0 --cyc --tsc --psb=0
hang "with an overflow" spin 6 "*$at*0 mismatches" --model=skl --mtc=0 --cyc --buffer=128:64
hang "a conditional branch is compared" spin-jz 0 "verify: 100000 retired, 100000 decoded, 0 mis*" \
	--model=skl
hang "RTIT: the file has the count" spin 0 "verify: 100000 retired, 100000 decoded, 0 mismatches" \
	--trace=rtit --model=silvermont

"$TOOLS/mkelf" spin "$dir/guest.elf" || exit 1
"$VPT" run -q --engine=soft --pt=host --model=skl --max-insns=1000 --oracle -o "$dir/t.vpt" \
	"$dir/guest.elf" >/dev/null 2>&1
said=$("$VPT" verify -j "$dir/t.vpt")
case $?/$said in
6/*'"mismatches":0,'*'"loops":1,"looped":1000,"loop":{"vcpu":0,"session":0,"insns":0,"ip":"0x200000"}'*)
	tap_ok "JSON has the loop"
	;;
*) tap_fail "JSON has the loop" "$said" ;;
esac
said=$("$VPT" verify -q "$dir/t.vpt")
case $?/$said in
"6/verify: 1000 retired, 0 decoded, 0 mismatches") tap_ok "--quiet says the last line" ;;
*) tap_fail "--quiet says the last line" "$said" ;;
esac
tap_end
