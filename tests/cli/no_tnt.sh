#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Traces without TNT packets: what they say is so, and verify says how much that is.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
. tests/lib/roundtrip.sh

for payload in calls demo events exceptions filter_ip interrupts longjmp ring3 spaces; do
	for options in "" "--no-retc" "--events --tsc --mtc --cyc" "--user" "--kernel"; do
		name="$payload $options"
		# shellcheck disable=SC2086 # several words
		"$VPT" run -q --pt=host --engine=soft --model=spr --oracle --no-tnt $options \
			-o "$dir/t.vpt" "$GUEST/$payload.elf" >"$dir/said" 2>&1
		said=$("$VPT" verify --allow-empty "$dir/t.vpt" 2>&1)
		status=$?
		case $status/$said in
		"5/verify: DisTNT: "*" 0 mismatches") tap_ok "$name" ;;
		*) tap_fail "$name" "status $status: $said
$(cat "$dir/said")" ;;
		esac
	done
done

"$VPT" run -q --pt=host --engine=soft --model=spr --oracle --no-tnt -o "$dir/t.vpt" \
	"$GUEST/calls.elf" >/dev/null 2>&1
said=$("$VPT" decode -i "$dir/t.vpt" 2>/dev/null)
status=$?
case $status/$said in
1/*"error: DisTNT was set: the flow is not in the trace"*"-- enabled to"*"-- target to"*)
	tap_ok "decode shows what packets say"
	;;
*) tap_fail "decode shows what packets say" "status $status: $said" ;;
esac
tap_end
