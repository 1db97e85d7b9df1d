#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Scenarios of tests/qemu whose guest part needs no host() under vpt run: perf in Linux with programs
# whose flow is known.
#
# usage: scenarios.sh [--full]   one model and one scenario; --full: all of both. A pair that passed
#                                is in a ledger below $O, and a later --full with the same command
#                                does not run it again
#
# A pair is "MODEL SCENARIO". The model spr+ebx=0x1ff has power events, too.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/cli.sh
. tests/lib/ledger.sh

export O=${O:-build/${MODE:-rel}}
export VPT=${VPT:-$O/vpt}
pairs="skl perf-filters"
full=${1:-}
if [ "$full" = --full ]; then
	pairs=$(
		for model in skl icx spr; do
			for name in perf-buffers perf-filters perf-hotplug perf-snapshot perf-tasks perf-test; do
				echo "$model $name"
			done
		done
		# bdw has no address filters, and its ToPA has one entry, unlike perf-buffers and perf-snapshot expect.
		for name in perf-hotplug perf-tasks perf-test; do
			echo "bdw $name"
		done
		echo "spr+ebx=0x1ff perf-test"
		echo "skl pmu-samples"
	)
	# The same command, scenarios and guest.
	# shellcheck disable=SC2046 # no name has a blank
	ledger_open scenarios "$(patches/tools/guest) $(patches/tools/kernel generic)" tests/qemu/check tests/qemu/run-vpt \
		$(find tests/qemu/lib tests/qemu/programs tests/qemu/scenarios -type f | LC_ALL=C sort)
fi

while read -r model name; do
	if [ -n "$full" ] && [ -n "$(ledger_find "$model $name")" ]; then
		tap_ok "$model: $name, passed before"
		continue
	fi
	tap_run "$model: $name" tests/qemu/check --vpt "$model" "$name" </dev/null
	# shellcheck disable=SC2154 # tap.sh
	[ -z "$full" ] || ! tail -n 1 <<<"$tap_output" | grep -qx "1 passed, 0 failed" || ledger_note "$model $name" passed
done <<<"$pairs"
tap_end
