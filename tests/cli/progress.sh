#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# decode, export and verify show on a terminal how far they are, and nothing anywhere else.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh

# slow.py NAME COMMAND...: run it with a pseudo-terminal as standard error. NAME.out has its
# standard output, or is the terminal too if it exists as a directory. NAME.err has what came
# there, with \r as @ and ESC as ^. Until it shows something the command stands still for 0.7 s
# after each 4 ms of the processor, which it has used itself: so a busy machine changes nothing. It
# has a lower priority than the one who stops it, who would come too late otherwise. After nine
# times it runs on.
cat >"$dir/slow.py" <<'END'
import os, select, signal, subprocess, sys, time

name, command = sys.argv[1], sys.argv[2:]
# Sanitizers make everything take several times as long.
portion = 0.004 if os.environ.get("MODE", "rel") == "rel" else 0.04
master, slave = os.openpty()
out = slave if os.path.isdir(name + ".out") else open(name + ".out", "wb")
child = subprocess.Popen(["nice", "-n", "10", *command], stdout=out, stderr=slave)
os.close(slave)
said = b""


def read(seconds):
    """Append what comes; False at the end."""
    global said
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        if not select.select([master], [], [], left)[0]:
            continue
        try:
            said += os.read(master, 65536)
        except OSError:
            return False
    return True


def used():
    """Seconds of the processor, by the process's own clock."""
    try:
        return time.clock_gettime(~child.pid << 3 | 2)
    except OSError:
        return float("inf")


for _ in range(9):
    due, runs = used() + portion, True
    while runs and b" %, " not in said and used() < due:
        runs = read(0.001)
    if not runs or b" %, " in said:
        break
    child.send_signal(signal.SIGSTOP)
    read(0.7)
    child.send_signal(signal.SIGCONT)
while read(1):
    pass
with open(name + ".err", "w") as file:
    file.write(said.replace(b"\r\n", b"\n").replace(b"\r", b"@").replace(b"\033", b"^").decode())
sys.exit(child.wait())
END

slow() { # NAME COMMAND...
	sl_name=$1
	shift
	python3 "$dir/slow.py" "$dir/$sl_name" "$@" &
}

line='@\^\[K[0-9]+\.[0-9] %, [0-9]+\.[0-9][0-9] MB/s, [0-9]+:[0-9][0-9] left'

# shown NAME REST: the terminal got lines that end with REST and were cleared, and nothing else.
shown() {
	tap_run "$1: percent, rate, remaining time; cleared at the end" \
		sh -c 'printf "%s\n" "$(cat "$1")" | grep -qxE "$2"' x "$dir/$1.err" "($line$2)+@\^\[K"
}

# silent NAME: it got no such line.
silent() {
	tap_empty "$1: no line" "$(grep -a ' %, ' "$dir/$1.err")"
}

"$VPT" run -q --engine=soft --pt=host --tsc --cyc --max-insns=40000000 --arg=100000000 -o "$dir/t.vpt" \
	"$GUEST/bench_int.elf" >/dev/null 2>&1
"$VPT" run -q --engine=soft --pt=host --oracle --max-insns=8000000 --arg=100000000 -o "$dir/o.vpt" \
	"$GUEST/bench_int.elf" >/dev/null 2>&1
"$VPT" run -q --engine=soft --model=silvermont --pt=host --max-insns=6000000 --arg=100000000 \
	-o "$dir/r.vpt" "$GUEST/bench_int.elf" >/dev/null 2>&1

mkdir "$dir/listing-here.out"
slow decode "$VPT" decode "$dir/t.vpt"
slow listing "$VPT" decode --blocks "$dir/t.vpt"
slow export "$VPT" export --to=perf "$dir/t.vpt" "$dir/perf"
slow recast "$VPT" export --to=pt "$dir/r.vpt" "$dir/pt.vpt"
# libipt takes seconds of the processor. Our own decoder could be done before it is stopped.
slow verify "$VPT" verify --with=libipt "$dir/o.vpt"
slow listing-here "$VPT" decode --blocks --limit=30000 "$dir/t.vpt"
slow json "$VPT" decode --json "$dir/t.vpt"
slow verify-json "$VPT" verify --json "$dir/o.vpt"
slow quiet "$VPT" decode --quiet "$dir/t.vpt"
slow no-terminal sh -c '"$1" decode "$2" 2>&1 | cat' x "$VPT" "$dir/t.vpt"
wait

for name in decode listing export recast; do
	shown $name ""
done
shown verify ", 0 mismatches"
tap_run "decode: the summary" grep -q '^instructions *40000000' "$dir/decode.out"
tap_run "export: the summary" grep -q 'instructions: 40000000,' "$dir/export.out"
tap_run "verify: the last line" grep -qx 'verify: 8000000 retired, 8000000 decoded, 0 mismatches' \
	"$dir/verify.out"
for name in listing-here json verify-json quiet no-terminal; do
	silent $name
done
tap_run "json: the summary" grep -q '"insns":40000000' "$dir/json.out"
tap_end
