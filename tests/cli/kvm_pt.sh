#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# --engine=kvm-pt: a guest and its trace, or one line that says what this machine lacks.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
elf=$GUEST/calls.elf

usable=
# Either is right, according to the machine: but nothing in between.
for owner in guest host; do
	said=$("$VPT" run --quiet --engine=kvm-pt --pt=$owner -o "$dir/t.vpt" "$elf" 2>&1 >/dev/null)
	status=$?
	name="--pt=$owner: it runs, or says what is missing"
	[ $status -ne 0 ] || usable="$usable $owner"
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
# auto chooses it where it runs, unless an option asks for a model.
for owner in guest host; do
	case $usable in
	*$owner*) chosen="engine kvm-pt: this machine's processor traces the guest" ;;
	*) chosen="engine soft: no PT hardware is used; it traces at full speed" ;;
	esac
	"$VPT" run --pt=$owner -o "$dir/t.vpt" "$elf" 2>"$dir/said" >/dev/null
	tap_run "auto, --pt=$owner: $chosen" grep -qx "vpt run: $chosen" "$dir/said"
done
"$VPT" run --model=skl -o "$dir/t.vpt" "$elf" 2>"$dir/said" >/dev/null
tap_run "auto with a model: the software CPU" grep -q "^vpt run: engine soft: " "$dir/said"
tap_end
