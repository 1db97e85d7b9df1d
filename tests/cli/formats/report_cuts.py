# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare the calls and their cuts in a page with those of --to=chrome.

usage: report_cuts.py PAGE CHROME [WHAT...]     each WHAT must be there: begin, end, both, overflow, disabled
"""
import collections
import json
import re
import sys

with open(sys.argv[1], encoding="utf-8") as f:
    data = json.loads(re.search(r'id="data">\n(.*?)\n</script>', f.read(), re.S)[1])
with open(sys.argv[2], encoding="utf-8") as f:
    events = json.load(f)["traceEvents"]
names, stacks = {}, collections.defaultdict(list)
want, seen = collections.Counter(), collections.Counter()
stops = {(e["pid"], round(e["ts"] * 1000), e["name"]) for e in events if e["ph"] == "i"}
for e in events:
    key = e["pid"], e["tid"]
    at = round(e["ts"] * 1000) if "ts" in e else None
    if e["ph"] == "M" and e["name"] == "thread_name":
        names[key] = e["args"]["name"]
    elif e["ph"] == "B":
        stacks[key].append((e["name"], at, 1 if "args" in e else 0))
    elif e["ph"] == "E":
        name, begin, cut = stacks[key].pop()
        cut |= 2 if "args" in e else 0
        want[names[key], name, begin, at - begin, len(stacks[key]), cut] += 1
        for what in ("overflow", "disabled"):
            seen[what] += bool(cut & 2) and (e["pid"], at, what) in stops
        seen[("whole", "begin", "end", "both")[cut]] += 1
assert not any(lane["omitted"] for lane in data["lanes"])
have = collections.Counter((lane["name"], data["functions"][s[0]], *s[1:]) for lane in data["lanes"] for s in lane["spans"])
assert have == want, (list((have - want).items())[:3], list((want - have).items())[:3])
print(dict(seen))
for what in sys.argv[3:]:
    assert seen[what], "no %s" % what
