#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Timelines of vpt export as JSON, read by their formats alone, against vpt decode --calls.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
. tests/cli/formats/run.sh

compare "--calls --spaces -j" "$GUEST/calls.elf" "chrome speedscope" --pt=host
compare "--calls --spaces -j" "$GUEST/processes.elf" chrome --pt=host
compare "--calls --spaces -j" "$GUEST/exceptions.elf" chrome --pt=host
compare "--calls --spaces -j" "$GUEST/ring3.elf" chrome --pt=host
compare "--calls --spaces -j" "$GUEST/smp.elf" chrome --pt=host --cpus=2
compare "--calls --spaces -j" "$GUEST/calls.elf" chrome --pt=host --model=skl --buffer=128:100
tap_run "the last trace has overflows" test "$("$VPT" decode -j "$dir/t.vpt" | jq .events.overflow)" -gt 0
tap_run "spans that resume after an overflow" grep -q '"begin":"resumed"' "$dir/out"
compare "--calls --spaces -j" "$GUEST/marks.elf" chrome --pt=host
marks=$("$VPT" decode -j "$dir/t.vpt" | jq '.marks | length')
tap_run "$marks marks" test "$(grep -c '"name":"mark: ' "$dir/out")" -eq "$marks" -a "$marks" -gt 0

# A name of a guest that would end its string.
objcopy --redefine-sym 'fibonacci=</script>"}\' "$GUEST/calls.elf" "$dir/hostile.elf"
compare "--calls --spaces -j" "$dir/hostile.elf" "chrome speedscope" --pt=host
tap_run "the hostile name is in the trace" grep -q 'script>' "$dir/out"
tap_end
