#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The same run traced by Intel PT and by RTIT: what is decoded of both is the same instructions
# and events, one after the other. A host traces, so that the guest sees neither; but it looks
# for them, and CPUID tells it which processor it is, so what runs inside of trace_init() is
# left out. A line "table:" for each: instructions, bytes for 1000 of them with PT, RTIT, PT with
# cycle counts and MTC, RTIT with both.
# usage: same.sh [PAYLOAD...]
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/cli.sh
. tests/lib/roundtrip.sh
[ $# -gt 0 ] || set -- quicksort calls returns bytecode exceptions interrupts ring3 spaces \
	selfmod softint strings random

# traced NAME MODEL PAYLOAD OPTION...: bytes of the trace, in $bytes; what is decoded, in NAME.
traced() {
	name=$1
	model=$2
	elf=$GUEST/$3.elf
	shift 3
	if ! said=$("$VPT" run --pt=host --model="$model" "$@" --seed=1 -o "$dir/trace.vpt" "$elf" 2>&1); then
		tap_fail "$payload: $name" "vpt run --model=$model $* $elf
$(echo "$said" | tail -n 8)"
		return 1
	fi
	bytes=$("$VPT" dump --summary --json "$dir/trace.vpt" |
		sed -n 's/^{"packets":[0-9]*,"bytes":\([0-9]*\).*/\1/p')
	"$VPT" decode --insn "$dir/trace.vpt" 2>&1 | flow >"$dir/$name"
}

# Without what only one of them says: modes, ratios, the CR3 at a PSB, and at what instruction
# the host ended it.
flow() {
	awk -v count="$dir/count" '
	/^-- (vCPU|exec mode|cbr|paging)/ { next }
	{ line[++n] = $0 }
	/^[0-9a-f]/ { insns++ }
	/ trace_init(\+| )/ { first = first ? first : n; last = n }
	END {
		print insns >count
		sub(/async disabled.*/, "disabled", line[n])
		for (i = 1; i <= n; i++)
			if (i < first || i > last)
				print line[i]
	}'
}

per_1000() { # BYTES
	awk -v bytes="$1" -v insns="$insns" 'BEGIN { printf "%.1f", bytes * 1000 / insns }'
}

echo "# columns: bytes-per-1000|instructions|PT|RTIT|PT,cyc,mtc|RTIT,cyc,mtc"
for payload; do
	traced pt skl "$payload" || continue
	pt=$bytes
	traced rtit silvermont "$payload" || continue
	rtit=$bytes
	insns=$(cat "$dir/count")
	tap_run "$payload: $insns instructions" cmp "$dir/pt" "$dir/rtit"
	traced pt-cyc skl "$payload" --cyc --mtc || continue
	pt_cyc=$bytes
	traced rtit-cyc silvermont "$payload" --cyc --mtc || continue
	tap_run "$payload, with time" cmp "$dir/pt-cyc" "$dir/rtit-cyc"
	echo "# table: $payload $insns $(per_1000 "$pt") $(per_1000 "$rtit")" \
		"$(per_1000 "$pt_cyc") $(per_1000 "$bytes")"
done
tap_end
