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
	compare "$name"
}

compare() { # NAME [OPTION...]
	name=$1
	shift
	"$VPT" export -q --to=folded "$@" "$dir/t.vpt" "$dir/folded"
	"$VPT" export -q --to=svg "$@" "$dir/t.vpt" "$dir/svg"
	tap_run "$name: the boxes are the stacks" python3 tests/cli/formats/svg.py "$dir/folded" "$dir/svg"
}

picture demo "$GUEST/demo.elf"
compare "one function" --function=study_formula
"$VPT" decode --calls --function=study_formula "$dir/t.vpt" >"$dir/calls"
tap_run "its stacks are the calls of vpt decode" test \
	"$(awk '{ n += $NF } END { print n }' "$dir/folded")" -eq \
	"$(sed -n 's/^  [0-9]*x  study_formula  (\([0-9]*\) insns.*/\1/p' "$dir/calls")"
tap_run "each begins at it" test "$(cut -d';' -f2 "$dir/folded" | sed 's/ [0-9]*$//' | sort -u)" = study_formula
refuses "a function that never ran" "$USAGE" "the trace has no call of it" \
	export -q --to=svg --function=nowhere "$dir/t.vpt" "$dir/none.svg"
refuses "a function for another format" "$USAGE" "only with --to=folded and svg" \
	export -q --to=edges --function=payload "$dir/t.vpt" "$dir/none"
picture "six lanes" "$GUEST/processes.elf"
picture "two vCPUs" "$GUEST/smp.elf" --cpus=2
objcopy --redefine-sym 'fibonacci=<script>alert(1)</script>&' "$GUEST/calls.elf" "$dir/hostile.elf"
picture "a hostile name" "$dir/hostile.elf"
tap_run "it is there" grep -q '&lt;script&gt;alert(1)&lt;/script&gt;&amp;' "$dir/svg"
tap_run "as text" test "$(grep -c '<script' "$dir/svg")" -eq 0

# The picture of the gallery, behind the line with its licence.
"$VPT" run -q --pt=host --engine=soft -o "$dir/t.vpt" "$GUEST/calls.elf" >/dev/null
"$VPT" export -q --to=svg "$dir/t.vpt" "$dir/svg"
sed 1d docs/gallery/calls.svg >"$dir/want"
tap_run "docs/gallery/calls.svg is this picture" cmp "$dir/want" "$dir/svg"
tap_end
