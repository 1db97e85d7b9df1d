#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Linux on the software CPU runs the same each time. The trace file and the console are the same,
# byte for byte, on every path of the CPU, in a replay, and across snapshots.
#
# usage: same.sh GROUP    paths, inputs, signals, snapshots or debian
#
# A row that passed is in a ledger below $O. It is not run again with the same commands, guests and
# scripts.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/cli.sh
. tests/lib/ledger.sh
. tests/run/linux/same/guests.sh

group=${1:?usage: same.sh GROUP}
case $group in
paths | inputs | signals | snapshots | debian) ;;
*) echo "same.sh: $group: use paths, inputs, signals, snapshots or debian" >&2 && exit 2 ;;
esac

O=${O:-build/${MODE:-rel}}
VPT=${VPT:-$O/vpt}
# The CPU as host code, as micro-operations that jump to the next, and as micro-operations that a
# loop calls, with the sanitizer of addresses.
declare -A paths=([host code]=$VPT [micro-operations]=$O/tests/vpt-micro-ops [asan]=${ASAN:-build/asan}/vpt)
names=("host code" micro-operations asan)

debian=
[ "$group" != debian ] || debian=$(patches/tools/debian bookworm) || exit 1

ledger_open "same-$group" "$linux $generic $debian" "${paths[@]}" tests/run/linux/{init,initrd.sh,same.sh} \
	tests/run/linux/same/*

# row NAME COMMAND...: one test. COMMAND runs in a subshell.
row() {
	local failed=$tap_failed
	if [ -n "$(ledger_find "$1")" ]; then
		tap_ok "$1, passed before"
		return
	fi
	tap_run "$@"
	[ "$tap_failed" -ne "$failed" ] || ledger_note "$1" passed
}

# same NAME OTHER: two runs have the same trace file and console.
same() {
	cmp "$dir/$1.vpt" "$dir/$2.vpt" && cmp "$dir/$1.con" "$dir/$2.con"
}

# retired NAME: instructions and other events that the run counted, on all vCPUs.
retired() {
	jq .retired "$dir/$1.json"
}

. "tests/run/linux/same/$group.sh"
tap_end
