#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# vmm/libdecode follows traces of payloads as libipt does: filters, overflows, events, deferred
# TIPs, code that changes.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/cli.sh
O=${O:-build/${MODE:-rel}}
compared=0

for options in "--pt=guest --model=skl" "--pt=host --model=spr --events --ptw=fup" \
	"--pt=host --model=icx --filter=0x101000-0x200000 --psb=1 --no-retc" \
	"--pt=host --model=skl --buffer=256:300 --psb=1 --defer-tips"; do
	for guest in "$O"/guest/*.elf; do
		name=$(basename "$guest" .elf)
		# Of segments with a base RIPs are no addresses.
		case $name in atom* | segments) continue ;; esac
		rm -f "$dir/t.vpt"
		# shellcheck disable=SC2086 # a command line
		"$O/vpt" run -q --engine=soft $options -o "$dir/t.vpt" "$guest" \
			>/dev/null 2>&1 </dev/null
		# Some payloads need what the model lacks, or never enable PT.
		[ -s "$dir/t.vpt" ] || continue
		if output=$("$O/tests/follow" "$dir/t.vpt" 2>&1); then
			compared=$((compared + 1))
		else
			tap_fail "$name $options" "$output"
		fi
	done
done
tap_run "at least 180 traces were compared" test "$compared" -ge 180
echo "# $compared traces"
tap_end
