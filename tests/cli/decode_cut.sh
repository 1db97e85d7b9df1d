#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Parts of a trace in vpt decode: --from, --until and --last at random places against the whole
# output, in each form of it, and --min-duration.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
export PYTHONDONTWRITEBYTECODE=1
CUTS=${CUTS:-3}

record() { # PAYLOAD [OPTION...]
	payload=$1
	shift
	"$VPT" run -q --engine=soft -o "$dir/$payload.vpt" "$@" "$GUEST/$payload.elf" >/dev/null 2>"$dir/err" </dev/null
}

parts() { # PAYLOAD [OPTION...]
	payload=$1
	shift
	tap_run "$payload $*: parts make up the whole" \
		python3 tests/cli/formats/cut.py "$VPT" "$CUTS" "$dir/$payload.vpt" "$@"
}

record calls --pt=host --tsc
parts calls
record quicksort --pt=host --tsc --mtc=0 --cyc --psb=0
parts quicksort
record exceptions --pt=host --psb=0
parts exceptions
record longjmp --pt=host --model=skl --buffer=128:100
tap_run "longjmp has overflows" test "$("$VPT" decode -j "$dir/longjmp.vpt" | jq .events.overflow)" -gt 0
parts longjmp
record marks --pt=host
parts marks
record smp --pt=host --cpus=2 --tsc
parts smp
record processes --pt=host --tsc --psb=0
parts processes
cr3=$("$VPT" decode -j -a "$dir/processes.vpt" | jq -r '.spaces[1].cr3')
parts processes --process="$cr3"
record system --usage=system --tsc
parts system
parts system --side=guest
record interrupts --trace=rtit --model=airmont --pt=host
parts interrupts

# vpt export has the same parts.
for place in 1000 2us symbol:gcd; do
	for part in --from --until; do
		exported=$("$VPT" export -q --to=folded $part=$place "$dir/calls.vpt" - | awk '{ n += $NF } END { print n }')
		tap_run "$part=$place: as many instructions as in vpt export, $exported" \
			test "$("$VPT" decode -j $part=$place "$dir/calls.vpt" | jq .insns)" -eq "$exported"
	done
done
"$VPT" decode -i --from=symbol:gcd -n 1 "$dir/calls.vpt" >"$dir/got"
tap_run "a listing from a symbol" grep -q "  gcd  " "$dir/got"
tap_run "begins with the vCPU and the clock" grep -qx -e "-- vCPU 0, from instruction [0-9]* on" "$dir/got"

# Calls that last long, against the durations of the spans of a timeline.
"$VPT" export -q --to=chrome "$dir/calls.vpt" "$dir/chrome"
for min in 1 40 1000 30000; do
	python3 - "$dir/chrome" $min >"$dir/want" <<-'END'
		import collections, json, sys
		stack, found = [], collections.Counter()
		for e in json.load(open(sys.argv[1]))["traceEvents"]:
		    if e["ph"] == "B":
		        stack.append((e["name"], e["ts"]))
		    elif e["ph"] == "E":
		        name, at = stack.pop()
		        found[name] += round((e["ts"] - at) * 1000) >= int(sys.argv[2])
		for name, n in sorted(found.items()):
		    if n:
		        print(n, name)
	END
	"$VPT" decode -t -j --min-duration=$min "$dir/calls.vpt" |
		jq -sr 'group_by(.function)[] | "\(map(.count) | add) \(.[0].function)"' | LC_ALL=C sort -k2 >"$dir/got"
	LC_ALL=C sort -k2 -o "$dir/want" "$dir/want"
	tap_run "--min-duration=$min: $(wc -l <"$dir/want") functions" cmp "$dir/want" "$dir/got"
	tap_run "--min-duration=$min: there are some" test -s "$dir/want"
done
"$VPT" decode -t -j "$dir/calls.vpt" >"$dir/want"
"$VPT" decode -t -j --min-duration=1 "$dir/calls.vpt" >"$dir/got"
tap_run "each call lasts an instruction" cmp "$dir/want" "$dir/got"
"$VPT" decode -t -j -T "$dir/quicksort.vpt" >"$dir/all"
"$VPT" decode -t -j --min-duration=5us "$dir/quicksort.vpt" >"$dir/got"
tap_run "--min-duration=5us: each line has the time" test "$(jq -s 'all(.ns >= 5000 * .count)' "$dir/got")" = true
tap_run "--min-duration=5us: fewer lines" test "$(wc -l <"$dir/got")" -gt 3 -a "$(wc -l <"$dir/got")" -lt "$(wc -l <"$dir/all")"

# The end of the guest is in the last part only.
"$VPT" run -q --engine=soft --pt=host --max-insns=20000 -o "$dir/stop.vpt" "$GUEST/calls.elf" >/dev/null 2>&1
ends() { "$VPT" decode -j "$@" "$dir/stop.vpt" | jq -c 'has("stop")'; }
tap_run "the stop is in the whole" test "$(ends)" = true
tap_run "the stop is in the last part" test "$(ends --last=100)" = true
tap_run "the stop is not in the first part" test "$(ends --until=10000)" = false

refuses "no place" "$USAGE" "^vpt decode: --from=abc: .* 10us, or mark:TEXT" decode --from=abc "$dir/calls.vpt"
refuses "no such mark" "$USAGE" "^vpt decode: --until=mark:x: .* no such mark" decode --until=mark:x "$dir/calls.vpt"
refuses "no such symbol" "$USAGE" "^vpt decode: .* there is no symbol 'x'" decode -q --from=symbol:x "$dir/calls.vpt"
refuses "the last of a part" "$USAGE" "not with --from" decode --last=1 --from=2 "$dir/calls.vpt"
refuses "a duration without calls" "$USAGE" "requires --calls" decode --min-duration=9 "$dir/calls.vpt"
refuses "no duration" "$USAGE" "min-duration=0: give a number" decode -t --min-duration=0 "$dir/calls.vpt"
refuses "a function before the part" "$USAGE" "the selected part has no call of it" \
	decode -t -f gcd --until=100 "$dir/calls.vpt"
tap_end
