#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Snapshots that change their engine. A run of KVM is snapshotted by SIGUSR1 at random moments, and
# resumed on the software CPU, traced and not, and under KVM. A run of the software CPU is resumed
# under KVM. The output and the exit status are those of an uninterrupted run.
# usage: snapshot_kvm.sh [POINTS [SEED]]    at least 24 points of each kind if not given
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
. tests/lib/roundtrip.sh
need_kvm
points=${1:-24}
seed=${2:-1}

# Payloads that work for about two seconds under KVM.
settings="bench_int,1 quicksort,6 timer,250 processes,600 demand,300"

# Set $drawn to a random number below $1.
draw() {
	draws=$((${draws:-0} + 1))
	drawn=$(awk -v seed="$seed" -v draw="$draws" -v below="$1" 'BEGIN {
		srand(seed * 100000 + draw); rand(); print int(rand() * below) }')
}

# The output of the uninterrupted run: $dir/whole.
whole() { # PAYLOAD OPTION...
	wh_payload=$1
	shift
	"$VPT" run -q --pt=off --timeout=300 "$@" "$GUEST/$wh_payload.elf" >"$dir/whole" 2>&1 &&
		grep -q '^SUMMARY: .* 0 failed' "$dir/whole"
}

# Split the output at the reports of $snapshots snapshots. $dir/N.before has the text before report N, and
# $dir/all has everything that the guest printed.
split() {
	python3 - "$dir" "$snapshots" <<-'END'
		import re, sys
		folder, count = sys.argv[1], int(sys.argv[2])
		text = open(folder + "/both").read()
		parts = re.split(r"vpt run: snapshot: [^\n]*\n", text)
		parts = [re.sub(r"vpt run: [^\n]*\n", "", part) for part in parts]
		for i in range(len(parts) - 1):
		    open("%s/%d.before" % (folder, i), "w").write("".join(parts[: i + 1]))
		open(folder + "/all", "w").write("".join(parts))
		sys.exit(len(parts) - 1 != count)
	END
}

# Make snapshots of a KVM run at random moments: $dir/0.vps and so on. The guest must not notice.
record() { # PAYLOAD OPTION...
	rc_payload=$1
	shift
	snapshots=0
	rm -f "$dir"/*.vps "$dir"/*.before
	# A signal that comes before vpt listens must not end it.
	trap '' USR1
	"$VPT" run --engine=kvm --timeout=300 --snapshot="$dir/s.vps" "$@" \
		"$GUEST/$rc_payload.elf" >"$dir/both" 2>&1 &
	rc_pid=$!
	trap - USR1
	draw 80
	while sleep "0.$((drawn + 10))" && kill -USR1 "$rc_pid" 2>/dev/null; do
		while [ ! -e "$dir/s.vps" ] && kill -0 "$rc_pid" 2>/dev/null; do
			sleep 0.01
		done
		[ -e "$dir/s.vps" ] || break
		mv "$dir/s.vps" "$dir/$snapshots.vps"
		snapshots=$((snapshots + 1))
		draw 30
	done
	wait "$rc_pid" && split && cmp "$dir/all" "$dir/whole"
}

# Resume a snapshot, and compare all output with that of the uninterrupted run.
resumed() { # BEFORE SNAPSHOT OPTION...
	re_before=$1
	re_file=$2
	shift 2
	"$VPT" restore -q --timeout=300 "$@" "$re_file" >"$dir/after" 2>"$dir/after.err" &&
		cat "$re_before" "$dir/after" | cmp - "$dir/whole" && return
	echo "vpt restore $*:"
	cat "$dir/after.err"
	cat "$re_before" "$dir/after" | diff "$dir/whole" - | head -n 20
	return 1
}

# Resume a snapshot with a trace of each instruction.
traced() { # BEFORE SNAPSHOT
	resumed "$1" "$2" --pt=host --oracle -o "$dir/t.vpt" || return
	"$VPT" verify "$dir/t.vpt" >"$dir/verify" 2>&1 &&
		grep -q '^verify: [1-9].* 0 mismatches' "$dir/verify" || { cat "$dir/verify" && return 1; }
	insns=$((insns + $(sed -n 's/^verify: \([0-9]*\) retired.*/\1/p' "$dir/verify")))
}

# Resume a snapshot of KVM in each way.
from_kvm() { # N
	resumed "$dir/$1.before" "$dir/$1.vps" && traced "$dir/$1.before" "$dir/$1.vps" &&
		resumed "$dir/$1.before" "$dir/$1.vps" --engine=kvm
}

