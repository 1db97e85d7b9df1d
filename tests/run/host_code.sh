#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Every payload, and some random programs, with and without an oracle: packets, console
# and exit status are the same. With one the software CPU tells of each instruction and
# so makes host code of none; without, of all that it can. What `vpt verify` proves of
# the first is so true of the second.
# usage: host_code.sh OWNER [MODEL [SEEDS]]    skl, 40
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
owner=${1:?usage: host_code.sh OWNER [MODEL [SEEDS]]}
model=${2:-skl}
seeds=${3:-40}

# run_to FILE PAYLOAD [OPTION...]: FILE.vpt, .console, .status, .packets
run_to() {
	file=$1
	payload=$2
	shift 2
	"$VPT" run --engine=soft --pt="$owner" --model="$model" --quiet "$@" -o "$file.vpt" \
		"$GUEST/$payload.elf" >"$file.console" 2>"$file.said" </dev/null
	echo "exit status $?" >"$file.status"
	# No packets at all are status 1: a payload whose PT is not there.
	"$VPT" dump "$file.vpt" >"$file.packets" 2>&1
}

# same PAYLOAD [OPTION...]: one test.
same() {
	name="$* $owner $model"
	run_to "$dir/fast" "$@"
	run_to "$dir/every" "$@" --oracle
	for what in status console said packets; do
		if ! cmp -s "$dir/fast.$what" "$dir/every.$what"; then
			tap_fail "$name: $what" "$VPT run --engine=soft --pt=$owner --model=$model \
$*: < without, > with --oracle
$(diff "$dir/fast.$what" "$dir/every.$what" | head -n 8)"
			return
		fi
	done
	tap_ok "$name: $(wc -l <"$dir/fast.packets") packets"
}

rows=$(awk -v owner="$owner" -v model="$model" '
	/^# payload/ { for (i = 1; i <= NF; i++) column[$i] = i - 1 }
	/^#/ || NF == 0 { next }
	$2 == owner && $column["engine"] ~ /^(any|soft)$/ && $column[model] != "-" {
		line = $1
		for (i = column["arguments"]; i <= NF; i++)
			line = line " " $i
		print line
	}' guest/payloads/payloads.cfg)
tap_run "payloads.cfg has rows for $owner on $model" test -n "$rows"
while read -r payload arguments; do
	[ -n "$payload" ] || continue
	# shellcheck disable=SC2086 # a list of arguments
	same "$payload" $arguments
done <<EOF2
$rows
EOF2
seed=1
while [ "$seed" -le "$seeds" ]; do
	same random --seed=$((1000 + seed))
	seed=$((seed + 1))
done
tap_end
