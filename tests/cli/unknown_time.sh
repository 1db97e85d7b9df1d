#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Time that no packet tells is not shown as 0, and time that is virtual is called so.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh

# trace NAME OPTION...
trace() {
	name=$1
	shift
	"$VPT" run -q --pt=host "$@" -o "$dir/$name.vpt" "$GUEST/calls.elf" >/dev/null 2>&1
}

trace none
trace tsc --tsc
trace cyc --tsc --mtc --cyc
for how in -i -b -t; do
	"$VPT" decode $how -T "$dir/none.vpt" >"$dir/text"
	tap_empty "no timing packets, $how: no time" "$(grep -m 3 -w '[0-9]* ns' "$dir/text")"
	"$VPT" decode $how -T -j "$dir/none.vpt" >"$dir/json"
	tap_empty "no timing packets, $how -j: no time" \
		"$(grep -m 3 -E '"(ns|ticks|time|relative_time)":' "$dir/json")"
done
"$VPT" decode -T -j "$dir/none.vpt" >"$dir/json"
tap_empty "no CYC packets: no core clocks in JSON" "$(grep -o '"cycles":[0-9]*' "$dir/json")"
# With TSC packets alone most functions end before the next one comes.
"$VPT" decode -t -T "$dir/tsc.vpt" >"$dir/text"
tap_empty "TSC packets alone: no function took 0 ns" "$(grep -m 3 -w '0 ns' "$dir/text")"
tap_run "TSC packets alone: some time is known" grep -qw '[1-9][0-9]* ns' "$dir/text"
tap_run "TSC packets alone: some is not" grep -q 'idt_init .*time unknown' "$dir/text"
# What is known stays: the first item has the time 0.
tap_run "TSC packets: the first time is known" sh -c \
	"'$VPT' decode -i -T -j -n 2 '$dir/tsc.vpt' | grep -q '\"time\":\"0x0\".*\"ns\":0}'"
"$VPT" decode -T "$dir/cyc.vpt" >"$dir/text"
tap_run "IPC is called virtual" grep -q '1.000 instructions each; virtual: ' "$dir/text"
tap_run "in JSON too" sh -c "'$VPT' decode -T -j '$dir/cyc.vpt' | grep -q '\"virtual_time\":true'"
tap_end
