#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# make check-report: pages of vpt report in a browser. Screenshots are left in $O/report.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh

page() { # NAME ELF [OPTION...]
	name=$1
	elf=$2
	shift 2
	"$VPT" run -q --engine=soft --pt=host -o "$dir/$name.vpt" "$@" "$elf" >/dev/null
	"$VPT" report -q -o "$dir/$name.html" "$dir/$name.vpt"
	"$VPT" export -q --to=folded "$dir/$name.vpt" "$dir/$name.folded"
	tap_run "$name" python3 tests/report/browser.py "$dir/$name.html" "$dir/$name.folded" \
		"$O/report/$name"
}

objcopy --redefine-sym 'fibonacci=<script>alert(1)</script>&' "$GUEST/calls.elf" "$dir/hostile.elf"
page hostile "$dir/hostile.elf"
page processes "$GUEST/processes.elf"
page smp "$GUEST/smp.elf" --cpus=4
tap_end
