#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Timelines of vpt export as JSON, read by their formats alone, against vpt decode --calls.
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
	"$VPT" run -q --engine=soft "$@" -o "$dir/t.vpt" "$guest" >"$dir/log" 2>&1 </dev/null
	"$VPT" decode --calls --spaces -j "$dir/t.vpt" >"$dir/calls"
	for format in $formats; do
		rm -f "$dir/out"
		"$VPT" export -q --to="$format" "$dir/t.vpt" "$dir/out"
		tap_run "$format of $(basename "$guest") $*" \
			python3 "tests/cli/formats/$format.py" "$dir/calls" "$dir/out"
	done
}

run "$GUEST/calls.elf" "chrome speedscope" --pt=host
run "$GUEST/processes.elf" chrome --pt=host
run "$GUEST/exceptions.elf" chrome --pt=host
run "$GUEST/ring3.elf" chrome --pt=host
run "$GUEST/smp.elf" chrome --pt=host --cpus=2
run "$GUEST/calls.elf" chrome --pt=host --model=skl --buffer=128:100
tap_run "the last trace has overflows" test "$("$VPT" decode -j "$dir/t.vpt" | jq .events.overflow)" -gt 0
tap_run "spans that resume after an overflow" grep -q '"begin":"resumed"' "$dir/out"
run "$GUEST/marks.elf" chrome --pt=host
marks=$("$VPT" decode -j "$dir/t.vpt" | jq '.marks | length')
tap_run "$marks marks" test "$(grep -c '"name":"mark: ' "$dir/out")" -eq "$marks" -a "$marks" -gt 0

# A name of a guest that would end its string.
objcopy --redefine-sym 'fibonacci=</script>"}\' "$GUEST/calls.elf" "$dir/hostile.elf"
run "$dir/hostile.elf" "chrome speedscope" --pt=host
tap_run "the hostile name is in the trace" grep -q 'script>' "$dir/out"
tap_end
