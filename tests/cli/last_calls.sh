#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The last calls before a guest stopped are those of a listing of all its instructions.
#
# vpt decode looks for them at the end of the trace. Where a loop without calls fills that end, it reads the
# whole trace.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh

cat >"$dir/calls.c" <<'END'
static volatile unsigned int state = 1;
static __attribute__((noinline)) void one(void) { state += 3; }
static __attribute__((noinline)) void two(void) { one(); }
static void some(int n)
{
	while (n--)
		n & 1 ? one() : two();
}
void _start(void)
{
	some(40);
	/* The branch depends on data, so that each pass has an outcome of its own in the trace. */
	for (int i = 0; i < LOOPS; i++) {
		state = state * 1103515245 + 12345;
		if (state >> 16 & 1)
			state ^= i;
	}
	some(AFTER);
	*(volatile int *)0x7fffdead0000 = 1;
}
END

# calls LOOPS AFTER MINIMUM: the trace has at least MINIMUM bytes.
calls() {
	gcc -O1 -DLOOPS="$1" -DAFTER="$2" -fno-optimize-sibling-calls -fno-stack-protector -ffreestanding \
		-nostdlib -static -no-pie -Wl,--build-id=none -o "$dir/calls" "$dir/calls.c" || exit 1
	"$VPT" run -q --engine=soft --pt=host --psb=0 -o "$dir/t.vpt" "$dir/calls" >/dev/null 2>&1
	"$VPT" decode --insn --limit=100000000 "$dir/t.vpt" | awk '$3 == "call" { print $1 }' |
		tail -n 16 | sed 's/^0*/0x/' >"$dir/want"
	for jobs in 1 2 7; do
		"$VPT" decode --jobs=$jobs "$dir/t.vpt" >"$dir/out.$jobs"
		sed -n 's/^ *\(0x[0-9a-f]*\) .* calls .*/\1/p' "$dir/out.$jobs" >"$dir/got"
		tap_run "loops $1, calls behind $2, jobs $jobs: $(wc -l <"$dir/got") calls" \
			sh -c "[ -s '$dir/want' ] && cmp '$dir/want' '$dir/got' && cmp '$dir/out.1' '$dir/out.$jobs'"
	done
	rm -rf "$dir/plan" "$dir/plan.d"
	"$VPT" shard plan -q --shards=7 -o "$dir/plan" "$dir/t.vpt"
	shards=$(($(wc -l <"$dir/plan") - 1))
	[ $shards -eq 1 ] || "$VPT" shard run -q "$dir/plan" 0-$((shards - 2))
	"$VPT" shard run -q "$dir/plan" $((shards - 1))
	"$VPT" shard merge "$dir/plan" >"$dir/merged"
	tap_run "loops $1, calls behind $2, shards: $shards" cmp "$dir/out.1" "$dir/merged"
	bytes=$("$VPT" info --json "$dir/t.vpt" | sed -n 's/.*"psbs":[0-9]*,"bytes":\([0-9]*\).*/\1/p')
	tap_run "loops $1: $bytes bytes, at least $3" test "${bytes:-0}" -ge "$3"
}

calls 100 2 0
calls 500000 20 65537
calls 500000 9 65537
calls 500000 0 65537
tap_end
