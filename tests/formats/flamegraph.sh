#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# vpt export --to folded, as stackvis of npm draws it: a flame graph of all instructions.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh

version=0.5.0
cache=${VPT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/vpt}/stackvis-$version
stackvis=$cache/node_modules/stackvis/cmd/stackvis
[ -s "$stackvis" ] || npm install --silent --ignore-scripts --prefix "$cache" "stackvis@$version" >"$dir/log" 2>&1
tap_run "stackvis $version is there" test -s "$stackvis"

draw() {
	node "$stackvis" collapsed flamegraph-svg <"$dir/out" >"$dir/svg"
}

run() { # NAME [OPTION...]
	guest=$1
	shift
	rm -f "$dir/t.vpt"
	"$VPT" run -q --engine=soft --pt=host "$@" -o "$dir/t.vpt" "$GUEST/$guest.elf" >/dev/null 2>&1
	"$VPT" export -q --to=folded "$dir/t.vpt" "$dir/out"
	tap_run "$guest${*:+ $*}: stackvis draws it" draw
	insns=$("$VPT" decode -j "$dir/t.vpt" | jq .insns)
	tap_run "$guest${*:+ $*}: all $insns instructions" grep -q "all samples ($insns samples, 100%)" "$dir/svg"
	"$VPT" decode --calls -j "$dir/t.vpt" | jq -r .function | sort -u >"$dir/functions"
	drawn=$(while IFS= read -r name; do
		grep -qF ";$name (" "$dir/svg" && echo "$name"
	done <"$dir/functions" | wc -l)
	# Those narrower than a tenth of a pixel are left out.
	all=$(wc -l <"$dir/functions")
	tap_run "$guest${*:+ $*}: $drawn of $all functions" test $((drawn * 4)) -ge $((all * 3)) -a "$drawn" -le "$all"
}

run calls
run processes
run exceptions
run smp --cpus=4
tap_end
