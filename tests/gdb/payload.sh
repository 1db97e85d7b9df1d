#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Positions of a payload in random order under gdb's protocol: registers and memory are those of a
# forward run, and RIP that of a trace without gdb.
# usage: payload.sh NAME COUNT [CPUS [recorded|file]]
#
# recorded: the run is repeated from a recording with input, by vpt gdb.
# file: the same of a run without input.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
. tests/gdb/proof.sh
row="payload $*"
elf=$GUEST/$1.elf
count=$2
cpus=${3:-1}
how=${4:-}

proof_open payload "$elf" "$GUEST/echo.elf"
proof_passed "$row"
run="--engine=soft --mem=16M --cpus=$cpus"
if [ "$how" = recorded ]; then
	printf 'the input of a recording\n%s\n' "$(seq 1 300)" >"$dir/input"
	run="$run --input=$dir/input"
fi
# shellcheck disable=SC2086 # words
"$VPT" run -q --json $run --pt=host -o "$dir/t.vpt" --console="$dir/con" "$elf" >"$dir/json" 2>"$dir/err"
last=$(jq .retired "$dir/json")
tap_run "$row: it runs without gdb" test "${last:-0}" -gt "$count"
# In others, a fault counts as an instruction.
case $1 in
calls | jit | selfmod | interrupts | strings | echo | timer) trace=--trace=$dir/t.vpt ;;
*) trace= ;;
esac
# shellcheck disable=SC2086 # words
if [ -n "$how" ]; then
	proof_client places.py --cpus="$cpus" $trace "$count" 1 "${last:-0}" "$VPT" gdb "$dir/t.vpt"
else
	proof_client places.py --cpus="$cpus" $trace "$count" 1 "${last:-0}" "$VPT" run --pt=off $run "$elf"
fi
proof_end "$row"
