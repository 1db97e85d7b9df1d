#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# vpt decode --calls --function=NAME: the lines of the whole tree below each call of the function,
# by the symbols of the guest or of a copy of /proc/kallsyms.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh

"$VPT" run -q --engine=soft --pt=host -o "$dir/t.vpt" "$GUEST/demo.elf" >/dev/null 2>&1
"$VPT" decode --calls "$dir/t.vpt" >"$dir/all"

# below NAME: the subtrees of the whole tree, moved to the left margin.
below() {
	awk -v name="$1" '
	{
		match($0, /^ */)
		if (inside && RLENGTH <= inside)
			inside = 0
		if (!inside && $2 == name)
			inside = RLENGTH
		if (inside)
			print substr($0, inside - 1)
	}' "$dir/all"
}

for name in study_formula execute op_variable trace_only; do
	below $name >"$dir/want"
	"$VPT" decode --calls --function=$name "$dir/t.vpt" >"$dir/got"
	tap_run "$name: status 0" test $? -eq 0
	tap_run "$name: the tree has it" test -s "$dir/want"
	tap_run "$name: the calls below it" cmp "$dir/want" "$dir/got"
done
below study_formula | head -n 3 >"$dir/want"
"$VPT" decode -t -f study_formula -n 3 "$dir/t.vpt" >"$dir/got"
tap_run "a limit" cmp "$dir/want" "$dir/got"
"$VPT" decode -t -j -f study_formula "$dir/t.vpt" >"$dir/json"
tap_run "JSON: as many lines" test "$(grep -c . "$dir/json")" -eq "$(below study_formula | grep -c .)"
tap_run "JSON: its depth is 0" test "$(head -n 1 "$dir/json" | jq -r '"\(.depth) \(.function)"')" = \
	"0 study_formula"

# Recursive calls are not shown once more.
"$VPT" run -q --engine=soft --pt=host -o "$dir/r.vpt" "$GUEST/recursion.elf" >/dev/null 2>&1
"$VPT" decode --calls "$dir/r.vpt" >"$dir/all"
name=$(awk '{ line = $0; match(line, /^ */); at[RLENGTH] = $2
	if (RLENGTH > 2 && at[RLENGTH - 2] == $2) { print $2; exit } }' "$dir/all")
tap_run "the guest has a recursive function" test -n "$name"
below "$name" >"$dir/want"
"$VPT" decode -t --function="$name" "$dir/r.vpt" >"$dir/got"
tap_run "recursion: the outermost calls" cmp "$dir/want" "$dir/got"

# Symbols of text, and a tree for each address space that has a call.
strip -o "$dir/stripped.elf" "$GUEST/processes.elf"
"$VPT" run -q --engine=soft --pt=host -o "$dir/p.vpt" "$dir/stripped.elf" >/dev/null 2>&1
nm "$GUEST/processes.elf" | sed 's/\([a-z0-9_]*\)$/kernel_\1/' >"$dir/kallsyms"
"$VPT" decode -t -a -S "$dir/kallsyms" "$dir/p.vpt" >"$dir/whole"
"$VPT" decode -t -a -S "$dir/kallsyms" -f kernel_guest_start "$dir/p.vpt" >"$dir/got" 2>"$dir/err"
tap_run "the file of symbols names the functions" grep -q "x  kernel_guest_start  " "$dir/whole"
tap_run "and selects them" grep -q "^  1x  kernel_guest_start  " "$dir/got"
tap_run "an address space without a call is not shown" \
	test "$(grep -c "^cr3" "$dir/got")" -lt "$(grep -c "^cr3" "$dir/whole")"

# The same symbols name the ranges of vpt run, also of a guest without symbols.
"$VPT" run -q --engine=soft --pt=host --filter=kernel_program..kernel_task_start \
	--symbols="$dir/kallsyms" -o "$dir/names.vpt" "$dir/stripped.elf" >/dev/null 2>&1
"$VPT" run -q --engine=soft --pt=host --filter=program..task_start -o "$dir/elf.vpt" \
	"$GUEST/processes.elf" >/dev/null 2>&1
"$VPT" dump "$dir/names.vpt" >"$dir/names" && "$VPT" dump "$dir/elf.vpt" >"$dir/elf"
tap_run "a filter by a file's symbol and by the guest's: the same trace" cmp "$dir/names" "$dir/elf"
tap_run "which is not empty" test "$(grep -c "TIP.PGE" "$dir/names")" -gt 1
# Code with several names has one of them in a tree. A filter and --function take all of them.
grep " kernel_task_start$" "$dir/kallsyms" | sed 's/kernel_task_start/zz_another/' >"$dir/another"
cat "$dir/kallsyms" "$dir/another" >"$dir/aliases"
for name in kernel_task_start zz_another; do
	"$VPT" run -q --engine=soft --pt=host --filter=$name -S "$dir/aliases" -o "$dir/$name.vpt" \
		"$dir/stripped.elf" >/dev/null 2>&1
	"$VPT" dump "$dir/$name.vpt" >"$dir/$name.dump"
	"$VPT" decode -t -a -S "$dir/aliases" -f $name "$dir/p.vpt" >"$dir/$name.calls"
done
tap_run "a filter by another name of the code" cmp "$dir/kernel_task_start.dump" "$dir/zz_another.dump"
tap_run "has a trace" grep -q "TIP.PGE" "$dir/zz_another.dump"
tap_run "its calls by another name" cmp "$dir/kernel_task_start.calls" "$dir/zz_another.calls"
tap_run "are in a tree" grep -q "1x  kernel_task_start  " "$dir/zz_another.calls"
{ cat "$dir/kallsyms" && sed 's/kernel_task_start/kernel_program/' "$dir/another"; echo "1 t kernel_program"; } >"$dir/twice"
refuses "a name of two places" "$USAGE" "several places are named 'kernel_program'" \
	run --engine=soft --pt=host -o "$dir/no.vpt" --filter=kernel_program -S "$dir/twice" "$dir/stripped.elf"
objcopy --redefine-sym program=task_start "$GUEST/processes.elf" "$dir/twice.elf"
refuses "a name of two places of the guest" "$USAGE" "several places are named 'task_start'" \
	run --engine=soft --pt=host -o "$dir/no.vpt" --filter=task_start "$dir/twice.elf"
refuses "a symbol that no file has" "$USAGE" "filter=nothing: there is no symbol 'nothing'" \
	run --engine=soft --pt=host -o "$dir/no.vpt" --filter=nothing -S "$dir/kallsyms" "$dir/stripped.elf"
refuses "no symbols at all" "$INPUT" "the guest has no symbols: give addresses or --symbols=FILE" \
	run --engine=soft --pt=host -o "$dir/no.vpt" --filter=task_start "$dir/stripped.elf"
refuses "symbols without a range" "$USAGE" "symbols: requires --filter, --stop, --trace-from or --monitor" \
	run --engine=soft --pt=host -o "$dir/no.vpt" -S "$dir/kallsyms" "$dir/stripped.elf"
refuses "a missing file of symbols" "$INPUT" "symbols: .*nowhere" \
	run --engine=soft --pt=host -o "$dir/no.vpt" --filter=task_start -S "$dir/nowhere" "$dir/stripped.elf"

refuses "no such function" "$USAGE" "function=nothing: the trace has no call of it" \
	decode --calls --function=nothing "$dir/t.vpt"
refuses "without --calls" "$USAGE" "function: requires --calls" decode --function=execute "$dir/t.vpt"
tap_end
