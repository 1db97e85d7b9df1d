#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# vpt export --to perfetto, as protoc decodes it, against vpt decode --calls.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
export PYTHONDONTWRITEBYTECODE=1

run() { # NAME [OPTION...]
	guest=$1
	shift
	rm -f "$dir/t.vpt"
	"$VPT" run -q --engine=soft "$@" -o "$dir/t.vpt" "$GUEST/$guest.elf" >"$dir/log" 2>&1 </dev/null
	"$VPT" decode --calls --spaces -j "$dir/t.vpt" >"$dir/calls"
	"$VPT" export -q --to=perfetto "$dir/t.vpt" "$dir/out"
	tap_run "$guest $*: protoc" sh -c \
		"protoc --decode=Trace tests/formats/perfetto.proto <'$dir/out' >'$dir/text'"
	exits=$("$VPT" decode -j "$dir/t.vpt" | jq '[.spaces[]?.vm_exits] | add // 0')
	tap_run "$guest $*: spans, and $exits flows" python3 tests/formats/perfetto.py "$dir/calls" "$dir/text" "$exits"
}

tap_run "protoc is there" protoc --version
run calls --pt=host
run processes --pt=host
run exceptions --pt=host
run smp --pt=host --cpus=2
run calls --pt=host --model=skl --buffer=128:100
tap_run "the last trace has overflows" test "$("$VPT" decode -j "$dir/t.vpt" | jq .events.overflow)" -gt 0
run marks --pt=host
marks=$("$VPT" decode -j "$dir/t.vpt" | jq '.marks | length')
tap_run "$marks marks" test "$(grep -c 'name: "mark: ' "$dir/text")" -eq "$marks" -a "$marks" -gt 0
run system --usage=system --tsc
tap_run "a host and its guest: VM exits" test "$exits" -gt 100
# The TSC relates vCPUs.
run smp --pt=host --cpus=2 --tsc --mtc=0 --cyc
check_times() {
	"$VPT" export -q --to=chrome "$dir/t.vpt" "$dir/chrome"
	python3 tests/formats/perfetto_time.py "$VPT" "$dir/t.vpt" "$dir/chrome" <"$dir/text"
}
tap_run "timestamps are those of vpt decode" check_times
tap_end
