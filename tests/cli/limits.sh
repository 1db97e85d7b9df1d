#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# --max-bytes: the trace ends where the file would become larger, the file is whole and
# verifies, and it is the same file whether or not the run was snapshotted. Guests that
# map one page everywhere, or rewrite their code, take no more memory than others.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
soft="run -q --engine=soft --oracle --timeout=100"

# limited OPTION... GUEST: the run must end by a limit of 2 MiB, and its file verify.
limited() {
	rm -f "$dir/t.vpt"
	# shellcheck disable=SC2086 # a command line
	said=$("$VPT" $soft --max-bytes=2M -o "$dir/t.vpt" "$@" 2>&1 >/dev/null)
	status=$?
	size=$(stat -c %s "$dir/t.vpt")
	echo "$said"
	[ $status -eq $FAIL ] && [ "$size" -le 2097152 ] && [ "$size" -gt 1000000 ] &&
		echo "$said" | grep -q -e '--max-bytes=2097152 reached: the trace ends at 0x' &&
		"$VPT" info -j "$dir/t.vpt" | grep '"whole":true' &&
		"$VPT" verify "$dir/t.vpt"
}
for owner in guest host; do
	for model in spr airmont; do
		tap_run "$owner, $model: random programs" limited --pt=$owner --model=$model \
			--arg=8 "$GUEST/random.elf"
		tap_run "$owner, $model: a small kernel" limited --pt=$owner --model=$model \
			--arg=600 "$GUEST/kernelmix.elf"
	done
done
tap_run "a VMM and its guest" limited --usage=system --arg=600 "$GUEST/kernelmix.elf"
tap_run "the guest of a VMM" limited --usage=guest --arg=8 "$GUEST/random.elf"
tap_run "code at many addresses" limited --pt=host "$GUEST/hostile/aliases.elf"
tap_run "code that changes" limited --pt=host "$GUEST/hostile/rewrite.elf"

# The same file in one run, with snapshots on the way, and restored from the last of them.
same() { # GUEST OPTION...
	guest=$1
	shift
	set -- --timeout=100 --max-bytes=2M "$@"
	"$VPT" run -q --engine=soft --pt=host -o "$dir/one.vpt" "$@" "$guest" >/dev/null 2>&1
	"$VPT" run -q --engine=soft --pt=host -o "$dir/two.vpt" --snapshot="$dir/s.vps" \
		--snapshot-every=17001 "$@" "$guest" >/dev/null 2>&1
	"$VPT" restore -q --max-bytes=2M -o "$dir/three.vpt" "$dir/s.vps" >/dev/null 2>"$dir/said"
	grep -q 'max-bytes=2097152 reached' "$dir/said" || return
	cmp "$dir/one.vpt" "$dir/two.vpt" && cmp "$dir/one.vpt" "$dir/three.vpt"
}
tap_run "the same file with snapshots: random programs" same "$GUEST/random.elf" --oracle --arg=8
tap_run "the same file with snapshots: code at many addresses" same "$GUEST/hostile/aliases.elf"
tap_run "the same file with snapshots: a page that changes" same "$GUEST/hostile/rewrite.elf" \
	--arg=0 --arg=300

# Kilobytes of memory that a command took at most.
peak() {
	python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$@"
}
most=$([ "${MODE:-rel}" = asan ] && echo 1500000 || echo 220000)
few() { # OPTION... GUEST
	took=$(peak "$VPT" run -q --engine=soft --pt=host -m 4M --max-bytes=40M --timeout=60 \
		-o "$dir/t.vpt" "$@")
	echo "$took KiB"
	[ "$took" -le "$most" ]
}
# More versions than are kept (64 MiB) would take the file, too: each has 4 KiB there.
tap_run "memory: code at 100000 addresses" few --arg=100000 "$GUEST/hostile/aliases.elf"
tap_run "memory: code that changes 9000 times" few --arg=9000 "$GUEST/hostile/rewrite.elf"

refuses "no number" "$USAGE" "max-bytes=much" run --max-bytes=much "$GUEST/calls.elf"
refuses "a blank behind it" "$USAGE" "max-bytes=5 : not a size" run --max-bytes="5 " "$GUEST/calls.elf"
refuses "next to nothing" "$USAGE" "at least 1M" run --max-bytes=1048575 "$GUEST/calls.elf"
head -c 3000000 /dev/zero >"$dir/zeros"
cat "$GUEST/calls.elf" "$dir/zeros" >"$dir/large.elf"
refuses "less than the guest's file" "$USAGE" "too small: what the trace file begins with" \
	run -q --engine=soft --max-bytes=3M -o "$dir/x.vpt" "$dir/large.elf"
tap_run "a snapshot of a run" "$VPT" run -q --engine=soft --pt=host --oracle --arg=8 \
	--snapshot="$dir/s.vps" --snapshot-at=100000 -o "$dir/one.vpt" "$GUEST/random.elf"
refuses "less than a snapshot's file has" "$USAGE" "too small: what the trace file begins with" \
	restore -q --max-bytes=1M -o "$dir/x.vpt" "$dir/s.vps"
for verb in run restore; do
	tap_run "vpt $verb --help names the default" sh -c "'$VPT' $verb --help | grep 'max-bytes.*4G'"
done

# A limit of the shell's is named, with its size: 8 KiB, in which no generated code has room, and
# 19 MB, which the trace exceeds.
"$VPT" $soft -o "$dir/m.vpt" --pt=host "$GUEST/demo.elf" >/dev/null 2>&1
small() { # NAME BLOCKS VERB ARG...
	small_name=$1
	small_blocks=$2
	shift 2
	# shellcheck disable=SC2016 # expanded by the inner shell
	refuses_as "$small_name" "$HOST" "File too large.*limited to $((small_blocks * 512)) bytes \(ulimit -f\)" \
		"$1" sh -c "ulimit -f $small_blocks"' && exec "$@"' sh "$VPT" "$@"
}
small "ulimit -f, the machine" 16 run -q --engine=soft "$GUEST/demo.elf"
small "ulimit -f, the trace" 38000 $soft --pt=host -o "$dir/y.vpt" "$GUEST/demo.elf"
small "ulimit -f, an export" 200 export -q --to=perf "$dir/m.vpt" "$dir/perf"
# The trace is part of the snapshot, which therefore is what does not fit.
snapshot="$soft --pt=host -o $dir/z.vpt --snapshot=$dir/z.vps --snapshot-at=1150000 $GUEST/demo.elf"
"$VPT" $snapshot >/dev/null 2>&1
small "ulimit -f, a snapshot" $(($(stat -c %s "$dir/z.vps") / 512 - 100)) $snapshot
tap_run "it is the snapshot that is named" expr "$rf_said" : ".*--snapshot=.*z.vps: File too large"
tap_end
