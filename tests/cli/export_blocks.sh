#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Edges, coverage and bitmaps of vpt export, read by their formats alone, against the listing of
# vpt decode.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
. tests/cli/formats/run.sh

compare "-i -j" "$GUEST/calls.elf" "edges drcov bitmap bolt autofdo" --pt=host
compare "-i -j" "$GUEST/exceptions.elf" "edges drcov bitmap bolt autofdo" --pt=host
compare "-i -j" "$GUEST/ring3.elf" "edges drcov bitmap bolt autofdo" --pt=host --user
compare "-i -j" "$GUEST/processes.elf" "edges drcov bolt autofdo" --pt=host
compare "-i -j" "$GUEST/calls.elf" "edges drcov bolt autofdo" --pt=host --model=skl --buffer=128:100
tap_run "the last trace has overflows" test "$("$VPT" decode -j "$dir/t.vpt" | jq .events.overflow)" -gt 0

# A name of a guest that would end its field, or be a formula.
objcopy --redefine-sym 'fibonacci==cmd"|,' "$GUEST/calls.elf" "$dir/hostile.elf"
"$VPT" run -q --engine=soft --pt=host -o "$dir/h.vpt" "$dir/hostile.elf" >/dev/null
"$VPT" export -q --to=edges "$dir/h.vpt" "$dir/out"
tap_run "a hostile name" grep -q ",\"'=cmd\"\"|,\",call," "$dir/out"
"$VPT" decode -i -j "$dir/h.vpt" >"$dir/listing"
tap_run "edges with a hostile name" python3 tests/cli/formats/edges.py "$dir/listing" "$dir/out"
tap_end
