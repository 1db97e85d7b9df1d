#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# vpt export --to perfetto, as Perfetto's own trace_processor loads it and SQL sees it, against
# vpt decode --calls.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
export PYTHONDONTWRITEBYTECODE=1
shell=$(tests/formats/trace_processor/tool)/trace_processor_shell || exit 1
linux=$(patches/tools/guest) || exit 1

query() { # NAME SQL
	echo "$2" >"$dir/sql"
	"$shell" -q "$dir/sql" "$dir/out" >"$dir/$1.csv" 2>"$dir/log"
}

# Load the export of t.vpt, and compare.
compare() { # NAME [OPTION...]
	name=$1
	shift
	"$VPT" decode --calls --spaces -j "$@" "$dir/t.vpt" >"$dir/calls"
	"$VPT" export -q --to=perfetto "$@" "$dir/t.vpt" "$dir/out"
	exits=$("$VPT" decode -j "$dir/t.vpt" | jq '[.spaces[]?.vm_exits] | add // 0')
	tap_run "$name: trace_processor loads it" query slices "
		SELECT s.track_id, s.depth, s.ts, s.dur, s.name,
			EXTRACT_ARG(s.arg_set_id, 'debug.begin') AS begin,
			EXTRACT_ARG(s.arg_set_id, 'debug.end') AS end
		FROM slice s ORDER BY s.id"
	# Version 25 does not know the two fields of a flow that later versions read.
	query lost "SELECT name, value FROM stats WHERE severity IN ('error', 'data_loss') AND value > 0 AND
		NOT (name = 'unknown_extension_fields' AND value = 2 * $exits)"
	tap_run "$name: nothing is lost" test "$(cat "$dir/lost.csv")" = '"name","value"'
	query flows "
		SELECT a.name, a.ts, a.track_id, b.name, b.ts, b.track_id
		FROM flow f JOIN slice a ON f.slice_out = a.id JOIN slice b ON f.slice_in = b.id"
	tap_run "$name: slices, and $exits flows" python3 tests/formats/trace_processor.py "$dir" "$exits"
}

run() { # NAME [OPTION...]
	guest=$1
	shift
	rm -f "$dir/t.vpt"
	"$VPT" run -q --engine=soft "$@" -o "$dir/t.vpt" "$GUEST/$guest.elf" >"$dir/log" 2>&1 </dev/null
	compare "$guest $*"
}

run calls --pt=host
run processes --pt=host
run exceptions --pt=host
run smp --pt=host --cpus=2
run smp --pt=host --cpus=2 --tsc --mtc=0 --cyc
run calls --pt=host --model=skl --buffer=128:100
tap_run "the last trace has overflows" test "$("$VPT" decode -j "$dir/t.vpt" | jq .events.overflow)" -gt 0
run system --usage=system --tsc
tap_run "a host and its guest: VM exits" test "$exits" -gt 100
query machines "SELECT name FROM process WHERE name IS NOT NULL ORDER BY name"
tap_run "the host and the VM are processes" test "$(tr '\n' ' ' <"$dir/machines.csv")" = '"name" "VM 0" "host" '

# A process of Linux, and the interrupts and the kernel below it.
rm -f "$dir/t.vpt"
mkdir -p "$dir/root"
gcc -O2 -g -static -no-pie -o "$dir/root/init" tests/formats/branchy.c
(cd "$dir/root" && echo init | cpio -o -H newc --quiet -R 0:0) >"$dir/init.cpio"
"$VPT" run -q --engine=soft --pt=host --tasks -o "$dir/t.vpt" --mem=256M --no-reboot --initrd="$dir/init.cpio" \
	--console="$dir/console" --append="console=ttyS0 loglevel=0 panic=-1" "$linux/vmlinuz" \
	>"$dir/log" 2>&1 </dev/null
compare "Linux" --process=init --symbols="$dir/root/init"
tap_run "the calls of the program" grep -q '"function":"step_7f"' "$dir/calls"
tap_end
