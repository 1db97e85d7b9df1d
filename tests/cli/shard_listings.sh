#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# vpt shard: listings of shards, merged, have the bytes of those of vpt decode.
#
# tests/partials joins listings of random cuts. Here plans are run in a random order, with and without
# pieces, and the merged output is compared with that of vpt decode.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
. tests/lib/refuse.sh

t=$dir/t.vpt
plan=$t.plan

# record PAYLOAD OPTION...
record() {
	payload=$1
	shift
	"$VPT" run -q --engine=soft --pt=host -o "$t" "$@" "$GUEST/$payload.elf" \
		>/dev/null 2>"$dir/err" </dev/null || tap_fail "vpt run $payload $*" "$(cat "$dir/err")"
}

# make_plan SHARDS OPTION...: plan and run all shards, in a random order.
make_plan() {
	shards=$1
	shift
	rm -rf "$plan.d"
	"$VPT" shard plan -q "$@" --shards="$shards" "$t" 2>>"$dir/err" || return 1
	number=$(($(wc -l <"$plan") - 1))
	most=$((number > most ? number : most))
	for shard in $(awk -v n=$number 'BEGIN { srand(1); for (i = 0; i < n; i++) print rand(), i }' |
		sort | cut -d" " -f2); do
		"$VPT" shard run -q "$plan" "$shard" 2>>"$dir/err" || return 1
	done
}

# same LIMIT OPTION...: the merged listing is that of vpt decode.
same() {
	limit=$1
	shift
	"$VPT" decode "$@" ${limit:+--limit=$limit} "$t" >"$dir/want" 2>"$dir/want.err"
	want=$?
	"$VPT" shard merge ${limit:+--limit=$limit} "$plan" >"$dir/got" 2>"$dir/got.err"
	[ $? -eq $want ] && cmp -s "$dir/want" "$dir/got"
}

# all SHARDS LEAST NAME: each form of listing, in SHARDS shards, of which at least LEAST were made.
all() {
	bad=
	most=0
	while read -r how; do
		# shellcheck disable=SC2086 # options
		make_plan "$1" $how || bad="$bad '$how: plan'"
		for limit in "" 0 1 60 700; do
			# shellcheck disable=SC2086 # options
			same "$limit" $how || bad="$bad '$how' $limit"
		done
	done <<END
--insn
--insn --lines
--insn --json --lines
--blocks
--blocks --lines --spaces --pti
--blocks --json --spaces
END
	if [ -z "$bad" ] && [ $most -ge "$2" ]; then
		tap_ok "$3: $most shards"
	else
		tap_fail "$3: $most shards" "$bad
$(cat "$dir/err" "$dir/got.err")"
	fi
}

record smp --cpus=3 --psb=0
all 9 3 "3 vCPUs"
record quicksort --model=airmont
all 7 1 "RTIT"
record jit --psb=0 --arg=100
all 7 6 "jit"
record legacy --psb=0 --model=spr --events --cyc --buffer=1024:60
all 5 5 "events and overflows"
record processes --psb=0 --tsc
all 9 7 "processes"

# A piece has the symbols and the source lines.
make_plan 9 --insn --lines
cp -r "$plan.d" "$dir/whole"
"$VPT" shard cut -q -o "$dir/pieces" "$plan" 2>"$dir/err"
shard=0
while [ $shard -lt $number ]; do
	"$VPT" shard run -q --piece="$dir/pieces" "$plan" $shard 2>>"$dir/err"
	shard=$((shard + 1))
done
if [ $number -eq 7 ] && diff -r "$dir/whole" "$plan.d" >>"$dir/err" && same "" --insn --lines; then
	tap_ok "pieces"
else
	tap_fail "pieces" "$(cat "$dir/err")"
fi

# A listing is compressed: a result is at most a twentieth of its text.
size=$(cat "$plan.d"/*.part | wc -c)
if [ $((size * 20)) -lt "$(wc -c <"$dir/want")" ]; then
	tap_ok "the size of the results"
else
	tap_fail "the size of the results" "$size bytes for $(wc -c <"$dir/want")"
fi

# Two results that do not fit are decoded again as one, and the last of a longer range counts.
"$VPT" shard run -q "$plan" 2-4 2>"$dir/err" && rm "$plan.d"/000003-000003.part
if [ ! -s "$dir/err" ] && same "" --insn --lines; then tap_ok "a range"; else tap_fail "a range" "$(cat "$dir/got.err")"; fi

refuses "two listings" 2 "only one of them" shard plan --insn --blocks "$t"
refuses "a listing of calls" 2 "not with --calls" shard plan --insn --calls "$t"
refuses "lines of a summary" 2 "only with --insn" shard plan --lines "$t"
refuses "JSON of a summary's plan" 2 "give it to merge" shard plan --json "$t"
refuses "JSON of a text" 2 "make the plan with --json" shard merge --json "$plan"
refuses "coverage of a listing" 2 "not a plan of counts" shard merge --coverage "$plan"
refuses "stacks of a listing" 2 "make the plan with --spaces" shard merge --to=folded "$plan"
printf x | dd of="$plan.d/000005-000005.part" bs=1 seek=2000 conv=notrunc 2>/dev/null
refuses "a damaged listing" 3 "000005-000005.part: damaged" shard merge "$plan"

# A guest that crashes: the last line says so. There is no IDT, so the exception is a triple fault.
echo 'void _start(void) { for (volatile int i = 0; i < 999; i++) ; *(volatile int *)0x7fffffff0000 = 1; }' |
	gcc -g -O1 -fno-stack-protector -ffreestanding -nostdlib -static -no-pie \
		-Wl,--build-id=none -x c -o "$dir/fault" - || exit 1
"$VPT" run -q --engine=soft --pt=host --psb=0 -o "$t" "$dir/fault" >/dev/null 2>"$dir/err"
bad=
most=0
for how in --insn "--insn --json"; do
	# shellcheck disable=SC2086 # options
	make_plan 3 $how || bad=plan
	for limit in "" 5; do
		# shellcheck disable=SC2086 # options
		same "$limit" $how || bad="$bad '$how' $limit"
	done
	"$VPT" shard merge "$plan" | tail -n1 | grep -q stop || [ "$how" = --insn ] || bad="$bad '$how'"
done
if [ -z "$bad" ]; then tap_ok "a crash"; else tap_fail "a crash" "$bad $(cat "$dir/err" "$dir/got.err")"; fi

tap_end
