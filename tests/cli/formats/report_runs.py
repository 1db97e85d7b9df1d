# SPDX-License-Identifier: GPL-2.0-or-later
# usage: report_runs.py PAGE BLOCKS SPACES [FROM UNTIL]    Compares when address spaces run by the page of vpt report
# with the rows of vpt decode --blocks --spaces -j. There are at least SPACES. A part has only the instructions from
# FROM on and before UNTIL.
import json
import re
import sys
from collections import defaultdict

with open(sys.argv[1], encoding="utf-8") as file:
    page = json.loads(re.search(r'id="data">\n(.*?)\n</script>', file.read(), re.S).group(1))
first, behind = map(int, sys.argv[4:6]) if len(sys.argv) > 4 else (0, 1 << 64)

clocks = defaultdict(int)
ran = defaultdict(list)
with open(sys.argv[2], encoding="ascii") as lines:
    for row in map(json.loads, lines):
        if "insns" not in row or "ip" not in row:
            continue
        vcpu = row["vcpu"]
        begin, end = clocks[vcpu], clocks[vcpu] + row["insns"]
        clocks[vcpu] = end
        begin, end = max(begin, first), min(end, behind)
        if begin >= end:
            continue
        of = ran["vCPU %u: %s" % (vcpu, row.get("space", "space not known"))]
        if of and of[-1][1] == begin:
            of[-1][1] = end
        else:
            of.append([begin, end])

shown = {}
for lane in page["lanes"]:
    at, intervals = 0, []
    for distance, length in zip(lane["runs"][::2], lane["runs"][1::2]):
        intervals.append([at + distance, at + distance + length])
        at = intervals[-1][1]
    if intervals:
        shown[lane["name"]] = intervals
for name in sorted(ran.keys() | shown.keys()):
    if ran.get(name) != shown.get(name):
        print(name, "page:", shown.get(name, [])[:4], "trace:", ran.get(name, [])[:4])
print("address spaces: %d, intervals: %d" % (len(shown), sum(map(len, shown.values()))))
sys.exit(ran != shown or len(shown) < int(sys.argv[3]))
