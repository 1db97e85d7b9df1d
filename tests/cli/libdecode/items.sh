#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The flow by libvptdecode has the items of the flow by libipt, and verify passes with it: address
# spaces, event trace, filters, code that changes, DisTNT.
# ALL=1: every payload with every row of options.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/cli.sh
O=${O:-build/${MODE:-rel}}
compared=0
untold=0

check() { # GUEST OPTIONS...
	guest=$O/guest/$1.elf
	shift
	rm -f "$dir/t.vpt"
	"$O/vpt" run -q --engine=soft --oracle "$@" -o "$dir/t.vpt" "$guest" >/dev/null 2>&1 </dev/null
	# Some payloads need what the model lacks, or never enable PT.
	[ -s "$dir/t.vpt" ] || { echo "# no trace: $*"; return; }
	name="$(basename "$guest" .elf) $*"
	if ! output=$("$O/tests/flows" "$dir/t.vpt" 2>&1); then
		tap_fail "$name" "$output"
		return
	fi
	output=$("$O/vpt" verify --allow-empty --with=libvptdecode "$dir/t.vpt" 2>&1)
	case $? in
	0 | 5 | 6) ;; # 5 and 6: DisTNT, and a loop of direct branches
	*)
		tap_fail "verify: $name" "$output"
		return
		;;
	esac
	case $output in *"look as if they had run"*) untold=$((untold + 1)) ;; esac
	compared=$((compared + 1))
}

all() { # OPTIONS...
	for file in "$O"/guest/*.elf; do
		guest=$(basename "$file" .elf)
		# Atom's; and behind an overflow nothing tells which of segments' code it is.
		case $guest:$* in atom* | segments:*--buffer*) continue ;; esac
		check "$guest" "$@"
	done
}

if [ "${ALL:-0}" = 1 ]; then
	least=500
	all --pt=guest --model=skl
	all --pt=host --model=spr --events --ptw=fup
	all --pt=host --model=icx --filter=0x101000-0x200000 --psb=1 --no-retc
	all --pt=host --model=skl --buffer=256:300 --psb=1 --defer-tips
	all --pt=host --model=spr --tsc --mtc --cyc
	all --pt=host --model=spr --no-tnt
	all --usage=system
	all --usage=guest
	all --usage=host
	all --usage=guest --conceal=all
	all --usage=system --model=icx --trap=cr3
	all --pt=host --user
	all --pt=host --kernel
else
	least=14
	check processes --pt=guest --model=skl
	check preserve --pt=guest --model=skl
	check jit --pt=host --model=spr --events --ptw=fup
	check events --pt=host --model=spr --events --ptw=fup
	check storm --pt=host --model=icx --filter=0x101000-0x200000 --psb=1 --no-retc
	check exceptions --pt=host --model=skl --buffer=256:300 --psb=1 --defer-tips
	check demo --pt=host --model=spr --no-tnt
	check segments --pt=host --model=skl
	check demo --usage=system
	check processes --usage=guest --conceal=all
	check demand --usage=guest
	check rtit_gp --usage=guest
	check demo --usage=host
	check processes --pt=host --user
fi
tap_run "at least $least traces were compared" test "$compared" -ge "$least"
tap_run "in some of them an INT n or WRMSR has not run" test "$untold" -ge 2
echo "# $compared traces, $untold with instructions of which the trace does not tell whether they ran"
tap_end
