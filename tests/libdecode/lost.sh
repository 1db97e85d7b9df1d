#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Payloads verify where overflows take packets away.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
O=${O:-build/${MODE:-rel}}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
compared=0

for guest in "$O"/guest/*.elf; do
	name=$(basename "$guest" .elf)
	case $name in
	# Of segments with a base RIPs are no addresses.
	atom* | legacy | segments) continue ;;
	# When code changes is lost too: see docs/limits.md.
	jit | kernelmix) status=1 ;;
	*) status=0 ;;
	esac
	rm -f "$dir/t.vpt"
	"$O/vpt" run -q --engine=soft --oracle --pt=host --model=icx --buffer=256:64 -o "$dir/t.vpt" \
		"$guest" >/dev/null 2>&1 </dev/null
	# Some payloads need what the model lacks.
	[ -s "$dir/t.vpt" ] || continue
	"$O/vpt" dump "$dir/t.vpt" | grep -q OVF || continue
	output=$("$O/vpt" verify "$dir/t.vpt" 2>&1)
	if [ $? -eq "$status" ]; then
		tap_ok "$name"
		compared=$((compared + 1))
	else
		tap_fail "$name" "$output"
	fi
done
tap_run "at least 25 traces were verified" test "$compared" -ge 25
tap_end
