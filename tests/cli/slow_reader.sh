#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# vpt run --slow-reader=drop: a reader that is slower than the guest loses trace, which is counted.
# Each session that is left has the instructions of the same run with a fast reader.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh

gaps=0

# slow: copy the input, but sleep before each piece.
slow() {
	perl -e 'do { select(undef, undef, undef, 0.01); print $piece } while sysread(STDIN, $piece, 65536)'
}

# run FILE COMMAND OPTION... PAYLOAD: record what COMMAND reads.
run() {
	"$VPT" run --engine=soft --pt=host --timeout=300 "${@:3:$#-3}" -o - "$GUEST/${*: -1}.elf" \
		2>"$1.err" | $2 >"$1"
}

# check OPTION... PAYLOAD: prints what is wrong.
check() {
	local found bytes lost places
	run "$dir/whole.vpt" cat "$@"
	run "$dir/gaps.vpt" slow --slow-reader=drop:64K "$@"
	found=$("$O/tests/gaps" "$dir/gaps.vpt" "$dir/whole.vpt" 2>&1) || { echo "$found"; return; }
	# vCPU 0: 3 gaps, 100 instructions, 50 missing
	gaps=$((gaps + $(echo "$found" | awk '$5 > 0 { n += $3 } END { print n + 0 }')))
	# The command counts what is missing.
	lost=$(sed -n 's/.*too slow: \([0-9]*\) bytes.*/\1/p' "$dir/gaps.vpt.err")
	places=$(sed -n 's/.* in \([0-9]*\) places$/\1/p' "$dir/gaps.vpt.err")
	bytes=$("$VPT" info -j "$dir/gaps.vpt" | jq '[.vcpus[].bytes] | add')
	made=$(sed -n 's/.*instructions, \([0-9]*\) bytes of trace.*/\1/p' "$dir/gaps.vpt.err")
	[ $((bytes + ${lost:-0})) -eq "$made" ] || echo "bytes: $bytes and $lost, not $made"
	[ "$(echo "$found" | head -n 1 | sed 's/.*: \([0-9]*\) gaps.*/\1/')" = "${places:-0}" ] ||
		echo "places: $places, and $found"
	"$VPT" decode -q "$dir/gaps.vpt" 2>&1 | head -n 3
}

row() {
	check "$@" >"$dir/wrong"
	tap_empty "$*" "$(cat "$dir/wrong")"
}

row --arg=60 quicksort
row --arg=60 --tsc --mtc --cyc --model=spr quicksort
row --arg=60 --no-retc --psb=5 quicksort
row --arg=60 --defer-tips quicksort
row --arg=60 --filter=partition quicksort
row --arg=1200 kernelmix
row --arg=1200 --user kernelmix
row --arg=2000 jit
row --arg=1200 --tsc processes
row --arg=1200 --kernel processes
row --cpus=3 --arg=1200 shared_timer
tap_run "most of them had a gap between instructions: $gaps" test "$gaps" -gt 11

# A decoder that follows finds what the file has.
"$VPT" run --engine=soft --pt=host --slow-reader=drop:64K --arg=1200 -o - "$GUEST/kernelmix.elf" \
	2>"$dir/err" | slow | tee "$dir/gaps.vpt" | "$VPT" decode --follow - >"$dir/followed"
"$VPT" decode "$dir/gaps.vpt" >"$dir/decoded"
tap_run "a decoder that follows has the same" cmp "$dir/followed" "$dir/decoded"
tap_run "with gaps" grep -q "too slow" "$dir/err"

# The reader goes away.
"$VPT" run --engine=soft --pt=host --slow-reader=drop:64K --arg=60 -o - "$GUEST/quicksort.elf" \
	2>"$dir/err" | head -c 1000 >/dev/null
tap_run "a reader that goes away ends the run" test "${PIPESTATUS[0]}" -eq 4
tap_run "in one line" grep -q "Broken pipe" "$dir/err"

refused=0
refuse() { # OPTION... -- LINE
	local line=${*: -1}
	"$VPT" run --engine=soft --pt=host "${@:1:$#-2}" "$GUEST/calls.elf" 2>&1 >/dev/null | cat >"$dir/err"
	grep -q "$line" "$dir/err" && [ "$(wc -l <"$dir/err")" -eq 1 ] || cat "$dir/err"
	refused=$((refused + 1))
}
tap_empty "a file has no reader" "$(refuse --slow-reader=drop -o "$dir/x.vpt" -- 'is no pipe')"
tap_empty "no output" "$(refuse --slow-reader=drop -- 'requires --output')"
tap_empty "another word" "$(refuse --slow-reader=wait -o - -- 'use drop, or drop:SIZE')"
tap_empty "a small queue" "$(refuse --slow-reader=drop:4K -o - -- 'at least 64K')"
tap_empty "with an oracle" "$(refuse --slow-reader=drop --oracle -o - -- 'not with --oracle')"
tap_empty "with a ring" "$(refuse --slow-reader=drop --ring=4K -o - -- 'not with --ring')"
tap_end
