#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# vpt top: its intervals together are the trace, and names in it do no harm.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
tools=${O:-build/${MODE:-rel}}/tests

# sums NAME FILE: the sums of all intervals are those of vpt decode.
sums() {
	"$VPT" decode --json "$2" | jq -c '[.insns, .bytes, .errors, .events]' >"$dir/want"
	"$VPT" top --json - <"$2" >"$dir/top" 2>"$dir/err"
	tap_run "$1: status" test $? -eq 0
	jq -cs '[(map(.insns) | add), (map(.bytes) | add), (map(.errors) | add),
		(map(.events) | reduce .[] as $e ({}; reduce ($e | keys_unsorted[]) as $k (.; .[$k] += $e[$k])))]' \
		"$dir/top" >"$dir/got"
	tap_run "$1: the sums are those of the trace" cmp "$dir/want" "$dir/got"
	jq -s 'map([.insns, ([.spaces[].insns] | add // 0)] | .[0] - .[1]) | add' "$dir/top" >"$dir/rest"
	tap_run "$1: each instruction has a space" test "$(cat "$dir/rest")" -eq 0
}

for guest in quicksort interrupts processes; do
	"$VPT" run -q --engine=soft --pt=host -o "$dir/t.vpt" "$GUEST/$guest.elf" >/dev/null </dev/null
	sums $guest "$dir/t.vpt"
done
"$VPT" run -q --engine=soft --pt=host --cpus=3 -o "$dir/t.vpt" "$GUEST/smp.elf" >/dev/null </dev/null
sums "three vCPUs" "$dir/t.vpt"

# The functions of one interval are those of the summary.
"$VPT" run -q --engine=soft --pt=host -o "$dir/t.vpt" "$GUEST/quicksort.elf" >/dev/null </dev/null
"$VPT" decode --json "$dir/t.vpt" | jq -c '.functions' >"$dir/want"
"$VPT" top --json --interval=600 - <"$dir/t.vpt" | jq -c '.functions[0:10]' >"$dir/got"
tap_run "the functions of the whole trace" cmp "$dir/want" "$dir/got"
"$VPT" top "$dir/t.vpt" >"$dir/got"
tap_run "a table" grep -q "49.11%         61153  partition" "$dir/got"
tap_run "a table has no control characters" test "$(tr -d '\n -~' <"$dir/got" | wc -c)" -eq 0

# A name that controls a terminal.
objcopy --redefine-sym "partition=$(printf 'a\033]0;b\007c')" "$GUEST/quicksort.elf" "$dir/hostile.elf"
"$VPT" run -q --engine=soft --pt=host -o "$dir/h.vpt" "$dir/hostile.elf" >/dev/null </dev/null
"$VPT" top "$dir/h.vpt" >"$dir/got"
tap_run "a hostile name" grep -q "61153  a" "$dir/got"
tap_run "a hostile name has no control characters" test "$(tr -d '\n -~' <"$dir/got" | wc -c)" -eq 0

# The key q ends it while the writer still has the pipe open.
mkfifo "$dir/pipe"
{ head -c -200 "$dir/t.vpt"; exec sleep 20; } >"$dir/pipe" &
writer=$!
{ sleep 4; printf q; sleep 1; } | timeout 9 script -qec "$VPT top $dir/pipe" /dev/null >"$dir/screen"
tap_run "the key q" test $? -eq 0
tap_run "a screen was drawn" grep -q partition "$dir/screen"
kill $writer

# A trace that still grows: several intervals, and --once ends with the first.
"$tools/trickle" 5 100 <"$dir/t.vpt" | "$VPT" top --json --interval=1 - >"$dir/top"
jq -s 'map(.insns) | add' "$dir/top" >"$dir/got"
tap_run "a slow writer" test "$(cat "$dir/got")" -eq "$("$VPT" decode --json "$dir/t.vpt" | jq .insns)"
"$tools/trickle" 5 3000 <"$dir/t.vpt" 2>/dev/null | "$VPT" top --json --once - >"$dir/top"
tap_run "--once" test "$(wc -l <"$dir/top")" -eq 1

refuses "no file" "$INPUT" "No such file" top "$dir/none"
refuses "no trace" "$INPUT" "not a .vpt file" top Makefile
refuses "an interval of nothing" "$USAGE" "give 1 to 86400 seconds" top --interval=0 "$dir/t.vpt"
head -c 150000 "$dir/t.vpt" >"$dir/cut.vpt"
"$VPT" top - <"$dir/cut.vpt" >/dev/null 2>"$dir/err"
tap_run "a trace that is cut" test $? -eq "$INPUT"
tap_run "its line" grep -q "cut: .*; bytes lost" "$dir/err"
"$VPT" run -q --engine=soft --model=silvermont --pt=host -o "$dir/a.vpt" "$GUEST/quicksort.elf" >/dev/null 2>&1 </dev/null
refuses "RTIT" "$INPUT" "cannot be decoded before its end" top "$dir/a.vpt"
tap_end
