#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A program of a Linux guest, optimized by llvm-bolt with vpt export --to=bolt and by clang with --to=autofdo,
# runs and prints the same. The names of the rows have the measured times.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
linux=$(patches/tools/guest) || exit 1
tools=/usr/lib/llvm-16/bin

# Run PROGRAM as the init of a guest, and write its trace to $dir/t.vpt and its output to $dir/console.
trace() { # PROGRAM
	rm -f "$dir/t.vpt"
	mkdir -p "$dir/root" && cp "$1" "$dir/root/init"
	(cd "$dir/root" && echo init | cpio -o -H newc --quiet -R 0:0) >"$dir/init.cpio"
	"$VPT" run -q --engine=soft --pt=host --tasks -o "$dir/t.vpt" --mem=256M --no-reboot \
		--initrd="$dir/init.cpio" --console="$dir/console" \
		--append="console=ttyS0 loglevel=0 panic=-1" "$linux/vmlinuz" >"$dir/log" 2>&1 </dev/null
}

# The taken branches of the program in the trace.
taken() {
	"$VPT" export -q --to=edges --process=init "$dir/t.vpt" - |
		awk -F, '$(NF - 1) == "taken" && $3 !~ /^0xf{4}/ { n += $NF } END { print n + 0 }'
}

# The processor time of the best of five runs, in milliseconds. The programs take turns.
best() { # PROGRAM PROGRAM
	for n in 1 2 3 4 5; do
		for program in "$1" "$2"; do
			TIMEFORMAT=%U bash -c 'time "$0" 200000 >/dev/null' "$program" 2>&1 | sed "s|^|$program |"
		done
	done | awk '!($1 in best) || $2 < best[$1] { best[$1] = $2 }
		END { for (p in best) print p, best[p] }' >"$dir/times"
	awk -v a="$1" -v b="$2" '{ t[$1] = $2 } END { printf "%.2f s, %.2f s before", t[b], t[a] }' "$dir/times"
}

# Compare PROGRAM with OPTIMIZED: the output, and the branches that are taken.
compare() { # NAME PROGRAM OPTIMIZED BRANCHES
	trace "$3"
	after=$(taken)
	tap_run "$1: the program runs, and prints the same" sh -c '[ "$("$0" 5000)" = "$("$1" 5000)" ]' "$2" "$3"
	tap_run "$1: so does the guest's" grep -q "^$("$2")" "$dir/console"
	tap_run "$1: $after taken branches, $4 before; $(best "$2" "$3")" test "$after" -gt 0 -a \
		"$after" -lt $(($4 / 2))
}

gcc -O2 -g -static -no-pie -Wl,--emit-relocs -o "$dir/program" tests/formats/branchy.c
trace "$dir/program"
"$VPT" export -q --to=bolt --process=init "$dir/t.vpt" "$dir/profile"
before=$(taken)
$tools/perf2bolt -pa -p "$dir/profile" -o "$dir/fdata" "$dir/program" >"$dir/log" 2>&1
tap_run "perf2bolt reads all entries" grep -q "read $(wc -l <"$dir/profile") aggregated LBR entries" "$dir/log"
tap_run "llvm-bolt optimizes the program" $tools/llvm-bolt "$dir/program" -o "$dir/bolted" -data "$dir/fdata" \
	-reorder-blocks=ext-tsp -reorder-functions=hfsort -split-functions -split-all-cold
compare bolt "$dir/program" "$dir/bolted" "$before"

clang -O2 -g -gdwarf-4 -fdebug-info-for-profiling -static -o "$dir/program" tests/formats/branchy.c
trace "$dir/program"
"$VPT" export -q --to=autofdo --base=0x400000 --process=init "$dir/t.vpt" "$dir/profile"
before=$(taken)
tap_run "create_llvm_prof reads the profile" create_llvm_prof --profiler=text --profile="$dir/profile" \
	--binary="$dir/program" --format=text --out="$dir/prof"
tap_run "clang optimizes the program" clang -O2 -static -fprofile-sample-use="$dir/prof" -o "$dir/sampled" \
	tests/formats/branchy.c
compare autofdo "$dir/program" "$dir/sampled" "$before"
tap_end
