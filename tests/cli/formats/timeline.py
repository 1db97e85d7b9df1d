# SPDX-License-Identifier: GPL-2.0-or-later
# Checks spans that a reader of a timeline found: nested, complete or marked, and as many as
# vpt decode --calls counts.
import collections
import json


class Spans:
    def __init__(self):
        self.stacks = collections.defaultdict(list)
        self.begun = collections.Counter()  # by name, without spans that resume another
        self.whole = 0  # spans whose beginning and end are in the trace
        self.cut = 0
        self.insns = collections.Counter()  # between a span's beginning and its end
        self.clock = collections.defaultdict(int)

    def at(self, lane, clock):
        assert clock >= self.clock[lane], "time goes back"
        self.clock[lane] = clock

    def begin(self, lane, clock, name, mark):
        self.at(lane, clock)
        assert mark in (None, "not in the trace", "resumed"), mark
        if mark != "resumed":
            self.begun[name] += 1
        self.stacks[lane].append((name, clock, mark))

    def end(self, lane, clock, mark):
        self.at(lane, clock)
        name, start, begin = self.stacks[lane].pop()
        self.insns[name] += clock - start
        if mark or begin:
            self.cut += 1
        else:
            self.whole += 1

    def check(self, calls):
        """Compare with the file of vpt decode --calls --spaces -j. Returns an exit status."""
        counts = collections.Counter()
        with open(calls, encoding="ascii") as lines:
            for row in map(json.loads, lines):
                counts[row["function"]] += row["count"]
        wrong = [n for n in set(counts) | set(self.begun) if counts[n] != self.begun[n]]
        for name in sorted(wrong)[:5]:
            print(name, "exported:", self.begun[name], "calls:", counts[name])
        open_spans = [s for s in self.stacks.values() if s]
        print("whole: %d, cut: %d, open: %d" % (self.whole, self.cut, len(open_spans)))
        return 1 if wrong or open_spans or not self.whole or not self.cut else 0
