#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# SIGTERM and --timeout end a run within 100 ms, whatever the guest does meanwhile. A disk can
# make a process wait, so each has three attempts. What is recorded goes to
# /dev/null: how long a disk takes for megabytes is not what is measured.
# usage: late.sh [kvm]
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
. tests/lib/roundtrip.sh
HOSTILE=${O:-build/${MODE:-rel}}/guest/hostile
# Sanitizers make everything take several times as long.
most=$([ "${MODE:-rel}" = rel ] && echo 0.1 || echo 1)

# Seconds until a guest runs: KVM is tried out first.
wait=$([ "${1-}" = kvm ] && echo 0.7 || echo 0.25)

# promptly HOW COMMAND...: HOW is term (SIGTERM), or the seconds of --timeout. They count from
# when the machine is there, which is what the summary tells. Time in which the process could run
# and no processor was free does not count.
cat >"$dir/promptly.py" <<'END'
import os, re, signal, subprocess, sys, time
most, wait, how, command = float(sys.argv[1]), float(sys.argv[2]), sys.argv[3], sys.argv[4:]
if how != "term":
    command += ["-j"]


def field(pid, name):
    with open("/proc/%d/status" % pid) as file:
        return int(re.search(name + r":\t([0-9a-f]+)", file.read()).group(1), 16)


def waited(pid):
    """Seconds that it has waited for a processor."""
    try:
        with open("/proc/%d/schedstat" % pid) as file:
            return int(file.read().split()[1]) / 1e9
    except OSError:
        return 0


def hang(number, frame):
    run.kill()


signal.signal(signal.SIGALRM, hang)
for attempt in range(3):
    # Nobody reads what the guest prints, before it is over.
    run = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE)
    before = 0
    signal.alarm(60)
    if how == "term":
        # It listens, and then it runs.
        while not field(run.pid, "SigCgt") >> signal.SIGTERM - 1 & 1 and run.poll() is None:
            time.sleep(0.01)
        time.sleep(wait)
        before, due = waited(run.pid), time.monotonic()
        run.terminate()
    os.waitid(os.P_PID, run.pid, os.WEXITED | os.WNOWAIT)
    late = 30
    if how == "term":
        late = time.monotonic() - due
    idle = waited(run.pid) - before
    signal.alarm(0)
    run.wait()
    if how != "term":
        took = re.search(r'"seconds":([0-9.]+)', run.stdout.read().decode())
        late = float(took.group(1)) - float(how) if took else 30
    said = run.stderr.read().decode()
    print("%s: %.0f ms late, without a processor for %.0f, status %d: %s"
          % (how, 1000 * late, 1000 * idle, run.returncode, said))
    if run.returncode != 1 or ("interrupted" if how == "term" else "timeout") not in said:
        sys.exit(1)
    if late - idle < most:
        sys.exit(0)
sys.exit(1)
END
promptly() {
	python3 "$dir/promptly.py" "$most" "$wait" "$@"
}

run="$VPT run -q --engine=${1:-soft} -m 8M"
if [ "${1-}" = kvm ]; then
	need_kvm
	# shellcheck disable=SC2086 # a command line
	{
		tap_run "SIGTERM: a loop, untraced" promptly term $run --pt=off --arg=10 \
			"$HOSTILE/busy.elf"
		tap_run "SIGTERM: REP STOS, untraced" promptly term $run --pt=off "$HOSTILE/busy.elf"
		tap_run "SIGTERM: REP STOS to a device" promptly term $run --pt=off --arg=1 \
			"$HOSTILE/busy.elf"
		tap_run "SIGTERM: REP STOS" promptly term $run --pt=host -o /dev/null \
			"$HOSTILE/busy.elf"
		tap_run "SIGTERM: code at many addresses" promptly term $run --pt=host \
			-o /dev/null "$HOSTILE/aliases.elf"
		tap_run "--timeout: code that changes" promptly 1 $run --timeout=1 --pt=host \
			-o /dev/null "$HOSTILE/rewrite.elf"
	}
	tap_end
fi
work=0
for name in "REP STOS to RAM" "REP STOS to a device" "REP STOS backwards" "REP OUTS" \
	"stores to a page with thousands of blocks" "INVLPG and MOV CR3" CPUID \
	"a console that nobody reads" "#UD" "TLB misses" "a loop of one jump"; do
	# shellcheck disable=SC2086 # a command line
	tap_run "SIGTERM: $name" promptly term $run --pt=host -o /dev/null --arg=$work \
		"$HOSTILE/busy.elf"
	work=$((work + 1))
done
# shellcheck disable=SC2086
{
	tap_run "SIGTERM: the same, untraced" promptly term $run --pt=off --arg=4 "$HOSTILE/busy.elf"
	tap_run "SIGTERM: with an oracle" promptly term $run --pt=host --oracle -o /dev/null \
		--arg=9 "$HOSTILE/busy.elf"
	tap_run "SIGTERM: under a VMM" promptly term $run --usage=system -o /dev/null \
		--arg=9 "$HOSTILE/busy.elf"
	tap_run "SIGTERM: RTIT" promptly term $run --trace=rtit --pt=host -o /dev/null \
		--arg=4 "$HOSTILE/busy.elf"
	tap_run "SIGTERM: a snapshot after every instruction" promptly term $run --pt=host \
		-o "$dir/t.vpt" --snapshot="$dir/s.vps" --snapshot-every=1 "$HOSTILE/busy.elf"
	tap_run "SIGTERM: snapshots of much memory" promptly term "$VPT" run -q --engine=soft \
		-m 4G --snapshot="$dir/s.vps" --snapshot-every=1 --pt=off "$HOSTILE/busy.elf"
	for how in term 1; do
		option=$([ $how = term ] || echo "--timeout=$how")
		tap_run "$how: code at many addresses" promptly $how $run $option --pt=host \
			-o /dev/null "$HOSTILE/aliases.elf"
		tap_run "$how: code that changes" promptly $how $run $option --pt=host \
			-o /dev/null "$HOSTILE/rewrite.elf"
	done
}
tap_empty "no snapshot is left half written" "$(find "$dir" -name '*.part')"
tap_end
