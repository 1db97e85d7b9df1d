#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# vpt report: when each address space runs, by the page and by the blocks of the trace.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh

compare() { # NAME SPACES [PART...] [-- OPTION...]
	name=$1
	spaces=$2
	part=
	shift 2
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		part="$part $1"
		shift
	done
	[ $# -eq 0 ] || shift
	"$VPT" report -q "$@" -o "$dir/page" "$dir/t.vpt"
	# shellcheck disable=SC2086 # numbers
	tap_run "$name" python3 tests/cli/formats/report_runs.py "$dir/page" "$dir/blocks" "$spaces" $part
}

record() { # ELF [OPTION...]
	elf=$1
	shift
	rm -f "$dir/t.vpt"
	"$VPT" run -q --engine=soft --pt=host -o "$dir/t.vpt" "$@" "$GUEST/$elf.elf" >/dev/null 2>&1
	"$VPT" decode --blocks --spaces -j "$dir/t.vpt" >"$dir/blocks"
}

record processes
compare "processes" 5
compare "one thread" 5 -- --jobs=1
compare "a part" 5 20000 50000 -- --from=20000 --until=50000
compare "its end inside of a block" 5 20001 50002 -- --from=20001 --until=50002
process=$(jq -r 'select(.space) | .space' "$dir/blocks" | sort | uniq -c | sort -n | awk 'NR == 2 { print $3 }')
grep "\"space\":\"cr3 $process\"\|\"insns\"" "$dir/blocks" >"$dir/all"
"$VPT" report -q --process="$process" -o "$dir/page" "$dir/t.vpt"
only() {
	python3 tests/cli/formats/report_runs.py "$dir/page" "$dir/all" 1 >"$dir/out"
	grep -c "page: \[\]" "$dir/out"
}
tap_run "one process: the others do not run" test "$(only)" -ge 4
tap_run "and it runs as before" test "$(grep -c "page: \[\[" "$dir/out")" -eq 0
record smp --cpus=4
compare "four vCPUs" 4
record exceptions
compare "one address space" 1
tap_end
