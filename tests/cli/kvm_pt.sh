#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# --engine=kvm-pt: a guest and its trace, or one line that says what this machine lacks.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
elf=$GUEST/calls.elf

# Either is right, according to the machine: but nothing in between.
for owner in guest host; do
	said=$("$VPT" run --quiet --engine=kvm-pt --pt=$owner -o "$dir/t.vpt" "$elf" 2>&1 >/dev/null)
	status=$?
	name="--pt=$owner: it runs, or says what is missing"
	if [ $status -eq 0 ]; then
		tap_run "$name" "$VPT" decode --quiet "$dir/t.vpt"
	elif [ $status -ne 4 ] || [ "$(printf '%s\n' "$said" | wc -l)" -ne 1 ]; then
		tap_fail "$name" "exit status $status: $said"
	elif ! printf '%s\n' "$said" | grep -Eq 'processor with Intel PT|load kvm-intel|/dev/kvm'; then
		tap_fail "$name" "$said"
	else
		tap_ok "$name"
	fi
done
said=$("$VPT" run --engine=auto "$elf" 2>&1 >/dev/null)
tap_empty "auto does not choose it" "$(printf '%s\n' "$said" | grep kvm-pt)"
tap_end
