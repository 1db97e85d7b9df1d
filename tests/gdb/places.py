#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Goes to positions of a run in random order, compares them with a forward run, and prints TAP.

usage: places.py [OPTION]... COUNT SEED LAST VPT ARGUMENT...

The command is vpt run or vpt gdb with its arguments, and LAST is the number of instructions of the
run without a debugger. The forward run is a session that never goes back. It logs a hash of all
registers of all vCPUs and one of all memory. Another session goes to the same positions in random
order, half of them with breakpoints and watchpoints set.

--first=N    positions from N on
--part=N/M   every M-th of the positions, from the N-th on
--cpus=N     the number of vCPUs that there are
--trace=FILE a trace of the run without a debugger, with one vCPU: RIP at the positions is compared
"""

import argparse
import random
import re
import statistics
import subprocess
import time

import rsp
import tap

parser = argparse.ArgumentParser()
parser.add_argument("--first", type=int, default=0)
parser.add_argument("--part", default="1/1")
parser.add_argument("--cpus", type=int, default=1)
parser.add_argument("--trace")
parser.add_argument("count", type=int)
parser.add_argument("seed", type=int)
parser.add_argument("last", type=int)
parser.add_argument("command", nargs=argparse.REMAINDER)
args = parser.parse_args()
# Positions before the points are set or removed.
BATCH = 25

def choose():
    """The positions of this part, in random order."""
    rng = random.Random(args.seed)
    part, parts = map(int, args.part.split("/"))
    places = rng.sample(range(args.first, args.last), min(args.count, args.last - args.first))
    return places[part - 1::parts]


def forward(places):
    """The states at the positions, in a session that never goes back."""
    guest = rsp.Guest(args.command)
    threads = guest.threads()
    tap.test(len(threads) == args.cpus, "%d threads" % args.cpus, threads)
    log, stacks = {}, {}
    for place in sorted(places):
        guest.go(place)
        assert guest.position() == place, (guest.position(), place)
        log[place] = guest.whole_state()
        stacks[place] = guest.stack()
    ended = "replaylog:end" in guest.ask("c")
    tap.test(ended and guest.position() == args.last,
        "the forward run retires %d instructions" % args.last, guest.position())
    guest.close()
    tap.test(len(set(log.values())) > len(log) // 2,
        "%d different states" % len(set(log.values())), len(log))
    return log, stacks


def set_points(guest, kind, points):
    """Set (Z) or remove (z) breakpoints and watchpoints."""
    for packet in points:
        answer = guest.ask(kind + packet)
        assert answer == "OK", (kind + packet, answer)


def random_order(places, log, stacks):
    rng = random.Random(args.seed + 1)
    guest = rsp.Guest(args.command)
    points = ["0,%x,1" % log[place][0] for place in rng.sample(places, min(4, len(places)))]
    points += ["%d,%x,8" % (kind, stacks[rng.choice(places)] - 8) for kind in (2, 3, 4)]
    wrong, with_points, times = [], 0, []
    for n, place in enumerate(places):
        if n % (2 * BATCH) == BATCH:
            set_points(guest, "Z", points)
        elif n % (2 * BATCH) == 0 and n:
            set_points(guest, "z", points)
        with_points += n % (2 * BATCH) >= BATCH
        begin = time.monotonic()
        guest.go(place)
        times.append(1000 * (time.monotonic() - begin))
        if guest.position() != place or guest.whole_state() != log[place]:
            wrong.append(place)
    tap.test(len(places) > 0 and not wrong,
        "%d positions in random order, %d with points set: %d differences of registers or memory"
        % (len(places), with_points, len(wrong)), wrong[:5])
    guest.close()
    print("# goto: median %.1f ms, longest %.1f ms" % (statistics.median(times), max(times)))


def compare_trace(places, log):
    """RIP of the trace without a debugger."""
    text = subprocess.run([args.command[0], "decode", "-j", "-i", args.trace],
                          stdout=subprocess.PIPE, check=True).stdout.decode()
    ips, interrupted = [], {}  # RIP of each instruction, and where an interrupt before it came from
    for origin, ip in re.findall(r'"async branch","from":"0x([0-9a-f]+)"|"ip":"0x([0-9a-f]+)","size"', text):
        if ip:
            ips.append(int(ip, 16))
        else:
            interrupted[len(ips)] = int(origin, 16)
    tap.test(len(ips) == args.last, "the trace without gdb has as many instructions", len(ips))
    # Where an interrupt is due, gdb shows the instruction before which it will be delivered.
    due = [place for place in places if interrupted.get(place) == log[place][0]]
    wrong = [place for place in places if place not in due and ips[place] != log[place][0]]
    tap.test(not wrong, "%d positions have its RIP, at %d an interrupt is due" % (len(places), len(due)), wrong[:5])


chosen = choose()
states, tops = forward(chosen)
random_order(chosen, states, tops)
if args.trace:
    compare_trace(chosen, states)
print("1..%d" % tap.number)
