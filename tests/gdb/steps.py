#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Steps backwards from a position of a run, compares with a forward run, and prints TAP and a table.

usage: steps.py registers|memory COUNT POSITION VPT ARGUMENT...

The forward run is a session that never goes back. It steps to POSITION and logs the registers of
COUNT instructions, or a hash of memory too. Another session takes as many reverse steps. The run has
one vCPU. The times are those of the reverse steps alone.
"""

import statistics
import sys
import time

import rsp
import tap

what, count, position = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
command = sys.argv[4:]

def state(guest):
    return guest.whole_state() if what == "memory" else guest.registers()


def forward():
    """The states from COUNT before the position up to it, by their positions."""
    guest = rsp.Guest(command)
    guest.go(position - count)
    log = {}
    while guest.position() < position:
        log[guest.position()] = state(guest)
        stop = guest.ask("s")
        assert stop.startswith("T05"), stop
    guest.close()
    return log


def backward(log):
    """The times of the steps, in ms."""
    guest = rsp.Guest(command)
    guest.go(position)
    times, wrong = [], []
    for place in range(position - 1, position - count - 1, -1):
        begin = time.monotonic()
        guest.ask("bs")
        times.append(1000 * (time.monotonic() - begin))
        if guest.position() != place or log.get(place) != state(guest):
            wrong.append(place)
    guest.close()
    tap.test(len(times) == count and not wrong, "%d consecutive reverse-stepi: %d differences of registers%s"
        % (count, len(wrong), " or memory" if what == "memory" else ""), wrong[:5])
    return times


def table(times):
    times = sorted(times)
    print("# reverse-stepi: median %.1f ms, longest %.1f ms" % (statistics.median(times), times[-1]))
    print("# percent   ms")
    for percent in (10, 50, 90, 99, 100):
        print("# %7d   %.1f" % (percent, times[max(0, len(times) * percent // 100 - 1)]))


wanted = forward()
tap.test(len(wanted) == count, "the forward run has %d positions" % count, len(wanted))
tap.test(len(set(wanted.values())) == count, "with %d states" % count, len(set(wanted.values())))
table(backward(wanted))
print("1..%d" % tap.number)
