#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Make a table of the ledger of linux.sh.

usage: linux.py LEDGER ROUNDS OUT

A line of LEDGER has the work, the number of vCPUs, the round, the side, processor seconds, elapsed
seconds, and a count: the bytes of a file, or the compared instructions. A side that vpt refuses has
the word "refused" instead of the numbers. Print a table of the first ROUNDS rounds with minima and
medians, write its rows to the JSON file OUT, and list the goals that are missed. They are no
failure.
"""
import json
import statistics
import sys

QEMU = "QEMU TCG untraced"
SIDES = ("untraced", "traced", "verified")
# The most that a side may take, as a multiple of QEMU's processor seconds with one vCPU.
GOALS = {"untraced": 1.0}
GOALS_OF_WORK = {("systemd", "untraced"): 1.7, ("forks", "traced"): 1.3}
# The most that a verified run may take, as a multiple of the elapsed seconds of the traced one.
GOAL_VERIFIED = 2.0
# Of a boot that is stored with a log of blocks: bytes, and elapsed seconds of vpt verify.
GOAL_BYTES, GOAL_READ = 1e9, 15.0


def read(path, rounds):
    """The samples of each work, number of vCPUs and side: lists of processor and elapsed seconds
    and counts. A refused side has None."""
    samples = {}
    for line in open(path):
        work, cpus, number, side, *values = line.rstrip("\n").split("\t")
        if int(number) > rounds:
            continue
        key = (work, int(cpus), side)
        if values == ["refused"]:
            samples[key] = None
        else:
            samples.setdefault(key, []).append([float(value) for value in values])
    return samples


class Table:
    def __init__(self, samples):
        self.samples = samples
        self.rows = []
        self.judged = []

    def times(self, work, cpus, side, column=0):
        """Minimum and median, or None."""
        sample = self.samples.get((work, cpus, side))
        if not sample:
            return None
        values = [line[column] for line in sample]
        return min(values), statistics.median(values)

    def add(self, name, value, unit, median=None, peer=None, against=None, goal=None):
        """Add a row of bench.json. The goal is one of the ratio if there is a peer."""
        row = {"name": f"linux: {name}", "value": round(value, 4), "unit": unit}
        if median is not None:
            row["median"] = round(median, 4)
        judged = value
        if peer:
            judged = value / against
            row.update(peer=peer, against=round(against, 4), ratio=round(judged, 4))
        if goal:
            row["goal"] = goal
            self.judged.append((name, judged, goal, peer or unit))
        self.rows.append(row)

    def line(self, work, cpus):
        """One line of the table, or None if QEMU has no time."""
        name = f"{work}, {cpus} vCPU" + ("s" if cpus > 1 else "")
        qemu = self.times(work, cpus, "qemu")
        if not qemu:
            return None
        self.add(f"{name}, {QEMU}", qemu[0], "s", qemu[1])
        text = f"{work:<10}{cpus:>5}  {qemu[0]:8.2f} {qemu[1]:8.2f}       "
        for side in SIDES:
            times = self.times(work, cpus, side)
            if not times:
                text += f" {'refused' if (work, cpus, side) in self.samples else '-':>8} {'':>8} {'':6}"
                continue
            goal = GOALS_OF_WORK.get((work, side), GOALS.get(side)) if cpus == 1 else None
            self.add(f"{name}, {side}", times[0], "s", times[1], QEMU, qemu[0], goal)
            text += f" {times[0]:8.2f} {times[1]:8.2f} x {times[0] / qemu[0]:4.2f}"
        traced, verified = (self.times(work, cpus, side, 1) for side in ("traced", "verified"))
        if traced and verified:
            self.add(f"{name}, verified, elapsed", verified[0], "s", verified[1], "traced, elapsed",
                     traced[0], GOAL_VERIFIED)
            text += f" {traced[0]:8.2f} {verified[0]:8.2f} x {verified[0] / traced[0]:4.2f}"
        size = self.times(work, cpus, "traced", 2)
        if size:
            self.add(f"{name}, trace", size[0] / 1e6, "MB")
            text += f" {size[0] / 1e6:8.1f}"
        return text

    def stored(self):
        """The lines of a boot that is stored and verified from the file."""
        size, wrote = (self.times("boot", 1, "stored", column) for column in (2, 0))
        took, elapsed, insns = (self.times("boot", 1, "read", column) for column in (0, 1, 2))
        if not size or not elapsed:
            return []
        self.add("boot, 1 vCPU, stored", wrote[0], "s", wrote[1])
        self.add("boot, 1 vCPU, stored, file", size[0], "bytes", goal=GOAL_BYTES)
        self.add("boot, 1 vCPU, vpt verify", took[0], "s", took[1])
        self.add("boot, 1 vCPU, vpt verify, elapsed", elapsed[0], "s", elapsed[1], goal=GOAL_READ)
        return [f"a boot with its log of blocks: {wrote[0]:.2f} s, a file of {size[0] / 1e6:.0f} MB",
                f"vpt verify of the file: {insns[0] / 1e9:.2f}e9 instructions, {took[0]:.2f} s, "
                f"elapsed {elapsed[0]:.2f} s"]


def main():
    if len(sys.argv) != 4:
        sys.exit("usage: linux.py LEDGER ROUNDS OUT")
    path, rounds, out = sys.argv[1:]
    table = Table(read(path, int(rounds)))
    works = dict.fromkeys((work, cpus) for work, cpus, _ in table.samples)
    columns = "".join(f" {side:>8} {'median':>8} {'ratio':>6}" for side in SIDES)
    print("Processor seconds: minimum, median, and the ratio to QEMU TCG untraced; then elapsed")
    print("seconds of the traced and of the verified run, their ratio, and MB of trace")
    print(f"{'work':<10}{'vCPUs':>5}  {'QEMU':>8} {'median':>8}       {columns} {'traced':>8} "
          f"{'verified':>8} {'ratio':>6} {'MB':>8}")
    for line in [table.line(*work) for work in works] + table.stored():
        if line:
            print(line)
    with open(out, "w") as file:
        lines = ",\n  ".join(json.dumps(row) for row in table.rows)
        file.write(f"[\n  {lines}\n]\n")
    missed = [judged for judged in table.judged if judged[1] > judged[2]]
    for name, value, goal, unit in missed:
        print(f"missed: {name}: {value:.4g} of {unit}, the goal is {goal:.4g}")
    print(f"{len(table.judged) - len(missed)} goals met, {len(missed)} missed")


main()
