#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Parts of a trace in vpt export: --from, --until and --last, by instructions, time, marks and symbols.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh

insns() { # FILE [OPTION...]
	"$VPT" export -q --to=folded "$@" - | awk '{ n += $NF } END { print n + 0 }'
}

is() { # NAME INSNS FILE [OPTION...]
	name=$1
	expected=$2
	shift 2
	got=$(insns "$@")
	tap_run "$name: $expected instructions, $got exported" test "$got" -eq "$expected"
}

t=$dir/t.vpt
"$VPT" run -q --engine=soft --pt=host --tsc -o "$t" "$GUEST/marks.elf" >/dev/null
total=$("$VPT" decode -j "$t" | jq .insns)
is "all" "$total" "$t"
is "from" $((total - 100)) "$t" --from=100
is "from and until" 1001 "$t" --from=99 --until=1100
is "an empty cut" 0 "$t" --from=100 --until=100
is "the last" 777 "$t" --last=777
is "the last, more than there are" "$total" "$t" --last=99999999
mark() { "$VPT" decode -j "$t" | jq ".marks[] | select(.text == \"$1\") | .insns"; }
is "between marks" $(($(mark end) - $(mark begin))) "$t" --from=mark:begin --until=mark:end
# A mark is before the OUT that made it.
"$VPT" decode -i -j "$t" | grep '"insn"' | sed -n "$(($(mark end) + 1))p" >"$dir/insn"
tap_run "the place of a mark" grep -q '"insn":"out ' "$dir/insn"

# A symbol is its first execution, and that of --until comes after the beginning.
"$VPT" decode -i -j "$t" | grep '"insn"' | jq -r '.symbol // ""' >"$dir/symbols"
nth() { grep -nx "$1" "$dir/symbols" | sed -n "$2p" | sed 's/:.*//'; }
sym=$(sed '/+/d' "$dir/symbols" | sort | uniq -c | sort -n | tail -n 1 | sed 's/.* //')
first=$(nth "$sym" 1)
second=$(nth "$sym" 2)
tap_run "$sym runs twice" test -n "$second"
is "from a symbol" $((total - first + 1)) "$t" --from=symbol:"$sym"
is "until a symbol" $((first - 1)) "$t" --until=symbol:"$sym"
is "from a symbol to the same" $((second - first)) "$t" --from=symbol:"$sym" --until=symbol:"$sym"
is "until a symbol behind an instruction" $((second - first - 1)) "$t" --from="$first" --until=symbol:"$sym"
address=0x$(nm "$GUEST/marks.elf" | sed -n "s/ . $sym\$//p")
is "from an address" $((total - first + 1)) "$t" --from=symbol:"$address"
"$VPT" export -q --to=folded --from=symbol:"$sym" --process=0x123000 "$t" - >"$dir/out" 2>"$dir/err"
tap_run "a symbol in another address space" grep -q "from=symbol:$sym: .* does not execute it" "$dir/err"

"$VPT" run -q --engine=soft --pt=host --tsc --mtc=0 --cyc -o "$dir/time.vpt" "$GUEST/quicksort.elf" >/dev/null
total=$("$VPT" decode -j "$dir/time.vpt" | jq .insns)
before=$(insns "$dir/time.vpt" --until=10us)
after=$(insns "$dir/time.vpt" --from=10us)
tap_run "two parts by time, $before and $after" test $((before + after)) -eq "$total" -a "$before" -gt 0 -a "$after" -gt 0
# The time of the software CPU is a tick for each instruction.
hz=$("$VPT" info -j "$dir/time.vpt" | jq .tsc_hz)
tap_run "10 us at $hz Hz" test "$before" -gt $((hz / 100000 * 9 / 10)) -a "$before" -lt $((hz / 100000 * 11 / 10))

# Calls that are active at the edges of a cut are marked, and spans nest.
"$VPT" run -q --engine=soft --pt=host -o "$t" "$GUEST/calls.elf" >/dev/null
"$VPT" export -q --to=chrome --from=10000 --until=20000 "$t" "$dir/chrome"
jq -e '[.traceEvents[] | select(.ph == "B")] as $b | [.traceEvents[] | select(.ph == "E")] as $e |
	($b | length) == ($e | length) and ($b | length) > 100 and
	([$b[] | select(.args.begin == "resumed")] | length) > 3 and
	([$e[] | select(.args.end)] | length) > 3 and
	([.traceEvents[].ts // empty] | min) >= 10 and ([.traceEvents[].ts // empty] | max) <= 20' \
	"$dir/chrome" >"$dir/log"
tap_run "spans of a cut" grep -qx true "$dir/log"
is "an address space" 0 "$t" --process=0x123000
calls() { "$VPT" export -q --to=callgrind "$t" "$@" - | sed -n 's/^calls=\([0-9]*\) .*/\1/p' | awk '{ n += $1 } END { print n + 0 }'; }
tap_run "calls of two parts" test $(($(calls --until=15000) + $(calls --from=15000))) -eq "$(calls)"

refuses "no place" "$USAGE" "10us, or mark:TEXT" export --to=folded --from=abc "$t" "$dir/x"
refuses "no unit" "$USAGE" "10us, or mark:TEXT" export --to=folded --until=7m "$t" "$dir/x"
refuses "no such mark" "$USAGE" "no such mark" export --to=folded --from=mark:none "$t" "$dir/x"
refuses "no such symbol" "$USAGE" "there is no symbol 'nothing'" export --to=folded --from=symbol:nothing "$t" "$dir/x"
refuses "a symbol that does not run" "$USAGE" "until=symbol:0x123: .* does not execute it" \
	export --to=folded --until=symbol:0x123 "$t" "$dir/x"
objcopy --redefine-sym gcd=add "$GUEST/calls.elf" "$dir/twice.elf"
"$VPT" run -q --engine=soft --pt=host -o "$dir/twice.vpt" "$dir/twice.elf" >/dev/null
refuses "a name of two places" "$USAGE" "several places are named 'add': give an address" \
	export --to=folded --from=symbol:add "$dir/twice.vpt" "$dir/x"
refuses "the last of a part" "$USAGE" "not with --from" export --to=folded --last=1 --from=2 "$t" "$dir/x"
refuses "a cut for perf" "$USAGE" "not for --to=perf" export --to=perf --last=1 "$t" "$dir/x"
tap_run "nothing was written" test ! -e "$dir/x"
tap_end
