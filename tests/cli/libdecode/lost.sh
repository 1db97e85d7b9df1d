#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Payloads verify where overflows take packets away.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/cli.sh
O=${O:-build/${MODE:-rel}}
compared=0


trace() { # NAME OPTION...
	name=$1
	shift
	rm -f "$dir/t.vpt"
	"$O/vpt" run -q --engine=soft --oracle --model=icx --buffer=256:64 "$@" -o "$dir/t.vpt" \
		"$O/guest/$name.elf" >/dev/null 2>&1 </dev/null
	# Some payloads need what the model lacks.
	[ -s "$dir/t.vpt" ] || return
	"$O/vpt" dump "$dir/t.vpt" | grep -q OVF || return
	if output=$("$O/vpt" verify "$dir/t.vpt" 2>&1); then
		tap_ok "$name $*"
		compared=$((compared + 1))
	else
		tap_fail "$name $*" "$output"
	fi
}

for guest in "$O"/guest/*.elf; do
	case $(basename "$guest" .elf) in
	# Of segments with a base RIPs are no addresses.
	atom* | legacy | segments) continue ;;
	esac
	trace "$(basename "$guest" .elf)" --pt=host
done
# Code that changes, of a host as well.
trace jit --usage=system
trace kernelmix --usage=system
tap_run "at least 35 traces were verified" test "$compared" -ge 35
tap_end
