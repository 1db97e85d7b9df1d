#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Snapshots at random points of traced runs: the machine that is restored goes on to the
# same trace file and the same output as the one that was never stopped.
# usage: snapshot.sh [POINTS [SEED]]    10 points if not given
#
# On failure the commands that show it again are printed.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
. tests/run/settings.sh
points=${1:-10}
seed=${2:-1}

# The run that is not stopped: whole-N.vpt, whole-N.txt, and its length.
whole() { # N PAYLOAD OPTION...
	[ ! -e "$dir/length-$1" ] || return 0
	wh_n=$1
	shift
	soft "whole-$wh_n.txt" "$dir/whole-$wh_n.vpt" "$@" || return 1
	soft "again.txt" "$dir/again.vpt" "$@" --json || return 1
	sed -n 's/.*"retired":\([0-9]*\).*/\1/p' "$dir/again.txt" >"$dir/length-$wh_n"
	[ -s "$dir/length-$wh_n" ]
}

# Stop at POINT, restore, compare with whole-N.
stopped() { # N POINT PAYLOAD OPTION...
	st_n=$1
	st_at=$2
	shift 2
	soft part.txt "$dir/part.vpt" "$@" --snapshot="$dir/it.vps" --snapshot-at="$st_at" &&
		"$VPT" restore -q --timeout=300 -o "$dir/rest.vpt" "$dir/it.vps" >"$dir/rest.txt" &&
		cmp "$dir/whole-$st_n.vpt" "$dir/rest.vpt" &&
		cat "$dir/part.txt" "$dir/rest.txt" | cmp "$dir/whole-$st_n.txt" - && return
	echo "vpt run --engine=soft $* --snapshot=it.vps --snapshot-at=$st_at -o part.vpt"
	echo "vpt restore -o rest.vpt it.vps"
	cat "$dir/part.txt.err"
	return 1
}

settings >"$dir/settings"
count=$(wc -l <"$dir/settings")
i=0
while [ "$i" -lt "$points" ]; do
	n=$((i % count + 1))
	setting=$(sed -n "${n}p" "$dir/settings")
	# shellcheck disable=SC2086 # a command line
	if ! said=$(whole $n $setting 2>&1); then
		tap_fail "$setting: run" "$said"
		i=$((i + 1))
		continue
	fi
	at=$(awk -v seed="$seed" -v i="$i" -v length_="$(cat "$dir/length-$n")" 'BEGIN {
		srand(seed * 1000 + i); rand(); print int(rand() * length_) }')
	# shellcheck disable=SC2086
	tap_run "$setting: stopped at $at" stopped $n "$at" $setting
	i=$((i + 1))
done

# A machine that was restored is one that can be stopped again, and is the same then.
again() {
	soft part.txt "$dir/part.vpt" processes --snapshot="$dir/a.vps" --snapshot-at=20000 &&
		"$VPT" restore -q -o "$dir/part.vpt" --snapshot="$dir/b.vps" --snapshot-at=40000 \
			"$dir/a.vps" >"$dir/part.txt" &&
		soft part.txt "$dir/part.vpt" processes --snapshot="$dir/c.vps" \
			--snapshot-at=40000 &&
		cmp "$dir/b.vps" "$dir/c.vps" &&
		soft whole.txt "$dir/whole.vpt" processes &&
		"$VPT" restore -q -o "$dir/b.vpt" "$dir/b.vps" >"$dir/b.txt" &&
		cmp "$dir/whole.vpt" "$dir/b.vpt"
}
tap_run "a snapshot of what was restored from one" again

# One that goes on is not disturbed, and leaves the last snapshot behind.
often() {
	soft whole.txt "$dir/whole.vpt" quicksort &&
		soft often.txt "$dir/often.vpt" quicksort --snapshot="$dir/o.vps" \
			--snapshot-every=10007 &&
		cmp "$dir/whole.vpt" "$dir/often.vpt" &&
		"$VPT" restore -q -o "$dir/rest.vpt" "$dir/o.vps" >"$dir/rest.txt" &&
		cmp "$dir/whole.vpt" "$dir/rest.vpt"
}
tap_run "snapshots while it goes on" often

# A signal that comes before vpt listens must not end it.
signalled() {
	trap '' USR1
	"$VPT" run -q --engine=soft --pt=off --timeout=300 --arg=1000000 \
		--snapshot="$dir/s.vps" "$GUEST/bench_int.elf" >"$dir/signalled.txt" 2>&1 &
	pid=$!
	trap - USR1
	for _ in $(seq 300); do
		kill -USR1 "$pid" || break
		[ ! -e "$dir/s.vps" ] || break
		sleep 0.1
	done
	kill -TERM "$pid"
	wait "$pid"
	"$VPT" snapshot "$dir/s.vps" || { cat "$dir/signalled.txt" && return 1; }
}
tap_run "a snapshot when SIGUSR1 says so" signalled

# A store to the APIC in code without branches causes an interrupt. It comes at the same place wherever
# the machine was stopped after the store.
straight() {
	soft whole.txt "$dir/whole.vpt" apic --pt=host || return 1
	from=$("$VPT" decode -i "$dir/whole.vpt" 2>"$dir/said" | grep '^[0-9a-f]\{16\}' |
		grep -n -m 1 run_straight | cut -d : -f 1)
	[ "${from:-0}" -gt 1000 ] || return 1
	for after in 4 5 6 10 20 30 40 50 60 70 80 90; do
		soft part.txt "$dir/part.vpt" apic --pt=host --snapshot="$dir/d.vps" \
			--snapshot-at=$((from + after)) &&
			"$VPT" restore -q -o "$dir/rest.vpt" "$dir/d.vps" >"$dir/rest.txt" &&
			cmp "$dir/whole.vpt" "$dir/rest.vpt" && continue
		echo "at $((from + after))"
		return 1
	done
}
tap_run "after a store to a device" straight

# Without a file the guest goes on all the same.
unrecorded() {
	soft part.txt "$dir/part.vpt" quicksort --snapshot="$dir/u.vps" --snapshot-at=30000 &&
		"$VPT" restore -q "$dir/u.vps" >"$dir/rest.txt" &&
		soft whole.txt "$dir/whole.vpt" quicksort &&
		cat "$dir/part.txt" "$dir/rest.txt" | cmp "$dir/whole.txt" -
}
tap_run "restored without -o" unrecorded
tap_end
