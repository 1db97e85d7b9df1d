#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# vpt shard: shards that are decoded by processes of their own give what one process gives.
#
# tests/partials joins results of random cuts in a random order, and compares counts, events and each
# node of the tree of calls. The verb's plans run in a random order, and the merged output is compared
# with that of vpt decode, as text.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
PARTIALS=${O:-build/${MODE:-rel}}/tests/partials

t=$dir/t.vpt
plan=$t.plan

# record PAYLOAD OPTION...
record() {
	payload=$1
	shift
	"$VPT" run -q --engine=soft --pt=host -o "$t" "$@" "$GUEST/$payload.elf" \
		>/dev/null 2>"$dir/err" </dev/null || tap_fail "vpt run $payload $*" "$(cat "$dir/err")"
}

# Print the shards in a random order.
shuffled() { # NUMBER
	awk -v n="$1" 'BEGIN { srand(1); for (i = 0; i < n; i++) print rand(), i }' | sort | cut -d" " -f2
}

# run_shards: run all shards of the plan. Returns 1 if one fails.
run_shards() {
	number=$(($(wc -l <"$plan") - 1))
	rm -rf "$plan.d"
	for shard in $(shuffled "$number"); do
		"$VPT" shard run -q "$plan" "$shard" 2>>"$dir/err" || return 1
	done
}

# exports KIND SHARDS FORMAT...: a plan of KIND gives each file of vpt export.
exports() {
	kind=$1 shards=$2
	shift 2
	bad=
	"$VPT" shard plan -q "$kind" --shards="$shards" "$t" 2>>"$dir/err" || bad=plan
	[ -n "$bad" ] || run_shards || bad=run
	for to in "$@"; do
		[ -z "$bad" ] || break
		"$VPT" export -q --to="$to" "$t" "$dir/want"
		want=$?
		"$VPT" shard merge --to="$to" "$plan" >"$dir/got" 2>"$dir/got.err"
		[ $? -eq $want ] && cmp -s "$dir/want" "$dir/got" || bad="$bad '$to'"
	done
	[ -z "$bad" ]
}

# based FORMAT ADDR: a base is that of vpt export.
based() {
	"$VPT" export -q --to="$1" --base="$2" "$t" "$dir/want"
	"$VPT" shard merge --to="$1" --base="$2" "$plan" >"$dir/got" 2>"$dir/got.err"
	"$VPT" export -q --to="$1" "$t" "$dir/other"
	"$VPT" shard sbatch --for=sh --submit --to="$1" --base="$2" "$plan" 2>>"$dir/got.err"
	if cmp -s "$dir/want" "$dir/got" && cmp -s "$dir/want" "$plan.out" &&
		! cmp -s "$dir/other" "$dir/got"; then
		tap_ok "--base=$2 with $1"
	else
		tap_fail "--base=$2 with $1" "$(cat "$dir/got.err")"
	fi
}

# same KIND SHARDS OUTPUT...: a plan of KIND ("--calls" or "") gives each output of vpt decode.
same() {
	kind=$1 shards=$2
	shift 2
	bad=
	# shellcheck disable=SC2086 # options
	"$VPT" shard plan -q $kind --shards="$shards" "$t" 2>>"$dir/err" || bad=plan
	[ -n "$bad" ] || run_shards || bad=run
	for how in "$@"; do
		[ -z "$bad" ] || break
		# shellcheck disable=SC2086 # options
		"$VPT" decode $kind $how "$t" >"$dir/want" 2>"$dir/want.err"
		want=$?
		# shellcheck disable=SC2086 # options
		"$VPT" shard merge $how "$plan" >"$dir/got" 2>"$dir/got.err"
		[ $? -eq $want ] && cmp -s "$dir/want" "$dir/got" || bad="$bad '$how'"
		repaired=$(sed -n 's/.*decoded again with others: //p' "$dir/got.err")
		repairs=$((repairs + ${repaired:-0}))
	done
	most=$((number > most ? number : most))
	[ -z "$bad" ]
}

