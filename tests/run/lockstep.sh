#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The software CPU against KVM, an instruction at a time: every payload, as far as the
# KVM of this machine can go. Where it cannot go to the end a line below says why.
# usage: lockstep.sh [PART PARTS]: each PARTS-th payload from PART (0...) on
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
VPT=${O:-build/${MODE:-rel}}/vpt
GUEST=${O:-build/${MODE:-rel}}/guest

tap_run "the table of what is not compared can be read" "$VPT" lockstep --list-overrides
if [ ! -r /dev/kvm ] || [ ! -w /dev/kvm ]; then
	tap_skip "soft and kvm" "no /dev/kvm"
	tap_end
fi

# Some wait for a device, which takes instructions as it takes time.
most=1500000

# may_stop PAYLOAD: why a KVM may have to stop before this payload ends.
may_stop() {
	case $1 in
	simd) echo "SSE in ring 0, which KVM's emulator lacks" ;;
	system) echo "SWAPGS, whose single-step trap KVM loses" ;;
	debugregs) echo "breakpoints on data, which KVM's emulator does not see" ;;
	esac
}

payloads=$(sed '/^#/d; /^$/d; s/[[:blank:]].*//' guest/payloads/payloads.cfg | sort -u |
	awk -v part="${1:-0}" -v parts="${2:-1}" '(NR - 1) % parts == part')
tap_run "payloads.cfg has payloads" test -n "$payloads"
compared=0
total=0
for payload in $payloads; do
	said=$("$VPT" lockstep --engines=soft,kvm --quiet --max-insns=$most \
		"$GUEST/$payload.elf" 2>&1)
	status=$?
	total=$((total + 1))
	last=$(echo "$said" | tail -n 1)
	case $status in
	0)
		compared=$((compared + 1))
		tap_ok "$payload: ${last#lockstep: }"
		;;
	5)
		why=$(may_stop "$payload")
		if [ -n "$why" ]; then
			tap_ok "$payload: ${last#lockstep: }, until $why"
		else
			tap_fail "$payload" "$said"
		fi
		;;
	*)
		tap_fail "$payload" "exit status $status
$said"
		;;
	esac
done
tap_run "most payloads could be compared to their end" test $((2 * compared)) -gt "$total"
tap_end
