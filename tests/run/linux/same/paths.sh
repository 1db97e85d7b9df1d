# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# A whole boot on each path of the CPU, twice on the first. The commands come from a file, and
# so at the same instructions each time.

# whole CPUS: the run that others are compared with.
whole() {
	[ -e "$dir/whole$1.vpt" ] || boot "$VPT" "whole$1" shell --cpus="$1" --input="$dir/busy"
}

# on_path CPUS NAME
on_path() {
	whole "$1" && boot "${paths[$2]}" other shell --cpus="$1" --input="$dir/busy" &&
		grep -q "^cpus=$1" "$dir/other.con" && grep -q "^sums=1" "$dir/other.con" &&
		same "whole$1" other
}

# each_insn: the packets of a run in which each instruction is reported by itself. The file has the
# log of these instructions, too.
each_insn() {
	local limit=60000000 run
	for run in blocks each; do
		[ $run = each ] || set --
		[ $run = blocks ] || set -- --oracle
		boot "$VPT" $run boot --max-insns=$limit "$@" >/dev/null
		grep -q "max-insns=$limit reached" "$dir/$run.err" || return 1
		"$VPT" dump "$dir/$run.vpt" >"$dir/$run.packets" || return 1
	done
	[ "$(wc -l <"$dir/each.packets")" -ge 100000 ] && cmp "$dir/blocks.packets" "$dir/each.packets"
}

for cpus in 1 4; do
	for name in "${names[@]}"; do
		row "$cpus vCPUs: a boot as $name is the same" on_path $cpus "$name"
	done
	rm -f "$dir"/*.vpt
done
row "reports of each instruction: the same packets" each_insn
