# SPDX-License-Identifier: GPL-2.0-or-later
# usage: trace_processor.py DIR EXITS    Compares DIR/slices.csv, which SQL of Perfetto selected, with DIR/calls
# of vpt decode --calls, and counts the flows of DIR/flows.csv, which lead from VM exits to the host.
import csv
import json
import sys
from collections import Counter, defaultdict

folder, exits = sys.argv[1], int(sys.argv[2])


def rows(name):
    with open(f"{folder}/{name}.csv", encoding="utf-8") as file:
        return list(csv.reader(file))[1:]


calls = Counter()
with open(f"{folder}/calls", encoding="ascii") as lines:
    for row in map(json.loads, lines):
        calls[row["function"]] += row["count"]

slices = Counter()
instants = resumed = cut = 0
parents = defaultdict(list)  # the slices of a track that are not known to end before the next
for track, depth, ts, dur, name, begin, end in rows("slices"):
    depth, ts, dur = int(depth), int(ts), int(dur)
    assert dur >= 0, f"{name} does not end"
    # A slice is inside of those of smaller depths.
    stack = parents[track]
    del stack[depth:]
    assert len(stack) == depth, (name, depth)
    assert not stack or stack[-1][0] <= ts and ts + dur <= stack[-1][1], (name, ts, dur, stack[-1])
    stack.append((ts, ts + dur))
    if name not in calls:
        assert dur == 0 and begin == end == "[NULL]", name
        instants += 1
    elif begin == "resumed":
        resumed += 1
    else:
        slices[name] += 1
    cut += "not in the trace" in (begin, end)
wrong = [name for name in calls | slices if calls[name] != slices[name]]
for name in sorted(wrong)[:5]:
    print(name, "slices:", slices[name], "calls:", calls[name])

flows = rows("flows")
assert len(flows) == exits, (len(flows), exits)
for left, left_at, guest, entered, entered_at, host in flows:
    assert left == "VM exit" and left_at == entered_at and guest != host
    assert entered == "VM exit handler" or entered in calls, entered
print(f"slices: {sum(slices.values())}, resumed: {resumed}, cut: {cut}, instants: {instants}, "
      f"functions: {len(slices)}, flows: {len(flows)}")
sys.exit(1 if wrong or not slices or not instants or not cut else 0)