# Rounds over the settings until there are enough points.
insns=0
done_=0
round=0
while [ "$done_" -lt "$points" ] && [ "$round" -lt 20 ]; do
	for setting in $settings; do
		payload=${setting%,*}
		arg=--arg=${setting#*,}
		if ! whole "$payload" --engine=kvm "$arg" || ! record "$payload" --pt=off "$arg"; then
			tap_fail "$payload $arg: recorded under KVM" "$(cat "$dir/both")"
			continue
		fi
		tap_ok "$payload $arg: recorded under KVM with $snapshots snapshots"
		i=0
		while [ "$i" -lt "$snapshots" ]; do
			tap_output=
			if from_kvm $i >"$dir/said" 2>&1; then
				done_=$((done_ + 1))
			else
				tap_fail "$payload $arg: snapshot $i of KVM" "$(cat "$dir/said")"
			fi
			i=$((i + 1))
		done
	done
	round=$((round + 1))
done
tap_run "snapshots of KVM, resumed in three ways: $done_; instructions traced: $insns" \
	test "$done_" -ge "$points" -a "$insns" -gt 0

# A payload, uninterrupted on the software CPU: $dir/whole, and its length.
measure() { # PAYLOAD
	whole "$1" --engine=soft --common-cpuid &&
		"$VPT" run -q --engine=soft --common-cpuid --pt=off --json "$GUEST/$1.elf" \
			>"$dir/json" 2>/dev/null &&
		length=$(sed -n 's/.*"retired":\([0-9]*\).*/\1/p' "$dir/json") && [ "$length" -gt 1000 ]
}

# Stop the software CPU after N instructions, and resume under KVM.
from_soft() { # PAYLOAD N
	"$VPT" run -q --engine=soft --common-cpuid --pt=off --snapshot="$dir/s.vps" \
		--snapshot-at="$2" "$GUEST/$1.elf" >"$dir/soft.before" 2>"$dir/said" &&
		resumed "$dir/soft.before" "$dir/s.vps" --engine=kvm
}

done_=0
for payload in quicksort timer interrupts processes exceptions strings selfmod jit; do
	if ! measure $payload; then
		tap_fail "$payload: on the software CPU" "$(cat "$dir/whole")"
		continue
	fi
	i=0
	while [ $((i * 8)) -lt "$points" ]; do
		draw "$length"
		if from_soft $payload "$drawn" >"$dir/said" 2>&1; then
			done_=$((done_ + 1))
		else
			tap_fail "$payload: stopped at $drawn, resumed under KVM" "$(cat "$dir/said")"
		fi
		i=$((i + 1))
	done
done
tap_run "snapshots of the software CPU, resumed under KVM: $done_" test "$done_" -ge "$points"

# Several vCPUs of KVM, which all stop for the snapshot.
done_=0
insns=0
for cpus in 2 3 4; do
	set -- --cpus=$cpus --arg=200 --arg=0 --arg=4
	if ! whole smp --engine=kvm "$@" || ! record smp --pt=off "$@"; then
		tap_fail "smp, $cpus vCPUs: recorded under KVM" "$(cat "$dir/both")"
		continue
	fi
	tap_ok "smp, $cpus vCPUs: recorded under KVM with $snapshots snapshots"
	i=0
	while [ "$i" -lt "$snapshots" ] && [ "$i" -lt 4 ]; do
		if from_kvm $i >"$dir/said" 2>&1; then
			done_=$((done_ + 1))
		else
			tap_fail "smp, $cpus vCPUs: snapshot $i of KVM" "$(cat "$dir/said")"
		fi
		i=$((i + 1))
	done
done
tap_run "snapshots of several vCPUs of KVM, resumed in three ways: $done_; instructions traced: $insns" \
	test "$done_" -ge 3 -a "$insns" -gt 0

# Several vCPUs of the software CPU, whose clocks differ by up to a turn, resumed under KVM.
turns_to_threads() { # CPUS N
	"$VPT" run -q --engine=soft --common-cpuid --pt=off --cpus="$1" --snapshot="$dir/s.vps" \
		--snapshot-at="$2" "$GUEST/smp.elf" >"$dir/soft.before" 2>"$dir/said" &&
		resumed "$dir/soft.before" "$dir/s.vps" --engine=kvm
}
done_=0
for cpus in 2 3 4; do
	whole smp --engine=soft --common-cpuid --cpus=$cpus
	for at in 800 4000 9000 13000 17000; do
		if turns_to_threads $cpus $at >"$dir/said" 2>&1; then
			done_=$((done_ + 1))
		else
			tap_fail "smp, $cpus vCPUs: stopped at $at, resumed under KVM" "$(cat "$dir/said")"
		fi
	done
done
tap_run "snapshots of several vCPUs of the software CPU, resumed under KVM: $done_" test "$done_" -eq 15

# There and back again: the software CPU, KVM, and the software CPU.
whole bench_int --engine=kvm --arg=1
"$VPT" run -q --engine=soft --common-cpuid --pt=off --arg=1 --snapshot="$dir/first.vps" \
	--snapshot-at=100000 "$GUEST/bench_int.elf" >"$dir/first.before" 2>&1
there_and_back() {
	trap '' USR1
	"$VPT" restore -q --engine=kvm --timeout=300 --snapshot="$dir/second.vps" "$dir/first.vps" \
		>"$dir/said" 2>&1 &
	tb_pid=$!
	trap - USR1
	while kill -USR1 $tb_pid 2>/dev/null && [ ! -e "$dir/second.vps" ]; do
		sleep 0.05
	done
	wait $tb_pid && cat "$dir/first.before" "$dir/said" | cmp - "$dir/whole" &&
		resumed "$dir/first.before" "$dir/second.vps" &&
		traced "$dir/first.before" "$dir/second.vps"
}
tap_run "the software CPU, KVM, the software CPU" there_and_back

# A trace that KVM steps continues in the same file on the software CPU. The first random moment can be
# after the end of the run.
whole quicksort --engine=kvm
round=0
snapshots=0
while [ "$snapshots" -eq 0 ] && [ "$round" -lt 20 ]; do
	rm -f "$dir/kvm.vpt"
	if record quicksort --pt=host --oracle -o "$dir/kvm.vpt" 2>"$dir/said"; then
		tap_ok "a traced run of KVM: $snapshots snapshots"
	else
		tap_fail "a traced run of KVM" "$(cat "$dir/said" "$dir/both")"
	fi
	round=$((round + 1))
done
continues() { # N OPTION...
	co_n=$1
	shift
	resumed "$dir/$co_n.before" "$dir/$co_n.vps" -o "$dir/t.vpt" "$@" &&
		"$VPT" verify "$dir/t.vpt" >"$dir/verify" && grep -q ' 0 mismatches' "$dir/verify" &&
		"$VPT" verify "$dir/kvm.vpt" | cmp - "$dir/verify" && return
	cat "$dir/verify"
	return 1
}
i=0
done_=0
while [ "$i" -lt "$snapshots" ] && [ "$i" -lt 6 ]; do
	if continues $i >"$dir/said" 2>&1; then
		done_=$((done_ + 1))
	else
		tap_fail "a trace of KVM continues on the software CPU: $i" "$(cat "$dir/said")"
	fi
	i=$((i + 1))
done
tap_run "traces of KVM continue on the software CPU: $done_" test "$done_" -ge 1
tap_run "a trace of KVM continues under KVM" continues $((snapshots - 1)) --engine=kvm

# Refusals: one line each.
refuses "N instructions under KVM" "$USAGE" "--snapshot-at: engine kvm does not count" run \
	--engine=kvm --pt=off --snapshot="$dir/x.vps" --snapshot-at=5 "$GUEST/calls.elf"
refuses "every N instructions under KVM" "$USAGE" "--snapshot-every: engine kvm does not count" run \
	--engine=kvm --pt=off --snapshot="$dir/x.vps" --snapshot-every=5 "$GUEST/calls.elf"
tap_run "a snapshot with all of the software CPU's features" "$VPT" run -q --engine=soft --pt=off \
	--snapshot="$dir/full.vps" --snapshot-at=5000 "$GUEST/calls.elf"
refuses "its features under KVM" "$INPUT" "cannot have its CPUID leaf.*--common-cpuid" restore \
	--engine=kvm "$dir/full.vps"
tap_run "a snapshot of two vCPUs" "$VPT" run -q --engine=soft --cpus=2 --pt=off \
	--snapshot="$dir/two.vps" --snapshot-at=5000 "$GUEST/smp.elf"
refuses "two vCPUs with its features" "$INPUT" "cannot have its CPUID leaf.*--common-cpuid" restore \
	--engine=kvm "$dir/two.vps"
refuses "a trace of two vCPUs under KVM" "$USAGE" "engine kvm traces one vCPU, not 2" restore \
	--engine=kvm --pt=host -o "$dir/x.vpt" "$dir/two.vps"
tap_empty "nothing is left of these" "$(find "$dir" -name 'x.vps*')"
tap_end
