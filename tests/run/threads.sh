#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Several vCPUs under KVM, with a thread each: start-up, locks, clocks, changed code and IPIs; the
# end of a run from outside; the refusals.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
. tests/lib/roundtrip.sh
need_kvm
elf=$GUEST/smp.elf
kvm="run -q --engine=kvm --pt=off"

for cpus in 2 3 4 8; do
	for round in 1 2 3; do
		# shellcheck disable=SC2086 # words
		tap_run "$cpus vCPUs, round $round: the guest passes" \
			"$VPT" $kvm --cpus=$cpus --timeout=100 --console="$dir/con" "$elf"
		tap_run "$cpus vCPUs, round $round: all of them run" sh -c \
			"tr -d '\r' <'$dir/con' | grep -qx 'NOTE: processors: $cpus' &&
			grep -q '^SUMMARY: smp: 8 passed, 0 failed' '$dir/con'"
	done
done

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

refuses "KVM would step a trace" "$USAGE" "cpus: engine kvm has one" run --engine=kvm --cpus=2 "$elf"
refuses "a change of engine" "$USAGE" "cpus: engine kvm,soft has one" run --engine=kvm,soft --cpus=2 "$elf"
tap_end
