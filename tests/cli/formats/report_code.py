# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare the instructions in a page of vpt report with a listing. usage: report_code.py PAGE LISTING"""
import collections
import json
import re
import sys

from listing import Listing

with open(sys.argv[1], encoding="utf-8") as f:
    data = json.loads(re.search(r'id="data">\n(.*?)\n</script>', f.read(), re.S)[1])
ran = collections.Counter()
texts = collections.defaultdict(set)
with open(sys.argv[2], encoding="ascii") as f:
    for line in f:
        row = json.loads(line)
        if "insn" in row:
            ran[int(row["ip"], 16)] += 1
            texts[int(row["ip"], 16)].add(row["insn"])
ways = collections.Counter()
targets = collections.defaultdict(collections.Counter)
for (ip, to, kind), n in Listing(sys.argv[2]).edges.items():
    if kind in ("taken", "not taken"):
        ways[ip, kind] += n
    elif kind != "event":
        targets[ip][to] += n

assert len(data["code"]) <= 40
own = [data["totals"][c["function"]][0] for c in data["code"]]
assert own == sorted((t[0] for t in data["totals"]), reverse=True)[:len(own)]
seen = collections.Counter()
for code in data["code"]:
    start = int(code["start"], 16)
    at = {start + row["at"]: row for row in code["rows"]}
    assert code["whole"] and len(at) == len(code["rows"])
    seen["other"] += code["other"]
    if code["other"]:
        continue
    # Each instruction that ran is there.
    end = max(at) + 1
    assert {ip for ip in ran if start <= ip < end} == {ip for ip, row in at.items() if row.get("n")}
    for ip, row in at.items():
        if "cold" in row:
            assert row["cold"] > 6 and not ran[ip]
            seen["cold"] += 1
            continue
        assert row["n"] == ran[ip], (hex(ip), row, ran[ip])
        assert not row["n"] or row["text"] in texts[ip], (hex(ip), row, texts[ip])
        seen["insns"] += row["n"]
        if "not" in row:
            assert (row["taken"], row["not"]) == (ways[ip, "taken"], ways[ip, "not taken"]), (hex(ip), row)
            seen["ways"] += row["taken"] + row["not"]
        if "to" in row:
            counts = [n for _, n in row["to"]]
            more = row.get("more", [0, 0])
            assert counts == sorted(targets[ip].values(), reverse=True)[:8], (hex(ip), row, targets[ip])
            assert len(counts) + more[0] == len(targets[ip])
            assert sum(counts) + more[1] == sum(targets[ip].values())
            seen["targets"] += sum(counts) + more[1]
            seen["more"] += "more" in row
        seen["lines"] += "line" in row
print(dict(seen))
for what in sys.argv[3:]:
    assert seen[what], "no %s" % what
