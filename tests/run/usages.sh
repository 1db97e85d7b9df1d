#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Every payload with a usage of PT under a VMM: it ends as it does without one, and what
# is decoded is what ran, on which sides the usage says. With two engines: they make the
# same VM exits.
# usage: usages.sh ENGINE USAGE [OPTION...]
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
. tests/lib/roundtrip.sh
engine=$1
usage=$2
shift 2
[ "$engine" != kvm ] || need_kvm

# How a payload ends where nobody but the VMM has PT, or with PT of its own.
owner=host
[ "$usage" != owned ] || owner=guest
model=skl
for option; do
	case $option in --model=*) model=${option#*=} ;; esac
done
rows=$(awk -v owner="$owner" -v model="$model" -v engine="$engine" '
	/^# payload/ { for (i = 1; i <= NF; i++) column[$i] = i - 1 }
	/^#/ || NF == 0 || seen[$1, $2]++ { next }
	$column[model] == "-" { next }
	$2 == owner && ($column["engine"] == "any" || $column["engine"] == engine) {
		print $1, $column[model]
	}' guest/payloads/payloads.cfg)
tap_run "payloads.cfg has rows for $owner on $model, $engine" test -n "$rows"

# Where a guest counts the starts and ends of its own trace it counts VM exits, too: an
# interrupt, or CR3 that is trapped, ends it and begins it anew (33.5.2.2). In VMX operation RDTSC has
# no TSC packet (docs/adr/0016-time.md).
counts_otherwise() { # PAYLOAD OPTIONS
	[ "$usage" = owned ] || return 1
	case "$1 $2" in
	topa_int* | read_tsc* | "filter_cr3 "*--trap=cr3* | "ctl_bits "*--trap=cr3*) return 0 ;;
	esac
	return 1
}

# What is not on the usage's sides, among the instructions of a trace.
on_wrong_side() { # FILE
	case $usage in
	host) "$VPT" decode -i "$1" | grep -E '^ *0000' ;;
	guest | owned) "$VPT" decode -i "$1" | grep -E '^ *ffffffff8f0' ;;
	esac | head -n 3
}

json() { # FILE KEY
	sed -n "s/.*\"$2\":\"\{0,1\}\([^,\"}]*\).*/\1/p" "$1" | tail -n 1
}

while read -r payload expected; do
	[ -n "$payload" ] || continue
	name="$payload $usage $engine${*:+ $*}"
	"$VPT" run -j --engine="$engine" --usage="$usage" --oracle --timeout=300 "$@" \
		-o "$dir/trace.vpt" "$GUEST/$payload.elf" >"$dir/said" 2>&1
	status=$?
	want=0
	[ "$expected" = pass ] || want=1
	if counts_otherwise "$payload" "$*"; then
		want=1
		grep -q '^FAIL' "$dir/said" || want=none
	fi
	if [ "$status" -ne "$want" ]; then
		tap_fail "$name" "exit status $status, not $want: $(tail -n 4 "$dir/said")"
	elif ! verdict=$("$VPT" verify --allow-empty "$dir/trace.vpt" 2>&1); then
		tap_fail "$name" "vpt verify: $(echo "$verdict" | tail -n 20)"
	elif wrong=$(on_wrong_side "$dir/trace.vpt") && [ -n "$wrong" ]; then
		tap_fail "$name" "not of this usage: $wrong"
	else
		tap_ok "$name"
	fi
	[ "$engine" = kvm ] || continue
	# Equal CPUID makes equal ways.
	case $payload in demand | pagefaults | apic) continue ;; esac
	"$VPT" run -j --engine=soft --usage="$usage" --timeout=300 "$@" -o "$dir/soft.vpt" \
		"$GUEST/$payload.elf" >"$dir/soft" 2>&1
	tap_run "$name: the VM exits of soft" test "$(json "$dir/said" exit_digest)" = \
		"$(json "$dir/soft" exit_digest)"
done <<EOF2
$rows
EOF2
tap_end
