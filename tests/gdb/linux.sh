#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Debian's cloud kernel under gdb, forwards and backwards.
# usage: linux.sh PART
#
#   random N/M    the N-th of M parts of 300 positions in random order
#   steps         1,000 consecutive reverse steps, with a table of their times
#   memory N/M    the same in parts, with a comparison of memory at each
#   cpus          40 positions with 4 vCPUs
#   recorded      60 positions of a recording with input, by vpt gdb
#   session       a script of the stock gdb: names of the kernel, reverse-finish, reverse-step, a watchpoint
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
. tests/gdb/proof.sh
. tests/run/linux/initrd.sh
row="linux $*"
linux=$(patches/tools/guest) || exit 1
proof_open "$linux" tests/gdb/linux-init
proof_passed "$row"

mkdir -p "$dir/own"
cp tests/gdb/linux-init "$dir/own/gdb-init"
linux_initrd
machine=(--engine=soft --no-reboot --mem=512M --initrd="$dir/initrd")
append="console=ttyS0 loglevel=1 panic=-1 nokaslr rdinit=/gdb-init"

# run MODE OPTION...: a run without gdb. Its length is in $last.
run() {
	"$VPT" run --json --console="$dir/con" "${machine[@]}" --append="$append $1" "${@:2}" "$linux/vmlinuz" \
		>"$dir/json" 2>"$dir/err"
	tap_run "it powers off without gdb" grep -q '"text":"powered off"' "$dir/json"
	last=$(jq .retired "$dir/json")
	last=${last:-0}
}

under_gdb=("$VPT" run "${machine[@]}" --pt=off --console="$dir/con.gdb" --append="$append works")

case $1 in
random)
	run works --pt=off
	proof_client places.py --part="$2" 300 1 "$last" "${under_gdb[@]}" "$linux/vmlinuz"
	;;
steps)
	run works --pt=off
	proof_client steps.py registers 1000 $((last / 2)) "${under_gdb[@]}" "$linux/vmlinuz"
	;;
memory)
	run works --pt=off
	count=$((1000 / ${2#*/}))
	proof_client steps.py memory "$count" $((last / 2 - (${2%/*} - 1) * count)) "${under_gdb[@]}" \
		"$linux/vmlinuz"
	;;
cpus)
	run works --pt=off --cpus=4
	proof_client places.py --cpus=4 40 2 "$last" "${under_gdb[@]}" --cpus=4 "$linux/vmlinuz"
	;;
recorded)
	{ seq 1 300 | sed 's/^/line /' && echo end; } >"$dir/input"
	run reads --pt=host --input="$dir/input" -o "$dir/t.vpt"
	tap_run "the guest has read the input" grep -q '^read: line 300' "$dir/con"
	proof_client places.py 60 3 "$last" "$VPT" gdb "$dir/t.vpt"
	;;
session)
	. tests/gdb/linux_session.sh
	;;
*)
	tap_fail "$1: no such part"
	;;
esac
proof_end "$row"
