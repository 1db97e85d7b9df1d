# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare the times in a page of vpt report with the bounds of vpt decode -i -j --time.

usage: report_times.py PAGE LISTING HZ VCPUS LEAST     LEAST: the number of times that a vCPU must have
"""
import collections
import json
import re
import sys

with open(sys.argv[1], encoding="utf-8") as f:
    data = json.loads(re.search(r'id="data">\n(.*?)\n</script>', f.read(), re.S)[1])
# At a time, up to 64 outcomes of branches are not used yet.
AHEAD = 2000
bounds = collections.defaultdict(list)  # of each instruction
events = collections.defaultdict(set)  # (clock, TSC)
with open(sys.argv[2], encoding="ascii") as f:
    for line in f:
        row = json.loads(line)
        at = bounds[row["vcpu"]]
        if "insn" in row:
            at.append((int(row["time_low"], 16), int(row["time_until"], 16)) if "time_low" in row else (0, 1 << 64))
        elif "tsc" in row:
            events[row["vcpu"]].add((len(at), int(row["tsc"], 16)))

assert data["hz"] == int(sys.argv[3])
assert len(data["times"]) == int(sys.argv[4])
first = int(data["tsc"], 16)
exact = others = 0
for t in data["times"]:
    points, at = t["points"], bounds[t["vcpu"]]
    assert points == sorted(points) and len(points) <= 4098, "not sorted"
    assert len(points) >= int(sys.argv[5]), len(points)
    for clock, tsc in points:
        tsc += first
        assert clock <= len(at)
        if (clock, tsc) in events[t["vcpu"]]:
            exact += 1
            continue
        others += 1
        low = at[clock - 1][0] if clock else 0
        high = max(b[1] for b in at[clock:clock + AHEAD] or [(0, 1 << 64)])
        assert low <= tsc <= high, (t["vcpu"], clock, hex(low), hex(tsc), hex(high))
    # The first and the last event with a time are there, and the clock of the axis reaches its end.
    assert points[0][0] <= len(at) / 2 < points[-1][0]
# The least time of all vCPUs is 0: they have one axis.
assert not data["times"] or min(t["points"][0][1] for t in data["times"]) == 0
print("times of events: %d, others: %d" % (exact, others))
assert exact and others or not data["times"]
