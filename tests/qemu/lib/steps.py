#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Follow programs/steps.c in perf's list of executed instructions.

usage: perf script -F tid,ip ... | steps.py SYMBOLS     SYMBOLS: nm's output for the program

For each thread, print a line "thread" with these numbers:
  - the thread's number
  - its steps
  - its breaks, which are steps that do not follow the step before them
  - its instructions in steps() and in the functions called by steps(), except for the one that
    an interrupt can repeat
  - its calls of each of the four functions
Then print the instructions of all threads, the decode errors, and the gaps of the trace. Gaps
are not errors.

Where the output stopped, the packet before the gap may be cut. perf completes that packet with
the first bytes after the gap and follows the result. It reports the gap at the next packet that
has a time. Errors shortly before a gap are therefore not counted.
"""
import re
import sys

NEAR = 1000  # instructions between an error and the gap that explains it


class Thread:
    def __init__(self):
        self.steps = self.breaks = self.inside = self.due = 0
        self.calls = [0, 0, 0, 0]

    def step(self, number):
        if self.steps and number != self.due:
            self.breaks += 1
        self.steps += 1
        self.calls[number] += 1
        self.due = (number + 1) % 4


class Errors:
    def __init__(self):
        self.count = self.gaps = 0
        self.held = self.since = 0  # errors that a gap may explain, and instructions since them

    def error(self, line):
        if re.search(r"code [78]: ", line):
            self.gaps += 1
            self.held = 0
            return
        if not self.held:
            self.since = 0
        self.held += 1

    def instruction(self):
        if not self.held:
            return
        self.since += 1
        if self.since > NEAR:
            self.count += self.held
            self.held = 0


def read_symbols(path):
    at = {}
    for line in open(path):
        word = line.split()
        if len(word) == 3:
            at[word[2]] = int(word[0], 16)
    for name in ("step0", "step1", "step2", "step3", "steps_end", "steps_work"):
        if name not in at:
            sys.exit(f"steps.py: {path} has no symbol {name}")
    return at


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: steps.py SYMBOLS")
    at = read_symbols(sys.argv[1])
    first, last, work = at["step0"], at["steps_end"], at["steps_work"]
    number = {at[f"step{n}"]: n for n in range(4)}
    threads, errors, instructions = {}, Errors(), 0
    for line in sys.stdin:
        if line.lstrip().startswith("instruction trace error"):
            errors.error(line)
            continue
        word = line.split()
        if len(word) != 2:
            continue
        instructions += 1
        errors.instruction()
        ip = int(word[1], 16)
        if not first <= ip < last:
            continue
        thread = threads.setdefault(word[0], Thread())
        thread.inside += ip != work
        if ip in number:
            thread.step(number[ip])
    for tid, t in threads.items():
        print("thread", tid, t.steps, t.breaks, t.inside, *t.calls)
    print("instructions", instructions)
    print("errors", errors.count + errors.held)
    print("gaps", errors.gaps)


main()
