#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Which engine --engine=auto takes, and the reason that it gives.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh

# The engine that vpt run says it takes.
taken() {
	"$VPT" run "$@" "$GUEST/calls.elf" 2>&1 >/dev/null | sed -n 's/^vpt run: engine \([a-z]*\): .*/\1/p'
}

tap_run "a trace: soft" test "$(taken -o "$dir/t.vpt")" = soft
tap_run "snapshots: soft" test "$(taken --pt=off --snapshot="$dir/t.vps")" = soft
# Without a trace: KVM, if there is one and it has hardware virtualization.
caps=$("$VPT" caps --json 2>/dev/null)
case $caps in
*'"hardware":"none"'* | *'"usable":false'*) want=soft ;;
*) want=kvm ;;
esac
tap_run "no trace, and vpt caps says '$(echo "$caps" | grep -o '"hardware":"[A-Za-z]*"')': $want" \
	test "$(taken --pt=off)" = $want
tap_end
