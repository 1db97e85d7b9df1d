#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# vpt export --to svg: the boxes of the picture are the stacks of --to folded.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh

picture() { # NAME ELF [OPTION...]
	name=$1
	elf=$2
	shift 2
	rm -f "$dir/t.vpt"
	"$VPT" run -q --engine=soft --pt=host -o "$dir/t.vpt" "$@" "$elf" >/dev/null
	"$VPT" export -q --to=folded "$dir/t.vpt" "$dir/folded"
	"$VPT" export -q --to=svg "$dir/t.vpt" "$dir/svg"
	tap_run "$name: the boxes are the stacks" python3 tests/cli/formats/svg.py "$dir/folded" "$dir/svg"
}

picture demo "$GUEST/demo.elf"
picture "six lanes" "$GUEST/processes.elf"
picture "two vCPUs" "$GUEST/smp.elf" --cpus=2
objcopy --redefine-sym 'fibonacci=<script>alert(1)</script>&' "$GUEST/calls.elf" "$dir/hostile.elf"
picture "a hostile name" "$dir/hostile.elf"
tap_run "it is there" grep -q '&lt;script&gt;alert(1)&lt;/script&gt;&amp;' "$dir/svg"
tap_run "as text" test "$(grep -c '<script' "$dir/svg")" -eq 0
tap_end