# all SHARDS LEAST NAME: the trace in SHARDS shards, of which at least LEAST were made.
all() {
	failed=
	most=0
	same "" "$1" "" --json --coverage || failed="$bad"
	same --calls "$1" "" --json "--limit=9" || failed="$failed calls:$bad"
	if [ "$1" -lt 64 ]; then
		same "--calls --spaces" "$1" "" --json "--limit=9" || failed="$failed spaces:$bad"
		exports --spaces "$1" folded svg callgrind || failed="$failed exports:$bad"
		exports --edges "$1" edges lcov drcov bolt autofdo bitmap || failed="$failed edges:$bad"
	fi
	if [ -z "$failed" ] && [ $most -ge "$2" ]; then
		tap_ok "$3: $most shards"
	else
		tap_fail "$3: $most shards" "$failed
$(cat "$dir/err" "$dir/got.err")"
	fi
}

# random LEAST NAME: random cuts, also of a damaged stream; at least LEAST were joined.
random() {
	for damage in 0 20; do
		said=$("$PARTIALS" 300 "${PLANS:-4}" 1 $damage "$t" 2>&1)
		status=$?
		joined=${said##*joined } joined=${joined%%,*}
		repaired=$((repaired + ${said##* }))
		if [ $status -eq 0 ] && [ "$joined" -ge "$1" ]; then
			tap_ok "$2, damage $damage: $said"
		else
			tap_fail "$2, damage $damage: at least $1 joined" "$said"
		fi
	done
}

repaired=0
while read -r least how; do
	# shellcheck disable=SC2086 # options
	record $how
	random "$least" "$how"
done <<EOF
60 quicksort --psb=0
60 quicksort --psb=0 --no-retc
60 bytecode --psb=0 --tsc --mtc --cyc
4 calls --psb=0
30 longjmp --psb=0
4 exceptions --psb=0
3 interrupts --psb=0 --tsc
20 processes --psb=0
0 processes --psb=0 --user
60 kernelmix --psb=0 --tsc
60 jit --psb=0 --arg=100
60 legacy --psb=0 --model=spr --events --cyc --buffer=1024:60
30 storm --psb=0 --tsc
0 smp --cpus=3 --psb=0
EOF
if [ $repaired -ge 50 ]; then
	tap_ok "results that did not fit: $repaired"
else
	tap_fail "results that did not fit: $repaired" "at least 50 are expected"
fi

record jit --psb=0 --arg=100
all 7 6 "jit"
record smp --cpus=3 --psb=0
all 9 3 "3 vCPUs"
# A flow of RTIT has no cuts.
record quicksort --model=airmont
all 7 1 "RTIT"
record processes --psb=0 --tsc
all 9 7 "processes"
# Code begins at 0x100000, so that some of it is below the second base.
exports --edges 9 bolt
based bolt 0x1000
based autofdo 0x101000
# damaged OFFSET: the byte at OFFSET, from the end if it is negative, of a result of edges is another one.
damaged() {
	size=$(wc -c <"$part")
	at=$(($1 < 0 ? size + $1 : $1))
	cp "$part" "$dir/part"
	byte=$(od -An -tu1 -j"$at" -N1 "$part")
	printf "\\$(printf %o $(((byte + 1) % 256)))" | dd of="$part" bs=1 seek="$at" conv=notrunc 2>/dev/null
	"$VPT" shard merge --to=bitmap "$plan" >"$dir/got" 2>"$dir/got.err"
	status=$?
	mv "$dir/part" "$part"
	if [ $status -eq 3 ] && [ ! -s "$dir/got" ] && grep -q ": damaged: the checksum" "$dir/got.err"; then
		tap_ok "refused: a result of edges with another byte at $1"
	else
		tap_fail "refused: a result of edges with another byte at $1" "status $status
$(cat "$dir/got.err")"
	fi
}

# In the first table, in the map, and between them.
part=$plan.d/000002-000002.part
damaged 1800
damaged 5000
damaged -1
record quicksort --psb=0
all 64 14 "quicksort"

# wrong NAME TEXT ARGUMENT...: options that do not fit are refused, with one line.
wrong() {
	name=$1 text=$2
	shift 2
	"$VPT" shard "$@" >"$dir/got" 2>"$dir/got.err"
	if [ $? -eq 2 ] && [ ! -s "$dir/got" ] && grep -q -e "$text" "$dir/got.err" &&
		[ "$(wc -l <"$dir/got.err")" -eq 1 ]; then
		tap_ok "refused: $name"
	else
		tap_fail "refused: $name" "$(cat "$dir/got.err")"
	fi
}

wrong "trees and edges" "not with --calls" plan --edges --spaces "$t"
wrong "PTI without spaces" "only with --spaces and --edges" plan --pti --calls "$t"
wrong "stacks of one tree" "make the plan with --spaces" merge --to=folded "$plan"
wrong "edges of trees" "make the plan with --edges" sbatch --to=edges "$plan"
wrong "a map of trees" "make the plan with --edges" merge --to=bitmap "$plan"
wrong "coverage of trees" "not a plan of counts" merge --coverage "$plan"
"$VPT" shard plan -q --edges -o "$dir/edges.plan" "$t"
wrong "JSON of edges" "CSV" merge --json "$dir/edges.plan"
wrong "stacks of edges" "make the plan with --spaces" merge --to=folded "$dir/edges.plan"
wrong "a base of a map" "only with --to=bolt" merge --to=bitmap --base=1 "$dir/edges.plan"
wrong "a base of no format" "only with --to=bolt" sbatch --base=1 "$dir/edges.plan"

# A result that is missing, damaged or of another plan is named, and nothing is printed.
refused() { # NAME STATUS TEXT
	"$VPT" shard merge "$plan" >"$dir/got" 2>"$dir/got.err"
	status=$?
	if [ $status -eq "$2" ] && [ ! -s "$dir/got" ] && grep -q "$3" "$dir/got.err" &&
		[ "$(wc -l <"$dir/got.err")" -eq 1 ]; then
		tap_ok "refused: $1"
	else
		tap_fail "refused: $1" "status $status
$(cat "$dir/got.err")"
	fi
}

part=$plan.d/000003-000003.part
mv "$part" "$dir/part"
refused "a missing result" 1 "shards without a result: 1: 3$"
head -c 200 "$dir/part" >"$part"
refused "a short result" 3 "000003-000003.part: not a partial result"
printf x | dd of="$part" bs=1 seek=2000 conv=notrunc 2>/dev/null
refused "a damaged result" 3 "000003-000003.part: damaged"
echo text >"$part"
refused "a text" 3 "not a partial result"
cp "$plan.d/000004-000004.part" "$part"
refused "another shard's result" 3 "not of this plan"
mv "$dir/part" "$part"
cp "$plan" "$dir/plan"
sed -i '5s/"bytes":[0-9]*/"bytes":1/' "$plan"
refused "a changed plan" 3 "its id does not fit"
sed 3q "$dir/plan" >"$plan"
refused "a short plan" 3 "shards are missing"
echo '{"vpt_shard_plan":99}' >"$plan"
refused "a plan of another version" 3 "another version"
cp "$dir/plan" "$plan"

# Neighbours can be one result, and a result of two takes the place of both.
"$VPT" shard run -q "$plan" 2-4 && rm "$part"
"$VPT" shard merge "$plan" >"$dir/got" 2>"$dir/got.err"
"$VPT" decode --calls "$t" >"$dir/want"
if cmp -s "$dir/got" "$dir/want"; then tap_ok "a range"; else
	tap_fail "a range" "$(cat "$dir/got.err")"
fi
"$VPT" shard run -q "$plan" 3-99 2>"$dir/err"
if [ $? -eq 2 ] && grep -q "has shards 0 to" "$dir/err"; then
	tap_ok "a shard that is not there"
else
	tap_fail "a shard that is not there" "$(cat "$dir/err")"
fi
tap_end
