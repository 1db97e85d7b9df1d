#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Edges, coverage and bitmaps of vpt export, read by their formats alone, against the listing of
# vpt decode.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
export PYTHONDONTWRITEBYTECODE=1

# run GUEST FORMATS [OPTION...]
run() {
	guest=$1
	formats=$2
	shift 2
	rm -f "$dir/t.vpt"
	"$VPT" run -q --engine=soft "$@" -o "$dir/t.vpt" "$GUEST/$guest.elf" >"$dir/log" 2>&1 </dev/null
	"$VPT" decode -i -j "$dir/t.vpt" >"$dir/listing"
	for format in $formats; do
		rm -f "$dir/out"
		"$VPT" export -q --to="$format" "$dir/t.vpt" "$dir/out"
		tap_run "$format of $guest $*" python3 "tests/cli/formats/$format.py" "$dir/listing" "$dir/out"
	done
}

run calls "edges drcov bitmap" --pt=host
run exceptions "edges drcov bitmap" --pt=host
run ring3 "edges drcov bitmap" --pt=host --user
run processes "edges drcov" --pt=host
run calls "edges drcov" --pt=host --model=skl --buffer=128:100
tap_run "the last trace has overflows" test "$("$VPT" decode -j "$dir/t.vpt" | jq .events.overflow)" -gt 0

# A name of a guest that would end its field, or be a formula.
objcopy --redefine-sym 'fibonacci==cmd"|,' "$GUEST/calls.elf" "$dir/hostile.elf"
"$VPT" run -q --engine=soft --pt=host -o "$dir/h.vpt" "$dir/hostile.elf" >/dev/null
"$VPT" export -q --to=edges "$dir/h.vpt" "$dir/out"
tap_run "a hostile name" grep -q ",\"'=cmd\"\"|,\",call," "$dir/out"
"$VPT" decode -i -j "$dir/h.vpt" >"$dir/listing"
tap_run "edges with a hostile name" python3 tests/cli/formats/edges.py "$dir/listing" "$dir/out"
tap_end
