#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Several vCPUs under KVM, with a thread each: start-up, locks, clocks, changed code and IPIs; the
# end of a run from outside; changes of the engine; the refusals.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
. tests/lib/roundtrip.sh
need_kvm
elf=$GUEST/smp.elf
kvm="run -q --engine=kvm --pt=off"

# Where KVM cannot have the local APICs, a request for them is refused, and nothing else is tested.
apics=vpt
if "$VPT" caps | grep -qx 'local APICs in KVM *yes'; then
	apics="vpt kvm"
else
	refuses "KVM's local APICs" "$HOST" "apic=kvm: this KVM" run --engine=kvm --pt=off --apic=kvm "$elf"
fi
# The default is those of vpt.
gcc -c -o "$dir/k.o" -DRELOCATABLE=1 tests/cli/linux.S && objcopy -O binary "$dir/k.o" "$dir/bz"
# shellcheck disable=SC2086 # words
"$VPT" $kvm --json "$dir/bz" >"$dir/said" 2>&1
tap_run "the default for Linux is vpt" grep -q '"apic":"vpt"' "$dir/said"
# shellcheck disable=SC2086 # words
"$VPT" $kvm --json --console=none "$elf" >"$dir/said" 2>&1
tap_run "and for a payload vpt" grep -q '"apic":"vpt"' "$dir/said"
for apic in $apics; do
	for cpus in 2 3 4 8; do
		for round in 1 2 3; do
			name="$cpus vCPUs, APICs of $apic, round $round"
			# shellcheck disable=SC2086 # words
			tap_run "$name: the guest passes" "$VPT" $kvm --apic="$apic" --cpus=$cpus \
				--timeout=100 --console="$dir/con" "$elf"
			tap_run "$name: all of them run" sh -c \
				"tr -d '\r' <'$dir/con' | grep -qx 'NOTE: processors: $cpus' &&
				grep -q '^SUMMARY: smp: 8 passed, 0 failed' '$dir/con'"
		done
	done
done
refuses "APICs of KVM without KVM" "$USAGE" "apic=kvm: only engine kvm" run --engine=soft --apic=kvm "$elf"
refuses "APICs of KVM with a trace" "$USAGE" "apic=kvm: it needs --pt=off" run --engine=kvm --apic=kvm "$elf"
refuses "APICs of KVM in a snapshot" "$USAGE" "apic=kvm: a snapshot" run --engine=kvm --pt=off \
	--apic=kvm --snapshot="$dir/s.vps" "$elf"

# A guest that goes on until it is ended, with a lock that all of its vCPUs want.
began=$(date +%s%N)
# shellcheck disable=SC2086 # words
"$VPT" $kvm --cpus=4 --arg=1000000000 --timeout=1 --console=none "$elf" 2>"$dir/err"
status=$?
took=$((($(date +%s%N) - began) / 1000000))
tap_run "--timeout ends all vCPUs: $took ms" test $status -eq 1 -a $took -ge 1000 -a $took -le 20000
tap_run "and says so" grep -q -- '--timeout=1 reached' "$dir/err"
# shellcheck disable=SC2086 # words
timeout -s INT 1 "$VPT" $kvm --cpus=4 --arg=1000000000 --console=none "$elf" 2>"$dir/err"
tap_run "a signal ends all vCPUs" grep -q interrupted "$dir/err"

# A vCPU other than the first waits for a console that nobody reads, a pipe of one page.
cat >"$dir/unread.py" <<'END'
import fcntl, os, subprocess, sys

_, console = os.pipe()
fcntl.fcntl(console, fcntl.F_SETPIPE_SZ, 4096)
run = subprocess.Popen(sys.argv[1:], stdout=console, stderr=subprocess.DEVNULL)
try:
    sys.exit(run.wait(timeout=20))
except subprocess.TimeoutExpired:
    run.kill()
    sys.exit("it goes on")
END
# shellcheck disable=SC2086 # words
python3 "$dir/unread.py" "$VPT" $kvm --cpus=2 --arg=0 --arg=1 --timeout=2 "$elf" 2>"$dir/err"
tap_run "--timeout ends a vCPU that waits for the console" test $? -eq 1 -a ! -s "$dir/err"

# The machine changes its engine at each use of the lock that is far enough from the last. The host
# traces all vCPUs then.
changes() { # CPUS
	"$VPT" run --engine=kvm,soft --cpus="$1" --pt=host --oracle --trace-from=share --trace-for=2000 \
		--trace-again --arg=20 --arg=0 --arg=10 --timeout=100 --console="$dir/con" --json \
		-o "$dir/t.vpt" "$elf" >"$dir/json" && grep -q '^SUMMARY: smp: 8 passed, 0 failed' "$dir/con"
}
for cpus in 2 3 4 8; do
	tap_run "$cpus vCPUs on two engines: the guest passes" changes $cpus
	tap_run "there and back: $(jq .engine_changes "$dir/json") changes" \
		test "$(jq .engine_changes "$dir/json")" -ge 6
	"$VPT" verify "$dir/t.vpt" >"$dir/verify"
	tap_run "what was traced is what ran" grep -q '^verify: [1-9].* 0 mismatches' "$dir/verify"
	tap_run "each vCPU was traced" test "$("$VPT" info -j "$dir/t.vpt" |
		jq '[.vcpus[] | select(([.sessions[].insns] | add) > 0)] | length')" -eq "$cpus"
done
"$VPT" run -q --engine=kvm,soft --cpus=4 --pt=guest --oracle -o "$dir/t.vpt" "$elf" >"$dir/con"
tap_run "a guest that traces its first vCPU" grep -q '^SUMMARY: smp: 16 passed, 0 failed' "$dir/con"
tap_run "this is what ran" "$VPT" verify -q "$dir/t.vpt"
"$VPT" run --engine=kvm,soft --cpus=4 --pt=host --verify "$elf" >"$dir/con" 2>"$dir/err"
tap_run "a trace from the first instruction" grep -q '^verify: [1-9].* 0 mismatches' "$dir/err"
# shellcheck disable=SC2086 # words
timeout -s INT 2 "$VPT" ${kvm%--engine*}--engine=kvm,soft --cpus=4 --pt=host --trace-from=share --trace-for=2000 \
	--trace-again --arg=20 --arg=0 --arg=1000000 --console=none -o "$dir/t.vpt" "$elf" 2>"$dir/err"
tap_run "a signal ends a machine that changes" grep -q interrupted "$dir/err"

refuses "KVM would step a trace" "$USAGE" "cpus: engine kvm has one" run --engine=kvm --cpus=2 "$elf"
tap_end
