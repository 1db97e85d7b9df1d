#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# vpt shard: traces of a host and its guests. The merged results of shards are those of vpt decode.
#
# tests/partials joins results of random cuts, also of damaged streams. The verb's output is compared as
# text: the summary with its table of spaces, trees of calls, coverage and listings.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
. tests/lib/refuse.sh
PARTIALS=${O:-build/${MODE:-rel}}/tests/partials

t=$dir/t.vpt
plan=$t.plan

# record PAYLOAD OPTION...
record() {
	payload=$1
	shift
	"$VPT" run -q --engine=soft --psb=0 -o "$t" "$@" "$GUEST/$payload.elf" >/dev/null \
		2>"$dir/err" </dev/null || tap_fail "vpt run $payload $*" "$(cat "$dir/err")"
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

# outputs SHARDS LEAST NAME: each output of at most SHARDS shards, of which at least LEAST were made.
outputs() {
	bad=
	most=0
	while read -r kind; do
		rm -rf "$plan.d"
		# shellcheck disable=SC2086 # options
		"$VPT" shard plan -q $kind --shards="$1" "$t" 2>"$dir/err" || bad="$bad '$kind: plan'"
		number=$(($(wc -l <"$plan") - 1))
		most=$((number > most ? number : most))
		for shard in $(awk -v n=$number 'BEGIN { srand(2); for (i = 0; i < n; i++) print rand(), i }' |
			sort | cut -d" " -f2); do
			"$VPT" shard run -q "$plan" "$shard" 2>>"$dir/err" || bad="$bad '$kind: $shard'"
		done
		case $kind in
		"") outputs="--limit=9 --json --coverage" ;;
		--calls) outputs="--limit=9 --json" ;;
		*) outputs=--limit=99 ;;
		esac
		for how in "" $outputs; do
			# shellcheck disable=SC2086 # options
			"$VPT" decode $kind $how "$t" >"$dir/want" 2>"$dir/want.err"
			want=$?
			# shellcheck disable=SC2086 # options
			"$VPT" shard merge $how "$plan" >"$dir/got" 2>"$dir/got.err"
			[ $? -eq $want ] && cmp -s "$dir/want" "$dir/got" || bad="$bad '$kind $how'"
			repairs=$repairs$(sed -n 's/.*decoded again with others: //p' "$dir/got.err")
		done
	done <<END

--calls
--insn
--insn --json
--blocks --lines
END
	if [ -z "$bad$repairs" ] && [ $most -ge "$2" ]; then
		tap_ok "$3: $most shards"
	else
		tap_fail "$3: $most shards" "$bad $repairs
$(cat "$dir/err" "$dir/got.err")"
	fi
}

repaired=0
repairs=
while read -r joined shards how; do
	# shellcheck disable=SC2086 # options
	record $how
	random "$joined" "$how"
	outputs 9 "$shards" "$how"
done <<END
8 5 spaces --usage=system --tsc
100 7 processes --usage=system --tsc-offset=0x123456789 --tsc --mtc --cyc
200 7 kernelmix --usage=system
60 5 processes --usage=host --tsc
60 7 processes --usage=guest --tsc
END
if [ $repaired -ge 50 ]; then
	tap_ok "results that did not fit: $repaired"
else
	tap_fail "results that did not fit: $repaired" "at least 50 are expected"
fi

refuses "a piece" 3 "it has a host and its guests, and no pieces" shard cut "$plan" 0
refuses "trees by space" 3 "have no shards" shard plan --spaces "$t"
refuses "edges by space" 3 "have no shards" shard plan --edges "$t"
refuses "PTI" 2 "omit --pti" shard plan --insn --spaces --pti "$t"
tap_end
