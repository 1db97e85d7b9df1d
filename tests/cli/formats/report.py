# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare the data in a page of vpt report with folded stacks. usage: report.py PAGE FOLDED"""
import collections
import json
import re
import sys

with open(sys.argv[1], encoding="utf-8") as f:
    page = f.read()
data = re.findall(r'<script type="application/json" id="data">\n(.*?)\n</script>', page, re.S)
assert len(data) == 1
assert not set("<>&") & set(data[0]), "not escaped"
assert "http" not in page.replace("http://www.w3.org/2000/svg", "").replace("http-equiv", "")
data = json.loads(data[0])

own = collections.Counter()
with open(sys.argv[2], encoding="latin-1") as f:
    for line in f:
        stack, n = line.rstrip("\n").rsplit(" ", 1)
        frames = stack.split(";")
        own[frames[-1] if len(frames) > 1 else ""] += int(n)
have = collections.Counter()
for name, total in zip(data["functions"], data["totals"]):
    have[name.replace(";", ":")] += total[0]
own.pop("", None)
assert own == +have, (own - have, have - own)
assert data["insns"] == sum(lane["insns"] for lane in data["lanes"])
for lane in data["lanes"]:
    assert sum(node[3] for node in lane["nodes"]) <= lane["insns"]
    # Calls are inside of those above them, and none is drawn that the trace does not have.
    for func, begin, length, depth, cut in lane["spans"]:
        assert 0 <= func < len(data["functions"]) and begin >= 0 and length >= 0
        assert 0 <= cut <= 3 and depth <= 512
print(sum(len(lane["spans"]) for lane in data["lanes"]), "calls")
